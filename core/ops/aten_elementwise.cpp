// ATen's element-wise functions that are sums of others.

#include <utility>

#include "core/base/special_functions.h"
#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/elementwise.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

constexpr auto kLogic = Category::Logic;

/// a∘b for a function of two doubles, broadcast; the result has the promoted dtype, at least floating point if asked.
Tensor pairwise(Eager& e, const Value& a, const Value& b, bool toFloat, double (*f)(double, double)) {
    auto [x, y] = e.get(promotedPair(a, b));
    DType dtype = x.dtype();
    if (toFloat && !tensor::isFloating(dtype)) dtype = DType::Float32;
    const Shape shape = e.get(broadcast(x.shape(), y.shape()));
    const Tensor p = e.get(e.get(e.get(wide(x)).expanded(shape)).contiguous());
    const Tensor q = e.get(e.get(e.get(wide(y)).expanded(shape)).contiguous());
    Tensor result = e.get(wideZeros(shape));
    for (std::int64_t i = 0; i < result.numel(); ++i)
        result.mutableData<double>()[i] = f(p.data<double>()[i], q.data<double>()[i]);
    return e.as(result, dtype);
}

void definePairs(Registry& registry) {
    const struct {
        std::string_view schema, summary;
        bool toFloat;
        double (*f)(double, double);
    } rows[] = {
        {"hypot(Tensor self, Tensor other) -> Tensor", "√(a² + b²)", false,
         [](double a, double b) { return std::hypot(a, b); }},
        {"copysign.Tensor(Tensor self, Tensor other) -> Tensor", "|a| with the sign of b", true,
         [](double a, double b) { return std::copysign(a, b); }},
        {"copysign.Scalar(Tensor self, Scalar other) -> Tensor", "|a| with the sign of b", true,
         [](double a, double b) { return std::copysign(a, b); }},
        {"fmax(Tensor self, Tensor other) -> Tensor", "the larger of both; a missing one loses", false,
         [](double a, double b) { return std::fmax(a, b); }},
        {"fmin(Tensor self, Tensor other) -> Tensor", "the smaller of both; a missing one loses", false,
         [](double a, double b) { return std::fmin(a, b); }},
        {"xlogy.Tensor(Tensor self, Tensor other) -> Tensor", "a·ln b, 0 where a is 0", true, base::xLogY},
        {"xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", "a·ln b, 0 where a is 0", true, base::xLogY},
        {"xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", "a·ln b, 0 where a is 0", true, base::xLogY},
        {"logaddexp(Tensor self, Tensor other) -> Tensor", "ln(e^a + e^b)", true, base::logAddExp},
        {"logaddexp2(Tensor self, Tensor other) -> Tensor", "log2(2^a + 2^b)", true, base::logAddExp2},
        {"heaviside(Tensor self, Tensor values) -> Tensor", "0 below 0, 1 above, b at 0", false, base::heaviside},
        {"nextafter(Tensor self, Tensor other) -> Tensor", "the next number toward b", true,
         [](double a, double b) {
             return static_cast<double>(std::nextafter(static_cast<float>(a), static_cast<float>(b)));
         }},
    };
    for (const auto& row : rows) {
        registry.add(eagerRow(row.schema, row.summary, kEl, [row](Eager& e) {
            return pairwise(e, e.value("self"), e.value({"other", "values"}), row.toFloat, row.f);
        }));
    }
}

/// self + value·a∘b
EagerResult addCombined(Eager& e, const char* combine) {
    return e("add.Tensor", e.tensor("self"),
             e("mul.Tensor", e(combine, e.tensor("tensor1"), e.tensor("tensor2")), e.value("value")));
}

/// start + weight·(end − start)
EagerResult lerp(Eager& e) {
    return e("add.Tensor", e.tensor("self"),
             e("mul.Tensor", e.value("weight"), e("sub.Tensor", e.tensor("end"), e.tensor("self"))));
}

/// ln(x / (1 − x)), x first held between eps and 1 − eps
EagerResult logit(Eager& e) {
    Tensor x = e.tensor("self");
    if (!tensor::isFloating(x.dtype())) x = e.as(x, DType::Float32);
    if (e.has("eps")) x = e("clamp", x, e.number("eps"), 1 - e.number("eps"));
    return e("log", e("div.Tensor", x, e("rsub.Scalar", x, 1.0)));
}

EagerResult nanToNum(Eager& e) {
    Tensor x = e.tensor("self");
    if (!tensor::isFloating(x.dtype())) return x;
    const double largest = x.dtype() == DType::Float64    ? std::numeric_limits<double>::max()
                           : x.dtype() == DType::Float16  ? 65504.0
                           : x.dtype() == DType::BFloat16 ? 0x1.FEp127
                                                          : static_cast<double>(std::numeric_limits<float>::max());
    const auto replace = [&](const char* test, double value) { x = e("masked_fill.Scalar", x, e(test, x), value); };
    const double above = e.has("posinf") ? e.number("posinf") : largest,
                 below = e.has("neginf") ? e.number("neginf") : -largest;
    const Tensor positive = e("isposinf", x), negative = e("isneginf", x);
    replace("isnan", e.has("nan") ? e.number("nan") : 0);
    return e("masked_fill.Scalar", e("masked_fill.Scalar", x, positive, above), negative, below);
}

/// The first half times the sigmoid of the second.
EagerResult glu(Eager& e) {
    const Tensor x = e.tensor("self");
    const std::size_t axis = e.axis("dim", x.rank());
    if (x.dim(axis) % 2 != 0)
        e.fail("half of " + x.typeText() + " along dimension " + std::to_string(axis) + " is not an integer");
    const std::int64_t half = x.dim(axis) / 2;
    return e("mul.Tensor", x.sliced(axis, 0, half), e("sigmoid", x.sliced(axis, half, half)));
}

base::Result<Dependence> gluTerms(const ElementCall& call) {
    const Tensor& x = call.context.in("self");
    SONDE_ASSIGN(const std::int64_t dim, intOf(call.context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(dim, x.rank()));
    Dependence dependence;
    dependence.formula = "x * sigmoid(gate)";
    std::vector<std::int64_t> at = call.at;
    dependence::addElement(dependence, dependence.part("x"), call, kOperand, dependence::elementAt(at, x.shape()));
    at[axis] += x.dim(axis) / 2;
    dependence::addElement(dependence, dependence.part("gate"), call, kOperand, dependence::elementAt(at, x.shape()));
    return dependence;
}

/// One slope for all, or one for each channel (dimension 1).
EagerResult prelu(Eager& e) {
    const Tensor x = e.tensor("self");
    Tensor slope = e.tensor("weight");
    if (slope.numel() > 1) {
        if (x.rank() < 2 || slope.numel() != x.dim(1))
            e.fail("slopes " + slope.typeText() + " do not match the channels of " + x.typeText());
        std::vector<std::int64_t> dims(x.rank(), 1);
        dims[1] = slope.numel();
        slope = e.reshape(slope, Shape(dims));
    }
    return e("where.self", e("ge.Scalar", x, 0), x, e("mul.Tensor", x, slope));
}

/// Bounds as tensors: max(x, min), then min(…, max).
EagerResult clampTensors(Eager& e) {
    Tensor x = e.tensor("self");
    if (e.has("min")) x = e("maximum", x, e.tensor("min"));
    if (e.has("max")) x = e("minimum", x, e.tensor("max"));
    return x;
}

EagerResult roundDecimals(Eager& e) {
    const double factor = std::pow(10.0, std::abs(e.number("decimals")));
    const char* there = e.number("decimals") >= 0 ? "mul.Scalar" : "div.Scalar";
    const char* back = e.number("decimals") >= 0 ? "div.Scalar" : "mul.Scalar";
    return e(back, e("round", e(there, e.tensor("self"), factor)), factor);
}

/// |a − b| ≤ atol + rtol·|b|; infinities only equal themselves.
Tensor close(Eager& e) {
    const Tensor a = e.tensor("self"), b = e.tensor("other");
    const Tensor limit = e("add.Scalar", e("mul.Scalar", e("abs", b), e.number("rtol")), e.number("atol"));
    const Tensor near = e("le.Tensor", e("abs", e("sub.Tensor", a, b)), limit);
    Tensor result = e("logical_or", e("logical_and", near, e("isfinite", b)), e("eq.Tensor", a, b));
    if (e.flag("equal_nan")) result = e("logical_or", result, e("logical_and", e("isnan", a), e("isnan", b)));
    return result;
}

bool allTrue(Eager& e, const Tensor& x) { return e("all", x).toInt64(0) != 0; }

EagerResult equalAll(Eager& e) {
    return Value::ofBool(e.tensor("self").shape() == e.tensor("other").shape() &&
                         allTrue(e, e("eq.Tensor", e.tensor("self"), e.tensor("other"))));
}

/// Bitwise on integers; logical on bool.
EagerResult bits(Eager& e, const char* onBools, const char* onIntegers) {
    auto [x, y] = e.get(promotedPair(e.value("self"), e.value("other")));
    return e.onnx(x.dtype() == DType::Bool ? onBools : onIntegers, {Value(x), Value(y)});
}

/// Arithmetic shift by multiplication: x·2^n, or ⌊x / 2^n⌋.
EagerResult shift(Eager& e, bool left) {
    auto [x, y] = e.get(promotedPair(e.value("self"), e.value("other")));
    if (!tensor::isInteger(x.dtype())) e.fail("only integers are shifted");
    const Shape shape = e.get(broadcast(x.shape(), y.shape()));
    const Tensor p = e.as(e.get(e.get(x.expanded(shape)).contiguous()), DType::Int64);
    const Tensor q = e.as(e.get(e.get(y.expanded(shape)).contiguous()), DType::Int64);
    Tensor result = e.get(Tensor::allocate(DType::Int64, shape));
    for (std::int64_t i = 0; i < result.numel(); ++i) {
        const std::int64_t a = p.data<std::int64_t>()[i], n = q.data<std::int64_t>()[i];
        const bool far = n < 0 || n > 63;
        result.mutableData<std::int64_t>()[i] =
            left ? (far ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << n)) : a >> (far ? 63 : n);
    }
    return e.as(result, x.dtype());
}

void defineBits(Registry& registry) {
    const struct {
        std::string_view tensor, scalar, dunder, dunderScalar, summary;
        const char *onBools, *onIntegers;
    } rows[] = {
        {"bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor",
         "bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor",
         "__and__.Tensor(Tensor self, Tensor other) -> Tensor", "__and__.Scalar(Tensor self, Scalar other) -> Tensor",
         "bits set in both", "And", "BitwiseAnd"},
        {"bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor",
         "bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor", "__or__.Tensor(Tensor self, Tensor other) -> Tensor",
         "__or__.Scalar(Tensor self, Scalar other) -> Tensor", "bits set in one", "Or", "BitwiseOr"},
        {"bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor",
         "bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor",
         "__xor__.Tensor(Tensor self, Tensor other) -> Tensor", "__xor__.Scalar(Tensor self, Scalar other) -> Tensor",
         "bits set in just one", "Xor", "BitwiseXor"},
    };
    for (const auto& row : rows) {
        for (std::string_view schema : {row.tensor, row.scalar, row.dunder, row.dunderScalar}) {
            registry.add(eagerRow(schema, row.summary, kLogic,
                                  [row](Eager& e) { return bits(e, row.onBools, row.onIntegers); }));
        }
    }
    for (std::string_view schema : {"bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor",
                                    "bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
                                    "__lshift__.Tensor(Tensor self, Tensor other) -> Tensor",
                                    "__lshift__.Scalar(Tensor self, Scalar other) -> Tensor"}) {
        registry.add(eagerRow(schema, "bits moved up", kLogic, [](Eager& e) { return shift(e, true); }));
    }
    for (std::string_view schema : {"bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor",
                                    "bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
                                    "__rshift__.Tensor(Tensor self, Tensor other) -> Tensor",
                                    "__rshift__.Scalar(Tensor self, Scalar other) -> Tensor"}) {
        registry.add(eagerRow(schema, "bits moved down", kLogic, [](Eager& e) { return shift(e, false); }));
    }
}

void defineChoices(Registry& registry) {
    for (std::string_view schema : {"where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
                                    "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
                                    "where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor"}) {
        registry.add(
            eagerRow(schema, "self where the condition is true, else other", kLogic, [](Eager& e) -> EagerResult {
                auto [a, b] = e.get(promotedPair(e.value("self"), e.value("other")));
                return e("where.self", e.tensor("condition"), a, b);
            }));
    }
    registry.add(eagerRow(
        "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
        "|a − b| ≤ atol + rtol·|b|", kLogic, [](Eager& e) { return close(e); }, inferBroadcastBool));
    registry.add(eagerRow(
        "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
        "whether all elements are close", kLogic,
        [](Eager& e) -> EagerResult { return Value::ofBool(allTrue(e, close(e))); }));
    registry.add(eagerRow("equal(Tensor self, Tensor other) -> bool", "whether shapes and elements are equal", kLogic,
                          equalAll));
    registry.add(eagerRow("is_nonzero(Tensor self) -> bool", "whether the one element is not 0", kLogic,
                          [](Eager& e) -> EagerResult {
                              if (e.tensor("self").numel() != 1)
                                  e.fail("expected a tensor with one element, not " + e.tensor("self").typeText());
                              return Value::ofBool(e.tensor("self").toDouble(0) != 0);
                          }));
    for (std::string_view schema : {"clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
                                    "clamp_min.Tensor(Tensor self, Tensor min) -> Tensor"}) {
        registry.add(eagerRow(schema, "x held between two bounds", kEl, clampTensors));
    }
    registry.add(eagerRow(
        "clamp_max(Tensor self, Scalar max) -> Tensor", "x held below a bound", kEl,
        [](Eager& e) -> EagerResult { return e("clamp", e.tensor("self"), nullptr, e.value("max")); }, inferSame));
    registry.add(eagerRow("clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", "x held below a bound", kEl,
                          [](Eager& e) -> EagerResult { return e("minimum", e.tensor("self"), e.tensor("max")); }));
}

}  // namespace

void define_aten_elementwise(Registry& registry) {
    definePairs(registry);
    defineBits(registry);
    defineChoices(registry);
    registry.add(eagerRow("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                          "x + value·a·b", kEl, [](Eager& e) { return addCombined(e, "mul.Tensor"); }));
    registry.add(eagerRow("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                          "x + value·a/b", kEl, [](Eager& e) { return addCombined(e, "div.Tensor"); }));
    registry.add(
        eagerRow("lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", "x + weight·(end − x)", kEl, lerp));
    registry.add(
        eagerRow("lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", "x + weight·(end − x)", kEl, lerp));
    registry.add(eagerRow("logit(Tensor self, float? eps=None) -> Tensor", "ln(x / (1 − x))", kEl, logit));
    registry.add(eagerRow("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
                          "x with numbers for what is missing or infinite", kEl, nanToNum, inferSame));
    registry.add(eagerRow("round.decimals(Tensor self, *, int decimals) -> Tensor", "x rounded to decimals", kEl,
                          roundDecimals, inferSame));
    for (std::string_view schema : {"float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
                                    "float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
                                    "float_power.Scalar(Scalar self, Tensor exponent) -> Tensor"}) {
        registry.add(eagerRow(schema, "a to the power of b in double precision", kEl, [](Eager& e) -> EagerResult {
            return e("pow.Tensor_Tensor", e.as(e.tensor("self"), DType::Float64),
                     e.as(e.tensor("exponent"), DType::Float64));
        }));
    }
    registry.add(eagerRow("glu(Tensor self, int dim=-1) -> Tensor", "first half · sigmoid(second half)", kAct, glu));
    registry.add(
        eagerRow("prelu(Tensor self, Tensor weight) -> Tensor", "x, or slope·x below 0", kAct, prelu, inferSame));
    registry.add(eagerRow(
        "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> Tensor",
        "x, or the mean slope·x below 0", kAct,
        [](Eager& e) -> EagerResult {
            return e("leaky_relu", e.tensor("self"), (e.number("lower") + e.number("upper")) / 2);
        },
        inferSame));
    registry.add(eagerRow("sgn(Tensor self) -> Tensor", "−1, 0 or 1; of a complex number its direction", kEl,
                          [](Eager& e) -> EagerResult {
                              if (!tensor::isComplex(e.tensor("self").dtype())) return e("sign", e.tensor("self"));
                              const Tensor size = e("abs", e.tensor("self"));
                              return e("div.Tensor", e.tensor("self"),
                                       e("masked_fill.Scalar", size, e("eq.Scalar", size, 0), 1.0));
                          }));
    registry.add(eagerRow(
        "positive(Tensor self) -> Tensor", "x itself", kEl, [](Eager& e) -> EagerResult { return e.tensor("self"); },
        inferSame));
    explain("aten", "addcmul", dependence::elementWise, "x + value * y * z");
    explain("aten", "addcdiv", dependence::elementWise, "x + value * y / z");
    explain("aten", "lerp", dependence::elementWise, "x + z * (y - x)");
    explain("aten", "clamp_min", dependence::elementWise, "maximum(x, y)");
    explain("aten", "clamp_max", dependence::elementWise, "minimum(x, y)");
    for (const auto& [names, formula] : {std::pair("hypot", "hypot(x, y)"),
                                         std::pair("copysign", "copysign(x, y)"),
                                         std::pair("fmax", "fmax(x, y)"),
                                         std::pair("fmin", "fmin(x, y)"),
                                         std::pair("xlogy", "xlogy(x, y)"),
                                         std::pair("logaddexp", "logaddexp(x, y)"),
                                         std::pair("logaddexp2", "logaddexp2(x, y)"),
                                         std::pair("heaviside", "heaviside(x, y)"),
                                         std::pair("nextafter", "= nextafter(x, y)"),
                                         std::pair("atan2", "atan2(x, y)"),
                                         std::pair("logit", "logit(x, eps)"),
                                         std::pair("float_power", "x ** y"),
                                         std::pair("sgn", "sign(x)"),
                                         std::pair("nan_to_num", "= nan_to_num(x, y, z, u)"),
                                         std::pair("isclose", "= isclose(x, y, rtol, atol, equal_nan)"),
                                         std::pair("angle", "angle(x)"),
                                         std::pair("logical_xor", "(x != 0) != (y != 0)"),
                                         std::pair("bitwise_and __and__", "= x & y"),
                                         std::pair("bitwise_or __or__", "= x | y"),
                                         std::pair("bitwise_xor __xor__", "= x ^ y"),
                                         std::pair("bitwise_not", "= ~x"),
                                         std::pair("bitwise_left_shift __lshift__", "= x * 2 ** y"),
                                         std::pair("bitwise_right_shift __rshift__", "= x // 2 ** y")})
        explain("aten", names, dependence::elementWise, formula);
    explain("aten", "prelu", dependence::sloped);
    explain("aten", "glu", gluTerms);
}

}  // namespace sonde::ops
