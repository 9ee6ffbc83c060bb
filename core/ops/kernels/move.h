#pragma once

#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

/// Tensors of one dtype that agree in all dimensions but the axis', one behind the other.
base::Result<void> concat(KernelContext& context, std::span<const Tensor> parts, std::size_t axis);

/// A contiguous copy of a view, on all threads.
base::Result<Tensor> packed(base::ThreadPool& pool, const Tensor& view);
/// target = source, element by element, into a part of a contiguous tensor; `target` is a view of writable storage.
void copyInto(base::ThreadPool& pool, const Tensor& source, Tensor target);

/// y[…, i…, …] = x[…, index[i…], …]: the axis is replaced by the dimensions of `indices` (int32/int64, may be
/// negative).
base::Result<void> gather(KernelContext& context, const Tensor& x, const Tensor& indices, std::size_t axis);
/// y[i][j] = x[index[i][j]][j] for axis 0 and so on: `indices` has x's rank.
base::Result<void> gatherElements(KernelContext& context, const Tensor& x, const Tensor& indices, std::size_t axis);

enum class Reduction : std::uint8_t { None, Add, Mul, Max, Min };
base::Result<Reduction> reductionOf(const std::string& name);
/// A copy of x in which x[index[i][j]][j] = (or ∘=) updates[i][j].
base::Result<void> scatterElements(KernelContext& context, const Tensor& x, const Tensor& indices,
                                   const Tensor& updates, std::size_t axis, Reduction reduction);
/// indices [..., r]: each row addresses the first r dimensions of x after `batchDims`.
base::Result<void> gatherND(KernelContext& context, const Tensor& x, const Tensor& indices, std::size_t batchDims);
base::Result<void> scatterND(KernelContext& context, const Tensor& x, const Tensor& indices, const Tensor& updates,
                             Reduction reduction);

enum class PadMode : std::uint8_t { Constant, Reflect, Edge, Wrap };
/// Pads (or, with negative numbers, cuts) every dimension; `value` is a scalar of x's dtype or not defined for 0.
base::Result<void> pad(KernelContext& context, const Tensor& x, std::span<const std::int64_t> before,
                       std::span<const std::int64_t> after, PadMode mode, const Tensor& value);

}  // namespace sonde::ops::kernels
