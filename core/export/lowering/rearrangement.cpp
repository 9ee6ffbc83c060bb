#include <algorithm>
#include <limits>
#include <optional>

#include "core/export/lowering/lowering.h"
#include "core/tensor/slice_value.h"

namespace sonde::exporting {

namespace {

std::vector<std::int64_t> stridesOf(const Shape& shape) {
    std::vector<std::int64_t> strides(shape.rank(), 1);
    for (std::size_t i = shape.rank(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
}

/// Part of an axis of the source, and where it went.
struct Run {
    std::int64_t start = 0, count = 1, step = 1;
    std::optional<std::size_t> to;
};

/// One run for each axis of x if `places` is such a box of x; nothing if it is not.
std::optional<std::vector<Run>> boxOf(const Shape& x, const Tensor& places) {
    if (x.numel() == 0 || places.numel() == 0) return std::nullopt;
    const std::vector<std::int64_t> from = stridesOf(x), to = stridesOf(places.shape());
    const std::int64_t* at = places.data<std::int64_t>();
    std::vector<Run> runs(x.rank());
    for (std::size_t axis = 0; axis < x.rank(); ++axis) runs[axis].start = at[0] / from[axis] % x[axis];
    std::vector<std::int64_t> steps(places.rank(), 0);
    for (std::size_t k = 0; k < places.rank(); ++k) {
        const std::int64_t dimSize = places.dim(k);
        if (dimSize < 2) continue;
        steps[k] = at[to[k]] - at[0];
        bool found = false;
        for (std::size_t axis = 0; axis < x.rank() && !found; ++axis) {
            if (runs[axis].to || x[axis] < 2 || steps[k] == 0 || steps[k] % from[axis] != 0) continue;
            const std::int64_t step = steps[k] / from[axis], last = runs[axis].start + step * (dimSize - 1);
            if (last < 0 || last >= x[axis]) continue;
            runs[axis] = {runs[axis].start, dimSize, step, k};
            found = true;
        }
        if (!found) return std::nullopt;
    }
    // Every element must be where the runs say.
    for (std::int64_t i = 0; i < places.numel(); ++i) {
        std::int64_t expected = at[0];
        for (std::size_t k = 0; k < places.rank(); ++k) expected += i / to[k] % places.dim(k) * steps[k];
        if (at[i] != expected) return std::nullopt;
    }
    return runs;
}

NodeId place(LoweredCall& call, NodeId x, const Tensor& places, DType dtype) {
    const Shape from = call.shapeOf(x);
    if (identical(places, Tensor::of<std::int64_t>(places.shape(),
                                                   [&] {
                                                       std::vector<std::int64_t> counted(
                                                           static_cast<std::size_t>(places.numel()));
                                                       for (std::size_t i = 0; i < counted.size(); ++i)
                                                           counted[i] = static_cast<std::int64_t>(i);
                                                       return counted;
                                                   }())) &&
        places.numel() == from.numel()) {
        return call.reshaped(x, places.shape());
    }
    if (const auto runs = boxOf(from, places)) {
        std::vector<std::int64_t> starts, ends, axes, steps, cut = from.dims(), order;
        for (std::size_t axis = 0; axis < runs->size(); ++axis) {
            const Run& run = (*runs)[axis];
            cut[axis] = run.count;
            if (run.count == from[axis] && run.step == 1) continue;
            const std::int64_t end = run.start + run.step * (run.count - 1) + (run.step > 0 ? 1 : -1);
            starts.push_back(run.start);
            // Below zero would count from the end.
            ends.push_back(end < 0 ? std::numeric_limits<std::int64_t>::min() : end);
            axes.push_back(static_cast<std::int64_t>(axis));
            steps.push_back(run.step);
        }
        if (!axes.empty()) {
            x = call.opOf("Slice",
                          {x, call.integersNode(starts), call.integersNode(ends), call.integersNode(axes),
                           call.integersNode(steps)},
                          {}, dtype, Shape(cut));
        }
        for (std::size_t axis = 0; axis < runs->size(); ++axis) order.push_back(static_cast<std::int64_t>(axis));
        // Axes of one element may stand anywhere.
        std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
            const auto &left = (*runs)[static_cast<std::size_t>(a)].to,
                       &right = (*runs)[static_cast<std::size_t>(b)].to;
            return left.value_or(0) < right.value_or(0) && left && right;
        });
        std::vector<std::int64_t> moved;
        for (std::int64_t axis : order) {
            if ((*runs)[static_cast<std::size_t>(axis)].to)
                moved.push_back(static_cast<std::int64_t>(*(*runs)[static_cast<std::size_t>(axis)].to));
        }
        if (std::is_sorted(moved.begin(), moved.end())) {
            if (!std::is_sorted(order.begin(), order.end())) x = call.permuted(x, order);
            return call.reshaped(x, places.shape());
        }
    }
    const NodeId flat = call.reshaped(x, Shape{from.numel()});
    return call.opOf("Gather", {flat, call.constant(places)}, {{"axis", std::int64_t{0}}}, dtype, places.shape());
}

/// With zeros: places count from 1, and 0 is no element of x.
NodeId placeWithZeros(LoweredCall& call, NodeId x, const Tensor& places, DType dtype) {
    const NodeId flat = call.reshaped(x, Shape{call.shapeOf(x).numel()});
    const NodeId longer = call.opOf("Concat", {call.reshaped(call.scalar(0, dtype), Shape{1}), flat},
                                    {{"axis", std::int64_t{0}}}, dtype, Shape{call.shapeOf(x).numel() + 1});
    return call.opOf("Gather", {longer, call.constant(places)}, {{"axis", std::int64_t{0}}}, dtype, places.shape());
}

Argument placed(LoweredCall& call, NodeId x, const Value& made, bool zeros) {
    if (made.isTensor()) {
        const auto whole = made.tensor().cast(DType::Int64);
        const auto packed = whole ? whole->contiguous() : whole;
        if (!packed) LoweredCall::fail("it is not a rearrangement");
        return Argument::of(zeros ? placeWithZeros(call, x, *packed, call.dtypeOf(x))
                                  : place(call, x, *packed, call.dtypeOf(x)));
    }
    if (!made.isListLike()) LoweredCall::fail("it is not a rearrangement");
    std::vector<Argument> items;
    for (const Value& item : made.items()) items.push_back(placed(call, x, item, zeros));
    return Argument::container(Argument::Kind::List, std::move(items));
}

std::vector<Value> counted(const graph::Expr& expr, const Shape& shape, std::int64_t first, DType dtype,
                           std::vector<Value> arguments) {
    const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    if (!op) LoweredCall::fail("it is not known");
    // Floats count so far; 8 bytes for each element are taken for integers.
    const std::int64_t most = std::int64_t{1} << (tensor::isFloating(dtype) ? 24 : 28);
    if (shape.numel() >= most) LoweredCall::fail("it is too large to be followed");
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i) + first;
    const auto typed = Tensor::of<std::int64_t>(shape, numbers).cast(dtype);
    if (!typed) LoweredCall::fail(typed.error().what);
    arguments.insert(arguments.begin(), Value(*typed));
    base::ThreadPool pool(1);
    ops::RunEnvironment environment;
    environment.pool = &pool;
    auto made =
        ops::call(*op, arguments, {}, std::max<std::size_t>(expr.outputs.size(), 1), environment, expr.op.version);
    if (!made) LoweredCall::fail(made.error().what);
    return std::move(*made);
}

std::vector<Argument> rearranged(LoweredCall& call, bool zeros) {
    const NodeId x = call.tensor(0);
    if (call.isOpen(x)) call.fixesSizes();
    std::vector<Value> arguments;
    for (std::size_t i = 1; i < call.count(); ++i) arguments.push_back(plainValue(call.argument(i)));
    std::vector<Argument> results;
    for (const Value& value :
         counted(call.expr(), call.shapeOf(x), zeros ? 1 : 0, zeros ? DType::Float32 : DType::Int64, arguments))
        results.push_back(placed(call, x, value, zeros));
    return results;
}

}  // namespace

Value plainValue(const Argument& argument) {
    if (argument.kind == Argument::Kind::Constant) return argument.constant;
    if (argument.kind == Argument::Kind::Omitted) return {};
    tensor::ValueList items;
    if (argument.kind == Argument::Kind::Slice && argument.items.size() == 3) {
        return Value::object(std::make_shared<tensor::SliceValue>(
            plainValue(argument.items[0]), plainValue(argument.items[1]), plainValue(argument.items[2])));
    }
    if (argument.kind != Argument::Kind::List && argument.kind != Argument::Kind::Tuple)
        LoweredCall::fail("an index depends on the data");
    for (const Argument& item : argument.items) items.push_back(plainValue(item));
    return argument.kind == Argument::Kind::List ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

std::vector<Argument> lowerRearrangement(LoweredCall& call) { return rearranged(call, false); }
std::vector<Argument> lowerRearrangementWithZeros(LoweredCall& call) { return rearranged(call, true); }

Tensor placesOf(std::string_view domain, std::string_view name, const Shape& shape, std::vector<Value> arguments) {
    graph::Expr expr;
    expr.op.domain = domain;
    expr.op.name = name;
    const std::vector<Value> made = counted(expr, shape, 0, DType::Int64, std::move(arguments));
    if (!made.front().isTensor()) LoweredCall::fail("it is not an element of a tensor");
    const auto packed = made.front().tensor().contiguous();
    if (!packed) LoweredCall::fail(packed.error().what);
    return *packed;
}

}  // namespace sonde::exporting
