// Depthwise convolution and max pool with a 3x3 window, straight from the picture: no copy with a border around it is
// made.

// Only for instruction sets that load a part of a vector.

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/tile_end.h"
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

/// Some lanes of a vector.
#if defined(__AVX512F__)
using Lanes = __mmask16;
#else
using Lanes = __m256i;
#endif

/// Lanes first to last − 1, of those that there are.
inline Lanes lanesBetween(std::ptrdiff_t first, std::ptrdiff_t last) {
    const auto clip = [](std::ptrdiff_t lane) {
        return static_cast<int>(lane < 0 ? 0 : lane > kWidth ? kWidth : lane);
    };
#if defined(__AVX512F__)
    return static_cast<Lanes>(((1U << clip(last)) - 1U) & ~((1U << clip(first)) - 1U));
#else
    const __m256i lanes = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    return _mm256_and_si256(_mm256_cmpgt_epi32(lanes, _mm256_set1_epi32(clip(first) - 1)),
                            _mm256_cmpgt_epi32(_mm256_set1_epi32(clip(last)), lanes));
#endif
}

/// The same, or none.
inline __attribute__((always_inline)) Lanes lanesOf(Lanes lanes, bool isThere) {
#if defined(__AVX512F__)
    return static_cast<Lanes>(isThere ? lanes : 0);
#else
    return _mm256_and_si256(lanes, _mm256_set1_epi32(isThere ? -1 : 0));
#endif
}

/// x[0] to x[kWidth − 1] in some lanes; the others are `outside`, and are not read.
inline __attribute__((always_inline)) Vector load(const float* x, Lanes lanes, float outside) {
#if defined(__AVX512F__)
    if (outside == 0) return reinterpret_cast<Vector>(_mm512_maskz_loadu_ps(lanes, x));
    return reinterpret_cast<Vector>(_mm512_mask_loadu_ps(_mm512_set1_ps(outside), lanes, x));
#else
    const __m256 inside = _mm256_maskload_ps(x, lanes);
    if (outside == 0) return reinterpret_cast<Vector>(inside);
    return reinterpret_cast<Vector>(_mm256_blendv_ps(_mm256_set1_ps(outside), inside, _mm256_castsi256_ps(lanes)));
#endif
}

inline __attribute__((always_inline)) void store(float* y, const Vector& v, Lanes lanes) {
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(y, lanes, reinterpret_cast<__m512>(v));
#else
    _mm256_maskstore_ps(y, lanes, reinterpret_cast<__m256>(v));
#endif
}

/// y = bias + Σ weights · x.
struct WeightedSum {
    Vector weights[9];
    float bias;
    static constexpr float kOutside = 0;

    explicit WeightedSum(const Plane& p) : bias(p.bias) {
        for (int t = 0; t < 9; ++t) weights[t] = p.weights[t] - Vector{};
    }
    Vector start() const { return bias - Vector{}; }
    void add(Vector& sum, int tap, const Vector& x) const { sum += weights[tap] * x; }
    void keep(const Vector& sum, float* y, Lanes lanes) { store(y, sum, lanes); }
};

/// The same, and what TileEnd makes of it.
template <bool scales>
struct EndedSum : WeightedSum {
    Vector factor, shift, low, high, bad = {};
    float* sums;  ///< of the plane
    float* y;     ///< null: in place of the sums

    explicit EndedSum(const Plane& p)
        : WeightedSum(p), factor((scales ? *p.end->factor : 0) - Vector{}),
          shift((scales ? *p.end->shift : 0) - Vector{}), low(p.end->low - Vector{}), high(p.end->high - Vector{}),
          sums(p.y), y(p.end->y) {}
    void keep(const Vector& sum, float* at, Lanes lanes) {
        if (y) store(at, sum, lanes);
        store(y ? y + (at - sums) : at, ended<scales, false>(sum, factor, shift, low, low, high, bad), lanes);
    }
};

/// y = max x, NaN wins.
struct Maximum {
    static constexpr float kOutside = -__builtin_inff();
    static Vector start() { return kOutside - Vector{}; }
    static void add(Vector& most, int, const Vector& x) { most = ((most > x) | (most != most)) ? most : x; }
    static void keep(const Vector& most, float* y, Lanes lanes) { store(y, most, lanes); }
};

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

/// v moved up by a lane; the first one is the last one of `before`.
inline __attribute__((always_inline)) Vector movedUp(const Vector& v, const Vector& before) {
#if defined(__AVX512F__)
    return reinterpret_cast<Vector>(
        _mm512_alignr_epi32(reinterpret_cast<__m512i>(v), reinterpret_cast<__m512i>(before), kWidth - 1));
#else
    const __m256 last = _mm256_blend_ps(reinterpret_cast<__m256>(v), reinterpret_cast<__m256>(before), 0x80);
    return reinterpret_cast<Vector>(_mm256_permutevar8x32_ps(last, _mm256_set_epi32(6, 5, 4, 3, 2, 1, 0, 7)));
#endif
}

/// kWidth outputs side by side: where the vectors begin that are loaded of a row, from the first element on that the
/// window's left column sees, and what of them lies in the picture; what is left of the outputs.
///
///     stride 1: the window's columns                        0, 1, 2
///     stride 2: its right ones in turn, and one lane behind  1, kWidth + 1, 1 − kWidth
template <int stride>
struct Columns {
    static constexpr std::ptrdiff_t kStarts[3] = {stride == 1 ? 0 : 1, stride == 1 ? 1 : kWidth + 1,
                                                  stride == 1 ? 2 : 1 - kWidth};
    Lanes inside[3], kept;
    std::ptrdiff_t left;

    void place(const Plane& p, std::ptrdiff_t column) {
        asm("" : "+r"(column));  // there is mostly one block: several at once in vectors cost more than the outputs
        kept = lanesBetween(0, p.columns - column), left = column * stride - p.padX;
        for (int i = 0; i < 3; ++i) inside[i] = lanesBetween(-left - kStarts[i], p.width - left - kStarts[i]);
        if (stride == 2) inside[2] = lanesOf(lanesBetween(kWidth - 1, kWidth), left >= 0 && left < p.width);
    }

    /// What the window's three columns see of a row of the picture; nothing of it if the row is not there.
    inline __attribute__((always_inline)) void taps(const float* row, bool isThere, float outside,
                                                    Vector (&seen)[3]) const {
        for (int i = 0; i < 3; ++i) seen[i] = load(row + left + kStarts[i], lanesOf(inside[i], isThere), outside);
        if constexpr (stride == 2) {
            const Vector middle = everyOther<0>(seen[0], seen[1]), right = everyOther<1>(seen[0], seen[1]);
            seen[0] = movedUp(right, seen[2]), seen[1] = middle, seen[2] = right;
        }
    }
};

/// `rows` rows of outputs from `row` on: every row of the picture is loaded once for all of them. `isInside`: they are
/// all there.
template <int rows, int stride, bool isInside, typename Use>
inline __attribute__((always_inline)) void block(const Plane& p, Use& use, const Columns<stride> columns,
                                                 std::ptrdiff_t row, float* y) {
    const std::ptrdiff_t top = row * stride - p.padY;
    const float* x = p.x + top * p.width;
    Vector results[rows];
    for (Vector& result : results) result = use.start();
#pragma GCC unroll 16
    for (int i = 0; i < (rows - 1) * stride + 3; ++i, x += p.width) {
        asm("" : "+r"(x));  // one row after the other: places of all of them would not fit into registers
        const bool isThere = isInside || (top + i >= 0 && top + i < p.height);
        Vector taps[3];
        columns.taps(isThere ? x : p.x, isThere, Use::kOutside, taps);
#pragma GCC unroll 16
        for (int r = 0; r < rows; ++r) {
            const int line = i - r * stride;
            if (line < 0 || line > 2) continue;
            for (int j = 0; j < 3; ++j) use.add(results[r], line * 3 + j, taps[j]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r, y += p.columns) {
        asm("" : "+r"(y));
        use.keep(results[r], y, columns.kept);
    }
}

/// Of wide pictures band by band, because what the next band reads of the same rows is still near then; of others
/// column by column, because what lies in the picture stays in registers. (A copy of p: what is written to y cannot
/// change it.)
template <int stride, typename Use>
inline __attribute__((always_inline)) void eachBlock(const Plane p, Use& use) {
    constexpr int kMaxBlocks = 8;  // side by side in a band
    const int blocks = p.columns > 2 * kWidth ? kMaxBlocks : 1;
    for (std::ptrdiff_t first = 0; first < p.columns; first += blocks * kWidth) {
        Columns<stride> columns[kMaxBlocks];
        const std::ptrdiff_t left = p.columns - first;
        const int count = static_cast<int>(left >= blocks * kWidth ? blocks : (left + kWidth - 1) / kWidth);
        for (int c = 0; c < count; ++c) columns[c].place(p, first + c * kWidth);
        std::ptrdiff_t row = 0;
        float* y = p.y + first;
        for (; row + kRows <= p.rows; row += kRows, y += kRows * p.columns) {
            const std::ptrdiff_t top = row * stride - p.padY;
            const bool isInside = top >= 0 && top + (kRows - 1) * stride + 3 <= p.height;
            for (int c = 0; c < count; ++c) {
                if (isInside) block<kRows, stride, true>(p, use, columns[c], row, y + c * kWidth);
                else block<kRows, stride, false>(p, use, columns[c], row, y + c * kWidth);
            }
        }
        for (; row < p.rows; ++row, y += p.columns)
            for (int c = 0; c < count; ++c) block<1, stride, false>(p, use, columns[c], row, y + c * kWidth);
    }
}

template <int stride, bool scales>
void endedPlane(const Plane& p) {
    EndedSum<scales> use(p);
    eachBlock<stride>(p, use);
    for (int l = 0; l < kWidth; ++l) p.end->bad[l] += use.bad[l];
}

template <int stride>
void plane(const Plane& p) {
    if (p.end) return p.end->factor ? endedPlane<stride, true>(p) : endedPlane<stride, false>(p);
    WeightedSum use(p);
    eachBlock<stride>(p, use);
}

template <int stride>
void maxima(const Plane& p) {
    Maximum use;
    eachBlock<stride>(p, use);
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
