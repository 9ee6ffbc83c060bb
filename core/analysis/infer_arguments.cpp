#include <algorithm>

#include "core/analysis/inference.h"
#include "core/ops/support/common_type.h"
#include "core/tensor/ellipsis_value.h"
#include "core/tensor/slice_value.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Expr;
using ops::Elements;
using tensor::Symbolic;
using tensor::TypeInfo;
using tensor::Value;
using tensor::ValueKind;
using tensor::ValueList;

namespace {

/// Of longer lists all elements have one type.
constexpr std::size_t kMaxListLength = 1024;

}  // namespace

bool Inference::inferIndexed(const Expr& expr) {
    if (expr.arguments.size() != 2 || expr.outputs.empty()) return false;
    const TypeInfo type = typeOf(expr.arguments[0]);
    std::vector<IndexPart> parts;
    if (!type.isTensor() || !type.shape || !addIndexParts(expr.arguments[1], parts, true)) return false;
    const auto dims = indexedDims(*type.shape, parts);
    if (dims) settle(expr.outputs.front(), TypeInfo::tensor(type.dtype, *dims), {});
    return dims.has_value();
}

bool Inference::addIndexParts(const Argument& index, std::vector<IndexPart>& parts, bool isWhole) const {
    using Kind = IndexPart::Kind;
    if (index.kind == Argument::Kind::Tuple && isWhole)
        return std::ranges::all_of(index.items,
                                   [&](const Argument& item) { return addIndexParts(item, parts, false); });
    if (index.kind == Argument::Kind::Slice) {
        IndexPart part{Kind::Range, {}, {}, {}};
        std::optional<Symbolic>* const bounds[] = {&part.start, &part.stop, &part.step};
        for (std::size_t i = 0; i < index.items.size() && i < 3; ++i) {
            const auto kind = typeOf(index.items[i]).kind;
            if (kind == ValueKind::None || index.items[i].kind == Argument::Kind::Omitted) continue;
            const auto number = elementsOf(index.items[i]);
            *bounds[i] = number && number->size() == 1 ? number->front() : Symbolic();
        }
        parts.push_back(std::move(part));
        return true;
    }
    const Value value = valueOf(index);
    if (value.kind() == ValueKind::Tuple && isWhole) {
        return std::ranges::all_of(value.items(),
                                   [&](const Value& item) { return addIndexParts(Argument::of(item), parts, false); });
    }
    if (value.kind() == ValueKind::Object) {
        if (const auto* slice = dynamic_cast<const tensor::SliceValue*>(value.object().get())) {
            return addIndexParts(
                Argument::container(Argument::Kind::Slice, {Argument::of(slice->start()), Argument::of(slice->stop()),
                                                            Argument::of(slice->step())}),
                parts, false);
        }
        if (!dynamic_cast<const tensor::EllipsisValue*>(value.object().get())) return false;
        parts.push_back({Kind::Ellipsis, {}, {}, {}});
        return true;
    }
    const auto kind = typeOf(index).kind;
    if (kind != ValueKind::Int && kind != ValueKind::None) return false;
    parts.push_back({kind == ValueKind::Int ? Kind::Select : Kind::NewAxis, {}, {}, {}});
    return true;
}

void Inference::inferAppend(const Expr& expr) {
    if (expr.arguments.size() < 2 || expr.outputs.empty()) return;
    TypeInfo list = typeOf(expr.arguments[0]);
    const TypeInfo item = typeOf(expr.arguments[1]);
    if (list.kind != ValueKind::List) return;
    const bool isWhole = knownOf(expr.arguments[0]).isWhole && list.elements.size() < kMaxListLength;
    if (!isWhole) {
        TypeInfo common = item;
        for (const TypeInfo& element : list.elements) common = ops::commonType(common, element);
        list.elements = {common};
    } else {
        list.elements.push_back(item);
    }
    Known known{{}, {}, isWhole};
    const Value before = knownOf(expr.arguments[0]).value, added = knownOf(expr.arguments[1]).value;
    if (isWhole && before.isListLike() && !added.isNone() && !added.isTensor()) {
        ValueList items = before.items();
        items.push_back(added);
        known.value = Value::list(std::move(items));
    }
    settle(expr.outputs.front(), list, std::move(known));
}

TypeInfo Inference::typeOf(const Argument& argument) const {
    switch (argument.kind) {
        case Argument::Kind::Omitted: return TypeInfo::of(Value());
        case Argument::Kind::Node: return m_graph.node(argument.node).type;
        case Argument::Kind::Constant: return TypeInfo::of(argument.constant);
        default: break;
    }
    TypeInfo type = kindOf(argument.kind == Argument::Kind::List    ? ValueKind::List
                           : argument.kind == Argument::Kind::Tuple ? ValueKind::Tuple
                           : argument.kind == Argument::Kind::Dict  ? ValueKind::Dict
                                                                    : ValueKind::Object);
    if (argument.kind == Argument::Kind::List || argument.kind == Argument::Kind::Tuple) {
        for (const Argument& item : argument.items) type.elements.push_back(typeOf(item));
    }
    return type;
}

Inference::Known Inference::knownOf(const Argument& argument) const {
    if (argument.kind == Argument::Kind::Node) return m_known[argument.node.index()];
    Known known{valueOf(argument), {}, argument.kind != Argument::Kind::Omitted};
    if (known.value.isNone()) known.elements = elementsOf(argument);
    return known;
}

Value Inference::valueOf(const Argument& argument) const {
    switch (argument.kind) {
        case Argument::Kind::Node: return m_known[argument.node.index()].value;
        case Argument::Kind::Constant: return argument.constant;
        case Argument::Kind::List:
        case Argument::Kind::Tuple:
        case Argument::Kind::Slice: {
            ValueList items;
            for (const Argument& item : argument.items) {
                items.push_back(valueOf(item));
                const bool isNoneConstant = item.kind == Argument::Kind::Constant && item.constant.isNone();
                if (items.back().isNone() && !isNoneConstant) return Value();
            }
            if (argument.kind == Argument::Kind::List) return Value::list(std::move(items));
            if (argument.kind == Argument::Kind::Tuple) return Value::tuple(std::move(items));
            items.resize(3);
            return Value::object(std::make_shared<tensor::SliceValue>(items[0], items[1], items[2]));
        }
        default: return Value();
    }
}

std::optional<Elements> Inference::elementsOf(const Argument& argument) const {
    switch (argument.kind) {
        case Argument::Kind::Node: {
            const Known& known = m_known[argument.node.index()];
            return known.elements ? known.elements : ops::elementsOf(known.value);
        }
        case Argument::Kind::Constant: return ops::elementsOf(argument.constant);
        case Argument::Kind::List:
        case Argument::Kind::Tuple: {
            Elements result;
            for (const Argument& item : argument.items) {
                const auto inside = elementsOf(item);
                result.push_back(inside && inside->size() == 1 ? inside->front() : Symbolic());
            }
            return result;
        }
        default: return std::nullopt;
    }
}

}  // namespace sonde::analysis
