#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/session/outputs/choice.h"
#include "core/session/outputs/facts.h"
#include "core/session/outputs/output_content.h"
#include "core/session/outputs/output_tokens.h"

namespace sonde::session::outputs {

/// What a form makes its content of.
struct FormRequest {
    const Facts& facts;
    const Choice& choice;
    const std::vector<std::string>* labels = nullptr;  ///< names by class; null: there are none, or none may be shown
    const OutputTokens* tokens = nullptr;              ///< null: it is not known what ids are called
    std::stop_token stop = {};
};

/// What a form gives, and what is to be known beside it.
struct Made {
    Content content;
    std::vector<std::string> notes = {};
    std::string shownWith = {};  ///< another output, which the content is of; empty: of the output itself
};

/// How well a form suits an output, 0 to 100.
inline constexpr int kCannot = 0;       ///< make() would refuse
inline constexpr int kUnlikely = 15;    ///< only if it is asked for
inline constexpr int kAlways = 35;      ///< the table: what is less likely than that is not chosen by itself
inline constexpr int kLikely = 70;      ///< by the shape
inline constexpr int kVeryLikely = 85;  ///< by shape, and values or name
inline constexpr int kCertain = 100;

/// One way to show an output: a file in this folder, and a line in forms().
struct Form {
    std::string_view id;  ///< "classes": in session files and on the command line
    std::string_view title;
    std::string_view description;
    int (*suits)(const Facts& facts);
    /// Only where suits() is not 0. Error (Usage): the choice does not fit the value.
    base::Result<Made> (*make)(const FormRequest& request);
    // What can be chosen for it.
    bool usesLabels = false, usesVocabulary = false, usesTop = false, usesSample = false, usesBoxes = false;
    /// How many samples there are to choose from; null: those of the first dimension, if there is another one.
    std::int64_t (*samples)(const Facts& facts) = nullptr;
};

/// In the order in which they are offered; of those that suit equally well the first is chosen.
const std::vector<Form>& forms();
/// Null: there is none.
const Form* findForm(std::string_view id);
/// The one that suits best.
const Form& bestForm(const Facts& facts);

Form classesForm();
Form textForm();
Form imageForm();
Form boxesForm();
Form masksForm();
Form waveformForm();
Form scalarForm();
Form tableForm();

// For forms.

/// Position of a chosen sample; the last one if there are fewer.
std::int64_t sampleOf(const FormRequest& request, std::int64_t count);
/// "class 17" has no name if the labels end before.
std::string labelOf(const FormRequest& request, std::int64_t index);
/// The largest `top` of `count` numbers, the largest first, of equal ones the first; NaN is left out.
std::vector<std::int64_t> largest(std::int64_t count, int top, const std::vector<double>& values);
/// e^x over the sum of all, of finite numbers; of others the share is 0.
std::vector<double> softmax(const std::vector<double>& values);
/// Elements `first` … `first + count` of a contiguous tensor as numbers.
std::vector<double> numbersOf(const tensor::Tensor& tensor, std::int64_t first, std::int64_t count);
/// "the first 10 of 30 rows, 8 of 128 columns"; empty if these are all of the table.
std::string cutNote(const Table& table, std::int64_t rows, std::int64_t columns);

}  // namespace sonde::session::outputs
