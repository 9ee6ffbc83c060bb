#pragma once

#include "core/ops/kernels/integer_product.h"
#include "core/ops/registry/registry.h"
#include "core/ops/support/window.h"

namespace sonde::ops::kernels {

/// Takes sums of channel `channel` of the result [N, K, D…], from element `at` of the whole tensor on: sums[j] + offset
/// modulo 2^32. Called from several threads.
class SumsOfBytes {
  public:
    virtual ~SumsOfBytes() = default;
    virtual void take(std::int64_t channel, std::int64_t at, std::int64_t count, const std::int32_t* sums,
                      std::int32_t offset) const = 0;
    /// The same of sums that are integers in float32.
    virtual void take(std::int64_t channel, std::int64_t at, std::int64_t count, const float* sums) const = 0;
};

/// Constant weights of a convolution of bytes with their zero points, packed when first used.
class IntegerConvPlan : public PreparedState {
  public:
    IntegerConvPlan(Tensor weights, std::vector<std::int32_t> zeros, bool hasZeros, std::int64_t groups)
        : hasZeros(hasZeros), m_weights(std::move(weights)), m_zeros(std::move(zeros)), m_groups(groups) {}

    const bool hasZeros;  ///< made for zero points that were given

    /// One left factor for each group.
    const std::vector<PackedIntegers>& packed(base::ThreadPool& pool) const;
    /// Weights minus zero points, for channels that are convolved by themselves.
    const std::vector<float>& centred() const;

  private:
    Tensor m_weights;
    std::vector<std::int32_t> m_zeros;
    std::int64_t m_groups;
    mutable std::once_flag m_packedOnce, m_centredOnce;
    mutable std::vector<PackedIntegers> m_packed;
    mutable std::vector<float> m_centred;
};

/// Of constant weights and zero points; null for what is not computed in bytes.
base::Result<std::unique_ptr<PreparedState>> prepareIntegerConv(const Value& weights, const Value& zeros,
                                                                std::int64_t groups);

/// x [N, C, D…] of bytes, w [K, C/groups, kernel…] of bytes, zero points with one element (w: or one for each of K) or
/// none.
struct IntegerConv {
    const Tensor &x, &w;
    const Value &zeroX, &zeroW;
    const Window& window;
    std::int64_t groups = 1;
};
/// Whether convolveIntegers computes it: bytes, 1-D and 2-D windows, sums below 2^31.
bool fitsIntegers(const IntegerConv& call);
/// [N, K, D'…]
base::Result<Shape> shapeOf(const IntegerConv& call);
/// Σ (x − zero)·(w − zero) for every element of the result, exactly. What lies outside of the image is the zero point.
void convolveIntegers(KernelContext& context, const IntegerConv& call, const SumsOfBytes& result);

}  // namespace sonde::ops::kernels
