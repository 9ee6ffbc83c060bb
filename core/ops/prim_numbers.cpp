// Functions of Python's module math on numbers that only a run knows: a dimension, an item, what was computed of them.

#include <cmath>

#include "core/ops/support/invoke.h"
#include "core/ops/support/prim_row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

struct Function {
    std::string_view schema, summary;
    std::string_view aten;  ///< what a tensor is given to, should the number be one
    double (*compute)(double);
    enum class Result : std::uint8_t { Float, Whole, Same, Bool } result = Result::Float;
};
using Result = Function::Result;

constexpr Function kFunctions[] = {
    {"Floor(t a) -> t", "the largest integer that is not above a", "floor", [](double x) { return std::floor(x); },
     Result::Whole},
    {"Ceil(t a) -> t", "the smallest integer that is not below a", "ceil", [](double x) { return std::ceil(x); },
     Result::Whole},
    {"Round(t a) -> t", "the nearest integer; halves round to even", "round",
     [](double x) { return std::nearbyint(x); }},
    {"Abs(t a) -> t", "a without its sign", "abs", [](double x) { return std::fabs(x); }, Result::Same},
    {"Exp(t a) -> t", "e^a", "exp", [](double x) { return std::exp(x); }},
    {"Log(t a) -> t", "natural logarithm", "log", [](double x) { return std::log(x); }},
    {"Sin(t a) -> t", "sine", "sin", [](double x) { return std::sin(x); }},
    {"Cos(t a) -> t", "cosine", "cos", [](double x) { return std::cos(x); }},
    {"Tanh(t a) -> t", "hyperbolic tangent", "tanh", [](double x) { return std::tanh(x); }},
    {"IsNaN(t a) -> t", "whether a is NaN", "isnan", [](double x) { return std::isnan(x) ? 1.0 : 0.0; }, Result::Bool},
    {"IsInf(t a) -> t", "whether a is infinite", "isinf", [](double x) { return std::isinf(x) ? 1.0 : 0.0; },
     Result::Bool},
};

base::Result<Value> computed(const Function& function, const Value& a) {
    const bool isWhole = a.kind() == ValueKind::Int || a.kind() == ValueKind::Bool;
    if (isWhole && (function.result == Result::Whole || function.result == Result::Same)) {
        const std::int64_t number = a.kind() == ValueKind::Bool ? a.toBool() : a.toInt();
        const bool turns = function.result == Result::Same && number < 0;
        return Value::ofInt(turns ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(number)) : number);
    }
    const double y = function.compute(a.number());
    switch (function.result) {
        case Result::Bool: return Value::ofBool(y != 0);
        case Result::Whole:
            if (!(std::abs(y) < 0x1p63)) return opError(a.text() + " is not an integer of 64 bits");
            return Value::ofInt(static_cast<std::int64_t>(y));
        case Result::Float:
        case Result::Same: break;
    }
    return Value::ofFloat(y);
}

base::Result<void> run(KernelContext& context, const Function& function) {
    const Value& a = context.value("a");
    if (a.isTensor()) {
        SONDE_ASSIGN(Tensor result, invokeAten(context, std::string(function.aten), {a}));
        context.setOutput(Value(std::move(result)));
        return {};
    }
    if (!a.isNumber()) return opError("expected a number, but found " + a.typeText());
    SONDE_ASSIGN(Value result, computed(function, a));
    context.setOutput(std::move(result));
    return {};
}

base::Result<void> infer(InferContext& context, const Function& function) {
    const Value& a = context.constant("a");
    if (a.isNumber()) {
        if (const auto known = computed(function, a)) {
            context.setKnown(*known);
            context.set(TypeInfo::of(*known));
        }
        return {};
    }
    const TypeInfo& type = context.in("a");
    if (type.isTensor()) {
        if (function.result != Result::Bool) return inferSame(context);
        context.set(TypeInfo::tensor(DType::Bool, type.shape));
        return {};
    }
    if (!type.kind) return {};
    TypeInfo result;
    switch (function.result) {
        case Result::Float: result.kind = ValueKind::Float; break;
        case Result::Whole: result.kind = ValueKind::Int; break;
        case Result::Bool: result.kind = ValueKind::Bool; break;
        case Result::Same: result.kind = type.kind == ValueKind::Float ? ValueKind::Float : ValueKind::Int; break;
    }
    context.set(std::move(result));
    return {};
}

}  // namespace

void define_prim_numbers(Registry& registry) {
    for (const Function& function : kFunctions) {
        const Category category = function.result == Result::Bool ? Category::Logic : Category::Elementwise;
        registry.add(primRow(
            function.schema, function.summary, category,
            [&function](KernelContext& context) { return run(context, function); },
            [&function](InferContext& context) { return infer(context, function); }));
    }
}

}  // namespace sonde::ops
