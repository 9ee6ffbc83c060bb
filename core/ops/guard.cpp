// Guards of concrete traces, and the condition with two branch functions.

#include <cmath>

#include "core/ops/support/invoke.h"
#include "core/ops/support/prim_row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// As `if value` has it.
base::Result<bool> conditionOf(const Value& value) {
    switch (value.kind()) {
        case ValueKind::None: return false;
        case ValueKind::String: return !value.toString().empty();
        case ValueKind::Dict: return !value.dictItems().empty();
        case ValueKind::Object: return true;
        default: break;
    }
    if (value.isListLike()) return !value.items().empty();
    SONDE_ASSIGN(const double number, numberOf(value));
    return number != 0;
}

std::string text(const tensor::AttributeValue& value, const std::string& kind) {
    if (kind == "bool") return std::get<std::int64_t>(value) ? "true" : "false";
    return tensor::text(value);
}

/// What was asked for of the value, and the same as it stands in the attribute.
base::Result<std::pair<Value, tensor::AttributeValue>> asked(KernelContext& context, const std::string& kind) {
    const Value& value = context.value("value");
    if (kind == "bool") {
        SONDE_ASSIGN(const bool condition, conditionOf(value));
        return std::pair(Value::ofBool(condition), tensor::AttributeValue(std::int64_t{condition}));
    }
    if (kind == "float") {
        SONDE_ASSIGN(const double number, numberOf(value));
        return std::pair(Value::ofFloat(number), tensor::AttributeValue(number));
    }
    std::int64_t number = 0;
    if (kind == "int") {
        SONDE_ASSIGN(auto converted, invoke(context, "prim", "Int", {value}));
        number = converted.front().toInt();
    } else if (kind == "length" || kind == "iteration") {
        SONDE_ASSIGN(auto length, invoke(context, "prim", "len", {value}));
        number = length.front().toInt();
    } else {
        return opError("a guard of kind '" + kind + "' is not supported");
    }
    return std::pair(Value::ofInt(number), tensor::AttributeValue(number));
}

bool agree(const tensor::AttributeValue& a, const tensor::AttributeValue& b) {
    const double* x = std::get_if<double>(&a);
    const double* y = std::get_if<double>(&b);
    if (x && y) return *x == *y || (std::isnan(*x) && std::isnan(*y));
    const auto* m = std::get_if<std::int64_t>(&a);
    const auto* n = std::get_if<std::int64_t>(&b);
    return m && n && *m == *n;
}

base::Result<void> guard(KernelContext& context) {
    const std::string kind = context.attributes().getString("kind", "");
    const tensor::AttributeValue* expected = context.attributes().find("expected");
    const bool isNumber =
        expected && (std::holds_alternative<std::int64_t>(*expected) || std::holds_alternative<double>(*expected));
    if (!isNumber) return opError("a guard expects a number");
    SONDE_ASSIGN(auto came, asked(context, kind));
    if (!agree(*expected, came.second)) {
        // A module below the root is named by its path anyway.
        const bool isRoot = context.attributes().getString("source", "").empty();
        const std::string moduleClass = isRoot ? context.attributes().getString("class", "") : "";
        const std::string traced = context.attributes().getString("traced", "");
        if (!traced.empty()) {
            return opError((moduleClass.empty() ? "" : "in the root module, class " + moduleClass + ", ") + traced +
                           ", got " + text(came.second, kind))
                .withHint("the size is a plain number in the model's code; trace again with an example of this size");
        }
        return opError("the guard does not hold: " +
                       (moduleClass.empty() ? "" : "in the root module, class " + moduleClass + ", ") + "the trace " +
                       context.attributes().getString("sentence", "followed a value") + ", expected " +
                       text(*expected, kind) + " but got " + text(came.second, kind))
            .withHint(
                "this input takes a different path than the example of the trace; trace again with this input as example");
    }
    context.setOutput(std::move(came.first));
    return {};
}

base::Result<void> inferGuard(InferContext& context) {
    const std::string kind = context.attributes().getString("kind", "");
    TypeInfo type;
    type.kind = kind == "bool" ? ValueKind::Bool : kind == "float" ? ValueKind::Float : ValueKind::Int;
    context.set(std::move(type));
    return {};
}

/// Runs the first body if the predicate is true, else the second, each with the operands as inputs. Behind the
/// function's result come the operands that it wrote to.
base::Result<void> condition(KernelContext& context) {
    const Value& predicate = context.value("pred");
    const bool isOne = predicate.isTensor() ? predicate.tensor().numel() == 1 : predicate.isNumber();
    if (!isOne) return opError("the predicate " + predicate.typeText() + " is not one bool");
    if (!context.bodies()) return opError("cond has no branches");
    if (!context.value("operands").isListLike()) return opError("the operands of cond are a list or a tuple");
    SONDE_ASSIGN(const bool holds, conditionOf(predicate));
    SONDE_ASSIGN(auto results, context.bodies()->run(holds ? 0 : 1, context.value("operands").items(), 0));
    if (results.size() != context.outputCount()) {
        return opError("a branch returns " + std::to_string(results.size()) + " values, not " +
                       std::to_string(context.outputCount()));
    }
    for (std::size_t i = 0; i < results.size(); ++i) context.setOutput(i, std::move(results[i]));
    return {};
}

}  // namespace

void define_guard(Registry& registry) {
    registry.add(Row("guard", 1, "fails unless a value is what it was in the trace", Category::Control)
                     .domain("sonde")
                     .strided()
                     .anyIn("value")
                     .out("asked")
                     .required("kind", AttributeKind::String)
                     .required("expected", AttributeKind::Any)
                     .attrString("sentence", "")
                     .attrString("traced", "")
                     .attrString("source", "")
                     .attrString("class", "")
                     .runs(guard, inferGuard));
    registry.add(primRow("cond", "one of two functions of the operands", Category::Control)
                     .anyIn("pred")
                     .anyIn("true_fn")
                     .anyIn("false_fn")
                     .anyIn("operands")
                     .out("outputs", Arity::Variadic)
                     .runs(condition));
}

}  // namespace sonde::ops
