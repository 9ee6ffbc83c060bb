#pragma once

#include <utility>

#include "core/ops/registry/registry.h"

namespace sonde::ops {

/// The dtype that a mix of tensors and numbers has in PyTorch: tensors with dimensions decide, then tensors without,
/// then plain numbers, each only if of a higher kind (bool < integer < float < complex) than what was before.
/// See https://pytorch.org/docs/stable/tensor_attributes.html, "Type Promotion".
DType promoted(std::span<const Value> values);
DType promotedTypes(DType a, DType b);
/// The same from what inference knows; Undefined if it cannot be told.
DType promotedTypes(std::span<const TypeInfo> types);

/// The value as a contiguous tensor of the dtype; numbers become scalars.
base::Result<Tensor> asTensor(const Value& value, DType dtype);
/// Two operands brought to their common dtype.
base::Result<std::pair<Tensor, Tensor>> promotedPair(const Value& a, const Value& b);
/// c10::ScalarType numbers, as they stand in scripts.
std::optional<DType> dtypeFromTorch(std::int64_t scalarType);
std::int64_t torchFromDType(DType dtype);

}  // namespace sonde::ops
