#pragma once

#include <memory>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

/// One factor and one shift for each channel.
class ChannelAffine : public PreparedState {
  public:
    std::vector<double> factor, shift;
    std::vector<float> factor32, shift32;  ///< the same, rounded
};
/// Of a batch normalisation: factor = scale/√(var + ε), shift = bias − mean·factor; each [C], scale and bias may be
/// null.
base::Result<ChannelAffine> channelAffine(const Tensor* scale, const Tensor* bias, const Tensor& mean,
                                          const Tensor& variance, double epsilon);
/// The same of values of which any may not be a constant (None); null then.
base::Result<std::unique_ptr<PreparedState>> prepareBatchNorm(const Value& scale, const Value& bias, const Value& mean,
                                                              const Value& variance, double epsilon);
/// y = x·factor + shift, x [N, C, D…].
base::Result<void> applyChannelAffine(KernelContext& context, const Tensor& x, const ChannelAffine& affine);

/// y = (x − mean)/√(var + ε)·scale + bias, each of the four [C], x [N, C, D…]; scale and bias may be null.
base::Result<void> batchNorm(KernelContext& context, const Tensor& x, const Tensor* scale, const Tensor* bias,
                             const Tensor& mean, const Tensor& variance, double epsilon);

/// Normalises each of `rows` stretches of `length` elements to mean 0 and variance 1 (or divides by the root of the
/// mean square, without mean), then scales and shifts. scale and bias are indexed by `index(row, i)`: see Affine.
enum class Affine : std::uint8_t { None, PerElement, PerChannel };
struct RowNorm {
    std::int64_t rows = 0, length = 0;
    double epsilon = 1e-5;
    bool subtractMean = true;
    Affine affine = Affine::None;
    std::int64_t channels = 1;        ///< PerChannel: channels in all
    std::int64_t channelsPerRow = 1;  ///< PerChannel: consecutive channels that share one row
};
/// x -> y (same shape); mean and inverse deviation of each row are written where wanted (float32, may be null).
base::Result<void> normalizeRows(KernelContext& context, const Tensor& x, const Tensor* scale, const Tensor* bias,
                                 const RowNorm& options, Tensor& y, float* means, float* inverseDeviations);

/// softmax (or its logarithm) along an axis.
base::Result<void> softmax(KernelContext& context, const Tensor& x, std::size_t axis, bool logarithm);

}  // namespace sonde::ops::kernels
