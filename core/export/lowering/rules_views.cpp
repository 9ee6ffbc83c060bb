// Views whose places follow from their arguments: axes in another order, and parts of an axis.

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/export/lowering/lowering.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/ellipsis_value.h"
#include "core/tensor/slice_value.h"

namespace sonde::exporting {

namespace {

using Results = std::vector<Argument>;
using C = LoweredCall;
using Ints = std::vector<std::int64_t>;

Results inOrder(C& c, const Ints& order) {
    const NodeId x = c.tensor(0);
    return one(std::ranges::is_sorted(order) ? x : c.permuted(x, order));
}
Ints sameOrder(std::size_t rank) {
    Ints order(rank);
    std::iota(order.begin(), order.end(), 0);
    return order;
}
Results permute(C& c) {
    const std::size_t rank = c.shapeOf(c.tensor(0)).rank();
    const Ints order = c.axes(1, rank);
    if (order.size() != rank) C::fail("not every axis has a place");
    return inOrder(c, order);
}
Results swapped(C& c, std::int64_t a, std::int64_t b) {
    Ints order = sameOrder(c.shapeOf(c.tensor(0)).rank());
    if (order.size() > 1) std::swap(order.at(static_cast<std::size_t>(a)), order.at(static_cast<std::size_t>(b)));
    return inOrder(c, order);
}
Results transpose(C& c) {
    const std::size_t rank = c.shapeOf(c.tensor(0)).rank();
    return rank == 0 ? one(c.tensor(0)) : swapped(c, c.axis(1, rank), c.axis(2, rank));
}
Results lastSwapped(C& c) {
    const auto rank = static_cast<std::int64_t>(c.shapeOf(c.tensor(0)).rank());
    return swapped(c, std::max<std::int64_t>(rank - 2, 0), std::max<std::int64_t>(rank - 1, 0));
}
Results reversed(C& c) {
    Ints order = sameOrder(c.shapeOf(c.tensor(0)).rank());
    std::ranges::reverse(order);
    return inOrder(c, order);
}

/// Elements start, start + step … before `end` of an axis; the result has `count` of them in this run. What is given as
/// nodes (int64[1]) depends on the data.
NodeId part(C& c, NodeId x, NodeId start, NodeId end, std::int64_t axis, std::int64_t step, std::int64_t count) {
    Ints dims = c.shapeOf(x).dims();
    dims[static_cast<std::size_t>(axis)] = count;
    return c.opOf("Slice", {x, start, end, c.integersNode({axis}), c.integersNode({step})}, {}, c.dtypeOf(x),
                  Shape(dims));
}
NodeId part(C& c, NodeId x, std::int64_t start, std::int64_t count, std::int64_t axis) {
    if (!c.isOpen(x, static_cast<std::size_t>(axis)) && count == c.shapeOf(x)[static_cast<std::size_t>(axis)]) return x;
    return part(c, x, c.integersNode({start}), c.integersNode({start + count}), axis, 1, count);
}
NodeId dropped(C& c, NodeId x, std::int64_t axis) {
    Ints dims = c.shapeOf(x).dims();
    dims.erase(dims.begin() + axis);
    if (!c.isOpen(x)) return c.reshaped(x, Shape(dims));
    return c.opOf("Squeeze", {x, c.integersNode({axis})}, {}, c.dtypeOf(x), Shape(dims));
}

bool isAbsent(const Argument& given) {
    return given.kind == Argument::Kind::Omitted || (given.kind == Argument::Kind::Constant && given.constant.isNone());
}
std::int64_t wholeOr(const Argument& given, std::int64_t fallback) {
    if (isAbsent(given)) return fallback;
    const auto number = ops::intOf(given.constant);
    if (!number) C::fail(number.error().what);
    return *number;
}

/// start:end:step of an axis.
struct Bounds {
    Argument start, end, step;

    bool dependOnData() const { return start.kind == Argument::Kind::Node || end.kind == Argument::Kind::Node; }
};
/// A bound as int64[1]; constants are brought into an axis of a known size.
NodeId boundOf(C& c, const Argument& given, std::int64_t fallback, std::optional<std::int64_t> dimSize) {
    if (given.kind == Argument::Kind::Node) {
        c.opensShapes();
        return c.reshaped(c.cast(given.node, DType::Int64), Shape{1});
    }
    std::int64_t at = wholeOr(given, fallback);
    if (dimSize) at = std::clamp<std::int64_t>(at < 0 ? at + *dimSize : at, 0, *dimSize);
    return c.integersNode({at});
}
/// The part of an axis that has `count` elements in this run.
NodeId sliced(C& c, NodeId x, std::int64_t axis, const Bounds& bounds, std::int64_t count) {
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    if (bounds.step.kind == Argument::Kind::Node) C::fail("a step depends on the data");
    const std::int64_t step = wholeOr(bounds.step, 1);
    const auto at = static_cast<std::size_t>(axis);
    const auto dimSize = c.isOpen(x, at) ? std::nullopt : std::optional(c.shapeOf(x)[at]);
    if (!bounds.dependOnData() && step == 1) {
        const std::int64_t start = wholeOr(bounds.start, 0), end = wholeOr(bounds.end, kEnd);
        const bool fromFirst = start == 0 || (dimSize && start <= -*dimSize);
        if (fromFirst && (end == kEnd || (dimSize && end >= *dimSize))) return x;
    }
    const NodeId from = boundOf(c, bounds.start, 0, dimSize), to = boundOf(c, bounds.end, kEnd, dimSize);
    return part(c, x, from, to, axis, step, count);
}
/// One element of an axis, which is gone then.
NodeId picked(C& c, NodeId x, std::int64_t axis, const Argument& place) {
    const Shape shape = c.shapeOf(x);
    if (place.kind == Argument::Kind::Node || c.isOpen(x, static_cast<std::size_t>(axis))) {
        Ints dims = shape.dims();
        dims.erase(dims.begin() + axis);
        const NodeId at = c.reshaped(c.cast(c.tensorOf(place, DType::Int64), DType::Int64), Shape{});
        return c.opOf("Gather", {x, at}, {{"axis", axis}}, c.dtypeOf(x), Shape(dims));
    }
    const std::int64_t dimSize = shape[static_cast<std::size_t>(axis)], given = wholeOr(place, 0);
    return dropped(c, part(c, x, given < 0 ? given + dimSize : given, 1, axis), axis);
}
NodeId withAxis(C& c, NodeId x, std::int64_t axis) {
    Ints dims = c.shapeOf(x).dims();
    dims.insert(dims.begin() + axis, 1);
    if (!c.isOpen(x)) return c.reshaped(x, Shape(dims));
    return c.opOf("Unsqueeze", {x, c.integersNode({axis})}, {}, c.dtypeOf(x), Shape(dims));
}
Argument givenAt(C& c, std::size_t index) { return c.has(index) ? c.argument(index) : Argument::omitted(); }

Results slice(C& c) {
    const NodeId x = c.tensor(0);
    const std::int64_t axis = c.axis(1, c.shapeOf(x).rank());
    return one(sliced(c, x, axis, {givenAt(c, 2), givenAt(c, 3), givenAt(c, 4)},
                      c.result().dim(static_cast<std::size_t>(axis))));
}
Results select(C& c) {
    const NodeId x = c.tensor(0);
    return one(picked(c, x, c.axis(1, c.shapeOf(x).rank()), c.argument(2)));
}

/// The parts of x[…, 1:, k]; nothing if one of them is no number, slice, None or dots.
std::vector<Argument> indexParts(C& c, const Argument& index) {
    std::vector<Argument> parts = index.kind == Argument::Kind::Tuple ? index.items : std::vector{index};
    if (index.kind == Argument::Kind::Constant && index.constant.kind() == tensor::ValueKind::Tuple) {
        parts.clear();
        for (const Value& item : index.constant.items()) parts.push_back(Argument::of(item));
    }
    for (const Argument& each : parts) {
        const bool isNumber = each.kind == Argument::Kind::Node && c.shapeOf(each.node).rank() == 0 &&
                              (c.dtypeOf(each.node) == DType::Int64 || c.dtypeOf(each.node) == DType::Int32);
        const auto kind = each.kind == Argument::Kind::Constant ? each.constant.kind() : tensor::ValueKind::Tensor;
        const bool isPlain = kind == tensor::ValueKind::Int || kind == tensor::ValueKind::None ||
                             kind == tensor::ValueKind::Object || each.kind == Argument::Kind::Slice;
        if (!isNumber && !isPlain) return {};
    }
    return parts;
}
std::optional<Bounds> boundsOf(const Argument& given) {
    if (given.kind == Argument::Kind::Slice && given.items.size() == 3)
        return Bounds{given.items[0], given.items[1], given.items[2]};
    if (given.kind != Argument::Kind::Constant || given.constant.kind() != tensor::ValueKind::Object)
        return std::nullopt;
    const auto* slice = dynamic_cast<const tensor::SliceValue*>(given.constant.object().get());
    if (!slice) return std::nullopt;
    return Bounds{Argument::of(slice->start()), Argument::of(slice->stop()), Argument::of(slice->step())};
}
bool isDots(const Argument& given) {
    return given.kind == Argument::Kind::Constant && given.constant.kind() == tensor::ValueKind::Object &&
           dynamic_cast<const tensor::EllipsisValue*>(given.constant.object().get());
}
bool isNewAxis(const Argument& given) { return given.kind == Argument::Kind::Constant && given.constant.isNone(); }
Results narrow(C& c) {
    const NodeId x = c.tensor(0);
    const Shape shape = c.shapeOf(x);
    const std::int64_t axis = c.axis(1, shape.rank()), length = c.integer(3);
    const std::int64_t dimSize = shape[static_cast<std::size_t>(axis)], given = c.integer(2);
    return one(part(c, x, given < 0 ? given + dimSize : given, length, axis));
}

/// An axis of 1 more, or away: by name where other dim sizes depend on the data, for these may be 1 by chance.
Results unsqueeze(C& c) { return one(withAxis(c, c.tensor(0), c.axis(1, c.result().rank()))); }
Results squeeze(C& c) {
    const NodeId x = c.tensor(0);
    const Shape shape = c.shapeOf(x);
    if (!c.isOpen(x)) return one(c.reshaped(x, c.result().shape()));
    Ints away;
    for (const std::int64_t axis : c.has(1) ? c.axes(1, shape.rank()) : sameOrder(shape.rank())) {
        const auto at = static_cast<std::size_t>(axis);
        if (c.isOpen(x, at)) c.fixesSizes();
        else if (shape[at] == 1) away.push_back(axis);
    }
    if (away.size() + c.result().rank() != shape.rank()) return one(c.reshaped(x, c.result().shape()));
    return one(away.empty() ? x : c.op("Squeeze", {x, c.integersNode(away)}));
}

/// An axis as the parts that the call gave, one after the other.
Results parts(C& c, std::int64_t axis, bool drops) {
    const NodeId x = c.tensor(0);
    if (c.isOpen(x, static_cast<std::size_t>(axis))) c.fixesSizes();
    std::vector<Argument> items;
    std::int64_t start = 0;
    for (const Value& item : c.results()[0].items()) {
        const std::int64_t count = drops ? 1 : item.tensor().dim(static_cast<std::size_t>(axis));
        const NodeId made = part(c, x, start, count, axis);
        items.push_back(Argument::of(drops ? dropped(c, made, axis) : made));
        start += count;
    }
    return {Argument::container(Argument::Kind::List, std::move(items))};
}
template <std::size_t axisAt, bool drops>
Results split(C& c) {
    // Sizes that are given are those of the results.
    for (std::size_t i = 1; i < axisAt; ++i) (void)plainValue(c.argument(i));
    if (c.results().size() != 1 || !c.results()[0].isListLike()) C::fail("it returns no list");
    return parts(c, c.has(axisAt) ? c.axis(axisAt, c.shapeOf(c.tensor(0)).rank()) : 0, drops);
}

}  // namespace

std::vector<Argument> lowerIndex(LoweredCall& c) {
    const std::vector<Argument> parts = indexParts(c, c.argument(1));
    if (parts.empty()) return lowerRearrangement(c);
    NodeId x = c.tensor(0);
    const auto taken = static_cast<std::size_t>(
        std::ranges::count_if(parts, [](const Argument& each) { return !isDots(each) && !isNewAxis(each); }));
    const std::size_t rank = c.shapeOf(x).rank();
    if (taken > rank) C::fail("more indices than axes");
    // The axis of what has been made so far.
    std::int64_t axis = 0;
    for (const Argument& each : parts) {
        if (isDots(each)) {
            axis += static_cast<std::int64_t>(rank - taken);
        } else if (isNewAxis(each)) {
            x = withAxis(c, x, axis++);
        } else if (const auto bounds = boundsOf(each)) {
            x = sliced(c, x, axis, *bounds, c.result().dim(static_cast<std::size_t>(axis)));
            ++axis;
        } else {
            x = picked(c, x, axis, each);
        }
    }
    return one(x);
}

void addViewRules(LoweringRules& rules) {
    const auto put = [&rules](std::string_view name, LoweringRule rule) { rules.insert_or_assign(name, rule); };
    put("permute", permute);
    put("transpose", transpose);
    for (std::string_view name : {"t", "numpy_T"}) put(name, reversed);
    put("mT", lastSwapped);
    put("unsqueeze", unsqueeze);
    put("squeeze", squeeze);
    put("slice", slice);
    put("select", select);
    put("narrow", narrow);
    for (std::string_view name : {"split", "split_with_sizes", "chunk"}) put(name, split<2, false>);
    put("unbind", split<1, true>);
}

}  // namespace sonde::exporting
