#include "core/passes/vocabulary.h"

#include <algorithm>

#include "core/graph/memory.h"
#include "core/graph/set_item.h"
#include "core/passes/opaque.h"

namespace sonde::passes {

using tensor::DType;
using tensor::ValueKind;

namespace {

bool isOneElement(const Tensor& tensor) { return tensor.rank() == 0 || (tensor.rank() == 1 && tensor.dim(0) == 1); }
bool isPlainNumber(DType dtype) { return tensor::isFloating(dtype) || tensor::isInteger(dtype); }

}  // namespace

std::string_view baseName(const Expr& expr) {
    // What no operator was found for (a method by its name alone) is known by its target.
    std::string_view name = expr.op.name.empty() ? std::string_view(expr.target) : std::string_view(expr.op.name);
    return expr.op.domain.empty() || expr.op.domain == "ai.onnx" ? name : graph::withoutOverload(name);
}

Family familyOf(const Expr& expr) {
    if (expr.op.domain == "aten") return Family::Aten;
    if (expr.op.domain == "prim" || expr.op.domain == "sonde") return Family::Prim;
    return Family::Onnx;
}

OpClass opClassOf(const Expr& expr) {
    const OpClass opClass = traitsOf(expr).opClass;
    // A division with a rounding mode is another function.
    return opClass == OpClass::Div && expr.op.name.ends_with("_mode") ? OpClass::Other : opClass;
}

bool mutates(const Expr& expr) {
    const bool isMethod = expr.op.name.empty() && graph::isSetItem(expr);
    const graph::MemoryEffect effect = graph::memoryEffect(expr.op.domain, expr.op.name);
    const bool hasOut = expr.op.domain == "aten" && argumentOf(expr, std::size_t(-1), "out") != nullptr;
    return isMethod || effect.writes || effect.reforms || hasOut;
}

bool makesView(const Expr& expr) {
    const graph::Sharing sharing = graph::memoryEffect(expr.op.domain, expr.op.name).sharing;
    const bool readsPart = opClassOf(expr) == OpClass::GetAttr;
    return !mutates(expr) && (readsPart || (sharing != graph::Sharing::Fresh && sharing != graph::Sharing::Written));
}

namespace {

/// `mylib.write` of PyTorch: what looks like an overload is a name in a library of the user's own. Tracers record such
/// a call under its whole name, and one whose overload is known without that.
bool isOfOwnLibrary(const Expr& expr) {
    return expr.op.domain == "aten" && expr.op.name.find('.') != std::string::npos &&
           expr.target == "torch." + expr.op.name;
}

}  // namespace

bool isOpaque(const Expr& expr) {
    const bool isCall = expr.kind == ExprKind::CallModule || expr.kind == ExprKind::CallFunction ||
                        expr.kind == ExprKind::CallMethod || expr.kind == ExprKind::Apply;
    if (isOfOwnLibrary(expr)) return true;
    return expr.callable || (isCall && expr.op.name.empty() && expr.bodies.empty() && !mutates(expr));
}

bool holdsEffect(const InternalGraph& graph, const Expr& expr) {
    if (isOpaque(expr)) return true;
    return std::ranges::any_of(expr.bodies, [&](BodyId body) {
        return std::ranges::any_of(graph.recursiveOrder(body), [&](ExprId id) {
            const Expr& inner = graph.expr(id);
            return mutates(inner) || isOpaque(inner) || opClassOf(inner) == OpClass::Assertion;
        });
    });
}

const Argument* argumentOf(const Expr& expr, std::size_t index, std::string_view keyword) {
    if (index < expr.arguments.size())
        return expr.arguments[index].kind == Argument::Kind::Omitted ? nullptr : &expr.arguments[index];
    for (const auto& [key, argument] : expr.keywords) {
        if (!keyword.empty() && key == keyword) return &argument;
    }
    return nullptr;
}

const Value* constantOf(const InternalGraph& graph, const Argument* argument) {
    if (!argument) return nullptr;
    if (argument->kind == Argument::Kind::Constant) return &argument->constant;
    if (argument->kind != Argument::Kind::Node) return nullptr;
    const auto& constant = graph.node(argument->node).constant;
    return constant ? &*constant : nullptr;
}

std::optional<double> scalarOf(const InternalGraph& graph, const Argument* argument) {
    const Value* value = constantOf(graph, argument);
    if (!value) return std::nullopt;
    if (value->kind() == ValueKind::Int || value->kind() == ValueKind::Float) return value->number();
    if (!value->isTensor() || !isOneElement(value->tensor()) || !isPlainNumber(value->tensor().dtype()))
        return std::nullopt;
    return value->tensor().toDouble(0);
}

std::optional<std::int64_t> intOf(const InternalGraph& graph, const Argument* argument) {
    const Value* value = constantOf(graph, argument);
    if (value && value->kind() == ValueKind::Int) return value->toInt();
    return std::nullopt;
}

bool boolOf(const InternalGraph& graph, const Argument* argument, bool fallback) {
    const Value* value = constantOf(graph, argument);
    if (value && value->isNumber()) return value->number() != 0;
    if (value && value->isTensor() && value->tensor().numel() == 1) return value->tensor().toDouble(0) != 0;
    return fallback;
}

std::optional<KnownTensor> tensorOf(const InternalGraph& graph, const Argument* argument) {
    if (!argument || argument->kind != Argument::Kind::Node) return std::nullopt;
    const Value* value = constantOf(graph, argument);
    if (!value || !value->isTensor()) return std::nullopt;
    return KnownTensor{argument->node, value->tensor()};
}

NodeId Step::outside(const InternalGraph& graph, NodeId node) const {
    if (outer == inner) return node;
    const Expr& call = graph.expr(outer);
    const graph::Body& body = graph.body(call.bodies.front());
    for (std::size_t i = 0; i < body.inputs.size() && i < call.inputs.size(); ++i) {
        if (body.inputs[i] == node) return call.inputs[i];
    }
    return {};
}

namespace {

bool isRead(const Expr& expr) {
    return expr.kind == ExprKind::Input || expr.kind == ExprKind::GetAttr || expr.kind == ExprKind::Constant;
}

/// A check of shapes, such as `if x.dim() != 4: raise`, or what is computed for it. Checks of values decide more.
bool checksShapes(const InternalGraph& graph, ExprId id) {
    const Expr& expr = graph.expr(id);
    if (traitsOf(expr).query != operators::ShapeQuery::None) return true;
    const bool readsValues = std::ranges::any_of(expr.inputs, [&](NodeId input) {
        const Expr& producer = graph.expr(graph.node(input).producer);
        return isRead(producer) && producer.kind != ExprKind::Constant;
    });
    return !readsValues && expr.bodies.empty() &&
           (opClassOf(expr) == OpClass::Assertion || (!mutates(expr) && !isOpaque(expr)));
}

}  // namespace

Step stepOf(const InternalGraph& graph, ExprId id) {
    const Expr& expr = graph.expr(id);
    const Step step{id, id, opClassOf(expr)};
    if (!expr.op.name.empty() || expr.callable || expr.bodies.size() != 1 || expr.outputs.size() != 1) return step;
    const graph::Body& body = graph.body(expr.bodies.front());
    if (body.result.kind != Argument::Kind::Node) return step;
    const ExprId only = graph.node(body.result.node).producer;
    const Expr& operation = graph.expr(only);
    // All that it reads is there from the start, so that nothing else in the body is a part of the result.
    const bool isAlone =
        operation.body == expr.bodies.front() && !isRead(operation) && operation.outputs.size() == 1 &&
        operation.bodies.empty() &&
        std::ranges::all_of(operation.inputs,
                            [&](NodeId input) { return isRead(graph.expr(graph.node(input).producer)); }) &&
        std::ranges::all_of(body.order, [&](ExprId each) {
            return each == only || isRead(graph.expr(each)) || checksShapes(graph, each);
        });
    return isAlone ? Step{id, only, opClassOf(operation)} : step;
}

std::optional<ScalarOperation> scalarOperation(const InternalGraph& graph, const Expr& expr) {
    const Argument* a = argumentOf(expr, 0, "self");
    const Argument* b = argumentOf(expr, 1, "other");
    if (expr.op.domain == "aten" && opClassOf(expr) == OpClass::Pow) b = argumentOf(expr, 1, "exponent");
    if (!a || !b) return std::nullopt;
    // a + alpha·b: only alpha = 1 is a plain sum.
    const OpClass opClass = opClassOf(expr);
    const bool hasAlpha = expr.op.domain == "aten" &&
                          (opClass == OpClass::Add || opClass == OpClass::Sub || opClass == OpClass::ReverseSub);
    if (hasAlpha && argumentOf(expr, 2, "alpha") && scalarOf(graph, argumentOf(expr, 2, "alpha")) != 1.0)
        return std::nullopt;
    const auto first = scalarOf(graph, a);
    const auto second = scalarOf(graph, b);
    if (first.has_value() == second.has_value()) return std::nullopt;
    const Argument& constant = first ? *a : *b;
    const Argument& other = first ? *b : *a;
    if (other.kind != Argument::Kind::Node || graph.node(other.node).constant) return std::nullopt;
    const Value& value = *constantOf(graph, &constant);
    ScalarOperation operation{other.node, first ? *first : *second, first.has_value(), value.kind() == ValueKind::Int,
                              value.isTensor()};
    return operation;
}

namespace {

struct Spelling {
    OpClass opClass;
    std::string_view onnx, aten, atenScalar, prim, primTarget;
};

const Spelling& spellingOf(OpClass opClass) {
    static constexpr Spelling table[] = {
        {OpClass::Add, "Add", "add.Tensor", "add.Scalar", "add", "add"},
        {OpClass::Mul, "Mul", "mul.Tensor", "mul.Scalar", "mul", "mul"},
        {OpClass::Pow, "Pow", "pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow", "pow"},
        {OpClass::Neg, "Neg", "neg", "neg", "neg", "neg"},
    };
    for (const Spelling& spelling : table) {
        if (spelling.opClass == opClass) return spelling;
    }
    return table[0];
}

}  // namespace

Expr makeArithmetic(const Expr& like, OpClass opClass, NodeId node, std::optional<Argument> operand) {
    const Spelling& spelling = spellingOf(opClass);
    Expr expr;
    expr.kind = like.kind == ExprKind::CallModule ? ExprKind::CallFunction : like.kind;
    expr.arguments.push_back(Argument::of(node));
    const bool isNode = operand && operand->kind == Argument::Kind::Node;
    if (operand) expr.arguments.push_back(std::move(*operand));
    switch (familyOf(like)) {
        case Family::Onnx:
            expr.op = {like.op.domain, std::string(spelling.onnx), like.op.version};
            expr.target = spelling.onnx;
            return expr;
        case Family::Aten: expr.op = {"aten", std::string(isNode ? spelling.aten : spelling.atenScalar), 0}; break;
        case Family::Prim: expr.op = {"prim", std::string(spelling.prim), 0}; break;
    }
    const std::string plain(spelling.primTarget);
    if (like.target.starts_with("__")) expr.target = "__" + plain + "__";
    else if (like.target.starts_with("operator.")) expr.target = "operator." + plain;
    else if (like.target.starts_with("torch.")) expr.target = "torch." + plain;
    else expr.target = plain;
    return expr;
}

Argument scalarOperand(Rewrite& rewrite, ExprId anchor, double scalar, bool wholeNumber, DType dtype, std::string why) {
    const Expr& like = rewrite.graph().expr(anchor);
    if (familyOf(like) != Family::Onnx) {
        if (wholeNumber) return Argument::of(Value::ofInt(static_cast<std::int64_t>(scalar)));
        return Argument::of(Value::ofFloat(scalar));
    }
    const std::string name =
        (like.outputs.empty() ? like.target : rewrite.graph().node(like.outputs.front()).name) + "_constant";
    Tensor value = Tensor::scalar<double>(scalar);
    if (auto cast = value.cast(dtype == DType::Undefined ? DType::Float32 : dtype)) value = std::move(*cast);
    return Argument::of(rewrite.constantBefore(anchor, Value(std::move(value)), name, std::move(why)));
}

DType dtypeOf(const InternalGraph& graph, NodeId node) { return graph.node(node).type.dtype; }

bool isKnownInteger(const InternalGraph& graph, NodeId node) {
    const tensor::TypeInfo& type = graph.node(node).type;
    if (type.kind && !type.isTensor()) return true;
    return type.dtype != DType::Undefined && !tensor::isFloating(type.dtype);
}

}  // namespace sonde::passes
