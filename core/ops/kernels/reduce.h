#pragma once

#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

enum class Reduce : std::uint8_t { Sum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp, SumSquare, All, Any };

/// Reduces the given axes (sorted or not, each once); output 0 has them with dimension 1, or not at all without
/// keepDims. Over nothing: 0 for sums, 1 for products, the lowest or largest value for Max and Min.
base::Result<void> reduce(KernelContext& context, Reduce kind, const Tensor& x, std::span<const std::size_t> axes,
                          bool keepDims);

/// Position of the largest or smallest element along an axis, int64; of equals the first or the last.
base::Result<void> argReduce(KernelContext& context, const Tensor& x, std::size_t axis, bool keepDims, bool smallest,
                             bool lastIndex, std::size_t output = 0);

}  // namespace sonde::ops::kernels
