#include <algorithm>
#include <limits>
#include <optional>

#include "core/document/lowering/lowering.h"
#include "core/tensor/slice_value.h"

namespace sonde::document {

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
        const std::int64_t extent = places.dim(k);
        if (extent < 2) continue;
        steps[k] = at[to[k]] - at[0];
        bool found = false;
        for (std::size_t axis = 0; axis < x.rank() && !found; ++axis) {
            if (runs[axis].to || x[axis] < 2 || steps[k] == 0 || steps[k] % from[axis] != 0) continue;
            const std::int64_t step = steps[k] / from[axis], last = runs[axis].start + step * (extent - 1);
            if (last < 0 || last >= x[axis]) continue;
            runs[axis] = {runs[axis].start, extent, step, k};
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
    if (identical(places, Tensor::of<std::int64_t>(places.shape(), [&] {
            std::vector<std::int64_t> counted(static_cast<std::size_t>(places.numel()));
            for (std::size_t i = 0; i < counted.size(); ++i) counted[i] = static_cast<std::int64_t>(i);
            return counted;
        }())) && places.numel() == from.numel()) {
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
            x = call.opOf("Slice", {x, call.integersNode(starts), call.integersNode(ends), call.integersNode(axes), call.integersNode(steps)}, {}, dtype, Shape(cut));
        }
        for (std::size_t axis = 0; axis < runs->size(); ++axis) order.push_back(static_cast<std::int64_t>(axis));
        // Axes of one element may stand anywhere.
        std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
            const auto &left = (*runs)[static_cast<std::size_t>(a)].to, &right = (*runs)[static_cast<std::size_t>(b)].to;
            return left.value_or(0) < right.value_or(0) && left && right;
        });
        std::vector<std::int64_t> moved;
        for (std::int64_t axis : order) {
            if ((*runs)[static_cast<std::size_t>(axis)].to) moved.push_back(static_cast<std::int64_t>(*(*runs)[static_cast<std::size_t>(axis)].to));
        }
        if (std::is_sorted(moved.begin(), moved.end())) {
            if (!std::is_sorted(order.begin(), order.end())) x = call.permuted(x, order);
            return call.reshaped(x, places.shape());
        }
    }
    const NodeId flat = call.reshaped(x, Shape{from.numel()});
    return call.opOf("Gather", {flat, call.constant(places)}, {{"axis", std::int64_t{0}}}, dtype, places.shape());
}

Argument placed(LoweredCall& call, NodeId x, const Value& made) {
    if (made.isTensor()) {
        const auto packed = made.tensor().contiguous();
        if (!packed || packed->dtype() != DType::Int64) LoweredCall::fail("it is no rearrangement");
        return Argument::of(place(call, x, *packed, call.dtypeOf(x)));
    }
    if (!made.isListLike()) LoweredCall::fail("it is no rearrangement");
    std::vector<Argument> items;
    for (const Value& item : made.items()) items.push_back(placed(call, x, item));
    return Argument::container(Argument::Kind::List, std::move(items));
}

Value plain(const Argument& argument) {
    if (argument.kind == Argument::Kind::Constant) return argument.constant;
    if (argument.kind == Argument::Kind::Omitted) return {};
    tensor::ValueList items;
    if (argument.kind == Argument::Kind::Slice && argument.items.size() == 3) {
        return Value::object(std::make_shared<tensor::SliceValue>(plain(argument.items[0]), plain(argument.items[1]), plain(argument.items[2])));
    }
    if (argument.kind != Argument::Kind::List && argument.kind != Argument::Kind::Tuple) LoweredCall::fail("an index depends on the data");
    for (const Argument& item : argument.items) items.push_back(plain(item));
    return argument.kind == Argument::Kind::List ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

}  // namespace

std::vector<Argument> lowerRearrangement(LoweredCall& call) {
    const graph::Expr& expr = call.expr();
    const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    const NodeId x = call.tensor(0);
    const Shape shape = call.shapeOf(x);
    std::vector<std::int64_t> counted(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < counted.size(); ++i) counted[i] = static_cast<std::int64_t>(i);
    std::vector<Value> inputs{Value(Tensor::of<std::int64_t>(shape, counted))};
    for (std::size_t i = 1; i < call.count(); ++i) inputs.push_back(plain(call.argument(i)));
    base::ThreadPool pool(1);
    ops::RunEnvironment environment;
    environment.pool = &pool;
    if (!op) LoweredCall::fail("it is not known");
    const auto made = ops::call(*op, inputs, {}, expr.outputs.size(), environment, expr.op.version);
    if (!made) LoweredCall::fail(made.error().what);
    std::vector<Argument> results;
    for (const Value& value : *made) results.push_back(placed(call, x, value));
    return results;
}

}  // namespace sonde::document
