#include "core/analysis/problems/failed_operations.h"
#include "core/graph/guard.h"

namespace sonde::analysis {

namespace {

void findFailures(const CheckedRun& run, std::vector<Problem>& problems) {
    for (const exec::Failure& failure : run.recording.failures) {
        if (graph::isGuard(run.graph.expr(failure.expr))) continue;
        Problem problem = problemOfFailure(run, failure, ProblemKind::Failure);
        if (problem.advice.empty() && !failure.inputTypes.empty())
            problem.advice =
                "it does not take these inputs together: compare their shapes and dtypes with what the "
                "operator expects, and follow the one that is wrong upstream";
        problems.push_back(std::move(problem));
    }
}

}  // namespace

Problem problemOfFailure(const CheckedRun& run, const exec::Failure& failure, ProblemKind kind) {
    Problem problem = problemAt(run.graph, run.graph.expr(failure.expr), kind, ProblemRole::Origin);
    const bool endedRun = run.recording.error && &failure == &run.recording.failures.front();
    problem.severity = endedRun ? base::Severity::Error : base::Severity::Warning;
    problem.message = failure.error.what;
    std::string types;
    for (const std::string& type : failure.inputTypes) types += (types.empty() ? "" : ", ") + type;
    if (kind == ProblemKind::Failure && !types.empty() && problem.message.find(types) == std::string::npos)
        problem.message += "; its inputs: " + types;
    problem.advice = failure.error.hint;
    return problem;
}

ProblemChecker failureChecker() { return {"failure", "Operations that could not be computed", findFailures}; }

}  // namespace sonde::analysis
