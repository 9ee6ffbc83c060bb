// Element by element: torch's functions as sums of ONNX operators.

#include <cmath>
#include <limits>
#include <numbers>

#include "core/export/lowering/lowering.h"

namespace sonde::exporting {

namespace {

using Results = std::vector<Argument>;
using C = LoweredCall;

/// The first argument in the result's dtype.
NodeId x(C& c) { return c.in(0); }
NodeId y(C& c) { return c.in(1); }
NodeId mul(C& c, NodeId a, NodeId b) { return c.make("Mul", {a, b}); }
NodeId times(C& c, NodeId a, double factor) {
    return factor == 1 ? a : c.make("Mul", {a, c.scalar(factor, c.dtypeOf(a))});
}
NodeId plus(C& c, NodeId a, double number) { return c.make("Add", {a, c.scalar(number, c.dtypeOf(a))}); }
NodeId sub(C& c, NodeId a, NodeId b) { return c.make("Sub", {a, b}); }
NodeId add(C& c, NodeId a, NodeId b) { return c.make("Add", {a, b}); }
NodeId div(C& c, NodeId a, NodeId b) { return c.make("Div", {a, b}); }
NodeId where(C& c, NodeId condition, NodeId a, NodeId b) { return c.make("Where", {condition, a, b}); }
NodeId less(C& c, NodeId a, NodeId b) { return c.make("Less", {a, b}); }
NodeId isNaN(C& c, NodeId a) { return c.make("IsNaN", {a}); }

/// Toward zero: sign(x)·floor(|x|).
NodeId truncated(C& c, NodeId a) { return mul(c, c.make("Sign", {a}), c.make("Floor", {c.make("Abs", {a})})); }

/// log(1 + e^x), for large x x.
NodeId softplus(C& c, NodeId a) { return c.make("Softplus", {a}); }

/// Whether a rest is not zero and its sign is not the divisor's.
NodeId crosses(C& c, NodeId rest, NodeId divisor) {
    const NodeId differs = c.make("Xor", {less(c, rest, c.like(0)), less(c, divisor, c.like(0))});
    return c.make("And", {differs, c.make("Not", {c.make("Equal", {rest, c.like(0)})})});
}

/// Of floats as Python divides them: from the exact rest, for a / b may round up to the next integer (1 // 0.1 is 9).
NodeId flooredQuotient(C& c, NodeId a, NodeId b) {
    const NodeId rest = c.make("Mod", {a, b}, {{"fmod", std::int64_t{1}}});
    const NodeId nearly = div(c, sub(c, a, rest), b);
    const NodeId quotient = where(c, crosses(c, rest, b), sub(c, nearly, c.like(1)), nearly);
    const NodeId floor = c.make("Floor", {quotient});
    const NodeId whole =
        where(c, c.make("Greater", {sub(c, quotient, floor), c.like(0.5)}), add(c, floor, c.like(1)), floor);
    return where(c, c.make("Equal", {b, c.like(0)}), div(c, a, b), whole);
}

Results divided(C& c) {
    const DType dtype = c.result().dtype();
    const std::string rounding = c.expr().op.name.starts_with("floor") ? "floor" : c.text(2);
    const NodeId a = x(c), b = y(c);
    if (rounding.empty()) return one(div(c, a, b));
    if (tensor::isFloating(dtype))
        return one(rounding == "floor" ? flooredQuotient(c, a, b) : truncated(c, div(c, a, b)));
    // ONNX divides integers toward zero: one less where signs differ and something is left.
    const NodeId quotient = div(c, a, b);
    if (rounding != "floor") return one(quotient);
    const NodeId rest = sub(c, a, mul(c, quotient, b));
    return one(sub(c, quotient, c.cast(crosses(c, rest, b), dtype)));
}

/// With the sign of the divisor (remainder), or of the dividend (fmod).
template <bool sign>
Results modulo(C& c) {
    const NodeId a = x(c), b = y(c);
    if (!tensor::isFloating(c.result().dtype())) return one(c.make("Mod", {a, b}, {{"fmod", std::int64_t{!sign}}}));
    const NodeId rest = c.make("Mod", {a, b}, {{"fmod", std::int64_t{1}}});
    return one(sign ? where(c, crosses(c, rest, b), add(c, rest, b), rest) : rest);
}

Results isInfinite(C& c, std::int64_t negative, std::int64_t positive) {
    if (!tensor::isFloating(c.dtypeOf(c.tensor(0))))
        return one(c.make("And", {c.cast(c.tensor(0), DType::Bool), c.scalar(0, DType::Bool)}));
    return one(c.make("IsInf", {c.tensor(0)}, {{"detect_negative", negative}, {"detect_positive", positive}}));
}

/// Booleans by logic, integers by bits.
Results bits(C& c, const char* logic, const char* bitwise) {
    return one(c.make(c.result().dtype() == DType::Bool ? logic : bitwise, {x(c), y(c)}));
}

/// 2^y for y from 0 to `most`, of a table: no float holds all of them.
NodeId powerOfTwo(C& c, NodeId exponent, std::int64_t most) {
    std::vector<std::int64_t> powers;
    for (std::int64_t i = 0; i <= most; ++i) powers.push_back(static_cast<std::int64_t>(std::uint64_t{1} << i));
    const NodeId table = c.constant(Tensor::of<std::int64_t>(Shape{most + 1}, powers));
    const NodeId last = c.scalar(static_cast<double>(most), DType::Int64);
    const NodeId place = c.make("Min", {c.make("Max", {exponent, c.scalar(0, DType::Int64)}), last});
    return c.make("Gather", {table, place}, {{"axis", std::int64_t{0}}});
}
/// ONNX shifts unsigned numbers only. To the left is a product with a power of two; to the right a quotient, rounded
/// down, by powers that int64 holds.
Results shifted(C& c, bool left) {
    constexpr std::int64_t kBits = 63;
    const DType dtype = c.result().dtype();
    if (tensor::isFloating(dtype)) {
        const NodeId power = c.cast(c.make("Pow", {c.scalar(2, DType::Float64), c.cast(y(c), DType::Float64)}), dtype);
        return one(left ? mul(c, x(c), power) : div(c, x(c), power));
    }
    const NodeId a = c.cast(x(c), DType::Int64), by = c.cast(y(c), DType::Int64);
    if (left) return one(c.cast(mul(c, a, powerOfTwo(c, by, kBits)), dtype));
    const NodeId zero = c.scalar(0, DType::Int64);
    const auto isNegative = [&](NodeId number) { return c.cast(less(c, number, zero), DType::Int64); };
    const NodeId power = powerOfTwo(c, by, kBits - 1), quotient = div(c, a, power);
    const NodeId floor = sub(c, quotient, isNegative(sub(c, a, mul(c, quotient, power))));
    const NodeId isAll = c.make("Equal", {by, c.scalar(kBits, DType::Int64)});
    return one(c.cast(where(c, isAll, c.make("Neg", {isNegative(a)}), floor), dtype));
}

/// log(1 + x), exact where x is small: what 1 + x has lost of x is put back by x / ((1 + x) - 1).
Results logarithmOfOneMore(C& c) {
    const NodeId a = x(c), more = plus(c, a, 1), kept = plus(c, more, -1), logarithm = c.make("Log", {more});
    const NodeId isLost = c.make("Equal", {kept, c.like(0)});
    const NodeId factor = div(c, a, where(c, isLost, c.like(1), kept));
    const NodeId isExact = c.make("Equal", {kept, a});
    return one(where(c, isExact, logarithm, where(c, isLost, a, mul(c, logarithm, factor))));
}
/// e^x - 1; for small x 2t / (1 - t) with t = tanh(x/2), which loses nothing.
Results exponentialLessOne(C& c) {
    const NodeId a = x(c);
    const NodeId near = c.make("Max", {c.make("Min", {a, c.like(1)}), c.like(-1)});
    const NodeId t = c.make("Tanh", {times(c, near, 0.5)});
    const NodeId small = div(c, times(c, t, 2), sub(c, c.like(1), t));
    return one(where(c, less(c, c.make("Abs", {a}), c.like(1)), small, plus(c, c.make("Exp", {a}), -1)));
}
/// 1 - erf(x), which is nothing for large x; there Chebyshev's form with a relative error below 1.2e-7 (Numerical
/// Recipes, erfcc).
Results complementaryError(C& c) {
    const NodeId a = x(c), far = c.make("Max", {a, c.like(0)});
    const NodeId t = c.make("Reciprocal", {plus(c, times(c, far, 0.5), 1)});
    constexpr double kFactors[] = {0.17087277,  -0.82215223, 1.48851587, -1.13520398, 0.27886807,
                                   -0.18628806, 0.09678418,  0.37409196, 1.00002368,  -1.26551223};
    NodeId sum = c.like(kFactors[0]);
    for (std::size_t i = 1; i < std::size(kFactors); ++i) sum = plus(c, mul(c, sum, t), kFactors[i]);
    const NodeId tail = mul(c, t, c.make("Exp", {sub(c, sum, mul(c, far, far))}));
    return one(where(c, c.make("Greater", {a, c.like(2)}), tail, sub(c, c.like(1), c.make("Erf", {a}))));
}

/// Greater or smaller of two; a NaN yields (fmax) or not (maximum).
template <bool larger>
Results ignoringNaN(C& c) {
    const NodeId a = x(c), b = y(c), both = c.make(larger ? "Max" : "Min", {a, b});
    if (!tensor::isFloating(c.result().dtype())) return one(both);
    return one(where(c, isNaN(c, a), b, where(c, isNaN(c, b), a, both)));
}

Results clamped(C& c, bool low, bool high) {
    NodeId a = x(c);
    std::size_t at = 1;
    const auto bound = [&](std::size_t index) {
        return c.cast(c.tensor(index, c.result().dtype()), c.result().dtype());
    };
    if (low && c.has(at)) a = c.make("Max", {a, bound(at)});
    if (low) ++at;
    if (high && c.has(at)) a = c.make("Min", {a, bound(at)});
    return one(a);
}

/// beta·input + alpha·product
Results addedProduct(C& c, NodeId product) {
    const double beta = c.number(3, 1), alpha = c.number(4, 1);
    product = times(c, c.cast(product, c.result().dtype()), alpha);
    return one(beta == 0 ? product : add(c, times(c, x(c), beta), product));
}

Results atan2(C& c) {
    // atan(y/x), moved by pi where x < 0; x = 0 gives a half pi with y's sign.
    const NodeId a = x(c), b = y(c), zero = c.like(0);
    const NodeId base = c.make("Atan", {div(c, a, where(c, c.make("Equal", {b, zero}), c.like(1), b))});
    const NodeId turn = where(c, less(c, a, zero), c.like(-std::numbers::pi), c.like(std::numbers::pi));
    const NodeId onAxis = times(c, c.make("Sign", {a}), std::numbers::pi / 2);
    return one(where(c, c.make("Equal", {b, zero}), onAxis, where(c, less(c, b, zero), add(c, base, turn), base)));
}

/// max + log(base^(a - max) + base^(b - max))
Results logAdd(C& c, double base) {
    const NodeId a = x(c), b = y(c), high = c.make("Max", {a, b}), low = c.make("Min", {a, b});
    const NodeId rest = c.make("Exp", {times(c, sub(c, low, high), std::log(base))});
    const NodeId sum = add(c, high, times(c, c.make("Log", {plus(c, rest, 1)}), 1 / std::log(base)));
    return one(where(c, c.make("Equal", {a, b}), plus(c, a, std::log(2) / std::log(base)), sum));
}

Results xlogy(C& c) {
    const NodeId a = x(c), b = y(c);
    const NodeId product = where(c, c.make("Equal", {a, c.like(0)}), c.like(0), mul(c, a, c.make("Log", {b})));
    return one(where(c, isNaN(c, b), b, product));
}

Results shrunk(C& c, bool soft) {
    const double lambda = c.number(1, 0.5);
    return one(c.make("Shrink", {x(c)}, {{"lambd", lambda}, {"bias", soft ? lambda : 0.0}}));
}

Results lerp(C& c) { return one(add(c, x(c), mul(c, c.in(2), sub(c, y(c), x(c))))); }

Results nanToNum(C& c) {
    const DType dtype = c.result().dtype();
    const double largest = dtype == DType::Float64   ? std::numeric_limits<double>::max()
                           : dtype == DType::Float16 ? 65504.0
                                                     : static_cast<double>(std::numeric_limits<float>::max());
    NodeId a = x(c);
    if (!tensor::isFloating(dtype)) return one(a);
    a = where(c, isNaN(c, a), c.like(c.number(1, 0)), a);
    a = where(c, c.make("IsInf", {a}, {{"detect_negative", std::int64_t{0}}}), c.like(c.number(2, largest)), a);
    return one(
        where(c, c.make("IsInf", {a}, {{"detect_positive", std::int64_t{0}}}), c.like(c.number(3, -largest)), a));
}

Results isClose(C& c) {
    if (c.flag(4)) C::fail("NaN that equals NaN");
    const NodeId a = c.tensor(0), b = c.cast(c.tensor(1), c.dtypeOf(a));
    if (!tensor::isFloating(c.dtypeOf(a))) return one(c.make("Equal", {a, b}));
    const NodeId bound = plus(c, times(c, c.make("Abs", {b}), c.number(2, 1e-5)), c.number(3, 1e-8));
    const NodeId close = c.make("LessOrEqual", {c.make("Abs", {sub(c, a, b)}), bound});
    const NodeId finite = c.make("Not", {c.make("IsInf", {b})});
    return one(c.make("Or", {c.make("Equal", {a, b}), c.make("And", {close, finite})}));
}

Results threshold(C& c) {
    return one(where(c, c.make("Greater", {x(c), c.like(c.number(1))}), x(c), c.like(c.number(2))));
}

/// Whole numbers are what they round to.
template <const char* op>
Results wholeNumber(C& c) {
    return one(tensor::isFloating(c.result().dtype()) ? c.make(op, {x(c)}) : x(c));
}
constexpr char kFloor[] = "Floor", kCeil[] = "Ceil";

Results rounded(C& c) {
    if (!tensor::isFloating(c.result().dtype())) return one(x(c));
    const double scale = c.count() > 1 ? std::pow(10.0, c.number(1, 0)) : 1;
    if (scale == 1) return one(c.make("Round", {x(c)}));
    return one(times(c, c.make("Round", {times(c, x(c), scale)}), 1 / scale));
}

Results softplusWithBeta(C& c) {
    const double beta = c.number(1, 1), limit = c.number(2, 20);
    const NodeId scaled = times(c, x(c), beta);
    const NodeId value = times(c, softplus(c, scaled), 1 / beta);
    return one(where(c, c.make("Greater", {scaled, c.like(limit)}), x(c), value));
}

/// scale·(max(0, x) + min(0, alpha·(e^(input scale·x) - 1)))
Results eluWithScales(C& c) {
    const double alpha = c.number(1, 1), scale = c.number(2, 1), inside = c.number(3, 1);
    if (scale == 1 && inside == 1) return one(c.make("Elu", {x(c)}, {{"alpha", alpha}}));
    const NodeId below = times(c, plus(c, c.make("Exp", {times(c, x(c), inside)}), -1), alpha);
    return one(times(c, where(c, c.make("Greater", {x(c), c.like(0)}), x(c), below), scale));
}

Results logit(C& c) {
    NodeId p = x(c);
    if (c.has(1)) p = c.make("Clip", {p, c.like(c.number(1)), c.like(1 - c.number(1))});
    return one(c.make("Log", {div(c, p, sub(c, c.like(1), p))}));
}

}  // namespace

void addElementwiseRules(LoweringRules& rules) {
    const auto put = [&rules](std::string_view name, LoweringRule rule) { rules.insert_or_assign(name, rule); };
    put("acosh", [](C& c) { return one(c.make("Acosh", {x(c)})); });
    put("asinh", [](C& c) { return one(c.make("Asinh", {x(c)})); });
    put("atanh", [](C& c) { return one(c.make("Atanh", {x(c)})); });
    put("rsqrt", [](C& c) { return one(c.make("Reciprocal", {c.make("Sqrt", {x(c)})})); });
    put("square", [](C& c) { return one(mul(c, x(c), x(c))); });
    put("positive", [](C& c) -> Results { return {c.argument(0)}; });
    put("log2", [](C& c) { return one(times(c, c.make("Log", {x(c)}), 1 / std::numbers::ln2)); });
    put("log10", [](C& c) { return one(times(c, c.make("Log", {x(c)}), 1 / std::numbers::ln10)); });
    put("log1p", logarithmOfOneMore);
    put("exp2", [](C& c) { return one(c.make("Pow", {c.like(2), x(c)})); });
    put("expm1", exponentialLessOne);
    put("erfc", complementaryError);
    put("deg2rad", [](C& c) { return one(times(c, x(c), std::numbers::pi / 180)); });
    put("rad2deg", [](C& c) { return one(times(c, x(c), 180 / std::numbers::pi)); });
    put("trunc", [](C& c) { return one(tensor::isFloating(c.result().dtype()) ? truncated(c, x(c)) : x(c)); });
    put("frac", [](C& c) { return one(sub(c, x(c), truncated(c, x(c)))); });
    put("sgn", [](C& c) { return one(c.make("Sign", {x(c)})); });
    put("round", rounded);
    put("floor", wholeNumber<kFloor>);
    put("ceil", wholeNumber<kCeil>);
    put("sinc", [](C& c) {
        const NodeId angle = times(c, x(c), std::numbers::pi), isZero = c.make("Equal", {x(c), c.like(0)});
        return one(where(c, isZero, c.like(1), div(c, c.make("Sin", {angle}), where(c, isZero, c.like(1), angle))));
    });
    put("isinf", [](C& c) { return isInfinite(c, 1, 1); });
    put("isposinf", [](C& c) { return isInfinite(c, 0, 1); });
    put("isneginf", [](C& c) { return isInfinite(c, 1, 0); });
    put("isfinite", [](C& c) {
        const NodeId a = c.tensor(0);
        if (!tensor::isFloating(c.dtypeOf(a))) return one(c.make("Equal", {a, a}));
        return one(c.make("Not", {c.make("Or", {isNaN(c, a), c.make("IsInf", {a})})}));
    });
    put("signbit", [](C& c) { return one(less(c, c.tensor(0), c.scalar(0, c.dtypeOf(c.tensor(0))))); });
    put("isclose", isClose);
    put("logical_xor", [](C& c) {
        return one(c.make("Xor", {c.cast(c.tensor(0), DType::Bool), c.cast(c.tensor(1), DType::Bool)}));
    });
    put("bitwise_not",
        [](C& c) { return one(c.make(c.result().dtype() == DType::Bool ? "Not" : "BitwiseNot", {x(c)})); });
    put("logical_not", [](C& c) { return one(c.make("Not", {c.cast(c.tensor(0), DType::Bool)})); });
    for (std::string_view name : {"bitwise_and", "__and__", "__iand__", "and_"})
        put(name, [](C& c) { return bits(c, "And", "BitwiseAnd"); });
    for (std::string_view name : {"bitwise_or", "__or__", "__ior__", "or_"})
        put(name, [](C& c) { return bits(c, "Or", "BitwiseOr"); });
    for (std::string_view name : {"bitwise_xor", "__xor__", "__ixor__", "xor_"})
        put(name, [](C& c) { return bits(c, "Xor", "BitwiseXor"); });
    for (std::string_view name : {"bitwise_left_shift", "__lshift__", "__ilshift__"})
        put(name, [](C& c) { return shifted(c, true); });
    for (std::string_view name : {"bitwise_right_shift", "__rshift__", "__irshift__"})
        put(name, [](C& c) { return shifted(c, false); });
    for (std::string_view name : {"div", "truediv", "floor_divide", "floordiv"}) put(name, divided);
    for (std::string_view name : {"remainder", "mod"}) put(name, modulo<true>);
    put("fmod", modulo<false>);
    put("fmax", ignoringNaN<true>);
    put("fmin", ignoringNaN<false>);
    for (std::string_view name : {"clamp", "clip"}) put(name, [](C& c) { return clamped(c, true, true); });
    put("clamp_min", [](C& c) { return clamped(c, true, false); });
    put("clamp_max", [](C& c) { return clamped(c, false, true); });
    put("addcmul", [](C& c) { return one(add(c, x(c), times(c, mul(c, y(c), c.in(2)), c.number(3, 1)))); });
    put("addcdiv", [](C& c) { return one(add(c, x(c), times(c, div(c, y(c), c.in(2)), c.number(3, 1)))); });
    put("lerp", lerp);
    put("addmm", [](C& c) { return addedProduct(c, c.make("MatMul", {c.tensor(1), c.tensor(2)})); });
    put("baddbmm", [](C& c) { return addedProduct(c, c.make("MatMul", {c.tensor(1), c.tensor(2)})); });
    put("addmv", [](C& c) { return addedProduct(c, c.make("MatMul", {c.tensor(1), c.tensor(2)})); });
    put("addr", [](C& c) {
        const Shape a = c.shapeOf(c.tensor(1)), b = c.shapeOf(c.tensor(2));
        return addedProduct(
            c, mul(c, c.reshaped(c.tensor(1), Shape{a.numel(), 1}), c.reshaped(c.tensor(2), Shape{1, b.numel()})));
    });
    put("addbmm", [](C& c) {
        return addedProduct(c, c.make("ReduceSum", {c.make("MatMul", {c.tensor(1), c.tensor(2)}), c.integersNode({0})},
                                      {{"keepdims", std::int64_t{0}}}));
    });
    put("atan2", atan2);
    put("hypot", [](C& c) { return one(c.make("Sqrt", {add(c, mul(c, x(c), x(c)), mul(c, y(c), y(c)))})); });
    put("logaddexp", [](C& c) { return logAdd(c, std::numbers::e); });
    put("logaddexp2", [](C& c) { return logAdd(c, 2); });
    put("xlogy", xlogy);
    put("copysign", [](C& c) {
        const NodeId size = c.make("Abs", {x(c)});
        return one(where(c, less(c, y(c), c.like(0)), c.make("Neg", {size}), size));
    });
    put("heaviside", [](C& c) {
        const NodeId zero = c.like(0);
        return one(
            where(c, c.make("Equal", {x(c), zero}), y(c), c.cast(c.make("Greater", {x(c), zero}), c.result().dtype())));
    });
    put("float_power", [](C& c) { return one(c.make("Pow", {x(c), y(c)})); });
    put("celu", [](C& c) { return one(c.make("Celu", {x(c)}, {{"alpha", c.number(1, 1)}})); });
    put("elu", eluWithScales);
    put("mish", [](C& c) { return one(c.make("Mish", {x(c)})); });
    put("softplus", softplusWithBeta);
    put("log_sigmoid", [](C& c) { return one(c.make("Neg", {softplus(c, c.make("Neg", {x(c)}))})); });
    put("hardshrink", [](C& c) { return shrunk(c, false); });
    put("softshrink", [](C& c) { return shrunk(c, true); });
    put("threshold", threshold);
    put("logit", logit);
    put("nan_to_num", nanToNum);
    put("rrelu", [](C& c) {
        if (c.flag(3)) C::fail("rrelu in training");
        return one(c.make("LeakyRelu", {x(c)}, {{"alpha", (c.number(1, 0.125) + c.number(2, 1.0 / 3)) / 2}}));
    });
    put("glu", [](C& c) {
        const NodeId whole = x(c);
        const std::int64_t axis =
            c.has(1) ? c.axis(1, c.shapeOf(whole).rank()) : static_cast<std::int64_t>(c.shapeOf(whole).rank()) - 1;
        const std::vector<NodeId> halves =
            c.makeAll("Split", {whole}, {{"axis", axis}, {"num_outputs", std::int64_t{2}}}, 2);
        return one(mul(c, halves[0], c.make("Sigmoid", {halves[1]})));
    });
    for (std::string_view name : {"_cast_Byte", "_cast_Char", "_cast_Double", "_cast_Float", "_cast_Half", "_cast_Int",
                                  "_cast_Long", "_cast_Short", "cpu"}) {
        put(name, [](C& c) { return one(c.cast(c.tensor(0), c.result().dtype())); });
    }
    for (std::string_view name : {"resolve_conj", "resolve_neg", "lift_fresh_copy", "_conj", "conj", "conj_physical",
                                  "_conj_physical", "real"}) {
        put(name, [](C& c) -> Results { return {c.argument(0)}; });
    }
    put("angle", [](C& c) { return one(where(c, less(c, x(c), c.like(0)), c.like(std::numbers::pi), c.like(0))); });
    put("fill", [](C& c) { return one(c.make("Expand", {c.in(1), c.integersNode(c.result().shape().dims())})); });
    put("copy", [](C& c) {
        return one(
            c.make("Expand", {c.cast(c.tensor(1), c.result().dtype()), c.integersNode(c.result().shape().dims())}));
    });
}

}  // namespace sonde::exporting
