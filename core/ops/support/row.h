#pragma once

#include <string_view>
#include <utility>

#include "core/ops/registry/registry.h"

namespace sonde::ops {

using tensor::Dim;
using tensor::ValueKind;

// The categories of most operators, in short.
inline constexpr auto kEl = Category::Elementwise, kAct = Category::Activation, kLayer = Category::Layer,
                      kNorm = Category::Normalization, kRed = Category::Reduction, kMove = Category::Transform,
                      kTensor = Category::Tensor, kShape = Category::Shape;

// Groups of dtypes as the specification names them.
inline constexpr DTypeSet kFloats =
    bit(DType::Float16) | bit(DType::BFloat16) | bit(DType::Float32) | bit(DType::Float64);
inline constexpr DTypeSet kSignedInts = bit(DType::Int8) | bit(DType::Int16) | bit(DType::Int32) | bit(DType::Int64);
inline constexpr DTypeSet kUnsignedInts =
    bit(DType::UInt8) | bit(DType::UInt16) | bit(DType::UInt32) | bit(DType::UInt64);
inline constexpr DTypeSet kInts = kSignedInts | kUnsignedInts;
inline constexpr DTypeSet kNumbers = kFloats | kInts;
inline constexpr DTypeSet kBool = bit(DType::Bool);
inline constexpr DTypeSet kString = bit(DType::String);
inline constexpr DTypeSet kIndex = bit(DType::Int32) | bit(DType::Int64);
inline constexpr DTypeSet kInt64 = bit(DType::Int64);
inline constexpr DTypeSet kFloat32 = bit(DType::Float32);

using Kernel = base::Result<void> (*)(KernelContext&);
using Infer = base::Result<void> (*)(InferContext&);

class Eager;
struct EagerResult;
/// A kernel written as an expression of other operators: support/eager.h.
using EagerKernel = std::function<EagerResult(Eager&)>;

/// Builds one row of the operator table:
///   registry.add(Row("Relu", 1, "max(0, x)", Category::Activation).in("X", kNumbers, "T").out("Y").runs(kernel,
///   infer));
class Row {
  public:
    Row(std::string_view name, int since, std::string_view summary, Category category) {
        m_def.name = name;
        m_def.since = since;
        m_def.summary = summary;
        m_def.category = category;
    }

    Row& domain(std::string_view domain) {
        m_def.domain = domain;
        return *this;
    }
    Row& in(std::string_view name, DTypeSet dtypes = kAnyDType, std::string_view variable = {}) {
        return input({name, dtypes, Arity::One, true, variable});
    }
    Row& optionalIn(std::string_view name, DTypeSet dtypes = kAnyDType, std::string_view variable = {}) {
        return input({name, dtypes, Arity::Optional, true, variable});
    }
    Row& variadicIn(std::string_view name, DTypeSet dtypes = kAnyDType, std::string_view variable = {}) {
        return input({name, dtypes, Arity::Variadic, true, variable});
    }
    /// Any kind of value: sequences, optionals.
    Row& anyIn(std::string_view name, Arity arity = Arity::One) { return input({name, kAnyDType, arity, false, {}}); }
    Row& out(std::string_view name, Arity arity = Arity::One) {
        m_def.outputs.push_back({name, kAnyDType, arity, false, {}});
        return *this;
    }

    Row& attr(std::string_view name, AttributeKind kind) { return attribute({name, kind, std::nullopt, false}); }
    Row& required(std::string_view name, AttributeKind kind) { return attribute({name, kind, std::nullopt, true}); }
    Row& attrInt(std::string_view name, std::int64_t fallback) {
        return attribute({name, AttributeKind::Int, fallback, false});
    }
    Row& attrFloat(std::string_view name, double fallback) {
        return attribute({name, AttributeKind::Float, fallback, false});
    }
    Row& attrString(std::string_view name, std::string fallback) {
        return attribute({name, AttributeKind::String, std::move(fallback), false});
    }
    Row& attrInts(std::string_view name) { return attr(name, AttributeKind::Ints); }

    Row& runs(std::function<base::Result<void>(KernelContext&)> kernel,
              std::function<base::Result<void>(InferContext&)> infer = {}) {
        m_def.kernel = std::move(kernel);
        m_def.infer = std::move(infer);
        return *this;
    }
    Row& runs(EagerKernel kernel, std::function<base::Result<void>(InferContext&)> infer = {});
    template <typename F>
    Row& prepares(F&& prepare) {
        m_def.prepare = std::forward<F>(prepare);
        return *this;
    }
    Row& random() {
        m_def.random = true;
        return *this;
    }
    Row& strided() {
        m_def.acceptsStrided = true;
        return *this;
    }
    Row& deprecated() {
        m_def.deprecated = true;
        return *this;
    }

    /// The same row from another version on.
    Row& since(int version) {
        m_def.since = version;
        return *this;
    }

    operator OpDef() const { return m_def; }
    OpDef& def() { return m_def; }

  private:
    Row& input(Formal formal) {
        m_def.inputs.push_back(formal);
        return *this;
    }
    Row& attribute(FormalAttribute attribute) {
        m_def.attributes.push_back(std::move(attribute));
        return *this;
    }

    OpDef m_def;
};

/// A row of domain "aten" from its schema as PyTorch prints it, without the namespace:
///   "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". The text must live for ever (a literal).
OpDef atenRow(std::string_view schema, std::string_view summary, Category category,
              std::function<base::Result<void>(KernelContext&)> kernel,
              std::function<base::Result<void>(InferContext&)> infer = {});

}  // namespace sonde::ops
