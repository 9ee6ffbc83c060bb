#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::analysis {

/// One call of an operator of ONNX, with what is known before a run of its inputs, and its outputs' inferred types.
struct KnownCall {
    const ops::OpDef& op;
    const ops::Attributes& attributes;  ///< complete
    int version = 0;
    std::span<const tensor::TypeInfo> types;
    std::span<const tensor::Value> values;                   ///< None where not known
    std::span<const std::optional<ops::Elements>> elements;  ///< in symbols, in row-major order
    std::span<const tensor::TypeInfo> outputs;
};

/// Values are followed only while they are small: shapes, axes, scalars.
inline constexpr std::int64_t kMaxFollowed = 4096;

/// The outputs' values, by running the operator's kernel; empty unless all inputs are known and all outputs small.
std::vector<tensor::Value> foldedValues(const KnownCall& call, ops::RunEnvironment& environment);

/// The same for operators on values that are no tensors: numbers, texts, lists of them.
std::vector<tensor::Value> foldedPlainValues(const KnownCall& call, ops::RunEnvironment& environment);

/// The outputs' elements in symbols: operators that only move elements are run on tokens in the elements' places,
/// arithmetic is done on the expressions. Nothing where it cannot be followed.
std::vector<std::optional<ops::Elements>> symbolicElements(const KnownCall& call, ops::RunEnvironment& environment);

/// The tensor whose elements are all numbers; None if they are not.
tensor::Value valueOf(const ops::Elements& elements, const tensor::TypeInfo& type);

}  // namespace sonde::analysis
