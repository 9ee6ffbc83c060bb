// What the guards of a traced module say.

#include "core/operators/names.h"
#include "core/operators/traits.h"
#include "core/trace/guard_description.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::trace {

using tensor::Value;
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

/// "sum(x) > 0": how the model got the value, down to the inputs; what is too long to read is cut at nodes' names.
std::string dataText(const TracedNode& node, int depth = 0) {
    const TracedExpr& expr = node.expr();
    const bool isOperation = !expr.isModuleCall() && expr.outputs().size() == 1 && expr.keywords().empty() &&
                             (expr.kind() == Kind::CallMethod || expr.kind() == Kind::CallFunction);
    if (depth > kMaxDepth || !isOperation || expr.args().empty()) return node.name();
    const auto part = [&](const Operand& operand, bool isTerm) {
        if (operand.kind != Operand::Kind::Node)
            return operand.text([](const TracedNode& inner) { return inner.name(); });
        const std::string text = dataText(*operand.node, depth + 1);
        return isTerm && text.find(' ') != std::string::npos && text.back() != ')' ? '(' + text + ')' : text;
    };
    const TracedOperation& operation = expr.operation();
    const std::string name(operators::withoutOverload(operation.op.name));
    if (const std::string_view sign = infixSign(name); !sign.empty() && expr.args().size() == 2) {
        const std::string text = part(expr.args()[operation.swapped ? 1 : 0], true) + ' ' + std::string(sign) + ' ' +
                                 part(expr.args()[operation.swapped ? 0 : 1], true);
        return text.size() > kMaxLength ? node.name() : text;
    }
    std::string text;
    for (const Operand& operand : expr.args()) text += (text.empty() ? "" : ", ") + part(operand, false);
    text = name + '(' + text + ')';
    return text.size() > kMaxLength ? node.name() : text;
}

/// The branch on `bool(x > 0)`, or on the one element of it, is one on `x > 0`.
std::string decisionText(const TracedNode& node, KnownUse use) {
    const std::vector<Operand>& args = node.expr().args();
    const bool isConversion = use == KnownUse::Bool && node.isNumber() && args.size() == 1 &&
                              args.front().kind == Operand::Kind::Node && node.expr().keywords().empty();
    return dataText(isConversion ? *args.front().node : node);
}

}  // namespace

GuardText guardText(const TracedNode& node, KnownUse use, const tensor::AttributeValue& came, bool isOfSize) {
    const bool isLength = use == KnownUse::Length || use == KnownUse::Iteration;
    if (!isOfSize) return {guardDescription(use, decisionText(node, use), came), {}};
    const std::string value =
        use == KnownUse::Bool ? (tensor::text(came) == "0" ? "false" : "true") : tensor::text(came);
    auto query = queryOf(node);
    if (isLength && !node.isNumber()) query = SizeQuery{"size(0)", &node};
    if (isLength && query && query->question == "shape") query->question = "dim()";
    if (query)
        return {guardDescription(use, query->question + " of " + query->tensor->name(), came),
                "traced with " + query->question + " = " + value + " of " + query->tensor->name()};
    const std::string expression = isLength ? "len(" + expressionOf(node) + ')' : expressionOf(node);
    return {guardDescription(use, expression, came), "traced with " + expression + " = " + value};
}

}  // namespace sonde::trace
