#pragma once

#include "core/tensor/tensor.h"

namespace sonde::tensor {

/// The parts of complex numbers as real ones along one more dimension of two: [...] -> [..., 2], a view of the same
/// storage. Of complex tensors only.
Tensor pairsOf(const Tensor& complex);
/// The other way, [..., 2] -> [...]: a view where the pairs lie one behind the other, else a copy. Errors (Run): it is
/// not float32 or float64, or has no last dimension of two.
base::Result<Tensor> complexOf(const Tensor& pairs);

inline DType complexOf(DType real) { return real == DType::Float64 ? DType::Complex128 : DType::Complex64; }
inline DType realOf(DType complex) { return complex == DType::Complex128 ? DType::Float64 : DType::Float32; }

}  // namespace sonde::tensor
