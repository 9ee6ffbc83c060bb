#include "core/expression/promotion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace sonde::expression {

namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

constexpr std::size_t kMaxListRank = 32;

bool isUnsigned(DType dtype) { return !tensor::isSigned(dtype); }
std::size_t bytesOf(DType dtype) { return tensor::itemSize(dtype); }

/// Bools, integers, floats.
int levelOf(DType dtype) { return dtype == DType::Bool ? 0 : tensor::isFloating(dtype) ? 2 : 1; }

bool holds(DType dtype, std::int64_t value) {
    if (bytesOf(dtype) == 8) return tensor::isSigned(dtype) || value >= 0;
    const int bits = static_cast<int>(bytesOf(dtype)) * 8;
    if (isUnsigned(dtype)) return value >= 0 && value < (std::int64_t{1} << bits);
    return value >= -(std::int64_t{1} << (bits - 1)) && value < (std::int64_t{1} << (bits - 1));
}

/// The array of a list: its items behind each other, in the dtype that holds all.
Tensor stacked(Workspace& workspace, const tensor::ValueList& items) {
    if (items.empty()) return workspace.allocate(DType::Float64, Shape{0});
    std::vector<Tensor> parts;
    for (const Value& item : items) {
        parts.push_back(arrayOf(workspace, item));
        if (parts.back().rank() >= kMaxListRank) throw Problem{"the list nests too deeply"};
        if (parts.back().shape() != parts.front().shape()) throw Problem{"the rows of a list have different lengths"};
    }
    DType dtype = parts.front().dtype();
    for (const Tensor& part : parts) dtype = promoted(dtype, part.dtype());
    Shape shape{static_cast<std::int64_t>(parts.size())};
    for (const std::int64_t dimSize : parts.front().shape()) shape.push_back(dimSize);
    Tensor all = workspace.allocate(dtype, shape);
    std::byte* into = all.mutableBytes();
    for (const Tensor& part : parts) {
        const Tensor row = workspace.contiguous(workspace.cast(part, dtype));
        if (row.sizeBytes() > 0) std::memcpy(into, row.bytes(), row.sizeBytes());
        into += row.sizeBytes();
    }
    return all;
}

// --- numbers of Python ----------------------------------------------------------------------------------------------

[[noreturn]] void overflow() { throw Problem{"the integer does not fit into int64", "write a float: 1e19"}; }
[[noreturn]] void zeroDivision() { throw Problem{"division by zero"}; }

std::int64_t integerOf(const Value& value) {
    return value.kind() == ValueKind::Bool ? static_cast<std::int64_t>(value.toBool()) : value.toInt();
}

/// A number without rounding: int64 and float64 both fit.
long double exact(const Value& value) {
    static_assert(std::numeric_limits<long double>::digits >= 63);
    return value.kind() == ValueKind::Float ? value.toFloat() : static_cast<long double>(integerOf(value));
}

template <typename T>
Value compared(Operator op, T a, T b) {
    switch (op) {
        case Operator::Less: return Value::ofBool(a < b);
        case Operator::LessEqual: return Value::ofBool(a <= b);
        case Operator::Greater: return Value::ofBool(a > b);
        case Operator::GreaterEqual: return Value::ofBool(a >= b);
        case Operator::Equal: return Value::ofBool(a == b);
        default: return Value::ofBool(a != b);
    }
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
    std::int64_t result = 1;
    for (;;) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow();
        exponent >>= 1;
        if (exponent == 0) return result;
        if (__builtin_mul_overflow(base, base, &base)) overflow();
    }
}

Value integers(Operator op, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    switch (op) {
        case Operator::Add:
            if (__builtin_add_overflow(a, b, &result)) overflow();
            break;
        case Operator::Subtract:
            if (__builtin_sub_overflow(a, b, &result)) overflow();
            break;
        case Operator::Multiply:
            if (__builtin_mul_overflow(a, b, &result)) overflow();
            break;
        case Operator::FloorDivide:
        case Operator::Modulo:
            if (b == 0) zeroDivision();
            if (b == -1) return integers(Operator::Multiply, op == Operator::Modulo ? 0 : -1, a);
            result = op == Operator::Modulo ? (a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b)
                                            : a / b - static_cast<std::int64_t>(a % b != 0 && (a < 0) != (b < 0));
            break;
        case Operator::Power: return Value::ofInt(power(a, b));
        case Operator::BitAnd: result = a & b; break;
        case Operator::BitOr: result = a | b; break;
        case Operator::BitXor: result = a ^ b; break;
        case Operator::Minimum: result = std::min(a, b); break;
        case Operator::Maximum: result = std::max(a, b); break;
        default: return compared(op, a, b);
    }
    return Value::ofInt(result);
}

Value floats(Operator op, double a, double b) {
    switch (op) {
        case Operator::Add: return Value::ofFloat(a + b);
        case Operator::Subtract: return Value::ofFloat(a - b);
        case Operator::Multiply: return Value::ofFloat(a * b);
        case Operator::Divide:
            if (b == 0) zeroDivision();
            return Value::ofFloat(a / b);
        case Operator::FloorDivide:
            if (b == 0) zeroDivision();
            return Value::ofFloat(floorDivided(a, b));
        case Operator::Modulo:
            if (b == 0) zeroDivision();
            return Value::ofFloat(floorRemainder(a, b));
        case Operator::Power:
            if (a == 0 && b < 0) zeroDivision();
            return Value::ofFloat(std::pow(a, b));
        case Operator::Minimum: return Value::ofFloat(std::isnan(a) || a < b ? a : b);
        case Operator::Maximum: return Value::ofFloat(std::isnan(a) || a > b ? a : b);
        default: throw Problem{"& | ^ need integers or bools"};
    }
}

}  // namespace

double floorRemainder(double a, double b) {
    const double rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(0.0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}

double floorDivided(double a, double b) {
    if (b == 0) return a / b;
    const double rest = std::fmod(a, b);
    double quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(0.0, a / b);
    const double whole = std::floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

DType numpyType(DType dtype) {
    constexpr std::array kTypes{DType::Bool,   DType::Int8,    DType::Int16,   DType::Int32,
                                DType::Int64,  DType::UInt8,   DType::UInt16,  DType::UInt32,
                                DType::UInt64, DType::Float16, DType::Float32, DType::Float64};
    if (tensor::isComplex(dtype))
        throw Problem{"complex numbers are not computed with", "take real(x), imag(x) or abs(x)"};
    if (dtype == DType::String || dtype == DType::Undefined)
        throw Problem{"a number or an array is expected, not text"};
    return std::ranges::find(kTypes, dtype) == kTypes.end() ? DType::Float64 : dtype;
}

DType floatFor(DType dtype) {
    if (tensor::isFloating(dtype)) return dtype;
    if (bytesOf(dtype) == 1) return DType::Float16;
    return bytesOf(dtype) == 2 ? DType::Float32 : DType::Float64;
}

DType promoted(DType a, DType b) {
    if (a == b || b == DType::Bool) return a;
    if (a == DType::Bool) return b;
    if (tensor::isFloating(a) || tensor::isFloating(b)) {
        const DType x = floatFor(a), y = floatFor(b);
        return bytesOf(x) >= bytesOf(y) ? x : y;
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

DType commonType(const Operand& a, const Operand& b, bool isComparison) {
    const DType first = a.tensor.dtype(), second = b.tensor.dtype();
    if (a.isPython == b.isPython) return promoted(first, second);
    const Tensor& number = a.isPython ? a.tensor : b.tensor;
    const DType python = number.dtype(), array = a.isPython ? second : first;
    if (levelOf(python) > levelOf(array)) return python;
    if (python == DType::Float64 && isComparison) {
        // 1e5 is infinite in float16, and no number would be greater.
        const double value = number.toDouble(0);
        const base::Result<Tensor> narrow = number.cast(array);
        if (!narrow || (std::isinf(narrow->toDouble(0)) && !std::isinf(value))) return DType::Float64;
    }
    if (levelOf(array) != 1 || python != DType::Int64 || holds(array, number.toInt64(0))) return array;
    if (isComparison) return promoted(array, DType::Int64);
    throw Problem{std::to_string(number.toInt64(0)) + " is out of bounds for " + std::string(tensor::name(array)),
                  "convert the array before: x.astype(np.int32)"};
}

Operand operandOf(Workspace& workspace, const Value& value) {
    switch (value.kind()) {
        case ValueKind::Int: return {Tensor::scalar(value.toInt()), true};
        case ValueKind::Float: return {Tensor::scalar(value.toFloat()), true};
        case ValueKind::Bool: return {Tensor::scalar(value.toBool()), true};
        case ValueKind::Tensor: return {workspace.cast(value.tensor(), numpyType(value.tensor().dtype())), false};
        case ValueKind::List:
        case ValueKind::Tuple:
        case ValueKind::Sequence: return {stacked(workspace, value.items()), false};
        default: throw Problem{"a number or an array is expected, not " + value.typeText()};
    }
}

Tensor arrayOf(Workspace& workspace, const Value& value) { return operandOf(workspace, value).tensor; }

Value valueOf(const Operand& operand) {
    if (!operand.isPython) return operand.tensor;
    if (operand.tensor.dtype() == DType::Int64) return Value::ofInt(operand.tensor.toInt64(0));
    if (operand.tensor.dtype() == DType::Bool) return Value::ofBool(operand.tensor.toInt64(0) != 0);
    return Value::ofFloat(operand.tensor.toDouble(0));
}

Value pythonResult(Operator op, const Value& a, const Value& b) {
    const bool areBools = a.kind() == ValueKind::Bool && b.kind() == ValueKind::Bool;
    if (areBools && isBitwise(op)) return Value::ofBool(integerOf(integers(op, a.toBool(), b.toBool())) != 0);
    const bool areIntegers = a.kind() != ValueKind::Float && b.kind() != ValueKind::Float;
    if (areIntegers && op == Operator::Divide && integerOf(b) != 0)
        return Value::ofFloat(static_cast<double>(exact(a) / exact(b)));
    if (isComparison(op) && !areIntegers) return compared(op, exact(a), exact(b));
    // 2 ** -1 is 0.5.
    const bool isFraction = op == Operator::Divide || (op == Operator::Power && areIntegers && integerOf(b) < 0);
    if (areIntegers && !isFraction) return integers(op, integerOf(a), integerOf(b));
    return floats(op, a.number(), b.number());
}

}  // namespace sonde::expression
