#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/analysis/measured_runs.h"
#include "core/session/load_and_run/task.h"

namespace sonde::session {

/// The inputs of one graph for another: by name, else by position; values of other inputs are left out.
std::vector<tensor::Value> inputsFor(const graph::InternalGraph& graph, const analysis::MeasuredRun& given);

/// What a dump is compared with (dump.md, "The unoptimised graph"): its graph in plain form. On the inputs of one of
/// its test cases the outputs are the expected values, which the model gave before it was optimised.
struct UnoptimisedRun {
    analysis::MeasuredRun run;
    /// Outputs of the document whose AssertEqual fails on these inputs, with what it says.
    std::vector<std::pair<graph::NodeId, std::string>> failedChecks;
};

/// `inputs` in the order of the document's graph. Errors: those of reading the test cases and of the form.
base::Result<UnoptimisedRun> unoptimisedRun(const document::Document& document,
                                            const std::vector<tensor::Value>& inputs, const PlainFormMaker& form,
                                            const base::WorkContext& work = {});

/// How far the values of `graph` (the document's, or another form of it) are from those of the unoptimised one. Runs
/// both. An output whose check fails differs, whatever the tolerances allow.
base::Result<analysis::RunDifferences> differencesFromUnoptimised(
    const document::Document& document, const analysis::MeasuredRun& actual, const PlainFormMaker& form,
    const analysis::Tolerances& tolerances, std::size_t threads, const base::WorkContext& work = {});

}  // namespace sonde::session
