// What statistics are made of, as in moments.cpp, but quicker: Σx and Σx² of a few elements at a time in single
// precision, of those sums in double precision.

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/doubles.h"
#include "core/ops/kernels/isa/lanes.h"
#include "core/ops/kernels/isa/vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

/// So many additions one after the other lose four bits of 24 at most, and mostly two.
constexpr std::size_t kShort = 16;
constexpr std::size_t kSums = 2;  ///< side by side: an addition takes longer than it takes to begin the next

inline __attribute__((always_inline)) void countZeros(Counts& zeros, const Vector& x) {
#if defined(__AVX512F__)
    const auto counts = reinterpret_cast<__m512i>(zeros);
    const __mmask16 isZero = _mm512_cmp_ps_mask(reinterpret_cast<__m512>(x), _mm512_setzero_ps(), _CMP_EQ_OQ);
    zeros = reinterpret_cast<Counts>(_mm512_mask_sub_epi32(counts, isZero, counts, _mm512_set1_epi32(-1)));
#else
    zeros -= x == 0.0F;
#endif
}

inline __attribute__((always_inline)) void addTo(Doubles& total, const Vector (&sums)[kSums]) {
    const float* const lanes = reinterpret_cast<const float*>(sums);
    for (std::size_t l = 0; l < kSums * kWidth; l += kDoubles) total += widened(lanes + l);
}

struct Seen {
    Vector low = Vector{} + __builtin_inff(), high = -(Vector{} + __builtin_inff());
    Counts zeros = {};
};

inline __attribute__((always_inline)) void lookAtEnds(Seen& seen, const Vector& x) {
    seen.low = x < seen.low ? x : seen.low;
    seen.high = x > seen.high ? x : seen.high;
}

inline __attribute__((always_inline)) void look(Seen& seen, const Vector& x) {
    lookAtEnds(seen, x);
    countZeros(seen.zeros, x);
}

inline __attribute__((always_inline)) double total(const Doubles& sums) {
    return joined<kDoubles, double>([&](std::size_t l) { return sums[l]; }, [](double a, double b) { return a + b; });
}

inline __attribute__((always_inline)) void addTo(MomentSums& result, const Seen& a, const Seen& b) {
    const Vector low = a.low < b.low ? a.low : b.low, high = a.high > b.high ? a.high : b.high;
    const Counts zeros = a.zeros + b.zeros;
    result.low =
        joined<kWidth, float>([&](std::size_t l) { return low[l]; }, [](float x, float y) { return x < y ? x : y; });
    result.high =
        joined<kWidth, float>([&](std::size_t l) { return high[l]; }, [](float x, float y) { return x > y ? x : y; });
    result.zeros = static_cast<std::size_t>(
        joined<kWidth, int>([&](std::size_t l) { return zeros[l]; }, [](int x, int y) { return x + y; }));
}

/// Less than a vector.
MomentSums fewMoments(const float* x, std::size_t n) {
    MomentSums result;
    for (std::size_t i = 0; i < n; ++i) {
        const auto d = static_cast<double>(x[i]);
        result.sum += d;
        result.squares += d * d;
        result.low = x[i] < result.low ? x[i] : result.low;
        result.high = x[i] > result.high ? x[i] : result.high;
        result.zeros += x[i] == 0.0F ? 1 : 0;
    }
    return result;
}

MomentSums shortMoments(const float* x, std::size_t n) {
    if (n < kWidth) return fewMoments(x, n);
    Seen seen[kSums];
    constexpr std::size_t kStep = kSums * kWidth;
    Doubles sum = {}, squareSum = {};
    std::size_t i = 0, beyond = 0;
    while (i < n) {
        Vector sums[kSums] = {}, squares[kSums] = {};
        const auto add = [&](std::size_t v, const Vector& a) __attribute__((always_inline)) {
            sums[v] += a;
            squares[v] += a * a;
        };
        const std::size_t end = n - i < kShort * kStep ? n : i + kShort * kStep;
        for (; i + kStep <= end; i += kStep) {
            for (std::size_t v = 0; v < kSums; ++v) {
                const Vector a = *reinterpret_cast<const Vector*>(x + i + v * kWidth);
                add(v, a);
                look(seen[v], a);
            }
        }
        for (; i + kWidth <= end; i += kWidth) {
            const Vector a = *reinterpret_cast<const Vector*>(x + i);
            add(0, a);
            look(seen[0], a);
        }
        if (i < end) {
            const Vector a = loadFirst(x + i, n - i);
            add(1, a);
            countZeros(seen[1].zeros, a);
            lookAtEnds(seen[1], *reinterpret_cast<const Vector*>(x + n - kWidth));
            beyond = kWidth - (n - i);
            i = n;
        }
        addTo(sum, sums);
        addTo(squareSum, squares);
    }
    MomentSums result;
    result.sum = total(sum), result.squares = total(squareSum);
    addTo(result, seen[0], seen[1]);
    result.zeros -= beyond;
    return result;
}

}  // namespace

void addShortMoments(FloatKernels& table);

void addShortMoments(FloatKernels& table) { table.shortMoments = shortMoments; }

}  // namespace sonde::ops::kernels::SONDE_ISA
