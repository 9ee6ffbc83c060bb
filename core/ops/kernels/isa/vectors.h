#pragma once

// Vectors of floats, as wide as those of the instruction set. Included only by the files of this folder, each time into
// the namespace of one instruction set.

#include <cstddef>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

#if defined(__AVX512F__)
inline constexpr int kWidth = 16;
#elif defined(__AVX2__)
inline constexpr int kWidth = 8;
#else
inline constexpr int kWidth = 4;
#endif
typedef float Vector __attribute__((vector_size(kWidth * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef unsigned Bits __attribute__((vector_size(kWidth * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int Counts __attribute__((vector_size(kWidth * sizeof(int))));

/// The first n elements, at most kWidth, zeros behind them.
inline __attribute__((always_inline)) Vector loadFirst(const float* x, std::size_t n) {
#if defined(__AVX512F__)
    return reinterpret_cast<Vector>(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << n) - 1U), x));
#else
    Vector v = {};
    for (std::size_t i = 0; i < n; ++i) v[i] = x[i];
    return v;
#endif
}

inline __attribute__((always_inline)) void storeFirst(float* y, const Vector& v, std::size_t n) {
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(y, static_cast<__mmask16>((1U << n) - 1U), reinterpret_cast<__m512>(v));
#else
    for (std::size_t i = 0; i < n; ++i) y[i] = v[i];
#endif
}

}  // namespace

}  // namespace sonde::ops::kernels::SONDE_ISA
