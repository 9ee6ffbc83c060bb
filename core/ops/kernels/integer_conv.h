#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/ops/kernels/integer_conv_call.h"
#include "core/ops/kernels/integer_product.h"
#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

struct WindowWeights;

/// Constant weights of a convolution of bytes with their zero points, packed when first used.
class IntegerConvPlan : public PreparedState {
  public:
    IntegerConvPlan(Tensor weights, std::vector<std::int32_t> zeros, bool hasZeros, std::int64_t groups);
    ~IntegerConvPlan() override;

    const bool hasZeros;  ///< made for zero points that were given

    /// One left factor for each group.
    const std::vector<PackedIntegers>& packed(base::ThreadPool& pool) const;
    /// For channels that are convolved by themselves, always under the same window.
    const WindowWeights& eachChannel(const Window& window) const;

  private:
    Tensor m_weights;
    std::vector<std::int32_t> m_zeros;
    std::int64_t m_groups;
    mutable std::once_flag m_packedOnce, m_eachChannelOnce;
    mutable std::vector<PackedIntegers> m_packed;
    mutable std::unique_ptr<WindowWeights> m_eachChannel;
};

/// Of constant weights and zero points; null for what is not computed in bytes.
base::Result<std::unique_ptr<PreparedState>> prepareIntegerConv(const Value& weights, const Value& zeros,
                                                                std::int64_t groups);

/// Whether convolveIntegers computes it: bytes, 1-D and 2-D windows, sums below 2^31.
bool fitsIntegers(const IntegerConv& call);
/// [N, K, D'…]
base::Result<Shape> shapeOf(const IntegerConv& call);
/// Σ (x − zero)·(w − zero) for every element of the result, exactly. What lies outside of the image is the zero point.
void convolveIntegers(KernelContext& context, const IntegerConv& call, const SumsOfBytes& result);

}  // namespace sonde::ops::kernels
