// Functions of one number, one row each.

#include <algorithm>
#include <cmath>
#include <complex>
#include <deque>

#include "core/base/number_text.h"
#include "core/base/special_functions.h"
#include "core/operators/names.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/elementwise.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using kernels::Unary;
using kernels::UnaryFunction;

double clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
double softplusOf(double x) { return std::log1p(std::exp(-std::fabs(x))) + (x > 0 ? x : 0); }

struct Parameter1 {
    std::string_view name;
    double fallback;
};

/// One function; the ATen schemas that mean it (without parameters) follow.
struct Function {
    std::string_view onnx;  ///< empty: ATen only
    int since;
    std::string_view summary;
    std::string_view formula;  ///< of x and the attributes, see dependence::elementWise
    Category category;
    DTypeSet dtypes;
    UnaryFunction function;
    std::vector<Parameter1> attributes = {};
    std::vector<std::string_view> aten = {};
};

std::vector<Function> functions() {
    const auto kEl = Category::Elementwise;
    constexpr auto kSameWhole = [](std::int64_t x) { return x; };
    const auto kAct = Category::Activation;
    // clang-format off
    return {
        {"Relu", 1, "max(0, x)", "maximum(x, 0)", kAct, kNumbers,
         {[](double x, double, double) { return x < 0 ? 0.0 : x; }, [](std::int64_t x) { return x < 0 ? 0 : x; }, Unary::Relu}, {},
         {"relu(Tensor self) -> Tensor", "relu_(Tensor(a!) self) -> Tensor(a!)"}},
        {"LeakyRelu", 1, "x, or alpha·x below 0", "where(x < 0, alpha * x, x)", kAct, kFloats,
         {[](double x, double a, double) { return x < 0 ? a * x : x; }, nullptr, Unary::LeakyRelu}, {{"alpha", 0.01}}, {}},
        {"Elu", 1, "x, or alpha·(e^x − 1) below 0", "where(x < 0, alpha * expm1(x), x)", kAct, kFloats,
         {[](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }, nullptr}, {{"alpha", 1.0}}, {}},
        {"Selu", 1, "gamma·x, or gamma·alpha·(e^x − 1) below 0", "gamma * where(x <= 0, alpha * expm1(x), x)", kAct, kFloats,
         {[](double x, double a, double b) { return x <= 0 ? b * a * std::expm1(x) : b * x; }, nullptr},
         {{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}},
         {"selu(Tensor self) -> Tensor", "selu_(Tensor(a!) self) -> Tensor(a!)"}},
        {"Celu", 12, "max(0, x) + min(0, alpha·(e^(x/alpha) − 1))", "where(x < 0, alpha * expm1(x / alpha), x)", kAct, kFloats,
         {[](double x, double a, double) { return x < 0 ? a * std::expm1(x / a) : x; }, nullptr}, {{"alpha", 1.0}}, {}},
        {"ThresholdedRelu", 10, "x where it is above alpha, else 0", "where(x > alpha, x, 0)", kAct, kFloats,
         {[](double x, double a, double) { return std::isnan(x) || x > a ? x : 0.0; }, nullptr}, {{"alpha", 1.0}}, {}},
        {"Sigmoid", 1, "1 / (1 + e^−x)", "1 / (1 + exp(-x))", kAct, kFloats,
         {[](double x, double, double) { return base::sigmoid(x); }, nullptr, Unary::Sigmoid}, {},
         {"sigmoid(Tensor self) -> Tensor", "sigmoid_(Tensor(a!) self) -> Tensor(a!)"}},
        {"HardSigmoid", 1, "clip(alpha·x + beta, 0, 1)", "clip(alpha * x + beta, 0, 1)", kAct, kFloats,
         {[](double x, double a, double b) { return clamp01(a * x + b); }, nullptr, Unary::HardSigmoid},
         {{"alpha", 0.2}, {"beta", 0.5}}, {}},
        {"HardSwish", 14, "x · clip(x/6 + 1/2, 0, 1)", "x * clip(x / 6 + 0.5, 0, 1)", kAct, kFloats,
         {[](double x, double, double) { return x * clamp01(x / 6 + 0.5); }, nullptr, Unary::HardSwish}, {},
         {"hardswish(Tensor self) -> Tensor", "hardswish_(Tensor(a!) self) -> Tensor(a!)"}},
        {"Swish", 24, "x · sigmoid(alpha·x)", "x / (1 + exp(-alpha * x))", kAct, kFloats,
         {[](double x, double a, double) { return x * base::sigmoid(a * x); }, nullptr, Unary::Silu}, {{"alpha", 1.0}}, {}},
        {"Softplus", 1, "ln(1 + e^x)", "maximum(x, 0) + log1p(exp(-abs(x)))", kAct, kFloats, {[](double x, double, double) { return softplusOf(x); }, nullptr}, {}, {}},
        {"Softsign", 1, "x / (1 + |x|)", "x / (1 + abs(x))", kAct, kFloats, {[](double x, double, double) { return x / (1 + std::fabs(x)); }, nullptr}, {}, {}},
        {"Mish", 18, "x · tanh(ln(1 + e^x))", "x * tanh(maximum(x, 0) + log1p(exp(-abs(x))))", kAct, kFloats,
         {[](double x, double, double) { return x * std::tanh(softplusOf(x)); }, nullptr}, {},
         {"mish(Tensor self) -> Tensor", "mish_(Tensor(a!) self) -> Tensor(a!)"}},
        {"Shrink", 9, "moves x by bias toward 0 where |x| is above lambd, else 0", "where(x < -lambd, x + bias, where(x > lambd, x - bias, 0))", kAct, kNumbers,
         {[](double x, double a, double b) { return x < -b ? x + a : x > b ? x - a : 0.0; }, nullptr}, {{"bias", 0.0}, {"lambd", 0.5}}, {}},
        {"Tanh", 1, "hyperbolic tangent", "tanh(x)", kAct, kFloats,
         {[](double x, double, double) { return std::tanh(x); }, nullptr, Unary::Tanh}, {},
         {"tanh(Tensor self) -> Tensor", "tanh_(Tensor(a!) self) -> Tensor(a!)"}},
        {"Abs", 1, "|x|", "abs(x)", kEl, kNumbers,
         {[](double x, double, double) { return std::fabs(x); },
          [](std::int64_t x) { return x < 0 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x)) : x; }, Unary::Abs}, {},
         {"abs(Tensor self) -> Tensor", "abs_(Tensor(a!) self) -> Tensor(a!)"}},
        {"Neg", 1, "−x", "-x", kEl, kFloats | kSignedInts,
         {[](double x, double, double) { return -x; },
          [](std::int64_t x) { return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x)); }, Unary::Neg}, {},
         {"neg(Tensor self) -> Tensor", "neg_(Tensor(a!) self) -> Tensor(a!)"}},
        {"Sign", 9, "−1, 0 or 1", "sign(x)", kEl, kNumbers,
         {[](double x, double, double) { return std::isnan(x) ? x : x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; },
          [](std::int64_t x) -> std::int64_t { return (x > 0) - (x < 0); }}, {}, {"sign(Tensor self) -> Tensor"}},
        {"Floor", 1, "the next integer below", "floor(x)", kEl, kFloats, {[](double x, double, double) { return std::floor(x); }, kSameWhole}, {},
         {"floor(Tensor self) -> Tensor", "floor_(Tensor(a!) self) -> Tensor(a!)"}},
        {"Ceil", 1, "the next integer above", "ceil(x)", kEl, kFloats, {[](double x, double, double) { return std::ceil(x); }, kSameWhole}, {},
         {"ceil(Tensor self) -> Tensor", "ceil_(Tensor(a!) self) -> Tensor(a!)"}},
        {"Round", 11, "the nearest integer, halves to the even one", "round(x)", kEl, kFloats,
         {[](double x, double, double) { return std::nearbyint(x); }, kSameWhole}, {}, {"round(Tensor self) -> Tensor"}},
        {"", 0, "the integer toward zero", "trunc(x)", kEl, kFloats, {[](double x, double, double) { return std::trunc(x); }, kSameWhole}, {},
         {"trunc(Tensor self) -> Tensor"}},
        {"Sqrt", 1, "square root", "sqrt(x)", kEl, kFloats, {[](double x, double, double) { return std::sqrt(x); }, nullptr, Unary::Sqrt}, {},
         {"sqrt(Tensor self) -> Tensor", "sqrt_(Tensor(a!) self) -> Tensor(a!)"}},
        {"", 0, "1 / square root", "1 / sqrt(x)", kEl, kFloats, {[](double x, double, double) { return 1 / std::sqrt(x); }, nullptr}, {},
         {"rsqrt(Tensor self) -> Tensor", "rsqrt_(Tensor(a!) self) -> Tensor(a!)"}},
        {"Reciprocal", 1, "1 / x", "1 / x", kEl, kFloats, {[](double x, double, double) { return 1 / x; }, nullptr, Unary::Reciprocal}, {},
         {"reciprocal(Tensor self) -> Tensor", "reciprocal_(Tensor(a!) self) -> Tensor(a!)"}},
        {"Exp", 1, "e^x", "exp(x)", kEl, kFloats, {[](double x, double, double) { return std::exp(x); }, nullptr, Unary::Exp}, {},
         {"exp(Tensor self) -> Tensor", "exp_(Tensor(a!) self) -> Tensor(a!)"}},
        {"", 0, "e^x − 1", "expm1(x)", kEl, kFloats, {[](double x, double, double) { return std::expm1(x); }, nullptr}, {}, {"expm1(Tensor self) -> Tensor"}},
        {"Log", 1, "natural logarithm", "log(x)", kEl, kFloats, {[](double x, double, double) { return std::log(x); }, nullptr}, {},
         {"log(Tensor self) -> Tensor", "log_(Tensor(a!) self) -> Tensor(a!)"}},
        {"", 0, "logarithm of base 2", "log2(x)", kEl, kFloats, {[](double x, double, double) { return std::log2(x); }, nullptr}, {}, {"log2(Tensor self) -> Tensor"}},
        {"", 0, "logarithm of base 10", "log10(x)", kEl, kFloats, {[](double x, double, double) { return std::log10(x); }, nullptr}, {}, {"log10(Tensor self) -> Tensor"}},
        {"", 0, "ln(1 + x)", "log1p(x)", kEl, kFloats, {[](double x, double, double) { return std::log1p(x); }, nullptr}, {}, {"log1p(Tensor self) -> Tensor"}},
        {"Erf", 9, "error function", "erf(x) : trunc(erf(x))", kEl, kNumbers, {[](double x, double, double) { return std::erf(x); }, nullptr, Unary::Erf}, {},
         {"erf(Tensor self) -> Tensor", "erf_(Tensor(a!) self) -> Tensor(a!)"}},
        {"Sin", 7, "sine", "sin(x)", kEl, kFloats, {[](double x, double, double) { return std::sin(x); }, nullptr}, {}, {"sin(Tensor self) -> Tensor"}},
        {"Cos", 7, "cosine", "cos(x)", kEl, kFloats, {[](double x, double, double) { return std::cos(x); }, nullptr}, {}, {"cos(Tensor self) -> Tensor"}},
        {"Tan", 7, "tangent", "tan(x)", kEl, kFloats, {[](double x, double, double) { return std::tan(x); }, nullptr}, {}, {"tan(Tensor self) -> Tensor"}},
        {"Asin", 7, "arc sine", "asin(x)", kEl, kFloats, {[](double x, double, double) { return std::asin(x); }, nullptr}, {}, {"asin(Tensor self) -> Tensor"}},
        {"Acos", 7, "arc cosine", "acos(x)", kEl, kFloats, {[](double x, double, double) { return std::acos(x); }, nullptr}, {}, {"acos(Tensor self) -> Tensor"}},
        {"Atan", 7, "arc tangent", "atan(x)", kEl, kFloats, {[](double x, double, double) { return std::atan(x); }, nullptr}, {}, {"atan(Tensor self) -> Tensor"}},
        {"Sinh", 9, "hyperbolic sine", "(exp(x) - exp(-x)) / 2", kEl, kFloats, {[](double x, double, double) { return std::sinh(x); }, nullptr}, {}, {"sinh(Tensor self) -> Tensor"}},
        {"Cosh", 9, "hyperbolic cosine", "(exp(x) + exp(-x)) / 2", kEl, kFloats, {[](double x, double, double) { return std::cosh(x); }, nullptr}, {}, {"cosh(Tensor self) -> Tensor"}},
        {"Asinh", 9, "inverse hyperbolic sine", "sign(x) * log(abs(x) + sqrt(x * x + 1))", kEl, kFloats, {[](double x, double, double) { return std::asinh(x); }, nullptr}, {}, {"asinh(Tensor self) -> Tensor"}},
        {"Acosh", 9, "inverse hyperbolic cosine", "log(x + sqrt(x * x - 1))", kEl, kFloats, {[](double x, double, double) { return std::acosh(x); }, nullptr}, {}, {"acosh(Tensor self) -> Tensor"}},
        {"Atanh", 9, "inverse hyperbolic tangent", "0.5 * log((1 + x) / (1 - x))", kEl, kFloats, {[](double x, double, double) { return std::atanh(x); }, nullptr}, {}, {"atanh(Tensor self) -> Tensor"}},
        {"", 0, "x · sigmoid(x)", "x / (1 + exp(-x))", kAct, kFloats, {[](double x, double, double) { return x * base::sigmoid(x); }, nullptr, Unary::Silu}, {{"alpha", 1.0}},
         {"silu(Tensor self) -> Tensor", "silu_(Tensor(a!) self) -> Tensor(a!)"}},
        {"", 0, "min(max(0, x), 6)", "clip(x, min, max)", kAct, kFloats,
         {[](double x, double a, double b) { return x < a ? a : x > b ? b : x; }, [](std::int64_t x) { return std::clamp<std::int64_t>(x, 0, 6); }, Unary::Clip}, {{"min", 0.0}, {"max", 6.0}},
         {"relu6(Tensor self) -> Tensor", "relu6_(Tensor(a!) self) -> Tensor(a!)"}},
        {"", 0, "clip(x/6 + 1/2, 0, 1)", "clip(alpha * x + beta, 0, 1)", kAct, kFloats,
         {[](double x, double a, double b) { return clamp01(a * x + b); }, nullptr, Unary::HardSigmoid}, {{"alpha", 1.0 / 6}, {"beta", 0.5}},
         {"hardsigmoid(Tensor self) -> Tensor", "hardsigmoid_(Tensor(a!) self) -> Tensor(a!)"}},
        {"", 0, "ln sigmoid(x)", "minimum(x, 0) - log1p(exp(-abs(x)))", kAct, kFloats, {[](double x, double, double) { return -softplusOf(-x); }, nullptr}, {},
         {"log_sigmoid(Tensor self) -> Tensor"}},
        {"", 0, "2^x", "2.0 ** x", kEl, kFloats, {[](double x, double, double) { return std::exp2(x); }, nullptr}, {}, {"exp2(Tensor self) -> Tensor"}},
        {"", 0, "1 − erf(x)", "1 - erf(x)", kEl, kFloats, {[](double x, double, double) { return std::erfc(x); }, nullptr}, {}, {"erfc(Tensor self) -> Tensor"}},
        {"", 0, "inverse of the error function", "erfinv(x)", kEl, kFloats, {[](double x, double, double) { return base::inverseErf(x); }, nullptr}, {},
         {"erfinv(Tensor self) -> Tensor"}},
        {"", 0, "ln |Γ(x)|", "lgamma(x)", kEl, kFloats, {[](double x, double, double) { return std::lgamma(x); }, nullptr}, {}, {"lgamma(Tensor self) -> Tensor"}},
        {"", 0, "d/dx ln Γ(x)", "digamma(x)", kEl, kFloats, {[](double x, double, double) { return base::digamma(x); }, nullptr}, {}, {"digamma(Tensor self) -> Tensor"}},
        {"", 0, "the fractional part", "x - trunc(x)", kEl, kFloats, {[](double x, double, double) { return x - std::trunc(x); }, nullptr}, {},
         {"frac(Tensor self) -> Tensor"}},
        {"", 0, "sin(πx) / πx", "where(x == 0, 1, sin(3.141592653589793 * x) / (3.141592653589793 * x))", kEl, kFloats,
         {[](double x, double, double) { return x == 0 ? 1.0 : std::sin(3.14159265358979323846 * x) / (3.14159265358979323846 * x); }, nullptr}, {},
         {"sinc(Tensor self) -> Tensor"}},
        {"", 0, "degrees as radians", "x * 3.141592653589793 / 180", kEl, kFloats, {[](double x, double, double) { return x * (3.14159265358979323846 / 180); }, nullptr}, {},
         {"deg2rad(Tensor self) -> Tensor"}},
        {"", 0, "radians as degrees", "x * 180 / 3.141592653589793", kEl, kFloats, {[](double x, double, double) { return x * (180 / 3.14159265358979323846); }, nullptr}, {},
         {"rad2deg(Tensor self) -> Tensor"}},
        {"", 0, "modified Bessel function of order 0", "i0(x)", kEl, kFloats,
         {[](double x, double, double) { return base::besselI0(x); }, nullptr}, {}, {"i0(Tensor self) -> Tensor"}},
        {"", 0, "x²", "x * x", kEl, kNumbers,
         {[](double x, double, double) { return x * x; },
          [](std::int64_t x) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(x)); }, Unary::Square}, {},
         {"square(Tensor self) -> Tensor"}},
    };
    // clang-format on
}

/// The few functions that complex numbers have here too.
base::Result<void> runComplex(KernelContext& context, const UnaryFunction& function) {
    using Complex = std::complex<double>;
    Complex (*map)(Complex) = nullptr;
    bool toReal = false;
    switch (function.fast.value_or(Unary::Relu)) {
        case Unary::Abs:
            map = [](Complex z) { return Complex(std::abs(z)); };
            toReal = true;
            break;
        case Unary::Neg: map = [](Complex z) { return -z; }; break;
        case Unary::Exp: map = [](Complex z) { return std::exp(z); }; break;
        case Unary::Sqrt: map = [](Complex z) { return std::sqrt(z); }; break;
        case Unary::Reciprocal: map = [](Complex z) { return 1.0 / z; }; break;
        case Unary::Square: map = [](Complex z) { return z * z; }; break;
        case Unary::Tanh: map = [](Complex z) { return std::tanh(z); }; break;
        default: return opError("is not defined for " + context.in(kOperand).typeText());
    }
    const DType dtype = context.in(kOperand).dtype();
    SONDE_ASSIGN(const Tensor x, context.in(kOperand).cast(DType::Complex128));
    SONDE_ASSIGN(Tensor y, Tensor::allocate(DType::Complex128, x.shape()));
    for (std::int64_t i = 0; i < x.numel(); ++i) y.mutableData<Complex>()[i] = map(x.data<Complex>()[i]);
    SONDE_ASSIGN(Tensor result, y.cast(!toReal ? dtype : dtype == DType::Complex128 ? DType::Float64 : DType::Float32));
    context.setOutput(Value(std::move(result)));
    return {};
}

base::Result<void> runAten(KernelContext& context, const UnaryFunction& function, double a = 0, double b = 0) {
    Tensor x = context.in(kOperand);
    if (tensor::isComplex(x.dtype())) return runComplex(context, function);
    if (!function.whole && !tensor::isFloating(x.dtype())) {
        SONDE_ASSIGN(x, x.cast(DType::Float32));
    }
    return kernels::applyUnary(context, function, x, a, b);
}

/// Erf and Shrink are defined for integers by way of floating point.
base::Result<void> runThroughFloat(KernelContext& context, const UnaryFunction& function, double a, double b) {
    const DType dtype = context.in(kOperand).dtype();
    if (tensor::isFloating(dtype) || function.whole)
        return kernels::applyUnary(context, function, context.in(kOperand), a, b);
    SONDE_ASSIGN(const Tensor wide, context.in(kOperand).cast(DType::Float64));
    SONDE_TRY(kernels::applyUnary(context, function, wide, a, b));
    std::vector<Value> outputs = context.takeOutputs();
    SONDE_ASSIGN(Tensor narrow, outputs[0].tensor().cast(dtype));
    outputs[0] = Value(std::move(narrow));
    context.setOutputs(std::move(outputs));
    return {};
}

/// The formula with numbers in place of the parameters, where a vocabulary has none of that name.
std::string_view formulaWithNumbers(const Function& row) {
    static std::deque<std::string> made;
    std::string formula(row.formula);
    for (const Parameter1& parameter : row.attributes) {
        const std::string number = base::shortestText(parameter.fallback);
        for (std::size_t at = formula.find(parameter.name); at != std::string::npos;
             at = formula.find(parameter.name, at + number.size()))
            formula.replace(at, std::string_view(parameter.name).size(), number);
    }
    return made.emplace_back(std::move(formula));
}

void addOnnx(Registry& registry, const Function& row) {
    const std::vector<Parameter1> attributes = row.attributes;
    const UnaryFunction function = row.function;
    Row built(row.onnx, row.since, row.summary, row.category);
    built.in("X", row.dtypes, "T").out("Y");
    for (const Parameter1& attribute : attributes) built.attrFloat(attribute.name, attribute.fallback);
    built.runs(
        [function, attributes](KernelContext& context) {
            const auto at = [&](std::size_t i) {
                return i < attributes.size() ? context.attributes().getFloat(attributes[i].name, attributes[i].fallback)
                                             : 0.0;
            };
            const double first = attributes.empty() && function.fast == Unary::Silu ? 1.0 : at(0);
            return runThroughFloat(context, function, first, at(1));
        },
        inferSame);
    registry.add(built);
    explain("", row.onnx, dependence::elementWise, row.formula);
    if (!function.fast) return;
    kernels::addEpilogueKernel("", row.onnx);
    kernels::addEpilogueOp("", row.onnx, [function, attributes](const kernels::EpilogueCall& call) {
        const auto at = [&](std::size_t i) {
            return i < attributes.size() ? call.attributes.getFloat(attributes[i].name, attributes[i].fallback) : 0.0;
        };
        return kernels::unaryEpilogue(*function.fast, attributes.empty() && function.fast == Unary::Silu ? 1.0 : at(0),
                                      at(1));
    });
}

base::Result<void> inferAten(InferContext& context) {
    TypeInfo type = context.in("self");
    if (tensor::isInteger(type.dtype) || type.dtype == DType::Bool) type.dtype = DType::Float32;
    context.set(std::move(type));
    return {};
}

base::Result<void> inferAbs(InferContext& context) {
    TypeInfo type = context.in(kOperand);
    if (type.dtype == DType::Complex64) type.dtype = DType::Float32;
    if (type.dtype == DType::Complex128) type.dtype = DType::Float64;
    context.set(std::move(type));
    return {};
}

void addAtenUnary(Registry& registry, const Function& row) {
    for (std::string_view schema : row.aten) {
        const UnaryFunction function = row.function;
        const double a = row.attributes.empty() ? 0 : row.attributes[0].fallback;
        const double b = row.attributes.size() < 2 ? 0 : row.attributes[1].fallback;
        registry.add(atenRow(
            schema, row.summary, row.category,
            [function, a, b](KernelContext& context) { return runAten(context, function, a, b); },
            function.fast == Unary::Abs ? &inferAbs
            : function.whole            ? &inferSame
                                        : &inferAten));
        explain("aten", operators::outOfPlaceName(schema.substr(0, schema.find('('))), dependence::elementWise,
                row.attributes.empty() ? row.formula : formulaWithNumbers(row));
        if (!function.fast) continue;
        kernels::addEpilogueOp(
            "aten", schema.substr(0, schema.find('(')),
            [function, a, b](const kernels::EpilogueCall&) { return kernels::unaryEpilogue(*function.fast, a, b); });
    }
}

/// A function of integers with two of them as parameters, by other operators.
using OfIntegers = base::Result<Tensor> (*)(KernelContext& context, const Tensor& x, std::int64_t a, std::int64_t b);

/// ATen functions whose parameters are arguments: f(x; a, b) with a and b from the given positions. Integers stay
/// integers where `ofIntegers` is given, with parameters rounded toward zero.
void addParametric(Registry& registry, std::string_view schema, std::string_view summary, UnaryFunction function,
                   OfIntegers ofIntegers = nullptr) {
    registry.add(atenRow(
        schema, summary, Category::Activation,
        [function, ofIntegers](KernelContext& context) -> base::Result<void> {
            double parameters[2] = {0, 0};
            for (std::size_t i = 0; i < 2 && context.has(kOperand + 1 + i); ++i) {
                SONDE_ASSIGN(parameters[i], numberOf(context.value(kOperand + 1 + i)));
            }
            const Tensor& x = context.in(kOperand);
            if (!ofIntegers || !tensor::isInteger(x.dtype()))
                return runAten(context, function, parameters[0], parameters[1]);
            for (const double parameter : parameters) {
                if (!(std::fabs(parameter) < 0x1p63)) return opError("the parameter is no 64-bit integer");
            }
            SONDE_ASSIGN(Tensor y, ofIntegers(context, x, static_cast<std::int64_t>(parameters[0]),
                                              static_cast<std::int64_t>(parameters[1])));
            context.setOutput(Value(std::move(y)));
            return {};
        },
        ofIntegers ? &inferSame : &inferAten));
    if (!function.fast) return;
    kernels::addEpilogueOp(
        "aten", schema.substr(0, schema.find('(')),
        [function](const kernels::EpilogueCall& call) -> std::unique_ptr<kernels::EpilogueOp> {
            double parameters[2] = {0, 0};
            for (std::size_t i = 0; i < 2 && i + 1 < call.inputs.size(); ++i) {
                if (!call.inputs[i + 1].isNumber()) return nullptr;
                parameters[i] = call.inputs[i + 1].number();
            }
            return call.at == 0 ? kernels::unaryEpilogue(*function.fast, parameters[0], parameters[1]) : nullptr;
        });
}

base::Result<Tensor> hardtanhOfIntegers(KernelContext& context, const Tensor& x, std::int64_t low, std::int64_t high) {
    if (x.dtype() == DType::UInt8 && (low < 0 || high < 0)) return opError("unsigned integers have no negative limits");
    return invokeAten(context, "clamp", {Value(x), Value::ofInt(low), Value::ofInt(high)});
}

base::Result<Tensor> thresholdOfIntegers(KernelContext& context, const Tensor& x, std::int64_t threshold,
                                         std::int64_t value) {
    SONDE_ASSIGN(Tensor held, invokeAten(context, "le.Scalar", {Value(x), Value::ofInt(threshold)}));
    return invokeAten(context, "masked_fill.Scalar", {Value(x), Value(std::move(held)), Value::ofInt(value)});
}

/// Gelu has its approximation as a string in both vocabularies.
base::Result<void> gelu(KernelContext& context, const std::string& approximate) {
    const UnaryFunction exact{[](double x, double, double) { return 0.5 * x * std::erfc(-x * 0.7071067811865475244); },
                              nullptr, Unary::Gelu};
    const UnaryFunction byTanh{[](double x, double, double) {
                                   return 0.5 * x *
                                          (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
                               },
                               nullptr, Unary::GeluTanh};
    if (approximate != "none" && approximate != "tanh")
        return opError("approximate must be 'none' or 'tanh', but is '" + approximate + "'");
    return runAten(context, approximate == "tanh" ? byTanh : exact);
}

/// Elementwise tests that give bool.
template <typename Test>
base::Result<void> testFloats(KernelContext& context, Test test) {
    SONDE_ASSIGN(const Tensor wide, context.in(kOperand).cast(DType::Float64));
    SONDE_ASSIGN(Tensor out, context.output(DType::Bool, wide.shape()));
    const double* x = wide.data<double>();
    bool* y = out.mutableData<bool>();
    for (std::int64_t i = 0; i < wide.numel(); ++i) y[i] = test(x[i]);
    return {};
}

base::Result<void> inferBool(InferContext& context) {
    context.set(TypeInfo::tensor(DType::Bool, context.in(kOperand).shape));
    return {};
}

void defineTests(Registry& registry) {
    registry.add(
        Row("IsNaN", 9, "true where x is not a number", Category::Logic)
            .in("X", kFloats | bit(DType::Float8E4M3FN) | bit(DType::Float8E4M3FNUZ) | bit(DType::Float8E5M2) |
                         bit(DType::Float8E5M2FNUZ))
            .out("Y")
            .runs([](KernelContext& context) { return testFloats(context, [](double x) { return std::isnan(x); }); },
                  inferBool));
    registry.add(Row("IsInf", 10, "true where x is infinite, of the chosen signs", Category::Logic)
                     .in("X", kFloats | bit(DType::Float8E4M3FN) | bit(DType::Float8E4M3FNUZ) | bit(DType::Float8E5M2) |
                                  bit(DType::Float8E5M2FNUZ))
                     .out("Y")
                     .attrInt("detect_negative", 1)
                     .attrInt("detect_positive", 1)
                     .runs(
                         [](KernelContext& context) {
                             const bool negative = context.attributes().getInt("detect_negative", 1) != 0;
                             const bool positive = context.attributes().getInt("detect_positive", 1) != 0;
                             return testFloats(
                                 context, [=](double x) { return std::isinf(x) && (x < 0 ? negative : positive); });
                         },
                         inferBool));
    registry.add(atenRow(
        "isnan(Tensor self) -> Tensor", "true where x is not a number", Category::Logic,
        [](KernelContext& context) { return testFloats(context, [](double x) { return std::isnan(x); }); }, inferBool));
    registry.add(atenRow(
        "isfinite(Tensor self) -> Tensor", "true where x is neither infinite nor missing", Category::Logic,
        [](KernelContext& context) { return testFloats(context, [](double x) { return std::isfinite(x); }); },
        inferBool));
    registry.add(atenRow(
        "isposinf(Tensor self) -> Tensor", "true where x is +∞", Category::Logic,
        [](KernelContext& context) { return testFloats(context, [](double x) { return std::isinf(x) && x > 0; }); },
        inferBool));
    registry.add(atenRow(
        "isneginf(Tensor self) -> Tensor", "true where x is −∞", Category::Logic,
        [](KernelContext& context) { return testFloats(context, [](double x) { return std::isinf(x) && x < 0; }); },
        inferBool));
    registry.add(atenRow(
        "signbit(Tensor self) -> Tensor", "true where x has a minus", Category::Logic,
        [](KernelContext& context) { return testFloats(context, [](double x) { return std::signbit(x); }); },
        inferBool));
    registry.add(atenRow(
        "isinf(Tensor self) -> Tensor", "true where x is infinite", Category::Logic,
        [](KernelContext& context) { return testFloats(context, [](double x) { return std::isinf(x); }); }, inferBool));
}

}  // namespace

void define_unary(Registry& registry) {
    for (const Function& row : functions()) {
        if (!row.onnx.empty()) addOnnx(registry, row);
        addAtenUnary(registry, row);
    }
    registry.add(Row("Gelu", 20, "x · Φ(x), exact or by tanh", Category::Activation)
                     .in("X", kFloats, "T")
                     .out("Y")
                     .attrString("approximate", "none")
                     .runs(
                         [](KernelContext& context) {
                             return gelu(context, context.attributes().getString("approximate", "none"));
                         },
                         inferSame));
    registry.add(atenRow(
        "gelu(Tensor self, *, str approximate='none') -> Tensor", "x · Φ(x), exact or by tanh", Category::Activation,
        [](KernelContext& context) {
            return gelu(context, context.has("approximate") ? context.value("approximate").toString() : "none");
        },
        inferAten));
    for (std::string_view schema : {"leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
                                    "leaky_relu_(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)"}) {
        addParametric(registry, schema, "x, or negative_slope·x below 0",
                      {[](double x, double a, double) { return x < 0 ? a * x : x; }, nullptr, Unary::LeakyRelu});
    }
    for (std::string_view schema : {"hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
                                    "hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)"}) {
        addParametric(registry, schema, "x held between min_val and max_val",
                      {[](double x, double a, double b) { return x < a   ? a
                                                                 : x > b ? b
                                                                         : x; }, nullptr, Unary::Clip},
                      hardtanhOfIntegers);
    }
    for (std::string_view schema : {"threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
                                    "threshold_(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)"}) {
        addParametric(registry, schema, "x where it is above the threshold, else value",
                      {[](double x, double a, double b) { return x <= a ? b : x; }, nullptr}, thresholdOfIntegers);
    }
    for (std::string_view schema :
         {"elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
          "elu_(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor(a!)"}) {
        addParametric(registry, schema, "scale·x, or scale·alpha·(e^x − 1) below 0",
                      {[](double x, double a, double b) { return b * (x < 0 ? a * std::expm1(x) : x); }, nullptr});
    }
    addParametric(registry, "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
                  "max(0, x) + min(0, alpha·(e^(x/alpha) − 1))",
                  {[](double x, double a, double) { return x < 0 ? a * std::expm1(x / a) : x; }, nullptr});
    addParametric(registry, "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", "x where |x| is above lambd, else 0",
                  {[](double x, double a, double) { return x < -a || x > a ? x
                                                           : std::isnan(x) ? x
                                                                           : 0.0; }, nullptr});
    addParametric(
        registry, "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
        "x moved by lambd toward 0 where |x| is above it, else 0",
        {[](double x, double a, double) { return x > a           ? x - a
                                                 : x < -a        ? x + a
                                                 : std::isnan(x) ? x
                                                                 : 0.0; }, nullptr});
    addParametric(registry, "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
                  "ln(1 + e^(beta·x)) / beta",
                  {[](double x, double a, double b) { return x * a > b ? x : softplusOf(x * a) / a; }, nullptr});
    defineTests(registry);
    const auto explainAten = [](std::string_view names, std::string_view formula) {
        explain("aten", names, dependence::elementWise, formula);
    };
    explain("", "Gelu", dependence::gelu);
    explain("aten", "gelu", dependence::gelu);
    explainAten("leaky_relu", "where(x < 0, negative_slope * x, x)");
    explainAten("round.decimals", "= round(x, decimals)");
    explainAten("isnan", "isnan(x)");
    explainAten("isinf", "isinf(x)");
    explainAten("isfinite", "isfinite(x)");
    explainAten("isposinf", "(x > 0) & isinf(x)");
    explainAten("isneginf", "(x < 0) & isinf(x)");
    explainAten("signbit", "signbit(x)");
    explain("", "IsNaN", dependence::elementWise, "isnan(x)");
    explain("", "IsInf", dependence::elementWise,
            "isinf(x) & ((x < 0) & (detect_negative != 0) | (x > 0) & (detect_positive != 0))");
    explainAten("hardtanh", "clip(x, min_val, max_val) : clip(x, trunc(min_val), trunc(max_val))");
    explainAten("threshold", "where(x > threshold, x, value) : where(x > trunc(threshold), x, trunc(value))");
    explainAten("elu", "scale * where(x < 0, alpha * expm1(x), x)");
    explainAten("celu", "where(x < 0, alpha * expm1(x / alpha), x)");
    explainAten("hardshrink", "where(abs(x) > lambd, x, 0)");
    explainAten("softshrink", "where(x > lambd, x - lambd, where(x < -lambd, x + lambd, 0))");
    explainAten("softplus", "where(beta * x > threshold, x, log1p(exp(beta * x)) / beta)");
}

}  // namespace sonde::ops
