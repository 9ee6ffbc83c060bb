#include "core/session/debugged_problems.h"

namespace sonde::session {

RunProblems problemsSoFar(const debug::RecordedRun& run, const std::vector<graph::NodeId>& accepted) {
    return RunProblems::of(run.graph(), run.partialRecording(), accepted);
}

ProblemCount ProblemCount::of(const debug::RecordedRun& run) {
    ProblemCount count{&run, run.badValues().size()};
    for (const auto& [node, bad] : run.badValues()) count.elements += bad.nan + bad.inf;
    count.isFailed = run.recording() && run.recording()->error;
    return count;
}

}  // namespace sonde::session
