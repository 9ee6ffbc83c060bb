#include "core/analysis/problems/failed_operations.h"
#include "core/graph/guard.h"

namespace sonde::analysis {

namespace {

void findViolatedGuards(const CheckedRun& run, std::vector<Problem>& problems) {
    for (const exec::Failure& failure : run.recording.failures) {
        if (!graph::isGuard(run.graph.expr(failure.expr))) continue;
        Problem problem = problemOfFailure(run, failure, ProblemKind::Guard);
        if (problem.advice.empty())
            problem.advice =
                "the trace followed one branch or size, and this input needs another: trace with such an "
                "input, or with the custom tracer, which keeps branches";
        problems.push_back(std::move(problem));
    }
}

}  // namespace

ProblemChecker guardChecker() {
    return {"guard", "Guards of a trace that this run's values violate", findViolatedGuards};
}

}  // namespace sonde::analysis
