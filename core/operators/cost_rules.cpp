#include "core/operators/cost_rules.h"

#include <algorithm>

namespace sonde::operators {

using tensor::TypeInfo;
using tensor::Value;

const TypeInfo& CallReader::input(std::size_t index) const {
    static const TypeInfo absent;
    return index < m_call.inputs.size() ? m_call.inputs[index] : absent;
}

const TypeInfo& CallReader::output(std::size_t index) const {
    static const TypeInfo absent;
    return index < m_call.outputs.size() ? m_call.outputs[index] : absent;
}

std::size_t CallReader::tensorCount() const {
    return static_cast<std::size_t>(std::ranges::count_if(m_call.inputs, &TypeInfo::isTensor));
}

Symbolic CallReader::elements(const TypeInfo& type) const {
    return type.isTensor() && type.shape ? tensor::product(*type.shape) : Symbolic();
}

Symbolic CallReader::dim(const TypeInfo& type, std::int64_t axis) const {
    if (!type.shape) return {};
    const auto rank = static_cast<std::int64_t>(type.shape->size());
    if (axis < 0) axis += rank;
    return axis >= 0 && axis < rank ? Symbolic::of((*type.shape)[static_cast<std::size_t>(axis)]) : Symbolic();
}

std::int64_t CallReader::attribute(std::string_view name, std::int64_t otherwise) const {
    return m_call.attributes ? m_call.attributes->getInt(name, otherwise) : otherwise;
}

std::vector<std::int64_t> CallReader::attributeInts(std::string_view name) const {
    return m_call.attributes ? m_call.attributes->getInts(name) : std::vector<std::int64_t>();
}

std::string CallReader::attributeText(std::string_view name, std::string_view otherwise) const {
    return m_call.attributes ? m_call.attributes->getString(name, otherwise) : std::string(otherwise);
}

const Value& CallReader::constant(std::size_t index) const {
    static const Value none;
    return index < m_call.constants.size() ? m_call.constants[index] : none;
}

std::optional<std::int64_t> CallReader::integer(std::size_t index) const {
    const Value& value = constant(index);
    return value.isNumber() ? std::optional(static_cast<std::int64_t>(value.number())) : std::nullopt;
}

std::size_t CallReader::weight() const {
    const std::size_t found = m_traits.inputs.find_first_of("WQ");
    return found == std::string_view::npos ? 1 : found;
}

bool CallReader::hasBias() const {
    const std::string_view roles = m_traits.inputs;
    if (roles.empty()) return hasTensor(weight() + 1);
    const std::size_t bias = roles.find_first_of("WQ", weight() + 1);
    return bias != std::string_view::npos && hasTensor(bias);
}

}  // namespace sonde::operators
