#include "core/document/inferred_values.h"

#include "core/analysis/infer.h"
#include "core/graph/argument_value.h"
#include "core/graph/traits.h"
#include "core/trace/concrete_run.h"
#include "core/trace/tracer.h"

namespace sonde::document {

using graph::Argument;
using graph::Expr;
using graph::ExprKind;
using graph::NodeId;
using tensor::Value;
using trace::KnownUse;

namespace {

/// Numbers are computed from sizes by a few operations.
constexpr int kMaxDepthOfNumbers = 100;

/// Asks a tensor for nothing but its size: size(0), shape, dim.
bool readsOnlyShape(const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    if (traits.query != operators::ShapeQuery::None) return true;
    if (traits.opClass != operators::OpClass::GetAttr || expr.arguments.size() < 2) return false;
    const Argument& name = expr.arguments[1];
    return name.kind == Argument::Kind::Constant && name.constant.kind() == tensor::ValueKind::String &&
           (name.constant.toString() == "shape" || name.constant.toString() == "ndim");
}

}  // namespace

InferredValues::InferredValues(std::vector<Value> inputs, std::shared_ptr<const trace::Evaluator> evaluator,
                               std::shared_ptr<trace::ValueOracle> values)
    : m_inputs(std::move(inputs)), m_evaluator(std::move(evaluator)), m_values(std::move(values)) {}

void InferredValues::began(trace::Tracer& tracer, graph::InternalGraph& graph) {
    m_tracer = &tracer;
    m_graph = &graph;
    m_types.clear();
    m_standsFor.clear();
    m_known.clear();
    m_guarded.clear();
    if (m_values) m_values->began(tracer, graph);
}

void InferredValues::inputMade(NodeId input) {
    if (m_values) m_values->inputMade(input);
}

void InferredValues::inputBound(NodeId inner, NodeId outer) {
    m_standsFor[inner] = outer;
    if (m_values) m_values->inputBound(inner, outer);
}

void InferredValues::recorded(graph::ExprId expr) {
    if (m_values) m_values->recorded(expr);
}

void InferredValues::rebound(NodeId before, NodeId after) {
    m_known.erase(before);
    if (before != after) m_standsFor[before] = after;
    if (m_values) m_values->rebound(before, after);
}

NodeId InferredValues::current(NodeId node) const {
    for (auto found = m_standsFor.find(node); found != m_standsFor.end(); found = m_standsFor.find(node))
        node = found->second;
    return node;
}

/// Types are inferred anew when a node is asked for that was not there the last time.
const tensor::TypeInfo* InferredValues::typeOf(NodeId node) {
    if (node.index() >= m_types.size()) {
        graph::InternalGraph typed = *m_graph;
        for (std::size_t i = 0; i < typed.inputs().size() && i < m_inputs.size(); ++i) {
            const Value& input = m_inputs[i];
            if (input.isTensor()) typed.setType(typed.inputs()[i], tensor::TypeInfo::of(input));
        }
        base::Diagnostics findings;
        analysis::inferTypes(typed, findings);
        m_types.clear();
        for (std::size_t i = 0; i < typed.nodeCount(); ++i) m_types.push_back(typed.node(NodeId(i)).type);
    }
    return &m_types[node.index()];
}

std::optional<tensor::Shape> InferredValues::shapeOf(NodeId asked) {
    const NodeId node = current(asked);
    if (const auto& constant = m_graph->node(node).constant)
        return constant->isTensor() ? std::optional(constant->tensor().shape()) : std::nullopt;
    const tensor::TypeInfo* type = typeOf(node);
    return type->isTensor() ? type->staticShape() : std::nullopt;
}

/// A tensor of the node's shape and dtype without data: it takes address space only.
std::optional<Value> InferredValues::shapeOnly(NodeId asked) {
    const auto shape = shapeOf(asked);
    if (!shape) return std::nullopt;
    const tensor::DType dtype = typeOf(current(asked))->dtype;
    const auto count = shape->checkedNumel();
    if (!count || dtype == tensor::DType::Undefined || dtype == tensor::DType::String) return std::nullopt;
    auto storage = tensor::Storage::deferred(static_cast<std::size_t>(*count) * tensor::itemSize(dtype));
    if (!storage) return std::nullopt;
    return Value(tensor::Tensor::onStorage(dtype, *shape, std::move(*storage)));
}

std::optional<Value> InferredValues::valueOf(NodeId asked, int depth) {
    const NodeId node = current(asked);
    if (const auto& constant = m_graph->node(node).constant) return *constant;
    if (const auto found = m_known.find(node); found != m_known.end()) return found->second;
    const Expr& expr = m_graph->expr(m_graph->node(node).producer);
    if (expr.kind == ExprKind::Input || expr.op.name.empty() || !expr.bodies.empty() || expr.outputs.size() != 1 ||
        depth > kMaxDepthOfNumbers)
        return std::nullopt;
    const bool isQuery = readsOnlyShape(expr);
    std::unordered_map<NodeId, Value> read;
    for (const NodeId input : expr.inputs) {
        auto value = isQuery && input == expr.inputs.front() ? shapeOnly(input) : valueOf(input, depth + 1);
        if (!value && isQuery) value = valueOf(input, depth + 1);
        if (!value) return std::nullopt;
        read.insert_or_assign(input, std::move(*value));
    }
    const auto find = [&read](NodeId input) { return &read.at(input); };
    std::vector<Value> arguments;
    for (const Argument& argument : expr.arguments) arguments.push_back(*graph::argumentValue(argument, find));
    std::vector<std::pair<std::string, Value>> keywords;
    for (const auto& [name, argument] : expr.keywords)
        keywords.emplace_back(name, *graph::argumentValue(argument, find));
    auto results = m_evaluator->evaluate(expr.op, arguments, keywords, 1);
    if (!results || results->empty()) return std::nullopt;
    m_known.insert_or_assign(node, results->front());
    return std::move(results->front());
}

std::optional<Value> InferredValues::known(NodeId node, KnownUse use) {
    if (m_values) return m_values->known(node, use);
    std::optional<Value> value = valueOf(node, 0);
    if (!value && (use == KnownUse::Length || use == KnownUse::Iteration)) value = shapeOnly(node);
    if (!value) return std::nullopt;
    const std::tuple place{m_tracer->recorder().bodies().top().id.index(), node.index(), use};
    if (m_guarded.contains(place)) return value;
    const trace::RecordedGuard guard = trace::recordGuard(*m_tracer, *m_graph, node, use, *value);
    m_guarded.insert(place);
    m_known.insert_or_assign(guard.node, guard.asked);
    return value;
}

}  // namespace sonde::document
