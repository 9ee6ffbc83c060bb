#pragma once

#include <memory>
#include <mutex>

#include "core/ops/kernels/gemm.h"
#include "core/ops/kernels/winograd.h"
#include "core/ops/registry/registry.h"
#include "core/ops/support/window.h"

namespace sonde::ops::kernels {

/// Constant weights of a convolution in the layouts that its kernels read. Narrow floats are packed as they are; what
/// Winograd's transform makes of them is float32. Which one is wanted depends on the size of
/// the picture, so each is made when it is first asked for and kept.
class ConvPlan : public PreparedState {
  public:
    ConvPlan(Tensor weights, std::int64_t groups) : m_weights(std::move(weights)), m_groups(groups) {}

    /// One left factor [K/groups, C/groups·taps] for each group.
    const std::vector<PackedMatrix>& packed(base::ThreadPool& pool) const;
    /// For tiles of 2x2 or 4x4 outputs.
    const WinogradWeights& winograd(int tile, base::ThreadPool& pool) const;

  private:
    Tensor wideWeights() const;

    Tensor m_weights;
    std::int64_t m_groups;
    mutable std::once_flag m_once, m_once2, m_once4;
    mutable std::vector<PackedMatrix> m_packed;
    mutable WinogradWeights m_winograd2, m_winograd4;
};

/// Packs constant weights w [K, C/groups, kernel…] of float32, float16 or bfloat16; null for what is computed straight
/// from the tensor.
base::Result<std::unique_ptr<PreparedState>> prepareConv(const Value& weights, std::int64_t groups,
                                                         RunEnvironment& environment);

/// A 1x1 window without padding and stride: the image is the matrix.
bool isPlainProduct(const Window& window);

/// x [N, C, D…], w [K, C/groups, kernel…], bias [K] or null → output 0 [N, K, D'…] with D' of the window:
/// y[n,k,p] = bias[k] + Σ_{c,t} w[k,c,t] · x[n, c, p·stride + t·dilation − pad].
base::Result<void> convolve(KernelContext& context, const Tensor& x, const Tensor& w, const Tensor* bias,
                            const Window& window, std::int64_t groups);

/// The transposed convolution: x [N, C, D…], w [C, K/groups, kernel…] → [N, K, D'…] with
/// D' = stride·(D − 1) + span + outputPadding − padBegin − padEnd.
base::Result<void> convolveTransposed(KernelContext& context, const Tensor& x, const Tensor& w, const Tensor* bias,
                                      const Window& window, std::int64_t groups,
                                      std::span<const std::int64_t> outputSpatial);

}  // namespace sonde::ops::kernels
