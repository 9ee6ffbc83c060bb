#include "core/export/optimised_cases.h"

#include "core/export/dump.h"
#include "core/export/inference/inference_form.h"

namespace sonde::exporting {

using document::OutputCheck;
using document::TestCases;

namespace {

constexpr int kOptLevel = 2;

/// The checks again, on the outputs of another form of the model.
base::Result<graph::InternalGraph> checkedAgain(const graph::InternalGraph& source, const TestCases& cases,
                                                const Document& document) {
    graph::InternalGraph graph = source;
    if (cases.checks.empty()) return graph;
    if (graph.outputs().size() != document.outputs.size() || cases.checks.size() != document.outputs.size())
        return base::usageError("layouts, float16 and fusions are for models whose outputs are all checked, or none",
                                document.location);
    std::vector<CheckOptions> checks;
    for (const OutputCheck& check : cases.checks) checks.push_back({check.name, check.maxError, check.isSilent});
    addChecks(graph, checks);
    return graph;
}

}  // namespace

base::Result<TestCases> optimisedCases(const Document& document, const TestCases& cases,
                                       const io::dump::InferenceOptions& options,
                                       std::span<const tensor::Value> example, const base::WorkContext& work) {
    graph::InternalGraph graph = *cases.graph;
    if (needsStaticForm(options)) {
        SONDE_ASSIGN(const Document form, staticForm(document, example, work));
        // A graph that is in this form keeps its checks, with what leads to them: in float16 it converts what is
        // expected, which stays float32 in the test cases.
        if (form.graph != document.graph) {
            SONDE_ASSIGN(graph, checkedAgain(*form.graph, cases, document));
        }
    }
    TestCases result;
    AppliedOptions applied;
    SONDE_ASSIGN(result.graph, optimisedForInference(graph, options, kOptLevel, work, &applied));
    result.metadata = cases.metadata.value_or(io::dump::Metadata());
    io::dump::addOptimisation(*result.metadata, options.bits(), applied);
    result.checks = document::checksOf(*result.graph);
    result.cases = cases.cases;
    return result;
}

}  // namespace sonde::exporting
