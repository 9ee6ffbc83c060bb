// Picking and placing elements: indices, masks, scatters, pads, pieces put together.

#include <algorithm>

#include "core/export/lowering/lowering.h"
#include "core/tensor/shape.h"

namespace sonde::exporting {

namespace {

using Results = std::vector<Argument>;
using C = LoweredCall;
using Ints = std::vector<std::int64_t>;

NodeId flat(C& c, NodeId x) { return c.reshaped(x, Shape{c.shapeOf(x).numel()}); }
NodeId expanded(C& c, NodeId x, const Shape& shape) {
    return c.shapeOf(x) == shape ? x : c.make("Expand", {x, c.integersNode(shape.dims())});
}

/// The indices of x[a, b, …], by axis; those left out are no nodes.
struct Picks {
    std::vector<std::size_t> axes;
    std::vector<NodeId> nodes;
    NodeId mask;  ///< the only one, over the first axes
};

Picks picksOf(C& c, const Argument& list) {
    Picks picks;
    std::vector<Argument> items = list.items;
    if (list.kind == Argument::Kind::Constant && list.constant.isListLike()) {
        for (const Value& item : list.constant.items()) items.push_back(Argument::of(item));
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool isNone = items[i].kind == Argument::Kind::Omitted ||
                            (items[i].kind == Argument::Kind::Constant && items[i].constant.isNone());
        if (isNone) continue;
        const NodeId node = c.tensorOf(items[i]);
        if (c.dtypeOf(node) == DType::Bool || c.dtypeOf(node) == DType::UInt8) {
            if (i > 0 || items.size() > 1) C::fail("a mask among other indices");
            picks.mask = c.cast(node, DType::Bool);
        } else {
            picks.axes.push_back(i);
            picks.nodes.push_back(c.cast(node, DType::Int64));
        }
    }
    if (picks.axes.empty() && !picks.mask.valid()) C::fail("an index without tensors");
    return picks;
}

/// The places where a mask is true, [count, rank of the mask]; their number is that of this run.
NodeId trueplaces(C& c, NodeId mask, std::int64_t count) {
    const auto rank = static_cast<std::int64_t>(c.shapeOf(mask).rank());
    c.opensShapes();
    const NodeId places = c.opOf("NonZero", {mask}, {}, DType::Int64, Shape{rank, count});
    return c.permuted(places, {1, 0});
}

/// Indices side by side in their common shape [B…, k], and the order of axes that puts the picked ones first.
struct Gathering {
    Shape common;
    NodeId indices;
    Ints order;      ///< of x's axes
    Shape first;     ///< x in this order
    std::size_t at;  ///< where the common axes are in the result
};
Gathering gathering(C& c, const Shape& shape, const Picks& picks) {
    Gathering made;
    made.common = c.shapeOf(picks.nodes[0]);
    for (NodeId node : picks.nodes) {
        const auto both = tensor::broadcastShapes(made.common, c.shapeOf(node));
        if (!both) C::fail("indices that do not broadcast");
        made.common = *both;
    }
    Ints dims = made.common.dims();
    dims.push_back(1);
    std::vector<NodeId> columns;
    for (NodeId node : picks.nodes) columns.push_back(c.reshaped(expanded(c, node, made.common), Shape(dims)));
    made.indices = columns.size() == 1
                       ? columns[0]
                       : c.make("Concat", columns, {{"axis", static_cast<std::int64_t>(made.common.rank())}});
    for (std::size_t axis : picks.axes) made.order.push_back(static_cast<std::int64_t>(axis));
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (std::find(picks.axes.begin(), picks.axes.end(), axis) == picks.axes.end())
            made.order.push_back(static_cast<std::int64_t>(axis));
    }
    Ints first;
    for (std::int64_t axis : made.order) first.push_back(shape[static_cast<std::size_t>(axis)]);
    made.first = Shape(first);
    const bool adjacent = picks.axes.back() - picks.axes.front() + 1 == picks.axes.size();
    made.at = adjacent ? picks.axes.front() : 0;
    return made;
}
/// From [B…, rest…] to the result, where `at` of the rest precede B.
Ints resultOrder(const Gathering& made, std::size_t rest) {
    Ints order;
    const std::size_t b = made.common.rank();
    for (std::size_t i = 0; i < made.at; ++i) order.push_back(static_cast<std::int64_t>(b + i));
    for (std::size_t i = 0; i < b; ++i) order.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = made.at; i < rest; ++i) order.push_back(static_cast<std::int64_t>(b + i));
    return order;
}
Ints inverse(const Ints& order) {
    Ints back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    return back;
}
NodeId permuted(C& c, NodeId x, const Ints& order) {
    return std::is_sorted(order.begin(), order.end()) ? x : c.permuted(x, order);
}

Results index(C& c) {
    const NodeId x = c.tensor(0);
    const Shape shape = c.shapeOf(x);
    const Picks picks = picksOf(c, c.argument(1));
    if (picks.mask.valid()) {
        const NodeId places = trueplaces(c, picks.mask, c.result().dim(0));
        return one(c.opOf("GatherND", {x, places}, {}, c.result().dtype(), c.result().shape()));
    }
    if (picks.axes.size() == 1)
        return one(c.make("Gather", {x, picks.nodes[0]}, {{"axis", static_cast<std::int64_t>(picks.axes[0])}}));
    const Gathering made = gathering(c, shape, picks);
    const NodeId gathered = c.make("GatherND", {permuted(c, x, made.order), made.indices});
    return one(permuted(c, gathered, resultOrder(made, shape.rank() - picks.axes.size())));
}

/// Values [k, rest…] for the k true places of a mask over the first axes of x, or one for all of them [rest…].
NodeId putUnderMask(C& c, NodeId x, NodeId mask, NodeId values, bool adds) {
    const Shape shape = c.shapeOf(x);
    Ints wide = c.shapeOf(mask).dims(), given = c.shapeOf(values).dims();
    const std::size_t rest = shape.rank() - wide.size();
    if (given.size() > rest + 1) C::fail("values with more axes than the places under a mask");
    const bool isOfEach = given.size() == rest + 1 && (given[0] != 1 || c.isOpen(values, 0));
    if (!isOfEach) {
        if (given.size() == rest + 1) given.erase(given.begin());
        wide.resize(shape.rank(), 1);
        NodeId put = c.reshaped(values, Shape(given));
        if (adds) put = c.make("Add", {x, put});
        return c.make("Where", {c.reshaped(mask, Shape(wide)), put, x});
    }
    Ints each(shape.dims().end() - static_cast<std::ptrdiff_t>(rest), shape.dims().end()), whole = each;
    // 1 leaves the axis of the places as it is.
    each.insert(each.begin(), 1);
    whole.insert(whole.begin(), given[0]);
    if (given != whole) values = c.opOf("Expand", {values, c.integersNode(each)}, {}, c.dtypeOf(values), Shape(whole));
    tensor::Attributes attributes;
    if (adds) attributes.set("reduction", std::string("add"));
    return c.opOf("ScatterND", {x, trueplaces(c, mask, given[0]), values}, std::move(attributes), c.dtypeOf(x), shape);
}

Results indexPut(C& c) {
    const NodeId x = c.tensor(0);
    const DType dtype = c.dtypeOf(x);
    const Shape shape = c.shapeOf(x);
    const bool adds = c.flag(3);
    NodeId values = c.cast(c.tensor(2, dtype), dtype);
    const Picks picks = picksOf(c, c.argument(1));
    tensor::Attributes attributes;
    if (adds) attributes.set("reduction", std::string("add"));
    if (picks.mask.valid()) {
        return one(putUnderMask(c, x, picks.mask, values, adds));
    }
    const Gathering made = gathering(c, shape, picks);
    const std::size_t rest = shape.rank() - picks.axes.size();
    Ints updates = made.common.dims();
    updates.insert(updates.end(), made.first.begin() + static_cast<std::ptrdiff_t>(picks.axes.size()),
                   made.first.end());
    const Ints order = resultOrder(made, rest);
    Ints placed;
    for (std::int64_t axis : order) placed.push_back(updates[static_cast<std::size_t>(axis)]);
    values = permuted(c, expanded(c, values, Shape(placed)), inverse(order));
    const NodeId scattered =
        c.make("ScatterND", {permuted(c, x, made.order), made.indices, values}, std::move(attributes));
    return one(permuted(c, scattered, inverse(made.order)));
}

/// x with other elements at constant flat places.
NodeId written(C& c, NodeId x, const Tensor& places, NodeId values) {
    const DType dtype = c.dtypeOf(x);
    values = flat(c, expanded(c, c.cast(values, dtype), places.shape()));
    const NodeId at = c.constant(Tensor::of<std::int64_t>(
        Shape{places.numel()},
        std::vector<std::int64_t>(places.data<std::int64_t>(), places.data<std::int64_t>() + places.numel())));
    return c.reshaped(c.make("ScatterElements", {flat(c, x), at, values}, {{"axis", std::int64_t{0}}}), c.shapeOf(x));
}
Results writtenAt(C& c, std::string_view domain, std::string_view name, std::vector<Value> arguments,
                  std::size_t valueAt) {
    const NodeId x = c.tensor(0);
    return one(
        written(c, x, placesOf(domain, name, c.shapeOf(x), std::move(arguments)), c.tensor(valueAt, c.dtypeOf(x))));
}
/// x[index] = value: a mask, one tensor of indices, or places that are known.
Results setItem(C& c) {
    const Argument& index = c.argument(1);
    if (index.kind == Argument::Kind::Node && c.dtypeOf(index.node) == DType::Bool) {
        const NodeId x = c.tensor(0);
        const NodeId value = c.cast(c.tensor(2, c.dtypeOf(x)), c.dtypeOf(x));
        if (c.shapeOf(index.node).rank() == 0) {
            // One bool is a mask of all of x, which the value is spread over.
            const Shape shape = c.shapeOf(value);
            const std::size_t extra = shape.rank() - std::min(shape.rank(), c.shapeOf(x).rank());
            const Ints fitting(shape.dims().begin() + static_cast<std::ptrdiff_t>(extra), shape.dims().end());
            return one(c.make("Where", {index.node, c.reshaped(value, Shape(fitting)), x}));
        }
        return one(putUnderMask(c, x, index.node, value, false));
    }
    if (index.kind == Argument::Kind::Node) {
        const NodeId x = c.tensor(0);
        Ints dims = c.shapeOf(index.node).dims(), updates = dims;
        dims.push_back(1);
        const Shape shape = c.shapeOf(x);
        updates.insert(updates.end(), shape.begin() + 1, shape.end());
        return one(c.make("ScatterND", {x, c.reshaped(c.cast(index.node, DType::Int64), Shape(dims)),
                                        expanded(c, c.cast(c.tensor(2, c.dtypeOf(x)), c.dtypeOf(x)), Shape(updates))}));
    }
    return writtenAt(c, "prim", "getitem", {plainValue(index)}, 2);
}

const char* reductionOf(std::string_view torch) {
    return torch == "add" || torch == "sum"         ? "add"
           : torch == "multiply" || torch == "prod" ? "mul"
           : torch == "amax"                        ? "max"
           : torch == "amin"                        ? "min"
                                                    : nullptr;
}
/// scatter and its kin: torch takes only as much of the source as there are indices.
Results scatter(C& c, const char* reduction) {
    const NodeId x = c.tensor(0), places = c.cast(c.tensor(2), DType::Int64);
    const Shape shape = c.shapeOf(places);
    NodeId source = c.cast(c.tensor(3, c.dtypeOf(x)), c.dtypeOf(x));
    if (c.shapeOf(source).rank() == 0 && shape.rank() > 0) source = expanded(c, source, shape);
    else if (c.shapeOf(source) != shape)
        source = c.make("Slice", {source, c.integersNode(Ints(shape.rank(), 0)), c.integersNode(shape.dims())});
    tensor::Attributes attributes{{"axis", c.axis(1, c.shapeOf(x).rank())}};
    const bool hasText = !reduction && c.expr().op.name.find("reduce") != std::string::npos;
    if (hasText) {
        reduction = reductionOf(c.text(4));
        if (!reduction || (c.count() > 5 && !c.flag(5))) C::fail("an unsupported reduction");
    }
    if (reduction) attributes.set("reduction", std::string(reduction));
    return one(c.make("ScatterElements", {x, places, source}, std::move(attributes)));
}

/// index [k] along an axis as an index for every element [.., k, ..].
NodeId alongAxis(C& c, NodeId places, std::int64_t axis, const Shape& shape) {
    Ints dims(shape.rank(), 1), wide = shape.dims();
    dims[static_cast<std::size_t>(axis)] = c.shapeOf(places).numel();
    wide[static_cast<std::size_t>(axis)] = c.shapeOf(places).numel();
    return expanded(c, c.reshaped(c.cast(places, DType::Int64), Shape(dims)), Shape(wide));
}
Results indexAlong(C& c, bool adds) {
    const NodeId x = c.tensor(0);
    const Shape shape = c.shapeOf(x);
    const std::int64_t axis = c.axis(1, shape.rank());
    const NodeId places = alongAxis(c, c.tensor(2), axis, shape);
    NodeId source = c.cast(c.tensor(3, c.dtypeOf(x)), c.dtypeOf(x));
    source = expanded(c, source, c.shapeOf(places));
    if (adds && c.number(4, 1) != 1) source = c.make("Mul", {source, c.scalar(c.number(4), c.dtypeOf(x))});
    tensor::Attributes attributes{{"axis", axis}};
    if (adds) attributes.set("reduction", std::string("add"));
    return one(c.make("ScatterElements", {x, places, source}, std::move(attributes)));
}

Results maskedSelect(C& c) {
    const NodeId x = c.tensor(0), mask = c.cast(c.tensor(1), DType::Bool);
    const auto shape = tensor::broadcastShapes(c.shapeOf(x), c.shapeOf(mask));
    if (!shape) C::fail("a mask with a wrong shape");
    c.opensShapes();
    return one(c.opOf("Compress", {flat(c, expanded(c, x, *shape)), flat(c, expanded(c, mask, *shape))},
                      {{"axis", std::int64_t{0}}}, c.result().dtype(), c.result().shape()));
}
/// The elements of the source in order where the mask is true: the place of each is the number of true ones before it.
Results maskedScatter(C& c) {
    const NodeId x = c.tensor(0);
    const Shape shape = c.shapeOf(x);
    const NodeId mask = expanded(c, c.cast(c.tensor(1), DType::Bool), shape),
                 line = c.cast(flat(c, mask), DType::Int64);
    const NodeId places = c.make(
        "Sub", {c.make("CumSum", {line, c.constant(Tensor::scalar<std::int64_t>(0))}), c.scalar(1, DType::Int64)});
    const NodeId valid = c.make("Max", {places, c.scalar(0, DType::Int64)});
    const NodeId taken =
        c.make("Gather", {flat(c, c.cast(c.tensor(2), c.dtypeOf(x))), valid}, {{"axis", std::int64_t{0}}});
    return one(c.make("Where", {mask, c.reshaped(taken, shape), x}));
}
Results nonZero(C& c) {
    c.opensShapes();
    const Shape shape = c.result().shape();
    return one(c.permuted(c.opOf("NonZero", {c.tensor(0)}, {}, DType::Int64, Shape{shape[1], shape[0]}), {1, 0}));
}
/// One vector of places for each axis.
Results nonZeroByAxis(C& c) {
    c.opensShapes();
    const auto rank = static_cast<std::int64_t>(c.shapeOf(c.tensor(0)).rank());
    const std::int64_t count = c.results()[0].items()[0].tensor().numel();
    const NodeId places = c.opOf("NonZero", {c.tensor(0)}, {}, DType::Int64, Shape{rank, count});
    std::vector<Argument> items;
    for (std::int64_t axis = 0; axis < rank; ++axis)
        items.push_back(Argument::of(c.opOf("Gather", {places, c.constant(Tensor::scalar<std::int64_t>(axis))},
                                            {{"axis", std::int64_t{0}}}, DType::Int64, Shape{count})));
    return {Argument::container(Argument::Kind::List, std::move(items))};
}

Results take(C& c) { return one(c.make("Gather", {flat(c, c.tensor(0)), c.tensor(1)}, {{"axis", std::int64_t{0}}})); }
Results put(C& c) {
    tensor::Attributes attributes{{"axis", std::int64_t{0}}};
    if (c.flag(3)) attributes.set("reduction", std::string("add"));
    const NodeId x = c.tensor(0);
    return one(c.reshaped(
        c.make("ScatterElements",
               {flat(c, x), flat(c, c.cast(c.tensor(1), DType::Int64)), flat(c, c.cast(c.tensor(2), c.dtypeOf(x)))},
               std::move(attributes)),
        c.shapeOf(x)));
}
Results takeAlong(C& c) {
    NodeId x = c.tensor(0), places = c.tensor(1);
    if (!c.has(2)) return one(c.make("GatherElements", {flat(c, x), flat(c, places)}, {{"axis", std::int64_t{0}}}));
    const std::int64_t axis = c.axis(2, c.shapeOf(x).rank());
    Ints from = c.shapeOf(x).dims(), to = c.shapeOf(places).dims();
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (static_cast<std::int64_t>(i) != axis) from[i] = to[i] = std::max(from[i], to[i]);
    }
    return one(
        c.make("GatherElements", {expanded(c, x, Shape(from)), expanded(c, places, Shape(to))}, {{"axis", axis}}));
}
Results oneHot(C& c) {
    const NodeId classes = c.tensor(0);
    const Shape shape = c.result().shape();
    NodeId depth = c.scalar(static_cast<double>(shape[shape.rank() - 1]), DType::Int64);
    if (!c.has(1) || c.integer(1) < 0) {
        // As many as the largest class says.
        c.opensShapes();
        const NodeId largest = c.opOf("ReduceMax", {classes}, {{"keepdims", std::int64_t{0}}}, DType::Int64, Shape{});
        depth = c.make("Add", {largest, c.scalar(1, DType::Int64)});
    }
    return one(c.opOf("OneHot", {classes, depth, c.constant(Tensor::of<std::int64_t>(Shape{2}, Ints{0, 1}))},
                      {{"axis", std::int64_t{-1}}}, DType::Int64, shape));
}

/// Torch counts pads from the last axis: [before, after] of the last, of the one before it …
Results padded(C& c, std::string mode, std::optional<double> value) {
    const NodeId x = c.tensor(0);
    const std::size_t rank = c.shapeOf(x).rank();
    const Ints pads = c.integers(1);
    if (mode == "circular" || pads.size() > 2 * rank) C::fail("unsupported padding");
    Ints all(2 * rank, 0);
    for (std::size_t i = 0; i + 1 < pads.size(); i += 2) {
        const std::size_t axis = rank - 1 - i / 2;
        all[axis] = pads[i];
        all[rank + axis] = pads[i + 1];
    }
    const bool isConstant = mode == "constant";
    if (mode == "replicate") mode = "edge";
    return one(
        c.make("Pad", {x, c.integersNode(all), isConstant ? c.like(value.value_or(0)) : NodeId{}}, {{"mode", mode}}));
}
Results pad(C& c) {
    const std::string mode = c.text(2).empty() ? "constant" : c.text(2);
    if (mode == "circular") return lowerRearrangement(c);
    return padded(c, mode, c.number(3, 0));
}

Results meshgrid(C& c) {
    const std::vector<NodeId> axes = c.tensors(0);
    const bool swaps = c.text(1) == "xy" && axes.size() > 1;
    std::vector<Argument> items;
    const Shape shape = c.results()[0].items()[0].tensor().shape();
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t at = swaps && i < 2 ? 1 - i : i;
        Ints dims(axes.size(), 1);
        dims[at] = c.shapeOf(axes[i]).numel();
        items.push_back(Argument::of(expanded(c, c.reshaped(axes[i], Shape(dims)), shape)));
    }
    return {Argument::container(Argument::Kind::List, std::move(items))};
}
Results broadcastAll(C& c) {
    const Shape shape = c.results()[0].items()[0].tensor().shape();
    std::vector<Argument> items;
    for (NodeId x : c.tensors(0)) items.push_back(Argument::of(expanded(c, x, shape)));
    return {Argument::container(Argument::Kind::List, std::move(items))};
}
/// hstack, vstack, dstack, column_stack: at least so many axes, then joined.
Results stacked(C& c, std::size_t least, std::int64_t axis, bool atEnd) {
    std::vector<NodeId> parts;
    for (NodeId x : c.tensors(0)) {
        Ints dims = c.shapeOf(x).dims();
        if (atEnd && dims.empty()) dims.push_back(1);
        if (least == 3 && dims.size() == 1) dims.insert(dims.begin(), 1);
        while (dims.size() < least) dims.insert(atEnd ? dims.end() : dims.begin(), 1);
        parts.push_back(c.cast(c.reshaped(x, Shape(dims)), c.result().dtype()));
    }
    if (axis < 0) axis = c.shapeOf(parts[0]).rank() > 1 ? 1 : 0;
    return one(c.make("Concat", parts, {{"axis", axis}}));
}
Results atLeast(C& c) {
    if (c.results()[0].isTensor()) return one(c.reshaped(c.tensor(0), c.result().shape()));
    std::vector<Argument> items;
    const std::vector<NodeId> parts = c.tensors(0);
    for (std::size_t i = 0; i < parts.size(); ++i)
        items.push_back(Argument::of(c.reshaped(parts[i], c.results()[0].items()[i].tensor().shape())));
    return {Argument::container(Argument::Kind::List, std::move(items))};
}
Results tile(C& c) {
    Ints times = c.integers(1);
    NodeId x = c.tensor(0);
    Ints dims = c.shapeOf(x).dims();
    while (dims.size() < times.size()) dims.insert(dims.begin(), 1);
    while (times.size() < dims.size()) times.insert(times.begin(), 1);
    return one(c.make("Tile", {c.reshaped(x, Shape(dims)), c.integersNode(times)}));
}
/// x[i+1] - x[i], n times.
Results diff(C& c) {
    NodeId x = c.tensor(0);
    const std::int64_t axis = c.axis(2, c.shapeOf(x).rank());
    std::vector<NodeId> parts;
    if (c.has(3)) parts.push_back(c.tensor(3));
    parts.push_back(x);
    if (c.has(4)) parts.push_back(c.tensor(4));
    if (parts.size() > 1) x = c.make("Concat", parts, {{"axis", axis}});
    for (std::int64_t n = c.integer(1); n > 0; --n) {
        const std::int64_t dimSize = c.shapeOf(x)[static_cast<std::size_t>(axis)];
        const auto part = [&](std::int64_t from, std::int64_t to) {
            return c.make("Slice", {x, c.integersNode({from}), c.integersNode({to}), c.integersNode({axis})});
        };
        x = c.make("Sub", {part(1, dimSize), part(0, dimSize - 1)});
    }
    return one(x);
}
/// torchvision's nms(boxes, scores, threshold): the boxes kept, best first.
Results suppressed(C& c) {
    const std::int64_t count = c.shapeOf(c.tensor(1)).numel(), kept = c.result().numel();
    c.opensShapes();
    const NodeId picks =
        c.opOf("NonMaxSuppression",
               {c.reshaped(c.tensor(0), Shape{1, count, 4}), c.reshaped(c.tensor(1), Shape{1, 1, count}),
                c.integersNode({count}),
                c.constant(Tensor::of<float>(Shape{1}, std::vector<float>{static_cast<float>(c.number(2))}))},
               {}, DType::Int64, Shape{kept, 3});
    return one(c.opOf("Gather", {picks, c.constant(Tensor::scalar<std::int64_t>(2))}, {{"axis", std::int64_t{1}}},
                      DType::Int64, Shape{kept}));
}
/// The parts of a list as results of their own.
Results unpacked(C& c) {
    const Argument& list = c.argument(0);
    if (!list.items.empty()) return list.items;
    Results results;
    for (const Value& item : c.value(0).items()) results.push_back(Argument::of(item));
    return results;
}
/// x[i, i, …] for every i.
Results fillDiagonal(C& c) {
    if (c.flag(2)) C::fail("a diagonal that wraps");
    const NodeId x = c.tensor(0);
    const Shape shape = c.shapeOf(x);
    std::int64_t step = 0, stride = 1, length = shape.rank() > 0 ? shape[0] : 0;
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        step += stride;
        stride *= shape[axis];
        length = std::min(length, shape[axis]);
    }
    Ints places;
    for (std::int64_t i = 0; i < length; ++i) places.push_back(i * step);
    return one(written(c, x, Tensor::of<std::int64_t>(Shape{length}, places), c.tensor(1, c.dtypeOf(x))));
}

}  // namespace

void addIndexRules(LoweringRules& rules) {
    const auto add = [&rules](std::string_view name, LoweringRule rule) { rules.insert_or_assign(name, rule); };
    add("index", index);
    for (std::string_view name : {"index_put", "_unsafe_index_put"}) add(name, indexPut);
    add("setitem", setItem);
    add("slice_scatter", [](C& c) {
        return writtenAt(c, "aten", "slice.Tensor",
                         {plainValue(c.argument(2)), plainValue(c.argument(3)), plainValue(c.argument(4)),
                          plainValue(c.argument(5))},
                         1);
    });
    add("select_scatter", [](C& c) {
        return writtenAt(c, "aten", "select.int", {plainValue(c.argument(2)), plainValue(c.argument(3))}, 1);
    });
    add("diagonal_scatter", [](C& c) {
        return writtenAt(c, "aten", "diagonal",
                         {plainValue(c.argument(2)), plainValue(c.argument(3)), plainValue(c.argument(4))}, 1);
    });
    add("fill_diagonal", fillDiagonal);
    for (std::string_view name : {"scatter", "scatter_reduce"}) add(name, [](C& c) { return scatter(c, nullptr); });
    add("scatter_add", [](C& c) { return scatter(c, "add"); });
    add("index_add", [](C& c) { return indexAlong(c, true); });
    for (std::string_view name : {"index_copy", "index_fill"}) add(name, [](C& c) { return indexAlong(c, false); });
    add("masked_select", maskedSelect);
    add("masked_scatter", maskedScatter);
    for (std::string_view name : {"nonzero", "argwhere"}) add(name, nonZero);
    add("nonzero_numpy", nonZeroByAxis);
    add("take", take);
    add("put", put);
    add("take_along_dim", takeAlong);
    add("one_hot", oneHot);
    for (std::string_view name : {"constant_pad_nd"})
        add(name, [](C& c) { return padded(c, "constant", c.number(2, 0)); });
    for (std::string_view name : {"reflection_pad1d", "reflection_pad2d", "reflection_pad3d"})
        add(name, [](C& c) { return padded(c, "reflect", {}); });
    for (std::string_view name : {"replication_pad1d", "replication_pad2d", "replication_pad3d"})
        add(name, [](C& c) { return padded(c, "edge", {}); });
    add("pad", pad);
    add("meshgrid", meshgrid);
    add("broadcast_tensors", broadcastAll);
    add("broadcast_to", [](C& c) { return one(expanded(c, c.tensor(0), c.result().shape())); });
    add("hstack", [](C& c) { return stacked(c, 1, -1, false); });
    for (std::string_view name : {"vstack", "row_stack"}) add(name, [](C& c) { return stacked(c, 2, 0, false); });
    add("dstack", [](C& c) { return stacked(c, 3, 2, true); });
    add("column_stack", [](C& c) { return stacked(c, 2, 1, true); });
    for (std::string_view name : {"atleast_1d", "atleast_2d", "atleast_3d"}) add(name, atLeast);
    add("tile", tile);
    add("repeat_interleave", [](C& c) {
        if (c.expr().op.name.ends_with(".Tensor")) C::fail("repetitions that depend on the data");
        return lowerRearrangement(c);
    });
    add("where", [](C& c) {
        if (c.count() < 2) return nonZeroByAxis(c);
        return one(c.make("Where", {c.cast(c.tensor(0), DType::Bool), c.in(1), c.in(2)}));
    });
    add("nms", suppressed);
    add("diff", diff);
    add("ravel", [](C& c) { return one(flat(c, c.tensor(0))); });
    for (std::string_view name : {"ListUnpack", "TupleUnpack"}) add(name, unpacked);
    // Where elements only move.
    // clang-format off
    for (std::string_view name : {"adjoint", "mH", "matrix_H", "rot90", "fliplr", "flipud", "as_strided", "diagonal", "linalg_diagonal", "tensor_split", "hsplit", "vsplit",
                                  "dsplit", "_pad_circular", "fft_fftshift", "fft_ifftshift", "native_channel_shuffle", "moveaxis", "unsafe_chunk"}) {
        add(name, lowerRearrangement);
    }
    // clang-format on
    for (std::string_view name : {"diag_embed", "diag", "diagflat", "im2col"}) add(name, lowerRearrangementWithZeros);
}

}  // namespace sonde::exporting
