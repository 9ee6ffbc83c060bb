#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/trace/var.h"

namespace sonde::trace {

class CustomTracer;

/// What isInstance() asks for: classes of values, and those of symbolic values.
// clang-format off
enum class InstanceKind : std::uint8_t { Bool, Int, Float, Complex, String, None, List, Tuple, Dict, Tensor, CustomProxy, CustomProxyInt, CustomProxyFloat };
// clang-format on
std::string_view name(InstanceKind kind);  ///< "int", "CustomProxyInt", …

class CustomAttribute;
class CustomProxyInt;

/// A symbolic value of a CustomTracer. It is a Var: whatever takes one takes it, too.
class CustomProxy : public Var {
  public:
    /// Throws AssertionError unless the var is a proxy of a CustomTracer.
    explicit CustomProxy(const Var& var);
    CustomTracer& customTracer() const;

    /// `len(x)` as a node, `__len__(x)`, named len_1 …
    CustomProxyInt length() const;
    /// Throws RuntimeError: what a symbolic value is, is only known of those that length() and the like have made.
    bool instanceOf(InstanceKind kind) const;
    /// Reads an attribute lazily.
    CustomAttribute attribute(std::string name) const;
    /// "CustomProxy(x)".
    std::string text() const;

    /// Joins tensors: of a list or tuple of symbolic tensors, or of one symbolic list. `dim` and `axis` mean the same;
    /// 0 if neither is given. Throws AssertionError if `out` is not None or both are given and differ.
    static Var cat(const Var& tensors, std::optional<std::int64_t> dim = {}, const Var& out = {},
                   std::optional<std::int64_t> axis = {});
};

/// A symbolic integer: a length.
class CustomProxyInt final : public CustomProxy {
  public:
    explicit CustomProxyInt(const Var& var);
    bool instanceOf(InstanceKind kind) const { return isKind(kind); }
    static bool isKind(InstanceKind kind) {
        return kind == InstanceKind::CustomProxyInt || kind == InstanceKind::CustomProxy || kind == InstanceKind::Int;
    }
};

/// A symbolic floating point number.
class CustomProxyFloat final : public CustomProxy {
  public:
    explicit CustomProxyFloat(const Var& var);
    bool instanceOf(InstanceKind kind) const { return isKind(kind); }
    static bool isKind(InstanceKind kind) {
        return kind == InstanceKind::CustomProxyFloat || kind == InstanceKind::CustomProxy ||
               kind == InstanceKind::Float;
    }
};

/// An attribute that has been named but not been read: the node getattr(root, name) is made when it is first used as a
/// value, and once. Called it is the method, and there is no such node.
class CustomAttribute {
  public:
    CustomAttribute(Var root, std::string name)
        : m_root(std::move(root)), m_name(std::move(name)), m_node(std::make_shared<std::optional<Var>>()) {}
    operator Var() const { return value(); }  // NOLINT: used like any other operand
    Var value() const;
    Var operator[](const Var& index) const { return value()[index]; }
    Var call(std::vector<Var> arguments = {}, Keywords keywords = {}) const {
        return m_root.method(m_name, std::move(arguments), std::move(keywords));
    }

  private:
    Var m_root;
    std::string m_name;
    std::shared_ptr<std::optional<Var>> m_node;
};

/// A parameter while `paramShapesConstant` is set: its sizes are known, everything else is symbolic.
class CustomParameterProxy : public CustomProxy {
  public:
    /// Throws AssertionError unless the var is a get_attr node of a parameter.
    explicit CustomParameterProxy(const Var& var);
    std::vector<std::int64_t> shape() const;
    std::vector<std::int64_t> size() const { return shape(); }
    /// Throws ValueError: there is no such axis.
    std::int64_t size(std::int64_t axis) const;
    std::int64_t ndim() const { return static_cast<std::int64_t>(shape().size()); }
    std::int64_t dim() const { return ndim(); }
    std::int64_t numel() const;
    std::int64_t nelement() const { return numel(); }
};

/// `len(x)` in models that shall be traced: a node of a symbolic value of a CustomTracer, the length itself else.
Var lengthOf(const Var& x);
/// `isinstance(x, cls)`: of a symbolic value what its class knows, else whether the value is of that class.
bool isInstance(const Var& x, InstanceKind kind);

/// A type of Python as the element type that a CustomTracer records for it (`x.to(float)`): bool, int64, float32,
/// complex64, as ScalarType's numbers. Throws NotImplementedError for other kinds.
Var elementType(InstanceKind kind);

/// Nested containers again, from their leaves in order. `spec` is any value of that structure; what is no list, tuple
/// or dict in it stands for a leaf. Throws AssertionError if there are more or fewer leaves.
Var treeUnflattenWithProxy(const tensor::Value& spec, std::span<const Var> leaves);

/// x with functions of one number applied to x[index] in order: {{"exp", {}}}. Names: exp, sigmoid. Throws
/// AssertionError for no function, an unknown one, or arguments.
Var setItemWithTransformation(const Var& x, const Var& index,
                              const std::vector<std::pair<std::string, std::vector<Var>>>& transformations);

}  // namespace sonde::trace
