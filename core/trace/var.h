#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/ids.h"
#include "core/tensor/value.h"

namespace sonde::trace {

class Tracer;
class Var;

/// Where a tensor of a module lives: shared by modules that share a parameter. Its address is its identity.
struct Slot {
    enum class Kind : std::uint8_t { Parameter, Buffer, Plain };
    Kind kind = Kind::Parameter;
    tensor::Tensor value;
};

using Keywords = std::vector<std::pair<std::string, Var>>;

/// What a module's forward computes with: a value, or (while a tracer runs) a proxy that stands for a node of the
/// graph, or a list, tuple, dict or slice with proxies in it. A cheap handle.
///
/// Whatever asks a proxy for a value that only a run can know throws TraceError: conditions, int(), length, iteration.
class Var {
  public:
    enum class Kind : std::uint8_t { Value, Proxy, List, Tuple, Dict, Slice };

    Var() = default;  ///< none
    Var(tensor::Value value) {
        if (value.isTensor()) m_tensor = std::make_shared<tensor::Value>(std::move(value));
        else m_value = std::move(value);
    }
    Var(tensor::Tensor tensor) : m_tensor(std::make_shared<tensor::Value>(std::move(tensor))) {}
    Var(std::string text) : m_value(std::move(text)) {}
    Var(const char* text) : m_value(std::string(text)) {}
    template <std::same_as<bool> T>
    Var(T value) : m_value(tensor::Value::ofBool(value)) {}
    template <std::integral T>
    requires(!std::same_as<T, bool>) Var(T value) : m_value(tensor::Value::ofInt(static_cast<std::int64_t>(value))) {}
    template <std::floating_point T>
    Var(T value) : m_value(tensor::Value::ofFloat(static_cast<double>(value))) {}
    /// A list of integers: kernel sizes, shapes.
    Var(const std::vector<std::int64_t>& values);

    static Var none() { return {}; }
    static Var list(std::vector<Var> items) { return container(Kind::List, std::move(items)); }
    static Var tuple(std::vector<Var> items) { return container(Kind::Tuple, std::move(items)); }
    static Var dict(std::vector<std::pair<tensor::Value, Var>> items);
    /// start:stop:step as an index; none where left out.
    static Var slice(Var start, Var stop, Var step);
    static Var slice(Var start, Var stop);
    /// `...` as an index.
    static Var ellipsis();
    /// A module's tensor as a value: a buffer, a plain tensor, or a parameter outside of any trace.
    static Var ofSlot(std::shared_ptr<const Slot> slot);
    static Var proxy(Tracer& tracer, graph::NodeId node);

    Kind kind() const { return m_kind; }
    bool isProxy() const { return m_kind == Kind::Proxy; }
    bool isNone() const { return m_kind == Kind::Value && !m_tensor && m_value.isNone(); }
    /// A proxy, a tensor that became a node because the trace wrote to it, or a container with one in it.
    bool hasProxy() const { return findTracer() != nullptr; }
    Tracer* findTracer() const;

    // Each throws TraceError for another kind than the one it names.
    const tensor::Value& value() const {  ///< Kind::Value
        if (m_kind != Kind::Value) refuse("value");
        return m_tensor ? *m_tensor : m_value;
    }
    /// The value with containers made of vars turned into containers of values. Throws for proxies.
    tensor::Value toValue() const;
    Tracer& tracer() const {  ///< Kind::Proxy
        if (m_kind != Kind::Proxy) refuse("tracer");
        return *m_tracer;
    }
    graph::NodeId node() const {  ///< Kind::Proxy
        if (m_kind != Kind::Proxy) refuse("node");
        return m_node;
    }
    /// Of a List, Tuple, Dict (its values) or Slice, and of a value that is one. Throws TraceError for anything else.
    const std::vector<Var>& items() const { return m_items ? *m_items : itemsOfValue(); }
    const std::vector<tensor::Value>& keys() const { return m_keys ? *m_keys : keysOfValue(); }  ///< of a dict
    const std::shared_ptr<const Slot>& slot() const { return m_slot; }  ///< of a module's own tensor, else null

    // What a program may ask of a value. On a proxy each throws the TraceError that names the misuse.
    bool toBool() const;
    std::int64_t toInt() const;
    double toFloat() const;
    std::size_t length() const;
    /// The elements of a list or tuple, the rows of a tensor, the keys of a dict.
    std::vector<Var> iterate() const;
    explicit operator bool() const { return toBool(); }

    /// The first n elements: n getitem nodes of a proxy, the elements themselves of a container.
    std::vector<Var> unpack(std::size_t n) const;
    Var operator[](const Var& index) const;
    /// `x[index] = value`, in place: x, whatever x was cut out of and every view of it show the value. Gives x. On a
    /// proxy a setitem node.
    Var withItem(const Var& index, const Var& value) const;
    /// For in-place operators that change a shape: every copy of this var, a tensor, is the same tensor. Throws
    /// TraceError if this is no tensor, or one that only a run knows.
    void setTensor(tensor::Tensor tensor) const;
    /// Attribute read ("T", "shape"): a getattr node on a proxy.
    Var attr(std::string_view name) const;
    /// Tensor method by name, in place if it ends in `_`: recorded as CallMethod. The operator is aten::NAME (overload
    /// as in `op`, if given).
    Var method(std::string_view name, std::vector<Var> args, Keywords keywords, std::string_view op = {}) const;
    Var method(std::string_view name) const;

  private:
    static Var container(Kind kind, std::vector<Var> items);

    /// "a symbolic variable has no value", "a list has no node": `what` is asked of another kind.
    [[noreturn]] void refuse(std::string_view what) const;
    const std::vector<Var>& itemsOfValue() const;
    const std::vector<tensor::Value>& keysOfValue() const;
    /// Of a value that became a node of the running trace: that node; else this.
    Var inTrace() const;

    Kind m_kind = Kind::Value;
    tensor::Value m_value;
    std::shared_ptr<tensor::Value> m_tensor;  ///< of a tensor, instead of m_value: copies of a var are one tensor
    Tracer* m_tracer = nullptr;
    graph::NodeId m_node;
    // Of a value made when they are first asked for.
    mutable std::shared_ptr<const std::vector<Var>> m_items;
    mutable std::shared_ptr<const std::vector<tensor::Value>> m_keys;
    std::shared_ptr<const Slot> m_slot;
};

// Arithmetic and comparison as functions of a graph: `x + 1` is add(x, 1), `1 + x` is add(1, x).
Var operator+(const Var& a, const Var& b);
Var operator-(const Var& a, const Var& b);
Var operator*(const Var& a, const Var& b);
Var operator/(const Var& a, const Var& b);
Var operator-(const Var& a);
Var operator>(const Var& a, const Var& b);
Var operator<(const Var& a, const Var& b);
Var operator>=(const Var& a, const Var& b);
Var operator<=(const Var& a, const Var& b);
Var operator==(const Var& a, const Var& b);
Var operator!=(const Var& a, const Var& b);
Var matmul(const Var& a, const Var& b);     ///< a @ b
Var floordiv(const Var& a, const Var& b);   ///< a // b
Var remainder(const Var& a, const Var& b);  ///< a % b
Var power(const Var& a, const Var& b);      ///< a ** b

}  // namespace sonde::trace
