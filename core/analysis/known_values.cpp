#include "core/analysis/known_values.h"

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>

#include "core/operators/moved_elements.h"

namespace sonde::analysis {

using ops::Elements;
using tensor::DType;
using tensor::Shape;
using tensor::Symbolic;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

namespace {

constexpr std::size_t kMaxElements = 256;

bool isSmall(const TypeInfo& type, std::int64_t most) {
    const std::optional<Shape> shape = type.staticShape();
    if (!type.isTensor() || !shape) return false;
    const auto count = shape->checkedNumel();
    return count && *count <= most;
}

/// Runs the kernel; empty if it fails.
std::vector<Value> run(const KnownCall& call, const std::vector<Value>& inputs, ops::RunEnvironment& environment) {
    try {
        auto results = ops::callPrepared(call.op, inputs, call.attributes, call.outputs.size(), environment,
                                         call.version, nullptr, nullptr, nullptr);
        if (results) return std::move(*results);
    } catch (const std::exception&) {
        // What cannot be computed before a run is simply not known.
    }
    return {};
}

bool hasTensor(const Value& value) {
    return value.isTensor() || (value.isListLike() &&
                                (value.items().size() > kMaxElements || std::ranges::any_of(value.items(), hasTensor)));
}

// ---- Operators that move elements ----

std::vector<std::optional<Elements>> movedElements(const KnownCall& call, ops::RunEnvironment& environment) {
    std::vector<std::optional<Elements>> result(call.outputs.size());
    Elements tokens;  // token k stands for element k of this list
    std::vector<Value> inputs(call.types.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!operators::movesElementsOf(call.op.domain, call.op.name, i)) {
            inputs[i] = call.values[i];
            const bool isOmitted = call.types[i].kind == tensor::ValueKind::None;
            if (inputs[i].isNone() && !isOmitted) return result;
            continue;
        }
        const std::optional<Shape> shape = call.types[i].staticShape();
        if (!call.elements[i] || !shape || shape->checkedNumel() != static_cast<std::int64_t>(call.elements[i]->size()))
            return result;
        std::vector<std::int64_t> numbers;
        for (const Symbolic& element : *call.elements[i]) {
            numbers.push_back(static_cast<std::int64_t>(tokens.size()));
            tokens.push_back(element);
        }
        inputs[i] = Value(Tensor::of<std::int64_t>(*shape, numbers));
    }
    const std::vector<Value> outputs = run(call, inputs, environment);
    for (std::size_t o = 0; o < outputs.size() && o < result.size(); ++o) {
        if (!outputs[o].isTensor() || outputs[o].tensor().dtype() != DType::Int64 ||
            outputs[o].tensor().numel() > static_cast<std::int64_t>(kMaxElements))
            continue;
        const auto packed = outputs[o].tensor().contiguous();
        if (!packed) continue;
        Elements elements;
        for (std::int64_t i = 0; i < packed->numel(); ++i) {
            const std::int64_t token = packed->toInt64(i);
            const bool isToken = token >= 0 && token < static_cast<std::int64_t>(tokens.size());
            elements.push_back(isToken ? tokens[static_cast<std::size_t>(token)] : Symbolic());
        }
        result[o] = std::move(elements);
    }
    return result;
}

// ---- Arithmetic ----

Symbolic number(std::int64_t value) { return Symbolic::of(value); }
Symbolic boolean(bool value) { return number(value ? 1 : 0); }

bool isAbove(const Symbolic& a, const Symbolic& b) { return larger(a, b + number(1)) == a; }

/// a < b as far as it is certain.
Symbolic less(const Symbolic& a, const Symbolic& b) {
    if (!a.known() || !b.known()) return {};
    if (isAbove(b, a)) return boolean(true);
    return larger(a, b) == a ? boolean(false) : Symbolic();
}

Symbolic equal(const Symbolic& a, const Symbolic& b) {
    if (!a.known() || !b.known()) return {};
    if (a == b) return boolean(true);
    return isAbove(a, b) || isAbove(b, a) ? boolean(false) : Symbolic();
}

Symbolic negation(const Symbolic& a) { return a.constant() ? boolean(*a.constant() == 0) : Symbolic(); }

using Binary = Symbolic (*)(const Symbolic&, const Symbolic&, bool isFloat);
struct BinaryRow {
    std::string_view name;
    Binary compute;
};
constexpr std::array kBinary{
    BinaryRow{"Add", [](const Symbolic& a, const Symbolic& b, bool) { return a + b; }},
    BinaryRow{"Sub", [](const Symbolic& a, const Symbolic& b, bool) { return a - b; }},
    BinaryRow{"Mul", [](const Symbolic& a, const Symbolic& b, bool) { return a * b; }},
    // Integers are divided towards zero, which is downwards for dimensions.
    BinaryRow{"Div",
              [](const Symbolic& a, const Symbolic& b, bool isFloat) { return isFloat ? a / b : floorDiv(a, b); }},
    BinaryRow{"Mod", [](const Symbolic& a, const Symbolic& b, bool) { return mod(a, b); }},
    BinaryRow{"Min", [](const Symbolic& a, const Symbolic& b, bool) { return smaller(a, b); }},
    BinaryRow{"Max", [](const Symbolic& a, const Symbolic& b, bool) { return larger(a, b); }},
    BinaryRow{"Sum", [](const Symbolic& a, const Symbolic& b, bool) { return a + b; }},
    BinaryRow{"Equal", [](const Symbolic& a, const Symbolic& b, bool) { return equal(a, b); }},
    BinaryRow{"Less", [](const Symbolic& a, const Symbolic& b, bool) { return less(a, b); }},
    BinaryRow{"Greater", [](const Symbolic& a, const Symbolic& b, bool) { return less(b, a); }},
    BinaryRow{"LessOrEqual", [](const Symbolic& a, const Symbolic& b, bool) { return negation(less(b, a)); }},
    BinaryRow{"GreaterOrEqual", [](const Symbolic& a, const Symbolic& b, bool) { return negation(less(a, b)); }},
    BinaryRow{"And", [](const Symbolic& a, const Symbolic& b, bool) { return smaller(a, b); }},
    BinaryRow{"Or", [](const Symbolic& a, const Symbolic& b, bool) { return larger(a, b); }},
};

using Unary = Symbolic (*)(const Symbolic&);
struct UnaryRow {
    std::string_view name;
    Unary compute;
};
constexpr std::array kUnary{
    UnaryRow{"Neg", [](const Symbolic& a) { return -a; }},
    UnaryRow{"Floor", [](const Symbolic& a) { return floor(a); }},
    UnaryRow{"Ceil", [](const Symbolic& a) { return -floor(-a); }},
    UnaryRow{"Abs", [](const Symbolic& a) { return larger(a, number(0)) == a ? a : Symbolic(); }},
    UnaryRow{"Reciprocal", [](const Symbolic& a) { return number(1) / a; }},
    UnaryRow{"Not", negation},
};

Symbolic castTo(const Symbolic& a, DType dtype) {
    if (dtype == DType::Bool) return a.constant() ? boolean(*a.constant() != 0) : Symbolic();
    return tensor::isFloating(dtype) ? a : floor(a);
}

/// Place in an operand of an element of a broadcast result.
std::size_t operandIndex(std::size_t flat, const Shape& result, const Shape& operand) {
    std::size_t index = 0, step = 1;
    for (std::size_t back = 1; back <= result.rank(); ++back) {
        const auto dimSize = static_cast<std::size_t>(result[result.rank() - back]);
        const std::size_t at = flat % dimSize;
        flat /= dimSize;
        if (back > operand.rank()) continue;
        const auto own = static_cast<std::size_t>(operand[operand.rank() - back]);
        if (own != 1) index += at * step;
        step *= own;
    }
    return index;
}

std::optional<Elements> broadcastBinary(const KnownCall& call, Binary compute) {
    const std::optional<Shape> shape = call.outputs[0].staticShape();
    if (!shape || call.types.empty()) return std::nullopt;
    std::optional<Elements> result;
    Shape resultShape;
    const bool isFloat = tensor::isFloating(call.types[0].dtype);
    for (std::size_t k = 0; k < call.types.size(); ++k) {
        const std::optional<Shape> own = call.types[k].staticShape();
        if (!call.elements[k] || !own || own->checkedNumel() != static_cast<std::int64_t>(call.elements[k]->size()))
            return std::nullopt;
        if (!result) {
            result = call.elements[k];
            resultShape = *own;
            continue;
        }
        const auto both = tensor::broadcastShapes(resultShape, *own);
        const auto count = both ? both->checkedNumel() : std::nullopt;
        if (!count || *count > static_cast<std::int64_t>(kMaxElements)) return std::nullopt;
        Elements next;
        for (std::size_t i = 0; i < static_cast<std::size_t>(*count); ++i) {
            next.push_back(compute((*result)[operandIndex(i, *both, resultShape)],
                                   (*call.elements[k])[operandIndex(i, *both, *own)], isFloat));
        }
        result = std::move(next);
        resultShape = *both;
    }
    return resultShape == *shape ? result : std::nullopt;
}

/// Whole reductions of a list: the product of a shape's dimensions.
std::optional<Elements> reduced(const KnownCall& call) {
    const std::string_view name = call.op.name;
    const bool isOne = call.outputs[0].staticShape() && call.outputs[0].staticShape()->checkedNumel() == 1;
    if (!isOne || !call.elements[0] || call.elements[0]->empty()) return std::nullopt;
    const Elements& list = *call.elements[0];
    Symbolic result = list[0];
    for (std::size_t i = 1; i < list.size(); ++i) {
        if (name == "ReduceProd") result = result * list[i];
        else if (name == "ReduceSum") result = result + list[i];
        else if (name == "ReduceMax") result = larger(result, list[i]);
        else if (name == "ReduceMin") result = smaller(result, list[i]);
        else return std::nullopt;
    }
    return Elements{result};
}

std::optional<Elements> rangeElements(const KnownCall& call) {
    const std::optional<Shape> shape = call.outputs[0].staticShape();
    if (!shape || call.elements.size() < 3 || !call.elements[0] || !call.elements[2]) return std::nullopt;
    Elements result;
    for (std::int64_t i = 0; i < shape->numel(); ++i)
        result.push_back(call.elements[0]->front() + number(i) * call.elements[2]->front());
    return result;
}

std::optional<Elements> clipped(const KnownCall& call) {
    if (!call.elements[0] || call.types.size() < 2) return std::nullopt;
    Elements result = *call.elements[0];
    for (std::size_t i = 1; i < call.types.size() && i < 3; ++i) {
        if (call.types[i].kind == tensor::ValueKind::None) continue;
        if (!call.elements[i] || call.elements[i]->size() != 1) return std::nullopt;
        for (Symbolic& element : result)
            element = i == 1 ? larger(element, call.elements[i]->front()) : smaller(element, call.elements[i]->front());
    }
    return result;
}

std::optional<Elements> computedElements(const KnownCall& call) {
    const std::string_view name = call.op.name;
    if (call.elements.empty()) return std::nullopt;
    if (const auto row = std::ranges::find(kBinary, name, &BinaryRow::name); row != kBinary.end())
        return broadcastBinary(call, row->compute);
    if (name.starts_with("Reduce")) return reduced(call);
    if (name == "Range") return rangeElements(call);
    if (name == "Clip") return clipped(call);
    if (!call.elements[0]) return std::nullopt;
    Elements result = *call.elements[0];
    if (name == "Cast" || name == "CastLike") {
        for (Symbolic& element : result) element = castTo(element, call.outputs[0].dtype);
        return result;
    }
    const auto row = std::ranges::find(kUnary, name, &UnaryRow::name);
    if (row == kUnary.end()) return std::nullopt;
    for (Symbolic& element : result) element = row->compute(element);
    return result;
}

}  // namespace

std::vector<Value> foldedValues(const KnownCall& call, ops::RunEnvironment& environment) {
    if (!call.op.kernel || call.op.random || call.outputs.empty()) return {};
    for (const TypeInfo& output : call.outputs) {
        if (!isSmall(output, kMaxFollowed)) return {};
    }
    for (std::size_t i = 0; i < call.types.size(); ++i) {
        const bool isOmitted = call.types[i].kind == tensor::ValueKind::None;
        if (call.values[i].isNone() && !isOmitted) return {};
    }
    return run(call, {call.values.begin(), call.values.end()}, environment);
}

std::vector<Value> foldedPlainValues(const KnownCall& call, ops::RunEnvironment& environment) {
    if (!call.op.kernel || call.op.random || call.outputs.empty()) return {};
    for (std::size_t i = 0; i < call.types.size(); ++i) {
        const bool isNone = call.types[i].kind == tensor::ValueKind::None;
        if ((call.values[i].isNone() && !isNone) || hasTensor(call.values[i])) return {};
    }
    std::vector<Value> results = run(call, {call.values.begin(), call.values.end()}, environment);
    return std::ranges::any_of(results, hasTensor) ? std::vector<Value>() : results;
}

std::vector<std::optional<Elements>> symbolicElements(const KnownCall& call, ops::RunEnvironment& environment) {
    std::vector<std::optional<Elements>> result(call.outputs.size());
    if (call.outputs.empty() ||
        !std::ranges::any_of(call.elements, [](const auto& elements) { return elements.has_value(); }))
        return result;
    for (const TypeInfo& output : call.outputs) {
        // An output of unknown length may still turn out short: movers say so themselves.
        if (output.staticShape() && !isSmall(output, kMaxElements)) return result;
    }
    if (operators::onlyMovesElements(call.op.domain, call.op.name)) return movedElements(call, environment);
    if (!isSmall(call.outputs[0], kMaxElements)) return result;
    result[0] = computedElements(call);
    if (result[0] && static_cast<std::int64_t>(result[0]->size()) != call.outputs[0].staticShape()->numel())
        result[0].reset();
    return result;
}

Value valueOf(const Elements& elements, const TypeInfo& type) {
    const std::optional<Shape> shape = type.staticShape();
    if (!type.isTensor() || !shape || shape->checkedNumel() != static_cast<std::int64_t>(elements.size())) return {};
    if (!tensor::isInteger(type.dtype) && type.dtype != DType::Bool && !tensor::isFloating(type.dtype)) return {};
    std::vector<std::int64_t> numbers;
    for (const Symbolic& element : elements) {
        const auto one = element.constant();
        if (!one) return {};
        numbers.push_back(*one);
    }
    const auto converted = Tensor::of<std::int64_t>(*shape, numbers).cast(type.dtype);
    return converted ? Value(*converted) : Value();
}

}  // namespace sonde::analysis
