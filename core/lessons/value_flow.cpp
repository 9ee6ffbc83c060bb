#include "core/lessons/value_flow.h"

#include "core/exec/flatten.h"
#include "core/graph/traits.h"

namespace sonde::lessons {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;

namespace {

bool isStored(const Expr& expr) { return expr.kind == ExprKind::Constant || expr.kind == ExprKind::GetAttr; }

}  // namespace

ValueFlow::ValueFlow(const graph::InternalGraph& graph)
    : m_graph(graph), m_sources(exec::valueSources(graph)), m_readers(graph.nodeCount()),
      m_depends(graph.nodeCount(), false) {
    std::vector<NodeId> given;
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        const ExprId id(i);
        if (graph.isErased(id)) continue;
        const Expr& expr = graph.expr(id);
        if (exec::isCall(expr) || isStored(expr)) continue;  // a call is what is in it
        for (const NodeId input : expr.inputs) {
            std::vector<ExprId>& readers = m_readers[sourceOf(input).index()];
            if (readers.empty() || readers.back() != id) readers.push_back(id);
        }
        // Inputs of called modules have other sources, those of branches and loops may be anything.
        if (expr.kind == ExprKind::Input || !expr.bodies.empty())
            for (const NodeId output : expr.outputs)
                if (sourceOf(output) == output) given.push_back(output);
    }
    spread(std::move(given));
}

/// To all that is computed from these.
void ValueFlow::spread(std::vector<NodeId> nodes) {
    while (!nodes.empty()) {
        const NodeId node = nodes.back();
        nodes.pop_back();
        if (m_depends[node.index()]) continue;
        m_depends[node.index()] = true;
        for (const ExprId reader : m_readers[node.index()])
            for (const NodeId output : m_graph.expr(reader).outputs)
                if (sourceOf(output) == output) nodes.push_back(output);
    }
}

NodeId ValueFlow::originOf(NodeId node) const {
    while (true) {
        node = sourceOf(node);
        const Expr& producer = producerOf(node);
        const operators::OpClass opClass = graph::traitsOf(producer).opClass;
        const bool handsOn = opClass == operators::OpClass::Identity || opClass == operators::OpClass::Dropout;
        if (!handsOn || producer.inputs.empty() || producer.outputs.front() != node) return node;
        node = producer.inputs.front();
    }
}

const Expr& ValueFlow::producerOf(NodeId node) const { return m_graph.expr(m_graph.node(sourceOf(node)).producer); }

}  // namespace sonde::lessons
