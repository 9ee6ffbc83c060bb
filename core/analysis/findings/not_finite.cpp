#include <algorithm>

#include "core/analysis/findings/checker.h"
#include "core/analysis/findings/stored_mask.h"
#include "core/analysis/problems.h"

namespace sonde::analysis {

namespace {

/// What a mask makes infinite is kept out of a softmax on purpose.
bool isMasked(const graph::InternalGraph& graph, graph::NodeId node) {
    const graph::Expr& expr = graph.expr(graph.node(node).producer);
    return std::ranges::any_of(expr.inputs, [&](graph::NodeId input) { return isStoredMask(graph, input); });
}

/// Origins alone: what they are carried to is not at fault. The same node in several runs counts once.
void findNotFinite(const CheckedModel& model, bool isNan, std::vector<Finding>& findings) {
    std::vector<bool> isKnown(model.graph.nodeCount(), false);
    for (const exec::Recording& recording : model.run->recordings)
        for (const Problem& problem : findProblems(model.graph, recording, model.run->accepted)) {
            const bool isWanted = isNan ? problem.kind == ProblemKind::Nan
                                        : problem.kind == ProblemKind::Inf || problem.kind == ProblemKind::Overflow;
            if (!isWanted || problem.role != ProblemRole::Origin || !problem.node.valid()) continue;
            if (isKnown[problem.node.index()] || (!isNan && isMasked(model.graph, problem.node))) continue;
            isKnown[problem.node.index()] = true;
            findings.push_back(findingAt(problem.node, problem.severity, Confidence::High,
                                         problem.message + " at " + placeText(model.graph, problem.node) +
                                             (isNan ? "; everything computed from NaN is NaN"
                                                    : "; differences and products of infinity become NaN"),
                                         problem.advice));
        }
}

}  // namespace

FindingChecker nanChecker() {
    return {"nan", FindingNeed::Run, "An operation produces NaN on the input",
            [](const CheckedModel& model, std::vector<Finding>& findings) { findNotFinite(model, true, findings); }};
}

FindingChecker infChecker() {
    return {"inf", FindingNeed::Run, "An operation produces infinity, or overflows its dtype, on the input",
            [](const CheckedModel& model, std::vector<Finding>& findings) { findNotFinite(model, false, findings); }};
}

}  // namespace sonde::analysis
