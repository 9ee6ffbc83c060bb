#include "core/analysis/reach.h"

#include <deque>

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// Breadth first with steps of length 0 and 1: a double-ended queue keeps it linear.
class Search {
  public:
    Search(const InternalGraph& graph, Flow flow, std::size_t most)
        : m_graph(graph), m_flow(flow), m_most(most), m_distance(graph.exprCount(), kUnreached) {
        if (flow == Flow::Downstream) findResults();
    }

    std::vector<std::uint32_t> run(const std::vector<ExprId>& from) {
        for (const ExprId id : from) reach(id, 0, false);
        std::vector<bool> done(m_graph.exprCount(), false);
        while (!m_queue.empty()) {
            const ExprId id = m_queue.front();
            m_queue.pop_front();
            if (done[id.index()]) continue;
            done[id.index()] = true;
            m_flow == Flow::Upstream ? upFrom(m_graph.expr(id)) : downFrom(m_graph.expr(id));
        }
        return std::move(m_distance);
    }

  private:
    void reach(ExprId id, std::uint32_t distance, bool near) {
        if (!id.valid() || m_graph.isErased(id) || distance > m_most || m_distance[id.index()] <= distance) return;
        m_distance[id.index()] = distance;
        near ? m_queue.push_front(id) : m_queue.push_back(id);
    }

    std::uint32_t at(const Expr& expr) const { return m_distance[expr.id.index()]; }

    void upFrom(const Expr& expr) {
        for (const NodeId input : expr.inputs) reach(m_graph.node(input).producer, at(expr) + 1, false);
        for (const graph::BodyId body : expr.bodies)
            for (const NodeId output : m_graph.body(body).outputs) reach(m_graph.node(output).producer, at(expr), true);
        // What a body is given comes from its owner's inputs.
        if (expr.kind == ExprKind::Input && expr.body != m_graph.mainId())
            for (const NodeId input : m_graph.expr(m_graph.body(expr.body).owner).inputs)
                reach(m_graph.node(input).producer, at(expr) + 1, false);
    }

    void downFrom(const Expr& expr) {
        for (const NodeId output : expr.outputs) {
            for (const ExprId user : m_graph.node(output).users) enter(user, at(expr) + 1);
            if (m_isResult[output.index()]) reach(m_graph.body(expr.body).owner, at(expr), true);
        }
    }

    /// A reader, and if it has bodies also what they are given.
    void enter(ExprId user, std::uint32_t distance) {
        reach(user, distance, false);
        for (const graph::BodyId body : m_graph.expr(user).bodies)
            for (const NodeId input : m_graph.body(body).inputs) reach(m_graph.node(input).producer, distance, false);
    }

    void findResults() {
        m_isResult.assign(m_graph.nodeCount(), false);
        for (std::size_t i = 1; i < m_graph.bodyCount(); ++i)
            for (const NodeId output : m_graph.body(graph::BodyId(i)).outputs) m_isResult[output.index()] = true;
    }

    const InternalGraph& m_graph;
    Flow m_flow;
    std::size_t m_most;
    std::vector<std::uint32_t> m_distance;
    std::vector<bool> m_isResult;
    std::deque<ExprId> m_queue;
};

std::vector<ExprId> onTheWay(const InternalGraph& graph, const std::vector<ExprId>& from,
                             const std::vector<ExprId>& to) {
    const std::vector<std::uint32_t> down = distances(graph, from, Flow::Downstream);
    const std::vector<std::uint32_t> up = distances(graph, to, Flow::Upstream);
    std::vector<ExprId> way;
    for (const ExprId id : graph.recursiveOrder(graph.mainId()))
        if (down[id.index()] != kUnreached && up[id.index()] != kUnreached) way.push_back(id);
    return way;
}

}  // namespace

std::vector<std::uint32_t> distances(const InternalGraph& graph, const std::vector<ExprId>& from, Flow flow,
                                     std::size_t most) {
    return Search(graph, flow, most).run(from);
}

std::vector<ExprId> between(const InternalGraph& graph, const std::vector<ExprId>& from,
                            const std::vector<ExprId>& to) {
    std::vector<ExprId> way = onTheWay(graph, from, to);
    return way.empty() ? onTheWay(graph, to, from) : way;
}

}  // namespace sonde::analysis
