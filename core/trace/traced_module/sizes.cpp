// How TracedModuleTracer treats the sizes of tensors: questions for them and what is computed of the answers are
// expressions of the graph, so that it works at other sizes. Where a program takes such a number as a plain one (a
// branch, the bound of a loop, arithmetic of C++) a guard is recorded, at which a run with another size ends.

#include <algorithm>

#include "core/graph/guard.h"
#include "core/operators/names.h"
#include "core/operators/traits.h"
#include "core/trace/guard_sentence.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::trace {

using graph::NodeId;
using tensor::Value;
using tensor::ValueKind;
using Kind = TracedExpr::Kind;

namespace {

constexpr int kMaxDepth = 4;
constexpr std::size_t kMaxLength = 60;

/// A question for the size of a tensor: what is asked ("size(0)") and of which node.
struct SizeQuery {
    std::string question;
    const TracedNode* tensor = nullptr;
};

std::optional<SizeQuery> queryOf(const TracedNode& node) {
    const TracedExpr& expr = node.expr();
    if (expr.args().empty() || expr.args()[0].kind != Operand::Kind::Node) return std::nullopt;
    const TracedNode& of = *expr.args()[0].node;
    const std::string& op = expr.operation().op.name;
    const operators::Traits& traits = operators::traitsOf(expr.operation().op.domain, op);
    const Operand* argument = expr.args().size() > 1 ? &expr.args()[1] : nullptr;
    const bool isPlain = argument && argument->kind == Operand::Kind::Constant;
    if (expr.kind() == Kind::Apply && !of.isNumber()) {
        if (traits.opClass == operators::OpClass::Shape && operators::overloadOf(op) == "int" && isPlain)
            return SizeQuery{"size(" + pythonText(argument->constant) + ')', &of};
        if (traits.opClass == operators::OpClass::Shape) return SizeQuery{"shape", &of};
        if (traits.query == operators::ShapeQuery::Length) return SizeQuery{"size(0)", &of};
        return SizeQuery{op.substr(0, op.find('.')) + "()", &of};
    }
    if (traits.form == operators::ViewForm::Index && isPlain && of.isNumber()) {
        const auto whole = queryOf(of);
        if (whole && whole->question == "shape")
            return SizeQuery{"size(" + pythonText(argument->constant) + ')', whole->tensor};
    }
    return std::nullopt;
}

/// "x.size(0) * 2"; what is too long to read is cut at nodes' names.
std::string expressionOf(const TracedNode& node, int depth = 0) {
    if (const auto query = queryOf(node)) return query->tensor->name() + '.' + query->question;
    const TracedExpr& expr = node.expr();
    const std::string& op = expr.operation().op.name;
    const std::string_view sign = infixSign(std::string_view(op).substr(0, op.find('.')));
    if (depth > kMaxDepth || sign.empty() || expr.args().size() != 2) return node.name();
    const bool swapped = expr.operation().swapped;
    const auto part = [&](const Operand& operand) {
        if (operand.kind != Operand::Kind::Node)
            return operand.text([](const TracedNode& inner) { return inner.name(); });
        const std::string text = expressionOf(*operand.node, depth + 1);
        return text.find(' ') == std::string::npos ? text : '(' + text + ')';
    };
    std::string text =
        part(expr.args()[swapped ? 1 : 0]) + ' ' + std::string(sign) + ' ' + part(expr.args()[swapped ? 0 : 1]);
    return text.size() > kMaxLength ? node.name() : text;
}

struct GuardText {
    std::string sentence;
    std::string traced;
};

GuardText guardText(const TracedNode& node, KnownUse use, const tensor::AttributeValue& came) {
    const bool isLength = use == KnownUse::Length || use == KnownUse::Iteration;
    const std::string value =
        use == KnownUse::Bool ? (tensor::text(came) == "0" ? "false" : "true") : tensor::text(came);
    auto query = queryOf(node);
    if (isLength && !node.isNumber()) query = SizeQuery{"size(0)", &node};
    if (isLength && query && query->question == "shape") query->question = "dim()";
    if (query)
        return {guardSentence(use, query->question + " of " + query->tensor->name(), came),
                "traced with " + query->question + " = " + value + " of " + query->tensor->name()};
    const std::string expression = isLength ? "len(" + expressionOf(node) + ')' : expressionOf(node);
    return {guardSentence(use, expression, came), "traced with " + expression + " = " + value};
}

/// What the program is told.
Value askedOf(const Value& value, KnownUse use) {
    switch (use) {
        case KnownUse::Bool: return Value::ofBool(Var(value).toBool());
        case KnownUse::Int: return Value::ofInt(Var(value).toInt());
        case KnownUse::Float: return Value::ofFloat(Var(value).toFloat());
        default: return Value::ofInt(static_cast<std::int64_t>(Var(value).length()));
    }
}

tensor::AttributeValue attributeOf(const Value& asked) {
    if (asked.kind() == ValueKind::Float) return asked.toFloat();
    return asked.kind() == ValueKind::Bool ? std::int64_t{asked.toBool()} : asked.toInt();
}

/// Weights and constants have the same size in every run.
bool isFixed(const TracedNode& node) {
    return node.expr().kind() == Kind::GetAttr || node.expr().kind() == Kind::Constant;
}

}  // namespace

bool isSizeQuery(const graph::OpKey& op, const std::vector<Var>& arguments) {
    const operators::Traits& traits = operators::traitsOf(op.domain, op.name);
    if (traits.opClass == operators::OpClass::GetAttr) {
        if (arguments.size() != 2 || arguments[1].kind() != Var::Kind::Value ||
            arguments[1].value().kind() != ValueKind::String)
            return false;
        const std::string& name = arguments[1].value().toString();
        return name == "shape" || name == "ndim";
    }
    return traits.query != operators::ShapeQuery::None;
}

bool TracedModuleTracer::isNumber(NodeId node) const {
    const Known& known = m_known[current(node).index()];
    return known.node->isNumber();
}

bool TracedModuleTracer::hasNumber(const Var& var) const {
    if (var.isProxy()) return &var.tracer() == this && isNumber(var.node());
    return var.kind() != Var::Kind::Value &&
           std::ranges::any_of(var.items(), [this](const Var& item) { return hasNumber(item); });
}

bool TracedModuleTracer::dependsOnSize(const graph::OpKey& op, const std::vector<Var>& arguments,
                                       const Keywords& keywords) const {
    const bool ofNumber = std::ranges::any_of(arguments, [this](const Var& var) { return hasNumber(var); }) ||
                          std::ranges::any_of(keywords, [this](const auto& entry) { return hasNumber(entry.second); });
    if (ofNumber) return true;
    if (arguments.empty() || !isSizeQuery(op, arguments)) return false;
    const TracedNode* tensor = nodeOf(arguments.front());
    return tensor && !isFixed(*tensor);
}

std::optional<Value> TracedModuleTracer::known(NodeId id, KnownUse use) {
    const std::optional<Value> value = m_known[id.index()].value;
    TracedNode& node = *m_known[id.index()].node;
    const bool asksLength = use == KnownUse::Length || use == KnownUse::Iteration;
    if (value && !isFixed(node) && (node.isNumber() || asksLength)) addGuard(node, use, *value);
    return value;
}

void TracedModuleTracer::addGuard(TracedNode& node, KnownUse use, const Value& value) {
    const Value asked = askedOf(value, use);  // throws for what cannot be asked of it, and leaves no guard
    if (!m_guarded.insert({&node, use}).second) return;
    const GuardText text = guardText(node, use, attributeOf(asked));
    TracedOperation operation{
        {graph::kGuardDomain, graph::kGuardName, 0}, graph::kGuardName, graph::kGuardName, false, false, 1};
    std::vector<Operand> args{Operand(&node), Operand(asked), Operand(Value(std::string(guardKind(use)))),
                              Operand(Value(text.sentence)), Operand(Value(text.traced))};
    TracedExpr* expr =
        GraphBuilder(node.graph()).addCall(Kind::Apply, graph::kGuardName, std::move(args), {}, std::move(operation));
    expr->disableRemove();
    Structure nothing;
    nothing.kind = Structure::Kind::Tuple;
    GraphBuilder::setOutDef(*expr, std::move(nothing));
}

NodeId TracedModuleTracer::recordGuard(NodeId node, KnownUse use, const tensor::AttributeValue&, const std::string&,
                                       const std::string&) {
    known(current(node), use);
    return node;
}

bool isGuard(const TracedExpr& expr) {
    return expr.operation().op.domain == graph::kGuardDomain && expr.operation().op.name == graph::kGuardName;
}

void checkGuard(const TracedExpr& expr, const Var& value) {
    // Files can hold anything.
    const auto isConstant = [&](std::size_t i, bool isText) {
        const Operand& operand = expr.args()[i];
        return operand.kind == Operand::Kind::Constant &&
               (isText ? operand.constant.kind() == ValueKind::String : operand.constant.isNumber());
    };
    const bool isWhole = expr.args().size() == 5 && isConstant(1, false) && isConstant(2, true) &&
                         isConstant(3, true) && isConstant(4, true);
    if (!isWhole) throw TraceError(TraceErrorKind::Value, "a guard does not say what it expects");
    const Value& expected = expr.args()[1].constant;
    const std::string& kind = expr.args()[2].constant.toString();
    const std::string& sentence = expr.args()[3].constant.toString();
    const std::string& traced = expr.args()[4].constant.toString();
    constexpr KnownUse kUses[] = {KnownUse::Bool, KnownUse::Int, KnownUse::Float, KnownUse::Length,
                                  KnownUse::Iteration};
    const auto* use = std::ranges::find_if(kUses, [&kind](KnownUse candidate) { return kind == guardKind(candidate); });
    if (use == std::end(kUses)) throw TraceError(TraceErrorKind::Value, "a guard of kind '" + kind + "' is not known");
    if (value.isProxy()) value.tracer().recordGuard(value.node(), *use, attributeOf(expected), sentence, traced);
    if (value.hasProxy()) return;
    const Value came = askedOf(value.toValue(), *use);
    if (tensor::identical(came, expected)) return;
    throw TraceError(TraceErrorKind::Runtime,
                     traced + ", got " + (*use == KnownUse::Bool ? (came.toBool() ? "true" : "false") : came.text()));
}

}  // namespace sonde::trace
