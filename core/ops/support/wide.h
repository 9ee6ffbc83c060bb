#pragma once

#include "core/ops/registry/registry.h"

namespace sonde::ops {

// Rare operators compute in double and are written once for all dtypes.

/// The tensor's elements as float64, contiguous.
base::Result<Tensor> wide(const Tensor& tensor);
/// A new float64 tensor of zeros.
base::Result<Tensor> wideZeros(const Shape& shape);
/// Sets an output to a float64 tensor converted to the dtype (nothing if the output is not wanted).
base::Result<void> setNarrow(KernelContext& context, std::size_t output, const Tensor& wide, DType dtype);
base::Result<void> setNarrow(KernelContext& context, Name output, const Tensor& wide, DType dtype);
/// Strides of a tensor broadcast to a shape: 0 where it is repeated. The shapes must go together.
std::vector<std::int64_t> broadcastStrides(const Shape& own, const Shape& full);

}  // namespace sonde::ops
