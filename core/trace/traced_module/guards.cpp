// The decisions that a traced module took while it was recorded: what the program was told of a size or of the data of
// a tensor as a plain number (a branch, the bound of a loop, arithmetic of C++) is a guard of the graph, at which a run
// with another one ends.

#include <algorithm>

#include "core/graph/guard.h"
#include "core/operators/form_queries.h"
#include "core/operators/traits.h"
#include "core/trace/guard_description.h"
#include "core/trace/memory.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::trace {

using graph::NodeId;
using tensor::Value;
using tensor::ValueKind;
using Kind = TracedExpr::Kind;

namespace {

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

}  // namespace

KnownUse plainUseOf(const Value& number) {
    if (number.kind() == ValueKind::Bool) return KnownUse::Bool;
    return number.kind() == ValueKind::Float ? KnownUse::Float : KnownUse::Int;
}

bool TracedModuleTracer::hasData(const Var& var) {
    if (var.kind() == Var::Kind::Value) {
        const Var now = memory().current(var);  // a constant that was written is a node
        return now.kind() != Var::Kind::Value && hasData(now);
    }
    if (!var.isProxy()) return std::ranges::any_of(var.items(), [this](const Var& item) { return hasData(item); });
    const TracedNode* node = nodeOf(var);
    return node && !node->isNumber() && !node->isFixed();
}

bool TracedModuleTracer::readsData(const graph::OpKey& op, const std::vector<Var>& arguments,
                                   const Keywords& keywords) {
    const bool asksForm = isSizeQuery(op, arguments) || operators::isFormQuery(op.name) ||
                          operators::traitsOf(op.domain, op.name).opClass == operators::OpClass::GetAttr;
    return !asksForm && (std::ranges::any_of(arguments, [this](const Var& var) { return hasData(var); }) ||
                         std::ranges::any_of(keywords, [this](const auto& entry) { return hasData(entry.second); }));
}

std::optional<Value> TracedModuleTracer::known(NodeId id, KnownUse use) {
    const std::optional<Value> value = m_known[id.index()].value;
    TracedNode& node = *m_known[id.index()].node;
    const bool asksLength = use == KnownUse::Length || use == KnownUse::Iteration;
    const bool isGuarded = node.isNumber() || asksLength || m_options.guardsData;
    if (value && !node.isFixed() && isGuarded) addGuard(node, use, *value);
    return value;
}

void TracedModuleTracer::addGuard(TracedNode& node, KnownUse use, const Value& value) {
    const Value asked = askedOf(value, use);  // throws for what cannot be asked of it, and leaves no guard
    if (!m_guarded.insert({&node, use}).second) return;
    const bool asksLength = use == KnownUse::Length || use == KnownUse::Iteration;
    // A number that was read from a tensor has no size in it; what sizes are computed of has no tensor in it.
    const bool isOfSize = asksLength || (node.isNumber() && !m_read.contains(&node));
    addGuardExpr(node, use, asked, guardText(node, use, attributeOf(asked), isOfSize));
}

void TracedModuleTracer::addGuardExpr(TracedNode& node, KnownUse use, const Value& asked, const GuardText& text) {
    const std::string place = recorder().place().sourceText();
    const std::string description = text.description + (place.empty() ? "" : " (" + place + ')');
    TracedOperation operation{
        {graph::kGuardDomain, graph::kGuardName, 0}, graph::kGuardName, graph::kGuardName, false, false, 1};
    std::vector<Operand> args{Operand(&node), Operand(asked), Operand(Value(std::string(guardKind(use)))),
                              Operand(Value(description)), Operand(Value(text.traced))};
    TracedExpr* expr =
        GraphBuilder(node.graph()).addCall(Kind::Apply, graph::kGuardName, std::move(args), {}, std::move(operation));
    expr->disableRemove();
    Structure nothing;
    nothing.kind = Structure::Kind::Tuple;
    GraphBuilder::setOutDef(*expr, std::move(nothing));
}

void TracedModuleTracer::guardCaptured(TracedNode& node, const Value& tensor) {
    if (node.isFixed() || !m_guardedCaptures.insert(&node).second) return;
    GraphBuilder builder(node.graph());
    const std::string& graphName = node.graph().qualname();
    TracedNode* constant = builder.addConstant(tensor, "const_tensor", graphName + ".[const_tensor]");
    TracedOperation operation{{"aten", "equal", 0}, "equal", "torch.equal", false, false, 1};
    TracedExpr* expr = builder.addCall(Kind::CallFunction, "torch.equal", {Operand(&node), Operand(constant)}, {},
                                       std::move(operation));
    TracedNode* same = builder.addOutput(*expr, "equal_out", graphName + ".[func_equal]");
    GraphBuilder::setType(*same, tensor::TypeInfo::of(Value::ofBool(true)));
    Structure number;
    number.kind = Structure::Kind::Number;
    GraphBuilder::setOutDef(*expr, std::move(number));
    addGuardExpr(
        *same, KnownUse::Bool, Value::ofBool(true),
        {"kept '" + node.name() + "', a tensor of an enclosing module, as a constant in " + frame().graph->name(), {}});
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
    const std::string& description = expr.args()[3].constant.toString();
    const std::string& traced = expr.args()[4].constant.toString();
    constexpr KnownUse kUses[] = {KnownUse::Bool, KnownUse::Int, KnownUse::Float, KnownUse::Length,
                                  KnownUse::Iteration};
    const auto* use = std::ranges::find_if(kUses, [&kind](KnownUse candidate) { return kind == guardKind(candidate); });
    if (use == std::end(kUses)) throw TraceError(TraceErrorKind::Value, "a guard of kind '" + kind + "' is not known");
    if (value.isProxy())
        value.tracer().recording().recordGuard(value.node(), *use, attributeOf(expected), description, traced);
    if (value.hasProxy()) return;
    const Value came = askedOf(value.toValue(), *use);
    if (tensor::identical(came, expected)) return;
    const auto text = [](const Value& asked) {
        return asked.kind() == ValueKind::Bool ? std::string(asked.toBool() ? "true" : "false") : asked.text();
    };
    throw TraceError(TraceErrorKind::Runtime, traced.empty()
                                                  ? "the guard does not hold: the trace " + description +
                                                        ", expected " + text(expected) + " but got " + text(came)
                                                  : traced + ", got " + text(came));
}

bool isAssertion(const TracedExpr& expr) {
    return expr.outputs().empty() && !expr.isModuleCall() &&
           operators::traitsOf(expr.operation().op.domain, expr.operation().op.name).is(operators::Trait::Effect);
}

namespace {

/// Whether a run can give another number of parts than the trace, and nothing else tells. One too few is seen where it
/// is taken, and a list of lengths that does not fit where it is cut.
bool mayGiveMoreParts(const TracedExpr& expr) {
    using operators::ViewForm;
    const TracedOperation& operation = expr.operation();
    const Operand* amount = expr.args().size() > 1 ? &expr.args()[1] : nullptr;
    const bool isNumber = amount && amount->kind == Operand::Kind::Constant && amount->constant.isNumber();
    const bool isComputed = !amount || amount->kind == Operand::Kind::Node;
    switch (operators::traitsOf(operation.op.domain, operation.op.name).form) {
        case ViewForm::Unbind: return true;
        case ViewForm::Split: return isNumber || isComputed;
        case ViewForm::Chunk:  // a short tensor has fewer parts than were asked for
            return isComputed ||
                   (isNumber && static_cast<double>(expr.outDef().items.size()) < amount->constant.number());
        case ViewForm::TensorSplit:
        case ViewForm::HorizontalSplit:
        case ViewForm::VerticalSplit:
        case ViewForm::DepthSplit: return isComputed;
        default: return false;
    }
}

}  // namespace

void guardParts(const TracedExpr& expr, const Var& list) {
    const bool isList = expr.outDef().kind == Structure::Kind::List || expr.outDef().kind == Structure::Kind::Tuple;
    if (!list.isProxy() || !isList || expr.isModuleCall() || expr.args().empty() || !mayGiveMoreParts(expr)) return;
    const auto count = static_cast<std::int64_t>(expr.outDef().items.size());
    const Operand& whole = expr.args().front();
    const std::string name = whole.kind == Operand::Kind::Node ? whole.node->name() : expr.operation().display;
    const std::string parts = std::to_string(count) + (count == 1 ? " part" : " parts");
    list.tracer().recording().recordGuard(list.node(), KnownUse::Length, count, "took " + parts + " of " + name,
                                          "traced with " + parts + " of " + name);
}

}  // namespace sonde::trace
