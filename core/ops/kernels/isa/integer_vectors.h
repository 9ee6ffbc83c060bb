#pragma once

// Vectors of 32-bit integers, and how they become bytes. Included as vectors.h is.

#include <cstdint>
#include <cstring>

#include "core/ops/kernels/integer_kernels.h"
#include "core/ops/kernels/isa/vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

typedef int Ints __attribute__((vector_size(kWidth * sizeof(int)), aligned(sizeof(int)), may_alias));

inline __attribute__((always_inline)) Ints everywhere(int x) { return x - Ints{}; }
inline __attribute__((always_inline)) Ints loadInts(const std::int32_t* x) { return *reinterpret_cast<const Ints*>(x); }

/// Each 32 bits of a and b are two signed 16-bit integers: sum + a0·b0 + a1·b1.
inline __attribute__((always_inline)) Ints addPairs(const Ints& sum, const Ints& a, const Ints& b) {
#if defined(__AVX512F__)
    return sum + reinterpret_cast<Ints>(_mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
    return sum + reinterpret_cast<Ints>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
    return sum + reinterpret_cast<Ints>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
    return sum + (a >> 16) * (b >> 16) + ((a << 16) >> 16) * ((b << 16) >> 16);
#endif
}

/// x within its bounds; x is a number.
inline __attribute__((always_inline)) Vector clipped(const Vector& x, const Vector& low, const Vector& high) {
#if defined(__AVX512F__)
    return reinterpret_cast<Vector>(_mm512_min_ps(
        _mm512_max_ps(reinterpret_cast<__m512>(x), reinterpret_cast<__m512>(low)), reinterpret_cast<__m512>(high)));
#elif defined(__AVX2__)
    return reinterpret_cast<Vector>(_mm256_min_ps(
        _mm256_max_ps(reinterpret_cast<__m256>(x), reinterpret_cast<__m256>(low)), reinterpret_cast<__m256>(high)));
#elif defined(__SSE2__)
    return reinterpret_cast<Vector>(_mm_min_ps(_mm_max_ps(reinterpret_cast<__m128>(x), reinterpret_cast<__m128>(low)),
                                               reinterpret_cast<__m128>(high)));
#else
    const Vector least = x < low ? low : x;
    return least > high ? high : least;
#endif
}

/// 1.5·2^23: the low bits of a sum with that are the number rounded to an integer, as long as it is below 2^22. (A
/// conversion of the compiler's truncates, and nearbyint() is a call with SSE2.)
inline constexpr float kRoundNarrow = 12582912.0F;

/// The Requantisation of a vector of sums to which offset and bias were added: the low 8 bits of each element.
struct RequantisedVector {
    Vector low, high;
    Ints zero;

    explicit RequantisedVector(const Requantisation& by)
        : low(by.low - Vector{}), high(by.high - Vector{}), zero(everywhere(by.zero)) {}
    __attribute__((always_inline)) Ints operator()(const Ints& sums, const Vector& factor) const {
        const Vector value = clipped(__builtin_convertvector(sums, Vector) * factor, low, high);
        return reinterpret_cast<Ints>(value + kRoundNarrow) + zero;
    }
};

/// The low 8 bits of each element.
inline __attribute__((always_inline)) void storeBytes(std::uint8_t* y, const Ints& x) {
#if defined(__AVX512F__)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(x)));
#elif defined(__AVX2__)
    const __m256i low = _mm256_and_si256(reinterpret_cast<__m256i>(x), _mm256_set1_epi32(0xFF));
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(y), _mm_packus_epi16(words, words));
#elif defined(__SSE2__)
    const __m128i low = _mm_and_si128(reinterpret_cast<__m128i>(x), _mm_set1_epi32(0xFF));
    const __m128i words = _mm_packs_epi32(low, low);
    const int bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
    std::memcpy(y, &bytes, sizeof(bytes));
#else
    typedef std::uint8_t Bytes __attribute__((vector_size(kWidth)));
    const Bytes bytes = __builtin_convertvector(x, Bytes);
    std::memcpy(y, &bytes, sizeof(bytes));
#endif
}

/// The low 8 bits of even[0], odd[0], even[1], odd[1] …
inline __attribute__((always_inline)) void storeBytes(std::uint8_t* y, const Ints& even, const Ints& odd) {
    const Ints pairs = (even & 0xFF) | ((odd & 0xFF) << 8);
#if defined(__AVX512F__)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), _mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(pairs)));
#elif defined(__AVX2__)
    const __m256i low = reinterpret_cast<__m256i>(pairs);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y),
                     _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
#else
    for (int i = 0; i < kWidth; ++i)
        y[2 * i] = static_cast<std::uint8_t>(pairs[i]), y[2 * i + 1] = static_cast<std::uint8_t>(pairs[i] >> 8);
#endif
}

}  // namespace

}  // namespace sonde::ops::kernels::SONDE_ISA
