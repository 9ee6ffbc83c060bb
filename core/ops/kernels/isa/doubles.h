#pragma once

// Vectors of doubles, as wide as those of vectors.h in bytes.

#include "core/ops/kernels/isa/vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

inline constexpr int kDoubles = kWidth / 2;  ///< in a vector
typedef float Half __attribute__((vector_size(kDoubles * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef double Doubles __attribute__((vector_size(kDoubles * sizeof(double))));

/// The floats from x on.
inline __attribute__((always_inline)) Doubles widened(const float* x) {
#if defined(__AVX512F__)
    return _mm512_cvtps_pd(_mm256_loadu_ps(x));  // GCC 12 converts the halves one by one
#else
    return __builtin_convertvector(*reinterpret_cast<const Half*>(x), Doubles);
#endif
}

}  // namespace

}  // namespace sonde::ops::kernels::SONDE_ISA
