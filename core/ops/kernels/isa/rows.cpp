// Loops over rows that end in one number, and loops over several rows at once.

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/vector_math.h"
#include "core/ops/kernels/isa/vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

/// Sixteen running sums in every instruction set, so that the order of additions is the same in all.
constexpr std::size_t kLanes = 16;

template <typename F>
inline __attribute__((always_inline)) float laneSum(std::size_t n, F term) {
    float lanes[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += term(i + l);
    }
    for (std::size_t l = 0; i + l < n; ++l) lanes[l] += term(i + l);
    for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
        for (std::size_t l = 0; l < width; ++l) lanes[l] += lanes[l + width];
    }
    return lanes[0];
}

/// Long rows are summed by blocks: the error grows with the number of blocks and not of elements.
constexpr std::size_t kBlock = 4096;

template <typename F>
inline __attribute__((always_inline)) float blockSum(std::size_t n, F term) {
    double total = 0;
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        const std::size_t count = n - begin < kBlock ? n - begin : kBlock;
        total += static_cast<double>(laneSum(count, [&](std::size_t i) { return term(begin + i); }));
    }
    return static_cast<float>(total);
}

float sum(const float* x, std::size_t n) {
    return blockSum(n, [x](std::size_t i) { return x[i]; });
}

float sumSquares(const float* x, float center, std::size_t n) {
    return blockSum(n, [x, center](std::size_t i) { return (x[i] - center) * (x[i] - center); });
}

float dot(const float* x, const float* y, std::size_t n) {
    return blockSum(n, [x, y](std::size_t i) { return x[i] * y[i]; });
}

float maximum(const float* x, std::size_t n) {
    float lanes[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] = -__builtin_inff();
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (std::size_t l = 0; l < kLanes; ++l) lanes[l] = maxOf(lanes[l], x[i + l]);
    }
    for (; i < n; ++i) lanes[0] = maxOf(lanes[0], x[i]);
    float result = lanes[0];
    for (std::size_t l = 1; l < kLanes; ++l) result = maxOf(result, lanes[l]);
    return result;
}

float expSum(const float* x, float shift, float* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] = expOf(x[i] - shift);
    return sum(y, n);
}

void axpy(float w, const float* x, float* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] += w * x[i];
}

constexpr unsigned kExponent = 0x7f800000U, kOne = 0x00800000U;

/// Adding one to an exponent of all ones carries into the sign bit.
inline __attribute__((always_inline)) Bits signIfBad(const float* x) {
    return (*reinterpret_cast<const Bits*>(x) & kExponent) + kOne;
}

inline __attribute__((always_inline)) bool anySign(Bits bits) {
#if defined(__AVX512F__)
    return _mm512_movepi32_mask(reinterpret_cast<__m512i>(bits)) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_ps(reinterpret_cast<__m256>(bits)) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_ps(reinterpret_cast<__m128>(bits)) != 0;
#else
    unsigned all = 0;
    for (std::size_t l = 0; l < kWidth; ++l) all |= bits[l];
    return (all & 0x80000000U) != 0;
#endif
}

bool allNarrowFinite(const std::uint16_t* x, std::uint16_t infinity, std::size_t n) {
    std::uint16_t found = 0;
    for (std::size_t i = 0; i < n; ++i) found |= static_cast<std::uint16_t>((x[i] & infinity) == infinity ? 1 : 0);
    return found == 0;
}

bool allFinite(const float* x, std::size_t n) {
    if (n < kWidth) {
        unsigned all = 0;
        for (std::size_t i = 0; i < n; ++i) {
            unsigned bits;
            __builtin_memcpy(&bits, x + i, sizeof bits);
            all |= (bits & kExponent) + kOne;
        }
        return !(all & 0x80000000U);
    }
    Bits a = signIfBad(x + n - kWidth), b = a, c = a, d = a;  // the last vector overlaps the one before it
    std::size_t i = 0;
    for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
        a |= signIfBad(x + i), b |= signIfBad(x + i + kWidth), c |= signIfBad(x + i + 2 * kWidth),
            d |= signIfBad(x + i + 3 * kWidth);
    }
    for (; i + kWidth <= n; i += kWidth) a |= signIfBad(x + i);
    return !anySign((a | b) | (c | d));
}

/// Four vectors of outputs stay in registers while the taps pass.
void weightedRows(const float* const* rows, const float* weights, std::size_t taps, float bias, float* y,
                  std::size_t n) {
    std::size_t i = 0;
    for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
        Vector a = bias - Vector{}, b = a, c = a, d = a;
        for (std::size_t t = 0; t < taps; ++t) {
            const Vector w = weights[t] - Vector{};
            const Vector* row = reinterpret_cast<const Vector*>(rows[t] + i);
            a += w * row[0];
            b += w * row[1];
            c += w * row[2];
            d += w * row[3];
        }
        Vector* out = reinterpret_cast<Vector*>(y + i);
        out[0] = a, out[1] = b, out[2] = c, out[3] = d;
    }
    for (; i + kWidth <= n; i += kWidth) {
        Vector a = bias - Vector{};
        for (std::size_t t = 0; t < taps; ++t)
            a += (weights[t] - Vector{}) * *reinterpret_cast<const Vector*>(rows[t] + i);
        *reinterpret_cast<Vector*>(y + i) = a;
    }
    for (; i < n; ++i) {
        float sum = bias;
        for (std::size_t t = 0; t < taps; ++t) sum += weights[t] * rows[t][i];
        y[i] = sum;
    }
}

/// The first n elements of a vector.
inline __attribute__((always_inline)) void storePart(float* y, const Vector& v, std::size_t n) {
    if (n >= kWidth) {
        *reinterpret_cast<Vector*>(y) = v;
        return;
    }
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(y, static_cast<__mmask16>((1U << n) - 1U), reinterpret_cast<__m512>(v));
#else
    for (std::size_t i = 0; i < n; ++i) y[i] = v[i];
#endif
}

/// Four rows of outputs of a 3x3 window without stride: six rows of inputs are read, each three times.
inline __attribute__((always_inline)) void fourRows(const float* x, std::ptrdiff_t pitch, const Vector (&w)[9],
                                                    float bias, Vector (&sums)[4]) {
    for (Vector& sum : sums) sum = bias - Vector{};
    for (int row = 0; row < 6; ++row) {
        Vector in[3];
        for (int i = 0; i < 3; ++i) in[i] = *reinterpret_cast<const Vector*>(x + row * pitch + i);
        for (int r = 0; r < 4; ++r) {
            const int tapRow = row - r;
            if (tapRow < 0 || tapRow > 2) continue;
            for (int i = 0; i < 3; ++i) sums[r] += w[tapRow * 3 + i] * in[i];
        }
    }
}

void weightedPlane(const float* const* taps, const float* weights, std::size_t count, float bias, std::ptrdiff_t pitch,
                   float* y, std::ptrdiff_t columns, std::ptrdiff_t rows) {
    bool dense = count == 9;
    for (std::size_t t = 0; dense && t < 9; ++t) {
        dense = taps[t] == taps[0] + static_cast<std::ptrdiff_t>(t / 3) * pitch + static_cast<std::ptrdiff_t>(t % 3);
    }
    std::ptrdiff_t row = 0;
    if (dense) {
        Vector w[9];
        for (int t = 0; t < 9; ++t) w[t] = weights[t] - Vector{};
        for (; row + 4 <= rows; row += 4) {
            for (std::ptrdiff_t i = 0; i < columns; i += static_cast<std::ptrdiff_t>(kWidth)) {
                Vector sums[4];
                fourRows(taps[0] + row * pitch + i, pitch, w, bias, sums);
                for (int r = 0; r < 4; ++r)
                    storePart(y + (row + r) * columns + i, sums[r], static_cast<std::size_t>(columns - i));
            }
        }
    }
    for (; row < rows; ++row) {
        for (std::ptrdiff_t i = 0; i < columns; i += static_cast<std::ptrdiff_t>(kWidth)) {
            Vector sum = bias - Vector{};
            for (std::size_t t = 0; t < count; ++t) {
                sum += (weights[t] - Vector{}) * *reinterpret_cast<const Vector*>(taps[t] + row * pitch + i);
            }
            storePart(y + row * columns + i, sum, static_cast<std::size_t>(columns - i));
        }
    }
}

void everyOther(const float* x, float* y, std::size_t n) {
    std::size_t i = 0;
#if defined(__AVX512F__)
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    for (; i < n; i += kWidth) {
        const std::size_t left = 2 * (n - i) - 1, high = left > kWidth ? left - kWidth : 0;  // elements of x
        const Vector a = loadFirst(x + 2 * i, left < kWidth ? left : kWidth);
        const Vector b = loadFirst(x + 2 * i + kWidth, high < kWidth ? high : kWidth);
        const __m512 both = _mm512_permutex2var_ps(reinterpret_cast<__m512>(a), even, reinterpret_cast<__m512>(b));
        storeFirst(y + i, reinterpret_cast<Vector>(both), n - i < kWidth ? n - i : kWidth);
    }
#endif
    for (; i < n; ++i) y[i] = x[2 * i];
}

#if defined(__AVX512F__)
/// Sixteen elements from x[at] on, zeros where they are outside of [first, last).
inline __attribute__((always_inline)) __m512 loadInside(const float* x, std::ptrdiff_t at, std::ptrdiff_t first,
                                                        std::ptrdiff_t last) {
    const std::ptrdiff_t from = first - at, to = last - at;
    const unsigned upTo = to >= 16 ? 0xFFFFU : to <= 0 ? 0U : (1U << to) - 1U;
    const unsigned before = from >= 16 ? 0xFFFFU : from <= 0 ? 0U : (1U << from) - 1U;
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>(upTo & ~before), x + at);
}

/// Element i is number index[i] of the 32 of both.
inline __attribute__((always_inline)) __m512 permuted(__m512i index, __m512 a, __m512 b) {
    return _mm512_permutex2var_ps(a, index, b);
}

/// Every fourth of 64 elements beginning with number j.
inline __attribute__((always_inline)) __m512 fourths(const __m512 (&v)[5], int j) {
    const __m512i index =
        _mm512_add_epi32(_mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 28, 24, 20, 16, 12, 8, 4, 0), _mm512_set1_epi32(j));
    const __m512 low = permuted(index, v[0], v[1]), high = permuted(index, v[2], v[3]);
    return permuted(_mm512_set_epi32(23, 22, 21, 20, 19, 18, 17, 16, 7, 6, 5, 4, 3, 2, 1, 0), low, high);
}

void tileRowsOfFour(const float* x, std::ptrdiff_t first, std::ptrdiff_t last, float* y, std::ptrdiff_t yStride,
                    std::size_t n) {
    for (std::size_t t = 0; t < n; t += 16) {
        __m512 v[5];
        for (int i = 0; i < 5; ++i) v[i] = loadInside(x, static_cast<std::ptrdiff_t>(4 * t) + 16 * i, first, last);
        const __mmask16 lanes = static_cast<__mmask16>(n - t >= 16 ? 0xFFFFU : (1U << (n - t)) - 1U);
        __m512 rows[6];
        for (int j = 0; j < 4; ++j) rows[j] = fourths(v, j);
        // Elements 4 and 5 of a tile are elements 0 and 1 of the next one.
        for (int j = 4; j < 6; ++j) {
            const __m512 next = permuted(_mm512_set1_epi32(j - 4), v[4], v[4]);
            rows[j] =
                permuted(_mm512_set_epi32(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1), rows[j - 4], next);
        }
        for (int j = 0; j < 6; ++j)
            _mm512_mask_storeu_ps(y + j * yStride + static_cast<std::ptrdiff_t>(t), lanes, rows[j]);
    }
}
#endif

void tileRows(const float* x, std::ptrdiff_t first, std::ptrdiff_t last, int step, float* y, std::ptrdiff_t yStride,
              std::size_t n) {
#if defined(__AVX512F__)
    if (step == 4) return tileRowsOfFour(x, first, last, y, yStride, n);
#endif
    const auto count = static_cast<std::ptrdiff_t>(n);
    for (int j = 0; j < step + 2; ++j) {
        // Tiles whose element j lies inside are a stretch in the middle.
        const std::ptrdiff_t before = first - j <= 0 ? 0 : (first - j + step - 1) / step;
        const std::ptrdiff_t upTo = last - j <= 0 ? 0 : (last - j + step - 1) / step;
        const std::ptrdiff_t begin = before < count ? before : count;
        const std::ptrdiff_t end = upTo < begin ? begin : upTo < count ? upTo : count;
        float* row = y + j * yStride;
        for (std::ptrdiff_t t = 0; t < begin; ++t) row[t] = 0;
        for (std::ptrdiff_t t = begin; t < end; ++t) row[t] = x[step * t + j];
        for (std::ptrdiff_t t = end; t < count; ++t) row[t] = 0;
    }
}

void fill(float value, float* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] = value;
}

void maxRows(const float* const* rows, std::size_t taps, float* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] = rows[0][i];
    for (std::size_t t = 1; t < taps; ++t) {
        const float* row = rows[t];
        for (std::size_t i = 0; i < n; ++i) y[i] = maxOf(y[i], row[i]);
    }
}

}  // namespace

void addRows(FloatKernels& table) {
    table.sum = sum;
    table.sumSquares = sumSquares;
    table.dot = dot;
    table.maximum = maximum;
    table.expSum = expSum;
    table.axpy = axpy;
    table.allFinite = allFinite;
    table.allNarrowFinite = allNarrowFinite;
    table.weightedRows = weightedRows;
    table.weightedPlane = weightedPlane;
    table.fill = fill;
    table.everyOther = everyOther;
    table.tileRows = tileRows;
    table.maxRows = maxRows;
}

}  // namespace sonde::ops::kernels::SONDE_ISA
