// Register-blocked product of integers. One tile of C stays in registers while k runs, as in gemm.cpp: sums of 14x32
// with AVX-512, 6x16 with AVX2, 4x8 with SSE2. Each step adds a group of k for 32 bits of each factor:
//
//     c += a0·b0 + a1·b1                      16-bit elements: pmaddwd and paddd
//     c += a0·b0 + a1·b1 + a2·b2 + a3·b3      bytes: vpdpbusd, where the processor has AVX512_VNNI
//
// pmaddubsw is of no use: its sums of two products do not fit into 16 bits and saturate.

#include <utility>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/integer_vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

#if defined(__AVX512F__)
constexpr int kIntegerRows = 14;
#elif defined(__AVX2__)
constexpr int kIntegerRows = 6;
#else
constexpr int kIntegerRows = 4;
#endif

/// Rows r… of C, in one vector or two. Folds instead of loops keep every sum in a register (gemm.cpp).
template <bool half, int... r>
void pairTile(std::ptrdiff_t groups, const std::int32_t* a, const std::int32_t* b, std::int32_t* c, std::ptrdiff_t ldc,
              std::integer_sequence<int, r...>) {
    Ints first[sizeof...(r)] = {}, second[sizeof...(r)] = {};
    for (std::ptrdiff_t p = 0; p < groups; ++p, a += kIntegerRows, b += 2 * kWidth) {
        const Ints right0 = loadInts(b), right1 = loadInts(b + kWidth);
        if constexpr (half) ((first[r] = addPairs(first[r], everywhere(a[r]), right0)), ...);
        else
            ((first[r] = addPairs(first[r], everywhere(a[r]), right0),
              second[r] = addPairs(second[r], everywhere(a[r]), right1)),
             ...);
    }
    ((*reinterpret_cast<Ints*>(c + r * ldc) = first[r]), ...);
    if constexpr (!half) ((*reinterpret_cast<Ints*>(c + r * ldc + kWidth) = second[r]), ...);
}

template <int R = kIntegerRows>
void runPairs(int rows, bool half, std::ptrdiff_t groups, const std::int32_t* a, const std::int32_t* b, std::int32_t* c,
              std::ptrdiff_t ldc) {
    if (rows == R) {
        if (half) pairTile<true>(groups, a, b, c, ldc, std::make_integer_sequence<int, R>{});
        else pairTile<false>(groups, a, b, c, ldc, std::make_integer_sequence<int, R>{});
    } else if constexpr (R > 1) {
        runPairs<R - 1>(rows, half, groups, a, b, c, ldc);
    }
}

inline int elementOf(std::uint8_t byte, const ByteForm& form) {
    return (form.isSigned ? static_cast<int>(static_cast<std::int8_t>(byte)) : static_cast<int>(byte)) - form.zero;
}

void interleavePairs(const std::uint8_t* const* rows, const ByteForm& form, std::size_t n, std::int32_t* target) {
    const std::uint8_t *low = rows[0], *high = rows[1];
    const int flip = form.isSigned ? 128 : 0;  // (byte ^ 128) − 128 is the byte with its sign
    const int zero = form.zero + flip;
    if (low && high) {
        for (std::size_t i = 0; i < n; ++i)
            target[i] = (((low[i] ^ flip) - zero) & 0xFFFF) |
                        static_cast<int>(static_cast<unsigned>((high[i] ^ flip) - zero) << 16U);
    } else {
        for (std::size_t i = 0; i < n; ++i) target[i] = low ? elementOf(low[i], form) & 0xFFFF : 0;
    }
}

#if defined(__AVX512F__)

#define SONDE_VNNI __attribute__((target("avx512vnni")))

template <bool half, int... r>
SONDE_VNNI void byteTile(std::ptrdiff_t groups, const std::int32_t* a, const std::int32_t* b, std::int32_t* c,
                         std::ptrdiff_t ldc, std::integer_sequence<int, r...>) {
    __m512i first[sizeof...(r)] = {}, second[sizeof...(r)] = {};
    for (std::ptrdiff_t p = 0; p < groups; ++p, a += kIntegerRows, b += 2 * kWidth) {
        const __m512i right0 = _mm512_loadu_si512(b), right1 = _mm512_loadu_si512(b + kWidth);
        if constexpr (half) ((first[r] = _mm512_dpbusd_epi32(first[r], right0, _mm512_set1_epi32(a[r]))), ...);
        else
            ((first[r] = _mm512_dpbusd_epi32(first[r], right0, _mm512_set1_epi32(a[r])),
              second[r] = _mm512_dpbusd_epi32(second[r], right1, _mm512_set1_epi32(a[r]))),
             ...);
    }
    ((_mm512_storeu_si512(c + r * ldc, first[r])), ...);
    if constexpr (!half) ((_mm512_storeu_si512(c + r * ldc + kWidth, second[r])), ...);
}

template <int R = kIntegerRows>
void runBytes(int rows, bool half, std::ptrdiff_t groups, const std::int32_t* a, const std::int32_t* b, std::int32_t* c,
              std::ptrdiff_t ldc) {
    if (rows == R) {
        if (half) byteTile<true>(groups, a, b, c, ldc, std::make_integer_sequence<int, R>{});
        else byteTile<false>(groups, a, b, c, ldc, std::make_integer_sequence<int, R>{});
    } else if constexpr (R > 1) {
        runBytes<R - 1>(rows, half, groups, a, b, c, ldc);
    }
}

/// 16 columns at a time: bytes of two rows side by side, then pairs of these.
void interleaveBytes(const std::uint8_t* const* rows, const ByteForm& form, std::size_t n, std::int32_t* target) {
    const __m128i flip = _mm_set1_epi8(static_cast<char>(form.flip));
    std::size_t i = 0;
    for (; rows[0] && rows[1] && rows[2] && rows[3] && i + 16 <= n; i += 16) {
        __m128i x[4];
        for (int r = 0; r < 4; ++r)
            x[r] = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[r] + i)), flip);
        const __m128i low01 = _mm_unpacklo_epi8(x[0], x[1]), high01 = _mm_unpackhi_epi8(x[0], x[1]);
        const __m128i low23 = _mm_unpacklo_epi8(x[2], x[3]), high23 = _mm_unpackhi_epi8(x[2], x[3]);
        auto* const out = reinterpret_cast<__m128i*>(target + i);
        _mm_storeu_si128(out, _mm_unpacklo_epi16(low01, low23));
        _mm_storeu_si128(out + 1, _mm_unpackhi_epi16(low01, low23));
        _mm_storeu_si128(out + 2, _mm_unpacklo_epi16(high01, high23));
        _mm_storeu_si128(out + 3, _mm_unpackhi_epi16(high01, high23));
    }
    for (; i < n; ++i) {
        unsigned group = 0;
        for (unsigned r = 0; r < 4; ++r)
            if (rows[r]) group |= static_cast<unsigned>(rows[r][i] ^ form.flip) << (8 * r);
        target[i] = static_cast<int>(group);
    }
}

#endif

}  // namespace

void addIntegers(FloatKernels& table) {
    table.integers = {kIntegerRows, 2 * kWidth, 2, runPairs<>, interleavePairs};
#if defined(__AVX512F__)
    if (__builtin_cpu_supports("avx512vnni"))
        table.integers = {kIntegerRows, 2 * kWidth, 4, runBytes<>, interleaveBytes};
#endif
}

}  // namespace sonde::ops::kernels::SONDE_ISA
