// Operators whose result's elements depend on the operands' elements of their own index.

#include <algorithm>
#include <array>
#include <cmath>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

constexpr std::array<std::string_view, 6> kLetters{"x", "y", "z", "u", "v", "w"};

bool isWordCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether a name is in a formula as a word.
bool mentions(std::string_view formula, std::string_view name) {
    for (std::size_t at = formula.find(name); at != std::string_view::npos; at = formula.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if ((at == 0 || !isWordCharacter(formula[at - 1])) && (end == formula.size() || !isWordCharacter(formula[end])))
            return true;
    }
    return false;
}

std::string_view formulaFor(const ElementCall& call) {
    const std::size_t colon = call.text.find(" : ");
    if (colon == std::string_view::npos) return call.text;
    return tensor::isInteger(call.result.dtype()) ? call.text.substr(colon + 3) : call.text.substr(0, colon);
}

void addNumbers(Dependence& dependence, const ElementCall& call) {
    for (std::size_t i = 0; i < call.context.inputCount() && i < call.op.inputs.size(); ++i) {
        const Value& value = call.context.value(i);
        if (value.isNumber() || value.isNone()) dependence.numbers.emplace_back(call.op.inputs[i].name, value);
    }
    for (const auto& [name, value] : call.context.attributes().items()) {
        if (const auto* whole = std::get_if<std::int64_t>(&value))
            dependence.numbers.emplace_back(name, Value::ofInt(*whole));
        if (const auto* number = std::get_if<double>(&value)) dependence.number(name, *number);
    }
}

/// The element of an operand that goes with the result's. Before opset 7 the second one could be broadcast from an axis
/// on.
std::int64_t operandElement(const ElementCall& call, std::size_t operand) {
    const Shape& shape = call.context.in(operand).shape();
    const Attributes& attributes = call.context.attributes();
    const std::int64_t axis = attributes.getInt("axis", -1);
    const bool isFromAxis = operand == kRight && call.op.domain.empty() && attributes.getInt("broadcast", 0) != 0;
    if (!isFromAxis || axis < 0 ||
        axis + static_cast<std::int64_t>(shape.rank()) > static_cast<std::int64_t>(call.at.size()))
        return broadcastElement(call.at, shape);
    const auto first = call.at.begin() + axis;
    return broadcastElement({first, first + static_cast<std::ptrdiff_t>(shape.rank())}, shape);
}

/// The kernel on the elements alone.
base::Result<double> computedAgain(const ElementCall& call, const std::vector<std::int64_t>& elements) {
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < call.context.inputCount(); ++i) {
        const Value& value = call.context.value(i);
        if (!value.isTensor() || elements[i] < 0) {
            inputs.push_back(value);
            continue;
        }
        SONDE_ASSIGN(const Tensor flat, value.tensor().reshaped(Shape{value.tensor().numel()}));
        SONDE_ASSIGN(Tensor one, flat.sliced(0, elements[i], 1).contiguous());
        inputs.emplace_back(std::move(one));
    }
    SONDE_ASSIGN(const std::vector<Value> results,
                 ops::call(call.op, inputs, call.context.attributes(), call.output + 1, call.context.environment(),
                           call.context.version()));
    const Value& result = results[call.output];
    if (result.isNumber()) return result.number();
    if (!result.isTensor() || result.tensor().numel() != 1) return opError("the operator gave no single element");
    return result.tensor().toDouble(0);
}

}  // namespace

/// A text behind "= " says in the terms of expressions what the kernel gives: bits of integers, for instance, which are
/// no numbers that a formula is computed with here.
base::Result<Dependence> elementWise(const ElementCall& call) {
    Dependence dependence;
    constexpr std::string_view kByKernel = "= ";
    dependence.formula = formulaFor(call);
    const bool isNamed = dependence.formula.empty(), isByKernel = isNamed || dependence.formula.starts_with(kByKernel);
    if (isByKernel && !isNamed) dependence.formula.erase(0, kByKernel.size());
    std::vector<std::int64_t> elements(call.context.inputCount(), -1);
    std::string arguments;
    for (std::size_t i = 0; i < call.context.inputCount() && i < kLetters.size(); ++i) {
        const Value& value = call.context.value(i);
        if (!value.isTensor() && !value.isNumber()) {
            if (value.isNone()) dependence.numbers.emplace_back(kLetters[i], Value());
            continue;
        }
        if (!isNamed && !mentions(dependence.formula, kLetters[i])) continue;
        // Numbers of Python are values of nodes; arguments of other operators are not.
        if (isNamed && !value.isTensor() && call.op.domain != "prim") continue;
        std::int64_t element = 0;
        if (value.isTensor()) {
            const DType dtype = value.tensor().dtype();
            if (dtype == DType::String || tensor::isComplex(dtype))
                return opError("elements of " + value.typeText() + " are no numbers");
            element = elements[i] = operandElement(call, i);
            if (element < 0 || element >= value.tensor().numel())
                return opError(value.typeText() + " is not broadcast to " + call.result.typeText());
        }
        addElement(dependence, dependence.part(kLetters[i]), call, i, element);
        arguments += (arguments.empty() ? "" : ", ") + std::string(kLetters[i]);
    }
    addNumbers(dependence, call);
    if (!isByKernel) return dependence;
    if (isNamed)
        dependence.formula = std::string(call.op.name.substr(0, call.op.name.find('.'))) + "(" + arguments + ")";
    SONDE_ASSIGN(dependence.byKernel, computedAgain(call, elements));
    return dependence;
}

base::Result<Dependence> elementWiseAs(const ElementCall& call, std::string_view formula) {
    ElementCall other = call;
    other.text = formula;
    return elementWise(other);
}

std::string geluFormula(const std::string& x, bool isByTanh) {
    if (!isByTanh) return "0.5 * " + x + " * (1 + erf(" + x + " / sqrt(2)))";
    return "0.5 * " + x + " * (1 + tanh(0.7978845608028654 * (" + x + " + 0.044715 * " + x + " ** 3)))";
}

base::Result<Dependence> gelu(const ElementCall& call) {
    std::string kind = call.context.attributes().getString("approximate", std::string(call.text));
    if (const Value* given = argumentOf(call, "approximate")) kind = given->toString();
    const bool isBiased =
        call.context.inputCount() > 1 && call.context.has(kRight) && call.context.value(kRight).isTensor();
    return elementWiseAs(call, geluFormula(isBiased ? "(x + y)" : "x", kind == "tanh"));
}

base::Result<Dependence> remainder(const ElementCall& call) {
    const bool isOfDividend = call.text == "fmod" || call.context.attributes().getInt("fmod", 0) != 0;
    return elementWiseAs(call, isOfDividend ? "sign(x) * (abs(x) % abs(y))" : "x % y");
}

base::Result<Dependence> roundedQuotient(const ElementCall& call) {
    const Value* const mode = argumentOf(call, "rounding_mode");
    if (!mode) return elementWiseAs(call, "x / y");
    return elementWiseAs(call, mode->toString() == "floor" ? "x // y" : "trunc(x / y)");
}

base::Result<Dependence> converted(const ElementCall& call) {
    const DType dtype = call.result.dtype();
    if (dtype == DType::Bool) return elementWiseAs(call, "x != 0");
    const std::string as = "= astype(x, '" + std::string(tensor::name(dtype)) + "')";
    if (!tensor::isInteger(dtype)) return elementWiseAs(call, tensor::itemSize(dtype) > 1 ? "x" : as);
    SONDE_ASSIGN(Dependence dependence, elementWiseAs(call, "trunc(x)"));
    const bool isHeld = std::trunc(dependence.terms.front().value) == call.result.toDouble(call.element);
    return isHeld ? base::Result<Dependence>(std::move(dependence)) : elementWiseAs(call, as);  // it wraps
}

base::Result<Dependence> dropped(const ElementCall& call) {
    SONDE_ASSIGN(Dependence dependence, elementWiseAs(call, "x"));
    const double x = dependence.terms.front().value, result = call.result.toDouble(call.element);
    if (x == 0 || x == result || std::isnan(x)) return dependence;
    dependence.formula = "w * x";
    dependence.parts.front().weights = "w";
    dependence.terms.front().weight = result / x;
    return dependence;
}

base::Result<Dependence> sloped(const ElementCall& call) {
    const Tensor& slopes = call.context.in(kRight);
    const std::int64_t element = slopes.numel() == 1 ? 0 : call.at.size() > 1 ? call.at[1] : 0;
    if (element >= slopes.numel()) return opError("the slopes do not match the channels");
    Dependence dependence;
    dependence.formula = "where(x < 0, slope * x, x)";
    addElement(dependence, dependence.part("x"), call, kLeft, call.element);
    addElement(dependence, dependence.part("slope"), call, kRight, element);
    return dependence;
}

base::Result<Dependence> clipped(const ElementCall& call) {
    const bool byAttributes = call.context.attributes().has("min") || call.context.attributes().has("max");
    SONDE_ASSIGN(Dependence dependence, elementWiseAs(call, byAttributes ? "clip(x, min, max)" : "clip(x, y, z)"));
    for (const std::string_view name : {"y", "z", "min", "max"}) {  // what is left out is no bound
        const bool isThere =
            std::ranges::any_of(dependence.parts, [&](const DependencePart& part) { return part.name == name; }) ||
            std::ranges::any_of(dependence.numbers, [&](const auto& number) { return number.first == name; });
        if (!isThere) dependence.numbers.emplace_back(name, Value());
    }
    return dependence;
}

base::Result<Dependence> fixed(const ElementCall& call) { return constantElement(call.result.toDouble(call.element)); }

base::Result<Dependence> elementWiseOfAll(const ElementCall& call) {
    Dependence dependence;
    dependence.formula = formulaFor(call);
    const std::uint32_t part = dependence.listPart("x");
    for (std::size_t i = 0; i < call.context.inputCount(); ++i) {
        if (!call.context.value(i).isTensor()) continue;
        const std::int64_t element = broadcastElement(call.at, call.context.in(i).shape());
        if (element < 0)
            return opError(call.context.in(i).typeText() + " is not broadcast to " + call.result.typeText());
        addElement(dependence, part, call, i, element);
    }
    return dependence;
}

}  // namespace sonde::ops::dependence
