#include "core/trace/graph_recording.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/graph/guard.h"
#include "core/graph/traits.h"
#include "core/operators/names.h"
#include "core/trace/guard_description.h"
#include "core/trace/memory.h"
#include "core/trace/model_index.h"
#include "core/trace/recorder.h"

namespace sonde::trace {

using graph::Argument;
using graph::Expr;
using graph::ExprKind;
using graph::NodeId;
using tensor::ValueKind;

Var GraphRecording::record(ExprKind kind, graph::OpKey op, std::string target, std::string_view candidate,
                           std::vector<Var> arguments, Keywords keywords, bool makesTensor, std::size_t outputs) {
    return m_recorder.record(kind, std::move(op), std::move(target), candidate, std::move(arguments),
                             std::move(keywords), makesTensor, outputs);
}

NodeId GraphRecording::recordGuard(NodeId node, KnownUse use, const tensor::AttributeValue& expected,
                                   const std::string& description, const std::string& traced) {
    const Var guard = record(ExprKind::Apply, {graph::kGuardDomain, graph::kGuardName, 0}, graph::kGuardName,
                             graph::kGuardName, {m_recorder.proxy(node)}, {}, false, 1);
    graph::InternalGraph& graph = m_recorder.graph();
    Expr& expr = graph.mutableExpr(graph.node(guard.node()).producer);
    expr.attributes.set(graph::kGuardKind, std::string(guardKind(use)));
    expr.attributes.set(graph::kGuardExpected, expected);
    expr.attributes.set(graph::kGuardDescription, description);
    if (!traced.empty()) expr.attributes.set(graph::kGuardTraced, traced);
    expr.attributes.set(graph::kGuardSource, m_recorder.place().module);
    expr.attributes.set(graph::kGuardClass, std::string(expr.moduleClass));
    return guard.node();
}

NodeId GraphRecording::nodeOfValue(const Var& var) { return m_recorder.toArgument(var).node; }

std::size_t GraphRecording::recordedExprs() const { return m_recorder.graph().exprCount(); }

const graph::InternalGraph* GraphRecording::recordedGraph() const {
    return m_recorder.bodies().empty() ? nullptr : &m_recorder.graph();
}

bool GraphRecording::isTensor(NodeId node) const { return m_recorder.isTensor(node); }

std::optional<ValueKind> GraphRecording::kindAlone(NodeId node) const {
    if (isTensor(node)) return ValueKind::Tensor;
    const graph::InternalGraph& graph = m_recorder.graph();
    const graph::Node& known = graph.node(node);
    if (known.constant) return known.constant->kind();
    if (known.type.kind) return known.type.kind;
    const Expr& expr = graph.expr(known.producer);
    const operators::Traits& traits = graph::traitsOf(expr);
    const bool isOne = traits.opClass == operators::OpClass::Shape && operators::overloadOf(expr.op.name) == "int";
    if (isOne || traits.query == operators::ShapeQuery::Length) return ValueKind::Int;
    if (expr.op.domain != "prim" || expr.arguments.empty()) return std::nullopt;
    const auto producerOf = [&](const Argument& argument) {
        return argument.kind == Argument::Kind::Node ? &graph.expr(graph.node(argument.node).producer) : nullptr;
    };
    if (traits.form == operators::ViewForm::Index) {
        // x.shape[i], x.size()[i]
        const Expr* list = producerOf(expr.arguments.front());
        const bool isShape =
            list &&
            (graph::traitsOf(*list).opClass == operators::OpClass::Shape ||
             (graph::traitsOf(*list).opClass == operators::OpClass::GetAttr && list->arguments.size() > 1 &&
              list->arguments[1].kind == Argument::Kind::Constant && list->arguments[1].constant.text() == "'shape'"));
        return isShape ? std::optional(ValueKind::Int) : std::nullopt;
    }
    return std::nullopt;
}

namespace {

bool keepsInts(const Expr& expr) {
    return expr.op.domain == "prim" && !expr.arguments.empty() && graph::traitsOf(expr).is(operators::Trait::KeepsInts);
}

}  // namespace

std::optional<ValueKind> GraphRecording::kindOf(NodeId node) const {
    const graph::InternalGraph& graph = m_recorder.graph();
    const auto producer = [&](NodeId made) -> const Expr& { return graph.expr(graph.node(made).producer); };
    const std::optional<ValueKind> alone = kindAlone(node);
    if (alone || !keepsInts(producer(node))) return alone;
    // What is computed from integers alone is one. Chains are as long as programs: no recursion, and of a very long one
    // the kind is not known.
    constexpr std::size_t kMaxNodes = 1000;
    std::vector<NodeId> waiting{node};
    std::unordered_set<NodeId> seen{node};
    while (!waiting.empty()) {
        const Expr& expr = producer(waiting.back());
        waiting.pop_back();
        for (const Argument& argument : expr.arguments) {
            if (argument.kind == Argument::Kind::Constant && argument.constant.kind() == ValueKind::Int) continue;
            if (argument.kind != Argument::Kind::Node) return std::nullopt;
            if (!seen.insert(argument.node).second) continue;
            const std::optional<ValueKind> kind = kindAlone(argument.node);
            if (kind == ValueKind::Int) continue;
            if (kind || seen.size() > kMaxNodes || !keepsInts(producer(argument.node))) return std::nullopt;
            waiting.push_back(argument.node);
        }
    }
    return ValueKind::Int;
}

std::string GraphRecording::placeOf(NodeId node) const {
    const graph::InternalGraph& graph = m_recorder.graph();
    const graph::Node& known = graph.node(node);
    const graph::Body& body = graph.body(graph.expr(known.producer).body);
    const auto at = std::ranges::find(body.order, known.producer) - body.order.begin();
    return "node '" + known.name + "' (operation " + std::to_string(at) + ")";
}

bool GraphRecording::isRecordedHere(NodeId node) const {
    const graph::InternalGraph& graph = m_recorder.graph();
    return graph.expr(graph.node(node).producer).body == m_recorder.bodies().top().id;
}

bool GraphRecording::mayRepeat(NodeId view, NodeId base) const {
    const auto shown = m_recorder.graph().node(view).type.staticShape();
    const auto whole = m_recorder.graph().node(base).type.staticShape();
    return !shown || !whole || shown->numel() != whole->numel();
}

bool GraphRecording::recordsWriteTo(const Var& var) const {
    if (var.kind() != Var::Kind::Value || !var.value().isTensor() || m_recorder.bodies().empty()) return false;
    const tensor::Tensor& tensor = var.value().tensor();
    return m_model.hasConstantOn(tensor) || m_memory.isLifted(var.value()) || slotOn(*tensor.storage()) != nullptr;
}

std::shared_ptr<const Slot> GraphRecording::slotOn(const tensor::Storage& storage) const {
    return m_model.slotOn(storage);
}

}  // namespace sonde::trace
