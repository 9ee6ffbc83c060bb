#pragma once

#include "core/ops/kernels/gemm.h"
#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

/// A constant right factor, packed.
class PackedRight : public PreparedState {
  public:
    PackedMatrix matrix;
};

/// Packs a constant matrix of float32, float16 or bfloat16 [k, n] (or [n, k] if transposed); null for anything else.
base::Result<std::unique_ptr<PreparedState>> prepareRight(const Value& matrix, bool transposed,
                                                          RunEnvironment& environment);

/// numpy.matmul: [..., m, k] x [..., k, n] -> [..., m, n] with broadcasting of the leading dimensions; 1-D operands
/// gain and lose a dimension. All number dtypes; both of the same. Views are read in place.
base::Result<Tensor> matmul(KernelContext& context, const Tensor& a, const Tensor& b, std::size_t index = 0);
/// Shape of matmul's result.
base::Result<Shape> matmulShape(const Shape& a, const Shape& b);

struct GemmOptions {
    bool transposeA = false, transposeB = false;
    double alpha = 1, beta = 1;
};
/// alpha·A'·B' + beta·C with C broadcast to [m, n]; c may be null.
base::Result<void> generalProduct(KernelContext& context, const Tensor& a, const Tensor& b, const Tensor* c,
                                  const GemmOptions& options);

/// x [..., k] · wᵀ + bias for w [n, k] (or [k]): a linear layer.
base::Result<void> linear(KernelContext& context, const Tensor& x, const Tensor& w, const Tensor* bias);

}  // namespace sonde::ops::kernels
