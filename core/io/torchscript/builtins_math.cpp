// Module math and what Python does with numbers (docs.python.org/3/library/math.html).

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/io/torchscript/builtins.h"

namespace sonde::io::script {

using trace::TraceErrorKind;

namespace {

template <double (*Function)(double)>
bool real1(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].isNumber()) return false;
    out = Var(Function(numberOf(in[0])));
    return true;
}

template <double (*Function)(double, double)>
bool real2(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !in[0].isNumber() || !in[1].isNumber()) return false;
    out = Var(Function(numberOf(in[0]), numberOf(in[1])));
    return true;
}

template <bool (*Function)(double)>
bool test1(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].isNumber()) return false;
    out = Var(Function(numberOf(in[0])));
    return true;
}

double logOf(double x) {
    return x > 0 || std::isnan(x) ? std::log(x) : (fail(TraceErrorKind::Value, "math domain error"), 0.0);
}
double rootOf(double x) {
    return x >= 0 || std::isnan(x) ? std::sqrt(x) : (fail(TraceErrorKind::Value, "math domain error"), 0.0);
}
double truncated(double x) { return std::trunc(x); }
double degrees(double x) { return x * (180 / 3.14159265358979323846); }
double radians(double x) { return x * (3.14159265358979323846 / 180); }
double ratio(double a, double b) { return std::fmod(a, b); }
double nearest(double a, double b) { return std::remainder(a, b); }
double signedAs(double a, double b) { return std::copysign(a, b); }
bool isNan(double x) { return std::isnan(x); }
bool isInf(double x) { return std::isinf(x); }
bool isFinite(double x) { return std::isfinite(x); }

bool logarithm(Arguments& in, ScriptValue& out) {
    if (in.empty() || in.size() > 2 || !in[0].isNumber() || !in.back().isNumber()) return false;
    out = Var(in.size() == 1 ? logOf(numberOf(in[0])) : logOf(numberOf(in[0])) / logOf(numberOf(in[1])));
    return true;
}

bool commonDivisor(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !in[0].isNumber() || !in[1].isNumber() || !isInt(in[0]) || !isInt(in[1])) return false;
    const auto size = [](std::int64_t v) {
        return v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
    };
    out = Var(static_cast<std::int64_t>(std::gcd(size(intOf(in[0])), size(intOf(in[1])))));
    return true;
}

bool factorial(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].isNumber() || !isInt(in[0])) return false;
    if (intOf(in[0]) < 0) fail(TraceErrorKind::Value, "factorial() not defined for negative values");
    if (intOf(in[0]) > 20) fail(TraceErrorKind::Value, "factorial() is larger than 64 bits hold");
    std::int64_t product = 1;
    for (std::int64_t i = 2; i <= intOf(in[0]); ++i) product *= i;
    out = Var(product);
    return true;
}

bool parts(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].isNumber()) return false;
    double whole = 0;
    const double rest = std::modf(numberOf(in[0]), &whole);
    out = makeTuple({ScriptValue(Var(rest)), ScriptValue(Var(whole))});
    return true;
}

bool mantissa(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].isNumber()) return false;
    int exponent = 0;
    const double m = std::frexp(numberOf(in[0]), &exponent);
    out = makeTuple({ScriptValue(Var(m)), ScriptValue(Var(static_cast<std::int64_t>(exponent)))});
    return true;
}

bool scaled(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !in[0].isNumber() || !in[1].isNumber()) return false;
    out = Var(std::ldexp(numberOf(in[0]), static_cast<int>(std::clamp<std::int64_t>(intOf(in[1]), -100000, 100000))));
    return true;
}

/// Quotient rounded down, and the rest.
bool divided(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !in[0].isNumber() || !in[1].isNumber()) return false;
    ScriptValue quotient, rest;
    Arguments again = in;
    if (!callBuiltin("floordiv", in, quotient) || !callBuiltin("remainder", again, rest)) return false;
    out = makeTuple({quotient, rest});
    return true;
}

/// Bits of an integer moved; far moves leave 0 or the sign.
bool moved(Arguments& in, ScriptValue& out, bool left) {
    if (in.size() != 2 || !in[0].isNumber() || !in[1].isNumber() || !isInt(in[0]) || !isInt(in[1])) return false;
    const std::int64_t value = intOf(in[0]), by = intOf(in[1]);
    if (by < 0) fail(TraceErrorKind::Value, "negative shift count");
    if (left) out = Var(by > 63 ? std::int64_t{0} : static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << by));
    else out = Var(value >> std::min<std::int64_t>(by, 63));
    return true;
}

/// a / b without what is after the point.
bool towardZero(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !in[0].isNumber() || !in[1].isNumber() || !isInt(in[0]) || !isInt(in[1])) return false;
    const std::int64_t a = intOf(in[0]), b = intOf(in[1]);
    if (b == 0) fail(TraceErrorKind::Value, "integer division by zero");
    out = Var(b == -1 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a)) : a / b);
    return true;
}

}  // namespace

const BuiltinTable& mathBuiltins() {
    // clang-format off
    static const BuiltinTable builtins{
        {"log", logarithm}, {"log2", real1<std::log2>}, {"log10", real1<std::log10>}, {"log1p", real1<std::log1p>}, {"exp", real1<std::exp>}, {"expm1", real1<std::expm1>},
        {"sqrt", real1<rootOf>}, {"sin", real1<std::sin>}, {"cos", real1<std::cos>}, {"tan", real1<std::tan>}, {"asin", real1<std::asin>}, {"acos", real1<std::acos>},
        {"atan", real1<std::atan>}, {"sinh", real1<std::sinh>}, {"cosh", real1<std::cosh>}, {"tanh", real1<std::tanh>}, {"asinh", real1<std::asinh>},
        {"acosh", real1<std::acosh>}, {"atanh", real1<std::atanh>}, {"erf", real1<std::erf>}, {"erfc", real1<std::erfc>}, {"gamma", real1<std::tgamma>},
        {"lgamma", real1<std::lgamma>}, {"fabs", real1<std::fabs>}, {"trunc", real1<truncated>}, {"degrees", real1<degrees>}, {"radians", real1<radians>},
        {"atan2", real2<std::atan2>}, {"hypot", real2<std::hypot>}, {"fmod", real2<ratio>}, {"mathremainder", real2<nearest>}, {"copysign", real2<signedAs>},
        {"isnan", test1<isNan>}, {"isinf", test1<isInf>}, {"isfinite", test1<isFinite>}, {"gcd", commonDivisor}, {"factorial", factorial}, {"modf", parts},
        {"frexp", mantissa}, {"ldexp", scaled}, {"divmod", divided}, {"__round_to_zero_floordiv", towardZero},
        {"__lshift__", [](Arguments& in, ScriptValue& out) { return moved(in, out, true); }},
        {"__rshift__", [](Arguments& in, ScriptValue& out) { return moved(in, out, false); }},
    };
    // clang-format on
    return builtins;
}

}  // namespace sonde::io::script
