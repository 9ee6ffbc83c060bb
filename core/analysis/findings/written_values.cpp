#include "core/analysis/findings/written_values.h"

#include <numeric>

#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// Sets of nodes that may share memory.
class SharedSets {
  public:
    explicit SharedSets(std::size_t count) : m_parent(count) { std::iota(m_parent.begin(), m_parent.end(), 0); }

    std::size_t find(std::size_t at) {
        while (m_parent[at] != at) at = m_parent[at] = m_parent[m_parent[at]];
        return at;
    }
    void join(NodeId a, NodeId b) { m_parent[find(a.index())] = find(b.index()); }

  private:
    std::vector<std::size_t> m_parent;
};

void joinBodies(const InternalGraph& graph, const Expr& expr, SharedSets& sets) {
    for (const graph::BodyId id : expr.bodies) {
        const graph::Body& body = graph.body(id);
        // Loops and branches match them in ways of their own: any of one side may be any of the other.
        for (const NodeId input : body.inputs)
            for (const NodeId given : expr.inputs) sets.join(input, given);
        for (const NodeId result : body.outputs)
            for (const NodeId output : expr.outputs) sets.join(output, result);
    }
}

bool sharesMemory(const operators::Traits& traits) {
    return traits.memory.sharing != operators::Sharing::Fresh || traits.isIdentityAtInference();
}

}  // namespace

std::vector<bool> writtenValues(const InternalGraph& graph) {
    std::vector<bool> isWritten(graph.nodeCount(), false);
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    std::vector<NodeId> targets;
    for (const ExprId id : order) {
        const Expr& expr = graph.expr(id);
        const operators::Traits& traits = graph::traitsOf(expr);
        const bool writes = traits.memory.writes || traits.memory.reforms || traits.is(operators::Trait::InPlace) ||
                            traits.opClass == operators::OpClass::SetItem;
        if (writes && !expr.inputs.empty()) targets.push_back(expr.inputs.front());
        for (const auto& [keyword, argument] : expr.keywords)
            if (keyword == "out" && argument.kind == graph::Argument::Kind::Node) targets.push_back(argument.node);
    }
    if (targets.empty()) return isWritten;
    SharedSets sets(graph.nodeCount());
    for (const ExprId id : order) {
        const Expr& expr = graph.expr(id);
        joinBodies(graph, expr, sets);
        if (!sharesMemory(graph::traitsOf(expr))) continue;
        for (const NodeId input : expr.inputs)
            for (const NodeId output : expr.outputs) sets.join(output, input);
    }
    std::vector<bool> isSetWritten(graph.nodeCount(), false);
    for (const NodeId target : targets) isSetWritten[sets.find(target.index())] = true;
    for (std::size_t i = 0; i < isWritten.size(); ++i) isWritten[i] = isSetWritten[sets.find(i)];
    return isWritten;
}

}  // namespace sonde::analysis
