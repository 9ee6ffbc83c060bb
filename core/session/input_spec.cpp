#include "core/session/input_spec.h"

#include <algorithm>
#include <cstdint>

#include "core/base/number_text.h"
#include "core/io/inputs/inputs.h"

namespace sonde::session {

using tensor::DType;
using tensor::TypeInfo;
using tensor::ValueKind;

namespace {

constexpr std::int64_t kMaxFirstList = 16;

bool hasOneElement(const TypeInfo& type) {
    return type.isTensor() && type.shape &&
           std::ranges::all_of(*type.shape, [](const tensor::Dim& dim) { return dim.value == 1; });
}

/// "[one,one,one]"
std::string listOf(const std::string& one, std::size_t count) {
    std::string text = "[";
    for (std::size_t i = 0; i < count; ++i) text += (i ? "," : "") + one;
    return text + "]";
}

/// What each element of an input is at first.
std::string defaultElement(const TypeInfo& type) {
    if (type.dtype == DType::String) return "''";
    if (type.kind == ValueKind::Bool || type.dtype == DType::Bool) return "false";
    return type.kind == ValueKind::Float || tensor::isFloating(type.dtype) ? "0.5" : "0";
}

}  // namespace

bool Input::hasChangedFile() const {
    return std::ranges::any_of(files, [](const auto& file) { return file->hasChanged(); });
}

const InputSpec* Input::chosen() const {
    const InputSpec& own = before ? *before : spec;
    return own.source.empty() || (isDefault && !before) ? nullptr : &own;
}

bool InputSpec::isFile() const {
    if (source.empty()) return false;
    const io::ItemKind kind = io::kindOfItem(source);
    return kind == io::ItemKind::File || kind == io::ItemKind::Archive;
}

bool InputSpec::isArchive() const { return !source.empty() && io::kindOfItem(source) == io::ItemKind::Archive; }

bool InputSpec::isNumbers() const { return !source.empty() && io::kindOfItem(source) == io::ItemKind::Literal; }

NumberField numberFieldOf(const TypeInfo& type) {
    if (type.kind == ValueKind::Bool || (type.dtype == DType::Bool && hasOneElement(type))) return NumberField::Flag;
    if (type.kind == ValueKind::Int || type.kind == ValueKind::Float) return NumberField::Number;
    const bool isReal = tensor::isInteger(type.dtype) || tensor::isFloating(type.dtype);
    return isReal && hasOneElement(type) ? NumberField::Number : NumberField::List;
}

bool isGivenAsNumbers(const TypeInfo& type) {
    if (type.kind && !type.isTensor()) return true;
    if (numberFieldOf(type) != NumberField::List) return !type.shape || type.shape->size() <= 1;
    const bool isSmall = type.shape && type.shape->size() == 1 && type.shape->front().known() &&
                         type.shape->front().value <= kMaxFirstList;
    return isSmall && (tensor::isInteger(type.dtype) || type.dtype == DType::Bool);
}

std::string defaultNumbers(const TypeInfo& type) {
    if (type.kind == ValueKind::String) return "''";
    const std::string one = defaultElement(type);
    if (numberFieldOf(type) != NumberField::List) return one;
    if (type.kind && !type.isTensor()) return listOf("0", type.kind == ValueKind::Tuple ? type.elements.size() : 1);
    const auto shape = io::usualShape(type);
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= std::clamp<std::int64_t>(size, 0, kMaxFirstList + 1);
    if (count > kMaxFirstList || count == 0) return listOf(one, 1);
    std::string text = one;
    for (std::size_t axis = shape.rank(); axis-- > 0;) text = listOf(text, static_cast<std::size_t>(shape[axis]));
    return text;
}

/// From 0 to 0 they are zeros and are called so: "#zeros(1,3,224,224)".
std::string randomSource(const TypeInfo& type, double low, double high) {
    const bool isZeros = low == 0 && high == 0;
    std::string sizes;
    if (type.shape)
        for (const std::int64_t size : io::usualShape(type)) sizes += "," + std::to_string(size);
    if (isZeros) return sizes.empty() ? "#zeros" : "#zeros(" + sizes.substr(1) + ")";
    return "#rand(" + base::roundedText(low, 6) + "," + base::roundedText(high, 6) + sizes + ")";
}

InputSpec defaultSpec(const TypeInfo& type) {
    if (isGivenAsNumbers(type)) return {defaultNumbers(type), {}};
    // Integers are mostly indices: zero is always one.
    const bool isReal = tensor::isFloating(type.dtype) || type.dtype == DType::Undefined;
    return {randomSource(type, 0, isReal ? 1 : 0), {}};
}

}  // namespace sonde::session
