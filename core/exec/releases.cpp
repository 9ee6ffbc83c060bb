#include "core/exec/releases.h"

#include "core/exec/flatten.h"

namespace sonde::exec {

using graph::BodyId;
using graph::Expr;

/// Where a value goes out of reach: in the outermost body that has a node with it.
Releases::Releases(const PlanImpl& plan) : m_plan(plan), m_graph(*plan.graph) {
    std::vector<std::size_t> depth(m_graph.bodyCount(), 0);
    for (std::size_t i = 0; i < depth.size(); ++i) {
        const ExprId owner = m_graph.body(BodyId(i)).owner;
        if (owner.valid() && !m_graph.isErased(owner)) depth[i] = depth[m_graph.expr(owner).body.index()] + 1;
    }
    m_home.resize(m_graph.nodeCount());
    for (std::size_t i = 0; i < m_home.size(); ++i) {
        const Expr& producer = m_graph.expr(m_graph.node(NodeId(i)).producer);
        if (!producer.id.valid()) continue;
        BodyId& home = m_home[m_plan.source[i].index()];
        if (!home.valid() || depth[producer.body.index()] < depth[home.index()]) home = producer.body;
    }
}

/// Nodes read anywhere inside a step: its arguments, and what its bodies capture.
void Releases::collectReads(const Step& step, std::vector<NodeId>& reads) const {
    const Expr& expr = m_graph.expr(step.expr);
    const auto results = [&](BodyId body) {
        const auto& outputs = m_graph.body(body).outputs;
        reads.insert(reads.end(), outputs.begin(), outputs.end());
    };
    if (step.kind == Step::Kind::Leave) results(expr.bodies.front());
    else reads.insert(reads.end(), expr.inputs.begin(), expr.inputs.end());
    const auto operands = [&](std::span<const NodeId> made) {
        m_plan.forEachOperand(made, [&](NodeId operand) { reads.push_back(operand); });
    };
    if (step.kind != Step::Kind::Enter) {
        reads.insert(reads.end(), expr.outputs.begin(), expr.outputs.end());  // never read at all
        operands(expr.outputs);
    }
    if (step.kind == Step::Kind::Enter || step.kind == Step::Kind::Leave) return;
    for (BodyId inner : expr.bodies) {
        for (ExprId id : m_graph.recursiveOrder(inner)) {
            const Expr& e = m_graph.expr(id);
            reads.insert(reads.end(), e.inputs.begin(), e.inputs.end());
            operands(e.outputs);
            for (BodyId deeper : e.bodies) results(deeper);
        }
        results(inner);
    }
}

void Releases::plan(BodyId id, std::vector<Step>& steps, bool isRow) const {
    std::vector<bool> done(m_graph.nodeCount(), false);
    const auto source = [&](NodeId node) { return m_plan.source[node.index()]; };
    for (NodeId output : m_graph.body(id).outputs) done[source(output).index()] = true;
    for (NodeId end : m_plan.options.end) done[source(end).index()] = true;
    std::vector<NodeId> reads;
    for (std::size_t i = steps.size(); i-- > 0;) {
        reads.clear();
        collectReads(steps[i], reads);
        for (const Step& fused : steps[i].epilogue) collectReads(fused, reads);
        for (NodeId read : reads) {
            const NodeId node = source(read);
            if (done[node.index()]) continue;
            done[node.index()] = true;
            const BodyId home = m_home[node.index()];
            if ((isRow ? rowOf(m_graph, home) : home) == id && !m_graph.node(node).constant)
                steps[i].release.push_back(node);
        }
    }
}

void cutAfterEnds(const PlanImpl& plan, std::vector<Step>& steps) {
    const InternalGraph& graph = *plan.graph;
    if (plan.options.end.empty()) return;
    std::vector<bool> holdsEnd(graph.exprCount(), false);
    for (NodeId node : plan.options.end) {
        ExprId id = graph.node(node).producer;
        holdsEnd[id.index()] = true;
        while (graph.body(graph.expr(id).body).owner.valid()) {
            id = graph.body(graph.expr(id).body).owner;
            holdsEnd[id.index()] = true;
        }
    }
    std::size_t last = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        bool holds = holdsEnd[steps[i].expr.index()];
        for (const Step& fused : steps[i].epilogue) holds = holds || holdsEnd[fused.expr.index()];
        if (holds) last = i + 1;
    }
    steps.resize(last);
}

}  // namespace sonde::exec
