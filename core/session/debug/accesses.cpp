#include "core/session/debug/accesses.h"

#include "core/exec/flatten.h"
#include "core/graph/memory.h"

namespace sonde::session::debug {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using graph::Sharing;

namespace {

/// Which nodes are in the same memory, by views and by writes that return what they wrote to.
class SharedNodes {
  public:
    explicit SharedNodes(const InternalGraph& graph)
        : m_graph(graph), m_sources(exec::valueSources(graph)), m_bases(graph.nodeCount()) {
        for (std::size_t i = 0; i < graph.nodeCount(); ++i) m_bases[i] = baseOf(NodeId(i));
    }

    NodeId sourceOf(NodeId node) const { return m_sources[node.index()]; }
    /// The node that has the memory; of a chain of views the first.
    NodeId ownerOf(NodeId node) const {
        for (NodeId base = sourceOf(node); base.valid(); base = m_bases[base.index()]) node = base;
        return sourceOf(node);
    }
    /// `node` is `of` itself or a view of it.
    bool isOn(NodeId node, NodeId of) const {
        for (node = sourceOf(node); node.valid(); node = m_bases[node.index()])
            if (node == of) return true;
        return false;
    }

  private:
    /// The value that a view is of.
    NodeId baseOf(NodeId node) const {
        if (m_graph.isErased(m_graph.node(node).producer)) return {};
        const graph::Expr& expr = m_graph.expr(m_graph.node(node).producer);
        if (expr.op.name.empty() || !expr.bodies.empty()) return {};
        const Sharing sharing = graph::memoryEffect(m_graph, expr).sharing;
        if (sharing == Sharing::Fresh) return {};
        const graph::Argument* from = sharing == Sharing::Written ? graph::writtenArgument(m_graph, expr) : nullptr;
        if (!from && !expr.arguments.empty()) from = &expr.arguments.front();
        if (!from || from->kind != graph::Argument::Kind::Node) return {};
        const NodeId base = sourceOf(from->node);
        return base == node ? NodeId() : base;
    }

    const InternalGraph& m_graph;
    std::vector<NodeId> m_sources, m_bases;
};

}  // namespace

Accesses Accesses::of(const InternalGraph& graph, NodeId asked) {
    Accesses found;
    found.reads.assign(graph.exprCount(), false);
    found.writes.assign(graph.exprCount(), false);
    const SharedNodes shared(graph);
    const NodeId node = shared.sourceOf(asked), owner = shared.ownerOf(asked);
    const graph::Expr& producer = graph.expr(graph.node(node).producer);
    if (producer.kind == graph::ExprKind::Input) found.loop = graph.body(producer.body).owner;
    else if (!graph.node(node).constant) found.writes[producer.id.index()] = true;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const NodeId other(i);
        if (graph.isErased(graph.node(other).producer) || shared.ownerOf(other) != owner) continue;
        const bool isPart = shared.isOn(other, node);
        for (const ExprId user : graph.node(other).users) {
            const graph::Expr& expr = graph.expr(user);
            // What a call does with it is in the call.
            if (expr.kind == graph::ExprKind::Output || exec::isCall(expr)) continue;
            if (isPart) found.reads[user.index()] = true;
            const graph::Argument* const target = graph::writtenArgument(graph, expr);
            if (target && target->kind == graph::Argument::Kind::Node &&
                shared.sourceOf(target->node) == shared.sourceOf(other))
                found.writes[user.index()] = true;
        }
    }
    return found;
}

void AccessItems::add(const Timeline& timeline, const Accesses& accesses, std::size_t from) {
    for (std::size_t i = from; i < timeline.size(); ++i) {
        const auto id = static_cast<ItemId>(i);
        const Item& item = timeline[id];
        if (item.kind == Item::Kind::Module) continue;
        const bool isIteration = item.kind == Item::Kind::Body;
        if (!isIteration && accesses.reads[item.expr.index()]) reads.push_back(id);
        if (isIteration ? item.expr == accesses.loop : bool(accesses.writes[item.expr.index()])) writes.push_back(id);
    }
}

}  // namespace sonde::session::debug
