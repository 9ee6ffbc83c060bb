#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/mapped_file.h"
#include "core/base/progress.h"
#include "core/document/document_types.h"
#include "core/graph/ids.h"
#include "core/session/outputs/forms.h"
#include "core/session/outputs/weight_origin.h"

namespace sonde::session::outputs {

/// What showing the outputs of a run takes: everything that the work needs, so that it touches nothing of a session.
struct ShowRequest {
    std::shared_ptr<const document::Document> document;
    std::vector<std::pair<std::string, graph::NodeId>> names;  ///< of the outputs, in order
    std::vector<tensor::Value> values;
    std::vector<InputFact> inputs;
    base::MappedFiles imageFiles = {};        ///< by input: the file that its value is of; null: none
    std::vector<Choice> choices;              ///< file names as they can be opened
    std::optional<WeightOrigin> origin = {};  ///< found before
    /// What the input for token ids was given: a text names the tokenizer that the ids of outputs are of, too, unless
    /// another vocabulary is chosen. Empty: there is no such input.
    std::string tokenItem = {};
};

/// One output in its form.
struct ShownOutput {
    std::string name;
    graph::NodeId node;
    std::string type;  ///< "float32[1,1000]"
    const Form* form = nullptr;
    std::vector<const Form*> forms;  ///< those that can show it, what suits best first
    Choice choice;  ///< what was chosen; with the file of labels that was found beside the model, and that of tokens
    Content content;
    std::string shownWith;             ///< the output of boxes whose scores or classes these are
    std::vector<std::string> notes;    ///< what to know: of weights, of labels, of what is left out
    std::optional<base::Error> error;  ///< why there is no content
    std::int64_t samples = 1;          ///< that there are to choose from
    bool isRandom = false;             ///< the weights are random
};
struct ShownOutputs {
    std::vector<ShownOutput> outputs;
    WeightOrigin origin = WeightOrigin::Unknown;
};

/// Each output in the chosen form, else in the one that suits best. Reads labels and vocabulary; a form that was chosen
/// and cannot show this value is an error of the output. Blocks, on any thread. Error: cancelled.
base::Result<ShownOutputs> showOutputs(const ShowRequest& request, const base::WorkContext& work = {});

/// The choices of the session file that a document was opened by, with file names as they can be opened, and why some
/// of it cannot be taken: outside of its folder, or not readable.
struct SessionChoices {
    std::vector<Choice> choices;
    std::vector<base::Error> refused;
};
SessionChoices sessionChoices(const document::Document& document);

/// What there is to say of a content as a whole: "of 1,000 classes; probabilities". May be empty.
std::string summaryText(const Content& content);
/// What a form gives, as lines of text: "281  62.1 %  11.2  tabby cat", then its summary and notes. For verbs.
std::vector<std::string> textLines(const ShownOutput& shown);

}  // namespace sonde::session::outputs
