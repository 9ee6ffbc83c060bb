// What statistics are made of, in one pass: Σ (x − shift) and Σ (x − shift)² in double precision, extremes, zeros.

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "core/ops/kernels/float_kernels.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

/// Sixteen running sums in every instruction set, so that the order of additions is the same in all.
constexpr std::size_t kLanes = 16;

#if defined(__AVX512F__)
constexpr std::size_t kFloats = 16, kDoubles = 8;
#elif defined(__AVX2__)
constexpr std::size_t kFloats = 8, kDoubles = 4;
#else
constexpr std::size_t kFloats = 4, kDoubles = 4;
#endif
typedef float Floats __attribute__((vector_size(kFloats * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int Counts __attribute__((vector_size(kFloats * sizeof(int))));
typedef float Half __attribute__((vector_size(kDoubles * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef double Doubles __attribute__((vector_size(kDoubles * sizeof(double))));

/// Running sums of sixteen elements side by side.
struct Lanes {
    Doubles sums[kLanes / kDoubles] = {}, squares[kLanes / kDoubles] = {};
    Floats lows[kLanes / kFloats], highs[kLanes / kFloats];
    Counts zeros[kLanes / kFloats] = {};  ///< −1 each
};

inline __attribute__((always_inline)) void read(const float* x, Doubles& d) {
#if defined(__AVX512F__)
    d = _mm512_cvtps_pd(_mm256_loadu_ps(x));  // GCC 12 converts the halves one by one
#else
    d = __builtin_convertvector(*reinterpret_cast<const Half*>(x), Doubles);
#endif
}

inline __attribute__((always_inline)) void add(Lanes& lanes, const float* x, double shift) {
    for (std::size_t l = 0; l < kLanes / kDoubles; ++l) {
        Doubles d;
        read(x + l * kDoubles, d);
        d -= shift;
        lanes.sums[l] += d;
        lanes.squares[l] += d * d;
    }
    for (std::size_t l = 0; l < kLanes / kFloats; ++l) {
        const Floats a = *reinterpret_cast<const Floats*>(x + l * kFloats);
        lanes.lows[l] = a < lanes.lows[l] ? a : lanes.lows[l];
        lanes.highs[l] = a > lanes.highs[l] ? a : lanes.highs[l];
        lanes.zeros[l] += a == 0.0F;
    }
}

void moments(const float* x, std::size_t n, double shift, MomentSums& result) {
    Lanes lanes;
    for (std::size_t l = 0; l < kLanes / kFloats; ++l) {
        lanes.lows[l] = Floats{} + __builtin_inff();
        lanes.highs[l] = -lanes.lows[l];
    }
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) add(lanes, x + i, shift);
    for (std::size_t l = 0; l < kLanes; ++l) {
        result.sum += lanes.sums[l / kDoubles][l % kDoubles];
        result.squares += lanes.squares[l / kDoubles][l % kDoubles];
        const float low = lanes.lows[l / kFloats][l % kFloats], high = lanes.highs[l / kFloats][l % kFloats];
        result.low = low < result.low ? low : result.low;
        result.high = high > result.high ? high : result.high;
        result.zeros += static_cast<std::size_t>(-lanes.zeros[l / kFloats][l % kFloats]);
    }
    for (; i < n; ++i) {
        const double d = static_cast<double>(x[i]) - shift;
        result.sum += d;
        result.squares += d * d;
        result.low = x[i] < result.low ? x[i] : result.low;
        result.high = x[i] > result.high ? x[i] : result.high;
        result.zeros += x[i] == 0.0F ? 1 : 0;
    }
}

}  // namespace

void addMoments(FloatKernels& table);

void addMoments(FloatKernels& table) { table.moments = moments; }

}  // namespace sonde::ops::kernels::SONDE_ISA
