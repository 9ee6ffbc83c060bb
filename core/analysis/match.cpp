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

using Call = std::pair<std::string, int>;

bool isComputed(const Expr& expr) {
    return expr.kind != graph::ExprKind::Input && expr.kind != graph::ExprKind::Constant &&
           expr.kind != graph::ExprKind::GetAttr && expr.kind != graph::ExprKind::Output && expr.outputs.size() == 1;
}

/// The last value that each call of a module computes itself, and the call of every value.
struct Results {
    std::map<Call, NodeId> last;
    std::map<NodeId, Call> callOf;

    Results(const InternalGraph& graph, const std::vector<NodeId>& nodes) {
        std::map<std::string, int> calls;
        for (const NodeId node : nodes) {
            const Expr& expr = producerOf(graph, node);
            if (!isComputed(expr) || !expr.qualname || expr.qualname->empty() || expr.body != graph.mainId()) continue;
            // A module that was not traced into is one operation for each call.
            int call = 0;
            if (expr.kind == graph::ExprKind::CallModule) call = calls[*expr.qualname]++;
            else if (expr.scope.valid() && graph.scope(expr.scope).qualname == *expr.qualname)
                call = graph.scope(expr.scope).call;
            last[{*expr.qualname, call}] = node;
            callOf[node] = {*expr.qualname, call};
        }
    }
};

/// `node`, or what modules that are not in `others` make of it one after the other.
NodeId throughOwnModules(const InternalGraph& graph, NodeId node, const Results& own, const Results& others) {
    for (std::size_t step = 0; step < own.last.size(); ++step) {
        const auto& users = graph.node(node).users;
        if (users.size() != 1 || !isComputed(graph.expr(users.front()))) return node;
        const auto call = own.callOf.find(graph.expr(users.front()).outputs.front());
        if (call == own.callOf.end() || others.last.contains(call->second)) return node;
        const NodeId next = own.last.at(call->second);
        if (next == node) return node;
        node = next;
    }
    return node;
}

bool mayBeEqual(const graph::Node& a, const graph::Node& b) {
    return !a.type.shape || !b.type.shape || a.type.shape->size() == b.type.shape->size();
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
    if (from.outputs().size() == to.outputs().size())
        for (std::size_t i = 0; i < from.outputs().size(); ++i) pair(from.outputs()[i], to.outputs()[i]);
    const Results given(from, nodes), othersGiven(to, others);
    for (const auto& [call, node] : given.last) {
        const auto there = othersGiven.last.find(call);
        if (there == othersGiven.last.end()) continue;
        const NodeId a = throughOwnModules(from, node, given, othersGiven),
                     b = throughOwnModules(to, there->second, othersGiven, given);
        if (mayBeEqual(from.node(a), to.node(b))) pair(a, b);
    }
    return match;
}

}  // namespace sonde::analysis
