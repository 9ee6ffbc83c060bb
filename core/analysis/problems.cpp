#include "core/analysis/problems.h"

#include <set>

#include "core/analysis/problems/checker.h"
#include "core/analysis/problems/suspects.h"
#include "core/exec/flatten.h"

namespace sonde::analysis {

using exec::BadValues;
using graph::InternalGraph;
using graph::NodeId;

const std::vector<ProblemChecker>& problemCheckers() {
    static const std::vector<ProblemChecker> checkers{badValueChecker(), failureChecker(), guardChecker(),
                                                      shapeChecker()};
    return checkers;
}

std::vector<Problem> findProblems(const InternalGraph& graph, const exec::Recording& recording,
                                  std::span<const NodeId> accepted, const ContradictingTypes& types) {
    std::vector<Problem> problems;
    for (const ProblemChecker& checker : problemCheckers()) checker.find({graph, recording, accepted, types}, problems);
    sortProblems(graph, problems);
    return problems;
}

BadSummary summarizeBad(const InternalGraph& graph, const exec::Recording& recording,
                        std::span<const NodeId> accepted) {
    BadSummary summary;
    const std::vector<NodeId> sources = exec::valueSources(graph);
    std::set<NodeId> quiet;
    const Suspects suspects(graph, recording, accepted);
    for (const Suspect& suspect : suspects.all) {
        if (suspect.isQuiet) {
            quiet.insert(suspect.node);
            ++summary.accepted;
            continue;
        }
        if (suspect.bad.nan > 0) ++summary.nanNodes;
        if (suspect.bad.inf > 0) ++summary.infNodes;
    }
    if (const Suspect* const first = suspects.first(&BadValues::nan, &Suspect::makesNan))
        summary.firstNan = first->node;
    if (const Suspect* const first = suspects.first(&BadValues::inf, &Suspect::makesInf))
        summary.firstInf = first->node;
    for (const auto& [node, bad] : recording.bad) {
        if (!quiet.contains(sources[node.index()])) summary.nodes.push_back(node);
    }
    return summary;
}

std::string BadSummary::text(const InternalGraph& graph) const {
    const auto part = [&](const char* what, std::size_t count, NodeId first) -> std::string {
        if (count == 0) return {};
        const bool isInput = graph.expr(graph.node(first).producer).kind == graph::ExprKind::Input;
        return std::string(what) + " in " + std::to_string(count) + (count == 1 ? " node, first " : " nodes, first ") +
               (isInput ? "in input " + graph.node(first).name : "produced by " + placeText(graph, first));
    };
    const std::string nan = part("NaN", nanNodes, firstNan), inf = part("Inf", infNodes, firstInf);
    return nan + (nan.empty() || inf.empty() ? "" : "; ") + inf;
}

}  // namespace sonde::analysis
