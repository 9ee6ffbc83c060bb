#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tensor/type_info.h"
#include "core/tensor/value.h"

namespace sonde::tensor {

/// Stands for a body graph in an attribute; `index` counts the bodies of the Expr that has the attribute.
struct BodyRef {
    std::size_t index = 0;
    bool operator==(const BodyRef&) const = default;
};

/// The name of an attribute of the enclosing function, not yet replaced by its value (ONNX FunctionProto).
struct AttributeRef {
    std::string name;
    bool operator==(const AttributeRef&) const = default;
};

using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                                    std::vector<std::string>, Tensor, std::vector<Tensor>, TypeInfo,
                                    std::vector<TypeInfo>, BodyRef, std::vector<BodyRef>, AttributeRef>;

struct Attribute {
    std::string name;
    AttributeValue value;
};

/// "3", "[1, 1]", "'same'", "float32[64]" …: as a person reads it, abbreviated to about `limit` characters.
std::string text(const AttributeValue& value, std::size_t limit = 120);

/// Attributes of one expr in the order of the file. Few, so a linear search is the quickest.
class Attributes {
  public:
    Attributes() = default;
    Attributes(std::initializer_list<Attribute> items) : m_items(items) {}

    const AttributeValue* find(std::string_view name) const;
    bool has(std::string_view name) const { return find(name) != nullptr; }
    void set(std::string name, AttributeValue value);
    void erase(std::string_view name);
    const std::vector<Attribute>& items() const { return m_items; }
    bool empty() const { return m_items.empty(); }

    // The attribute if it is there with that type, else the fallback. (A wrong type is found by the registry's check.)
    std::int64_t getInt(std::string_view name, std::int64_t fallback) const;
    double getFloat(std::string_view name, double fallback) const;
    std::string getString(std::string_view name, std::string_view fallback) const;
    std::vector<std::int64_t> getInts(std::string_view name, std::vector<std::int64_t> fallback = {}) const;
    std::vector<double> getFloats(std::string_view name, std::vector<double> fallback = {}) const;
    std::vector<std::string> getStrings(std::string_view name, std::vector<std::string> fallback = {}) const;
    std::optional<Tensor> getTensor(std::string_view name) const;

  private:
    std::vector<Attribute> m_items;
};

}  // namespace sonde::tensor
