#pragma once

#include "core/ops/kernels/integer_product.h"
#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

/// A constant right factor of bytes with its zero points, packed.
class PackedRightIntegers : public PreparedState {
  public:
    PackedIntegers matrix;
    bool hasZeros = false;  ///< packed for zero points that were given
};

/// Packs a constant matrix [k, n] of bytes (or [n, k] if transposed); zero points: one, one for each column, or None
/// for 0. Null for all else.
base::Result<std::unique_ptr<PreparedState>> prepareRightIntegers(const Value& matrix, const Value& zeros,
                                                                  bool isTransposed, RunEnvironment& environment);

/// numpy.matmul of int8 and uint8 without their zero points (None: 0): one for each, or one for each row of `a` and
/// column of `b`.
struct IntegerMatmul {
    const Tensor &a, &b;
    const Value &zeroA, &zeroB;
};
/// Whether integerMatmul computes it: bytes, sums below 2^31, the leading dimensions of both alike or none in b.
bool fitsIntegers(const IntegerMatmul& call);
/// Σ_p (a[…, i, p] − zero)·(b[…, p, j] − zero), exactly; `finish` as of IntegerCall, with rows counted over all
/// matrices.
void integerMatmul(KernelContext& context, const IntegerMatmul& call, const decltype(IntegerCall::finish)& finish);
/// The same as a tensor of int32. The call must fit.
base::Result<Tensor> integerMatmul(KernelContext& context, const IntegerMatmul& call);

}  // namespace sonde::ops::kernels
