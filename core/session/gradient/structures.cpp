// How gradients go through what puts tensors into lists and takes them out again.

#include <map>

#include "core/graph/traits.h"
#include "core/session/gradient/operation_gradient.h"

namespace sonde::session::gradient {

using graph::Argument;
using graph::Expr;
using graph::NodeId;
using operators::OpClass;
using tensor::Value;
using tensor::ValueList;

namespace {

/// One operation on lists, as its rule sees it.
struct ListCall {
    const DoneOperation& operation;
    const std::vector<Value>& given;
    const std::unordered_set<NodeId>& wanted;
    Gradients found = {};

    const Expr& expr() const { return *operation.expr; }
    Value gradient(std::size_t output = 0) const { return output < given.size() ? given[output] : Value(); }
    NodeId node(std::size_t input) const {
        const auto& arguments = expr().arguments;
        const bool isNode = input < arguments.size() && arguments[input].kind == Argument::Kind::Node;
        return isNode ? arguments[input].node : NodeId();
    }
    const Value* value(std::size_t input) const {
        const auto& arguments = expr().arguments;
        if (input < arguments.size() && arguments[input].kind == Argument::Kind::Constant)
            return &arguments[input].constant;
        const auto known = operation.inputs.find(node(input));
        return known == operation.inputs.end() ? nullptr : &known->second;
    }
    std::size_t length(std::size_t input) const {
        const Value* list = value(input);
        return list && list->isListLike() ? list->items().size() : 0;
    }
    /// Counted from 0 on; `fallback` if the input is left out.
    std::size_t index(std::size_t input, std::size_t count, std::size_t fallback) const {
        const Value* given = value(input);
        double number = 0;
        if (given && given->isNumber()) number = given->number();
        else if (given && given->isTensor() && given->tensor().numel() == 1) number = given->tensor().toDouble(0);
        else return fallback;
        return static_cast<std::size_t>(number < 0 ? number + static_cast<double>(count) : number);
    }
    base::Result<void> give(NodeId node, const Value& gradient) {
        if (!node.valid() || !wanted.contains(node)) return {};
        return addGradient(found[node], gradient);
    }
};

using ListRule = base::Result<void> (*)(ListCall&);

Value itemOf(const Value& list, std::size_t at) {
    return list.isListLike() && at < list.items().size() ? list.items()[at] : Value();
}
Value onlyAt(std::size_t length, std::size_t at, const Value& gradient) {
    ValueList items(length);
    if (at < length) items[at] = gradient;
    return Value::list(std::move(items));
}

base::Result<void> construct(ListCall& call) {
    const Value gradient = call.gradient();
    for (std::size_t i = 0; i < call.expr().arguments.size(); ++i)
        SONDE_TRY(call.give(call.node(i), itemOf(gradient, i)));
    return {};
}
base::Result<void> unpack(ListCall& call) {
    ValueList items;
    for (std::size_t i = 0; i < call.expr().outputs.size(); ++i) items.push_back(call.gradient(i));
    return call.give(call.node(0), Value::list(std::move(items)));
}
/// The list with one more element, in place `at`.
base::Result<void> inserted(ListCall& call, std::size_t at) {
    ValueList others;
    const Value gradient = call.gradient();
    for (std::size_t i = 0; i <= call.length(0); ++i)
        if (i != at) others.push_back(itemOf(gradient, i));
    SONDE_TRY(call.give(call.node(0), Value::list(std::move(others))));
    return call.give(call.node(1), itemOf(gradient, at));
}
base::Result<void> append(ListCall& call) { return inserted(call, call.length(0)); }
base::Result<void> insert(ListCall& call) { return inserted(call, call.index(2, call.length(0), call.length(0))); }
base::Result<void> at(ListCall& call) {
    const std::size_t length = call.length(0);
    return call.give(call.node(0), onlyAt(length, call.index(1, length, length), call.gradient()));
}
base::Result<void> nothing(ListCall&) { return {}; }

/// Lists within lists, as an argument writes them.
base::Result<void> giveParts(ListCall& call, const Argument& argument, const Value& gradient) {
    if (argument.kind == Argument::Kind::Node) return call.give(argument.node, gradient);
    for (std::size_t i = 0; i < argument.items.size(); ++i)
        SONDE_TRY(giveParts(call, argument.items[i], itemOf(gradient, i)));
    return {};
}
/// What a module gives: all that it puts together.
base::Result<void> result(ListCall& call) {
    return call.expr().arguments.empty() ? base::Result<void>()
                                         : giveParts(call, call.expr().arguments.front(), call.gradient());
}

/// Each tensor has its part of the axis, or its place on a new one.
base::Result<void> joined(ListCall& call) {
    const Value gradient = call.gradient();
    const Value* list = call.value(0);
    if (!gradient.isTensor() || !list || !list->isListLike()) return {};
    const bool isNew = call.expr().attributes.getInt("new_axis", 0) != 0;
    std::int64_t axis = call.expr().attributes.getInt("axis", 0);
    if (axis < 0) axis += static_cast<std::int64_t>(gradient.tensor().rank());
    ValueList items;
    std::int64_t start = 0;
    for (const Value& item : list->items()) {
        const auto on = static_cast<std::size_t>(axis);
        const std::int64_t size = isNew ? 1 : item.isTensor() ? item.tensor().dim(on) : 0;
        items.emplace_back(isNew ? gradient.tensor().selected(on, start) : gradient.tensor().sliced(on, start, size));
        start += size;
    }
    return call.give(call.node(0), Value::list(std::move(items)));
}

ListRule ruleFor(const DoneOperation& operation) {
    const Expr& expr = *operation.expr;
    if (expr.kind == graph::ExprKind::Output) return result;
    switch (graph::traitsOf(expr).opClass) {
        case OpClass::Construct:
        case OpClass::ConstructTuple: return construct;
        case OpClass::Unpack: return unpack;
        case OpClass::Append: return append;
        default: break;
    }
    static const std::map<std::string_view, ListRule> kSequences{{"ConcatFromSequence", joined},
                                                                 {"SequenceAt", at},
                                                                 {"SequenceConstruct", construct},
                                                                 {"SequenceEmpty", nothing},
                                                                 {"SequenceInsert", insert}};
    if (expr.op.domain.empty()) {
        const auto found = kSequences.find(expr.op.name);
        return found == kSequences.end() ? nullptr : found->second;
    }
    // An element of a list; of a tensor it is another rule's.
    if (expr.op.domain != "prim" || expr.inputs.empty()) return nullptr;
    const auto first = operation.inputs.find(expr.inputs.front());
    const bool isOfList = first != operation.inputs.end() && first->second.isListLike();
    return isOfList && (expr.op.name == "getitem" || expr.op.name == "TupleIndex") ? at : nullptr;
}

}  // namespace

std::optional<base::Result<Gradients>> structureGradient(const DoneOperation& operation,
                                                         const std::vector<Value>& given,
                                                         const std::unordered_set<NodeId>& wanted) {
    const ListRule rule = ruleFor(operation);
    if (!rule) return std::nullopt;
    ListCall call{operation, given, wanted};
    if (auto done = rule(call); !done) return base::Result<Gradients>(std::move(done).error());
    return base::Result<Gradients>(std::move(call.found));
}

}  // namespace sonde::session::gradient
