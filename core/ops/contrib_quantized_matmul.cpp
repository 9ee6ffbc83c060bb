// com.microsoft: matrix products of quantised tensors.

#include <cmath>
#include <optional>
#include <utility>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/integer_matmul.h"
#include "core/ops/kernels/quantized_values.h"
#include "core/ops/support/contrib.h"

namespace sonde::ops {

namespace {

/// The product of integers, exactly: inputs of any integer dtype without their zero points (a's by rows, b's by
/// columns). In float64.
Tensor integerProduct(Eager& e, const Tensor& a, const Value& zeroA, const Tensor& b, const Value& zeroB) {
    if (const kernels::IntegerMatmul call{a, b, zeroA, zeroB}; kernels::fitsIntegers(call))
        return e.as(e.get(kernels::integerMatmul(e.context(), call)), DType::Float64);
    const Tensor x = e.get(centred(a, zeroA, a.rank() > 1 ? -2 : -1)), y = e.get(centred(b, zeroB, -1));
    return e("matmul", x, y);
}

/// product·scale of a·scale of b (by column) + bias, rounded to float32 or what is asked for.
Tensor scaled(Eager& e, const Tensor& product, const Tensor& scaleA, const Tensor& scaleB, const Value& bias,
              DType dtype) {
    const Tensor factor = e("mul.Tensor", e.as(scaleA, DType::Float64), e.as(scaleB, DType::Float64));
    Tensor y = e("mul.Tensor", product, factor);
    if (y.shape() != product.shape()) e.fail("the scales do not match " + product.typeText());
    if (bias.isTensor()) y = e("add.Tensor", y, e.as(bias.tensor(), DType::Float64));
    return e.as(y, dtype);
}

/// A, B, their scales, their zero points, bias.
EagerResult integerToFloat(Eager& e) {
    const Tensor product =
        integerProduct(e, e.tensor("A"), e.optional("a_zero_point"), e.tensor("B"), e.optional("b_zero_point"));
    return scaled(e, product, e.tensor("a_scale"), e.tensor("b_scale"), e.optional("bias"),
                  e.tensor("b_scale").dtype());
}

/// A is quantised to uint8 over the range of its values first; then B, its scale and zero point, bias.
EagerResult dynamicProduct(Eager& e) {
    const std::vector<Value> a = e.all("", "DynamicQuantizeLinear", {Value(e.tensor("A"))}, {}, 3);
    const Tensor product = integerProduct(e, a[0].tensor(), a[2], e.tensor("B"), e.optional("b_zero_point"));
    return scaled(e, product, a[1].tensor(), e.tensor("b_scale"), e.optional("bias"), DType::Float32);
}

base::Result<void> inferProduct(InferContext& context, DType dtype) {
    const TypeInfo operands[2] = {context.in("A"), context.in("B")};
    InferContext inner(operands, {}, context.attributes(), 1);
    SONDE_TRY(inner.inferAs(*Registry::all().find("", "MatMul", 0)));
    context.set(TypeInfo::tensor(dtype, inner.outputs()[0].shape));
    return {};
}

DType wideInteger(DType a, DType b) { return a == DType::UInt16 && b == DType::UInt16 ? DType::UInt32 : DType::Int32; }

EagerResult product16(Eager& e) {
    const Tensor product = integerProduct(e, e.tensor("A"), Value(), e.tensor("B"), Value());
    // Sums wrap as 32-bit integers do.
    const Tensor wrapped = e.as(product, DType::Int64);
    return e.as(wrapped, wideInteger(e.tensor("A").dtype(), e.tensor("B").dtype()));
}

/// alpha·scales·(A'·B' + C): A, scale, zero point, B, scale, zero point, C (int32), and scale and zero point of a
/// result that is quantised again.
EagerResult quantizedGemm(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    Tensor a = e.tensor("A"), b = e.tensor("B");
    if (a.rank() != 2 || b.rank() != 2) e.fail("expects matrices, but found " + a.typeText() + " and " + b.typeText());
    // A's zero points go by its rows before turning, B's by its columns after it.
    Value zeroA = e.value("a_zero_point");
    if (e.tensor("a_zero_point").numel() != 1) a = e.get(centred(a, std::exchange(zeroA, Value()), 0));
    if (attributes.getInt("transA", 0) != 0) a = e.get(a.transposed(0, 1).contiguous());
    if (attributes.getInt("transB", 0) != 0) b = b.transposed(0, 1);
    Tensor y = integerProduct(e, a, zeroA, b, e.optional("b_zero_point"));
    const Shape shape = y.shape();
    if (e.has("C")) y = e("add.Tensor", y, e.as(e.tensor("C"), DType::Float64));
    // From here on in float32, in the order of ONNX Runtime.
    const auto alpha = static_cast<float>(attributes.getFloat("alpha", 1));
    Tensor factor = e("mul.Tensor", e("mul.Tensor", e.tensor("a_scale"), Tensor::scalar(alpha)), e.tensor("b_scale"));
    if (e.has("y_scale")) factor = e("div.Tensor", factor, e.tensor("y_scale"));
    y = e("mul.Tensor", e.as(y, DType::Float32), factor);
    if (y.shape() != shape) e.fail("C or a scale does not match " + shape.text());
    if (!e.has("y_scale")) return y;
    return e.get(kernels::quantizedTo(y, Tensor::scalar(1.0F), e.optional("y_zero_point"),
                                      e.has("y_zero_point") ? e.tensor("y_zero_point").dtype() : e.tensor("A").dtype(),
                                      e.context().pool()));
}

base::Result<void> inferQuantizedGemm(InferContext& context) {
    const TypeInfo operands[2] = {context.in("A"), context.in("B")};
    InferContext inner(operands, {}, context.attributes(), 1);
    SONDE_TRY(inner.inferAs(*Registry::all().find("", "Gemm", 0)));
    const DType type = !context.has("y_scale")       ? DType::Float32
                       : context.has("y_zero_point") ? context.in("y_zero_point").dtype
                                                     : context.in("A").dtype;
    context.set(TypeInfo::tensor(type, inner.outputs()[0].shape));
    return {};
}

base::Result<std::unique_ptr<PreparedState>> prepareB(const Constants& constants, const Attributes&,
                                                      RunEnvironment& environment) {
    return kernels::prepareRightIntegers(constants["B"], constants["b_zero_point"], false, environment);
}

base::Result<Dependence> integerToFloatTerms(const ElementCall& call) {
    return dependence::scaledProduct(call, std::nullopt);
}

/// The range of all of A decides on its scale and zero point.
base::Result<Dependence> dynamicProductTerms(const ElementCall& call) {
    const Value inputs[] = {call.context.value(call.op.position("A"))};
    SONDE_ASSIGN(const std::vector<Value> a, ops::call(*Registry::all().find("", "DynamicQuantizeLinear", 0), inputs,
                                                       {}, 3, call.context.environment(), 0));
    return dependence::scaledProduct(call,
                                     dependence::DynamicRange{a[1].tensor().toDouble(0), a[2].tensor().toDouble(0)});
}

}  // namespace

void define_contrib_quantized_matmul(Registry& registry) {
    const auto kQuant = Category::Quantization;
    registry.add(contribRow("MatMulIntegerToFloat", "matrix product of bytes, scaled", kQuant)
                     .in("A", kBytes)
                     .in("B", kBytes)
                     .in("a_scale", kFloats)
                     .in("b_scale", kFloats)
                     .optionalIn("a_zero_point", kBytes)
                     .optionalIn("b_zero_point", kBytes)
                     .optionalIn("bias", kFloats)
                     .out("Y")
                     .runs(integerToFloat,
                           [](InferContext& context) { return inferProduct(context, context.in("b_scale").dtype); })
                     .prepares(prepareB));
    registry.add(
        contribRow("DynamicQuantizeMatMul", "matrix product with bytes, the left side quantised dynamically", kQuant)
            .in("A", kFloat32)
            .in("B", kBytes)
            .in("b_scale", kFloat32)
            .optionalIn("b_zero_point", kBytes)
            .optionalIn("bias", kFloat32)
            .out("Y")
            .runs(dynamicProduct, [](InferContext& context) { return inferProduct(context, DType::Float32); })
            .prepares(prepareB));
    const DTypeSet shorts = bit(DType::Int16) | bit(DType::UInt16);
    registry.add(contribRow("MatMulInteger16", "matrix product of 16-bit integers", kQuant)
                     .in("A", shorts)
                     .in("B", shorts)
                     .out("Y")
                     .runs(product16, [](InferContext& context) {
                         const DType a = context.in("A").dtype, b = context.in("B").dtype;
                         return inferProduct(context, a == DType::Undefined || b == DType::Undefined
                                                          ? DType::Undefined
                                                          : wideInteger(a, b));
                     }));
    registry.add(
        contribRow("QGemm", "alpha·A·B + C of quantised matrices", kQuant)
            .in("A", kBytes)
            .in("a_scale", kFloat32)
            .in("a_zero_point", kBytes)
            .in("B", kBytes)
            .in("b_scale", kFloat32)
            .optionalIn("b_zero_point", kBytes)
            .optionalIn("C", kInt32)
            .optionalIn("y_scale", kFloat32)
            .optionalIn("y_zero_point", kBytes)
            .out("Y")
            .attrFloat("alpha", 1)
            .attrInt("transA", 0)
            .attrInt("transB", 0)
            .runs(quantizedGemm, inferQuantizedGemm)
            .prepares([](const Constants& constants, const Attributes& attributes, RunEnvironment& environment) {
                return kernels::prepareRightIntegers(constants["B"], constants["b_zero_point"],
                                                     attributes.getInt("transB", 0) != 0, environment);
            }));
    explain("com.microsoft", "MatMulIntegerToFloat", integerToFloatTerms);
    explain("com.microsoft", "DynamicQuantizeMatMul", dynamicProductTerms);
    explain("com.microsoft", "MatMulInteger16", dependence::integerProduct);
    explain("com.microsoft", "QGemm", dependence::quantizedGeneralProduct);
}

}  // namespace sonde::ops
