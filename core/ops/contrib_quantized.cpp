// com.microsoft: operators on quantised tensors that compute on the real values and quantise again.

#include <algorithm>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/dependence/windows.h"
#include "core/ops/kernels/quantized_values.h"
#include "core/ops/support/contrib.h"

namespace sonde::ops {

namespace {

/// The real values of x.
Tensor real(Eager& e, Name x, Name scale, Name zeroPoint) {
    return e.get(kernels::dequantized(e.tensor(x), e.tensor(scale), e.optional(zeroPoint), e.context().pool()));
}
Tensor realX(Eager& e) { return real(e, "X", "X_scale", "X_zero_point"); }

/// Quantised to the dtype.
Tensor again(Eager& e, const Tensor& x, Name scale, Name zeroPoint, DType dtype) {
    return e.get(
        kernels::quantizedTo(e.get(x.contiguous()), e.tensor(scale), e.optional(zeroPoint), dtype, e.context().pool()));
}
/// As Y, in the dtype of X.
Tensor againY(Eager& e, const Tensor& x) { return again(e, x, "Y_scale", "Y_zero_point", e.tensor("X").dtype()); }

EagerResult quantizedBinary(Eager& e, kernels::Binary operation) {
    const Value zeroA = e.optional("A_zero_point"), zeroB = e.optional("B_zero_point");
    const bool isSum = operation == kernels::Binary::Add;
    if (auto y = e.get(kernels::quantizedBinary(e.context(), isSum, {e.tensor("A"), e.tensor("A_scale"), zeroA},
                                                {e.tensor("B"), e.tensor("B_scale"), zeroB}, e.tensor("C_scale"),
                                                e.optional("C_zero_point")))) {
        return std::move(*y);
    }
    const Tensor a = real(e, "A", "A_scale", "A_zero_point"), b = real(e, "B", "B_scale", "B_zero_point");
    return again(e, e(isSum ? "add.Tensor" : "mul.Tensor", a, b), "C_scale", "C_zero_point", e.tensor("A").dtype());
}

base::Result<void> inferQuantizedPair(InferContext& context) {
    const auto &a = context.in("A").shape, &b = context.in("B").shape;
    std::optional<Dims> dims;
    if (a && b) {
        SONDE_ASSIGN(dims, broadcastDims(*a, *b));
    }
    setLike(context, "A", std::move(dims));
    return {};
}

EagerResult quantizedSigmoid(Eager& e) { return againY(e, e("sigmoid", realX(e))); }

EagerResult quantizedLeakyRelu(Eager& e) {
    return againY(e, e("leaky_relu", realX(e), e.context().attributes().getFloat("alpha", 0.01)));
}

/// `opset` says which Softmax is meant: before 13 all axes from `axis` on are one.
EagerResult quantizedSoftmax(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    Tensor x = realX(e);
    const Shape shape = x.shape();
    const bool flat = attributes.getInt("opset", 13) < 13;
    const std::size_t axis = e.axisOf(attributes.getInt("axis", flat ? 1 : -1), std::max<std::size_t>(x.rank(), 1));
    if (flat) {
        std::int64_t outer = 1, inner = 1;
        for (std::size_t i = 0; i < x.rank(); ++i) (i < axis ? outer : inner) *= x.dim(i);
        x = e.reshape(x, Shape{outer, inner});
    }
    return againY(e, e.reshape(e("softmax.int", x, flat ? std::size_t{1} : axis), shape));
}

EagerResult quantizedWhere(Eager& e) {
    const Tensor x = real(e, "X", "x_scale", "x_zero_point"), y = real(e, "Y", "y_scale", "y_zero_point");
    return again(e, e("where.self", e.tensor("condition"), x, y), "z_scale", "z_zero_point", e.tensor("X").dtype());
}

base::Result<void> inferQuantizedWhere(InferContext& context) {
    std::optional<Dims> dims = Dims{};
    for (std::size_t i : {0U, 1U, 4U}) {
        if (!dims || !context.in(i).shape) {
            dims.reset();
            break;
        }
        SONDE_ASSIGN(dims, broadcastDims(*dims, *context.in(i).shape));
    }
    setLike(context, "X", std::move(dims));
    return {};
}

/// Scale and zero point of Y, then each part with its own.
EagerResult quantizedConcat(Eager& e) {
    std::vector<Tensor> parts;
    if (e.count() < 5 || (e.count() - 2) % 3 != 0) e.fail("each part expects a scale and a zero point");
    for (std::size_t i = 2; i < e.count(); i += 3)
        parts.push_back(e.get(
            kernels::dequantized(e.at(i), e.at(i + 1), e.has(i + 2) ? e.value(i + 2) : Value(), e.context().pool())));
    const Tensor joined = e("cat", parts, e.context().attributes().getInt("axis", 0));
    return again(e, joined, "Y_scale", "Y_zero_point", e.tensor("Y_zero_point").dtype());
}

base::Result<void> inferQuantizedConcat(InferContext& context) {
    std::optional<Dims> dims = context.in("inputs").shape;
    if (dims) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), dims->size()));
        for (std::size_t i = 5; i < context.inputCount() && dims; i += 3) {
            const auto& part = context.in(i).shape;
            if (!part || part->size() != dims->size()) {
                dims.reset();
                break;
            }
            Dim &sum = (*dims)[axis], one = (*part)[axis];
            sum = sum.known() && one.known() ? Dim::of(sum.value + one.value) : Dim{};
        }
    }
    setLike(context, "Y_zero_point", std::move(dims));
    return {};
}

/// Axes that bring channels from the end to position 1, or back.
std::vector<std::int64_t> channelAxes(std::size_t rank, bool toFront) {
    std::vector<std::int64_t> axes{0};
    const auto last = static_cast<std::int64_t>(rank) - 1;
    if (toFront) axes.push_back(last);
    for (std::int64_t i = toFront ? 1 : 2; i < (toFront ? last : last + 1); ++i) axes.push_back(i);
    if (!toFront) axes.push_back(1);
    return axes;
}

Tensor moved(Eager& e, const Tensor& x, bool toFront) {
    if (x.rank() < 3) e.fail("expects a batch, channels and an image, but found " + x.typeText());
    return e.get(e("permute", x, channelAxes(x.rank(), toFront)).contiguous());
}

bool channelsLast(const Attributes& attributes) { return attributes.getInt("channels_last", 0) != 0; }

/// An operator of ai.onnx on images with channels first.
Tensor onImage(Eager& e, const Tensor& x, bool last, std::string_view name, const Attributes& attributes) {
    const Tensor y = e.onnx(name, {Value(last ? moved(e, x, true) : x)}, attributes);
    return last ? moved(e, y, false) : y;
}

EagerResult quantizedPool(Eager& e, std::string_view name) {
    const Attributes& attributes = e.context().attributes();
    return againY(e, onImage(e, realX(e), channelsLast(attributes), name, attributes));
}

/// The mean of a window, with channels first.
base::Result<Dependence> quantizedPoolTerms(const ElementCall& call) {
    const Attributes& attributes = call.context.attributes();
    const Shape& shape = call.context.in("X").shape();
    if (channelsLast(attributes)) return opError("there is no formula for channels at the end");
    if (shape.rank() < 3) return opError("the input is no image");
    SONDE_ASSIGN(const Window window, windowFromAttributes(attributes, {}, std::span(shape.dims()).subspan(2)));
    dependence::Pooling mean{"sum(x) / divisor"};
    mean.countsPadding = attributes.getInt("count_include_pad", 0) != 0;
    SONDE_ASSIGN(Dependence made, dependence::pooled(call, window, mean));
    return dependence::quantizedFrom(std::move(made), call, "sum(" + dependence::realValue("x") + ") / divisor");
}

EagerResult channelsLastMaxPool(Eager& e) {
    return onImage(e, e.tensor("x"), true, "MaxPool", e.context().attributes());
}

/// As MaxPool says of the same image with its channels in front.
base::Result<Dependence> channelsLastMaxTerms(const ElementCall& call) {
    const Tensor& x = call.context.in("x");
    if (x.rank() < 3) return opError("the input is no image");
    std::vector<std::size_t> order{0, x.rank() - 1};
    for (std::size_t d = 1; d + 1 < x.rank(); ++d) order.push_back(d);
    SONDE_ASSIGN(const Tensor image, x.permuted(order).contiguous());
    const Tensor result = call.result.permuted(order);
    std::vector<std::int64_t> at;
    for (const std::size_t d : order) at.push_back(call.at[d]);
    const ElementCall turned{call.context, call.op, result, {}, 0, 0, dependence::elementAt(at, result.shape()), at};
    SONDE_ASSIGN(Dependence made,
                 dependence::asOnnx(turned, {"MaxPool", {Value(image)}, call.context.attributes(), {0}}));
    for (DependenceTerm& term : made.terms) {
        const std::vector<std::int64_t> place = dependence::indexOf(term.element, image.shape());
        std::vector<std::int64_t> own(place.size());
        for (std::size_t d = 0; d < order.size(); ++d) own[order[d]] = place[d];
        term.element = dependence::elementAt(own, x.shape());
    }
    return made;
}

/// What the operator of ai.onnx gives, with channels at the end if they are there.
base::Result<void> inferOnImage(InferContext& context, std::string_view name, bool last) {
    TypeInfo x = context.in({"X", "x"});
    const bool turn = last && x.shape && x.shape->size() > 2;
    if (turn) std::rotate(x.shape->begin() + 1, x.shape->end() - 1, x.shape->end());
    InferContext inner(std::span(&x, 1), {}, context.attributes(), 1);
    SONDE_TRY(inner.inferAs(*Registry::all().find("", name, 0)));
    TypeInfo y = inner.outputs()[0];
    if (turn && y.shape && y.shape->size() > 2) std::rotate(y.shape->begin() + 1, y.shape->begin() + 2, y.shape->end());
    context.set(std::move(y));
    return {};
}

EagerResult quantizedMean(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    return againY(e, e("mean.dim", realX(e), attributes.getInts("axes"), attributes.getInt("keepdims", 1) != 0));
}

base::Result<void> inferReduced(InferContext& context, DType dtype) {
    std::optional<Dims> dims = context.in({"X", "data"}).shape;
    if (dims) {
        SONDE_ASSIGN(const std::vector<std::size_t> axes, axesOf(context.attributes().getInts("axes"), dims->size()));
        Dims left;
        for (std::size_t i = 0; i < dims->size(); ++i) {
            const bool gone = std::ranges::find(axes, i) != axes.end();
            if (!gone) left.push_back((*dims)[i]);
            else if (context.attributes().getInt("keepdims", 1) != 0) left.push_back(Dim::of(1));
        }
        dims = std::move(left);
    }
    context.set(TypeInfo::tensor(dtype, std::move(dims)));
    return {};
}

/// Sums of bytes as 32-bit integers of the same sign.
EagerResult sumInteger(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    const Tensor sum = e("sum.dim_IntList", e.as(e.tensor("data"), DType::Int64), attributes.getInts("axes"),
                         attributes.getInt("keepdims", 1) != 0);
    return e.as(sum, e.tensor("data").dtype() == DType::UInt8 ? DType::UInt32 : DType::Int32);
}

/// (A − its zero point)·(B − its zero point)
EagerResult mulInteger(Eager& e) {
    const Tensor a = e.get(centred(e.tensor("A"), e.optional("A_zero_point"), -1)),
                 b = e.get(centred(e.tensor("B"), e.optional("B_zero_point"), -1));
    return e.as(e("mul.Tensor", a, b), DType::Int32);
}

base::Result<void> inferMulInteger(InferContext& context) {
    const auto &a = context.in("A").shape, &b = context.in("B").shape;
    std::optional<Dims> dims;
    if (a && b) {
        SONDE_ASSIGN(dims, broadcastDims(*a, *b));
    }
    context.set(TypeInfo::tensor(DType::Int32, std::move(dims)));
    return {};
}

/// QLinearConv of ai.onnx, with channels last in x and y if asked for.
EagerResult quantizedConv(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < e.count(); ++i) inputs.push_back(e.value(i));
    if (channelsLast(attributes)) inputs[0] = Value(moved(e, e.tensor("x"), true));
    const Tensor y = e.onnx("QLinearConv", std::move(inputs), attributes);
    return channelsLast(attributes) ? moved(e, y, false) : y;
}

base::Result<void> inferQuantizedConv(InferContext& context) {
    TypeInfo operands[2] = {context.in("x"), context.in("w")};
    const bool turn = channelsLast(context.attributes()) && operands[0].shape && operands[0].shape->size() > 2;
    if (turn) std::rotate(operands[0].shape->begin() + 1, operands[0].shape->end() - 1, operands[0].shape->end());
    InferContext inner(operands, {}, context.attributes(), 1);
    SONDE_TRY(inner.inferAs(*Registry::all().find("", "Conv", 0)));
    TypeInfo y = inner.outputs()[0];
    if (turn && y.shape && y.shape->size() > 2) std::rotate(y.shape->begin() + 1, y.shape->begin() + 2, y.shape->end());
    y.dtype = context.in("y_zero_point").dtype;
    context.set(std::move(y));
    return {};
}

/// The row of ai.onnx, delegated to at run time.
void addAlias(Registry& registry, Row row, std::string_view name) {
    registry.add(
        row.runs([name](KernelContext& context) { return context.runAs(*Registry::all().find("", name, 0)); },
                 [name](InferContext& context) { return context.inferAs(*Registry::all().find("", name, 0)); }));
}

Row quantizedRow(std::string_view name, std::string_view summary) {
    return contribRow(name, summary, Category::Quantization);
}

/// x with its scale and zero point.
Row& tensorWithScale(Row& row, std::string_view x, std::string_view scale, std::string_view zero) {
    return row.in(x, kBytes, "T").in(scale, kFloat32).optionalIn(zero, kBytes, "T");
}

Row oneInput(std::string_view name, std::string_view summary) {
    Row row = quantizedRow(name, summary);
    tensorWithScale(row, "X", "X_scale", "X_zero_point")
        .in("Y_scale", kFloat32)
        .optionalIn("Y_zero_point", kBytes, "T")
        .out("Y");
    return row;
}

void defineImages(Registry& registry) {
    registry.add(oneInput("QLinearAveragePool", "mean of each window of a quantised image")
                     .attrString("auto_pad", "NOTSET")
                     .attrInt("ceil_mode", 0)
                     .attrInt("channels_last", 0)
                     .attrInt("count_include_pad", 0)
                     .required("kernel_shape", AttributeKind::Ints)
                     .attrInts("pads")
                     .attrInts("strides")
                     .runs([](Eager& e) { return quantizedPool(e, "AveragePool"); },
                           [](InferContext& context) {
                               return inferOnImage(context, "AveragePool", channelsLast(context.attributes()));
                           }));
    registry.add(oneInput("QLinearGlobalAveragePool", "mean of each channel of a quantised image")
                     .attrInt("channels_last", 0)
                     .runs([](Eager& e) { return quantizedPool(e, "GlobalAveragePool"); },
                           [](InferContext& context) {
                               return inferOnImage(context, "GlobalAveragePool", channelsLast(context.attributes()));
                           }));
    registry.add(
        contribRow("NhwcMaxPool", "largest value of each window, channels last", Category::Pool)
            .in("x", kBytes)
            .out("y")
            .attrString("auto_pad", "NOTSET")
            .attrInt("ceil_mode", 0)
            .attrInts("dilations")
            .required("kernel_shape", AttributeKind::Ints)
            .attrInts("pads")
            .attrInts("strides")
            .runs(channelsLastMaxPool, [](InferContext& context) { return inferOnImage(context, "MaxPool", true); }));
    registry.add(quantizedRow("QLinearConv", "convolution of quantised tensors, quantised again")
                     .in("x", kBytes)
                     .in("x_scale", kFloat32)
                     .in("x_zero_point", kBytes)
                     .in("w", kBytes)
                     .in("w_scale", kFloat32)
                     .in("w_zero_point", kBytes)
                     .in("y_scale", kFloat32)
                     .in("y_zero_point", kBytes)
                     .optionalIn("B", kInt32)
                     .out("y")
                     .attrString("auto_pad", "NOTSET")
                     .attrInt("channels_last", 0)
                     .attrInts("dilations")
                     .attrInt("group", 1)
                     .attrInts("kernel_shape")
                     .attrInts("pads")
                     .attrInts("strides")
                     .runs(quantizedConv, inferQuantizedConv));
}

}  // namespace

void define_contrib_quantized(Registry& registry) {
    addAlias(registry,
             quantizedRow("QuantizeLinear", "x divided by a scale, rounded, plus a zero point")
                 .in("x", kFloats)
                 .in("y_scale", kFloats)
                 .optionalIn("y_zero_point", kInts | kInt4s)
                 .out("y")
                 .attrInt("axis", 1),
             "QuantizeLinear");
    addAlias(registry,
             quantizedRow("DequantizeLinear", "(x − zero point)·scale")
                 .in("x", kInts | kInt4s, "T")
                 .in("x_scale", kFloats)
                 .optionalIn("x_zero_point", kInts | kInt4s, "T")
                 .out("y")
                 .attrInt("axis", 1),
             "DequantizeLinear");
    for (const auto& [name, summary, operation] :
         {std::tuple("QLinearAdd", "sum of quantised tensors, quantised again", kernels::Binary::Add),
          std::tuple("QLinearMul", "product of quantised tensors element by element, quantised again",
                     kernels::Binary::Mul)}) {
        Row row = quantizedRow(name, summary);
        tensorWithScale(tensorWithScale(row, "A", "A_scale", "A_zero_point"), "B", "B_scale", "B_zero_point")
            .in("C_scale", kFloat32)
            .optionalIn("C_zero_point", kBytes, "T");
        registry.add(row.out("C").runs([operation = operation](Eager& e) { return quantizedBinary(e, operation); },
                                       inferQuantizedPair));
    }
    registry.add(
        oneInput("QLinearSigmoid", "sigmoid of a quantised tensor, quantised again").runs(quantizedSigmoid, inferSame));
    registry.add(oneInput("QLinearLeakyRelu", "x, or alpha·x below 0, of a quantised tensor")
                     .attrFloat("alpha", 0.01)
                     .runs(quantizedLeakyRelu, inferSame));
    registry.add(oneInput("QLinearSoftmax", "softmax of a quantised tensor, quantised again")
                     .attr("axis", AttributeKind::Int)
                     .required("opset", AttributeKind::Int)
                     .runs(quantizedSoftmax, inferSame));
    registry.add(
        oneInput("QLinearReduceMean", "mean along axes of a quantised tensor, quantised again")
            .required("axes", AttributeKind::Ints)
            .required("keepdims", AttributeKind::Int)
            .runs(quantizedMean, [](InferContext& context) { return inferReduced(context, context.in("X").dtype); }));
    Row where = quantizedRow("QLinearWhere", "X or Y by condition, of quantised tensors");
    where.in("condition", kBool);
    tensorWithScale(tensorWithScale(where, "X", "x_scale", "x_zero_point"), "Y", "y_scale", "y_zero_point");
    registry.add(where.in("z_scale", kFloat32)
                     .optionalIn("z_zero_point", kBytes, "T")
                     .out("Z")
                     .runs(quantizedWhere, inferQuantizedWhere));
    registry.add(quantizedRow("QLinearConcat", "quantised tensors concatenated, quantised again")
                     .in("Y_scale", kFloat32)
                     .in("Y_zero_point", kBytes)
                     .variadicIn("inputs", kBytes | kFloat32)
                     .out("Y")
                     .required("axis", AttributeKind::Int)
                     .runs(quantizedConcat, inferQuantizedConcat));
    defineImages(registry);
    registry.add(quantizedRow("ReduceSumInteger", "sum of bytes along axes, as 32-bit integers")
                     .in("data", kBytes)
                     .out("reduced")
                     .required("axes", AttributeKind::Ints)
                     .required("keepdims", AttributeKind::Int)
                     .runs(sumInteger, [](InferContext& context) {
                         const DType type = context.in("data").dtype;
                         return inferReduced(context, type == DType::Undefined ? type
                                                      : type == DType::UInt8   ? DType::UInt32
                                                                               : DType::Int32);
                     }));
    registry.add(quantizedRow("MulInteger", "product of bytes without their zero points")
                     .in("A", kBytes, "T")
                     .optionalIn("A_zero_point", kBytes, "T")
                     .in("B", kBytes, "T")
                     .optionalIn("B_zero_point", kBytes, "T")
                     .out("C")
                     .runs(mulInteger, inferMulInteger));
    explain("com.microsoft", "QLinearAdd", dependence::quantizedPair, "A + B");
    explain("com.microsoft", "QLinearMul", dependence::quantizedPair, "A * B");
    explain("com.microsoft", "QLinearSigmoid", dependence::quantizedElementWise, "sigmoid(X)");
    explain("com.microsoft", "QLinearLeakyRelu", dependence::quantizedElementWise, "where(X < 0, alpha * X, X)");
    explain("com.microsoft", "QLinearGlobalAveragePool", dependence::quantizedChannelMean);
    explain("com.microsoft", "QLinearConcat", dependence::quantizedJoined);
    explain("com.microsoft", "QLinearWhere", dependence::quantizedElementWise, "where(condition, X, Y)");
    explain("com.microsoft", "QLinearReduceMean", dependence::quantizedMean);
    explain("com.microsoft", "NhwcMaxPool", channelsLastMaxTerms);
    explain("com.microsoft", "QLinearAveragePool", quantizedPoolTerms);
    explain("com.microsoft", "QLinearSoftmax", dependence::quantizedSoftmax);
    explain("com.microsoft", "QLinearConv", dependence::quantizedConvolved);
    explain("com.microsoft", "ReduceSumInteger", dependence::reduced, "sum(x)");
    explain("com.microsoft", "MulInteger", dependence::centredFactors);
}

}  // namespace sonde::ops
