#include "core/graph/main_layer.h"

#include <algorithm>

#include "core/graph/traits.h"

namespace sonde::graph {

using operators::OpClass;
using operators::Trait;

namespace {

/// A module of more operations than this is no layer.
constexpr std::size_t kMaxExprs = 64;

/// Of what makes a weight of stored tensors.
constexpr std::size_t kMaxInputs = 4;

bool isStored(const Expr& expr) { return expr.kind == ExprKind::Constant || expr.kind == ExprKind::GetAttr; }

}  // namespace

bool isWeight(const InternalGraph& graph, NodeId id) {
    const Expr& producer = graph.expr(graph.node(id).producer);
    if (isStored(producer)) return true;
    return !producer.inputs.empty() && producer.inputs.size() <= kMaxInputs &&
           std::ranges::all_of(producer.inputs,
                               [&](NodeId input) { return isStored(graph.expr(graph.node(input).producer)); });
}

void MainLayer::add(ExprId id) {
    const Expr& expr = m_graph.expr(id);
    const operators::Traits& traits = traitsOf(expr);
    const bool hasWeights = std::ranges::any_of(expr.inputs, [&](NodeId input) { return isWeight(m_graph, input); });
    if (traits.is(Trait::Attends) || traits.opClass == OpClass::MultiHeadAttention) m_attention.add(id);
    else if (traits.opClass == OpClass::Recurrent || traits.opClass == OpClass::Embedding) m_layers.add(id);
    else if (hasWeights && (traits.is(Trait::Convolves) || traits.is(Trait::Multiplies))) m_layers.add(id);
    else if (hasWeights && (traits.opClass == OpClass::BatchNorm || traits.opClass == OpClass::LayerNorm))
        m_norms.add(id);
}

ExprId MainLayer::found() const {
    for (const Sole& sole : {m_layers, m_attention, m_norms})
        if (sole.count == 1) return sole.expr;
    return {};
}

ExprId mainLayerOf(const InternalGraph& graph, const Expr& call) {
    const bool isCall =
        call.kind == ExprKind::CallModule || call.kind == ExprKind::CallFunction || call.kind == ExprKind::CallMethod;
    if (!isCall || call.bodies.size() != 1) return {};
    const std::vector<ExprId>& order = graph.body(call.bodies.front()).order;
    if (order.size() > kMaxExprs) return {};
    MainLayer layer(graph);
    ExprId sole;
    std::size_t operations = 0;
    for (const ExprId id : order) {
        const Expr& expr = graph.expr(id);
        if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output || isStored(expr)) continue;
        sole = id;
        ++operations;
        layer.add(id);
    }
    return operations == 1 ? sole : layer.found();
}

}  // namespace sonde::graph
