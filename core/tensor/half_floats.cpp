// Conversion between float32 and the two-byte floating point types, by Eigen.

#include "core/tensor/half_floats.h"

#include <Eigen/Core>
#include <bit>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "core/tensor/float_types.h"

namespace sonde::tensor {

namespace {

bool isNaN(std::uint32_t floatBits) { return (floatBits & 0x7fffffff) > 0x7f800000; }

float widenHalf(std::uint16_t bits) {
    return Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits));
}

// Eigen's portable roundings make one NaN of all. The payload stays here, as with the processors' own instructions.

std::uint16_t roundToHalf(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint16_t rounded = Eigen::half_impl::float_to_half_rtne(value).x;
    return isNaN(bits) ? static_cast<std::uint16_t>(rounded | ((bits >> 13) & 0x1ff)) : rounded;
}

std::uint16_t roundToBFloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return isNaN(bits) ? static_cast<std::uint16_t>((bits >> 16) | 0x40)
                       : Eigen::bfloat16_impl::float_to_bfloat16_rtne<true>(value).value;
}

}  // namespace

float halfToFloat(std::uint16_t bits) { return widenHalf(bits); }
std::uint16_t floatToHalf(float value) { return roundToHalf(value); }
std::uint16_t floatToBFloat16(float value) { return roundToBFloat16(value); }

namespace {

// The processor's own conversions, eight at a time; how many elements are done. They make signalling NaNs quiet, which
// widening must not: blocks with a NaN are left to the portable loop.

#if defined(__x86_64__)

bool hasHalfConversions() {
    // Clang 14 does not know the name "f16c".
    static const bool has = [] {
        unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
        return __builtin_cpu_supports("avx2") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
    }();
    return has;
}

__attribute__((target("avx2,f16c"))) void widenEights(const std::uint16_t* bits, float* values, std::size_t count) {
    for (std::size_t i = 0; i + 8 <= count; i += 8) {
        const __m256 wide = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bits + i)));
        if (_mm256_movemask_ps(_mm256_cmp_ps(wide, wide, _CMP_UNORD_Q)) == 0) _mm256_storeu_ps(values + i, wide);
        else
            for (std::size_t j = i; j < i + 8; ++j) values[j] = widenHalf(bits[j]);
    }
}

__attribute__((target("avx2,f16c"))) void roundEights(const float* values, std::uint16_t* bits, std::size_t count) {
    for (std::size_t i = 0; i + 8 <= count; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(bits + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(values + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

__attribute__((target("avx2"))) void widenBrainEights(const std::uint16_t* bits, float* values, std::size_t count) {
    for (std::size_t i = 0; i + 8 <= count; i += 8) {
        const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bits + i)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(values + i), _mm256_slli_epi32(wide, 16));
    }
}

/// (bits + 0x7fff + the lowest bit that stays) >> 16; NaN as in roundToBFloat16().
__attribute__((target("avx2"))) void roundBrainEights(const float* values, std::uint16_t* bits, std::size_t count) {
    for (std::size_t i = 0; i + 8 <= count; i += 8) {
        const __m256 value = _mm256_loadu_ps(values + i);
        const __m256i wide = _mm256_castps_si256(value), high = _mm256_srli_epi32(wide, 16);
        const __m256i half = _mm256_add_epi32(_mm256_set1_epi32(0x7fff), _mm256_and_si256(high, _mm256_set1_epi32(1)));
        const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(wide, half), 16),
                      quiet = _mm256_or_si256(high, _mm256_set1_epi32(0x40));
        const __m256i isNumber = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_ORD_Q));
        const __m256i result = _mm256_blendv_epi8(quiet, rounded, isNumber);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(bits + i),
                         _mm_packus_epi32(_mm256_castsi256_si128(result), _mm256_extracti128_si256(result, 1)));
    }
}

#else

constexpr bool hasHalfConversions() { return false; }
void widenEights(const std::uint16_t*, float*, std::size_t) {}
void roundEights(const float*, std::uint16_t*, std::size_t) {}
void widenBrainEights(const std::uint16_t*, float*, std::size_t) {}
void roundBrainEights(const float*, std::uint16_t*, std::size_t) {}

#endif

std::size_t eights(std::size_t count) { return hasHalfConversions() ? count / 8 * 8 : 0; }

}  // namespace

void halfToFloat(const std::uint16_t* bits, float* values, std::size_t count) {
    const std::size_t done = eights(count);
    if (done > 0) widenEights(bits, values, done);
    for (std::size_t i = done; i < count; ++i) values[i] = widenHalf(bits[i]);
}

void floatToHalf(const float* values, std::uint16_t* bits, std::size_t count) {
    const std::size_t done = eights(count);
    if (done > 0) roundEights(values, bits, done);
    for (std::size_t i = done; i < count; ++i) bits[i] = roundToHalf(values[i]);
}

void bfloat16ToFloat(const std::uint16_t* bits, float* values, std::size_t count) {
    const std::size_t done = eights(count);
    if (done > 0) widenBrainEights(bits, values, done);
    for (std::size_t i = done; i < count; ++i)
        values[i] = Eigen::bfloat16_impl::bfloat16_to_float(Eigen::bfloat16_impl::raw_uint16_to_bfloat16(bits[i]));
}

void floatToBFloat16(const float* values, std::uint16_t* bits, std::size_t count) {
    const std::size_t done = eights(count);
    if (done > 0) roundBrainEights(values, bits, done);
    for (std::size_t i = done; i < count; ++i) bits[i] = roundToBFloat16(values[i]);
}

}  // namespace sonde::tensor
