#include "core/graph/scope_output.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sonde::graph {

std::vector<NodeId> outputsOfScope(const InternalGraph& graph, ScopeId scope, const std::vector<ExprId>& order) {
    const auto isOutside = [&](ExprId user) { return !graph.encloses(scope, graph.expr(user).scope); };
    NodeId last;
    std::vector<NodeId> leaving;
    for (ExprId id : order) {
        const Expr& expr = graph.expr(id);
        if (expr.isParameter || !graph.encloses(scope, expr.scope)) continue;
        for (NodeId output : expr.outputs) {
            if (expr.kind != ExprKind::Constant) last = output;
            const bool isResult = std::ranges::find(graph.outputs(), output) != graph.outputs().end();
            if (isResult || std::ranges::any_of(graph.node(output).users, isOutside)) leaving.push_back(output);
        }
    }
    if (leaving.empty() && last.valid()) leaving.push_back(last);
    return leaving;
}

NodeId outputOfScope(const InternalGraph& graph, ScopeId scope, const std::vector<ExprId>& order) {
    const std::vector<NodeId> outputs = outputsOfScope(graph, scope, order);
    return outputs.empty() ? NodeId() : outputs.back();
}

std::vector<NodeId> outputsOfModule(const InternalGraph& graph, std::string_view qualname) {
    if (qualname.empty()) {
        std::vector<NodeId> outputs;
        for (const NodeId output : graph.outputs())
            if (std::ranges::find(outputs, output) == outputs.end()) outputs.push_back(output);
        return outputs;
    }
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    for (const ExprId id : order) {
        const Expr& expr = graph.expr(id);
        if (expr.kind == ExprKind::CallModule && expr.target == qualname && !expr.outputs.empty()) return expr.outputs;
    }
    for (const Scope& scope : graph.scopes()) {
        if (scope.qualname != qualname) continue;
        if (auto outputs = outputsOfScope(graph, scope.id, order); !outputs.empty()) return outputs;
    }
    return {};
}

std::vector<NodeId> moduleOutputs(const InternalGraph& graph, const std::function<bool(std::string_view)>& fits,
                                  std::size_t most) {
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    std::vector<std::pair<std::size_t, NodeId>> found;  // by where in the program they are computed
    std::set<std::string_view> done;
    for (std::size_t i = 0; i < order.size() && found.size() < most; ++i) {
        const Expr& expr = graph.expr(order[i]);
        if (expr.kind != ExprKind::CallModule || expr.outputs.empty() || expr.target.empty()) continue;
        if (fits(expr.target) && done.insert(expr.target).second) found.emplace_back(i, expr.outputs.front());
    }
    for (const Scope& scope : graph.scopes()) {
        if (found.size() >= most) break;
        if (scope.qualname.empty() || done.contains(scope.qualname) || !fits(scope.qualname)) continue;
        std::size_t last = 0;
        std::vector<ExprId> inside;
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (!graph.encloses(scope.id, graph.expr(order[i]).scope)) continue;
            inside.push_back(order[i]);
            last = i;
        }
        if (const NodeId output = outputOfScope(graph, scope.id, inside); output.valid()) {
            done.insert(scope.qualname);
            found.emplace_back(last, output);
        }
    }
    std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
    std::vector<NodeId> nodes;
    for (const auto& [at, node] : found) nodes.push_back(node);
    return nodes;
}

}  // namespace sonde::graph
