#pragma once

// What becomes of sums while they are in registers, bit for bit what the loops of elementwise.cpp make of them.
// Included as vectors.h is, also by files in which a product and the sum behind it are fused.

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

/// x as the numbers that it was rounded to: what is done with it later is not fused with what it comes from.
inline __attribute__((always_inline)) Vector rounded(Vector x) {
#if defined(__SSE2__)
    asm("" : "+v"(x));
#elif defined(__aarch64__)
    asm("" : "+w"(x));
#else
    asm("" : "+m"(x));
#endif
    return x;
}

/// clip(sum · factor + shift + other, low, high); NaN stays. `bad` becomes NaN where what is clipped is NaN or
/// infinite: times 0 only these are not 0.
template <bool scales, bool adds>
inline __attribute__((always_inline)) Vector ended(const Vector& sum, const Vector& factor, const Vector& shift,
                                                   const Vector& other, const Vector& low, const Vector& high,
                                                   Vector& bad) {
    Vector y = sum;
    if constexpr (scales) y = rounded(y * factor) + shift;
    if constexpr (adds) y = y + other;
    bad += y * 0.0F;
    const Vector above = y < low ? low : y;
    return above > high ? high : above;
}

}  // namespace

}  // namespace sonde::ops::kernels::SONDE_ISA
