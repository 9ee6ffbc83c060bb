#include "core/tensor/attribute.h"

#include <algorithm>

#include "core/base/number_text.h"
#include "core/base/unicode.h"

namespace sonde::tensor {

namespace {

template <typename... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

std::string quoted(const std::string& text, std::size_t limit) {
    return "'" + (text.size() > limit ? std::string(base::utf8Prefix(text, limit)) + "…" : text) + "'";
}

std::string number(double value) { return base::roundedText(value, 7); }

template <typename T, typename Format>
std::string listText(const std::vector<T>& items, std::size_t limit, Format&& format) {
    std::string text = "[";
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i) text += ", ";
        if (text.size() > limit) {
            text += "…";
            break;
        }
        text += format(items[i]);
    }
    return text + "]";
}

}  // namespace

std::string text(const AttributeValue& value, std::size_t limit) {
    return std::visit(
        Overloaded{
            [](std::int64_t v) { return std::to_string(v); },
            [](double v) { return number(v); },
            [&](const std::string& v) { return quoted(v, limit); },
            [&](const std::vector<std::int64_t>& v) {
                return listText(v, limit, [](std::int64_t x) { return std::to_string(x); });
            },
            [&](const std::vector<double>& v) { return listText(v, limit, number); },
            [&](const std::vector<std::string>& v) {
                return listText(v, limit, [&](const std::string& x) { return quoted(x, limit); });
            },
            [&](const Tensor& v) { return v.defined() ? Value(v).text(limit) : std::string("empty tensor"); },
            [&](const std::vector<Tensor>& v) {
                return listText(v, limit, [](const Tensor& x) { return x.typeText(); });
            },
            [](const TypeInfo& v) { return v.text(); },
            [&](const std::vector<TypeInfo>& v) {
                return listText(v, limit, [](const TypeInfo& x) { return x.text(); });
            },
            [](BodyRef v) { return "body " + std::to_string(v.index); },
            [&](const std::vector<BodyRef>& v) {
                return listText(v, limit, [](BodyRef x) { return "body " + std::to_string(x.index); });
            },
            [](const AttributeRef& v) { return "attribute " + v.name; },
        },
        value);
}

const AttributeValue* Attributes::find(std::string_view name) const {
    const auto found = std::ranges::find(m_items, name, &Attribute::name);
    return found == m_items.end() ? nullptr : &found->value;
}

void Attributes::set(std::string name, AttributeValue value) {
    const auto found = std::ranges::find(m_items, name, &Attribute::name);
    if (found != m_items.end()) found->value = std::move(value);
    else m_items.push_back({std::move(name), std::move(value)});
}

void Attributes::erase(std::string_view name) {
    std::erase_if(m_items, [&](const Attribute& item) { return item.name == name; });
}

namespace {

template <typename T>
const T* findAs(const Attributes& attributes, std::string_view name) {
    const AttributeValue* value = attributes.find(name);
    return value ? std::get_if<T>(value) : nullptr;
}

}  // namespace

std::int64_t Attributes::getInt(std::string_view name, std::int64_t fallback) const {
    const auto* value = findAs<std::int64_t>(*this, name);
    return value ? *value : fallback;
}
double Attributes::getFloat(std::string_view name, double fallback) const {
    const auto* value = findAs<double>(*this, name);
    return value ? *value : fallback;
}
std::string Attributes::getString(std::string_view name, std::string_view fallback) const {
    const auto* value = findAs<std::string>(*this, name);
    return value ? *value : std::string(fallback);
}
std::vector<std::int64_t> Attributes::getInts(std::string_view name, std::vector<std::int64_t> fallback) const {
    const auto* value = findAs<std::vector<std::int64_t>>(*this, name);
    return value ? *value : std::move(fallback);
}
std::vector<double> Attributes::getFloats(std::string_view name, std::vector<double> fallback) const {
    const auto* value = findAs<std::vector<double>>(*this, name);
    return value ? *value : std::move(fallback);
}
std::vector<std::string> Attributes::getStrings(std::string_view name, std::vector<std::string> fallback) const {
    const auto* value = findAs<std::vector<std::string>>(*this, name);
    return value ? *value : std::move(fallback);
}
std::optional<Tensor> Attributes::getTensor(std::string_view name) const {
    const auto* value = findAs<Tensor>(*this, name);
    return value ? std::optional(*value) : std::nullopt;
}

}  // namespace sonde::tensor
