// Operators of Python on values whose kinds are only known in a run: numbers are computed here, tensors go to aten.

#include <cmath>
#include <limits>

#include "core/ops/support/invoke.h"
#include "core/ops/support/prim_row.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

struct Binary {
    std::string_view name;
    std::string_view summary;
    Category category;
    std::string_view aten;  ///< of tensors: NAME.Tensor and NAME.Scalar
    double (*compute)(double, double);
    bool compares = false;          ///< gives a bool
    bool makesFloat = false;        ///< even of two integers
    std::string_view swapped = {};  ///< operator for (b, a) that equals this one for (a, b)
};

/// As TorchScript has it for numbers (torch/csrc/jit/runtime/register_prim_ops.cpp).
double floorMod(double a, double b) { return std::fmod(b + std::fmod(a, b), b); }

constexpr Binary kBinaries[] = {
    {"add", "a + b", Category::Elementwise, "add", [](double a, double b) { return a + b; }, false, false, "add"},
    {"sub", "a - b", Category::Elementwise, "sub", [](double a, double b) { return a - b; }, false, false, "rsub"},
    {"mul", "a * b", Category::Elementwise, "mul", [](double a, double b) { return a * b; }, false, false, "mul"},
    {"truediv", "a / b", Category::Elementwise, "div", [](double a, double b) { return a / b; }, false, true},
    {"floordiv", "a / b, rounded down", Category::Elementwise, "floor_divide",
     [](double a, double b) { return std::floor(a / b); }},
    {"truncdiv", "a / b, rounded toward 0", Category::Elementwise, "",
     [](double a, double b) { return std::trunc(a / b); }},
    {"mod", "remainder with the sign of b", Category::Elementwise, "remainder", floorMod},
    {"pow", "a to the power of b", Category::Elementwise, "pow", [](double a, double b) { return std::pow(a, b); }},
    {"gt", "a > b", Category::Logic, "gt", [](double a, double b) { return a > b ? 1.0 : 0.0; }, true, false, "lt"},
    {"lt", "a < b", Category::Logic, "lt", [](double a, double b) { return a < b ? 1.0 : 0.0; }, true, false, "gt"},
    {"ge", "a >= b", Category::Logic, "ge", [](double a, double b) { return a >= b ? 1.0 : 0.0; }, true, false, "le"},
    {"le", "a <= b", Category::Logic, "le", [](double a, double b) { return a <= b ? 1.0 : 0.0; }, true, false, "ge"},
    {"eq", "a == b", Category::Logic, "eq", [](double a, double b) { return a == b ? 1.0 : 0.0; }, true, false, "eq"},
    {"ne", "a != b", Category::Logic, "ne", [](double a, double b) { return a != b ? 1.0 : 0.0; }, true, false, "ne"},
};

bool isWhole(const Value& value) { return value.kind() == ValueKind::Int || value.kind() == ValueKind::Bool; }
std::int64_t wholeOf(const Value& value) { return value.kind() == ValueKind::Bool ? value.toBool() : value.toInt(); }

/// Integers stay exact where doubles would not.
base::Result<Value> computeWhole(const Binary& op, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    bool overflow = false;
    if (op.name == "add") overflow = __builtin_add_overflow(a, b, &result);
    else if (op.name == "sub") overflow = __builtin_sub_overflow(a, b, &result);
    else if (op.name == "mul") overflow = __builtin_mul_overflow(a, b, &result);
    else if (op.name == "truncdiv") {
        if (b == 0) return opError("integer division by zero");
        overflow = b == -1 && a == std::numeric_limits<std::int64_t>::min();
        if (!overflow) result = a / b;
    } else if (op.name == "floordiv" || op.name == "mod") {
        if (b == 0) return opError("integer division by zero");
        if (b == -1)
            return Value::ofInt(op.name == "mod" ? 0 : static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a)));
        const std::int64_t quotient = a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
        return Value::ofInt(op.name == "mod" ? a - quotient * b : quotient);
    } else {
        const double power = op.compute(static_cast<double>(a), static_cast<double>(b));
        if (b < 0 || std::abs(power) > 9e15) return Value::ofFloat(power);
        return Value::ofInt(static_cast<std::int64_t>(power));
    }
    return overflow ? base::Result<Value>(opError("integer overflow")) : base::Result<Value>(Value::ofInt(result));
}

base::Result<Value> computeNumbers(const Binary& op, const Value& a, const Value& b) {
    if (op.compares && isWhole(a) && isWhole(b)) {  // exact beyond 2^53
        const std::int64_t x = wholeOf(a), y = wholeOf(b);
        return Value::ofBool(op.compute(x < y ? -1 : x > y ? 1 : 0, 0) != 0);
    }
    if (op.compares) return Value::ofBool(op.compute(a.number(), b.number()) != 0);
    if (isWhole(a) && isWhole(b) && !op.makesFloat) return computeWhole(op, wholeOf(a), wholeOf(b));
    return Value::ofFloat(op.compute(a.number(), b.number()));
}

/// A number as the first operand of a tensor.
base::Result<Tensor> numberFirst(KernelContext& context, const Binary& op, const Value& a, const Value& b) {
    if (!op.swapped.empty()) return invokeAten(context, std::string(op.swapped) + ".Scalar", {b, a});
    if (op.name == "pow") return invokeAten(context, "pow.Scalar", {a, b});
    const Value values[] = {a, b};
    SONDE_ASSIGN(Tensor first, asTensor(a, promoted(values)));
    return invokeAten(context, op.aten == "floor_divide" ? "floor_divide" : std::string(op.aten) + ".Tensor",
                      {Value(std::move(first)), b});
}

base::Result<void> runBinary(KernelContext& context, const Binary& op) {
    const Value& a = context.value("a");
    const Value& b = context.value("b");
    if (a.isNumber() && b.isNumber()) {
        SONDE_ASSIGN(Value result, computeNumbers(op, a, b));
        context.setOutput(std::move(result));
        return {};
    }
    if ((a.isTensor() || b.isTensor()) && !op.aten.empty()) {
        std::string name(op.aten);
        Tensor result;
        if (!a.isTensor()) {
            SONDE_ASSIGN(result, numberFirst(context, op, a, b));
        } else {
            if (op.name == "pow") name += b.isTensor() ? ".Tensor_Tensor" : ".Tensor_Scalar";
            else if (op.name == "floordiv") name += b.isTensor() ? "" : ".Scalar";
            else name += b.isTensor() ? ".Tensor" : ".Scalar";
            SONDE_ASSIGN(result, invokeAten(context, name, {a, b}));
        }
        context.setOutput(Value(std::move(result)));
        return {};
    }
    if (op.name == "add" && a.isListLike() && b.isListLike()) {
        tensor::ValueList items = a.items();
        items.insert(items.end(), b.items().begin(), b.items().end());
        context.setOutput(a.kind() == ValueKind::Tuple ? Value::tuple(std::move(items))
                                                       : Value::list(std::move(items)));
        return {};
    }
    if (op.name == "eq" || op.name == "ne") {
        // A size is a tuple to Python and a list to TorchScript: sequences are equal if their items are.
        const auto plain = [](const Value& value) {
            return value.kind() == ValueKind::Tuple ? Value::list(value.items()) : value;
        };
        context.setOutput(Value::ofBool(tensor::identical(plain(a), plain(b)) == (op.name == "eq")));
        return {};
    }
    return opError(std::string(op.name) + " is not defined for " + a.typeText() + " and " + b.typeText());
}

template <ValueKind kind>
base::Result<void> inferNumber(InferContext& context) {
    TypeInfo type;
    type.kind = kind;
    context.set(std::move(type));
    return {};
}

base::Result<void> inferBinary(InferContext& context, const Binary& op) {
    const Value& a = context.constant("a");
    const Value& b = context.constant("b");
    if (a.isNumber() && b.isNumber()) {
        if (const auto known = computeNumbers(op, a, b)) {
            context.setKnown(*known);
            context.set(TypeInfo::of(*known));
        }
        return {};
    }
    // Lists one behind the other, as sizes often are.
    if (op.name == "add" && (context.in("a").kind == ValueKind::List || context.in("a").kind == ValueKind::Tuple)) {
        const auto first = context.elements("a"), second = context.elements("b");
        if (!first || !second || first->size() + second->size() > 256) return {};
        TypeInfo joined;
        joined.kind = context.in("a").kind;
        joined.elements.assign(first->size() + second->size(), TypeInfo::of(Value::ofInt(0)));
        Elements all = *first;
        all.insert(all.end(), second->begin(), second->end());
        context.set(std::move(joined));
        context.setElements(std::move(all));
        return {};
    }
    const auto isNumberType = [](const TypeInfo& type) {
        return type.kind == ValueKind::Int || type.kind == ValueKind::Float || type.kind == ValueKind::Bool;
    };
    const TypeInfo &first = context.in("a"), &second = context.in("b");
    if (isNumberType(first) && isNumberType(second)) {
        const bool isFloat = op.makesFloat || first.kind == ValueKind::Float || second.kind == ValueKind::Float;
        if (op.name == "pow" && !isFloat) return {};  // 2 ** -1 is no integer
        TypeInfo type;
        type.kind = op.compares ? ValueKind::Bool : isFloat ? ValueKind::Float : ValueKind::Int;
        context.set(std::move(type));
        return {};
    }
    if (op.compares && first.kind && second.kind && !first.isTensor() && !second.isTensor())
        return inferNumber<ValueKind::Bool>(context);
    if (op.aten.empty() || (!context.in("a").isTensor() && !context.in("b").isTensor())) return {};
    const std::string name = op.name == "floordiv" ? "floor_divide"
                             : op.name == "pow"    ? "pow.Tensor_Tensor"
                                                   : std::string(op.aten) + ".Tensor";
    return inferAs(context, "aten", name, {"a", "b"});
}

base::Result<void> negative(KernelContext& context) {
    const Value& a = context.value("a");
    if (a.isTensor()) {
        SONDE_ASSIGN(Tensor result, invokeAten(context, "neg", {a}));
        context.setOutput(Value(std::move(result)));
    } else if (isWhole(a)) {
        context.setOutput(Value::ofInt(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(wholeOf(a)))));
    } else if (a.isNumber()) {
        context.setOutput(Value::ofFloat(-a.number()));
    } else {
        return opError("neg is not defined for " + a.typeText());
    }
    return {};
}

base::Result<void> squareRoot(KernelContext& context) {
    SONDE_ASSIGN(const double number, numberOf(context.value("a")));
    if (number < 0) return opError("sqrt of a negative number");
    context.setOutput(Value::ofFloat(std::sqrt(number)));
    return {};
}

base::Result<void> checkTrue(KernelContext& context) {
    SONDE_ASSIGN(const double number, numberOf(context.value({"self", "condition"})));
    if (number != 0) return {};
    const bool hasMessage =
        context.inputCount() > 1 && context.value({"assert_msg", "message"}).kind() == ValueKind::String;
    return opError(hasMessage ? context.value({"assert_msg", "message"}).toString() : "assertion failed");
}

base::Result<void> checkNone(KernelContext& context) {
    if (context.value("value").isNone()) return {};
    return opError(context.value("message").kind() == ValueKind::String ? context.value("message").toString()
                                                                        : "assertion failed");
}

base::Result<void> raise(KernelContext& context) {
    const std::string text = context.value("message").kind() == ValueKind::String ? context.value("message").toString()
                                                                                  : context.value("message").text();
    return opError(text.empty() ? "the model raises an error here" : text);
}

template <ValueKind kind>
base::Result<void> toNumber(KernelContext& context) {
    SONDE_ASSIGN(const double number, numberOf(context.value("a")));
    if constexpr (kind == ValueKind::Bool) context.setOutput(Value::ofBool(number != 0));
    else if constexpr (kind == ValueKind::Float) context.setOutput(Value::ofFloat(number));
    else if (context.value("a").isTensor()) context.setOutput(Value::ofInt(context.in("a").toInt64(0)));
    else if (isWhole(context.value("a"))) context.setOutput(Value::ofInt(wholeOf(context.value("a"))));
    else if (std::abs(number) < 0x1p63) context.setOutput(Value::ofInt(static_cast<std::int64_t>(number)));
    else return opError(context.value("a").text() + " is not an integer of 64 bits");
    return {};
}

constexpr std::string_view kSchemas[] = {"add(t a, t b) -> t",     "sub(t a, t b) -> t",      "mul(t a, t b) -> t",
                                         "truediv(t a, t b) -> t", "floordiv(t a, t b) -> t", "truncdiv(t a, t b) -> t",
                                         "mod(t a, t b) -> t",     "pow(t a, t b) -> t",      "gt(t a, t b) -> t",
                                         "lt(t a, t b) -> t",      "ge(t a, t b) -> t",       "le(t a, t b) -> t",
                                         "eq(t a, t b) -> t",      "ne(t a, t b) -> t"};

}  // namespace

void define_prim_operators(Registry& registry) {
    for (std::size_t i = 0; i < std::size(kBinaries); ++i) {
        const Binary& op = kBinaries[i];
        registry.add(primRow(
            kSchemas[i], op.summary, op.category, [&op](KernelContext& context) { return runBinary(context, op); },
            [&op](InferContext& context) { return inferBinary(context, op); }));
    }
    registry.add(primRow("neg(t a) -> t", "-a", Category::Elementwise, negative, inferSame));
    registry.add(primRow("sqrt(t a) -> float", "square root of a number", Category::Elementwise, squareRoot,
                         inferNumber<ValueKind::Float>));
    registry.add(primRow("_assert(t condition, str message) -> ()", "fails unless the condition is true",
                         Category::Control, checkTrue));
    registry.add(primRow("_assert_is_none(t value, str message) -> ()", "fails unless there is no value",
                         Category::Control, checkNone));
    registry.add(
        primRow("RaiseException(str message, t cls=None) -> ()", "fails with the message", Category::Control, raise));
    registry.add(atenRow("_assert_async(Tensor self) -> ()", "fails unless the condition is true", Category::Control,
                         checkTrue));
    registry.add(atenRow("_assert_async.msg(Tensor self, str assert_msg) -> ()", "fails unless the condition is true",
                         Category::Control, checkTrue));
    registry.add(primRow("Int(t a) -> int", "a as an integer", Category::Other, toNumber<ValueKind::Int>,
                         inferNumber<ValueKind::Int>));
    registry.add(primRow("Float(t a) -> float", "a as a floating point number", Category::Other,
                         toNumber<ValueKind::Float>, inferNumber<ValueKind::Float>));
    registry.add(primRow("Bool(t a) -> bool", "whether a is true", Category::Logic, toNumber<ValueKind::Bool>,
                         inferNumber<ValueKind::Bool>));
}

}  // namespace sonde::ops
