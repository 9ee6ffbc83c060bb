#pragma once

#include "core/ops/registry/registry.h"
#include "core/ops/support/window.h"

namespace sonde::ops::kernels {

/// x [N, C, D…] -> [N, C, D'…], the largest value of each window; padding never wins. If output 1 is wanted, it gets
/// the flat position of that value in x (int64; columnMajor as ONNX's storage_order 1; perPlane counts from each
/// plane's start, as ATen does).
base::Result<void> maxPool(KernelContext& context, const Tensor& x, const Window& window, bool columnMajor,
                           bool perPlane);

/// The mean of each window; `countPadding` divides by the window's size even where it hangs over the edge.
/// divisor > 0 divides by that instead.
base::Result<void> averagePool(KernelContext& context, const Tensor& x, const Window& window, bool countPadding,
                               std::int64_t divisor = 0);

/// (Σ |x|^p)^(1/p) of each window.
base::Result<void> lpPool(KernelContext& context, const Tensor& x, const Window& window, double p);

/// Output dimension o of the axis covers inputs [floor(o·in/out), ceil((o+1)·in/out)).
base::Result<void> adaptiveAveragePool(KernelContext& context, const Tensor& x, std::span<const std::int64_t> output);
base::Result<void> adaptiveMaxPool(KernelContext& context, const Tensor& x, std::span<const std::int64_t> output);

}  // namespace sonde::ops::kernels
