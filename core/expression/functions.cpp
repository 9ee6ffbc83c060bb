#include "core/expression/functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/special_functions.h"
#include "core/expression/elementwise.h"
#include "core/expression/indexing.h"
#include "core/expression/reductions.h"

namespace sonde::expression {

namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;
using Arguments = std::span<const Value>;

// --- statistics -----------------------------------------------------------------------------------------------------

template <Reduction reduction>
Value statistic(Workspace& workspace, Arguments given) {
    return reduced(workspace, reduction, given[0], given[1], given[2]);
}

template <bool isMax>
Value position(Workspace& workspace, Arguments given) {
    return extremeIndex(workspace, isMax, given[0], given[1]);
}

Value countNonzero(Workspace& workspace, Arguments given) {
    const Tensor bools = workspace.cast(arrayOf(workspace, given[0]), DType::Bool);
    return Value::ofInt(reduced(workspace, Reduction::Sum, bools, {}, {}).toInt64(0));
}

// --- elements -------------------------------------------------------------------------------------------------------

template <double (*function)(double)>
Value element(Workspace& workspace, Arguments given) {
    return mapped(workspace, given[0], function);
}
/// Integers stay what they are.
template <double (*function)(double)>
Value rounding(Workspace& workspace, Arguments given) {
    return mapped(workspace, given[0], function, true);
}

bool isNan(double x) { return std::isnan(x); }
bool isInf(double x) { return std::isinf(x); }
bool isFinite(double x) { return std::isfinite(x); }
bool isNegative(double x) { return std::signbit(x); }

template <bool (*function)(double), bool ofIntegers>
Value test(Workspace& workspace, Arguments given) {
    return tested(workspace, given[0], function, ofIntegers);
}
template <bool (*function)(double)>
Value testOfAny(Workspace& workspace, Arguments given) {
    return Value::ofBool(holdsOfAny(workspace, given[0], function));
}

template <Operator op>
Value ofTwo(Workspace& workspace, Arguments given) {
    return binary(workspace, op, given[0], given[1]);
}

template <double (*function)(double, double)>
Value ofPair(Workspace& workspace, Arguments given) {
    return mappedPair(workspace, given[0], given[1], function);
}

/// ln(x / (1 - x)) of x held between eps and 1 - eps.
Value logit(Workspace& workspace, Arguments given) {
    const auto both = [&](Operator op, const Value& a, const Value& b) { return binary(workspace, op, a, b); };
    Value x = mapped(workspace, given[0], [](double each) { return each; });
    if (!given[1].isNone()) {
        x = both(Operator::Maximum, x, given[1]);
        x = both(Operator::Minimum, x, both(Operator::Subtract, Value::ofInt(1), given[1]));
    }
    return mapped(workspace, x, [](double each) { return std::log(each / (1 - each)); });
}

/// What stands for NaN and infinities is by default what numpy takes: 0, and the largest numbers of the dtype.
Value numbersForBad(Workspace& workspace, Arguments given) {
    const Tensor x = arrayOf(workspace, given[0]);
    if (!tensor::isFloating(x.dtype())) return x;
    const double largest = x.dtype() == DType::Float16   ? 65504
                           : x.dtype() == DType::Float32 ? static_cast<double>(std::numeric_limits<float>::max())
                                                         : std::numeric_limits<double>::max();
    const Tensor isPositive = binary(workspace, Operator::Greater, x, Value::ofInt(0)).tensor();
    const Value infinite = chosen(workspace, isPositive, given[2].isNone() ? Value::ofFloat(largest) : given[2],
                                  given[3].isNone() ? Value::ofFloat(-largest) : given[3]);
    const Value number = chosen(workspace, tested(workspace, x, isInf), infinite, x);
    const Value missing = given[1].isNone() ? Value::ofFloat(0) : given[1];
    return workspace.cast(chosen(workspace, tested(workspace, x, isNan), missing, number), x.dtype());
}

Value angle(Workspace& workspace, Arguments given) {
    return mappedPair(workspace, complexPart(workspace, given[0], true), complexPart(workspace, given[0], false),
                      std::atan2);
}

/// Of float32 and narrower ones the next float32 number.
Value nextAfter(Workspace& workspace, Arguments given) {
    const bool isDouble =
        floatFor(commonType(operandOf(workspace, given[0]), operandOf(workspace, given[1]), false)) == DType::Float64;
    if (isDouble) return mappedPair(workspace, given[0], given[1], std::nextafter);
    return mappedPair(workspace, given[0], given[1], [](double x, double y) -> double {
        return std::nextafter(static_cast<float>(x), static_cast<float>(y));
    });
}

Value signs(Workspace& workspace, Arguments given) {
    const Tensor x = arrayOf(workspace, given[0]);
    if (x.dtype() == DType::Bool) throw Problem{"numpy has no sign of bools"};
    const auto bits = [&](Operator op) {
        return workspace.cast(binary(workspace, op, x, Value::ofInt(0)).tensor(), x.dtype());
    };
    if (!tensor::isFloating(x.dtype()))
        return binary(workspace, Operator::Subtract, bits(Operator::Greater), bits(Operator::Less));
    return mapped(workspace, x, [](double each) { return each > 0 ? 1.0 : each < 0 ? -1.0 : each; });
}

/// Rounds half to even, as numpy.
Value rounded(Workspace& workspace, Arguments given) {
    const auto toInteger = [&](const Value& value) { return mapped(workspace, value, std::nearbyint, true); };
    const std::int64_t decimals = given[1].isNone() ? 0 : integerFrom(given[1], "the number of decimals");
    if (std::abs(decimals) > 300) throw Problem{"round takes at most 300 decimals"};
    if (decimals == 0) return toInteger(given[0]);
    const Value scale = Value::ofFloat(std::pow(10.0, static_cast<double>(std::abs(decimals))));
    const Operator there = decimals > 0 ? Operator::Multiply : Operator::Divide;
    const Operator back = decimals > 0 ? Operator::Divide : Operator::Multiply;
    return binary(workspace, back, toInteger(binary(workspace, there, arrayOf(workspace, given[0]), scale)), scale);
}

Value clipped(Workspace& workspace, Arguments given) {
    if (given[1].isNone() && given[2].isNone()) throw Problem{"clip needs a bound"};
    Value all = given[0];
    if (!given[1].isNone()) all = binary(workspace, Operator::Maximum, all, given[1]);
    if (!given[2].isNone()) all = binary(workspace, Operator::Minimum, all, given[2]);
    return all.isTensor() ? all : Value(arrayOf(workspace, all));
}

/// |a - b| <= atol + rtol * |b|, equal infinities and, if that is wanted, NaN beside NaN.
Value areClose(Workspace& workspace, Arguments given) {
    const Value a = arrayOf(workspace, given[0]), b = arrayOf(workspace, given[1]);
    const Value relative = given[2].isNone() ? Value::ofFloat(1e-5) : given[2];
    const Value constant = given[3].isNone() ? Value::ofFloat(1e-8) : given[3];
    const auto both = [&](Operator op, const Value& x, const Value& y) { return binary(workspace, op, x, y); };
    const Value distance =
        absolute(workspace, both(Operator::Subtract, both(Operator::Multiply, a, Value::ofFloat(1)), b));
    const Value bound = both(Operator::Add, constant, both(Operator::Multiply, relative, absolute(workspace, b)));
    const Value isNear =
        both(Operator::BitAnd, both(Operator::LessEqual, distance, bound), tested(workspace, b, isFinite, true));
    const Value isEqual = both(Operator::BitOr, isNear, both(Operator::Equal, a, b));
    if (given.size() < 5 || given[4].isNone() || !truth(given[4])) return isEqual;
    return both(Operator::BitOr, isEqual,
                both(Operator::BitAnd, tested(workspace, a, isNan), tested(workspace, b, isNan)));
}

Value allClose(Workspace& workspace, Arguments given) {
    return reduced(workspace, Reduction::All, areClose(workspace, given), {}, {});
}

// --- shapes and dtypes ----------------------------------------------------------------------------------------------

/// Of any array, also of dtypes that are not computed with.
Tensor plainArray(Workspace& workspace, const Value& value) {
    return value.isTensor() ? value.tensor() : arrayOf(workspace, value);
}

Value shapeOf(Workspace& workspace, Arguments given) {
    const Tensor array = plainArray(workspace, given[0]);
    tensor::ValueList dims;
    for (const std::int64_t dimSize : array.shape()) dims.push_back(Value::ofInt(dimSize));
    return Value::tuple(std::move(dims));
}

Value dtypeOfArray(Workspace& workspace, Arguments given) {
    return Value(std::string(tensor::name(plainArray(workspace, given[0]).dtype())));
}

Value converted(Workspace& workspace, Arguments given) {
    const auto dtype = given[1].kind() == ValueKind::String ? tensor::dtypeFromName(given[1].toString()) : std::nullopt;
    if (!dtype) throw Problem{"astype needs a dtype: np.float32, 'uint8' …"};
    const DType inside = numpyType(*dtype);
    return workspace.cast(workspace.cast(arrayOf(workspace, given[0]), *dtype), inside);
}

Value reshaped(Workspace& workspace, Arguments given) {
    const Tensor array = plainArray(workspace, given[0]);
    const tensor::ValueList items = given[1].isListLike() ? given[1].items() : tensor::ValueList{given[1]};
    Shape shape;
    std::int64_t known = 1;
    std::size_t open = items.size();
    for (const Value& item : items) {
        const std::int64_t dimSize = integerFrom(item, "a dimension");
        if (dimSize < -1 || (dimSize == -1 && open != items.size()))
            throw Problem{"reshape takes sizes of dimensions, and -1 once"};
        if (dimSize == -1) open = shape.rank();
        else if (__builtin_mul_overflow(known, dimSize, &known)) known = -1;
        shape.push_back(dimSize);
    }
    if (open < items.size() && known > 0) shape[open] = array.numel() / known;
    if (shape.checkedNumel() != array.numel())
        throw Problem{"an array of shape " + array.shape().text() + " cannot be reshaped to " + shape.text()};
    return workspace.reshape(array, shape);
}

Value squeezed(Workspace& workspace, Arguments given) {
    const Tensor array = plainArray(workspace, given[0]);
    std::vector<bool> isRemoved(array.rank(), false);
    for (std::size_t i = 0; given[1].isNone() && i < array.rank(); ++i) isRemoved[i] = array.dim(i) == 1;
    if (!given[1].isNone())
        for (const std::size_t axis : axesFrom(given[1], array.rank())) {
            if (array.dim(axis) != 1)
                throw Problem{"axis " + std::to_string(axis) + " of shape " + array.shape().text() +
                              " has more than one element"};
            isRemoved[axis] = true;
        }
    Shape shape;
    for (std::size_t i = 0; i < array.rank(); ++i)
        if (!isRemoved[i]) shape.push_back(array.dim(i));
    return workspace.reshape(array, shape);
}

// --- the table ------------------------------------------------------------------------------------------------------

std::vector<Function> makeTable() {
    constexpr auto kPlain = Style::Plain, kMethod = Style::Method, kItems = Style::Items, kShown = Style::Attribute;
    return {
        {"mean(a, axis=None, *, keepdims=False)", "The mean of all elements, or along one axis or several", kMethod,
         statistic<Reduction::Mean>},
        {"std(a, axis=None, *, keepdims=False)", "The standard deviation, of the whole population", kMethod,
         statistic<Reduction::Std>},
        {"min(a, axis=None, *, keepdims=False)", "The smallest element; NaN if there is one", kMethod,
         statistic<Reduction::Min>},
        {"max(a, axis=None, *, keepdims=False)", "The largest element; NaN if there is one", kMethod,
         statistic<Reduction::Max>},
        {"abs(x)", "The absolute value of each element; of complex numbers, too", kPlain,
         [](Workspace& workspace, Arguments given) { return Value(absolute(workspace, given[0])); }},
        {"sqrt(x)", "The square root of each element", kPlain, element<std::sqrt>},
        {"exp(x)", "e to the power of each element", kPlain, element<std::exp>},
        {"log(x)", "The natural logarithm of each element", kPlain, element<std::log>},
        {"clip(a, a_min, a_max)", "Each element, but not below or above the bounds; None is no bound", kMethod,
         clipped},
        {"transpose(a, axes=None)", "The axes in another order; reversed if none is given", kItems,
         [](Workspace& workspace, Arguments given) { return Value(transposed(workspace, given[0], given[1])); }},
        {"astype(x, dtype)", "Another dtype: fractions are cut, integers wrap", kMethod, converted},
        {"float32(x)", "Each element rounded to float32", kPlain,
         [](Workspace& workspace, Arguments given) -> Value {
             return workspace.cast(arrayOf(workspace, given[0]), DType::Float32);
         }},
        {"array(object)", "The array of a list", kPlain,
         [](Workspace& workspace, Arguments given) { return Value(arrayOf(workspace, given[0])); }},
        {"sum(a, axis=None, *, keepdims=False)", "The sum; of integers and bools in 64 bits", kMethod,
         statistic<Reduction::Sum>},
        {"prod(a, axis=None, *, keepdims=False)", "The product; of integers and bools in 64 bits", kMethod,
         statistic<Reduction::Prod>},
        {"var(a, axis=None, *, keepdims=False)", "The variance, of the whole population", kMethod,
         statistic<Reduction::Var>},
        {"median(a, axis=None, *, keepdims=False)", "The element in the middle, or the mean of the two", kPlain,
         statistic<Reduction::Median>},
        {"norm(x, axis=None, *, keepdims=False)", "The square root of the sum of the squares", kPlain,
         statistic<Reduction::Norm>},
        {"any(a, axis=None, *, keepdims=False)", "Whether any element is not zero", kMethod, statistic<Reduction::Any>},
        {"all(a, axis=None, *, keepdims=False)", "Whether no element is zero", kMethod, statistic<Reduction::All>},
        {"argmin(a, axis=None)", "The index of the smallest element", kMethod, position<false>},
        {"argmax(a, axis=None)", "The index of the largest element", kMethod, position<true>},
        {"count_nonzero(a)", "How many elements are not zero, or true", kPlain, countNonzero},
        {"has_nan(x)", "Whether any element is NaN", kPlain, testOfAny<isNan>},
        {"has_inf(x)", "Whether any element is infinite", kPlain, testOfAny<isInf>},
        {"isnan(x)", "Which elements are NaN", kPlain, test<isNan, false>},
        {"isinf(x)", "Which elements are infinite", kPlain, test<isInf, false>},
        {"isfinite(x)", "Which elements are neither NaN nor infinite", kPlain, test<isFinite, true>},
        {"allclose(a, b, rtol=1e-05, atol=1e-08)", "Whether |a - b| <= atol + rtol * |b| everywhere", kPlain, allClose},
        {"isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)", "Where |a - b| <= atol + rtol * |b|", kPlain,
         areClose},
        {"signbit(x)", "Which elements have a minus, as -0.0 has", kPlain, test<isNegative, false>},
        {"where(condition, x, y)", "Each element of x where the condition is not zero, else of y", kPlain,
         [](Workspace& workspace, Arguments given) {
             return Value(chosen(workspace, arrayOf(workspace, given[0]), given[1], given[2]));
         }},
        {"minimum(x1, x2)", "The smaller of two elements each; NaN if one is", kPlain, ofTwo<Operator::Minimum>},
        {"maximum(x1, x2)", "The larger of two elements each; NaN if one is", kPlain, ofTwo<Operator::Maximum>},
        {"sign(x)", "-1, 0 or 1 for each element", kPlain, signs},
        {"round(a, decimals=0)", "Each element rounded, halves to even", kMethod, rounded},
        {"floor(x)", "The next integer below each element", kPlain, rounding<std::floor>},
        {"ceil(x)", "The next integer above each element", kPlain, rounding<std::ceil>},
        {"trunc(x)", "Each element without its fraction", kPlain, rounding<std::trunc>},
        {"log2(x)", "The logarithm of each element to base 2", kPlain, element<std::log2>},
        {"log10(x)", "The logarithm of each element to base 10", kPlain, element<std::log10>},
        {"log1p(x)", "log(1 + x) of each element", kPlain, element<std::log1p>},
        {"expm1(x)", "exp(x) - 1 of each element", kPlain, element<std::expm1>},
        {"sin(x)", "The sine of each element", kPlain, element<std::sin>},
        {"cos(x)", "The cosine of each element", kPlain, element<std::cos>},
        {"tan(x)", "The tangent of each element", kPlain, element<std::tan>},
        {"tanh(x)", "The hyperbolic tangent of each element", kPlain, element<std::tanh>},
        {"sigmoid(x)", "1 / (1 + exp(-x)) of each element", kPlain, element<base::sigmoid>},
        {"erf(x)", "The error function of each element", kPlain, element<std::erf>},
        {"asin(x)", "The arc sine of each element", kPlain, element<std::asin>},
        {"acos(x)", "The arc cosine of each element", kPlain, element<std::acos>},
        {"atan(x)", "The arc tangent of each element", kPlain, element<std::atan>},
        {"atan2(x1, x2)", "The angle of the point (x2, x1)", kPlain, ofPair<std::atan2>},
        {"angle(z)", "The angle of each complex number; pi for negative ones", kPlain, angle},
        {"hypot(x1, x2)", "The square root of x1 ** 2 + x2 ** 2", kPlain, ofPair<std::hypot>},
        {"copysign(x1, x2)", "|x1| with the sign of x2", kPlain, ofPair<std::copysign>},
        {"nextafter(x1, x2)", "The next number toward x2", kPlain, nextAfter},
        {"fmax(x1, x2)", "The larger of two elements each, where one is NaN the other one", kPlain, ofPair<std::fmax>},
        {"fmin(x1, x2)", "The smaller of two elements each, where one is NaN the other one", kPlain, ofPair<std::fmin>},
        {"heaviside(x1, x2)", "0 below 0, 1 above, x2 at 0", kPlain, ofPair<base::heaviside>},
        {"logaddexp(x1, x2)", "log(exp(x1) + exp(x2)) of each two elements", kPlain, ofPair<base::logAddExp>},
        {"logaddexp2(x1, x2)", "log2(2 ** x1 + 2 ** x2) of each two elements", kPlain, ofPair<base::logAddExp2>},
        {"xlogy(x, y)", "x * log(y), and 0 where x is 0", kPlain, ofPair<base::xLogY>},
        {"logit(x, eps=None)", "log(x / (1 - x)), of x held between eps and 1 - eps", kPlain, logit},
        {"erfinv(x)", "The inverse of the error function", kPlain, element<base::inverseErf>},
        {"lgamma(x)", "The logarithm of the absolute value of the gamma function", kPlain, element<std::lgamma>},
        {"digamma(x)", "The derivative of the logarithm of the gamma function", kPlain, element<base::digamma>},
        {"i0(x)", "The modified Bessel function of order 0", kPlain, element<base::besselI0>},
        {"nan_to_num(x, nan=0.0, posinf=None, neginf=None)", "Numbers in place of NaN and infinities", kPlain,
         numbersForBad},
        {"shape(a)", "The dimensions as a tuple", kShown, shapeOf},
        {"size(a)", "How many elements there are", kShown,
         [](Workspace& workspace, Arguments given) { return Value::ofInt(plainArray(workspace, given[0]).numel()); }},
        {"ndim(a)", "How many axes there are", kShown,
         [](Workspace& workspace, Arguments given) {
             return Value::ofInt(static_cast<std::int64_t>(plainArray(workspace, given[0]).rank()));
         }},
        {"dtype(a)", "The name of the dtype, to be compared: dtype(x) == 'float16'", kShown, dtypeOfArray},
        {"T(a)", "All axes in reverse", kShown,
         [](Workspace& workspace, Arguments given) { return Value(transposed(workspace, given[0], {})); }},
        {"real(x)", "The real parts", kShown,
         [](Workspace& workspace, Arguments given) { return Value(complexPart(workspace, given[0], false)); }},
        {"imag(x)", "The imaginary parts", kShown,
         [](Workspace& workspace, Arguments given) { return Value(complexPart(workspace, given[0], true)); }},
        {"reshape(a, shape)", "As many elements in other dimensions, of which one may be -1", kItems, reshaped},
        {"flatten(a)", "All elements along one axis", kMethod,
         [](Workspace& workspace, Arguments given) {
             const Tensor array = plainArray(workspace, given[0]);
             return Value(workspace.reshape(array, Shape{array.numel()}));
         }},
        {"squeeze(a, axis=None)", "Without axes of one element", kMethod, squeezed},
    };
}

/// Name and parameters of a row, as its signature has them.
void readSignature(Function& function) {
    std::string_view rest = function.signature;
    const std::size_t open = rest.find('(');
    function.name = rest.substr(0, open);
    rest = rest.substr(open + 1, rest.size() - open - 2);
    bool isKeywordOnly = false;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(", "), rest.size());
        const std::string_view each = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 2, rest.size()));
        if (each == "*") isKeywordOnly = true;
        else
            function.parameters.push_back({each.substr(0, each.find('=')), each.find('=') == each.npos, isKeywordOnly});
    }
}

const std::vector<Function>& table() {
    static const std::vector<Function> rows = [] {
        std::vector<Function> all = makeTable();
        for (Function& each : all) readSignature(each);
        return all;
    }();
    return rows;
}

}  // namespace

const Function* findFunction(std::string_view name) {
    const auto found = std::ranges::find(table(), name, &Function::name);
    return found == table().end() ? nullptr : &*found;
}

std::string functionNames(bool methods) {
    std::string names;
    for (const Function& each : table()) {
        if (methods && each.style == Style::Plain) continue;
        names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
    return names;
}

std::vector<FunctionInfo> functions() {
    std::vector<FunctionInfo> all;
    for (const Function& each : table())
        all.push_back({each.name, each.signature, each.summary, each.style != Style::Plain});
    return all;
}

}  // namespace sonde::expression
