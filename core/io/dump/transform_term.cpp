#include "core/io/dump/transform_term.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/tensor/tensor.h"

namespace sonde::io::dump {

namespace {

using tensor::DType;
using tensor::Shape;
using Term = TransformTerm;
using Kind = TransformTerm::Kind;

/// 1 GB of float64: broadcasting a column with a row makes large arrays of small ones.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 27;
constexpr std::size_t kMaxRank = 32;

[[noreturn]] void fail(std::string what) { throw TransformError{std::move(what)}; }

std::int64_t checkedCount(const Shape& shape) {
    const auto count = shape.checkedNumel();
    if (!count || *count > kMaxElements) fail("an array of shape " + shape.text() + " is too large");
    return *count;
}

/// Strides of an array that is read along a shape that it is broadcast to: 0 where it has one element.
std::vector<std::int64_t> broadcastStrides(const Shape& from, const Shape& to) {
    const std::vector<std::int64_t> own = from.contiguousStrides();
    std::vector<std::int64_t> strides(to.rank(), 0);
    for (std::size_t i = 0; i < from.rank(); ++i) {
        if (from[i] != 1) strides[to.rank() - from.rank() + i] = own[i];
    }
    return strides;
}

/// Calls `each` with the position of every element of `shape`, in order, along each row of strides.
template <std::size_t N, typename Each>
void walk(const Shape& shape, const std::array<std::vector<std::int64_t>, N>& strides, Each each) {
    std::vector<std::int64_t> index(shape.rank(), 0);
    std::array<std::int64_t, N> at{};
    for (std::int64_t i = 0, count = shape.numel(); i < count; ++i) {
        each(at);
        for (std::size_t axis = shape.rank(); axis-- > 0;) {
            const bool isLast = ++index[axis] == shape[axis];
            for (std::size_t k = 0; k < N; ++k)
                at[k] += isLast ? -strides[k][axis] * (shape[axis] - 1) : strides[k][axis];
            if (!isLast) break;
            index[axis] = 0;
        }
    }
}

std::int64_t integerOf(const Term& term, std::string_view what) {
    if (term.kind != Kind::Numbers || term.values.size() != 1 || term.values[0] != std::floor(term.values[0]) ||
        std::abs(term.values[0]) > 1e6)
        fail(std::string(what) + " must be an integer");
    return static_cast<std::int64_t>(term.values[0]);
}

/// One integer or a list of them, as axes of an array.
std::vector<std::size_t> axesOf(const Term& term, std::size_t rank) {
    const std::vector<Term> items = term.kind == Kind::List ? term.items : std::vector<Term>{term};
    std::vector<std::size_t> axes;
    for (const Term& item : items) {
        const std::int64_t given = integerOf(item, "an axis");
        const auto axis = tensor::normalizedAxis(given, rank);
        if (!axis)
            fail("axis " + std::to_string(given) + " is out of bounds for an array of rank " + std::to_string(rank));
        if (std::ranges::find(axes, *axis) != axes.end()) fail("axis " + std::to_string(given) + " is given twice");
        axes.push_back(*axis);
    }
    return axes;
}

bool isFloat(DType dtype) { return tensor::isFloating(dtype); }
bool isUnsigned(DType dtype) { return !tensor::isSigned(dtype); }
std::size_t bytesOf(DType dtype) { return tensor::itemSize(dtype); }

/// The float that numpy computes integers and bools in, next to a float or in a function such as sqrt.
DType floatFor(DType dtype) {
    if (isFloat(dtype)) return dtype;
    if (dtype == DType::Bool || bytesOf(dtype) == 1) return DType::Float16;
    return bytesOf(dtype) == 2 ? DType::Float32 : DType::Float64;
}

/// numpy's promotion of the dtypes of two arrays.
DType promoted(DType a, DType b) {
    if (a == b || b == DType::Bool) return a;
    if (a == DType::Bool) return b;
    if (isFloat(a) || isFloat(b)) {
        const DType x = floatFor(a), y = floatFor(b);
        if (x == y) return x;
        if (bytesOf(x) == bytesOf(y)) return DType::Float32;  // the two of 16 bits
        return bytesOf(x) > bytesOf(y) ? x : y;
    }
    if (isUnsigned(a) == isUnsigned(b)) return bytesOf(a) > bytesOf(b) ? a : b;
    const DType with = isUnsigned(a) ? b : a, without = isUnsigned(a) ? a : b;
    if (bytesOf(with) > bytesOf(without)) return with;
    switch (bytesOf(without)) {
        case 1: return DType::Int16;
        case 2: return DType::Int32;
        case 4: return DType::Int64;
        default: return DType::Float64;
    }
}

/// Bools, integers, floats.
int levelOf(DType dtype) { return dtype == DType::Bool ? 0 : isFloat(dtype) ? 2 : 1; }

std::int64_t wrapped(std::int64_t value, DType dtype) {
    switch (dtype) {
        case DType::Int8: return static_cast<std::int8_t>(value);
        case DType::Int16: return static_cast<std::int16_t>(value);
        case DType::Int32: return static_cast<std::int32_t>(value);
        case DType::UInt8: return static_cast<std::uint8_t>(value);
        case DType::UInt16: return static_cast<std::uint16_t>(value);
        case DType::UInt32: return static_cast<std::uint32_t>(value);
        default: return value;
    }
}

bool isComparison(TransformOp op) { return op >= TransformOp::Less && op <= TransformOp::NotEqual; }

/// What an operator computes in; numbers of Python take the dtype of the array.
DType commonType(const Term& a, const Term& b, TransformOp op) {
    if (a.isPython == b.isPython) return promoted(a.dtype, b.dtype);
    const Term& python = a.isPython ? a : b;
    const DType array = a.isPython ? b.dtype : a.dtype;
    if (levelOf(python.dtype) > levelOf(array)) return python.dtype;
    const bool areIntegers = levelOf(array) == 1 && levelOf(python.dtype) == 1;
    if (areIntegers && std::abs(python.values.front()) > 0x1p53) fail("an integer above 2^53 cannot be used here");
    if (areIntegers && !isComparison(op) && bytesOf(array) < 8) {
        const double value = python.values.front();
        if (static_cast<double>(wrapped(static_cast<std::int64_t>(value), array)) != value)
            fail(std::to_string(static_cast<std::int64_t>(value)) + " is out of bounds for " +
                 std::string(tensor::name(array)) + "; convert the array before, as in data.astype(np.int32)");
    }
    if (areIntegers && array == DType::UInt64 && !isComparison(op) && python.values.front() < 0)
        fail("a negative number is out of bounds for uint64");
    return array;
}

double compared(double a, double b, TransformOp op) {
    switch (op) {
        case TransformOp::Less: return a < b;
        case TransformOp::LessEqual: return a <= b;
        case TransformOp::Greater: return a > b;
        case TransformOp::GreaterEqual: return a >= b;
        case TransformOp::Equal: return a == b;
        default: return a != b;
    }
}

double computed(double a, double b, TransformOp op) {
    switch (op) {
        case TransformOp::Add: return a + b;
        case TransformOp::Subtract: return a - b;
        case TransformOp::Multiply: return a * b;
        case TransformOp::Divide: return a / b;
        case TransformOp::Power: return std::pow(a, b);
        case TransformOp::Minimum: return a > b ? b : a;  // NaN of a stays
        case TransformOp::Maximum: return a < b ? b : a;
        default: return compared(a, b, op);
    }
}

/// Modulo 2^64, of which the dtype takes its bits.
std::uint64_t integerPower(std::uint64_t base, double exponent) {
    if (exponent < 0) fail("integers to negative integer powers are not allowed");
    std::uint64_t result = 1;
    for (auto left = static_cast<std::uint64_t>(exponent); left > 0; left >>= 1, base *= base)
        if (left & 1) result *= base;
    return result;
}

double computedInteger(double first, double second, TransformOp op, DType dtype) {
    const double plain = computed(first, second, op);
    if (bytesOf(dtype) == 8) {
        if (op == TransformOp::Power && second < 0) fail("integers to negative integer powers are not allowed");
        if (std::abs(plain) > 0x1p53) fail("an integer above 2^53 comes out");
        if (dtype == DType::UInt64 && plain < 0) fail("a negative uint64 comes out");
        return plain;
    }
    const auto a = static_cast<std::uint64_t>(static_cast<std::int64_t>(first));
    const auto b = static_cast<std::uint64_t>(static_cast<std::int64_t>(second));
    const std::uint64_t bits = op == TransformOp::Add        ? a + b
                               : op == TransformOp::Subtract ? a - b
                               : op == TransformOp::Multiply ? a * b
                               : op == TransformOp::Power
                                   ? integerPower(a, second)
                                   : static_cast<std::uint64_t>(static_cast<std::int64_t>(plain));
    return static_cast<double>(wrapped(static_cast<std::int64_t>(bits), dtype));
}

/// The dtype that bools are computed in: a sum of them is their "or", a product their "and".
DType typeForBools(TransformOp op, bool isPython) {
    if (isPython) return DType::Int64;
    if (op == TransformOp::Subtract) fail("numpy does not subtract bools; convert them before");
    return op == TransformOp::Power ? DType::Int8 : DType::Bool;
}

enum class Statistic { Mean, Std, Min, Max };

/// Arguments: a, axis, keepdims.
Term reduced(std::span<const Term> arguments, Statistic statistic) {
    const Term a = asNumbers(arguments[0]);
    std::vector<bool> isReduced(a.shape.rank(), arguments[1].kind == Kind::None);
    if (arguments[1].kind != Kind::None) {
        for (const std::size_t axis : axesOf(arguments[1], a.shape.rank())) isReduced[axis] = true;
    }
    Shape wide, result;  // with and without the reduced dims
    const bool keeps = arguments[2].kind != Kind::None && integerOf(arguments[2], "keepdims") != 0;
    for (std::size_t i = 0; i < a.shape.rank(); ++i) {
        wide.push_back(isReduced[i] ? 1 : a.shape[i]);
        if (!isReduced[i] || keeps) result.push_back(wide[i]);
    }
    const auto count = static_cast<std::size_t>(wide.numel());
    if (a.values.empty()) fail("there are no elements");
    const double size = static_cast<double>(a.values.size() / count);
    const std::array strides{a.shape.contiguousStrides(), broadcastStrides(wide, a.shape)};
    const double start = statistic == Statistic::Min ? INFINITY : statistic == Statistic::Max ? -INFINITY : 0;
    std::vector<double> values(count, start);
    const auto over = [&](auto combine) {
        walk(a.shape, strides, [&](const auto& at) {
            double& into = values[static_cast<std::size_t>(at[1])];
            into = combine(into, a.values[static_cast<std::size_t>(at[0])], static_cast<std::size_t>(at[1]));
        });
    };
    // NaN goes through, as in numpy.
    if (statistic == Statistic::Min)
        over([](double m, double x, std::size_t) { return std::isnan(m) || m < x ? m : x; });
    else if (statistic == Statistic::Max)
        over([](double m, double x, std::size_t) { return std::isnan(m) || m > x ? m : x; });
    else {
        over([](double sum, double x, std::size_t) { return sum + x; });
        for (double& value : values) value /= size;
        if (statistic == Statistic::Std) {
            const std::vector<double> means = std::exchange(values, std::vector<double>(count, 0.0));
            over([&](double sum, double x, std::size_t at) { return sum + (x - means[at]) * (x - means[at]); });
            for (double& value : values) value = std::sqrt(value / size);
        }
    }
    const bool isOfElements = statistic == Statistic::Min || statistic == Statistic::Max;
    const DType dtype = isOfElements || isFloat(a.dtype) ? a.dtype : DType::Float64;
    Term term = Term::numbers(std::move(result), std::move(values), dtype);
    toDtype(term, dtype);
    return term;
}

template <double (*op)(double)>
Term mapped(std::span<const Term> arguments) {
    Term a = asNumbers(arguments[0]);
    for (double& value : a.values) value = op(value);
    toDtype(a, std::exchange(a.isPython, false) ? DType::Float64 : floatFor(a.dtype));
    return a;
}

Term absolute(std::span<const Term> arguments) {
    Term a = asNumbers(arguments[0]);
    for (double& value : a.values) value = std::abs(value);
    toDtype(a, a.dtype);
    a.isPython = false;
    return a;
}

/// Arguments: a, the lower bound, the upper bound.
Term clipped(std::span<const Term> arguments) {
    Term a = asNumbers(arguments[0]);
    const auto none = [](const Term& term) { return term.kind == Kind::None; };
    if (none(arguments[1]) && none(arguments[2])) fail("clip needs a bound");
    if (!none(arguments[1])) a = elementwise(a, arguments[1], TransformOp::Maximum);
    if (!none(arguments[2])) a = elementwise(a, arguments[2], TransformOp::Minimum);
    return a;
}

/// Arguments: a, the axes; none: in reverse.
Term transposed(std::span<const Term> arguments) {
    const Term a = asNumbers(arguments[0]);
    std::vector<std::size_t> axes(a.shape.rank());
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = axes.size() - 1 - i;
    if (arguments[1].kind != Kind::None) axes = axesOf(arguments[1], a.shape.rank());
    if (axes.size() != a.shape.rank())
        fail("transpose needs " + std::to_string(a.shape.rank()) + " axes, not " + std::to_string(axes.size()));
    const std::vector<std::int64_t> own = a.shape.contiguousStrides();
    Shape shape;
    std::vector<std::int64_t> strides;
    for (const std::size_t axis : axes) shape.push_back(a.shape[axis]), strides.push_back(own[axis]);
    std::vector<double> values;
    values.reserve(a.values.size());
    walk(shape, std::array{strides},
         [&](const auto& at) { values.push_back(a.values[static_cast<std::size_t>(at[0])]); });
    return Term::numbers(std::move(shape), std::move(values), a.dtype);
}

/// Arguments: a, the dtype. The numbers are rounded, cut or wrapped as the dtype does it.
Term converted(std::span<const Term> arguments) {
    Term a = asNumbers(arguments[0]);
    if (arguments[1].kind != Kind::Type) fail("astype needs a dtype: np.float32, np.uint8 …");
    toDtype(a, arguments[1].dtype);
    a.dtype = numpyType(a.dtype);
    a.isPython = false;
    return a;
}

/// One function: its parameters, of which the first `required` must be given and the last is by name only if
/// `hasKeyword`.
struct Function {
    std::string_view name;
    std::array<std::string_view, 3> parameters;
    std::size_t required;
    bool hasKeyword, isMethod;
    Term (*apply)(std::span<const Term>);
};

template <Statistic statistic>
Term statisticOf(std::span<const Term> arguments) {
    return reduced(arguments, statistic);
}

constexpr Function kFunctions[] = {
    {"mean", {"a", "axis", "keepdims"}, 1, true, true, statisticOf<Statistic::Mean>},
    {"std", {"a", "axis", "keepdims"}, 1, true, true, statisticOf<Statistic::Std>},
    {"min", {"a", "axis", "keepdims"}, 1, true, true, statisticOf<Statistic::Min>},
    {"max", {"a", "axis", "keepdims"}, 1, true, true, statisticOf<Statistic::Max>},
    {"abs", {"x"}, 1, false, false, absolute},
    {"sqrt", {"x"}, 1, false, false, mapped<std::sqrt>},
    {"exp", {"x"}, 1, false, false, mapped<std::exp>},
    {"log", {"x"}, 1, false, false, mapped<std::log>},
    {"clip", {"a", "a_min", "a_max"}, 3, false, true, clipped},
    {"transpose", {"a", "axes"}, 1, false, true, transposed},
    {"astype", {"x", "dtype"}, 2, false, true, converted},
    {"array", {"object"}, 1, false, false, [](std::span<const Term> given) { return asNumbers(given[0]); }},
};

std::string known(bool methods) {
    std::string names;
    for (const Function& each : kFunctions) {
        if (!methods || each.isMethod) names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
    return names;
}

std::array<Term, 3> bound(const Function& function, TransformCall call) {
    const std::string name(function.name);
    const auto count = static_cast<std::size_t>(
        std::ranges::count_if(function.parameters, [](std::string_view each) { return !each.empty(); }));
    if (call.arguments.size() > count - (function.hasKeyword ? 1 : 0)) fail(name + " takes fewer arguments");
    std::array<Term, 3> terms;
    std::array<bool, 3> isGiven{};
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        terms[i] = std::move(call.arguments[i]);
        isGiven[i] = true;
    }
    for (auto& [keyword, value] : call.keywords) {
        const auto found = std::ranges::find(function.parameters, keyword);
        const auto at = static_cast<std::size_t>(found - function.parameters.begin());
        if (at >= count) fail(name + " has no parameter '" + keyword + "'");
        if (std::exchange(isGiven[at], true)) fail(name + " got '" + keyword + "' twice");
        terms[at] = std::move(value);
    }
    for (std::size_t i = 0; i < function.required; ++i) {
        if (!isGiven[i]) fail(name + " needs '" + std::string(function.parameters[i]) + "'");
    }
    return terms;
}

}  // namespace

Term asNumbers(const Term& term) {
    if (term.kind == Kind::Numbers) return term;
    if (term.kind != Kind::List) fail("a number or an array is expected");
    Term all = Term::numbers(Shape{static_cast<std::int64_t>(term.items.size())}, {}, DType::Float64);
    for (const Term& item : term.items) {
        const Term each = asNumbers(item);
        all.dtype = &item == &term.items.front() ? each.dtype : promoted(all.dtype, each.dtype);
        if (&item == &term.items.front()) {
            if (each.shape.rank() >= kMaxRank) fail("the list nests too deeply");
            for (const std::int64_t dimSize : each.shape) all.shape.push_back(dimSize);
        } else if (!std::ranges::equal(each.shape.dims(), std::span(all.shape.dims()).subspan(1))) {
            fail("the rows of a list have different lengths");
        }
        (void)checkedCount(all.shape);
        all.values.insert(all.values.end(), each.values.begin(), each.values.end());
    }
    return all;
}

Term elementwise(const Term& first, const Term& second, TransformOp op) {
    const Term a = asNumbers(first), b = asNumbers(second);
    const auto shape = tensor::broadcastShapes(a.shape, b.shape);
    if (!shape) fail("shapes " + a.shape.text() + " and " + b.shape.text() + " cannot be broadcast");
    const bool isPython = a.isPython && b.isPython;
    DType dtype = commonType(a, b, op);
    // 2 ** -1 is 0.5 in Python.
    const bool isRoot = isPython && op == TransformOp::Power && b.values.front() < 0;
    if ((op == TransformOp::Divide || isRoot) && !isFloat(dtype)) dtype = DType::Float64;
    const bool isArithmetic = op <= TransformOp::Power;
    if (dtype == DType::Bool && isArithmetic) dtype = typeForBools(op, isPython);
    const bool isInteger = levelOf(dtype) == 1 && !isComparison(op);
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(checkedCount(*shape)));
    walk(*shape, std::array{broadcastStrides(a.shape, *shape), broadcastStrides(b.shape, *shape)}, [&](const auto& at) {
        const double x = a.values[static_cast<std::size_t>(at[0])], y = b.values[static_cast<std::size_t>(at[1])];
        values.push_back(isInteger ? computedInteger(x, y, op, dtype) : computed(x, y, op));
    });
    Term result = Term::numbers(*shape, std::move(values), isComparison(op) ? DType::Bool : dtype);
    result.isPython = isPython;
    if (!isInteger) toDtype(result, result.dtype);
    return result;
}

Term negated(const Term& term) {
    const Term a = asNumbers(term);
    if (isFloat(a.dtype)) return elementwise(Term::number(-1, DType::Int64), a, TransformOp::Multiply);
    if (a.dtype == DType::Bool && !a.isPython) fail("numpy does not negate bools; convert them before");
    return elementwise(Term::number(0, DType::Int64), a, TransformOp::Subtract);
}

DType numpyType(DType dtype) {
    constexpr std::array kTypes{DType::Bool,   DType::Int8,    DType::Int16,  DType::Int32,
                                DType::Int64,  DType::UInt8,   DType::UInt16, DType::UInt32,
                                DType::UInt64, DType::Float16, DType::Float32};
    return std::ranges::find(kTypes, dtype) == kTypes.end() ? DType::Float64 : dtype;
}

void toDtype(Term& term, DType dtype) {
    term.dtype = dtype;
    if (dtype == DType::Float64) return;
    const auto narrow = tensor::Tensor::of<double>(term.shape, term.values).cast(dtype);
    if (!narrow) fail(narrow.error().what);
    for (std::size_t i = 0; i < term.values.size(); ++i)
        term.values[i] = narrow->toDouble(static_cast<std::int64_t>(i));
}

void checkFunction(std::string_view name, bool isMethod) {
    const auto* function = std::ranges::find(kFunctions, name, &Function::name);
    if (function == std::end(kFunctions))
        fail("the function " + std::string(isMethod ? "" : "np.") + std::string(name) + " is not defined; known are " +
             known(isMethod));
    if (isMethod && !function->isMethod)
        fail("arrays have no " + std::string(name) + "; write np." + std::string(name));
}

Term callFunction(std::string_view name, TransformCall call, bool isMethod) {
    checkFunction(name, isMethod);
    const auto* function = std::ranges::find(kFunctions, name, &Function::name);
    // a.transpose(0, 2, 1) is a.transpose((0, 2, 1)).
    if (isMethod && name == "transpose" && call.arguments.size() > 2) {
        Term axes;
        axes.kind = Kind::List;
        axes.items.assign(call.arguments.begin() + 1, call.arguments.end());
        call.arguments.resize(1);
        call.arguments.push_back(std::move(axes));
    }
    return function->apply(bound(*function, std::move(call)));
}

}  // namespace sonde::io::dump
