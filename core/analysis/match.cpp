#include "core/analysis/match.h"

#include <map>
#include <string>
#include <tuple>

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// Where a value stands in its model, without its name.
using Place = std::tuple<std::string, std::string, std::string, std::size_t>;

const Expr& producerOf(const InternalGraph& graph, NodeId node) { return graph.expr(graph.node(node).producer); }

/// What the operation is, comparable between graphs: a call of a module is known by the module's class.
std::string what(const Expr& expr) { return expr.op.name.empty() ? expr.moduleClass : expr.op.name; }

std::vector<NodeId> nodesOf(const InternalGraph& graph) {
    std::vector<NodeId> nodes;
    for (const ExprId id : graph.recursiveOrder(graph.mainId()))
        for (const NodeId output : graph.expr(id).outputs) nodes.push_back(output);
    return nodes;
}

std::map<Place, std::vector<NodeId>> byPlace(const InternalGraph& graph, const std::vector<NodeId>& nodes) {
    std::map<Place, std::vector<NodeId>> places;
    for (const NodeId node : nodes) {
        const Expr& expr = producerOf(graph, node);
        if (!expr.qualname || expr.kind == graph::ExprKind::Input) continue;
        places[{*expr.qualname, what(expr), expr.op.domain, graph.node(node).outputIndex}].push_back(node);
    }
    return places;
}

}  // namespace

std::vector<NodeId> matchNodes(const InternalGraph& from, const InternalGraph& to) {
    std::vector<NodeId> match(from.nodeCount());
    std::vector<bool> used(to.nodeCount(), false);
    const auto pair = [&](NodeId a, NodeId b) {
        if (!b.valid() || used[b.index()] || match[a.index()].valid()) return;
        match[a.index()] = b;
        used[b.index()] = true;
    };
    const std::vector<NodeId> nodes = nodesOf(from), others = nodesOf(to);
    std::map<std::string_view, NodeId> named;
    for (const NodeId node : others) named.emplace(to.node(node).name, node);
    const auto sameName = [&](NodeId node) {
        const auto found = named.find(from.node(node).name);
        return found == named.end() ? NodeId() : found->second;
    };
    for (const NodeId node : nodes) {
        const NodeId same = sameName(node);
        if (same.valid() && what(producerOf(from, node)) == what(producerOf(to, same))) pair(node, same);
    }
    const auto places = byPlace(from, nodes), otherPlaces = byPlace(to, others);
    for (const auto& [place, here] : places) {
        const auto there = otherPlaces.find(place);
        if (there == otherPlaces.end() || there->second.size() != here.size()) continue;
        for (std::size_t i = 0; i < here.size(); ++i) pair(here[i], there->second[i]);
    }
    for (const NodeId node : nodes) pair(node, sameName(node));
    if (from.inputs().size() == to.inputs().size())
        for (std::size_t i = 0; i < from.inputs().size(); ++i) pair(from.inputs()[i], to.inputs()[i]);
    return match;
}

}  // namespace sonde::analysis
