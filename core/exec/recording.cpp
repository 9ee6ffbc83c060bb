#include "core/exec/recording.h"

#include <algorithm>

#include "core/exec/flatten.h"
#include "core/exec/pass_text.h"

namespace sonde::exec {

const Value* Recording::value(NodeId node) const {
    const auto found = kept.find(node);
    return found == kept.end() || found->second.empty() ? nullptr : &found->second.back();
}

const Value* Recording::value(NodeId node, std::size_t iteration) const {
    const auto found = kept.find(node);
    return found == kept.end() || iteration >= found->second.size() ? nullptr : &found->second[iteration];
}

std::size_t Recording::iterations(NodeId node) const {
    const auto found = kept.find(node);
    return found == kept.end() ? 0 : found->second.size();
}

std::vector<std::int64_t> Recording::passOf(NodeId node, std::size_t iteration) const {
    const auto found = keptPasses.find(node);
    if (found == keptPasses.end() || iteration >= found->second.size()) return {};
    return found->second[iteration];
}

std::string Recording::passText(NodeId node, std::size_t iteration) const {
    return sonde::exec::passText(passOf(node, iteration));
}

std::optional<std::size_t> Recording::iterationOf(NodeId node, std::string_view text) const {
    for (std::size_t i = 0; i < iterations(node); ++i) {
        if (!text.empty() && passText(node, i) == text) return i;
    }
    return std::nullopt;
}

const std::vector<std::size_t>& Recording::branches(ExprId expr) const {
    static const std::vector<std::size_t> none;
    const auto found = branchesTaken.find(expr);
    return found == branchesTaken.end() ? none : found->second;
}

bool Recording::computed(NodeId node) const {
    return node.index() < computedNodes.size() && computedNodes[node.index()];
}

ExprState Recording::state(ExprId expr) const {
    return expr.index() < states.size() ? states[expr.index()] : ExprState::NotReached;
}

ExprId Recording::doneWith(const InternalGraph& graph, ExprId expr) const {
    if (expr.index() >= joinedTo.size()) return {};
    if (joinedTo[expr.index()].valid() || !isCall(graph.expr(expr))) return joinedTo[expr.index()];
    ExprId leader;
    for (ExprId step : graph.recursiveOrder(graph.expr(expr).bodies.front())) {
        const graph::Expr& inner = graph.expr(step);
        if (inner.op.name.empty() || inner.kind == graph::ExprKind::Output || state(step) == ExprState::NotReached)
            continue;
        if (inner.outputs.size() == 1 && graph.node(inner.outputs.front()).constant) continue;
        const ExprId with = joinedTo[step.index()];
        if (!with.valid() || (leader.valid() && leader != with)) return {};
        leader = with;
    }
    return leader;
}

const Failure* Recording::failure(ExprId expr) const {
    const auto found = std::ranges::find(failures, expr, &Failure::expr);
    return found == failures.end() ? nullptr : &*found;
}

std::int64_t Recording::elapsedNs(ExprId expr) const {
    return expr.index() < elapsed.size() ? elapsed[expr.index()] : 0;
}
std::int64_t Recording::startNs(ExprId expr) const { return expr.index() < started.size() ? started[expr.index()] : 0; }

}  // namespace sonde::exec
