// Pools, norms, products and cells in ONNX operators.

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/export/lowering/lowering.h"

namespace sonde::exporting {

namespace {

using Results = std::vector<Argument>;
using C = LoweredCall;
using Ints = std::vector<std::int64_t>;

NodeId sliced(C& c, NodeId x, std::int64_t from, std::int64_t to, std::int64_t axis) {
    return c.make("Slice", {x, c.integersNode({from}), c.integersNode({to}), c.integersNode({axis})});
}
NodeId linear(C& c, NodeId x, NodeId w, NodeId b) {
    NodeId y = c.make("MatMul", {x, c.shapeOf(w).rank() == 2 ? c.permuted(w, {1, 0}) : w});
    return b.valid() ? c.make("Add", {y, b}) : y;
}

// ---- pools

/// x without the batch that torch lets one leave out, as one with it.
struct Batched {
    NodeId x;
    bool added = false;
};
Batched batched(C& c, NodeId x, std::size_t rank) {
    if (c.shapeOf(x).rank() != rank + 1) return {x, false};
    Ints dims = c.shapeOf(x).dims();
    dims.insert(dims.begin(), 1);
    return {c.reshaped(x, Shape(dims)), true};
}
NodeId unbatched(C& c, NodeId y, bool added) {
    if (!added) return y;
    Ints dims = c.shapeOf(y).dims();
    dims.erase(dims.begin());
    return c.reshaped(y, Shape(dims));
}
std::size_t rankInName(const C& c) {
    const std::string& name = c.expr().op.name;
    for (std::size_t i = 0; i + 1 < name.size(); ++i) {
        if (name[i] >= '1' && name[i] <= '3' && name[i + 1] == 'd') return static_cast<std::size_t>(name[i] - '0');
    }
    C::fail("a pool of unknown rank");
}
tensor::Attributes windowOf(C& c, std::size_t rank, std::size_t dilationAt, std::size_t ceilAt) {
    Ints pads = c.spread(3, rank, 0);
    pads.insert(pads.end(), pads.begin(), pads.end());
    const Ints kernel = c.spread(1, rank, 1);
    tensor::Attributes attributes{{"kernel_shape", kernel},
                                  {"strides", c.has(2) && !c.integers(2).empty() ? c.spread(2, rank, 1) : kernel},
                                  {"pads", pads},
                                  {"ceil_mode", std::int64_t{c.flag(ceilAt)}}};
    if (dilationAt > 0) attributes.set("dilations", c.spread(dilationAt, rank, 1));
    return attributes;
}
std::int64_t planeOf(const Shape& shape) {
    std::int64_t plane = 1;
    for (std::size_t i = 2; i < shape.rank(); ++i) plane *= shape[i];
    return plane;
}
/// Places are counted over the whole tensor by ONNX, in each plane by torch.
Results maxPool(C& c) {
    const std::size_t rank = rankInName(c);
    const Batched x = batched(c, c.tensor(0), rank);
    const bool places = c.expr().outputs.size() > 1;
    const std::vector<NodeId> made = c.makeAll("MaxPool", {x.x}, windowOf(c, rank, 4, 5), places ? 2 : 1);
    Results results = one(unbatched(c, made[0], x.added));
    if (places)
        results.push_back(Argument::of(
            unbatched(c, c.make("Mod", {made[1], c.scalar(static_cast<double>(planeOf(c.shapeOf(x.x))), DType::Int64)}),
                      x.added)));
    return results;
}
Results averagePool(C& c) {
    const std::size_t rank = rankInName(c);
    const Batched x = batched(c, c.tensor(0), rank);
    tensor::Attributes attributes = windowOf(c, rank, 0, 4);
    const bool divides = c.has(6);
    attributes.set("count_include_pad", std::int64_t{divides || !c.has(5) || c.flag(5)});
    if (divides && c.flag(4)) C::fail("a pool with divisor_override and a truncated last window");
    NodeId y = c.make("AveragePool", {x.x}, std::move(attributes));
    if (divides) {
        double size = 1;
        for (std::int64_t dimSize : c.spread(1, rank, 1)) size *= static_cast<double>(dimSize);
        y = c.make("Mul", {y, c.like(size / c.number(6))});
    }
    return one(unbatched(c, y, x.added));
}
/// Window i of n out of a dimension of that size: floor(i·size/n) to ceil((i + 1)·size/n).
std::pair<std::int64_t, std::int64_t> adaptiveWindow(std::int64_t i, std::int64_t n, std::int64_t dimSize) {
    return {i * dimSize / n, ((i + 1) * dimSize + n - 1) / n};
}

/// The axis as a product with a matrix [size, n], whose columns are the windows.
NodeId meanOfWindows(C& c, NodeId x, std::size_t axis, std::int64_t n) {
    const Shape shape = c.shapeOf(x);
    const std::int64_t dimSize = shape[axis];
    std::vector<double> windows(static_cast<std::size_t>(dimSize * n), 0.0);
    for (std::int64_t k = 0; k < n; ++k) {
        const auto [start, end] = adaptiveWindow(k, n, dimSize);
        for (std::int64_t at = start; at < end; ++at)
            windows[static_cast<std::size_t>(at * n + k)] = 1 / static_cast<double>(end - start);
    }
    const auto typed = Tensor::of<double>(Shape{dimSize, n}, windows).cast(c.dtypeOf(x));
    if (!typed) C::fail(typed.error().what);
    Ints last;
    for (std::size_t i = 0; i < shape.rank(); ++i) last.push_back(static_cast<std::int64_t>(i));
    std::swap(last[axis], last.back());
    const bool isLast = axis + 1 == shape.rank();
    const NodeId y = c.make("MatMul", {isLast ? x : c.permuted(x, last), c.constant(*typed)});
    return isLast ? y : c.permuted(y, last);
}
/// Windows differ by one element: each as long as the longest, its last element once more where it is shorter.
NodeId largestInWindows(C& c, NodeId x, std::size_t axis, std::int64_t n) {
    const Shape shape = c.shapeOf(x);
    const std::int64_t dimSize = shape[axis];
    std::int64_t longest = 1;
    for (std::int64_t k = 0; k < n; ++k) {
        const auto [start, end] = adaptiveWindow(k, n, dimSize);
        longest = std::max(longest, end - start);
    }
    Ints places;
    for (std::int64_t k = 0; k < n; ++k) {
        const auto [start, end] = adaptiveWindow(k, n, dimSize);
        for (std::int64_t i = 0; i < longest; ++i) places.push_back(std::min(start + i, end - 1));
    }
    const auto at = static_cast<std::int64_t>(axis);
    const NodeId windows =
        c.make("Gather", {x, c.constant(Tensor::of<std::int64_t>(Shape{n, longest}, places))}, {{"axis", at}});
    return c.make("ReduceMax", {windows, c.integersNode({at + 1})}, {{"keepdims", std::int64_t{0}}});
}

Results adaptivePool(C& c, bool isMax) {
    const std::size_t rank = rankInName(c);
    const Batched in = batched(c, c.tensor(0), rank);
    NodeId x = in.x;
    const Shape from = c.shapeOf(x), to = c.result().shape();
    const std::size_t skip = to.rank() - rank;
    if (isMax && c.expr().outputs.size() > 1 &&
        !std::all_of(to.begin() + static_cast<std::ptrdiff_t>(skip), to.end(), [](std::int64_t n) { return n > 0; }))
        C::fail("an empty pool");
    Ints kernel;
    bool even = true, global = true;
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t n = to[skip + i], dimSize = from[i + 2];
        global = global && n == 1;
        even = even && n > 0 && dimSize % n == 0;
        kernel.push_back(n > 0 ? dimSize / n : 1);
    }
    if (even && (!isMax || c.expr().outputs.size() < 2)) {
        if (global) return one(unbatched(c, c.make(isMax ? "GlobalMaxPool" : "GlobalAveragePool", {x}), in.added));
        return one(unbatched(
            c, c.make(isMax ? "MaxPool" : "AveragePool", {x}, {{"kernel_shape", kernel}, {"strides", kernel}}),
            in.added));
    }
    if (even) {
        const std::vector<NodeId> made = c.makeAll("MaxPool", {x}, {{"kernel_shape", kernel}, {"strides", kernel}}, 2);
        return {
            Argument::of(unbatched(c, made[0], in.added)),
            Argument::of(unbatched(
                c, c.make("Mod", {made[1], c.scalar(static_cast<double>(planeOf(from)), DType::Int64)}), in.added))};
    }
    if (isMax && c.expr().outputs.size() > 1) C::fail("indices of an adaptive pool whose windows differ in size");
    // Axis by axis: the mean of means over windows of one size each is the mean of all.
    for (std::size_t i = 0; i < rank; ++i)
        x = isMax ? largestInWindows(c, x, i + 2, to[skip + i]) : meanOfWindows(c, x, i + 2, to[skip + i]);
    return one(unbatched(c, x, in.added));
}
/// Each value at the place that its pool noted, zeros elsewhere.
Results maxUnpool(C& c) {
    const NodeId x = c.tensor(0);
    const Shape shape = c.shapeOf(x), to = c.result().shape();
    const std::size_t rank = rankInName(c);
    if (shape.rank() != rank + 2) C::fail("an input without batch");
    const Shape lines{shape[0], shape[1], planeOf(shape)};
    const NodeId zeros = c.constant(Tensor::zeros(c.dtypeOf(x), Shape{shape[0], shape[1], planeOf(to)}).value());
    return one(c.reshaped(c.make("ScatterElements", {zeros, c.reshaped(c.tensor(1), lines), c.reshaped(x, lines)},
                                 {{"axis", std::int64_t{2}}}),
                          to));
}
Results fold(C& c) {
    NodeId x = c.tensor(0);
    const bool added = c.shapeOf(x).rank() == 2;
    if (added) x = c.reshaped(x, Shape{1, c.shapeOf(x)[0], c.shapeOf(x)[1]});
    Ints pads = c.spread(4, 2, 0);
    pads.insert(pads.end(), pads.begin(), pads.end());
    const Shape wanted = added ? Shape{1, c.result().dim(0), c.result().dim(1), c.result().dim(2)} : c.result().shape();
    const NodeId y = c.opOf("Col2Im", {x, c.integersNode(c.spread(1, 2, 1)), c.integersNode(c.spread(2, 2, 1))},
                            {{"dilations", c.spread(3, 2, 1)}, {"pads", pads}, {"strides", c.spread(5, 2, 1)}},
                            c.result().dtype(), wanted);
    return one(unbatched(c, y, added));
}

// ---- norms

/// Scale and shift are on axis 1.
NodeId byChannel(C& c, NodeId y, std::size_t weight, std::size_t bias) {
    Ints channel(c.shapeOf(y).rank() - 1, 1);
    channel.front() = c.shapeOf(y)[1];
    if (c.has(weight)) y = c.make("Mul", {y, c.reshaped(c.tensor(weight), Shape(channel))});
    if (c.has(bias)) y = c.make("Add", {y, c.reshaped(c.tensor(bias), Shape(channel))});
    return y;
}
Results instanceNorm(C& c) {
    const NodeId x = c.tensor(0);
    const std::int64_t channels = c.shapeOf(x)[1];
    const NodeId scale = c.has(1) ? c.tensor(1) : c.filled({channels}, 1),
                 shift = c.has(2) ? c.tensor(2) : c.filled({channels}, 0);
    if (c.flag(5)) return one(c.make("InstanceNormalization", {x, scale, shift}, {{"epsilon", c.number(7, 1e-5)}}));
    return one(
        c.make("BatchNormalization", {x, scale, shift, c.tensor(3), c.tensor(4)}, {{"epsilon", c.number(7, 1e-5)}}));
}
/// Mean and 1/√(var + ε) over axes, as torch's native norms give them too.
struct Moments {
    NodeId mean, factor;
};
Moments momentsOf(C& c, NodeId x, const Ints& axes, double epsilon) {
    const auto mean = [&](NodeId z) {
        return c.make("ReduceMean", {z, c.integersNode(axes)}, {{"keepdims", std::int64_t{1}}});
    };
    const NodeId m = mean(x), d = c.make("Sub", {x, m});
    return {m,
            c.make("Reciprocal",
                   {c.make("Sqrt", {c.make("Add", {mean(c.make("Mul", {d, d})), c.scalar(epsilon, c.dtypeOf(x))})})})};
}
Results nativeLayerNorm(C& c) {
    const NodeId x = c.tensor(0);
    const Shape shape = c.shapeOf(x);
    const std::size_t count = c.integers(1).size();
    Ints axes;
    for (std::size_t i = shape.rank() - count; i < shape.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    const Moments moments = momentsOf(c, x, axes, c.number(4, 1e-5));
    NodeId y = c.make("Mul", {c.make("Sub", {x, moments.mean}), moments.factor});
    if (c.has(2)) y = c.make("Mul", {y, c.tensor(2)});
    if (c.has(3)) y = c.make("Add", {y, c.tensor(3)});
    return {Argument::of(y), Argument::of(moments.mean), Argument::of(moments.factor)};
}
Results nativeGroupNorm(C& c) {
    const NodeId x = c.tensor(0);
    const Shape shape = c.shapeOf(x);
    const std::int64_t groups = c.integer(6), n = shape[0];
    if (groups < 1 || shape.numel() == 0) C::fail("no groups");
    const NodeId grouped = c.reshaped(x, Shape{n, groups, shape.numel() / n / groups});
    const Moments moments = momentsOf(c, grouped, {2}, c.number(7, 1e-5));
    const NodeId y = c.reshaped(c.make("Mul", {c.make("Sub", {grouped, moments.mean}), moments.factor}), shape);
    return {Argument::of(byChannel(c, y, 1, 2)), Argument::of(c.reshaped(moments.mean, Shape{n, groups})),
            Argument::of(c.reshaped(moments.factor, Shape{n, groups}))};
}
/// In evaluation the saved moments are empty.
Results nativeBatchNorm(C& c) {
    if (c.expr().op.name.find("no_stats") != std::string::npos || c.flag(5) || !c.has(3))
        C::fail("batch_norm in training");
    const NodeId x = c.tensor(0);
    const std::int64_t channels = c.shapeOf(x)[1];
    const NodeId y = c.make("BatchNormalization",
                            {x, c.has(1) ? c.tensor(1) : c.filled({channels}, 1),
                             c.has(2) ? c.tensor(2) : c.filled({channels}, 0), c.tensor(3), c.tensor(4)},
                            {{"epsilon", c.number(7, 1e-5)}});
    Results results = one(y);
    for (std::size_t i = 1; i < 3; ++i)
        results.push_back(i < c.results().size() ? Argument::of(c.results()[i]) : Argument::omitted());
    return results;
}
Results rmsNorm(C& c) {
    const NodeId x = c.tensor(0);
    Ints axes;
    for (std::size_t i = c.integers(1).size(); i > 0; --i) axes.push_back(-static_cast<std::int64_t>(i));
    const NodeId mean =
        c.make("ReduceMean", {c.make("Mul", {x, x}), c.integersNode(axes)}, {{"keepdims", std::int64_t{1}}});
    const double epsilon = c.number(3, c.dtypeOf(x) == DType::Float64 ? 2.220446049250313e-16 : 1.1920929e-07);
    NodeId y = c.make("Div", {x, c.make("Sqrt", {c.make("Add", {mean, c.like(epsilon)})})});
    if (c.has(2)) y = c.make("Mul", {y, c.in(2)});
    return one(y);
}
/// v·g/‖v‖, the norm over all axes but one.
NodeId normExcept(C& c, NodeId v, std::int64_t axis) {
    Ints axes;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(c.shapeOf(v).rank()); ++i) {
        if (i != axis) axes.push_back(i);
    }
    return c.make("ReduceL2", {v, c.integersNode(axes)}, {{"keepdims", std::int64_t{1}}});
}
Results weightNorm(C& c) {
    const NodeId v = c.tensor(0);
    const std::int64_t axis = c.has(2) && c.integer(2) != -1 ? c.axis(2, c.shapeOf(v).rank()) : -1;
    return one(c.make("Mul", {v, c.make("Div", {c.tensor(1), normExcept(c, v, axis)})}));
}

// ---- products

/// With its result written out, and in small letters: runtimes read others otherwise. By themselves the letters that
/// appear once stand in the order of their codes, after the dots.
std::string plainEquation(std::string equation) {
    std::erase(equation, ' ');
    if (equation.find("->") == std::string::npos) {
        std::string result = equation.find('.') != std::string::npos ? "..." : "";
        for (char letter = 'A'; letter <= 'z'; ++letter)
            if (std::isalpha(static_cast<unsigned char>(letter)) && std::ranges::count(equation, letter) == 1)
                result += letter;
        equation += "->" + result;
    }
    std::string free;
    for (char letter = 'a'; letter <= 'z'; ++letter)
        if (equation.find(letter) == std::string::npos) free += letter;
    for (char letter = 'A'; letter <= 'Z'; ++letter) {
        if (equation.find(letter) == std::string::npos) continue;
        if (free.empty()) C::fail("an equation of more than 26 letters");
        std::ranges::replace(equation, letter, free.front());
        free.erase(0, 1);
    }
    return equation;
}
Results einsum(C& c) { return one(c.make("Einsum", c.tensors(1), {{"equation", plainEquation(c.text(0))}})); }
Results outer(C& c) {
    const std::int64_t n = c.shapeOf(c.tensor(0)).numel(), m = c.shapeOf(c.tensor(1)).numel();
    return one(c.make("Mul", {c.reshaped(c.in(0), Shape{n, 1}), c.reshaped(c.in(1), Shape{1, m})}));
}
/// The last axes of both; a number multiplies.
Results inner(C& c) {
    const NodeId a = c.tensor(0), b = c.tensor(1);
    const Shape left = c.shapeOf(a), right = c.shapeOf(b);
    if (left.rank() == 0 || right.rank() == 0) return one(c.make("Mul", {a, b}));
    const std::int64_t k = left[left.rank() - 1];
    const NodeId product =
        c.make("MatMul", {c.reshaped(a, Shape{left.numel() / std::max<std::int64_t>(k, 1), k}),
                          c.permuted(c.reshaped(b, Shape{right.numel() / std::max<std::int64_t>(k, 1), k}), {1, 0})});
    return one(c.reshaped(product, c.result().shape()));
}
Results tensorDot(C& c) {
    NodeId a = c.tensor(0), b = c.tensor(1);
    const Shape left = c.shapeOf(a), right = c.shapeOf(b);
    const Ints over = c.axes(2, left.rank()), with = c.axes(3, right.rank());
    if (c.integers(2).empty()) C::fail("a product over no axis");
    std::int64_t k = 1;
    for (std::int64_t axis : over) k *= left[static_cast<std::size_t>(axis)];
    const auto others = [](std::size_t rank, const Ints& axes) {
        Ints rest;
        for (std::size_t i = 0; i < rank; ++i) {
            if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end())
                rest.push_back(static_cast<std::int64_t>(i));
        }
        return rest;
    };
    Ints leftOrder = others(left.rank(), over), rightOrder = with;
    leftOrder.insert(leftOrder.end(), over.begin(), over.end());
    const Ints rest = others(right.rank(), with);
    rightOrder.insert(rightOrder.end(), rest.begin(), rest.end());
    a = c.reshaped(c.permuted(a, leftOrder), Shape{left.numel() / std::max<std::int64_t>(k, 1), k});
    b = c.reshaped(c.permuted(b, rightOrder), Shape{k, right.numel() / std::max<std::int64_t>(k, 1)});
    return one(c.reshaped(c.make("MatMul", {a, b}), c.result().shape()));
}
Results chained(C& c) {
    const std::vector<NodeId> factors = c.tensors(0);
    NodeId product = factors.at(0);
    for (std::size_t i = 1; i < factors.size(); ++i) product = c.make("MatMul", {product, factors[i]});
    return one(product);
}
Results kron(C& c) {
    const auto wide = [&](NodeId x, std::size_t rank, bool first) {
        Ints dims;
        const Shape shape = c.shapeOf(x);
        for (std::size_t i = 0; i < rank; ++i) {
            const std::int64_t dimSize = i + shape.rank() < rank ? 1 : shape[i + shape.rank() - rank];
            dims.push_back(first ? dimSize : 1);
            dims.push_back(first ? 1 : dimSize);
        }
        return c.reshaped(x, Shape(dims));
    };
    const std::size_t rank = c.result().rank();
    return one(c.reshaped(c.make("Mul", {wide(c.in(0), rank, true), wide(c.in(1), rank, false)}), c.result().shape()));
}
/// y[.., o] = x1·W[o]·x2ᵀ + b[o]
Results bilinear(C& c) {
    const NodeId a = c.tensor(0), b = c.tensor(1), w = c.tensor(2);
    const Shape weights = c.shapeOf(w);
    const std::int64_t rows = c.shapeOf(a).numel() / std::max<std::int64_t>(weights[1], 1);
    // [O, rows, J] = x1 [rows, I]·W [O, I, J]
    const NodeId left = c.make("MatMul", {c.reshaped(a, Shape{rows, weights[1]}), w});
    const NodeId product = c.make("Mul", {left, c.reshaped(b, Shape{1, rows, weights[2]})});
    NodeId y = c.permuted(c.make("ReduceSum", {product, c.integersNode({2})}, {{"keepdims", std::int64_t{0}}}), {1, 0});
    if (c.has(3)) y = c.make("Add", {y, c.tensor(3)});
    return one(c.reshaped(y, c.result().shape()));
}
Results cross(C& c) {
    const NodeId a = c.in(0), b = c.in(1);
    const Shape shape = c.result().shape();
    std::int64_t axis = -1;
    if (c.has(2)) axis = c.axis(2, shape.rank());
    for (std::size_t i = 0; i < shape.rank() && axis < 0; ++i) axis = shape[i] == 3 ? static_cast<std::int64_t>(i) : -1;
    const auto turned = [&](NodeId x, std::int64_t by) {
        return c.make("Gather",
                      {x, c.constant(Tensor::of<std::int64_t>(Shape{3}, Ints{by % 3, (by + 1) % 3, (by + 2) % 3}))},
                      {{"axis", axis}});
    };
    return one(
        c.make("Sub", {c.make("Mul", {turned(a, 1), turned(b, 2)}), c.make("Mul", {turned(a, 2), turned(b, 1)})}));
}

/// torchvision's roi_align(x, rois [K,5], scale, height, width, sampling ratio, aligned); the first column is the
/// picture.
Results roiAlign(C& c) {
    const NodeId rois = c.tensor(1);
    const std::int64_t count = c.shapeOf(rois)[0];
    const NodeId pictures = c.cast(c.reshaped(sliced(c, rois, 0, 1, 1), Shape{count}), DType::Int64);
    return one(
        c.make("RoiAlign", {c.tensor(0), sliced(c, rois, 1, 5, 1), pictures},
               {{"spatial_scale", c.number(2)},
                {"output_height", c.integer(3)},
                {"output_width", c.integer(4)},
                {"sampling_ratio", std::max<std::int64_t>(c.integer(5), 0)},
                {"coordinate_transformation_mode", std::string(c.flag(6) ? "half_pixel" : "output_half_pixel")}}));
}
/// A grid of places from -1 to 1 times thetaᵀ.
Results affineGrid(C& c) {
    const Ints size = c.integers(1);
    if (size.size() < 3) C::fail("a grid of unknown rank");
    const std::size_t rank = size.size() - 2;
    const bool align = c.flag(2);
    std::int64_t count = 1;
    for (std::size_t i = 0; i < rank; ++i) count *= size[i + 2];
    std::vector<double> base;
    for (std::int64_t place = 0; place < count; ++place) {
        std::vector<double> row(rank + 1, 1.0);
        std::int64_t rest = place;
        for (std::size_t i = rank; i-- > 0;) {
            const std::int64_t dimSize = size[i + 2], at = rest % dimSize;
            rest /= dimSize;
            // The last axis comes first in theta.
            row[rank - 1 - i] =
                align ? (dimSize > 1 ? 2.0 * static_cast<double>(at) / static_cast<double>(dimSize - 1) - 1 : 0)
                      : (2.0 * static_cast<double>(at) + 1) / static_cast<double>(dimSize) - 1;
        }
        base.insert(base.end(), row.begin(), row.end());
    }
    const auto typed =
        Tensor::of<double>(Shape{1, count, static_cast<std::int64_t>(rank) + 1}, base).cast(c.result().dtype());
    if (!typed) C::fail(typed.error().what);
    return one(
        c.reshaped(c.make("MatMul", {c.constant(*typed), c.permuted(c.tensor(0), {0, 2, 1})}), c.result().shape()));
}

// ---- cells: one step

std::vector<NodeId> gatesOf(C& c, NodeId x, NodeId h, std::size_t weights, std::int64_t count, bool joined) {
    const NodeId a = linear(c, x, c.tensor(weights), c.has(weights + 2) ? c.tensor(weights + 2) : NodeId{}),
                 b = linear(c, h, c.tensor(weights + 1), c.has(weights + 3) ? c.tensor(weights + 3) : NodeId{});
    const auto axis = static_cast<std::int64_t>(c.shapeOf(a).rank()) - 1;
    const auto parts = [&](NodeId y) {
        return count == 1
                   ? std::vector<NodeId>{y}
                   : c.makeAll("Split", {y}, {{"axis", axis}, {"num_outputs", count}}, static_cast<std::size_t>(count));
    };
    if (joined) return parts(c.make("Add", {a, b}));
    std::vector<NodeId> all = parts(a);
    for (NodeId part : parts(b)) all.push_back(part);
    return all;
}
Results lstmCell(C& c) {
    const std::vector<NodeId> states = c.tensors(1), g = gatesOf(c, c.tensor(0), states.at(0), 2, 4, true);
    const auto sigmoid = [&](NodeId z) { return c.make("Sigmoid", {z}); };
    const NodeId cell = c.make(
        "Add", {c.make("Mul", {sigmoid(g[1]), states.at(1)}), c.make("Mul", {sigmoid(g[0]), c.make("Tanh", {g[2]})})});
    return {Argument::of(c.make("Mul", {sigmoid(g[3]), c.make("Tanh", {cell})})), Argument::of(cell)};
}
Results gruCell(C& c) {
    const NodeId h = c.tensor(1);
    const std::vector<NodeId> g = gatesOf(c, c.tensor(0), h, 2, 3, false);
    const NodeId r = c.make("Sigmoid", {c.make("Add", {g[0], g[3]})}),
                 z = c.make("Sigmoid", {c.make("Add", {g[1], g[4]})});
    const NodeId n = c.make("Tanh", {c.make("Add", {g[2], c.make("Mul", {r, g[5]})})});
    return one(c.make("Add", {n, c.make("Mul", {z, c.make("Sub", {h, n})})}));
}

/// Bags of equal length: the sum, mean or maximum of their rows.
Results embeddingBag(C& c) {
    const NodeId indices = c.tensor(1);
    if (c.shapeOf(indices).rank() != 1 || (c.count() > 8 && c.has(8) && c.integer(8) >= 0))
        C::fail("bags with padding");
    const Argument& given = c.argument(2);
    if (given.kind != Argument::Kind::Constant) C::fail("bags whose offsets depend on the data");
    Ints offsets;
    for (std::int64_t i = 0; i < given.constant.tensor().numel(); ++i)
        offsets.push_back(given.constant.tensor().toInt64(i));
    if (!c.flag(7)) offsets.push_back(c.shapeOf(indices).numel());
    NodeId rows = c.make("Gather", {c.tensor(0), indices}, {{"axis", std::int64_t{0}}});
    if (c.has(6)) rows = c.make("Mul", {rows, c.reshaped(c.tensor(6), Shape{c.shapeOf(indices).numel(), 1})});
    static const char* const modes[] = {"ReduceSum", "ReduceMean", "ReduceMax"};
    const std::int64_t mode = c.integer(4);
    if (mode < 0 || mode > 2) C::fail("unsupported bags");
    std::vector<NodeId> bags;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        if (offsets[i + 1] <= offsets[i]) C::fail("an empty bag");
        bags.push_back(c.make(modes[mode], {sliced(c, rows, offsets[i], offsets[i + 1], 0), c.integersNode({0})},
                              {{"keepdims", std::int64_t{1}}}));
    }
    Results results = one(bags.size() == 1 ? bags[0] : c.make("Concat", bags, {{"axis", std::int64_t{0}}}));
    for (std::size_t i = 1; i < c.expr().outputs.size(); ++i)
        results.push_back(i < c.results().size() ? Argument::of(c.results()[i]) : Argument::omitted());
    return results;
}

}  // namespace

void addLayerRules(LoweringRules& rules) {
    const auto put = [&rules](std::string_view name, LoweringRule rule) { rules.insert_or_assign(name, rule); };
    for (std::string_view name : {"max_pool1d", "max_pool2d", "max_pool3d", "max_pool1d_with_indices",
                                  "max_pool2d_with_indices", "max_pool3d_with_indices"})
        put(name, maxPool);
    for (std::string_view name : {"avg_pool1d", "avg_pool2d", "avg_pool3d"}) put(name, averagePool);
    for (std::string_view name : {"adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"})
        put(name, [](C& c) { return adaptivePool(c, false); });
    for (std::string_view name : {"adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"})
        put(name, [](C& c) { return adaptivePool(c, true); });
    for (std::string_view name : {"max_unpool2d", "max_unpool3d"}) put(name, maxUnpool);
    put("col2im", fold);
    put("instance_norm", instanceNorm);
    put("native_layer_norm", nativeLayerNorm);
    put("native_group_norm", nativeGroupNorm);
    for (std::string_view name : {"native_batch_norm", "_native_batch_norm_legit"}) put(name, nativeBatchNorm);
    put("rms_norm", rmsNorm);
    put("_weight_norm", weightNorm);
    put("norm_except_dim", [](C& c) {
        if (c.number(1, 2) != 2) C::fail("a norm with a different exponent");
        return one(normExcept(c, c.tensor(0), c.has(2) ? c.axis(2, c.shapeOf(c.tensor(0)).rank()) : 0));
    });
    put("einsum", einsum);
    for (std::string_view name : {"outer", "ger"}) put(name, outer);
    put("inner", inner);
    put("mv", [](C& c) { return one(c.make("MatMul", {c.tensor(0), c.tensor(1)})); });
    put("tensordot", tensorDot);
    for (std::string_view name : {"chain_matmul", "linalg_multi_dot"}) put(name, chained);
    put("kron", kron);
    put("bilinear", bilinear);
    for (std::string_view name : {"cross", "linalg_cross"}) put(name, cross);
    for (std::string_view name : {"det", "linalg_det"})
        put(name, [](C& c) { return one(c.make("Det", {c.tensor(0)})); });
    put("affine_grid_generator", affineGrid);
    put("roi_align", roiAlign);
    put("lstm_cell", lstmCell);
    put("gru_cell", gruCell);
    put("rnn_tanh_cell",
        [](C& c) { return one(c.make("Tanh", {gatesOf(c, c.tensor(0), c.tensor(1), 2, 1, true).front()})); });
    put("rnn_relu_cell",
        [](C& c) { return one(c.make("Relu", {gatesOf(c, c.tensor(0), c.tensor(1), 2, 1, true).front()})); });
    put("embedding_bag", embeddingBag);
}

}  // namespace sonde::exporting
