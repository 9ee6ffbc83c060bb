// ATen and Python operators in ONNX operators of version 18.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/export/lowering/lowering.h"
#include "core/ops/registry/derived.h"
#include "core/ops/support/promotion.h"

namespace sonde::exporting {

namespace {

using Results = std::vector<Argument>;
using Attributes = tensor::Attributes;

std::int64_t rankOf(LoweredCall& call, NodeId node) { return static_cast<std::int64_t>(call.shapeOf(node).rank()); }

// ---- element by element

template <const char* name>
Results unary(LoweredCall& call) {
    return one(call.op(name, {call.cast(call.tensor(0), call.result().dtype())}));
}
/// No integer is NaN.
Results isNotANumber(LoweredCall& call) {
    const NodeId x = call.tensor(0);
    if (tensor::isFloating(call.dtypeOf(x))) return one(call.op("IsNaN", {x}));
    return one(call.op("Not", {call.op("Equal", {x, x})}));
}

inline constexpr char kRelu[] = "Relu", kSigmoid[] = "Sigmoid", kTanh[] = "Tanh", kExp[] = "Exp", kLog[] = "Log",
                      kSqrt[] = "Sqrt", kNeg[] = "Neg", kAbs[] = "Abs", kSin[] = "Sin", kCos[] = "Cos", kTan[] = "Tan",
                      kAsin[] = "Asin", kAcos[] = "Acos", kAtan[] = "Atan", kSinh[] = "Sinh", kCosh[] = "Cosh",
                      kErf[] = "Erf", kReciprocal[] = "Reciprocal", kSign[] = "Sign", kHardSwish[] = "HardSwish",
                      kSoftsign[] = "Softsign", kAdd[] = "Add", kSub[] = "Sub", kMul[] = "Mul", kPow[] = "Pow",
                      kEqual[] = "Equal", kGreater[] = "Greater", kLess[] = "Less",
                      kGreaterOrEqual[] = "GreaterOrEqual", kLessOrEqual[] = "LessOrEqual", kAnd[] = "And",
                      kOr[] = "Or", kMax[] = "Max", kMin[] = "Min", kReduceMean[] = "ReduceMean",
                      kReduceSum[] = "ReduceSum", kReduceMax[] = "ReduceMax", kReduceMin[] = "ReduceMin",
                      kReduceProd[] = "ReduceProd", kArgMax[] = "ArgMax", kArgMin[] = "ArgMin", kSoftmax[] = "Softmax",
                      kLogSoftmax[] = "LogSoftmax";

/// Both operands in the result's dtype; add and sub may scale the second one.
template <const char* name>
Results binary(LoweredCall& call) {
    const DType dtype = call.result().dtype();
    const NodeId a = call.cast(call.tensor(0, dtype), dtype);
    NodeId b = call.cast(call.tensor(1, dtype), dtype);
    // Sums and products of booleans are logic, and nothing else in ONNX.
    const bool isSum = std::string_view(name) == "Add";
    if (dtype == DType::Bool && (isSum || std::string_view(name) == "Mul"))
        return one(call.op(isSum ? "Or" : "And", {a, b}));
    const bool scales = std::string_view(name) == "Add" || std::string_view(name) == "Sub";
    if (scales && call.number(2, 1) != 1)
        b = call.opOf("Mul", {b, call.scalar(call.number(2), dtype)}, {}, dtype, call.shapeOf(b));
    return one(call.op(name, {a, b}));
}
Results reverseSub(LoweredCall& call) {
    const DType dtype = call.result().dtype();
    NodeId a = call.cast(call.tensor(0, dtype), dtype);
    if (call.number(2, 1) != 1)
        a = call.opOf("Mul", {a, call.scalar(call.number(2), dtype)}, {}, dtype, call.shapeOf(a));
    return one(call.op("Sub", {call.cast(call.tensor(1, dtype), dtype), a}));
}
/// What torch compares two operands in; two numbers of Python exactly, booleans as integers where ONNX does not order
/// them.
DType comparedAs(const LoweredCall& call, bool orders) {
    std::vector<tensor::TypeInfo> types;
    bool areNumbers = true;
    for (std::size_t i : {0u, 1u}) {
        types.push_back(call.typeOf(i));
        areNumbers = areNumbers && (!types[i].isTensor() ||
                                    (types[i].shape && types[i].shape->empty() && !tensor::isFloating(types[i].dtype)));
    }
    const DType dtype = ops::promotedTypes(types);
    if (areNumbers && dtype == DType::Float32) return DType::Float64;
    return dtype == DType::Bool && orders ? DType::Int32 : dtype;
}
template <const char* name>
Results comparison(LoweredCall& call) {
    const DType dtype = comparedAs(call, std::string_view(name) != "Equal");
    return one(call.op(name, {call.cast(call.tensor(0, dtype), dtype), call.cast(call.tensor(1, dtype), dtype)}));
}
Results notEqual(LoweredCall& call) {
    const NodeId same = comparison<kEqual>(call).front().node;
    return one(call.op("Not", {same}));
}
template <const char* name>
Results logical(LoweredCall& call) {
    return one(call.op(name, {call.cast(call.tensor(0), DType::Bool), call.cast(call.tensor(1), DType::Bool)}));
}
Results maskedFill(LoweredCall& call) {
    const DType dtype = call.result().dtype();
    return one(call.op(
        "Where", {call.cast(call.tensor(1), DType::Bool), call.cast(call.tensor(2, dtype), dtype), call.tensor(0)}));
}

Results clipTo(LoweredCall& call, std::optional<double> low, std::optional<double> high) {
    const DType dtype = call.result().dtype();
    return one(call.op("Clip", {call.cast(call.tensor(0), dtype), low ? call.scalar(*low, dtype) : NodeId{},
                                high ? call.scalar(*high, dtype) : NodeId{}}));
}
Results hardtanh(LoweredCall& call) { return clipTo(call, call.number(1, -1), call.number(2, 1)); }
Results relu6(LoweredCall& call) { return clipTo(call, 0, 6); }
Results hardsigmoid(LoweredCall& call) {
    return one(call.op("HardSigmoid", {call.tensor(0)}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}));
}
Results leakyRelu(LoweredCall& call) {
    return one(call.op("LeakyRelu", {call.tensor(0)}, {{"alpha", call.number(1, 0.01)}}));
}
Results selu(LoweredCall& call) { return one(call.op("Selu", {call.tensor(0)})); }
Results prelu(LoweredCall& call) {
    const NodeId x = call.tensor(0), slope = call.tensor(1);
    // One slope for each channel is on axis 1.
    std::vector<std::int64_t> dims(static_cast<std::size_t>(std::max<std::int64_t>(rankOf(call, x) - 1, 1)), 1);
    dims.front() = call.shapeOf(slope).numel();
    return one(call.op("PRelu", {x, dims.front() == 1 ? slope : call.reshaped(slope, Shape(dims))}));
}
Results silu(LoweredCall& call) {
    const NodeId x = call.tensor(0);
    return one(call.op("Mul", {x, call.op("Sigmoid", {x})}));
}
/// x·Φ(x), or its approximation by tanh.
Results gelu(LoweredCall& call) {
    const NodeId x = call.tensor(0);
    const DType dtype = call.result().dtype();
    const auto times = [&](NodeId a, double factor) { return call.op("Mul", {a, call.scalar(factor, dtype)}); };
    NodeId inner;
    if (call.text(1) == "tanh") {
        const NodeId cube = call.op("Mul", {call.op("Mul", {x, x}), x});
        inner = call.op("Tanh", {times(call.op("Add", {x, times(cube, 0.044715)}),
                                       std::numbers::sqrt2 * std::numbers::inv_sqrtpi)});
    } else {
        inner = call.op("Erf", {times(x, 1 / std::numbers::sqrt2)});
    }
    return one(times(call.op("Mul", {x, call.op("Add", {inner, call.scalar(1, dtype)})}), 0.5));
}
Results same(LoweredCall& call) { return {call.argument(0)}; }
Results dropout(LoweredCall& call) {
    if (call.flag(2) && call.number(1) > 0) LoweredCall::fail("dropout in training");
    return same(call);
}
Results castToResult(LoweredCall& call) { return one(call.cast(call.tensor(0), call.result().dtype())); }

// ---- products

Results matmul(LoweredCall& call) { return one(call.op("MatMul", {call.tensor(0), call.tensor(1)})); }
Results linear(LoweredCall& call) {
    const NodeId x = call.tensor(0), w = call.tensor(1);
    if (rankOf(call, x) == 2 && rankOf(call, w) == 2 && call.has(2))
        return one(call.op("Gemm", {x, w, call.tensor(2)}, {{"transB", std::int64_t{1}}}));
    const NodeId product = call.op("MatMul", {x, rankOf(call, w) == 1 ? w : call.permuted(w, {1, 0})});
    return one(call.has(2) ? call.op("Add", {product, call.tensor(2)}) : product);
}
Results convolve(LoweredCall& call, std::size_t stride, std::size_t padding, std::size_t dilation, std::size_t groups,
                 bool transposed, std::size_t outputPadding) {
    const NodeId x = call.tensor(0), w = call.tensor(1);
    const std::size_t rank = call.shapeOf(w).rank() - 2;
    if (static_cast<std::size_t>(rankOf(call, x)) != rank + 2) LoweredCall::fail("a convolution without batch");
    Attributes attributes{{"strides", call.spread(stride, rank, 1)},
                          {"dilations", call.spread(dilation, rank, 1)},
                          {"group", call.has(groups) ? call.integer(groups) : 1}};
    const Shape weights = call.shapeOf(w);
    const std::vector<std::int64_t> kernel(weights.dims().begin() + 2, weights.dims().end());
    attributes.set("kernel_shape", kernel);
    if (call.isConstant(padding) && call.value(padding).kind() == tensor::ValueKind::String) {
        std::vector<std::int64_t> pads(2 * rank, 0);
        for (std::size_t i = 0; i < rank && call.text(padding) == "same"; ++i) {
            const std::int64_t total = call.spread(dilation, rank, 1)[i] * (kernel[i] - 1);
            pads[i] = total / 2;
            pads[rank + i] = total - total / 2;
        }
        attributes.set("pads", pads);
    } else {
        std::vector<std::int64_t> pads = call.spread(padding, rank, 0);
        pads.insert(pads.end(), pads.begin(), pads.end());
        attributes.set("pads", pads);
    }
    if (transposed) attributes.set("output_padding", call.spread(outputPadding, rank, 0));
    return one(call.op(transposed ? "ConvTranspose" : "Conv", {x, w, call.has(2) ? call.tensor(2) : NodeId{}},
                       std::move(attributes)));
}
Results conv(LoweredCall& call) { return convolve(call, 3, 4, 5, 6, false, 0); }
Results convTranspose(LoweredCall& call) { return convolve(call, 3, 4, 7, 6, true, 5); }
Results convolution(LoweredCall& call) { return convolve(call, 3, 4, 5, 8, call.flag(6), 7); }

// ---- normalisations

Results batchNorm(LoweredCall& call) {
    if (call.flag(5)) LoweredCall::fail("batch_norm in training");
    const NodeId x = call.tensor(0);
    const Shape channels{call.shapeOf(x)[1]};
    return one(call.op("BatchNormalization",
                       {x, call.has(1) ? call.tensor(1) : call.filled(channels, 1),
                        call.has(2) ? call.tensor(2) : call.filled(channels, 0), call.tensor(3), call.tensor(4)},
                       {{"epsilon", call.number(7, 1e-5)}}));
}
Results layerNorm(LoweredCall& call) {
    const NodeId x = call.tensor(0);
    const auto dims = call.integers(1);
    const NodeId scale = call.has(2) ? call.tensor(2) : call.filled(Shape(dims), 1);
    return one(call.op("LayerNormalization", {x, scale, call.has(3) ? call.tensor(3) : NodeId{}},
                       {{"axis", -static_cast<std::int64_t>(dims.size())}, {"epsilon", call.number(4, 1e-5)}}));
}
/// Groups as channels of an instance normalisation, then scale and shift for each channel.
Results groupNorm(LoweredCall& call) {
    const NodeId x = call.tensor(0);
    const Shape shape = call.shapeOf(x);
    const DType dtype = call.dtypeOf(x);
    const std::int64_t groups = call.integer(1);
    if (groups < 1 || shape.rank() < 2 || shape[0] == 0) LoweredCall::fail("no groups");
    const Shape grouped{shape[0], groups, shape.numel() / shape[0] / groups};
    NodeId y = call.opOf("InstanceNormalization",
                         {call.reshaped(x, grouped), call.filled({groups}, 1), call.filled({groups}, 0)},
                         {{"epsilon", call.number(4, 1e-5)}}, dtype, grouped);
    y = call.reshaped(y, shape);
    std::vector<std::int64_t> channel(shape.rank() - 1, 1);
    channel.front() = shape[1];
    if (call.has(2)) y = call.op("Mul", {y, call.reshaped(call.tensor(2), Shape(channel))});
    if (call.has(3)) y = call.op("Add", {y, call.reshaped(call.tensor(3), Shape(channel))});
    return one(y);
}

// ---- shapes

bool dependsOnData(const LoweredCall& call, std::size_t index) {
    bool found = false;
    if (call.has(index)) call.argument(index).forEachNode([&found](const NodeId&) { found = true; });
    return found;
}
Results reshape(LoweredCall& call) { return one(call.reshaped(call.tensor(0), call.result().shape())); }
/// To sizes of which some depend on the data, or one is left open.
Results view(LoweredCall& call) {
    const NodeId x = call.tensor(0);
    const bool isOpen = call.isOpen(x) && call.has(1) && call.argument(1).kind == Argument::Kind::Constant &&
                        call.value(1).isListLike() && std::ranges::count(call.integers(1), -1) == 1;
    if (!dependsOnData(call, 1) && !isOpen) return reshape(call);
    return one(call.op("Reshape", {x, call.integersOf(1)}));
}
/// As many axes as the result has; 1 leaves an axis as it is.
Results expand(LoweredCall& call) {
    const NodeId x = call.tensor(0);
    if (call.expr().op.name == "expand_as" && call.isOpen(call.tensor(1)))
        return one(call.op("Expand", {x, call.sizesOf(call.tensor(1))}));
    if (call.expr().op.name != "expand_as" && dependsOnData(call, 1)) {
        const NodeId sizes = call.integersOf(1);
        return one(call.op("Expand", {x, call.make("Max", {sizes, call.constant(Tensor::scalar<std::int64_t>(1))})}));
    }
    std::vector<std::int64_t> dims = call.result().shape().dims();
    const std::size_t added = dims.size() - call.shapeOf(x).rank();
    for (std::size_t axis = added; axis < dims.size(); ++axis)
        if (call.isOpen(x, axis - added)) dims[axis] = 1;
    return one(call.op("Expand", {x, call.integersNode(dims)}));
}
Results repeat(LoweredCall& call) {
    const auto times = call.integers(1);
    const NodeId x = call.tensor(0);
    std::vector<std::int64_t> dims = call.shapeOf(x).dims();
    dims.insert(dims.begin(), times.size() - dims.size(), 1);
    return one(call.op("Tile", {call.reshaped(x, Shape(dims)), call.integersNode(times)}));
}
Results concat(LoweredCall& call) {
    std::vector<NodeId> parts;
    const DType dtype = call.result().dtype();
    for (NodeId part : call.tensors(0)) {
        // torch leaves out empty vectors.
        if (call.shapeOf(part) == Shape{0} && call.result().rank() != 1) continue;
        parts.push_back(call.cast(part, dtype));
    }
    return one(call.op("Concat", parts, {{"axis", call.axis(1, call.result().rank())}}));
}
Results stack(LoweredCall& call) {
    std::vector<NodeId> parts;
    const std::size_t rank = call.result().rank();
    const std::int64_t axis = call.axis(1, rank);
    for (NodeId part : call.tensors(0)) {
        std::vector<std::int64_t> dims = call.shapeOf(part).dims();
        dims.insert(dims.begin() + axis, 1);
        parts.push_back(call.cast(call.reshaped(part, Shape(dims)), call.result().dtype()));
    }
    return one(call.op("Concat", parts, {{"axis", axis}}));
}
Results indexSelect(LoweredCall& call) {
    const NodeId x = call.tensor(0);
    // A single index is as one in a list.
    const NodeId given = call.tensor(2), index = rankOf(call, given) == 0 ? call.reshaped(given, Shape{1}) : given;
    return one(call.op("Gather", {x, index}, {{"axis", call.axis(1, call.shapeOf(x).rank())}}));
}
Results embedding(LoweredCall& call) {
    return one(call.op("Gather", {call.tensor(0), call.tensor(1)}, {{"axis", std::int64_t{0}}}));
}
Results gather(LoweredCall& call) {
    const NodeId x = call.tensor(0);
    return one(call.op("GatherElements", {x, call.tensor(2)}, {{"axis", call.axis(1, call.shapeOf(x).rank())}}));
}
/// An item of a list, or part of a tensor.
Results getitem(LoweredCall& call) {
    const Argument& from = call.argument(0);
    if (from.kind != Argument::Kind::List && from.kind != Argument::Kind::Tuple) return lowerIndex(call);
    std::int64_t at = call.integer(1);
    if (at < 0) at += static_cast<std::int64_t>(from.items.size());
    if (at < 0 || at >= static_cast<std::int64_t>(from.items.size())) LoweredCall::fail("no such item");
    return {from.items[static_cast<std::size_t>(at)]};
}
Results triangle(LoweredCall& call) {
    const bool upper = call.expr().op.name.starts_with("triu");
    return one(call.op("Trilu",
                       {call.tensor(0), call.constant(Tensor::scalar<std::int64_t>(call.has(1) ? call.integer(1) : 0))},
                       {{"upper", std::int64_t{upper}}}));
}

// ---- reductions

/// axes and keepdims as arguments 1 and 2; without them over everything.
template <const char* name>
Results reduce(LoweredCall& call) {
    const NodeId x = call.cast(call.tensor(0), call.result().dtype());
    const std::size_t rank = call.shapeOf(x).rank();
    const bool overAll = call.expr().op.name.find('.') == std::string::npos && call.count() < 3;
    const std::vector<std::int64_t> axes = overAll ? call.axes(call.count(), rank) : call.axes(1, rank);
    Attributes attributes{{"keepdims", std::int64_t{!overAll && call.flag(2)}}};
    if (rank == 0) return one(x);
    return one(call.op(name, {x, call.integersNode(axes)}, std::move(attributes)));
}
template <const char* name>
Results arg(LoweredCall& call) {
    const NodeId x = call.tensor(0);
    const std::size_t rank = call.shapeOf(x).rank();
    if (!call.has(1)) {
        const NodeId flat = call.reshaped(x, Shape{call.shapeOf(x).numel()});
        const NodeId at = call.opOf(name, {flat}, {{"axis", std::int64_t{0}}, {"keepdims", std::int64_t{0}}},
                                    call.result().dtype(), Shape{});
        return one(call.reshaped(at, call.result().shape()));
    }
    return one(call.op(name, {x}, {{"axis", call.axis(1, rank)}, {"keepdims", std::int64_t{call.flag(2)}}}));
}
template <const char* name>
Results softmax(LoweredCall& call) {
    const NodeId x = call.cast(call.tensor(0), call.result().dtype());
    return one(call.op(name, {x}, {{"axis", call.axis(1, call.shapeOf(x).rank())}}));
}
Results cumulative(LoweredCall& call) {
    const NodeId x = call.cast(call.tensor(0), call.result().dtype());
    return one(
        call.op("CumSum", {x, call.constant(Tensor::scalar<std::int64_t>(call.axis(1, call.shapeOf(x).rank())))}));
}
/// CumProd is of version 26: one factor after the other.
Results cumulativeProduct(LoweredCall& call) {
    constexpr std::int64_t kMaxFactors = 1024;
    const NodeId x = call.cast(call.tensor(0), call.result().dtype());
    Shape part = call.shapeOf(x);
    if (part.rank() == 0) return one(x);
    const std::int64_t axis = call.axis(1, part.rank()), length = part[static_cast<std::size_t>(axis)];
    if (length > kMaxFactors)
        LoweredCall::fail("a running product of more than " + std::to_string(kMaxFactors) + " elements");
    if (length < 2) return one(x);
    part[static_cast<std::size_t>(axis)] = 1;
    const auto count = static_cast<std::size_t>(length);
    std::vector<NodeId> products =
        call.ops("Split", {x, call.integersNode(std::vector<std::int64_t>(count, 1))}, {{"axis", axis}},
                 std::vector<std::pair<DType, Shape>>(count, {call.result().dtype(), part}));
    for (std::size_t i = 1; i < count; ++i)
        products[i] = call.opOf("Mul", {products[i - 1], products[i]}, {}, call.result().dtype(), part);
    return one(call.op("Concat", products, {{"axis", axis}}));
}

// ---- others

/// softmax(q·kᵀ/√d + mask)·v.
Results attention(LoweredCall& call) {
    const NodeId q = call.tensor(0), k = call.tensor(1), v = call.tensor(2);
    const DType dtype = call.dtypeOf(q);
    Shape scoreShape = call.shapeOf(q);
    const std::size_t rank = scoreShape.rank();
    const Shape keys = call.shapeOf(k);
    if (call.number(4, 0) > 0) LoweredCall::fail("attention with dropout");
    const double scale = call.has(6) ? call.number(6) : 1 / std::sqrt(static_cast<double>(scoreShape[rank - 1]));
    const std::int64_t rows = scoreShape[rank - 2], columns = keys[rank - 2];
    scoreShape[rank - 1] = columns;
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
    std::swap(order[rank - 1], order[rank - 2]);
    const NodeId scaled = call.opOf("Mul", {q, call.scalar(scale, dtype)}, {}, dtype, call.shapeOf(q));
    NodeId scores = call.opOf("MatMul", {scaled, call.permuted(k, order)}, {}, dtype, scoreShape);
    const auto add = [&](NodeId mask) { scores = call.opOf("Add", {scores, mask}, {}, dtype, scoreShape); };
    if (call.has(3)) {
        const NodeId mask = call.tensor(3);
        if (call.dtypeOf(mask) == DType::Bool) {
            scores = call.opOf("Where", {mask, scores, call.scalar(-std::numeric_limits<double>::infinity(), dtype)},
                               {}, dtype, scoreShape);
        } else {
            add(call.cast(mask, dtype));
        }
    }
    if (call.flag(5)) {
        std::vector<float> upper(static_cast<std::size_t>(rows * columns));
        for (std::int64_t i = 0; i < rows * columns; ++i)
            upper[static_cast<std::size_t>(i)] =
                i % columns > i / columns ? -std::numeric_limits<float>::infinity() : 0;
        add(call.cast(call.constant(Tensor::of<float>({rows, columns}, upper)), dtype));
    }
    return one(call.op("MatMul", {call.opOf("Softmax", {scores}, {{"axis", std::int64_t{-1}}}, dtype, scoreShape), v}));
}

/// Lists and tuples are structures of the arguments themselves.
Results container(LoweredCall& call) {
    std::vector<Argument> items;
    for (std::size_t i = 0; i < call.count(); ++i) items.push_back(call.argument(i));
    return {Argument::container(
        call.expr().op.name.find("List") != std::string::npos ? Argument::Kind::List : Argument::Kind::Tuple,
        std::move(items))};
}
Results nothing(LoweredCall&) { return {}; }

LoweringRules commonRules() {
    // clang-format off
    return {
        {"relu", unary<kRelu>}, {"sigmoid", unary<kSigmoid>}, {"tanh", unary<kTanh>}, {"exp", unary<kExp>}, {"log", unary<kLog>}, {"sqrt", unary<kSqrt>},
        {"neg", unary<kNeg>}, {"abs", unary<kAbs>}, {"sin", unary<kSin>}, {"cos", unary<kCos>}, {"tan", unary<kTan>}, {"asin", unary<kAsin>},
        {"acos", unary<kAcos>}, {"atan", unary<kAtan>}, {"sinh", unary<kSinh>}, {"cosh", unary<kCosh>},
        {"erf", unary<kErf>}, {"reciprocal", unary<kReciprocal>}, {"sign", unary<kSign>}, {"hardswish", unary<kHardSwish>},
        {"softsign", unary<kSoftsign>}, {"isnan", isNotANumber},
        {"add", binary<kAdd>}, {"sub", binary<kSub>}, {"mul", binary<kMul>}, 
        {"pow", binary<kPow>}, {"rsub", reverseSub}, {"maximum", binary<kMax>}, {"minimum", binary<kMin>},
        {"eq", comparison<kEqual>}, {"ne", notEqual}, {"gt", comparison<kGreater>}, {"lt", comparison<kLess>}, {"ge", comparison<kGreaterOrEqual>},
        {"le", comparison<kLessOrEqual>}, {"logical_and", logical<kAnd>}, {"logical_or", logical<kOr>}, {"masked_fill", maskedFill},
        {"hardtanh", hardtanh}, {"relu6", relu6}, {"hardsigmoid", hardsigmoid},
        {"leaky_relu", leakyRelu}, {"selu", selu}, {"prelu", prelu}, {"silu", silu}, {"gelu", gelu},
        {"dropout", dropout}, {"feature_dropout", dropout}, {"alpha_dropout", dropout}, {"contiguous", same}, {"clone", same}, {"detach", same}, {"alias", same},
        {"lift_fresh", same}, {"to", castToResult}, {"type_as", castToResult}, {"float", castToResult}, {"_to_copy", castToResult},
        {"double", castToResult}, {"half", castToResult}, {"bfloat16", castToResult}, {"long", castToResult}, {"int", castToResult},
        {"short", castToResult}, {"char", castToResult}, {"byte", castToResult}, {"bool", castToResult},
        {"matmul", matmul}, {"mm", matmul}, {"bmm", matmul}, {"linear", linear}, {"conv1d", conv}, {"conv2d", conv}, {"conv3d", conv},
        {"conv_transpose1d", convTranspose}, {"conv_transpose2d", convTranspose}, {"conv_transpose3d", convTranspose}, {"convolution", convolution},
        {"_convolution", convolution}, {"_convolution_mode", conv}, {"batch_norm", batchNorm}, {"layer_norm", layerNorm}, {"group_norm", groupNorm},
        
        
        {"flatten", reshape}, {"view", view}, {"reshape", view}, {"unflatten", reshape},   {"view_as", reshape},
        {"reshape_as", reshape}, {"_unsafe_view", view}, {"expand", expand}, {"expand_as", expand}, {"repeat", repeat}, {"cat", concat}, {"concat", concat},
        {"stack", stack}, {"index_select", indexSelect}, {"embedding", embedding}, {"gather", gather}, {"getitem", getitem},
        {"tril", triangle}, {"triu", triangle}, 
        {"movedim", lowerRearrangement}, 
        
        {"flip", lowerRearrangement}, {"roll", lowerRearrangement}, {"unfold", lowerRearrangement}, {"channel_shuffle", lowerRearrangement},
        {"pixel_shuffle", lowerRearrangement}, {"pixel_unshuffle", lowerRearrangement},
        {"mean", reduce<kReduceMean>}, {"sum", reduce<kReduceSum>}, {"amax", reduce<kReduceMax>}, {"amin", reduce<kReduceMin>}, 
        {"prod", reduce<kReduceProd>}, {"argmax", arg<kArgMax>}, {"argmin", arg<kArgMin>}, {"softmax", softmax<kSoftmax>},
        {"_softmax", softmax<kSoftmax>}, {"log_softmax", softmax<kLogSoftmax>}, {"_log_softmax", softmax<kLogSoftmax>}, {"cumsum", cumulative},
        {"cumprod", cumulativeProduct},
        {"scaled_dot_product_attention", attention}, {"ListConstruct", container}, {"TupleConstruct", container}, {"list", container},
        {"tuple", container}, {"_assert", nothing}};
    // clang-format on
}

}  // namespace

LoweringRule findLowering(std::string_view name) {
    static const LoweringRules rules = [] {
        LoweringRules all = commonRules();
        addElementwiseRules(all);
        addReductionRules(all);
        addIndexRules(all);
        addLayerRules(all);
        addAttentionRules(all);
        addNumberRules(all);
        addResamplingRules(all);
        addRandomRules(all);
        addViewRules(all);
        return all;
    }();
    const auto found = rules.find(name);
    if (found != rules.end()) return found->second;
    const auto original = rules.find(ops::originalName(name));
    return original == rules.end() ? nullptr : original->second;
}

}  // namespace sonde::exporting
