#pragma once

// What becomes of sums while they are in registers, bit for bit what the loops of elementwise.cpp make of them.
// Included as vectors.h is, also by files in which a product and the sum behind it are fused.

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

/// x as the number that it was rounded to: what is done with it later is not fused with what it comes from.
template <typename T>
inline __attribute__((always_inline)) T rounded(T x) {
#if defined(__SSE2__)
    asm("" : "+v"(x));
#elif defined(__aarch64__)
    asm("" : "+w"(x));
#else
    asm("" : "+m"(x));
#endif
    return x;
}

/// clip(sum · factor + shift + other, low, high) of vectors or numbers; NaN stays. `bad` becomes NaN if what is clipped
/// is NaN or infinite: times 0 only these are not 0.
template <bool scales, bool adds, typename T>
inline __attribute__((always_inline)) T ended(const T& sum, const T& factor, const T& shift, const T& other,
                                              const T& low, const T& high, T& bad) {
    T y = sum;
    if constexpr (scales) y = rounded(y * factor) + shift;
    if constexpr (adds) y = y + other;
    bad += y * 0.0F;
    const T above = y < low ? low : y;
    return above > high ? high : above;
}

}  // namespace

}  // namespace sonde::ops::kernels::SONDE_ISA
