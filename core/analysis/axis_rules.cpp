#include "core/analysis/axis_rules.h"

#include <algorithm>
#include <string>

#include "core/graph/traits.h"

namespace sonde::analysis::axes {

using operators::OpClass;
using tensor::Dim;
using tensor::Value;

namespace {

bool isOnnx(const CallArguments& call) { return call.expr().op.domain != "aten"; }

/// Attribute `axis`, or parameter `dim`.
std::optional<std::int64_t> axisArgument(const CallArguments& call, std::int64_t otherwise) {
    if (call.has("dim")) return CallArguments::integer(call.named("dim"));
    return call.expr().attributes.getInt("axis", otherwise);
}

}  // namespace

std::optional<std::size_t> axisOf(std::int64_t axis, std::size_t rank) {
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    return axis >= 0 && axis < static_cast<std::int64_t>(rank) ? std::optional(static_cast<std::size_t>(axis))
                                                               : std::nullopt;
}

std::vector<AxisMove> moved(const Operand& operand, std::int64_t offset) {
    std::vector<AxisMove> moves(rankOf(operand.type));
    for (std::size_t axis = 0; axis < moves.size(); ++axis) {
        const std::int64_t to = static_cast<std::int64_t>(axis) + offset;
        if (to >= 0 && to < static_cast<std::int64_t>(rankOf(operand.result)))
            moves[axis].axis = static_cast<std::size_t>(to);
    }
    return moves;
}

std::vector<AxisMove> alike(const CallArguments&, const Operand& operand) {
    return rankOf(operand.type) == rankOf(operand.result) ? moved(operand) : std::vector<AxisMove>();
}

std::vector<AxisMove> firstAlike(const CallArguments& call, const Operand& operand) {
    return operand.argument == 0 ? alike(call, operand) : std::vector<AxisMove>();
}

std::vector<AxisMove> broadcast(const CallArguments&, const Operand& operand) {
    const auto offset =
        static_cast<std::int64_t>(rankOf(operand.result)) - static_cast<std::int64_t>(rankOf(operand.type));
    if (offset < 0) return {};
    std::vector<AxisMove> moves = moved(operand, offset);
    for (std::size_t axis = 0; axis < moves.size(); ++axis) {
        // One element for all of them.
        const Dim &from = (*operand.type.shape)[axis],
                  &to = (*operand.result.shape)[axis + static_cast<std::size_t>(offset)];
        if (from.value == 1 && to.value != 1) moves[axis].axis.reset();
    }
    return moves;
}

std::vector<AxisMove> alongAxis(const CallArguments& call, const Operand& operand) {
    std::vector<AxisMove> moves = alike(call, operand);
    const graph::Expr& expr = call.expr();
    const OpClass opClass = graph::traitsOf(expr).opClass;
    const bool isJoin = opClass == OpClass::Concat || opClass == OpClass::ListView || opClass == OpClass::Other;
    std::optional<std::int64_t> given = axisArgument(call, isJoin ? 0 : -1);
    if (expr.op.name == "CumSum") given = CallArguments::integer(call.at(1));
    // Before version 13 softmax was of all axes from its own on, 1 if it was left out.
    const bool isOldSoftmax = isOnnx(call) && expr.op.version < 13 && expr.op.version > 0 && !isJoin;
    if (isOldSoftmax && !expr.attributes.has("axis")) given = 1;
    const auto axis = given ? axisOf(*given, moves.size()) : std::nullopt;
    if (!axis) return {};
    for (std::size_t i = *axis; i < (isOldSoftmax ? moves.size() : *axis + 1); ++i) moves[i].axis.reset();
    return moves;
}

std::vector<AxisMove> normalised(const CallArguments& call, const Operand& operand) {
    std::vector<AxisMove> moves = alike(call, operand);
    std::size_t count = 1;
    if (call.has("normalized_shape")) {
        const auto shape = CallArguments::integers(call.named("normalized_shape"));
        if (!shape) return {};
        count = shape->size();
    } else {
        const auto axis = axisOf(call.expr().attributes.getInt("axis", -1), moves.size());
        if (!axis) return {};
        count = moves.size() - *axis;
    }
    for (std::size_t i = moves.size() - std::min(count, moves.size()); i < moves.size(); ++i) moves[i].axis.reset();
    return moves;
}

namespace {

std::vector<AxisMove> allFrom(std::size_t first, const CallArguments& call, const Operand& operand) {
    if (operand.argument != 0) return {};
    std::vector<AxisMove> moves = alike(call, operand);
    for (std::size_t axis = first; axis < moves.size(); ++axis) moves[axis].axis.reset();
    return moves;
}

}  // namespace

std::vector<AxisMove> perChannel(const CallArguments& call, const Operand& operand) {
    return allFrom(2, call, operand);
}

std::vector<AxisMove> perImage(const CallArguments& call, const Operand& operand) { return allFrom(1, call, operand); }

std::vector<AxisMove> acrossChannels(const CallArguments& call, const Operand& operand) {
    if (operand.argument != 0) return {};
    std::vector<AxisMove> moves = alike(call, operand);
    if (moves.size() > 1) moves[1].axis.reset();
    return moves;
}

std::vector<AxisMove> transposed(const CallArguments& call, const Operand& operand) {
    std::vector<AxisMove> moves = alike(call, operand);
    const std::size_t rank = moves.size();
    if (rank == 0) return {};
    std::vector<std::int64_t> order;  // of the operand's axes in the result
    if (isOnnx(call)) order = call.expr().attributes.getInts("perm");
    else if (call.has("dims"))
        order = CallArguments::integers(call.named("dims")).value_or(std::vector<std::int64_t>());
    else if (call.has("dim0")) {
        const auto a = CallArguments::integer(call.named("dim0")), b = CallArguments::integer(call.named("dim1"));
        const auto first = a ? axisOf(*a, rank) : std::nullopt, second = b ? axisOf(*b, rank) : std::nullopt;
        if (!first || !second) return {};
        for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
        std::swap(order[*first], order[*second]);
    }
    const bool isReversed = order.empty() && (isOnnx(call) || (rank <= 2 && call.expr().arguments.size() == 1));
    if (isReversed)
        for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    if (order.size() != rank) return {};
    for (AxisMove& move : moves) move.axis.reset();
    for (std::size_t i = 0; i < rank; ++i)
        if (const auto from = axisOf(order[i], rank)) moves[*from].axis = i;
    return moves;
}

namespace {

bool areSame(const Dim& a, const Dim& b) { return a == b && (a.known() || !a.symbol.empty()); }

}  // namespace

/// Axes that are equal from the front, and from the back; dimensions of 1 between them come and go. What is in the
/// middle is several axes together.
std::vector<AxisMove> reshaped(const CallArguments&, const Operand& operand) {
    if (operand.argument != 0) return {};
    const std::vector<Dim>&from = *operand.type.shape, &to = *operand.result.shape;
    std::vector<AxisMove> moves(from.size());
    std::size_t a = 0, b = 0, endA = from.size(), endB = to.size();
    while (a < endA && b < endB) {
        if (areSame(from[a], to[b])) moves[a++].axis = b++;
        else if (from[a].value == 1) ++a;
        else if (to[b].value == 1) ++b;
        else break;
    }
    while (endA > a && endB > b) {
        if (areSame(from[endA - 1], to[endB - 1])) moves[--endA].axis = --endB;
        else if (from[endA - 1].value == 1) --endA;
        else if (to[endB - 1].value == 1) --endB;
        else break;
    }
    // One of which the size is not known on both sides.
    if (endA == a + 1 && endB == b + 1) moves[a].axis = b;
    return moves;
}

std::vector<AxisMove> stacked(const CallArguments& call, const Operand& operand) {
    const auto given = axisArgument(call, 0);
    const auto axis = given ? axisOf(*given, rankOf(operand.result)) : std::nullopt;
    if (!axis || rankOf(operand.type) + 1 != rankOf(operand.result)) return {};
    std::vector<AxisMove> moves = moved(operand);
    for (std::size_t i = *axis; i < moves.size(); ++i) moves[i].axis = i + 1;
    return moves;
}

std::vector<AxisMove> gathered(const CallArguments& call, const Operand& operand) {
    const tensor::TypeInfo data = call.type(0), indices = call.type(1);
    if (!data.shape || !indices.shape) return {};
    const auto axis = axisOf(call.expr().attributes.getInt("axis", 0), data.shape->size());
    if (!axis) return {};
    if (operand.argument == 1) return moved(operand, static_cast<std::int64_t>(*axis));
    std::vector<AxisMove> moves = moved(operand);
    for (std::size_t i = *axis + 1; i < moves.size(); ++i) moves[i].axis = i + indices.shape->size() - 1;
    moves[*axis].axis.reset();
    return moves;
}

std::vector<AxisMove> embedded(const CallArguments&, const Operand& operand) {
    return operand.argument == 1 ? moved(operand) : std::vector<AxisMove>();
}

std::vector<AxisMove> selected(const CallArguments& call, const Operand& operand) {
    const auto given = CallArguments::integer(call.named("dim"));
    const auto axis = given ? axisOf(*given, rankOf(operand.type)) : std::nullopt;
    if (!axis || operand.argument != 0) return {};
    std::vector<AxisMove> moves = moved(operand);
    for (std::size_t i = *axis + 1; i < moves.size(); ++i) moves[i].axis = i - 1;
    moves[*axis].axis.reset();
    return moves;
}

namespace {

/// x[start:…:step] along an axis of `size`. Backwards, or counted from an end that is not known, all may be read.
AxisMove slicedAxis(std::size_t to, const Dim& size, const Value& start, const Value& step) {
    const auto first = start.isNone() ? std::optional(std::int64_t{0}) : CallArguments::integer(start);
    const auto by = step.isNone() ? std::optional(std::int64_t{1}) : CallArguments::integer(step);
    if (!first || !by || *by < 1 || (*first < 0 && !size.known())) return {};
    const std::int64_t from = *first < 0 ? std::max<std::int64_t>(*first + size.value, 0) : *first;
    return {to, {.stride = *by, .scale = 1, .first = from, .last = from}};
}

std::vector<AxisMove> onnxSliced(const CallArguments& call, const Operand& operand) {
    std::vector<AxisMove> moves = moved(operand);
    const tensor::Attributes& attributes = call.expr().attributes;
    const bool hasInputs = !attributes.has("starts");
    const auto list = [&](const char* name, std::size_t position) -> std::optional<std::vector<std::int64_t>> {
        if (!hasInputs) return attributes.getInts(name);
        const graph::Argument* argument = call.argument(position);
        if (!argument || argument->kind == graph::Argument::Kind::Omitted) return std::vector<std::int64_t>();
        return CallArguments::integers(call.at(position));
    };
    const auto starts = list("starts", 1), axes = list("axes", 3), steps = list("steps", 4);
    if (!axes || (axes->empty() && (!starts || starts->size() != moves.size()))) return {};
    const std::size_t count = axes->empty() ? moves.size() : axes->size();
    for (std::size_t i = 0; i < count; ++i) {
        const auto axis = axes->empty() ? std::optional(i) : axisOf((*axes)[i], moves.size());
        if (!axis) return {};
        const bool isKnown = starts && i < starts->size() && steps && (steps->empty() || i < steps->size());
        moves[*axis] = isKnown ? slicedAxis(*axis, (*operand.type.shape)[*axis], Value::ofInt((*starts)[i]),
                                            Value::ofInt(steps->empty() ? 1 : (*steps)[i]))
                               : AxisMove{};
    }
    return moves;
}

}  // namespace

std::vector<AxisMove> sliced(const CallArguments& call, const Operand& operand) {
    if (operand.argument != 0 || rankOf(operand.type) != rankOf(operand.result)) return {};
    if (isOnnx(call)) return onnxSliced(call, operand);
    std::vector<AxisMove> moves = moved(operand);
    const auto dim = CallArguments::integer(call.named("dim"));
    const auto axis = dim ? axisOf(*dim, moves.size()) : std::nullopt;
    if (!axis) return {};
    moves[*axis] = slicedAxis(*axis, (*operand.type.shape)[*axis], call.named("start"), call.named("step"));
    return moves;
}

std::vector<AxisMove> indexed(const CallArguments& call, const Operand& operand) {
    using Kind = graph::Argument::Kind;
    const graph::Argument* index = call.argument(1);
    if (!index || operand.argument != 0) return {};
    const auto isSlice = [](const graph::Argument& item) { return item.kind == Kind::Slice; };
    const auto isInteger = [](const graph::Argument& item) {
        return item.kind == Kind::Constant && item.constant.kind() == tensor::ValueKind::Int;
    };
    const std::vector<graph::Argument> only{*index};
    const std::vector<graph::Argument>& items = index->kind == Kind::Tuple ? index->items : only;
    std::vector<AxisMove> moves(rankOf(operand.type));
    std::size_t from = 0, to = 0;
    for (const graph::Argument& item : items) {
        if (!isSlice(item) && !isInteger(item)) return {};  // new axes, ellipses, tensors: as if all were read
        if (from >= moves.size()) return {};
        if (isSlice(item)) {
            const auto part = [&item](std::size_t at) {
                return at < item.items.size() && item.items[at].kind == Kind::Constant ? item.items[at].constant
                                                                                       : Value();
            };
            const bool isKnown =
                std::ranges::none_of(item.items, [](const graph::Argument& each) { return each.kind == Kind::Node; });
            moves[from] = isKnown ? slicedAxis(to, (*operand.type.shape)[from], part(0), part(2)) : AxisMove{};
            ++to;
        }
        ++from;
    }
    while (from < moves.size()) moves[from++].axis = to++;
    return moves;
}

}  // namespace sonde::analysis::axes
