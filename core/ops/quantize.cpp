// Quantisation: real = (quantised − zero point)·scale.

#include <algorithm>
#include <cmath>

#include "core/ops/dependence/region.h"
#include "core/ops/kernels/finite.h"
#include "core/ops/kernels/quantized_values.h"
#include "core/ops/support/constant_output.h"
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

    /// So many elements side by side have the same, for all of x (`count`).
    std::int64_t stretch(std::int64_t count) const {
        if (m_kind == Kind::One) return count;
        return m_kind == Kind::Axis ? m_inner : 1;
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

/// f(first element, count, element of the scale) for stretches that share a scale, where they are long enough.
template <typename F>
bool forStretches(const Granularity& at, std::int64_t count, F&& f) {
    constexpr std::int64_t kMinStretch = 16;
    const std::int64_t stretch = at.stretch(count);
    if (count > 0 && stretch < kMinStretch && stretch < count) return false;
    for (std::int64_t i = 0; i < count; i += stretch)
        if (!f(i, stretch, at(i))) return false;
    return true;
}

std::int32_t zeroAt(const Tensor* zeros, std::int64_t index) {
    return zeros ? static_cast<std::int32_t>(zeros->toDouble(index)) : 0;
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
    SONDE_ASSIGN(Tensor y, context.output(to, x.shape()));
    const Tensor* const zeroPoint = context.optionalIn("y_zero_point");
    const auto quantise = [&](std::int64_t first, std::int64_t count, std::int64_t p) {
        return kernels::quantiseBytes({values.data<float>() + first, static_cast<std::size_t>(count)},
                                      scales.data<float>()[p], zeroAt(zeroPoint, p), to,
                                      kernels::mutableBytesOf(y) + first, context.pool());
    };
    if (kernels::isByte(to) && forStretches(at, x.numel(), quantise)) return {};
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

/// The real numbers of constant weights.
class DequantizedConstant : public ConstantOutput {
  public:
    DequantizedConstant(Value values, bool isFinite, bool hasZeros)
        : ConstantOutput(std::move(values), isFinite), hasZeros(hasZeros) {}

    const bool hasZeros;  ///< of zero points that were given
};

base::Result<void> dequantizeLinear(KernelContext& context) {
    const Tensor &x = context.in("x"), &scale = context.in("x_scale");
    const Attributes& attributes = context.attributes();
    const auto* constant = context.prepared<DequantizedConstant>();
    if (constant && constant->hasZeros == context.has("x_zero_point")) {
        context.setOutput(constant->value);
        return {};
    }
    SONDE_ASSIGN(const Granularity at,
                 Granularity::of(x, scale, attributes.getInt("axis", 1), attributes.getInt("block_size", 0)));
    if (context.has("x_zero_point")) SONDE_TRY(checkZeroPoint(context.in("x_zero_point"), scale));
    const std::int64_t code = attributes.getInt("output_dtype", 0);
    if (code < 0 || code >= tensor::kDTypeCount)
        return opError("output_dtype " + std::to_string(code) + " is not supported");
    const DType to = code == 0 ? scale.dtype() : static_cast<DType>(code);
    if (kernels::isByte(x.dtype()) && scale.dtype() == DType::Float32 && to == DType::Float32) {
        // x − zero point and its product with the scale are exact in float64: float32 rounds once, as below.
        SONDE_ASSIGN(Tensor y, context.output(to, x.shape()));
        const Tensor* const zeros = context.optionalIn("x_zero_point");
        const auto dequantise = [&](std::int64_t first, std::int64_t count, std::int64_t p) {
            kernels::dequantiseBytes(kernels::bytesOf(x) + first, x.dtype(), zeroAt(zeros, p), scale.data<float>()[p],
                                     {y.mutableData<float>() + first, static_cast<std::size_t>(count)}, context.pool());
            return true;
        };
        if (forStretches(at, x.numel(), dequantise)) return {};
    }
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
    return setNarrow(context, 0, y, to);
}

/// Of a constant with a constant scale. Not of single numbers, which cost nothing.
base::Result<std::unique_ptr<PreparedState>> prepareDequantize(const Constants& constants, const Attributes& attributes,
                                                               RunEnvironment& environment) {
    const Value &x = constants["x"], &scale = constants["x_scale"], &zero = constants["x_zero_point"];
    if (!x.isTensor() || !scale.isTensor() || x.tensor().numel() <= 1) return std::unique_ptr<PreparedState>();
    const Value inputs[] = {x, scale, zero};
    SONDE_ASSIGN(std::vector<Value> values, call(*Registry::all().find("", "DequantizeLinear", 0),
                                                 std::span(inputs, zero.isNone() ? 2 : 3), attributes, 1, environment));
    const bool isFinite = !kernels::countBad(values.front().tensor(), *environment.pool).any();
    return std::unique_ptr<PreparedState>(
        std::make_unique<DequantizedConstant>(std::move(values.front()), isFinite, !zero.isNone()));
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
    dependence.formula = "clip(round(float32(x / scale)) + zero_point, low, high)";
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
    kernels::extendRange(x.span<float>(), low, high);
    const float scale = (high - low) / 255.0F;
    const QuantizedRange range{0, 255};
    const auto zero =
        static_cast<std::uint8_t>(scale == 0 ? 0.0 : quantized(static_cast<double>(-low / scale), 0, range));
    SONDE_ASSIGN(Tensor y, context.output(DType::UInt8, x.shape()));
    if (scale == 0 || !kernels::quantiseBytes(x.span<float>(), scale, zero, DType::UInt8, y.mutableData<std::uint8_t>(),
                                              context.pool())) {
        for (std::int64_t i = 0; i < x.numel(); ++i) {
            const float ratio = scale == 0 ? 0.0F : x.data<float>()[i] / scale;
            y.mutableData<std::uint8_t>()[i] =
                static_cast<std::uint8_t>(quantized(static_cast<double>(ratio), zero, range));
        }
    }
    if (context.wants("y_scale")) context.setOutput("y_scale", Value(Tensor::scalar<float>(scale)));
    if (context.wants("y_zero_point")) context.setOutput("y_zero_point", Value(Tensor::scalar<std::uint8_t>(zero)));
    return {};
}

/// The whole input decides on scale and zero point, which are outputs themselves, and so terms of the elements.
base::Result<Dependence> dynamicallyQuantizedTerms(const ElementCall& call) {
    const Tensor& x = call.context.in("x");
    Dependence made;
    const auto addOutput = [&](std::string_view name, std::size_t output) -> base::Result<void> {
        DependenceTerm term;
        term.part = made.part(name);
        term.input = static_cast<std::uint32_t>(output), term.isOutput = true;
        if (output < call.outputs.size() && call.outputs[output].isTensor()) {
            term.value = call.outputs[output].tensor().toDouble(0);
        } else {
            const Value inputs[] = {Value(x)};
            SONDE_ASSIGN(const std::vector<Value> results,
                         ops::call(call.op, inputs, {}, 3, call.context.environment(), call.context.version()));
            term.value = results[output].tensor().toDouble(0);
        }
        made.terms.push_back(term);
        return {};
    };
    if (call.output != 1) SONDE_TRY(addOutput("y_scale", 1));
    const bool isZero = call.output != 1 && made.terms.front().value == 0;  // all elements are
    if (call.output == 0) {
        dependence::addElement(made, made.part("x"), call, 0, call.element);
        SONDE_TRY(addOutput("y_zero_point", 2));
        made.formula = isZero ? "y_zero_point" : "clip(round(float32(x / y_scale)) + y_zero_point, 0, 255)";
        return made;
    }
    const std::uint32_t part = made.listPart("x");
    SONDE_TRY(dependence::addRegion(made, part, call, 0, dependence::Region::all(x.shape())));
    // Only the least and the largest element count, 0 among them.
    DependenceTerm *least = nullptr, *most = nullptr;
    for (DependenceTerm& term : made.terms) {
        if (term.part != part || term.isOutput) continue;
        term.weight = 0;
        if (term.value < (least ? least->value : 0)) least = &term;
        if (term.value > (most ? most->value : 0)) most = &term;
    }
    if (least) least->weight = call.output == 1 ? -1.0 / 255 : -1;
    if (most && call.output == 1) most->weight = 1.0 / 255;
    made.formula = call.output == 1 ? "(maximum(max(x), 0) - minimum(min(x), 0)) / 255"
                   : isZero         ? "0"
                                    : "clip(round(float32(-minimum(min(x), 0) / y_scale)), 0, 255)";
    return made;
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
                     .runs(dequantizeLinear, inferDequantize)
                     .prepares(prepareDequantize));
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
    explain("", "QuantizeLinear", quantizedTerms);
    explain("", "DequantizeLinear", dequantizedTerms);
    explain("", "DynamicQuantizeLinear", dynamicallyQuantizedTerms);
    explain("com.microsoft", "QuantizeLinear", quantizedTerms);
    explain("com.microsoft", "DequantizeLinear", dequantizedTerms);
}

}  // namespace sonde::ops
