#include "core/session/debugged_problems.h"

#include <algorithm>

#include "core/exec/edits.h"

namespace sonde::session {

RunProblems problemsSoFar(const debug::RecordedRun& run, const std::vector<graph::NodeId>& accepted) {
    RunProblems found = RunProblems::of(run.graph(), run.partialRecording(), accepted);
    const auto& edits = run.plan().options().edits;
    if (!edits) return found;
    for (analysis::Problem& problem : found.all) {
        const bool isOfValues = problem.kind == analysis::ProblemKind::Nan ||
                                problem.kind == analysis::ProblemKind::Inf ||
                                problem.kind == analysis::ProblemKind::Overflow;
        if (!isOfValues || problem.role != analysis::ProblemRole::Origin || !problem.node.valid()) continue;
        const graph::NodeId source = run.sourceOf(problem.node);
        if (std::ranges::find(edits->values, source, &exec::ValueEdit::node) != edits->values.end())
            problem.advice = "an edit changes this value: take it back to see what the operation gives";
    }
    return found;
}

ProblemCount ProblemCount::of(const debug::RecordedRun& run) {
    ProblemCount count{&run, run.badValues().size()};
    for (const auto& [node, bad] : run.badValues()) count.elements += bad.nan + bad.inf;
    count.isFailed = run.recording() && run.recording()->error;
    return count;
}

}  // namespace sonde::session
