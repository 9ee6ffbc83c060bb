#pragma once

#include <complex>
#include <type_traits>

#include "core/ops/linalg/matrix.h"

namespace sonde::ops::linalg {

/// The element of double precision. Iterative decompositions of float32 matrices work in it: that takes half the time
/// to compile, as both precisions share what Eigen makes of them, and the result is correctly rounded more often.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, Real<T>>, double, std::complex<double>>;

}  // namespace sonde::ops::linalg
