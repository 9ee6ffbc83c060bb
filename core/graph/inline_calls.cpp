#include "core/graph/inline_calls.h"

#include <algorithm>
#include <set>

namespace sonde::graph {

namespace {

/// Whether the inside of calls stays in the scopes of their modules.
enum class Hierarchy : std::uint8_t { Kept, Removed };

class Inliner {
  public:
    Inliner(const InternalGraph& source, std::span<const ExprId> calls, Hierarchy hierarchy)
        : m_source(source), m_calls(calls.begin(), calls.end()), m_hierarchy(hierarchy) {
        m_made.nodes.resize(source.nodeCount());
    }

    InlinedGraph make() {
        m_made.graph.name = m_source.name;
        copyScopes();
        copyBody(m_source.mainId(), m_made.graph.mainId());
        return std::move(m_made);
    }

  private:
    /// Ids of scopes count from 0 without gaps: those of the copy are the same.
    void copyScopes() {
        m_made.graph.mutableScope(m_made.graph.rootScope()) = m_source.scope(m_source.rootScope());
        if (m_hierarchy == Hierarchy::Removed) return;
        for (std::size_t i = 1; i < m_source.scopeCount(); ++i) {
            const Scope& scope = m_source.scopes()[i];
            m_made.graph.addScope(scope.parent, scope.qualname, scope.moduleClass, scope.call, scope.inferred);
        }
    }

    void copyBody(BodyId from, BodyId to) {
        for (const NodeId input : m_source.body(from).inputs) copyInput(input, to);
        copyOrder(from, to);
        m_made.graph.setResult(to, mapped(m_source.body(from).result));
    }

    void copyOrder(BodyId from, BodyId to) {
        const Body& body = m_source.body(from);
        for (const ExprId id : body.order) {
            const Expr& expr = m_source.expr(id);
            const bool isInput = expr.kind == ExprKind::Input &&
                                 std::ranges::find(body.inputs, expr.outputs.front()) != body.inputs.end();
            if (isInput) continue;
            if (m_calls.contains(id)) inlineCall(expr, to);
            else copyExpr(expr, to);
        }
    }

    void copyInput(NodeId input, BodyId to) {
        const Node& node = m_source.node(input);
        const Expr& expr = m_source.expr(node.producer);
        const NodeId made = m_made.graph.addInput(to, node.name, node.type, expr.target);
        Expr& copy = m_made.graph.mutableExpr(m_made.graph.node(made).producer);
        copy.scope = scopeOf(expr);
        copy.qualname = expr.qualname;
        copy.moduleClass = expr.moduleClass;
        copy.source = expr.source;
        copy.attributes = expr.attributes;
        // What it is if it is not given.
        if (!expr.arguments.empty()) m_made.graph.setArguments(copy.id, expr.arguments);
        keepNode(input, made);
    }

    void copyExpr(const Expr& expr, BodyId to) {
        Expr copy = expr;
        copy.body = to;
        copy.scope = scopeOf(expr);
        copy.bodies.clear();
        for (Argument& argument : copy.arguments) argument = mapped(std::move(argument));
        for (auto& [name, argument] : copy.keywords) argument = mapped(std::move(argument));
        std::vector<std::string> names;
        for (const NodeId output : expr.outputs) names.push_back(m_source.node(output).name);
        const ExprId made = m_made.graph.addExpr(std::move(copy), names);
        for (std::size_t i = 0; i < expr.outputs.size(); ++i)
            keepNode(expr.outputs[i], m_made.graph.expr(made).outputs[i]);
        for (const BodyId inner : expr.bodies) copyBody(inner, m_made.graph.addBody(made, m_source.body(inner).label));
    }

    void inlineCall(const Expr& call, BodyId to) {
        const Body& body = m_source.body(call.bodies.front());
        const std::size_t before = m_made.graph.nodeCount();
        for (std::size_t i = 0; i < body.inputs.size() && i < call.inputs.size(); ++i)
            m_made.nodes[body.inputs[i].index()] = m_made.nodes[call.inputs[i].index()];
        copyOrder(body.id, to);
        const bool isOne = call.outputs.size() == 1;
        if (isOne && body.result.kind != Argument::Kind::Node) return collect(call, mapped(body.result), to);
        for (std::size_t i = 0; i < call.outputs.size() && i < body.outputs.size(); ++i)
            m_made.nodes[call.outputs[i].index()] = m_made.nodes[body.outputs[i].index()];
        if (m_hierarchy == Hierarchy::Removed) nameResults(call, before);
    }

    /// What was made inside of the call has the call's name; what it was given keeps its own.
    void nameResults(const Expr& call, std::size_t firstInside) {
        for (const NodeId output : call.outputs) {
            const NodeId result = m_made.nodes[output.index()];
            // A name that is taken by now stays where it is.
            if (result.index() >= firstInside) (void)m_made.graph.rename(result, m_source.node(output).name);
        }
    }

    ScopeId scopeOf(const Expr& expr) const {
        return m_hierarchy == Hierarchy::Kept ? expr.scope : m_made.graph.rootScope();
    }

    void collect(const Expr& call, Argument result, BodyId to) {
        Expr expr;
        expr.kind = ExprKind::Output;
        expr.target = "output";
        expr.body = to;
        expr.scope = scopeOf(call);
        expr.qualname = call.qualname;
        expr.moduleClass = call.moduleClass;
        expr.source = call.source;
        expr.arguments.push_back(std::move(result));
        const NodeId value = call.outputs.front();
        const ExprId made =
            m_made.graph.addExpr(std::move(expr), std::span<const std::string>(&m_source.node(value).name, 1));
        keepNode(value, m_made.graph.expr(made).outputs.front());
    }

    void keepNode(NodeId from, NodeId to) {
        m_made.nodes[from.index()] = to;
        m_made.graph.setType(to, m_source.node(from).type);
        if (m_source.node(from).constant) m_made.graph.setConstant(to, *m_source.node(from).constant);
    }

    Argument mapped(Argument argument) const {
        argument.forEachNode([this](NodeId& node) { node = m_made.nodes[node.index()]; });
        return argument;
    }

    const InternalGraph& m_source;
    const std::set<ExprId> m_calls;
    const Hierarchy m_hierarchy;
    InlinedGraph m_made;
};

}  // namespace

InlinedGraph inlineCalls(const InternalGraph& graph, std::span<const ExprId> calls) {
    return Inliner(graph, calls, Hierarchy::Kept).make();
}

InlinedGraph withoutHierarchy(const InternalGraph& graph) {
    std::vector<ExprId> calls;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (expr.op.name.empty() && !expr.bodies.empty() && expr.kind != ExprKind::Output) calls.push_back(id);
    }
    return Inliner(graph, calls, Hierarchy::Removed).make();
}

}  // namespace sonde::graph
