#include "core/analysis/infer.h"

#include <algorithm>
#include <cctype>
#include <exception>

#include "core/analysis/inference.h"
#include "core/analysis/known_values.h"
#include "core/base/current_stop.h"
#include "core/base/exception_text.h"
#include "core/graph/traits.h"
#include "core/operators/counts.h"

namespace sonde::analysis {

using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using ops::Elements;
using tensor::Dim;
using tensor::TypeInfo;
using tensor::Value;
using tensor::ValueKind;

namespace {

constexpr int kMaxDepth = 200;

}  // namespace

Inference::Inference(InternalGraph& graph, base::Diagnostics& findings, const ops::Registry& registry)
    : m_graph(graph), m_findings(&findings), m_registry(registry), m_known(graph.nodeCount()), m_pool(1) {
    m_environment.pool = &m_pool;
    m_declared.reserve(graph.nodeCount());
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) m_declared.push_back(graph.node(NodeId(i)).type);
}

void Inference::nameOpenDimSizes() {
    for (NodeId input : m_graph.inputs()) {
        TypeInfo& type = m_declared[input.index()];
        const Expr& producer = m_graph.expr(m_graph.node(input).producer);
        // A parameter of Python is what its default is, unless that is None.
        if (!type.kind && !producer.arguments.empty() && producer.arguments.front().kind == Argument::Kind::Constant &&
            !producer.arguments.front().constant.isTensor() && !producer.arguments.front().constant.isNone()) {
            type.kind = producer.arguments.front().constant.kind();
            m_graph.setType(input, type);
        }
        if (!type.isTensor() || !type.shape) continue;
        for (std::size_t i = 0; i < type.shape->size(); ++i) {
            Dim& dim = (*type.shape)[i];
            if (!dim.known() && dim.symbol.empty())
                dim.symbol = plainName(m_graph.node(input).name) + "." + std::to_string(i);
        }
        m_graph.setType(input, type);
    }
}

void Inference::inferBody(BodyId id, int depth) {
    if (depth > kMaxDepth) return;
    const std::vector<ExprId> order = m_graph.body(id).order;
    for (ExprId expr : order) {
        if (base::stopRequested()) return;
        inferExpr(expr, depth);
    }
}

std::string Inference::plainName(std::string name) {
    for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '_';
    }
    return name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "x" + name : name;
}

void Inference::inferExpr(ExprId id, int depth) {
    const Expr& expr = m_graph.expr(id);
    if (expr.kind == graph::ExprKind::Input) return;
    if (!expr.outputs.empty()) {
        if (const auto& constant = m_graph.node(expr.outputs.front()).constant) {
            settle(expr.outputs.front(), TypeInfo::of(*constant), {*constant, {}, true});
            return;
        }
    }
    if (expr.op.name.empty() && !expr.bodies.empty()) {
        inferCall(expr, depth);
        return;
    }
    const operators::OpClass opClass = graph::traitsOf(expr).opClass;
    const bool isControl =
        !expr.bodies.empty() && (expr.op.domain.empty() || expr.op.domain == "ai.onnx" || expr.op.domain == "prim");
    if (isControl && opClass == operators::OpClass::If) inferBranches(expr, depth);
    else if (isControl && opClass == operators::OpClass::Loop) inferLoop(expr, depth);
    else if (isControl && opClass == operators::OpClass::Scan && expr.op.version >= 9) inferScan(expr, depth);
    else if (isControl && opClass == operators::OpClass::Scan) inferScanByBatch(expr, depth);
    else if (isControl && opClass == operators::OpClass::SequenceMap) inferMap(expr, depth);
    else if (isControl && opClass == operators::OpClass::Conditional) inferConditional(expr, depth);
    else if (opClass == operators::OpClass::Append) inferAppend(expr);
    else if (expr.op.domain == "prim" && opClass == operators::OpClass::Index && inferIndexed(expr)) return;
    else {
        for (BodyId body : expr.bodies) inferBody(body, depth + 1);
        inferOperator(expr);
    }
}

void Inference::inferOperator(const Expr& expr) {
    if (expr.kind == graph::ExprKind::Output) {
        if (!expr.outputs.empty() && !expr.arguments.empty())
            settle(expr.outputs.front(), typeOf(expr.arguments.front()), {});
        return;
    }
    const ops::OpDef* op = m_registry.find(expr.op.domain, expr.op.name, expr.op.version);
    if (!op || !op->infer) return;
    const auto attributes = ops::completeAttributes(*op, expr.attributes);
    if (!attributes) {
        note(expr, attributes.error().what);
        return;
    }
    Inputs inputs;
    bind(expr, *op, inputs);
    ops::InferContext context(inputs.types, inputs.values, *attributes, expr.outputs.size(), inputs.elements, op);
    base::Result<void> result;
    try {
        result = op->infer(context);
    } catch (const std::exception& exception) {
        result = base::unreadable(base::exceptionText(exception));
    }
    if (!result) {
        note(expr, result.error().what);
        return;
    }
    std::vector<Known> known(expr.outputs.size());
    for (std::size_t i = 0; i < known.size(); ++i) known[i] = {context.known()[i], context.knownElements()[i]};
    if (op->domain.empty()) follow(expr, *op, *attributes, inputs, context.outputs(), known);
    else if (op->domain == "prim") followPlain(expr, *op, *attributes, inputs, context.outputs(), known);
    for (std::size_t i = 0; i < known.size(); ++i) settle(expr.outputs[i], context.outputs()[i], std::move(known[i]));
}

void Inference::follow(const Expr& expr, const ops::OpDef& op, const ops::Attributes& attributes, Inputs& inputs,
                       const std::vector<TypeInfo>& outputs, std::vector<Known>& known) {
    if (known.empty() || !known[0].value.isNone()) return;
    const KnownCall call{op, attributes, expr.op.version, inputs.types, inputs.values, inputs.elements, outputs};
    const std::vector<Value> values = foldedValues(call, m_environment);
    for (std::size_t i = 0; i < values.size() && i < known.size(); ++i) known[i].value = values[i];
    const bool hasSymbols =
        std::ranges::any_of(inputs.elements, [](const auto& elements) { return elements.has_value(); });
    if (!values.empty() || !hasSymbols || known[0].elements) return;
    for (std::size_t i = 0; i < inputs.elements.size(); ++i) {
        if (!inputs.elements[i] && !inputs.values[i].isNone()) inputs.elements[i] = ops::elementsOf(inputs.values[i]);
    }
    std::vector<std::optional<Elements>> elements = symbolicElements(
        {op, attributes, expr.op.version, inputs.types, inputs.values, inputs.elements, outputs}, m_environment);
    for (std::size_t i = 0; i < elements.size() && i < known.size(); ++i) known[i].elements = std::move(elements[i]);
}

void Inference::followPlain(const Expr& expr, const ops::OpDef& op, const ops::Attributes& attributes,
                            const Inputs& inputs, const std::vector<TypeInfo>& outputs, std::vector<Known>& known) {
    if (known.empty()) return;
    if (graph::traitsOf(expr).opClass == operators::OpClass::Construct) known[0].isWhole = true;
    if (!known[0].value.isNone() || op.category == ops::Category::Control) return;
    const std::vector<Value> values = foldedPlainValues(
        {op, attributes, expr.op.version, inputs.types, inputs.values, inputs.elements, outputs}, m_environment);
    for (std::size_t i = 0; i < values.size() && i < known.size(); ++i) known[i].value = values[i];
}

void Inference::bind(const Expr& expr, const ops::OpDef& op, Inputs& inputs) const {
    const auto add = [&](const Argument& argument) {
        inputs.types.push_back(typeOf(argument));
        Known known = knownOf(argument);
        // A list that stands in the call has just what stands there; a list of one type elsewhere may hold any number
        // of it.
        if (known.isWhole && inputs.types.back().kind == ValueKind::List &&
            (op.domain == "aten" || operators::traitsOf(op.domain, op.name).query == operators::ShapeQuery::Length))
            inputs.types.back().kind = ValueKind::Tuple;
        inputs.values.push_back(std::move(known.value));
        inputs.elements.push_back(std::move(known.elements));
    };
    for (const Argument& argument : expr.arguments) add(argument);
    for (std::size_t i = inputs.types.size(); i < op.parameters.size(); ++i) {
        const ops::Parameter& parameter = op.parameters[i];
        const auto given = std::find_if(expr.keywords.begin(), expr.keywords.end(),
                                        [&](const auto& keyword) { return keyword.first == parameter.name; });
        if (given != expr.keywords.end()) {
            add(given->second);
        } else {
            add(Argument::of(parameter.fallback.value_or(Value())));
        }
    }
}

void Inference::settle(NodeId node, const TypeInfo& inferred, Known known) {
    const TypeInfo& declared = m_declared[node.index()];
    if (disagree(declared, inferred)) {
        const Expr& producer = m_graph.expr(m_graph.node(node).producer);
        m_findings->push_back(
            {base::Severity::Warning,
             "the file declares " + declared.text() + " but its operators return " + inferred.text(),
             "node '" + m_graph.node(node).name + "'" +
                 (producer.qualname && !producer.qualname->empty() ? ", module '" + *producer.qualname + "'" : ""),
             {}});
    } else {
        TypeInfo type = merged(declared, inferred);
        nameCounts(node, type);
        m_graph.setType(node, std::move(type));
    }
    if (known.value.isNone() && known.elements) {
        const TypeInfo& type = m_graph.node(node).type;
        const bool isInt =
            type.kind == ValueKind::Int && known.elements->size() == 1 && known.elements->front().constant();
        known.value =
            isInt ? Value::ofInt(*known.elements->front().constant()) : analysis::valueOf(*known.elements, type);
    }
    const bool small = !known.value.isTensor() || known.value.tensor().numel() <= kMaxFollowed;
    if (!small) known.value = {};
    m_known[node.index()] = std::move(known);
}

void Inference::nameCounts(NodeId node, TypeInfo& type) const {
    const Expr& producer = m_graph.expr(m_graph.node(node).producer);
    if (m_loops > 0 || !type.shape || !operators::countsElements(producer.op.domain, producer.op.name)) return;
    for (std::size_t i = 0; i < type.shape->size(); ++i) {
        Dim& dim = (*type.shape)[i];
        if (!dim.known() && dim.symbol.empty())
            dim.symbol = plainName(m_graph.node(node).name) + "." + std::to_string(i);
    }
}

void Inference::note(const Expr& expr, const std::string& what) {
    const std::string node = expr.outputs.empty() ? expr.name : m_graph.node(expr.outputs.front()).name;
    m_findings->push_back({base::Severity::Warning, expr.op.name + ": " + what, "node '" + node + "'", {}});
}

void inferTypes(InternalGraph& graph, base::Diagnostics& findings, const ops::Registry& registry) {
    Inference inference(graph, findings, registry);
    inference.nameOpenDimSizes();
    inference.inferBody(graph.mainId(), 0);
}

}  // namespace sonde::analysis
