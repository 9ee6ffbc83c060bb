#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/document/test_cases.h"
#include "core/io/inputs/inputs.h"
#include "core/session/load_and_run/options.h"

namespace sonde::session {

/// Puts a model into the form that options of the optimisation ask for: exporting::optimisedCases, which the session
/// does not know. `example`: one value for each of the document's inputs.
using FormMaker = std::function<base::Result<document::TestCases>(
    const document::Document& document, const document::TestCases& cases, const io::dump::InferenceOptions& options,
    std::span<const tensor::Value> example, const base::WorkContext& work)>;

/// Undoes what a dump's graph went through for inference: exporting::plainForm, which the session does not know.
using PlainFormMaker = std::function<base::Result<std::shared_ptr<graph::InternalGraph>>(
    const graph::InternalGraph& graph, const base::WorkContext& work)>;

struct LoadAndRunTask {
    std::shared_ptr<const document::Document> document;
    LoadAndRunOptions options;
    /// What is run without `options.input`, as a session file gives it; empty: the test cases of the model.
    std::vector<io::InputCase> inputs = {};
    FormMaker form;                                     ///< empty: options that change the graph are an error
    PlainFormMaker plainForm;                           ///< empty: first_difference needs a model
    std::function<void(const std::string& line)> tell;  ///< of what happens, as it happens; may be empty
};

}  // namespace sonde::session
