#include "core/io/inputs/agreement.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/tensor/exact_cast.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using tensor::Dim;
using tensor::DType;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;
using tensor::ValueKind;

/// Which sizes the symbols have so far, and in which input.
struct Sizes {
    struct Size {
        std::int64_t value;
        std::string input;
        std::size_t axis;
    };
    std::map<std::string, Size, std::less<>> ofSymbol;
};

std::string deviation(const InputInfo& input, const TypeInfo& given, Sizes& sizes) {
    const std::vector<Dim>& declared = *input.required->shape;
    const char* const source = input.isRequiredByLayers ? " required by its layers, " : " declared, ";
    std::string text;
    for (std::size_t axis = 0; axis < declared.size(); ++axis) {
        const Dim &dim = declared[axis], &actual = (*given.shape)[axis];
        if (!actual.known()) continue;
        const std::string place = (text.empty() ? "dimension " : "; dimension ") + std::to_string(axis) + ": ";
        if (dim.known() && dim.value != actual.value)
            text += place + std::to_string(dim.value) + source + std::to_string(actual.value) + " given";
        if (!isSymbol(dim)) continue;
        const auto [known, isNew] = sizes.ofSymbol.try_emplace(dim.symbol, Sizes::Size{actual.value, input.name, axis});
        if (isNew || known->second.value == actual.value) continue;
        const std::string other = known->second.input == input.name ? "dimension " + std::to_string(known->second.axis)
                                                                    : "input '" + known->second.input + "'";
        text += place + dim.symbol + " is " + std::to_string(known->second.value) + " in " + other + ", " +
                std::to_string(actual.value) + " given";
    }
    return text;
}

std::optional<base::Error> contradiction(const InputInfo& input, const TypeInfo& given, Sizes& sizes) {
    if (!input.required || !input.required->shape || !given.isTensor() || !given.shape) return std::nullopt;
    const std::size_t rank = input.required->shape->size();
    if (rank != given.shape->size()) {
        if (input.isGuide) return std::nullopt;
        return unexpectedValue(
            input, given.text(),
            "rank: " + std::to_string(rank) + " declared, " + std::to_string(given.shape->size()) + " given");
    }
    const std::string detail = deviation(input, given, sizes);
    return detail.empty() ? std::nullopt : std::optional(unexpectedValue(input, given.text(), detail));
}

/// A different number of dimensions is an error; a different dim size is the model's own affair (input-data.md,
/// "Grammar").
std::optional<base::Error> wrongRank(const InputInfo& input, const TypeInfo& given) {
    if (!input.type.shape || input.isGuide || given.shape->size() == input.type.shape->size()) return std::nullopt;
    return usageError("input/data shapes mismatch: the data is " + given.text() + ", the input " + input.type.text(),
                      "input '" + input.name + "'");
}

/// As with literals: a number is [1], which is how dumps store scalar inputs.
bool isRecordedOne(const InputInfo& input) {
    return input.isRequiredByLayers && input.type.shape == std::vector{Dim::of(1)};
}

bool canChange(DType from, DType to) {
    const bool isNarrowFloat = tensor::isFloating(to) && tensor::itemSize(to) < tensor::itemSize(DType::Float32);
    const bool isWideInteger = tensor::isInteger(from) && tensor::itemSize(from) >= tensor::itemSize(to);
    if (tensor::isFloating(to))
        return isNarrowFloat || isWideInteger || (from == DType::Float64 && to != DType::Float64);
    return true;
}

Result<Tensor> converted(const Tensor& tensor, DType dtype, const InputInfo& input, const std::string& where) {
    if (dtype == DType::Undefined || tensor.dtype() == dtype) return tensor;
    if (tensor.dtype() == DType::String || dtype == DType::String ||
        (tensor::isComplex(tensor.dtype()) && !tensor::isComplex(dtype))) {
        return unexpectedValue(input, tensor.typeText(), {}).at(where);
    }
    SONDE_ASSIGN(Tensor result, tensor.cast(dtype));
    if (!input.required || tensor::isComplex(dtype) || !canChange(tensor.dtype(), dtype)) return result;
    if (const auto lost = tensor::firstLost(tensor, result)) {
        return unexpectedValue(input, tensor.typeText(),
                               "element " + std::to_string(lost->index) + " is " + tensor.elementText(lost->index) +
                                   ", " + tensor::lossText(lost->loss, dtype))
            .at(where);
    }
    return result;
}

/// One element as what a forward takes that is no tensor.
Result<Value> plainValue(const Tensor& element, ValueKind kind, const InputInfo& input, const std::string& where) {
    if (kind == ValueKind::String && element.dtype() == DType::String)
        return Value(std::string(element.strings().front()));
    if (kind == ValueKind::String || element.dtype() == DType::String)
        return unexpectedValue(input, element.typeText(), {}).at(where);
    const DType dtype = kind == ValueKind::Int ? DType::Int64 : kind == ValueKind::Bool ? DType::Bool : DType::Float64;
    SONDE_ASSIGN(const Tensor exact, converted(element, dtype, input, where));
    if (kind == ValueKind::Int) return Value::ofInt(exact.toInt64(0));
    if (kind == ValueKind::Bool) return Value::ofBool(exact.toInt64(0) != 0);
    return Value::ofFloat(exact.toDouble(0));
}

bool isPlainKind(ValueKind kind) {
    return kind == ValueKind::Int || kind == ValueKind::Float || kind == ValueKind::Bool || kind == ValueKind::String;
}

/// int, float, bool, str, and lists and tuples of one of them.
Result<Value> fittedPlain(const Tensor& given, const InputInfo& input, const std::string& where) {
    const ValueKind kind = *input.type.kind;
    const auto wrong = [&] { return unexpectedValue(input, given.typeText(), {}).at(where); };
    SONDE_ASSIGN(const Tensor tensor, given.contiguous());
    if (isPlainKind(kind)) {
        if (tensor.numel() != 1 || tensor.rank() > 1) return wrong();
        return plainValue(tensor, kind, input, where);
    }
    const std::vector<TypeInfo>& elements = input.type.elements;
    const bool isTuple = kind == ValueKind::Tuple;
    if ((kind != ValueKind::List && !isTuple) || tensor.rank() != 1 || elements.empty()) return wrong();
    if (isTuple && elements.size() != static_cast<std::size_t>(tensor.numel())) return wrong();
    tensor::ValueList items;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        const std::optional<ValueKind> element = elements[isTuple ? static_cast<std::size_t>(i) : 0].kind;
        if (!element || !isPlainKind(*element)) return wrong();
        SONDE_ASSIGN(const Tensor one, tensor.selected(0, i).clone());
        SONDE_ASSIGN(Value item, plainValue(one, *element, input, where));
        items.push_back(std::move(item));
    }
    return isTuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
}

}  // namespace

bool isSymbol(const Dim& dim) {
    constexpr std::array<std::string_view, 5> kNameless{"None", "none", "unk", "unknown", "dynamic"};
    if (dim.known() || std::ranges::find(kNameless, dim.symbol) != kNameless.end()) return false;
    return std::ranges::any_of(dim.symbol, [](unsigned char c) { return std::isalpha(c) || c >= 0x80; });
}

base::Error unexpectedValue(const InputInfo& input, const std::string& given, const std::string& detail) {
    const TypeInfo& expected = input.required ? *input.required : input.type;
    return usageError("input '" + input.name + "' expects " + expected.text() + ", got " + given +
                      (detail.empty() ? "" : " (" + detail + ")"));
}

std::optional<base::Error> contradiction(const InputInfo& input, const TypeInfo& given) {
    Sizes sizes;
    return contradiction(input, given, sizes);
}

std::vector<Contradiction> contradictions(const std::vector<InputInfo>& inputs, std::span<const Value> values) {
    std::vector<Contradiction> found;
    Sizes sizes;
    for (std::size_t i = 0; i < inputs.size() && i < values.size(); ++i) {
        if (!values[i].isTensor()) continue;
        if (auto error = contradiction(inputs[i], TypeInfo::of(values[i]), sizes))
            found.push_back({i, std::move(*error)});
    }
    return found;
}

std::optional<base::Error> misfit(const InputInfo& input, const TypeInfo& given) {
    if ((input.type.kind && !input.type.isTensor()) || !given.shape) return std::nullopt;
    if (given.shape->empty() && isRecordedOne(input)) return std::nullopt;
    return input.required ? contradiction(input, given) : wrongRank(input, given);
}

Result<Value> fitted(Tensor tensor, const InputInfo& input, const std::string& where) {
    if (input.type.kind && !input.type.isTensor()) return fittedPlain(tensor, input, where);
    if (tensor.rank() == 0 && isRecordedOne(input)) tensor = tensor.unsqueezed(0);
    if (auto error = misfit(input, TypeInfo::tensor(tensor.dtype(), tensor.shape())))
        return input.required ? error->at(where) : std::move(*error);
    SONDE_ASSIGN(tensor, converted(tensor, input.type.dtype, input, where));
    return Value(std::move(tensor));
}

bool isSameClass(DType given, DType expected) {
    if (expected == DType::Undefined || given == expected) return true;
    return (tensor::isFloating(given) && tensor::isFloating(expected)) ||
           (tensor::isInteger(given) && tensor::isInteger(expected)) ||
           (tensor::isComplex(given) && tensor::isComplex(expected));
}

void agreeOnSymbols(std::vector<InputInfo>& inputs, std::span<const Value> values) {
    std::map<std::string, std::int64_t, std::less<>> given, usual;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].type.shape) continue;
        const std::vector<Dim>& dims = *inputs[i].type.shape;
        const bool isGiven = i < values.size() && values[i].isTensor() && values[i].tensor().rank() == dims.size();
        const tensor::Shape shape = isGiven ? values[i].tensor().shape() : usualShape(inputs[i].type, inputs[i].usual);
        for (std::size_t axis = 0; axis < dims.size(); ++axis) {
            if (!isSymbol(dims[axis])) continue;
            std::int64_t& size = (isGiven ? given : usual)[dims[axis].symbol];
            size = std::max(size, shape[axis]);
        }
    }
    for (const auto& [symbol, size] : given) usual[symbol] = size;
    for (InputInfo& input : inputs) {
        if (!input.type.shape || std::ranges::none_of(*input.type.shape, isSymbol)) continue;
        const tensor::Shape shape = usualShape(input.type, input.usual);
        input.usual.resize(shape.rank());
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            const Dim& dim = (*input.type.shape)[axis];
            input.usual[axis].likely = isSymbol(dim) ? usual[dim.symbol] : shape[axis];
        }
    }
}

}  // namespace sonde::io
