// Functions of two numbers with broadcasting, and the ones that take any number of inputs.

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/elementwise.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using kernels::Arithmetic;
using kernels::Comparison;

/// Before opset 7 the second operand was lined up with the first at `axis` (from the right if absent).
base::Result<Tensor> legacyOperand(KernelContext& context) {
    const Tensor& a = context.in({"A", "X"});
    const Tensor& b = context.in({"B", "Y"});
    if (!context.attributes().has("axis") || b.rank() >= a.rank()) return b;
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), a.rank()));
    if (axis + b.rank() > a.rank())
        return opError("axis " + std::to_string(axis) + " leaves no room for " + b.typeText());
    std::vector<std::int64_t> dims = b.shape().dims();
    dims.resize(a.rank() - axis, 1);
    return b.reshaped(Shape(std::move(dims)));
}

base::Result<void> inferLegacy(InferContext& context) {
    context.set(context.in({"A", "X"}));
    return {};
}
base::Result<void> inferLegacyBool(InferContext& context) {
    context.set(TypeInfo::tensor(DType::Bool, context.in("A").shape));
    return {};
}

base::Result<void> run(KernelContext& context, Arithmetic operation) {
    return [&]() -> base::Result<void> {
        SONDE_TRY(kernels::arithmetic(context, operation, context.in("A"), context.in("B")));
        return {};
    }();
}

void addArithmetic(Registry& registry, std::string_view name, std::string_view summary, Arithmetic operation) {
    for (int since : {1, 6}) {
        registry.add(Row(name, since, summary, Category::Elementwise)
                         .in("A", kNumbers, "T")
                         .in("B", kNumbers, "T")
                         .out("C")
                         .attr("axis", AttributeKind::Int)
                         .attrInt("broadcast", 0)
                         .runs(
                             [operation](KernelContext& context) -> base::Result<void> {
                                 SONDE_ASSIGN(const Tensor b, legacyOperand(context));
                                 SONDE_TRY(kernels::arithmetic(context, operation, context.in("A"), b));
                                 return {};
                             },
                             inferLegacy));
    }
    registry.add(Row(name, 7, summary, Category::Elementwise)
                     .in("A", kNumbers, "T")
                     .in("B", kNumbers, "T")
                     .out("C")
                     .runs([operation](KernelContext& context) { return run(context, operation); }, inferBroadcast));
    if (const std::optional<kernels::Binary> fast = kernels::fastOf(operation)) {
        kernels::addEpilogueKernel("", name);
        kernels::addEpilogueOp("", name,
                               [fast](const kernels::EpilogueCall& call) -> std::unique_ptr<kernels::EpilogueOp> {
                                   return call.op.since >= 7 ? kernels::binaryEpilogue(call, *fast) : nullptr;
                               });
    }
}

/// The exponent may have another dtype than the base, which the result has.
base::Result<void> power(KernelContext& context, const Tensor& exponent) {
    const Tensor& x = context.in("X");
    if (exponent.dtype() == x.dtype()) {
        SONDE_TRY(kernels::arithmetic(context, Arithmetic::Pow, x, exponent));
        return {};
    }
    // Two integers stay exact where a double would not.
    const bool whole = tensor::isInteger(x.dtype()) && tensor::isInteger(exponent.dtype());
    const DType wide = whole ? DType::Int64 : DType::Float64;
    SONDE_ASSIGN(const Tensor a, x.cast(wide));
    SONDE_ASSIGN(const Tensor b, exponent.cast(wide));
    SONDE_ASSIGN(const Tensor result, kernels::arithmeticTensor(context.pool(), Arithmetic::Pow, a, b));
    SONDE_ASSIGN(Tensor narrow, result.cast(x.dtype()));
    context.setOutput(Value(std::move(narrow)));
    return {};
}

void definePower(Registry& registry) {
    registry.add(Row("Pow", 1, "x to the power of y", Category::Elementwise)
                     .in("X", kFloats, "T")
                     .in("Y", kFloats, "T")
                     .out("Z")
                     .attr("axis", AttributeKind::Int)
                     .attrInt("broadcast", 0)
                     .runs(
                         [](KernelContext& context) -> base::Result<void> {
                             SONDE_ASSIGN(const Tensor b, legacyOperand(context));
                             return power(context, b);
                         },
                         inferLegacy));
    registry.add(Row("Pow", 7, "x to the power of y", Category::Elementwise)
                     .in("X", kNumbers)
                     .in("Y", kNumbers)
                     .out("Z")
                     .runs([](KernelContext& context) { return power(context, context.in("Y")); }, inferBroadcast));
    registry.add(
        Row("Mod", 10, "remainder, with the sign of the divisor, or of the dividend with fmod", Category::Elementwise)
            .in("A", kNumbers, "T")
            .in("B", kNumbers, "T")
            .out("C")
            .attrInt("fmod", 0)
            .runs(
                [](KernelContext& context) {
                    return run(context, context.attributes().getInt("fmod", 0) ? Arithmetic::FMod : Arithmetic::Mod);
                },
                inferBroadcast));
}

/// Max, Min, Sum, Mean: any number of inputs, folded from the left.
base::Result<void> fold(KernelContext& context, Arithmetic operation, bool mean) {
    Tensor result = context.in("data_0");
    for (std::size_t i = 1; i < context.inputCount(); ++i) {
        SONDE_ASSIGN(result, kernels::arithmeticTensor(context.pool(), operation, result, context.in(i)));
    }
    if (mean) {
        SONDE_ASSIGN(const Tensor count,
                     Tensor::scalar<double>(static_cast<double>(context.inputCount())).cast(result.dtype()));
        SONDE_ASSIGN(result, kernels::arithmeticTensor(context.pool(), Arithmetic::Div, result, count));
    }
    context.setOutput(Value(std::move(result)));
    return {};
}

void addFold(Registry& registry, std::string_view name, std::string_view summary, Arithmetic operation, bool mean) {
    registry.add(Row(name, 1, summary, Category::Elementwise)
                     .variadicIn("data_0", kNumbers, "T")
                     .out("result")
                     .runs([operation, mean](KernelContext& context) { return fold(context, operation, mean); },
                           inferBroadcast));
}

void addComparison(Registry& registry, std::string_view name, int first, std::string_view summary,
                   Comparison operation) {
    if (first < 7) {
        registry.add(Row(name, first, summary, Category::Logic)
                         .in("A", kAnyDType, "T")
                         .in("B", kAnyDType, "T")
                         .out("C")
                         .attr("axis", AttributeKind::Int)
                         .attrInt("broadcast", 0)
                         .runs(
                             [operation](KernelContext& context) -> base::Result<void> {
                                 SONDE_ASSIGN(const Tensor b, legacyOperand(context));
                                 return kernels::compare(context, operation, context.in("A"), b);
                             },
                             inferLegacyBool));
    }
    registry.add(Row(name, std::max(first, 7), summary, Category::Logic)
                     .in("A", kAnyDType, "T")
                     .in("B", kAnyDType, "T")
                     .out("C")
                     .runs(
                         [operation](KernelContext& context) {
                             return kernels::compare(context, operation, context.in("A"), context.in("B"));
                         },
                         inferBroadcastBool));
}

void addLogic(Registry& registry, std::string_view name, std::string_view summary, kernels::Bitwise operation) {
    registry.add(Row(name, 1, summary, Category::Logic)
                     .in("A", kBool)
                     .in("B", kBool)
                     .out("C")
                     .attr("axis", AttributeKind::Int)
                     .attrInt("broadcast", 0)
                     .runs(
                         [operation](KernelContext& context) -> base::Result<void> {
                             SONDE_ASSIGN(const Tensor b, legacyOperand(context));
                             return kernels::bitwise(context, operation, context.in("A"), b);
                         },
                         inferLegacyBool));
    registry.add(Row(name, 7, summary, Category::Logic)
                     .in("A", kBool)
                     .in("B", kBool)
                     .out("C")
                     .runs(
                         [operation](KernelContext& context) {
                             return kernels::bitwise(context, operation, context.in("A"), context.in("B"));
                         },
                         inferBroadcastBool));
}

void addBitwise(Registry& registry, std::string_view name, std::string_view summary, kernels::Bitwise operation) {
    registry.add(Row(name, 18, summary, Category::Logic)
                     .in("A", kInts, "T")
                     .in("B", kInts, "T")
                     .out("C")
                     .runs(
                         [operation](KernelContext& context) {
                             return kernels::bitwise(context, operation, context.in("A"), context.in("B"));
                         },
                         inferBroadcast));
}

/// not x for bool, ~x for integers.
base::Result<void> complement(KernelContext& context) {
    const Tensor& x = context.in("X");
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    const auto* in = x.data<std::uint8_t>();
    auto* out = y.mutableData<std::uint8_t>();
    const bool condition = x.dtype() == DType::Bool;
    for (std::size_t i = 0; i < x.sizeBytes(); ++i)
        out[i] = condition ? static_cast<std::uint8_t>(!in[i]) : static_cast<std::uint8_t>(~in[i]);
    return {};
}

base::Result<void> bitShift(KernelContext& context) {
    const std::string direction = context.attributes().getString("direction", "");
    if (direction != "LEFT" && direction != "RIGHT")
        return opError("direction must be 'LEFT' or 'RIGHT', but is '" + direction + "'");
    return kernels::bitwise(context, direction == "LEFT" ? kernels::Bitwise::ShiftLeft : kernels::Bitwise::ShiftRight,
                            context.in("X"), context.in("Y"));
}

base::Result<void> inferWhere(InferContext& context) {
    const TypeInfo &c = context.in("condition"), &a = context.in("X"), &b = context.in("Y");
    std::optional<Dims> shape;
    if (c.shape && a.shape && b.shape) {
        SONDE_ASSIGN(const Dims both, broadcastDims(*a.shape, *b.shape));
        SONDE_ASSIGN(shape, broadcastDims(*c.shape, both));
    }
    context.set(TypeInfo::tensor(a.dtype != DType::Undefined ? a.dtype : b.dtype, std::move(shape)));
    return {};
}

void defineLogic(Registry& registry) {
    addComparison(registry, "Equal", 1, "true where both are equal", Comparison::Equal);
    addComparison(registry, "Less", 1, "true where a < b", Comparison::Less);
    addComparison(registry, "Greater", 1, "true where a > b", Comparison::Greater);
    addComparison(registry, "LessOrEqual", 12, "true where a ≤ b", Comparison::LessOrEqual);
    addComparison(registry, "GreaterOrEqual", 12, "true where a ≥ b", Comparison::GreaterOrEqual);
    addLogic(registry, "And", "a and b", kernels::Bitwise::And);
    addLogic(registry, "Or", "a or b", kernels::Bitwise::Or);
    addLogic(registry, "Xor", "one of both, not both", kernels::Bitwise::Xor);
    addBitwise(registry, "BitwiseAnd", "and of each bit", kernels::Bitwise::And);
    addBitwise(registry, "BitwiseOr", "or of each bit", kernels::Bitwise::Or);
    addBitwise(registry, "BitwiseXor", "exclusive or of each bit", kernels::Bitwise::Xor);
    registry.add(Row("Not", 1, "not x", Category::Logic).in("X", kBool).out("Y").runs(complement, inferSame));
    registry.add(Row("BitwiseNot", 18, "each bit inverted", Category::Logic)
                     .in("X", kInts)
                     .out("Y")
                     .runs(complement, inferSame));
    registry.add(Row("BitShift", 11, "bits moved left or right", Category::Logic)
                     .in("X", kUnsignedInts, "T")
                     .in("Y", kUnsignedInts, "T")
                     .out("Z")
                     .required("direction", AttributeKind::String)
                     .runs(bitShift, inferBroadcast));
    registry.add(Row("Where", 9, "X where the condition is true, else Y", Category::Logic)
                     .in("condition", kBool)
                     .in("X", kAnyDType, "T")
                     .in("Y", kAnyDType, "T")
                     .out("output")
                     .runs(
                         [](KernelContext& context) {
                             return kernels::where(context, context.in("condition"), context.in("X"), context.in("Y"));
                         },
                         inferWhere));
}

}  // namespace

void define_binary(Registry& registry) {
    addArithmetic(registry, "Add", "a + b", Arithmetic::Add);
    addArithmetic(registry, "Sub", "a − b", Arithmetic::Sub);
    addArithmetic(registry, "Mul", "a · b", Arithmetic::Mul);
    addArithmetic(registry, "Div", "a / b; integers toward zero", Arithmetic::Div);
    definePower(registry);
    addFold(registry, "Max", "the largest of all inputs, element by element", Arithmetic::Max, false);
    addFold(registry, "Min", "the smallest of all inputs, element by element", Arithmetic::Min, false);
    addFold(registry, "Sum", "the sum of all inputs, element by element", Arithmetic::Add, false);
    addFold(registry, "Mean", "the mean of all inputs, element by element", Arithmetic::Add, true);
    defineLogic(registry);
    explain("", "Add", dependence::elementWise, "x + y");
    explain("", "Sub", dependence::elementWise, "x - y");
    explain("", "Mul", dependence::elementWise, "x * y");
    explain("", "Div", dependence::elementWise, "x / y : trunc(x / y)");
    explain("", "Mod", dependence::remainder);
    explain("", "Pow", dependence::elementWise, "x ** y : trunc(x ** y)");
    explain("", "Max", dependence::elementWiseOfAll, "max(x)");
    explain("", "Min", dependence::elementWiseOfAll, "min(x)");
    explain("", "Sum", dependence::elementWiseOfAll, "sum(x)");
    explain("", "Mean", dependence::elementWiseOfAll, "mean(x)");
    explain("", "Equal", dependence::elementWise, "x == y");
    explain("", "Less", dependence::elementWise, "x < y");
    explain("", "Greater", dependence::elementWise, "x > y");
    explain("", "LessOrEqual", dependence::elementWise, "x <= y");
    explain("", "GreaterOrEqual", dependence::elementWise, "x >= y");
    explain("", "And", dependence::elementWise, "(x != 0) & (y != 0)");
    explain("", "Or", dependence::elementWise, "(x != 0) | (y != 0)");
    explain("", "Xor", dependence::elementWise, "(x != 0) != (y != 0)");
    explain("", "BitwiseAnd", dependence::elementWise, "= x & y");
    explain("", "BitwiseOr", dependence::elementWise, "= x | y");
    explain("", "BitwiseXor", dependence::elementWise, "= x ^ y");
    explain("", "BitwiseNot", dependence::elementWise, "= ~x");
    explain("", "BitShift", [](const ElementCall& call) {
        const bool isLeft = call.context.attributes().getString("direction", "") == "LEFT";
        return dependence::elementWiseAs(call, isLeft ? "= x * 2 ** y" : "= x // 2 ** y");
    });
    explain("", "Not", dependence::elementWise, "x == 0");
    explain("", "Where", dependence::elementWise, "where(x, y, z)");
    explain("", "PRelu", dependence::elementWise, "where(x < 0, y * x, x)");
}

}  // namespace sonde::ops
