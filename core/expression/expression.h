#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/tensor/value.h"

namespace sonde::expression {

struct Term;

/// A text of the expression language, understood once and computed as often as wanted.
/// A cheap handle; const functions may be called from several threads.
class Expression {
  public:
    Expression() = default;  ///< empty: may be assigned to, but not evaluated

    bool empty() const { return m_root == nullptr; }
    const std::string& text() const { return m_text; }
    /// The names of values that occur, each once, in the order of the text, without backticks.
    const std::vector<std::string>& names() const { return m_names; }

    /// By parse() and evaluate().
    Expression(std::string text, std::shared_ptr<const Term> root, std::vector<std::string> names);
    const Term& root() const { return *m_root; }

  private:
    std::string m_text;
    std::shared_ptr<const Term> m_root;
    std::vector<std::string> m_names;
};

/// The value of a name that an expression uses. An error's `what` is told at the column of the name, its hint stays.
using Names = std::function<base::Result<tensor::Value>(std::string_view name)>;

inline constexpr std::int64_t kMaxResultElements = std::int64_t{1} << 27;
inline constexpr std::size_t kMaxResultBytes = std::size_t{1} << 32;

/// What one evaluation may take. Checked before anything is allocated.
struct Limits {
    std::int64_t elements = kMaxResultElements;  ///< of one result that is computed
    std::size_t bytes = kMaxResultBytes;         ///< of all results that are kept at the same time
};

/// Reads a text. Computes nothing and asks for no names. Length and nesting are bounded.
/// Errors (Usage): `what` says what is wrong, `where` is "column N of 'TEXT'", N from 1, counted in code points.
base::Result<Expression> parse(std::string_view text);

/// Computes an expression as numpy 2 does it. Numbers that are written in it, and values of kind int, float and bool,
/// are Python's and take the dtype of the array beside them; dtypes that numpy has not are computed in float64. The
/// result is a tensor, an int, float or bool, a tuple or list of those, a string (a dtype's name) or none; it may share
/// memory with the values of the names. Never throws. Stops between two operations if `work` was cancelled.
/// Errors: Usage as in parse(); Cancelled.
base::Result<tensor::Value> evaluate(const Expression& expression, const Names& names,
                                     const base::WorkContext& work = {}, const Limits& limits = {});

/// The same as an array: numbers have rank 0, lists are what numpy makes of them. Contiguous, of a dtype that numpy
/// has. Errors: Usage also for what is no array, at column 1.
base::Result<tensor::Tensor> evaluateArray(const Expression& expression, const Names& names,
                                           const base::WorkContext& work = {}, const Limits& limits = {});

/// Whether a condition is met: the expression's value is a number, a bool or a tensor of one element, and not zero.
/// Errors as in evaluate(); Usage also for any other value, at column 1.
base::Result<bool> isTrue(const Expression& condition, const Names& names, const base::WorkContext& work = {},
                          const Limits& limits = {});

/// The column that an error of the functions above names, from 1; none for other errors and if cancelled.
std::optional<std::size_t> errorColumn(const base::Error& error);

/// `name` as it is written in an expression: itself if it is an identifier and no word of the language, else in
/// backticks. Backticks and backslashes inside are written behind a backslash.
std::string quoted(std::string_view name);

/// A function of the language, for help and completion.
struct FunctionInfo {
    std::string_view name;
    std::string_view signature;  ///< "mean(a, axis=None, *, keepdims=False)"
    std::string_view summary;    ///< one sentence without a full stop
    bool isMethod;               ///< may be written behind its first argument: x.mean()
};
/// All of them, in the order of the help page.
std::vector<FunctionInfo> functions();

}  // namespace sonde::expression
