#include <iterator>
#include <utility>

#include "core/analysis/problems/advice.h"
#include "core/analysis/problems/checker.h"
#include "core/analysis/problems/suspects.h"
#include "core/ops/kernels/finite.h"

namespace sonde::analysis {

using exec::BadValues;
using graph::InternalGraph;
using tensor::DType;

namespace {

std::string badCountText(const BadValues& bad) {
    const auto one = [](std::int64_t count, const char* what) {
        return std::to_string(count) + (count == 1 ? " element is " : " elements are ") + what;
    };
    if (bad.inf == 0) return one(bad.nan, "NaN");
    return bad.nan == 0 ? one(bad.inf, "infinite")
                        : one(bad.nan, "NaN") + ", " + std::to_string(bad.inf) +
                              (bad.inf == 1 ? " is infinite" : " are infinite");
}

/// Constants among the inputs that are bad themselves: "; its weight 'running_var' holds NaN".
std::string badWeights(const InternalGraph& graph, const graph::Expr& expr) {
    std::string text;
    base::ThreadPool pool(1);
    for (const graph::NodeId input : expr.inputs) {
        const graph::Node& node = graph.node(input);
        if (!node.constant || !node.constant->isTensor()) continue;
        const ops::kernels::BadCount found = ops::kernels::countBad(node.constant->tensor(), pool);
        if (found.any()) text += "; its weight '" + node.name + "' holds " + (found.nan > 0 ? "NaN" : "infinity");
    }
    return text;
}

/// Dtypes whose range values of a network reach.
bool isNarrow(DType dtype) {
    return dtype == DType::Float16 || (tensor::isFloating(dtype) && tensor::itemSize(dtype) == 1);
}

Problem problemOfSuspect(const InternalGraph& graph, const Suspect& suspect) {
    const graph::Node& node = graph.node(suspect.node);
    const DType dtype = suspect.bad.dtype != DType::Undefined ? suspect.bad.dtype : node.type.dtype;
    const graph::Expr& expr = graph.expr(node.producer);
    const bool isOverflow = isNarrow(dtype) && suspect.isOrigin() && expr.kind != graph::ExprKind::Input;
    const ProblemKind kind = suspect.bad.nan > 0 ? ProblemKind::Nan
                             : isOverflow        ? ProblemKind::Overflow
                                                 : ProblemKind::Inf;
    Problem problem =
        problemAt(graph, suspect.node, kind, suspect.isOrigin() ? ProblemRole::Origin : ProblemRole::Carrier);
    problem.message = badCountText(suspect.bad);
    if (!suspect.isOrigin()) return problem;
    if (kind == ProblemKind::Inf) problem.severity = base::Severity::Warning;
    const std::string weights = badWeights(graph, expr);
    problem.message += weights;
    problem.advice = adviceFor(graph, suspect, !weights.empty());
    return problem;
}

void findBadValues(const CheckedRun& run, std::vector<Problem>& problems) {
    for (const Suspect& suspect : Suspects(run.graph, run.recording, run.accepted).all)
        if (!suspect.isQuiet) problems.push_back(problemOfSuspect(run.graph, suspect));
}

}  // namespace

ProblemChecker badValueChecker() {
    return {"bad-values", "NaN, infinity and overflow, with the nodes that made them", findBadValues};
}

}  // namespace sonde::analysis
