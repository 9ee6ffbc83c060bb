#pragma once

#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

/// y = (x − mean)/√(var + ε)·scale + bias, each of the four [C], x [N, C, D…]; scale and bias may be null.
base::Result<void> batchNorm(KernelContext& context, const Tensor& x, const Tensor* scale, const Tensor* bias, const Tensor& mean,
                             const Tensor& variance, double epsilon);

/// Normalises each of `rows` stretches of `length` elements to mean 0 and variance 1 (or divides by the root of the mean
/// square, without mean), then scales and shifts. scale and bias are indexed by `index(row, i)`: see Affine.
enum class Affine : std::uint8_t { None, PerElement, PerChannel };
struct RowNorm {
    std::int64_t rows = 0, length = 0;
    double epsilon = 1e-5;
    bool subtractMean = true;
    Affine affine = Affine::None;
    std::int64_t channels = 1;         ///< PerChannel: channels in all
    std::int64_t channelsPerRow = 1;   ///< PerChannel: consecutive channels that share one row
};
/// x -> y (same shape); mean and inverse deviation of each row are written where wanted (float32, may be null).
base::Result<void> normalizeRows(KernelContext& context, const Tensor& x, const Tensor* scale, const Tensor* bias, const RowNorm& options,
                                 Tensor& y, float* means, float* inverseDeviations);

/// softmax (or its logarithm) along an axis.
base::Result<void> softmax(KernelContext& context, const Tensor& x, std::size_t axis, bool logarithm);

}  // namespace sonde::ops::kernels
