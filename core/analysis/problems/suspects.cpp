#include "core/analysis/problems/suspects.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/analysis/problem.h"
#include "core/exec/flatten.h"

namespace sonde::analysis {

using exec::BadValues;
using graph::Expr;
using graph::ExprKind;
using graph::NodeId;

Suspects::Suspects(const graph::InternalGraph& graph, const exec::Recording& recording,
                   std::span<const NodeId> accepted)
    : m_graph(graph), m_sources(exec::valueSources(graph)), m_at(graph.nodeCount(), kNone) {
    std::set<NodeId> quiet;
    for (NodeId node : accepted) {
        if (node.valid() && node.index() < graph.nodeCount()) quiet.insert(m_sources[node.index()]);
    }
    for (const auto& [node, bad] : recording.bad) {
        const bool isOutput = graph.expr(graph.node(node).producer).kind == ExprKind::Output;
        if (m_sources[node.index()] == node && !isOutput) all.push_back({node, bad});
    }
    const std::vector<std::size_t> position = executionOrder(graph);
    const auto key = [&](const Suspect& suspect) {
        return std::pair(position[graph.node(suspect.node).producer.index()], graph.node(suspect.node).outputIndex);
    };
    std::ranges::sort(all, {}, key);
    for (std::size_t i = 0; i < all.size(); ++i) m_at[all[i].node.index()] = i;
    for (Suspect& suspect : all) {
        judge(suspect);
        suspect.isQuiet = !suspect.isOrigin() || quiet.contains(suspect.node);
    }
    // A carrier is quiet as long as everything that it could carry is. Loops hand values back to where they came from.
    for (bool changed = true; std::exchange(changed, false);) {
        for (Suspect& suspect : all) {
            if (!suspect.isQuiet || quiet.contains(suspect.node)) continue;
            const auto inputs = badInputs(suspect);
            suspect.isQuiet = !inputs.empty() && std::ranges::all_of(inputs, &Suspect::isQuiet);
            changed = changed || !suspect.isQuiet;
        }
    }
}

const Suspect* Suspects::first(std::int64_t BadValues::*count, bool Suspect::*makes) const {
    const auto has = [&](const Suspect& suspect) { return !suspect.isQuiet && suspect.bad.*count > 0; };
    auto found = std::ranges::find_if(all, [&](const Suspect& suspect) { return has(suspect) && suspect.*makes; });
    if (found == all.end()) found = std::ranges::find_if(all, has);
    return found == all.end() ? nullptr : &*found;
}

/// What is bad among what it was made from. What comes into a body is made by nothing there.
std::vector<const Suspect*> Suspects::badInputs(const Suspect& suspect) const {
    std::vector<const Suspect*> found;
    const auto add = [&](NodeId node) {
        if (const std::size_t at = m_at[m_sources[node.index()].index()]; at != kNone) found.push_back(&all[at]);
    };
    const Expr& expr = m_graph.expr(m_graph.node(suspect.node).producer);
    const graph::ExprId owner = m_graph.body(expr.body).owner;
    const Expr& maker = expr.kind == ExprKind::Input && owner.valid() ? m_graph.expr(owner) : expr;
    std::ranges::for_each(maker.inputs, add);
    for (graph::BodyId body : maker.bodies) std::ranges::for_each(m_graph.body(body).outputs, add);
    return found;
}

/// Infinity is made where all inputs are finite; NaN also where some are infinite: ∞ − ∞, 0 · ∞, softmax of −∞ alone.
void Suspects::judge(Suspect& suspect) const {
    const auto inputs = badInputs(suspect);
    const bool isHandedIn = isBodyInput(suspect.node) && !inputs.empty();
    suspect.makesInf = suspect.bad.inf > 0 && suspect.bad.isOrigin && !isHandedIn;
    suspect.makesNan =
        suspect.bad.nan > 0 && !isHandedIn &&
        (suspect.bad.isOrigin || std::ranges::none_of(inputs, [](const Suspect* input) { return input->bad.nan > 0; }));
}

bool Suspects::isBodyInput(NodeId node) const {
    const Expr& expr = m_graph.expr(m_graph.node(node).producer);
    return expr.kind == ExprKind::Input && m_graph.body(expr.body).owner.valid();
}

}  // namespace sonde::analysis
