#include "core/expression/elementwise.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>

#include "core/tensor/dispatch.h"

namespace sonde::expression {

namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

template <typename T>
using Numbers = Eigen::Array<T, Eigen::Dynamic, 1>;
/// Elements behind each other, or one element again and again (stride 0).
template <typename T>
using NumbersIn = Eigen::Map<const Numbers<T>, Eigen::Unaligned, Eigen::InnerStride<>>;
template <typename T>
using NumbersOut = Eigen::Map<Numbers<T>>;

template <typename T>
NumbersIn<T> numbersOf(const Tensor& tensor, std::int64_t count) {
    return {tensor.data<T>(), count, Eigen::InnerStride<>(tensor.numel() == 1 ? 0 : 1)};
}
template <typename T>
NumbersOut<T> numbersInto(Tensor& tensor) {
    return {tensor.mutableData<T>(), tensor.numel()};
}

/// All dtypes that are computed in: numpy's but float16, which is computed in float32.
template <typename F>
void dispatchComputed(DType dtype, F&& f) {
    if (dtype == DType::Bool) f(tensor::TypeTag<bool>{});
    else if (dtype == DType::Float32) f(tensor::TypeTag<float>{});
    else if (dtype == DType::Float64) f(tensor::TypeTag<double>{});
    else tensor::dispatchIntegers(dtype, f);
}
DType computedIn(DType dtype) { return dtype == DType::Float16 ? DType::Float32 : dtype; }

// --- elements -------------------------------------------------------------------------------------------------------

template <typename T>
T integerQuotient(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
        if (b == -1) return static_cast<T>(0 - static_cast<std::uint64_t>(a));
        return static_cast<T>(a / b - static_cast<T>(a % b != 0 && (a < 0) != (b < 0)));
    }
    return static_cast<T>(a / b);
}

template <typename T>
T integerRemainder(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
        const T rest = static_cast<T>(a % b);
        return rest != 0 && (a < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    }
    return static_cast<T>(a % b);
}

/// Modulo 2^64, of which T takes its bits; the exponent is not negative.
template <typename T>
T integerPower(T a, T b) {
    std::uint64_t result = 1, base = static_cast<std::uint64_t>(static_cast<std::int64_t>(a));
    for (auto left = static_cast<std::uint64_t>(static_cast<std::int64_t>(b)); left > 0; left >>= 1, base *= base)
        if ((left & 1) != 0) result *= base;
    return static_cast<T>(result);
}

/// Integers wrap, which unsigned numbers of 64 bits do by themselves.
template <typename T, typename F>
auto wrapping(F combine) {
    return [combine](T a, T b) {
        return static_cast<T>(combine(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
    };
}

template <typename T>
void computeIntegers(Operator op, const NumbersIn<T>& a, const NumbersIn<T>& b, NumbersOut<T> out) {
    using Wide = std::uint64_t;
    switch (op) {
        case Operator::Add: out = a.binaryExpr(b, wrapping<T>([](Wide x, Wide y) { return x + y; })); break;
        case Operator::Subtract: out = a.binaryExpr(b, wrapping<T>([](Wide x, Wide y) { return x - y; })); break;
        case Operator::Multiply: out = a.binaryExpr(b, wrapping<T>([](Wide x, Wide y) { return x * y; })); break;
        case Operator::BitAnd: out = a.binaryExpr(b, wrapping<T>([](Wide x, Wide y) { return x & y; })); break;
        case Operator::BitOr: out = a.binaryExpr(b, wrapping<T>([](Wide x, Wide y) { return x | y; })); break;
        case Operator::BitXor: out = a.binaryExpr(b, wrapping<T>([](Wide x, Wide y) { return x ^ y; })); break;
        case Operator::FloorDivide: out = a.binaryExpr(b, [](T x, T y) { return integerQuotient<T>(x, y); }); break;
        case Operator::Modulo: out = a.binaryExpr(b, [](T x, T y) { return integerRemainder<T>(x, y); }); break;
        case Operator::Power:
            if ((b < T(0)).any()) throw Problem{"integers to negative integer powers are not allowed"};
            out = a.binaryExpr(b, [](T x, T y) { return integerPower<T>(x, y); });
            break;
        case Operator::Minimum: out = a.min(b); break;
        default: out = a.max(b); break;
    }
}

template <typename T>
void computeFloats(Operator op, const NumbersIn<T>& a, const NumbersIn<T>& b, NumbersOut<T> out) {
    const auto wide = [](double (*function)(double, double)) {
        return [function](T x, T y) { return static_cast<T>(function(x, y)); };
    };
    switch (op) {
        case Operator::Add: out = a + b; break;
        case Operator::Subtract: out = a - b; break;
        case Operator::Multiply: out = a * b; break;
        case Operator::Divide: out = a / b; break;
        case Operator::FloorDivide: out = a.binaryExpr(b, wide(floorDivided)); break;
        case Operator::Modulo: out = a.binaryExpr(b, wide(floorRemainder)); break;
        case Operator::Power: out = a.binaryExpr(b, wide([](double x, double y) { return std::pow(x, y); })); break;
        case Operator::Minimum: out = a.binaryExpr(b, [](T x, T y) { return std::isnan(x) || x < y ? x : y; }); break;
        case Operator::Maximum: out = a.binaryExpr(b, [](T x, T y) { return std::isnan(x) || x > y ? x : y; }); break;
        default: throw Problem{"& | ^ need integers or bools", "put comparisons in brackets: (a > 0) & (b > 0)"};
    }
}

/// A sum of bools is their "or", a product their "and".
void computeBools(Operator op, const NumbersIn<bool>& a, const NumbersIn<bool>& b, NumbersOut<bool> out) {
    switch (op) {
        case Operator::Add:
        case Operator::Maximum:
        case Operator::BitOr: out = a || b; break;
        case Operator::BitXor: out = a != b; break;
        default: out = a && b; break;
    }
}

template <typename A, typename B>
void compare(Operator op, const A& a, const B& b, NumbersOut<bool> out) {
    switch (op) {
        case Operator::Less: out = a < b; break;
        case Operator::LessEqual: out = a <= b; break;
        case Operator::Greater: out = a > b; break;
        case Operator::GreaterEqual: out = a >= b; break;
        case Operator::Equal: out = a == b; break;
        default: out = a != b; break;
    }
}

// --- arrays ---------------------------------------------------------------------------------------------------------

Shape commonShape(const Tensor& a, const Tensor& b) {
    auto shape = tensor::broadcastShapes(a.shape(), b.shape());
    if (!shape) throw Problem{"shapes " + a.shape().text() + " and " + b.shape().text() + " cannot be broadcast"};
    return std::move(*shape);
}

/// What is read element by element for a result of a shape: one element, or as many as the shape has.
Tensor readyFor(Workspace& workspace, const Tensor& tensor, DType dtype, const Shape& shape) {
    const Tensor converted = workspace.cast(tensor, dtype);
    return tensor.numel() == 1 ? workspace.contiguous(converted) : workspace.broadcast(converted, shape);
}

/// int64 beside uint64: no dtype holds both, and float64 would round them.
Tensor comparedMixed(Workspace& workspace, Operator op, const Tensor& a, const Tensor& b, const Shape& shape) {
    const bool isSwapped = a.dtype() == DType::UInt64;
    const Tensor x = readyFor(workspace, isSwapped ? b : a, DType::Int64, shape);
    const Tensor y = readyFor(workspace, isSwapped ? a : b, DType::UInt64, shape);
    const std::int64_t count = shape.numel();
    Tensor order = workspace.allocate(DType::Int8, shape), result = workspace.allocate(DType::Bool, shape);
    const NumbersIn<std::int64_t> p = numbersOf<std::int64_t>(x, count);
    const NumbersIn<std::uint64_t> q = numbersOf<std::uint64_t>(y, count);
    // Eigen combines elements of one type only.
    for (std::int64_t i = 0; i < count; ++i)
        order.mutableData<std::int8_t>()[i] = std::cmp_less(p[i], q[i]) ? -1 : std::cmp_greater(p[i], q[i]) ? 1 : 0;
    const auto sign = static_cast<std::int8_t>(isSwapped ? -1 : 1);
    const Numbers<std::int8_t> none = Numbers<std::int8_t>::Zero(count);
    compare(op, numbersInto<std::int8_t>(order) * sign, none, numbersInto<bool>(result));
    return result;
}

Tensor comparedArrays(Workspace& workspace, Operator op, const Operand& a, const Operand& b) {
    const Shape shape = commonShape(a.tensor, b.tensor);
    const DType dtype = commonType(a, b, true);
    const bool areIntegers = tensor::isInteger(a.tensor.dtype()) && tensor::isInteger(b.tensor.dtype());
    if (areIntegers && dtype == DType::Float64) {
        const bool isFirst = tensor::isSigned(a.tensor.dtype());
        const DType types[] = {isFirst ? DType::Int64 : DType::UInt64, isFirst ? DType::UInt64 : DType::Int64};
        return comparedMixed(workspace, op, workspace.cast(a.tensor, types[0]), workspace.cast(b.tensor, types[1]),
                             shape);
    }
    Tensor result = workspace.allocate(DType::Bool, shape);
    const Tensor x = readyFor(workspace, a.tensor, computedIn(dtype), shape);
    const Tensor y = readyFor(workspace, b.tensor, computedIn(dtype), shape);
    dispatchComputed(computedIn(dtype), [&](auto tag) {
        using T = typename decltype(tag)::type;
        compare(op, numbersOf<T>(x, shape.numel()), numbersOf<T>(y, shape.numel()), numbersInto<bool>(result));
    });
    return result;
}

/// The dtype that an operator computes in and returns.
DType resultType(Operator op, DType common) {
    if (op == Operator::Divide) return tensor::isFloating(common) ? common : DType::Float64;
    if (common != DType::Bool) return common;
    if (op == Operator::Subtract) throw Problem{"numpy does not subtract bools", "write a ^ b, or convert them before"};
    const bool isOfNumbers = op == Operator::Power || op == Operator::FloorDivide || op == Operator::Modulo;
    return isOfNumbers ? DType::Int8 : DType::Bool;
}

Tensor computedArrays(Workspace& workspace, Operator op, const Operand& a, const Operand& b) {
    const Shape shape = commonShape(a.tensor, b.tensor);
    const DType dtype = resultType(op, commonType(a, b, false)), inside = computedIn(dtype);
    Tensor result = workspace.allocate(inside, shape);
    // A number of Python is rounded to float16 before it is computed with in float32.
    const auto ready = [&](const Tensor& tensor) {
        return readyFor(workspace, workspace.cast(tensor, dtype), inside, shape);
    };
    const Tensor x = ready(a.tensor), y = ready(b.tensor);
    dispatchComputed(inside, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const NumbersIn<T> p = numbersOf<T>(x, shape.numel()), q = numbersOf<T>(y, shape.numel());
        if constexpr (std::is_same_v<T, bool>) computeBools(op, p, q, numbersInto<T>(result));
        else if constexpr (std::is_integral_v<T>) computeIntegers<T>(op, p, q, numbersInto<T>(result));
        else computeFloats<T>(op, p, q, numbersInto<T>(result));
    });
    return workspace.cast(result, dtype);
}

bool isText(const Value& value) { return value.kind() == ValueKind::String; }
bool isSequence(const Value& value) {
    return value.kind() == ValueKind::List || value.kind() == ValueKind::Tuple || value.kind() == ValueKind::Sequence;
}

/// Lists and tuples are equal if all of their items are.
bool equalWhole(Workspace& workspace, const Value& a, const Value& b) {
    if (isText(a) && isText(b)) return a.toString() == b.toString();
    if (!isSequence(a) || !isSequence(b)) return false;
    return std::ranges::equal(a.items(), b.items(), [&](const Value& x, const Value& y) {
        return truth(binary(workspace, Operator::Equal, x, y));
    });
}

}  // namespace

Value binary(Workspace& workspace, Operator op, const Value& a, const Value& b) {
    const bool areTexts = isText(a) && isText(b), areSequences = isSequence(a) && isSequence(b);
    const bool isEquality = op == Operator::Equal || op == Operator::NotEqual;
    if (isEquality && (a.isNone() || b.isNone()))
        return Value::ofBool((a.isNone() && b.isNone()) == (op == Operator::Equal));
    if (isEquality && (areTexts || areSequences))
        return Value::ofBool(equalWhole(workspace, a, b) == (op == Operator::Equal));
    if (a.isNumber() && b.isNumber()) return pythonResult(op, a, b);
    const Operand x = operandOf(workspace, a), y = operandOf(workspace, b);
    return isComparison(op) ? comparedArrays(workspace, op, x, y) : computedArrays(workspace, op, x, y);
}

Value unary(Workspace& workspace, Operator op, const Value& a) {
    if (op == Operator::Not) return Value::ofBool(!truth(a));
    if (a.isNumber() && op == Operator::Invert) {
        if (a.kind() == ValueKind::Float) throw Problem{"~ needs integers or bools"};
        return pythonResult(Operator::Subtract, Value::ofInt(-1), a);
    }
    // Not 0 - a, which would make -0.0 of no zero.
    if (a.kind() == ValueKind::Float) return Value::ofFloat(op == Operator::Negate ? -a.toFloat() : a.toFloat());
    if (a.isNumber())
        return pythonResult(op == Operator::Negate ? Operator::Subtract : Operator::Add, Value::ofInt(0), a);
    const Operand x = operandOf(workspace, a);
    const DType dtype = x.tensor.dtype();
    if (op == Operator::Plus) return x.tensor;
    if (op == Operator::Invert) {
        if (tensor::isFloating(dtype)) throw Problem{"~ needs integers or bools"};
        const Value ones =
            dtype == DType::Bool ? Value::ofBool(true) : Value(workspace.cast(Tensor::scalar<std::int64_t>(-1), dtype));
        return binary(workspace, Operator::BitXor, x.tensor, ones);
    }
    if (dtype == DType::Bool) throw Problem{"numpy does not negate bools", "write ~a, or convert them before"};
    if (tensor::isFloating(dtype)) return binary(workspace, Operator::Multiply, x.tensor, Value::ofInt(-1));
    return binary(workspace, Operator::Subtract, Value::ofInt(0), x.tensor);
}

Tensor chosen(Workspace& workspace, const Tensor& condition, const Value& a, const Value& b) {
    const Operand x = operandOf(workspace, a), y = operandOf(workspace, b);
    const DType dtype = commonType(x, y, false);
    auto shape = tensor::broadcastShapes(condition.shape(), commonShape(x.tensor, y.tensor));
    if (!shape) throw Problem{"the condition of shape " + condition.shape().text() + " cannot be broadcast"};
    Tensor result = workspace.allocate(dtype, *shape);
    const Tensor choice = readyFor(workspace, condition, DType::Bool, *shape);
    const Tensor first = readyFor(workspace, x.tensor, dtype, *shape);
    const Tensor second = readyFor(workspace, y.tensor, dtype, *shape);
    tensor::dispatchSize(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T>) {
            const std::int64_t count = shape->numel();
            numbersInto<T>(result) =
                numbersOf<bool>(choice, count).select(numbersOf<T>(first, count), numbersOf<T>(second, count));
        }
    });
    return result;
}

Tensor mapped(Workspace& workspace, const Value& a, double (*function)(double), bool keepIntegers) {
    const Tensor tensor = workspace.contiguous(arrayOf(workspace, a));
    if (keepIntegers && !tensor::isFloating(tensor.dtype())) return tensor;
    const DType dtype = floatFor(tensor.dtype());
    const DType inside = computedIn(dtype);
    const Tensor x = workspace.cast(tensor, inside);
    Tensor result = workspace.allocate(inside, x.shape());
    dispatchComputed(inside, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_floating_point_v<T>)
            numbersInto<T>(result) =
                numbersOf<T>(x, x.numel()).unaryExpr([function](T each) { return static_cast<T>(function(each)); });
    });
    return workspace.cast(result, dtype);
}

Tensor mappedPair(Workspace& workspace, const Value& a, const Value& b, double (*function)(double, double)) {
    const Operand p = operandOf(workspace, a), q = operandOf(workspace, b);
    const DType dtype = floatFor(commonType(p, q, false)), inside = computedIn(dtype);
    const Shape shape = commonShape(p.tensor, q.tensor);
    const Tensor x = readyFor(workspace, p.tensor, inside, shape), y = readyFor(workspace, q.tensor, inside, shape);
    Tensor result = workspace.allocate(inside, shape);
    dispatchComputed(inside, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_floating_point_v<T>)
            numbersInto<T>(result) = numbersOf<T>(x, shape.numel())
                                         .binaryExpr(numbersOf<T>(y, shape.numel()), [function](T first, T second) {
                                             return static_cast<T>(function(first, second));
                                         });
    });
    return workspace.cast(result, dtype);
}

Tensor tested(Workspace& workspace, const Value& a, bool (*function)(double), bool ofIntegers) {
    const Tensor tensor = workspace.contiguous(arrayOf(workspace, a));
    Tensor result = workspace.allocate(DType::Bool, tensor.shape());
    if (!tensor::isFloating(tensor.dtype())) {
        numbersInto<bool>(result).setConstant(ofIntegers);
        return result;
    }
    const Tensor x = workspace.cast(tensor, computedIn(tensor.dtype()));
    dispatchComputed(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_floating_point_v<T>)
            numbersInto<bool>(result) =
                numbersOf<T>(x, x.numel()).unaryExpr([function](T each) { return function(each); });
    });
    return result;
}

bool holdsOfAny(Workspace& workspace, const Value& a, bool (*function)(double)) {
    if (a.isTensor() && tensor::isComplex(a.tensor().dtype()))
        return holdsOfAny(workspace, complexPart(workspace, a, false), function) ||
               holdsOfAny(workspace, complexPart(workspace, a, true), function);
    const Tensor tensor = workspace.contiguous(arrayOf(workspace, a));
    if (!tensor::isFloating(tensor.dtype())) return false;
    const Tensor x = workspace.cast(tensor, computedIn(tensor.dtype()));
    bool found = false;
    dispatchComputed(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_floating_point_v<T>)
            found = numbersOf<T>(x, x.numel()).unaryExpr([function](T each) { return function(each); }).any();
    });
    return found;
}

Tensor complexPart(Workspace& workspace, const Value& a, bool isImaginary) {
    if (!a.isTensor() || !tensor::isComplex(a.tensor().dtype())) {
        const Tensor real = arrayOf(workspace, a);
        return isImaginary ? workspace.broadcast(workspace.cast(Tensor::scalar(0.0), real.dtype()), real.shape())
                           : real;
    }
    const Tensor x = workspace.contiguous(a.tensor());
    const auto part = [&](auto tag) {
        using T = typename decltype(tag)::type;
        Tensor result = workspace.allocate(tensor::dtypeOf<T>, x.shape());
        const T* parts = x.data<T>() + (isImaginary ? 1 : 0);
        numbersInto<T>(result) =
            Eigen::Map<const Numbers<T>, Eigen::Unaligned, Eigen::InnerStride<2>>(parts, x.numel());
        return result;
    };
    return x.dtype() == DType::Complex64 ? part(tensor::TypeTag<float>{}) : part(tensor::TypeTag<double>{});
}

Tensor absolute(Workspace& workspace, const Value& a) {
    if (a.isTensor() && tensor::isComplex(a.tensor().dtype())) {
        const Tensor real = complexPart(workspace, a, false), imaginary = complexPart(workspace, a, true);
        Tensor result = workspace.allocate(real.dtype(), real.shape());
        tensor::dispatchFloating(real.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            if constexpr (std::is_floating_point_v<T>)
                numbersInto<T>(result) =
                    numbersOf<T>(real, real.numel()).binaryExpr(numbersOf<T>(imaginary, real.numel()), [](T x, T y) {
                        return std::hypot(x, y);
                    });
        });
        return result;
    }
    const Tensor tensor = workspace.contiguous(arrayOf(workspace, a));
    if (tensor.dtype() == DType::Bool || (tensor::isInteger(tensor.dtype()) && !tensor::isSigned(tensor.dtype())))
        return tensor;
    const Tensor x = workspace.cast(tensor, computedIn(tensor.dtype()));
    Tensor result = workspace.allocate(x.dtype(), x.shape());
    dispatchComputed(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_floating_point_v<T>) numbersInto<T>(result) = numbersOf<T>(x, x.numel()).abs();
        else if constexpr (!std::is_same_v<T, bool>)
            numbersInto<T>(result) = numbersOf<T>(x, x.numel()).unaryExpr([](T each) {
                return each < 0 ? static_cast<T>(0 - static_cast<std::uint64_t>(each)) : each;
            });
    });
    return workspace.cast(result, tensor.dtype());
}

bool truth(const Value& value) {
    if (value.isNumber()) return value.number() != 0;
    if (value.isNone()) return false;
    if (isSequence(value)) return !value.items().empty();
    if (!value.isTensor() || value.tensor().dtype() == DType::String)
        throw Problem{"a number or a bool is expected, not " + value.typeText()};
    const Tensor& tensor = value.tensor();
    if (tensor::isComplex(tensor.dtype())) throw Problem{"a number or a bool is expected, not a complex number"};
    if (tensor.numel() != 1)
        throw Problem{"whether an array of shape " + tensor.shape().text() + " is true is ambiguous",
                      "write any(…) or all(…)"};
    return tensor.toDouble(0) != 0;
}

}  // namespace sonde::expression
