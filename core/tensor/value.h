#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/tensor/tensor.h"

namespace sonde::tensor {

class Value;

/// What flows along an edge of a graph.
// clang-format off
enum class ValueKind : std::uint8_t { None, Tensor, Int, Float, Bool, String, List, Tuple, Dict, Sequence, Optional, Object };
// clang-format on
std::string_view name(ValueKind kind);  ///< "tensor", "int", …

/// Elements of a list, tuple or ONNX sequence; keys and values of a dict in insertion order.
using ValueList = std::vector<Value>;
using ValueDict = std::vector<std::pair<Value, Value>>;

/// Something opaque to the engine that scripts may hold: a module, a class instance.
class ObjectBase {
  public:
    virtual ~ObjectBase() = default;
    virtual std::string typeName() const = 0;
};

/// Tensor, int, float, bool, string, none, list, tuple, dict, sequence, optional, or an object.
/// Containers are shared: copying a list value copies the handle, as in the scripting language.
class Value {
  public:
    Value() = default;  ///< none
    Value(Tensor tensor) : m_kind(ValueKind::Tensor), m_data(std::move(tensor)) {}
    Value(std::string text) : m_kind(ValueKind::String), m_data(std::move(text)) {}
    static Value ofInt(std::int64_t value) { return Value(ValueKind::Int, value); }
    static Value ofFloat(double value) { return Value(ValueKind::Float, value); }
    static Value ofBool(bool value) { return Value(ValueKind::Bool, value); }
    static Value list(ValueList items) { return Value(ValueKind::List, std::make_shared<ValueList>(std::move(items))); }
    static Value tuple(ValueList items) {
        return Value(ValueKind::Tuple, std::make_shared<ValueList>(std::move(items)));
    }
    static Value sequence(ValueList items) {
        return Value(ValueKind::Sequence, std::make_shared<ValueList>(std::move(items)));
    }
    /// An ONNX optional: no item if empty. (A plain None is Value().)
    static Value optional(ValueList itemOrNothing) {
        return Value(ValueKind::Optional, std::make_shared<ValueList>(std::move(itemOrNothing)));
    }
    static Value dict(ValueDict items) { return Value(ValueKind::Dict, std::make_shared<ValueDict>(std::move(items))); }
    static Value object(std::shared_ptr<ObjectBase> object) { return Value(ValueKind::Object, std::move(object)); }

    ValueKind kind() const { return m_kind; }
    bool isNone() const { return m_kind == ValueKind::None; }
    bool isTensor() const { return m_kind == ValueKind::Tensor; }
    bool isNumber() const {
        return m_kind == ValueKind::Int || m_kind == ValueKind::Float || m_kind == ValueKind::Bool;
    }
    /// List, tuple, sequence or optional: anything that items() may be asked of.
    bool isListLike() const;

    // Each accessor needs its kind (asserts).
    const Tensor& tensor() const { return std::get<Tensor>(m_data); }
    Tensor& tensor() { return std::get<Tensor>(m_data); }
    std::int64_t toInt() const { return std::get<std::int64_t>(m_data); }
    double toFloat() const { return std::get<double>(m_data); }
    bool toBool() const { return std::get<bool>(m_data); }
    const std::string& toString() const { return std::get<std::string>(m_data); }
    ValueList& items() { return *std::get<std::shared_ptr<ValueList>>(m_data); }
    const ValueList& items() const { return *std::get<std::shared_ptr<ValueList>>(m_data); }
    ValueDict& dictItems() { return *std::get<std::shared_ptr<ValueDict>>(m_data); }
    const ValueDict& dictItems() const { return *std::get<std::shared_ptr<ValueDict>>(m_data); }
    const std::shared_ptr<ObjectBase>& object() const { return std::get<std::shared_ptr<ObjectBase>>(m_data); }
    /// Int, float or bool as a double.
    double number() const;

    /// "float32[1,64,56,56]", "int", "(float32[2,3], int)", "{'a': float32[]}": the type as a person reads it.
    std::string typeText() const;
    /// Short text of the value itself: numbers in full, containers and tensors abbreviated to about `limit` characters.
    std::string text(std::size_t limit = 200) const;

  private:
    using Data = std::variant<std::monostate, Tensor, std::int64_t, double, bool, std::string,
                              std::shared_ptr<ValueList>, std::shared_ptr<ValueDict>, std::shared_ptr<ObjectBase>>;
    template <typename T>
    Value(ValueKind kind, T data) : m_kind(kind), m_data(std::move(data)) {}

    ValueKind m_kind = ValueKind::None;
    Data m_data;
};

/// Same kinds, structure and elements (tensors by identical()).
bool identical(const Value& a, const Value& b);

}  // namespace sonde::tensor
