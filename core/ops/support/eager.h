#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ops/registry/registry.h"
#include "core/ops/support/row.h"

namespace sonde::ops {

/// Operators that are sums of others are written as expressions: each call gives its tensor, and the first one that
/// fails ends the kernel with its error. Arguments are read by their names in the schema, so that overloads whose
/// parameters are in another order share a kernel:
///   Tensor lerp(Eager& e) {
///       return e("add.Tensor", e.tensor("self"), e("mul.Tensor", e.tensor("weight"), …));
///   }
/// A name that the schema lacks ends the kernel, but for `has`, `flag`, `optional` and `dtype`, which take it for
/// absent. tst_parameter_names holds names against the schemas of all rows that run a kernel.
class Eager {
  public:
    /// What a call may be given: anything that a Value can be made of.
    struct Argument {
        Value value;
        Argument(Value v) : value(std::move(v)) {}
        Argument(Tensor v) : value(std::move(v)) {}
        Argument(const char* v) : value(std::string(v)) {}
        Argument(bool v) : value(Value::ofBool(v)) {}
        Argument(int v) : value(Value::ofInt(v)) {}
        Argument(std::int64_t v) : value(Value::ofInt(v)) {}
        Argument(std::size_t v) : value(Value::ofInt(static_cast<std::int64_t>(v))) {}
        Argument(double v) : value(Value::ofFloat(v)) {}
        Argument(const std::vector<std::int64_t>& v) : value(listOf(v)) {}
        Argument(const std::vector<Tensor>& v) : value(listOf(v)) {}
        Argument(std::nullptr_t) {}
        static Value listOf(const std::vector<std::int64_t>& numbers);
        static Value listOf(const std::vector<Tensor>& tensors);
    };

    explicit Eager(KernelContext& context) : m_context(context) {}

    /// An operator of domain aten; missing arguments have their defaults. The first output, a tensor.
    template <typename... Arguments>
    Tensor operator()(std::string_view name, Arguments&&... arguments) {
        return tensorOf(all("aten", name, {Argument(std::forward<Arguments>(arguments)).value...}, {}, 1).front());
    }
    /// All outputs.
    std::vector<Value> all(std::string_view domain, std::string_view name, std::vector<Value> inputs,
                           const Attributes& attributes, std::size_t outputs);
    /// An ONNX operator with one tensor as output.
    Tensor onnx(std::string_view name, std::vector<Value> inputs, const Attributes& attributes = {}) {
        return tensorOf(all("", name, std::move(inputs), attributes, 1).front());
    }

    KernelContext& context() { return m_context; }

    /// False for None.
    bool has(Name name) const { return m_context.has(name); }
    const Value& value(Name name) const { return m_context.value(name); }
    /// None if it is left out.
    Value optional(Name name) const { return has(name) ? value(name) : Value(); }
    /// A number counts as a tensor without dimensions.
    Tensor tensor(Name name) const { return tensorOf(value(name)); }
    std::vector<Tensor> tensors(Name name) const;
    std::int64_t integer(Name name) const;
    double number(Name name) const;
    bool flag(Name name) const { return has(name) && number(name) != 0; }
    std::string text(Name name) const;
    /// Of a list, a number or a tensor of rank 0 or 1.
    std::vector<std::int64_t> integers(Name name) const;
    /// Axis given as a number that may be negative.
    std::size_t axis(Name name, std::size_t rank) const { return axisOf(integer(name), rank); }
    std::size_t axisOf(std::int64_t axis, std::size_t rank) const;
    /// None, an empty list or a list of axes: all of them if nothing is named.
    std::vector<std::size_t> axes(Name name, std::size_t rank) const;
    /// The dtype that an argument names, or the other one.
    DType dtype(Name name, DType otherwise) const;

    // Variadic inputs, which have one name together: by position.
    std::size_t count() const { return m_context.inputCount(); }
    bool has(std::size_t input) const { return m_context.has(input); }
    const Value& value(std::size_t input) const { return m_context.value(input); }
    Tensor at(std::size_t input) const { return tensorOf(m_context.value(input)); }

    // What a Result holds, or the end of the kernel.
    template <typename T>
    T get(base::Result<T> result) const {
        if (!result) fail(std::move(result).error());
        return std::move(result).value();
    }
    void check(base::Result<void> result) const {
        if (!result) fail(std::move(result).error());
    }
    /// The tensor that a shared kernel set as output 0 of this call.
    Tensor taken() const;
    Tensor as(const Tensor& x, DType dtype) const { return get(x.cast(dtype)); }
    Tensor reshape(const Tensor& x, Shape shape) const { return get(x.reshaped(std::move(shape))); }
    [[noreturn]] void fail(base::Error error) const;
    [[noreturn]] void fail(std::string what) const;

  private:
    Tensor tensorOf(const Value& value) const;

    KernelContext& m_context;
};

/// What such a kernel gives: one value or several.
struct EagerResult {
    std::vector<Value> values;
    EagerResult(Tensor tensor) { values.emplace_back(std::move(tensor)); }
    EagerResult(Value value) { values.push_back(std::move(value)); }
    EagerResult(std::vector<Value> all) : values(std::move(all)) {}
};

/// What such an expression gives for the inputs of a call, outside of its kernel.
base::Result<std::vector<Value>> runEager(KernelContext& context, const EagerKernel& kernel);

/// A row of domain aten whose kernel is such an expression. Anything may be given for a tensor that is a number.
OpDef eagerRow(std::string_view schema, std::string_view summary, Category category, EagerKernel kernel,
               std::function<base::Result<void>(InferContext&)> infer = {});

}  // namespace sonde::ops
