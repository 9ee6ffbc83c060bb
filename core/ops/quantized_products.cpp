// Products and convolutions of quantised tensors: real = (quantised − zero point)·scale. Sums of bytes are taken as
// integers, by the loops of core/ops/kernels/integer_*; other types, and what these loops cannot do, in float64, which
// is as exact.

#include <cmath>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/conv.h"
#include "core/ops/kernels/integer_conv.h"
#include "core/ops/kernels/integer_matmul.h"
#include "core/ops/kernels/matmul.h"
#include "core/ops/kernels/quantized_values.h"
#include "core/ops/support/conv_row.h"
#include "core/ops/support/quantization.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

Value valueOr(KernelContext& context, Name name) { return context.has(name) ? context.value(name) : Value(); }

base::Result<void> matMulInteger(KernelContext& context) {
    const Tensor &a = context.in("A"), &b = context.in("B");
    const Value zeroA = valueOr(context, "a_zero_point"), zeroB = valueOr(context, "b_zero_point");
    if (const kernels::IntegerMatmul call{a, b, zeroA, zeroB}; kernels::fitsIntegers(call)) {
        SONDE_TRY(kernels::integerMatmul(context, call));
        return {};
    }
    context.setPrepared(nullptr);
    SONDE_ASSIGN(const Tensor x, centred(a, zeroA, a.rank() > 1 ? -2 : -1));
    SONDE_ASSIGN(const Tensor y, centred(b, zeroB, -1));
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

/// The factor of sums that are quantised again: sa·sb/sy in float32, as in ONNX Runtime.
float requantisingFactor(float sa, float sb, float sy) { return sa * sb / sy; }

/// round(product · sa·sb/sy) + zero point in float32, with scales along the last axis of the product (`columns`) or
/// along axis 1.
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
        const double left = sa.toDouble(sa.numel() == 1 ? 0 : i / rowInner % rows),
                     right = sb.toDouble(sb.numel() == 1 ? 0 : i / inner % dimSize);
        const float factor =
            requantisingFactor(static_cast<float>(left), static_cast<float>(right), static_cast<float>(sy.toDouble(0)));
        const double ratio = static_cast<float>(product.data<double>()[i]) * factor;
        // float8 rounds by itself.
        y.mutableData<double>()[i] = range ? quantized(ratio, zero.toDouble(0), *range) : ratio + zero.toDouble(0);
    }
    return setNarrow(context, 0, y, zero.dtype());
}

/// What requantise() does, of sums of bytes and to bytes: sa·sb/sy is the factor, with sb for each of `count` rows of
/// weights or for all.
class ByteScales {
  public:
    static std::optional<ByteScales> of(const Tensor& sa, const Tensor& sb, const Tensor& sy, const Tensor& zero,
                                        std::int64_t count) {
        if (!kernels::isByte(zero.dtype()) || zero.numel() != 1 || sa.numel() != 1 || sy.numel() != 1 ||
            (sb.numel() != 1 && sb.numel() != count)) {
            return std::nullopt;
        }
        ByteScales scales;
        scales.m_base = kernels::requantisationTo(zero.dtype(), static_cast<std::int32_t>(zero.toDouble(0)));
        const auto rows = sb.cast(DType::Float32);
        if (!rows) return std::nullopt;
        const auto left = static_cast<float>(sa.toDouble(0)), divisor = static_cast<float>(sy.toDouble(0));
        for (const float row : rows->span<float>()) {
            scales.m_factors.push_back(requantisingFactor(left, row, divisor));
            if (!std::isfinite(scales.m_factors.back())) return std::nullopt;
        }
        return scales;
    }

    /// Of one row of weights.
    kernels::Requantisation ofRow(std::int64_t row) const {
        kernels::Requantisation by = m_base;
        by.factor = m_factors[m_factors.size() == 1 ? 0 : static_cast<std::size_t>(row)];
        return by;
    }
    /// Of elements that go with rows of weights from `first` on.
    kernels::Requantisation from(std::int64_t first) const {
        kernels::Requantisation by = ofRow(first);
        if (m_factors.size() > 1) by.factors = m_factors.data() + first;
        return by;
    }

  private:
    kernels::Requantisation m_base;
    std::vector<float> m_factors;
};

/// a, its scale and zero point, b, its scale and zero point, scale and zero point of y.
base::Result<void> qLinearMatMul(KernelContext& context) {
    const Tensor &a = context.in("a"), &b = context.in("b");
    const kernels::IntegerMatmul call{a, b, context.value("a_zero_point"), context.value("b_zero_point")};
    if (kernels::fitsIntegers(call) && a.rank() > 1) {
        const Tensor& zero = context.in("y_zero_point");
        const std::int64_t n = b.dim(b.rank() - 1);
        if (const auto scales =
                ByteScales::of(context.in("a_scale"), context.in("b_scale"), context.in("y_scale"), zero, n)) {
            SONDE_ASSIGN(const Shape shape, kernels::matmulShape(a.shape(), b.shape()));
            SONDE_ASSIGN(Tensor y, context.output(zero.dtype(), shape));
            std::uint8_t* const bytes = kernels::mutableBytesOf(y);
            kernels::integerMatmul(context, call,
                                   [&](std::int64_t row, std::int64_t n0, std::int64_t count, const std::int32_t* sums,
                                       std::int32_t offset) {
                                       kernels::Requantisation by = scales->from(n0);
                                       by.offset = offset;
                                       kernels::requantiseBytes(sums, by, bytes + row * n + n0, count);
                                   });
            return {};
        }
    }
    context.setPrepared(nullptr);
    SONDE_ASSIGN(const Tensor x, centred(a, context.value("a_zero_point"), a.rank() > 1 ? -2 : -1));
    SONDE_ASSIGN(const Tensor y, centred(b, context.value("b_zero_point"), -1));
    SONDE_ASSIGN(const Tensor product, kernels::matmul(context, x, y));
    if (product.rank() < 2) return opError("needs matrices");
    return requantise(context, product, context.in("a_scale"), context.in("b_scale"), context.in("y_scale"),
                      context.in("y_zero_point"), product.rank() - 1, product.rank() - 2);
}

base::Result<Window> windowOf(const KernelContext& context, const Tensor& x, const Tensor& w) {
    if (x.rank() < 3 || w.rank() != x.rank())
        return opError("cannot convolve " + x.typeText() + " with weights " + w.typeText());
    return windowFromAttributes(context.attributes(), std::span(w.shape().dims()).subspan(2),
                                std::span(x.shape().dims()).subspan(2));
}

/// The convolution of tensors of float64.
base::Result<Tensor> wideConv(KernelContext& context, const Tensor& x, const Tensor& w, const Window& window) {
    context.setPrepared(nullptr);
    SONDE_TRY(kernels::convolve(context, x, w, nullptr, window, context.attributes().getInt("group", 1)));
    std::vector<Value> outputs = context.takeOutputs();
    Tensor result = outputs[0].tensor();
    context.setOutputs(std::move(outputs));
    return result;
}

/// Sums as they are.
class IntegerResult : public kernels::SumsOfBytes {
  public:
    explicit IntegerResult(std::int32_t* y) : m_y(y) {}
    void take(std::int64_t, std::int64_t at, std::int64_t count, const std::int32_t* sums,
              std::int32_t offset) const override {
        kernels::addOffset(sums, offset, m_y + at, count);
    }

  private:
    std::int32_t* m_y;
};

base::Result<void> convInteger(KernelContext& context) {
    const Tensor &x = context.in("x"), &w = context.in("w");
    const Value zeroX = valueOr(context, "x_zero_point"), zeroW = valueOr(context, "w_zero_point");
    SONDE_ASSIGN(const Window window, windowOf(context, x, w));
    const kernels::IntegerConv call{x, w, zeroX, zeroW, window, context.attributes().getInt("group", 1)};
    if (kernels::fitsIntegers(call)) {
        SONDE_ASSIGN(const Shape shape, kernels::shapeOf(call));
        SONDE_ASSIGN(Tensor y, context.output(DType::Int32, shape));
        kernels::convolveIntegers(context, call, IntegerResult(y.mutableData<std::int32_t>()));
        return {};
    }
    SONDE_ASSIGN(const Tensor wideX, centred(x, zeroX, 1));
    SONDE_ASSIGN(const Tensor wideW, centred(w, zeroW, 0));
    SONDE_ASSIGN(const Tensor product, wideConv(context, wideX, wideW, window));
    return setNarrow(context, 0, product, DType::Int32);
}

/// Sums with the bias, quantised again.
class ByteResult : public kernels::SumsOfBytes {
  public:
    ByteResult(std::uint8_t* y, ByteScales scales, const Tensor* bias)
        : m_y(y), m_scales(std::move(scales)), m_bias(bias ? bias->data<std::int32_t>() : nullptr) {}
    void take(std::int64_t channel, std::int64_t at, std::int64_t count, const std::int32_t* sums,
              std::int32_t offset) const override {
        kernels::Requantisation by = requantisation(channel);
        by.offset = offset;
        kernels::requantiseBytes(sums, by, m_y + at, count);
    }
    std::uint8_t* bytes() const override { return m_y; }
    kernels::Requantisation requantisation(std::int64_t channel) const override {
        kernels::Requantisation by = m_scales.ofRow(channel);
        if (m_bias) by.bias = m_bias[channel];
        return by;
    }

  private:
    std::uint8_t* m_y;
    ByteScales m_scales;
    const std::int32_t* m_bias;
};

/// x, scale, zero point, w, scale, zero point, scale and zero point of y, bias (int32, scale sx·sw).
base::Result<void> qLinearConv(KernelContext& context) {
    const Tensor &x = context.in("x"), &w = context.in("w"), &zero = context.in("y_zero_point");
    const Value &zeroX = context.value("x_zero_point"), &zeroW = context.value("w_zero_point");
    SONDE_ASSIGN(const Window window, windowOf(context, x, w));
    const Tensor* const bias = context.optionalIn("B");
    if (bias && bias->numel() != w.dim(0)) return opError("bias " + bias->typeText() + " does not match");
    const kernels::IntegerConv call{x, w, zeroX, zeroW, window, context.attributes().getInt("group", 1)};
    if (kernels::fitsIntegers(call) && (!bias || bias->dtype() == DType::Int32)) {
        if (auto scales =
                ByteScales::of(context.in("x_scale"), context.in("w_scale"), context.in("y_scale"), zero, w.dim(0))) {
            SONDE_ASSIGN(const Shape shape, kernels::shapeOf(call));
            SONDE_ASSIGN(Tensor y, context.output(zero.dtype(), shape));
            kernels::convolveIntegers(context, call, ByteResult(kernels::mutableBytesOf(y), std::move(*scales), bias));
            return {};
        }
    }
    SONDE_ASSIGN(const Tensor wideX, centred(x, zeroX, 1));
    SONDE_ASSIGN(const Tensor wideW, centred(w, zeroW, 0));
    SONDE_ASSIGN(Tensor product, wideConv(context, wideX, wideW, window));
    if (bias) {
        std::int64_t inner = 1;
        for (std::size_t i = 2; i < product.rank(); ++i) inner *= product.dim(i);
        for (std::int64_t i = 0; i < product.numel(); ++i)
            product.mutableData<double>()[i] += bias->toDouble(i / inner % product.dim(1));
    }
    return requantise(context, product, context.in("x_scale"), context.in("w_scale"), context.in("y_scale"),
                      context.in("y_zero_point"), 1, 0);
}

base::Result<std::unique_ptr<PreparedState>> prepareConvOfBytes(const Constants& constants,
                                                                const Attributes& attributes, RunEnvironment&) {
    return kernels::prepareIntegerConv(constants["w"], constants["w_zero_point"], attributes.getInt("group", 1));
}

Row convRow(std::string_view name, std::string_view summary) {
    return withConvAttributes(Row(name, 10, summary, Category::Quantization));
}

}  // namespace

void define_quantized_products(Registry& registry) {
    registry.add(Row("MatMulInteger", 10, "matrix product of bytes, exactly", Category::Quantization)
                     .in("A", kBytes)
                     .in("B", kBytes)
                     .optionalIn("a_zero_point", kBytes)
                     .optionalIn("b_zero_point", kBytes)
                     .out("Y")
                     .runs(matMulInteger,
                           [](InferContext& context) { return inferLike(context, "MatMul", "A", "B", DType::Int32); })
                     .prepares([](const Constants& constants, const Attributes&, RunEnvironment& environment) {
                         return kernels::prepareRightIntegers(constants["B"], constants["b_zero_point"], false,
                                                              environment);
                     }));
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
            .runs(qLinearMatMul,
                  [](InferContext& context) {
                      return inferLike(context, "MatMul", "a", "b", context.in("y_zero_point").dtype);
                  })
            .prepares([](const Constants& constants, const Attributes&, RunEnvironment& environment) {
                return kernels::prepareRightIntegers(constants["b"], constants["b_zero_point"], false, environment);
            }));
    registry.add(
        convRow("ConvInteger", "convolution of bytes, exactly")
            .in("x", kBytes)
            .in("w", kBytes)
            .optionalIn("x_zero_point", kBytes)
            .optionalIn("w_zero_point", kBytes)
            .out("y")
            .runs(convInteger, [](InferContext& context) { return inferLike(context, "Conv", "x", "w", DType::Int32); })
            .prepares(prepareConvOfBytes));
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
                     .runs(qLinearConv,
                           [](InferContext& context) {
                               return inferLike(context, "Conv", "x", "w", context.in("y_zero_point").dtype);
                           })
                     .prepares(prepareConvOfBytes));
    explain("", "MatMulInteger", dependence::integerProduct);
    explain("", "QLinearMatMul", dependence::quantizedProduct);
    explain("", "ConvInteger", dependence::integerConvolved);
    explain("", "QLinearConv", dependence::quantizedConvolved);
}

}  // namespace sonde::ops
