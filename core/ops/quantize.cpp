// Quantisation and operators on quantised tensors: real = (quantised − zero point)·scale.

#include <algorithm>
#include <cmath>

#include "core/ops/dependence/region.h"
#include "core/ops/kernels/conv.h"
#include "core/ops/kernels/matmul.h"
#include "core/ops/support/quantization.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"
#include "core/tensor/cast.h"

namespace sonde::ops {

namespace {

/// Which element of a scale or zero point goes with an element of x: one for all, one along an axis, or one a block.
class Granularity {
  public:
    static base::Result<Granularity> of(const Tensor& x, const Tensor& scale, std::int64_t axis, std::int64_t block) {
        Granularity g;
        if (scale.numel() == 1 && block == 0) return g;
        SONDE_ASSIGN(const std::size_t at, axisOf(axis, x.rank()));
        g.m_dimSize = x.dim(at);
        for (std::size_t i = at + 1; i < x.rank(); ++i) g.m_inner *= x.dim(i);
        if (scale.rank() == 1 && block == 0) {
            if (scale.dim(0) != g.m_dimSize)
                return opError("scale " + scale.typeText() + " does not match axis " + std::to_string(at) + " of " +
                               x.typeText());
            g.m_kind = Kind::Axis;
            return g;
        }
        bool fits = scale.rank() == x.rank() && scale.dim(at) > 0;
        for (std::size_t i = 0; fits && i < x.rank(); ++i) fits = i == at || scale.dim(i) == x.dim(i);
        if (!fits) return opError("scale " + scale.typeText() + " does not match " + x.typeText());
        g.m_kind = Kind::Block;
        g.m_blocks = scale.dim(at);
        g.m_block = block > 0 ? block : (g.m_dimSize + g.m_blocks - 1) / g.m_blocks;
        if ((g.m_dimSize + g.m_block - 1) / g.m_block > g.m_blocks)
            return opError("block_size " + std::to_string(block) + " does not match scale " + scale.typeText());
        return g;
    }
    std::int64_t operator()(std::int64_t i) const {
        if (m_kind == Kind::One) return 0;
        const std::int64_t position = i / m_inner % m_dimSize;
        if (m_kind == Kind::Axis) return position;
        return (i / (m_inner * m_dimSize) * m_blocks + position / m_block) * m_inner + i % m_inner;
    }

  private:
    enum class Kind { One, Axis, Block } m_kind = Kind::One;
    std::int64_t m_inner = 1, m_dimSize = 1, m_blocks = 1, m_block = 1;
};

base::Result<DType> quantisedType(const Attributes& attributes, DType zeroPoint) {
    if (zeroPoint != DType::Undefined) return zeroPoint;
    const std::int64_t code = attributes.getInt("output_dtype", 0);
    if (code < 0 || code >= tensor::kDTypeCount)
        return opError("output_dtype " + std::to_string(code) + " is not supported");
    return code == 0 ? DType::UInt8 : static_cast<DType>(code);
}

base::Result<void> checkZeroPoint(const Tensor& zero, const Tensor& scale) {
    if (zero.numel() != scale.numel())
        return opError("zero point " + zero.typeText() + " must have the shape of the scale " + scale.typeText());
    return {};
}

base::Result<void> quantizeLinear(KernelContext& context) {
    const Tensor &x = context.in("x"), &scale = context.in("y_scale");
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(
        const DType to,
        quantisedType(attributes, context.has("y_zero_point") ? context.in("y_zero_point").dtype() : DType::Undefined));
    SONDE_ASSIGN(const Granularity at,
                 Granularity::of(x, scale, attributes.getInt("axis", 1), attributes.getInt("block_size", 0)));
    if (context.has("y_zero_point")) SONDE_TRY(checkZeroPoint(context.in("y_zero_point"), scale));
    SONDE_ASSIGN(const Tensor values, x.cast(DType::Float32));
    SONDE_ASSIGN(const Tensor scales, scale.cast(DType::Float32));
    SONDE_ASSIGN(const Tensor zeros, context.has("y_zero_point") ? context.in("y_zero_point").cast(DType::Float32)
                                                                 : Tensor::zeros(DType::Float32, scale.shape()));
    SONDE_ASSIGN(Tensor real, Tensor::allocate(DType::Float32, x.shape()));
    const std::optional<QuantizedRange> range = quantizedRange(to);
    context.pool().parallelFor(static_cast<std::size_t>(x.numel()), 8192, [&](std::size_t begin, std::size_t end) {
        for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
            const std::int64_t p = at(i);
            const float ratio = values.data<float>()[i] / scales.data<float>()[p];
            const double zero = static_cast<double>(zeros.data<float>()[p]);
            real.mutableData<float>()[i] = static_cast<float>(
                range ? quantized(static_cast<double>(ratio), zero, *range) : static_cast<double>(ratio) + zero);
        }
    });
    SONDE_ASSIGN(Tensor y, context.output(to, x.shape()));
    tensor::castElements(DType::Float32, real.bytes(), to, y.mutableBytes(), static_cast<std::size_t>(x.numel()),
                         attributes.getInt("saturate", 1) != 0);
    return {};
}

base::Result<void> inferQuantize(InferContext& context) {
    SONDE_ASSIGN(const DType to,
                 quantisedType(context.attributes(),
                               context.inputCount() > 2 ? context.in("y_zero_point").dtype : DType::Undefined));
    const bool open =
        context.inputCount() > 2 && context.has("y_zero_point") && context.in("y_zero_point").dtype == DType::Undefined;
    context.set(TypeInfo::tensor(open ? DType::Undefined : to, context.in("x").shape));
    return {};
}

base::Result<void> dequantizeLinear(KernelContext& context) {
    const Tensor &x = context.in("x"), &scale = context.in("x_scale");
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(const Granularity at,
                 Granularity::of(x, scale, attributes.getInt("axis", 1), attributes.getInt("block_size", 0)));
    if (context.has("x_zero_point")) SONDE_TRY(checkZeroPoint(context.in("x_zero_point"), scale));
    SONDE_ASSIGN(const Tensor values, wide(x));
    SONDE_ASSIGN(const Tensor scales, wide(scale));
    SONDE_ASSIGN(const Tensor zeros,
                 context.has("x_zero_point") ? wide(context.in("x_zero_point")) : wideZeros(scale.shape()));
    SONDE_ASSIGN(Tensor y, wideZeros(x.shape()));
    context.pool().parallelFor(static_cast<std::size_t>(x.numel()), 8192, [&](std::size_t begin, std::size_t end) {
        for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
            const std::int64_t p = at(i);
            y.mutableData<double>()[i] =
                (values.data<double>()[i] - zeros.data<double>()[p]) * scales.data<double>()[p];
        }
    });
    const std::int64_t code = attributes.getInt("output_dtype", 0);
    if (code < 0 || code >= tensor::kDTypeCount)
        return opError("output_dtype " + std::to_string(code) + " is not supported");
    return setNarrow(context, 0, y, code == 0 ? scale.dtype() : static_cast<DType>(code));
}

/// Both ways: x with the scale and zero point of its place.
base::Result<Dependence> scaledTerms(const ElementCall& call, Name scale, Name zero, std::string_view formula) {
    const KernelContext& context = call.context;
    SONDE_ASSIGN(const Granularity at,
                 Granularity::of(context.in("x"), context.in(scale), context.attributes().getInt("axis", 1),
                                 context.attributes().getInt("block_size", 0)));
    const std::int64_t element = at(call.element);
    Dependence dependence;
    dependence.formula = formula;
    dependence::addElement(dependence, dependence.part("x"), call, context.position("x"), call.element);
    dependence::addElement(dependence, dependence.part("scale"), call, context.position(scale), element);
    if (context.has(zero))
        dependence::addElement(dependence, dependence.part("zero_point"), call, context.position(zero), element);
    else dependence.number("zero_point", 0);
    return dependence;
}

base::Result<Dependence> quantizedTerms(const ElementCall& call) {
    SONDE_ASSIGN(Dependence dependence, scaledTerms(call, "y_scale", "y_zero_point", "x / scale + zero_point"));
    const std::optional<QuantizedRange> range = quantizedRange(call.result.dtype());
    if (!range) return opError("there is no formula for " + call.result.typeText());
    dependence.formula = "clip(round(x / scale) + zero_point, low, high)";
    dependence.number("low", range->low);
    dependence.number("high", range->high);
    return dependence;
}

base::Result<Dependence> dequantizedTerms(const ElementCall& call) {
    return scaledTerms(call, "x_scale", "x_zero_point", "(x - zero_point) * scale");
}

base::Result<void> inferDequantize(InferContext& context) {
    const std::int64_t code = context.attributes().getInt("output_dtype", 0);
    context.set(TypeInfo::tensor(
        code > 0 && code < tensor::kDTypeCount ? static_cast<DType>(code) : context.in("x_scale").dtype,
        context.in("x").shape));
    return {};
}

/// To uint8 over the range of x with 0 in it. Outputs: y, scale, zero point.
base::Result<void> dynamicQuantize(KernelContext& context) {
    const Tensor& x = context.in("x");
    float low = 0, high = 0;
    for (float v : x.span<float>()) {
        low = std::min(low, v);
        high = std::max(high, v);
    }
    const float scale = (high - low) / 255.0F;
    const QuantizedRange range{0, 255};
    const auto zero =
        static_cast<std::uint8_t>(scale == 0 ? 0.0 : quantized(static_cast<double>(-low / scale), 0, range));
    SONDE_ASSIGN(Tensor y, context.output(DType::UInt8, x.shape()));
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        const float ratio = scale == 0 ? 0.0F : x.data<float>()[i] / scale;
        y.mutableData<std::uint8_t>()[i] =
            static_cast<std::uint8_t>(quantized(static_cast<double>(ratio), zero, range));
    }
    if (context.wants("y_scale")) context.setOutput("y_scale", Value(Tensor::scalar<float>(scale)));
    if (context.wants("y_zero_point")) context.setOutput("y_zero_point", Value(Tensor::scalar<std::uint8_t>(zero)));
    return {};
}

Value inputOr(KernelContext& context, Name name) { return context.has(name) ? context.value(name) : Value(); }

base::Result<void> matMulInteger(KernelContext& context) {
    const Tensor &a = context.in("A"), &b = context.in("B");
    SONDE_ASSIGN(const Tensor x, centred(a, inputOr(context, "a_zero_point"), a.rank() > 1 ? -2 : -1));
    SONDE_ASSIGN(const Tensor y, centred(b, inputOr(context, "b_zero_point"), -1));
    SONDE_ASSIGN(const Tensor product, kernels::matmul(context, x, y));
    return setNarrow(context, 0, product, DType::Int32);
}

/// The shape that a product or convolution of ai.onnx has for these two inputs, with the dtype.
base::Result<void> inferLike(InferContext& context, std::string_view name, Name left, Name right, DType dtype) {
    TypeInfo operands[2] = {context.in(left), context.in(right)};
    InferContext inner(operands, {}, context.attributes(), 1);
    SONDE_TRY(inner.inferAs(*Registry::all().find("", name, 0)));
    context.set(TypeInfo::tensor(dtype, inner.outputs()[0].shape));
    return {};
}

/// round(product · sa·sb/sy) + zero point, with scales along the last axis of the product (`columns`) or along axis 1.
base::Result<void> requantise(KernelContext& context, const Tensor& product, const Tensor& sa, const Tensor& sb,
                              const Tensor& sy, const Tensor& zero, std::size_t axis, std::size_t rowAxis) {
    std::int64_t inner = 1, rowInner = 1;
    for (std::size_t i = axis + 1; i < product.rank(); ++i) inner *= product.dim(i);
    for (std::size_t i = rowAxis + 1; i < product.rank(); ++i) rowInner *= product.dim(i);
    const std::optional<QuantizedRange> range = quantizedRange(zero.dtype());
    if (!range && !tensor::isFloating(zero.dtype()))
        return opError("cannot quantise to " + std::string(tensor::name(zero.dtype())));
    const std::int64_t dimSize = product.dim(axis), rows = product.dim(rowAxis);
    if ((sb.numel() != 1 && sb.numel() != dimSize) || (sa.numel() != 1 && sa.numel() != rows) || sy.numel() != 1 ||
        zero.numel() != 1) {
        return opError("the scales do not match " + product.typeText());
    }
    SONDE_ASSIGN(Tensor y, wideZeros(product.shape()));
    for (std::int64_t i = 0; i < product.numel(); ++i) {
        const double factor = sa.toDouble(sa.numel() == 1 ? 0 : i / rowInner % rows) *
                              sb.toDouble(sb.numel() == 1 ? 0 : i / inner % dimSize) / sy.toDouble(0);
        const double ratio = product.data<double>()[i] * factor;
        // float8 rounds by itself.
        y.mutableData<double>()[i] = range ? quantized(ratio, zero.toDouble(0), *range) : ratio + zero.toDouble(0);
    }
    return setNarrow(context, 0, y, zero.dtype());
}

/// a, its scale and zero point, b, its scale and zero point, scale and zero point of y.
base::Result<void> qLinearMatMul(KernelContext& context) {
    const Tensor &a = context.in("a"), &b = context.in("b");
    SONDE_ASSIGN(const Tensor x, centred(a, context.value("a_zero_point"), a.rank() > 1 ? -2 : -1));
    SONDE_ASSIGN(const Tensor y, centred(b, context.value("b_zero_point"), -1));
    SONDE_ASSIGN(const Tensor product, kernels::matmul(context, x, y));
    if (product.rank() < 2) return opError("needs matrices");
    return requantise(context, product, context.in("a_scale"), context.in("b_scale"), context.in("y_scale"),
                      context.in("y_zero_point"), product.rank() - 1, product.rank() - 2);
}

base::Result<Tensor> integerConv(KernelContext& context, const Tensor& x, const Tensor& w) {
    if (x.rank() < 3 || w.rank() != x.rank())
        return opError("cannot convolve " + x.typeText() + " with weights " + w.typeText());
    SONDE_ASSIGN(const Window window, windowFromAttributes(context.attributes(), std::span(w.shape().dims()).subspan(2),
                                                           std::span(x.shape().dims()).subspan(2)));
    SONDE_TRY(kernels::convolve(context, x, w, nullptr, window, context.attributes().getInt("group", 1)));
    std::vector<Value> outputs = context.takeOutputs();
    Tensor result = outputs[0].tensor();
    context.setOutputs(std::move(outputs));
    return result;
}

base::Result<void> convInteger(KernelContext& context) {
    SONDE_ASSIGN(const Tensor x, centred(context.in("x"), inputOr(context, "x_zero_point"), 1));
    SONDE_ASSIGN(const Tensor w, centred(context.in("w"), inputOr(context, "w_zero_point"), 0));
    SONDE_ASSIGN(const Tensor product, integerConv(context, x, w));
    return setNarrow(context, 0, product, DType::Int32);
}

/// x, scale, zero point, w, scale, zero point, scale and zero point of y, bias (int32, scale sx·sw).
base::Result<void> qLinearConv(KernelContext& context) {
    SONDE_ASSIGN(const Tensor x, centred(context.in("x"), context.value("x_zero_point"), 1));
    SONDE_ASSIGN(const Tensor w, centred(context.in("w"), context.value("w_zero_point"), 0));
    SONDE_ASSIGN(Tensor product, integerConv(context, x, w));
    if (const Tensor* bias = context.optionalIn("B")) {
        if (bias->numel() != product.dim(1)) return opError("bias " + bias->typeText() + " does not match");
        std::int64_t inner = 1;
        for (std::size_t i = 2; i < product.rank(); ++i) inner *= product.dim(i);
        for (std::int64_t i = 0; i < product.numel(); ++i)
            product.mutableData<double>()[i] += bias->toDouble(i / inner % product.dim(1));
    }
    return requantise(context, product, context.in("x_scale"), context.in("w_scale"), context.in("y_scale"),
                      context.in("y_zero_point"), 1, 0);
}

Row convRow(std::string_view name, std::string_view summary) {
    Row row(name, 10, summary, Category::Quantization);
    row.attrString("auto_pad", "NOTSET")
        .attrInts("dilations")
        .attrInt("group", 1)
        .attrInts("kernel_shape")
        .attrInts("pads")
        .attrInts("strides");
    return row;
}

}  // namespace

void define_quantize(Registry& registry) {
    registry.add(Row("QuantizeLinear", 10, "x divided by a scale, rounded, plus a zero point", Category::Quantization)
                     .in("x")
                     .in("y_scale")
                     .optionalIn("y_zero_point")
                     .out("y")
                     .attrInt("axis", 1)
                     .attrInt("block_size", 0)
                     .attrInt("output_dtype", 0)
                     .attrInt("precision", 0)
                     .attrInt("saturate", 1)
                     .runs(quantizeLinear, inferQuantize));
    registry.add(Row("DequantizeLinear", 10, "(x − zero point)·scale", Category::Quantization)
                     .in("x")
                     .in("x_scale")
                     .optionalIn("x_zero_point")
                     .out("y")
                     .attrInt("axis", 1)
                     .attrInt("block_size", 0)
                     .attrInt("output_dtype", 0)
                     .runs(dequantizeLinear, inferDequantize));
    registry.add(
        Row("DynamicQuantizeLinear", 11, "quantises to uint8 over the range of the values", Category::Quantization)
            .in("x", kFloat32)
            .out("y")
            .out("y_scale")
            .out("y_zero_point")
            .runs(dynamicQuantize, [](InferContext& context) -> base::Result<void> {
                context.set(TypeInfo::tensor(DType::UInt8, context.in("x").shape));
                context.set("y_scale", TypeInfo::tensor(DType::Float32, Shape{}));
                context.set("y_zero_point", TypeInfo::tensor(DType::UInt8, Shape{}));
                return {};
            }));
    registry.add(Row("MatMulInteger", 10, "matrix product of bytes, exactly", Category::Quantization)
                     .in("A", kBytes)
                     .in("B", kBytes)
                     .optionalIn("a_zero_point", kBytes)
                     .optionalIn("b_zero_point", kBytes)
                     .out("Y")
                     .runs(matMulInteger,
                           [](InferContext& context) { return inferLike(context, "MatMul", "A", "B", DType::Int32); }));
    registry.add(
        Row("QLinearMatMul", 10, "matrix product of quantised tensors, quantised again", Category::Quantization)
            .in("a")
            .in("a_scale")
            .in("a_zero_point")
            .in("b")
            .in("b_scale")
            .in("b_zero_point")
            .in("y_scale")
            .in("y_zero_point")
            .out("y")
            .runs(qLinearMatMul, [](InferContext& context) {
                return inferLike(context, "MatMul", "a", "b", context.in("y_zero_point").dtype);
            }));
    registry.add(convRow("ConvInteger", "convolution of bytes, exactly")
                     .in("x", kBytes)
                     .in("w", kBytes)
                     .optionalIn("x_zero_point", kBytes)
                     .optionalIn("w_zero_point", kBytes)
                     .out("y")
                     .runs(convInteger,
                           [](InferContext& context) { return inferLike(context, "Conv", "x", "w", DType::Int32); }));
    registry.add(convRow("QLinearConv", "convolution of quantised tensors, quantised again")
                     .in("x")
                     .in("x_scale")
                     .in("x_zero_point")
                     .in("w")
                     .in("w_scale")
                     .in("w_zero_point")
                     .in("y_scale")
                     .in("y_zero_point")
                     .optionalIn("B")
                     .out("y")
                     .runs(qLinearConv, [](InferContext& context) {
                         return inferLike(context, "Conv", "x", "w", context.in("y_zero_point").dtype);
                     }));
    explain("", "QuantizeLinear", quantizedTerms);
    explain("", "DequantizeLinear", dequantizedTerms);
}

}  // namespace sonde::ops
