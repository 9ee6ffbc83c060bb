// What statistics are made of, in one pass: Σ (x − shift) and Σ (x − shift)² in double precision, extremes, zeros.

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/doubles.h"
#include "core/ops/kernels/isa/lanes.h"
#include "core/ops/kernels/isa/vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

/// Sixteen running sums in every instruction set, so that the order of additions is the same in all.
constexpr int kLanes = 16;

/// Running sums of sixteen elements side by side.
struct Lanes {
    Doubles sums[kLanes / kDoubles] = {}, squares[kLanes / kDoubles] = {};
    Vector lows[kLanes / kWidth], highs[kLanes / kWidth];
    Counts zeros[kLanes / kWidth] = {};  ///< −1 each
};

inline __attribute__((always_inline)) void add(Lanes& lanes, const float* x, double shift) {
    for (int l = 0; l < kLanes / kDoubles; ++l) {
        const Doubles d = widened(x + l * kDoubles) - shift;
        lanes.sums[l] += d;
        lanes.squares[l] += d * d;
    }
    for (int l = 0; l < kLanes / kWidth; ++l) {
        const Vector a = *reinterpret_cast<const Vector*>(x + l * kWidth);
        lanes.lows[l] = a < lanes.lows[l] ? a : lanes.lows[l];
        lanes.highs[l] = a > lanes.highs[l] ? a : lanes.highs[l];
        lanes.zeros[l] += a == 0.0F;
    }
}

void moments(const float* x, std::size_t n, double shift, MomentSums& result) {
    Lanes lanes;
    for (int l = 0; l < kLanes / kWidth; ++l) {
        lanes.lows[l] = Vector{} + __builtin_inff();
        lanes.highs[l] = -lanes.lows[l];
    }
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) add(lanes, x + i, shift);
    const auto plus = [](auto a, auto b) __attribute__((always_inline)) { return a + b; };
    result.sum += joined<kLanes, double>([&](std::size_t l) { return lanes.sums[l / kDoubles][l % kDoubles]; }, plus);
    result.squares +=
        joined<kLanes, double>([&](std::size_t l) { return lanes.squares[l / kDoubles][l % kDoubles]; }, plus);
    const float low = joined<kLanes, float>([&](std::size_t l) { return lanes.lows[l / kWidth][l % kWidth]; },
                                            [](float a, float b) { return a < b ? a : b; });
    const float high = joined<kLanes, float>([&](std::size_t l) { return lanes.highs[l / kWidth][l % kWidth]; },
                                             [](float a, float b) { return a > b ? a : b; });
    result.low = low < result.low ? low : result.low;
    result.high = high > result.high ? high : result.high;
    result.zeros += static_cast<std::size_t>(
        -joined<kLanes, int>([&](std::size_t l) { return lanes.zeros[l / kWidth][l % kWidth]; }, plus));
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
