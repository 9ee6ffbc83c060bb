// Depthwise convolution and max pool with a 3x3 window, straight from the picture: no copy with a border around it is
// made.

// Only for instruction sets that load a part of a vector.

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/vectors.h"

#if defined(__AVX2__)

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

/// Outputs below each other that stay in registers: 7, 14, 28 … rows are common.
#if defined(__AVX512F__)
constexpr int kRows = 7;
#else
constexpr int kRows = 4;
#endif
using Plane = Plane3x3;

/// y = bias + Σ weights · x.
struct WeightedSum {
    Vector weights[9];
    float bias;
    static constexpr float kOutside = 0;
    Vector start() const { return bias - Vector{}; }
    void add(Vector& sum, int tap, const Vector& x) const { sum += weights[tap] * x; }
};

/// y = max x, NaN wins.
struct Maximum {
    static constexpr float kOutside = -__builtin_inff();
    static Vector start() { return kOutside - Vector{}; }
    static void add(Vector& most, int, const Vector& x) { most = (most > x) | (most != most) ? most : x; }
};

/// Elements x[at] to x[at + kWidth − 1]; what lies outside of x[0] to x[width − 1] counts as `outside` and is not read.
template <bool isInside>
inline __attribute__((always_inline)) Vector load(const float* x, std::ptrdiff_t at, std::ptrdiff_t width,
                                                  float outside) {
    if constexpr (isInside) return *reinterpret_cast<const Vector*>(x + at);
    const int first = static_cast<int>(at >= 0 ? 0 : at <= -kWidth ? kWidth : -at);
    const int last = static_cast<int>(width - at >= kWidth ? kWidth : width <= at ? 0 : width - at);
#if defined(__AVX512F__)
    const unsigned lanes = ((1U << last) - 1U) & ~((1U << first) - 1U);
    return reinterpret_cast<Vector>(
        _mm512_mask_loadu_ps(_mm512_set1_ps(outside), static_cast<__mmask16>(lanes), x + at));
#else
    const __m256i lanes = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    const __m256i mask = _mm256_and_si256(_mm256_cmpgt_epi32(lanes, _mm256_set1_epi32(first - 1)),
                                          _mm256_cmpgt_epi32(_mm256_set1_epi32(last), lanes));
    const __m256 inside = _mm256_maskload_ps(x + at, mask);
    return reinterpret_cast<Vector>(_mm256_blendv_ps(_mm256_set1_ps(outside), inside, _mm256_castsi256_ps(mask)));
#endif
}

/// Elements first, first + 2, first + 4 … of a and b, one behind the other.
template <int first>
inline __attribute__((always_inline)) Vector everyOther(const Vector& a, const Vector& b) {
#if defined(__AVX512F__)
    const __m512i index = _mm512_add_epi32(_mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0),
                                           _mm512_set1_epi32(first));
    return reinterpret_cast<Vector>(
        _mm512_permutex2var_ps(reinterpret_cast<__m512>(a), index, reinterpret_cast<__m512>(b)));
#else
    // Of each half of both; then the halves in order.
    const __m256 mixed =
        _mm256_shuffle_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), first == 0 ? 0x88 : 0xDD);
    return reinterpret_cast<Vector>(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xD8));
#endif
}

/// What the three columns of the window see of a row of the picture, from x[at] on.
template <int stride, bool isInside>
inline __attribute__((always_inline)) void loadTaps(const float* x, std::ptrdiff_t at, std::ptrdiff_t width,
                                                    float outside, Vector (&taps)[3]) {
    if constexpr (stride == 1) {
        for (int j = 0; j < 3; ++j) taps[j] = load<isInside>(x, at + j, width, outside);
    } else {
        const auto from = [&](std::ptrdiff_t first) { return load<isInside>(x, first, width, outside); };
        const Vector low = from(at), high = from(at + kWidth);
        taps[0] = everyOther<0>(low, high), taps[1] = everyOther<1>(low, high);
        taps[2] = everyOther<0>(from(at + 2), from(at + kWidth + 2));
    }
}

inline __attribute__((always_inline)) void store(float* y, const Vector& v, std::ptrdiff_t count) {
    if (count >= kWidth) {
        *reinterpret_cast<Vector*>(y) = v;
        return;
    }
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(y, static_cast<__mmask16>((1U << count) - 1U), reinterpret_cast<__m512>(v));
#else
    for (std::ptrdiff_t i = 0; i < count; ++i) y[i] = v[i];
#endif
}

/// `rows` rows of kWidth outputs from (row, column) on: every row of the picture is loaded once for all of them.
template <int rows, int stride, bool isInside, typename Use>
void block(const Plane& p, const Use& use, std::ptrdiff_t row, std::ptrdiff_t column) {
    const std::ptrdiff_t top = row * stride - p.padY, left = column * stride - p.padX;
    Vector results[rows];
    for (Vector& result : results) result = use.start();
#pragma GCC unroll 16
    for (int i = 0; i < (rows - 1) * stride + 3; ++i) {
        Vector taps[3];
        for (Vector& tap : taps) tap = Use::kOutside - Vector{};
        if (top + i >= 0 && top + i < p.height)
            loadTaps<stride, isInside>(p.x + (top + i) * p.width, left, p.width, Use::kOutside, taps);
#pragma GCC unroll 16
        for (int r = 0; r < rows; ++r) {
            const int line = i - r * stride;
            if (line < 0 || line > 2) continue;
            for (int j = 0; j < 3; ++j) use.add(results[r], line * 3 + j, taps[j]);
        }
    }
    for (int r = 0; r < rows; ++r) store(p.y + (row + r) * p.columns + column, results[r], p.columns - column);
}

/// All outputs of `rows` rows.
template <int rows, int stride, typename Use>
void band(const Plane& p, const Use& use, std::ptrdiff_t row) {
    for (std::ptrdiff_t column = 0; column < p.columns; column += kWidth) {
        const std::ptrdiff_t left = column * stride - p.padX, right = left + stride * kWidth + 2;
        left >= 0 && right <= p.width ? block<rows, stride, true>(p, use, row, column)
                                      : block<rows, stride, false>(p, use, row, column);
    }
}

template <int stride, typename Use>
void eachBand(const Plane& p, const Use& use) {
    std::ptrdiff_t row = 0;
    for (; row + kRows <= p.rows; row += kRows) band<kRows, stride>(p, use, row);
    for (; row < p.rows; ++row) band<1, stride>(p, use, row);
}

template <int stride>
void plane(const Plane& p) {
    WeightedSum use;
    for (int t = 0; t < 9; ++t) use.weights[t] = p.weights[t] - Vector{};
    use.bias = p.bias;
    eachBand<stride>(p, use);
}

template <int stride>
void maxima(const Plane& p) {
    eachBand<stride>(p, Maximum{});
}

}  // namespace

void addDepthwise(FloatKernels& table) {
    table.depthwise3x3[0] = plane<1>;
    table.depthwise3x3[1] = plane<2>;
    table.maxPool3x3[0] = maxima<1>;
    table.maxPool3x3[1] = maxima<2>;
}

}  // namespace sonde::ops::kernels::SONDE_ISA

#else

namespace sonde::ops::kernels::SONDE_ISA {

void addDepthwise(FloatKernels&) {}

}  // namespace sonde::ops::kernels::SONDE_ISA

#endif
