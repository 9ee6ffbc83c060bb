#pragma once

#include <memory>

#include "core/ops/kernels/gemm.h"
#include "core/ops/registry/registry.h"
#include "core/ops/support/window.h"

namespace sonde::ops::kernels {

/// Weights of a convolution in the layout that its kernel reads. Made once for constant weights.
class ConvPlan : public PreparedState {
  public:
    std::vector<PackedMatrix<float>> groups;  ///< one left factor [K/groups, C/groups·taps] for each group
};

/// Packs constant float32 weights w [K, C/groups, kernel…]; null for what is computed straight from the tensor.
base::Result<std::unique_ptr<PreparedState>> prepareConv(const Value& weights, std::int64_t groups, RunEnvironment& environment);

/// x [N, C, D…], w [K, C/groups, kernel…], bias [K] or null → output 0 [N, K, D'…] with D' of the window:
/// y[n,k,p] = bias[k] + Σ_{c,t} w[k,c,t] · x[n, c, p·stride + t·dilation − pad].
base::Result<void> convolve(KernelContext& context, const Tensor& x, const Tensor& w, const Tensor* bias, const Window& window,
                            std::int64_t groups);

/// The transposed convolution: x [N, C, D…], w [C, K/groups, kernel…] → [N, K, D'…] with
/// D' = stride·(D − 1) + span + outputPadding − padBegin − padEnd.
base::Result<void> convolveTransposed(KernelContext& context, const Tensor& x, const Tensor& w, const Tensor* bias, const Window& window,
                                      std::int64_t groups, std::span<const std::int64_t> outputSpatial);

}  // namespace sonde::ops::kernels
