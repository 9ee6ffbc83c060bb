// ATen's functions of two numbers: dtype promotion, then the shared kernels.

#include <cmath>

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

/// Gives floats of integers too.
bool makesFloats(Arithmetic operation) { return operation == Arithmetic::Div || operation == Arithmetic::Atan2; }

base::Result<std::pair<Tensor, Tensor>> operands(KernelContext& context, bool trueDivision) {
    SONDE_ASSIGN(auto pair, promotedPair(context.value("self"), context.value({"other", "exponent"})));
    if (trueDivision && !tensor::isFloating(pair.first.dtype()) && !tensor::isComplex(pair.first.dtype())) {
        SONDE_ASSIGN(pair.first, pair.first.cast(DType::Float32));
        SONDE_ASSIGN(pair.second, pair.second.cast(DType::Float32));
    }
    return pair;
}

/// a ∘ (alpha · b): add, sub and their kin have an alpha.
base::Result<void> run(KernelContext& context, Arithmetic operation, bool hasAlpha) {
    SONDE_ASSIGN(auto pair, operands(context, makesFloats(operation)));
    if (hasAlpha && context.has("alpha")) {
        SONDE_ASSIGN(const double alpha, numberOf(context.value("alpha")));
        if (alpha != 1) {
            SONDE_ASSIGN(const Tensor factor, asTensor(context.value("alpha"), pair.second.dtype()));
            SONDE_ASSIGN(pair.second, kernels::arithmeticTensor(context.pool(), Arithmetic::Mul, pair.second, factor));
        }
    }
    SONDE_TRY(kernels::arithmetic(context, operation, pair.first, pair.second));
    return {};
}

base::Result<void> inferPair(InferContext& context, bool trueDivision, bool condition) {
    const TypeInfo types[] = {context.in("self"), context.in({"other", "exponent"})};
    DType dtype = promotedTypes(types);
    if (trueDivision && dtype != DType::Undefined && !tensor::isFloating(dtype) && !tensor::isComplex(dtype))
        dtype = DType::Float32;
    std::optional<Dims> shape;
    const auto dims = [](const TypeInfo& type) {
        return type.isTensor() ? type.shape : type.kind ? std::optional(Dims{}) : std::nullopt;
    };
    if (dims(types[0]) && dims(types[1])) {
        SONDE_ASSIGN(shape, broadcastDims(*dims(types[0]), *dims(types[1])));
    }
    context.set(TypeInfo::tensor(condition ? DType::Bool : dtype, std::move(shape)));
    return {};
}

void add(Registry& registry, std::initializer_list<std::string_view> schemas, std::string_view summary,
         Arithmetic operation, bool hasAlpha) {
    for (std::string_view schema : schemas) {
        registry.add(atenRow(
            schema, summary, Category::Elementwise,
            [operation, hasAlpha](KernelContext& context) { return run(context, operation, hasAlpha); },
            [operation](InferContext& context) { return inferPair(context, makesFloats(operation), false); }));
    }
}

void compareRow(Registry& registry, std::initializer_list<std::string_view> schemas, std::string_view summary,
                Comparison operation) {
    for (std::string_view schema : schemas) {
        registry.add(atenRow(
            schema, summary, Category::Logic,
            [operation](KernelContext& context) -> base::Result<void> {
                SONDE_ASSIGN(const auto pair, operands(context, false));
                return kernels::compare(context, operation, pair.first, pair.second);
            },
            [](InferContext& context) { return inferPair(context, false, true); }));
    }
}

/// rsub: b − alpha·a.
base::Result<void> reverseSub(KernelContext& context) {
    SONDE_ASSIGN(auto pair, operands(context, false));
    SONDE_ASSIGN(const Tensor factor,
                 asTensor(context.has("alpha") ? context.value("alpha") : Value::ofInt(1), pair.first.dtype()));
    SONDE_ASSIGN(const Tensor scaled, kernels::arithmeticTensor(context.pool(), Arithmetic::Mul, pair.first, factor));
    SONDE_TRY(kernels::arithmetic(context, Arithmetic::Sub, pair.second, scaled));
    return {};
}

/// div with rounding_mode 'floor' or 'trunc'.
base::Result<void> divideRounded(KernelContext& context) {
    if (!context.has("rounding_mode")) return run(context, Arithmetic::Div, false);
    const std::string mode =
        context.value("rounding_mode").kind() == ValueKind::String ? context.value("rounding_mode").toString() : "";
    SONDE_ASSIGN(auto pair, operands(context, false));
    if (mode == "floor") {
        SONDE_TRY(kernels::arithmetic(context, Arithmetic::FloorDiv, pair.first, pair.second));
        return {};
    }
    if (mode != "trunc") return opError("rounding_mode must be 'floor' or 'trunc', but is '" + mode + "'");
    if (tensor::isFloating(pair.first.dtype())) {
        SONDE_ASSIGN(const Tensor quotient,
                     kernels::arithmeticTensor(context.pool(), Arithmetic::Div, pair.first, pair.second));
        return kernels::applyUnary(context, {[](double x, double, double) { return std::trunc(x); }}, quotient);
    }
    SONDE_TRY(kernels::arithmetic(context, Arithmetic::Div, pair.first, pair.second));
    return {};
}

/// Two tensors can be fused; alpha, if there is one, must be 1.
void addEpilogue(const std::string& name, kernels::Binary operation) {
    const bool isInPlace = name.find("_.") != std::string::npos;
    kernels::addEpilogueOp(
        "aten", name,
        [operation, isInPlace](const kernels::EpilogueCall& call) -> std::unique_ptr<kernels::EpilogueOp> {
            if (isInPlace && call.at != 0) return nullptr;  // the result has the shape and dtype of the other one
            const std::size_t alpha = call.op.position("alpha");
            if (alpha < call.inputs.size() && !(call.inputs[alpha].isNumber() && call.inputs[alpha].number() == 1))
                return nullptr;
            return kernels::binaryEpilogue(call, operation);
        });
}

}  // namespace

void define_aten_arithmetic(Registry& registry) {
    for (const auto& [name, operation] :
         {std::pair("add", kernels::Binary::Add), std::pair("sub", kernels::Binary::Sub),
          std::pair("mul", kernels::Binary::Mul), std::pair("div", kernels::Binary::Div)}) {
        for (const char* form : {".Tensor", "_.Tensor"}) addEpilogue(std::string(name) + form, operation);
    }
    add(registry,
        {"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
         "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
         "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
         "add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"},
        "a + alpha·b", Arithmetic::Add, true);
    add(registry,
        {"sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
         "sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
         "sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
         "sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"},
        "a − alpha·b", Arithmetic::Sub, true);
    add(registry,
        {"mul.Tensor(Tensor self, Tensor other) -> Tensor", "mul.Scalar(Tensor self, Scalar other) -> Tensor",
         "mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
         "mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"},
        "a · b", Arithmetic::Mul, false);
    add(registry,
        {"div.Tensor(Tensor self, Tensor other) -> Tensor", "div.Scalar(Tensor self, Scalar other) -> Tensor",
         "div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
         "div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
         "true_divide.Tensor(Tensor self, Tensor other) -> Tensor"},
        "a / b as floating point", Arithmetic::Div, false);
    add(registry,
        {"pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
         "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
         "pow.Scalar(Scalar self, Tensor exponent) -> Tensor"},
        "a to the power of b", Arithmetic::Pow, false);
    add(registry,
        {"remainder.Scalar(Tensor self, Scalar other) -> Tensor",
         "remainder.Tensor(Tensor self, Tensor other) -> Tensor"},
        "remainder with the sign of the divisor", Arithmetic::Mod, false);
    add(registry,
        {"fmod.Scalar(Tensor self, Scalar other) -> Tensor", "fmod.Tensor(Tensor self, Tensor other) -> Tensor"},
        "remainder with the sign of the dividend", Arithmetic::FMod, false);
    add(registry,
        {"floor_divide(Tensor self, Tensor other) -> Tensor",
         "floor_divide.Scalar(Tensor self, Scalar other) -> Tensor"},
        "a / b, rounded down", Arithmetic::FloorDiv, false);
    add(registry, {"maximum(Tensor self, Tensor other) -> Tensor", "max.other(Tensor self, Tensor other) -> Tensor"},
        "the larger of both", Arithmetic::Max, false);
    add(registry, {"minimum(Tensor self, Tensor other) -> Tensor", "min.other(Tensor self, Tensor other) -> Tensor"},
        "the smaller of both", Arithmetic::Min, false);
    add(registry, {"atan2(Tensor self, Tensor other) -> Tensor"}, "angle of the point (b, a)", Arithmetic::Atan2,
        false);
    compareRow(registry,
               {"eq.Tensor(Tensor self, Tensor other) -> Tensor", "eq.Scalar(Tensor self, Scalar other) -> Tensor"},
               "true where equal", Comparison::Equal);
    compareRow(registry,
               {"ne.Tensor(Tensor self, Tensor other) -> Tensor", "ne.Scalar(Tensor self, Scalar other) -> Tensor"},
               "true where not equal", Comparison::NotEqual);
    compareRow(registry,
               {"lt.Tensor(Tensor self, Tensor other) -> Tensor", "lt.Scalar(Tensor self, Scalar other) -> Tensor"},
               "true where a < b", Comparison::Less);
    compareRow(registry,
               {"le.Tensor(Tensor self, Tensor other) -> Tensor", "le.Scalar(Tensor self, Scalar other) -> Tensor"},
               "true where a ≤ b", Comparison::LessOrEqual);
    compareRow(registry,
               {"gt.Tensor(Tensor self, Tensor other) -> Tensor", "gt.Scalar(Tensor self, Scalar other) -> Tensor"},
               "true where a > b", Comparison::Greater);
    compareRow(registry,
               {"ge.Tensor(Tensor self, Tensor other) -> Tensor", "ge.Scalar(Tensor self, Scalar other) -> Tensor"},
               "true where a ≥ b", Comparison::GreaterOrEqual);
    for (std::string_view schema : {"rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
                                    "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"}) {
        registry.add(atenRow(schema, "b − alpha·a", Category::Elementwise, reverseSub,
                             [](InferContext& context) { return inferPair(context, false, false); }));
    }
    for (std::string_view schema : {"div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
                                    "div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor"}) {
        registry.add(atenRow(schema, "a / b, rounded as specified", Category::Elementwise, divideRounded,
                             [](InferContext& context) { return inferPair(context, false, false); }));
    }
    explain("aten", "add", dependence::elementWise, "x + alpha * y");
    explain("aten", "sub", dependence::elementWise, "x - alpha * y");
    explain("aten", "rsub", dependence::elementWise, "y - alpha * x");
    explain("aten", "mul", dependence::elementWise, "x * y");
    explain("aten", "div", dependence::elementWise, "x / y");
    explain("aten", "div.Tensor_mode div.Scalar_mode", dependence::roundedQuotient);
    explain("aten", "floor_divide", dependence::elementWise, "x // y");
    explain("aten", "remainder", dependence::remainder);
    explain("aten", "fmod", dependence::remainder, "fmod");
    explain("aten", "pow", dependence::elementWise, "x ** y : trunc(x ** y)");
    explain("aten", "eq", dependence::elementWise, "x == y");
    explain("aten", "ne", dependence::elementWise, "x != y");
    explain("aten", "lt", dependence::elementWise, "x < y");
    explain("aten", "gt", dependence::elementWise, "x > y");
    explain("aten", "le", dependence::elementWise, "x <= y");
    explain("aten", "ge", dependence::elementWise, "x >= y");
    explain("aten", "maximum max.other", dependence::elementWise, "maximum(x, y)");
    explain("aten", "minimum min.other", dependence::elementWise, "minimum(x, y)");
    explain("aten", "logical_and", dependence::elementWise, "(x != 0) & (y != 0)");
    explain("aten", "logical_or", dependence::elementWise, "(x != 0) | (y != 0)");
    explain("aten", "logical_not", dependence::elementWise, "x == 0");
}

}  // namespace sonde::ops
