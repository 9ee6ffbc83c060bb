// The transforms of Winograd's minimal filtering F(m, 3) for m = 2 and 4 (Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2016, sections 4.1 and 4.3), on many tiles at once: one tile in each lane.

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

/// Bᵀ·x.
void input(const Vector (&x)[4], Vector (&r)[4]) {
    r[0] = x[0] - x[2];
    r[1] = x[1] + x[2];
    r[2] = x[2] - x[1];
    r[3] = x[1] - x[3];
}

void input(const Vector (&x)[6], Vector (&r)[6]) {
    const Vector even = x[4] - 4.0f * x[2], odd = x[3] - 4.0f * x[1];
    const Vector even1 = x[4] - x[2], odd1 = 2.0f * (x[3] - x[1]);
    r[0] = 4.0f * x[0] - 5.0f * x[2] + x[4];
    r[1] = even + odd;
    r[2] = even - odd;
    r[3] = even1 + odd1;
    r[4] = even1 - odd1;
    r[5] = 4.0f * x[1] - 5.0f * x[3] + x[5];
}

/// Aᵀ·m.
void output(const Vector (&m)[4], Vector (&y)[2]) {
    y[0] = m[0] + m[1] + m[2];
    y[1] = m[1] - m[2] - m[3];
}

void output(const Vector (&m)[6], Vector (&y)[4]) {
    const Vector sum1 = m[1] + m[2], difference1 = m[1] - m[2], sum2 = m[3] + m[4], difference2 = m[3] - m[4];
    y[0] = m[0] + sum1 + sum2;
    y[1] = difference1 + 2.0f * difference2;
    y[2] = sum1 + 4.0f * sum2;
    y[3] = difference1 + 8.0f * difference2 + m[5];
}

template <int A>
void transformInput(const float* d, std::ptrdiff_t dStride, float* v, std::ptrdiff_t pointStride, std::size_t n) {
    for (std::size_t t = 0; t < n; t += kWidth) {
        Vector rows[A][A];
        for (int j = 0; j < A; ++j) {
            Vector x[A], r[A];
            for (int i = 0; i < A; ++i)
                x[i] = *reinterpret_cast<const Vector*>(d + (i * A + j) * dStride + static_cast<std::ptrdiff_t>(t));
            input(x, r);
            for (int i = 0; i < A; ++i) rows[i][j] = r[i];
        }
        for (int i = 0; i < A; ++i) {
            Vector r[A];
            input(rows[i], r);
            for (int j = 0; j < A; ++j)
                *reinterpret_cast<Vector*>(v + (i * A + j) * pointStride + static_cast<std::ptrdiff_t>(t)) = r[j];
        }
    }
}

template <int A, int M>
bool transformOutput(const float* m, std::ptrdiff_t pointStride, float bias, float* y, std::ptrdiff_t yStride,
                     std::size_t n) {
    Vector nothing = {}, last = {};  // times 0 only NaN and infinity are not 0
    for (std::size_t t = 0; t < n; t += kWidth) {
        Vector& sums = n - t < kWidth ? last : nothing;
        Vector rows[M][A];
        for (int j = 0; j < A; ++j) {
            Vector x[A], r[M];
            for (int i = 0; i < A; ++i)
                x[i] = *reinterpret_cast<const Vector*>(m + (i * A + j) * pointStride + static_cast<std::ptrdiff_t>(t));
            output(x, r);
            for (int i = 0; i < M; ++i) rows[i][j] = r[i];
        }
        for (int i = 0; i < M; ++i) {
            Vector r[M];
            output(rows[i], r);
            for (int j = 0; j < M; ++j) {
                const Vector sum = r[j] + bias;
                sums += sum * 0.0f;
                *reinterpret_cast<Vector*>(y + (i * M + j) * yStride + static_cast<std::ptrdiff_t>(t)) = sum;
            }
        }
    }
    bool isFinite = true;
    for (std::size_t l = 0; l < kWidth; ++l) isFinite = isFinite && nothing[l] == 0.0f;
    for (std::size_t l = 0; l < n % kWidth; ++l) isFinite = isFinite && last[l] == 0.0f;
    return isFinite;
}

#if defined(__AVX512F__)
inline void storeSome(float* y, __m512 v, std::size_t n) {
    if (n >= kWidth) _mm512_storeu_ps(y, v);
    else storeFirst(y, reinterpret_cast<Vector>(v), n);
}

/// Transposes in registers: first within quarters of a vector, then the quarters.
void joinTilesOfFour(const float* x, std::ptrdiff_t xStride, float* y, std::size_t n) {
    for (std::size_t done = 0; done < n; done += 4 * kWidth, x += kWidth, y += 4 * kWidth) {
        __m512 v[4], t[4], q[4], r[4];
        for (int j = 0; j < 4; ++j) v[j] = _mm512_loadu_ps(x + j * xStride);
        for (int j = 0; j < 4; j += 2) {
            t[j] = _mm512_unpacklo_ps(v[j], v[j + 1]);
            t[j + 1] = _mm512_unpackhi_ps(v[j], v[j + 1]);
        }
        for (int j = 0; j < 2; ++j) {
            q[2 * j] = _mm512_shuffle_ps(t[j], t[j + 2], 0x44);
            q[2 * j + 1] = _mm512_shuffle_ps(t[j], t[j + 2], 0xEE);
        }
        r[0] = _mm512_shuffle_f32x4(q[0], q[1], 0x88), r[1] = _mm512_shuffle_f32x4(q[0], q[1], 0xDD);
        r[2] = _mm512_shuffle_f32x4(q[2], q[3], 0x88), r[3] = _mm512_shuffle_f32x4(q[2], q[3], 0xDD);
        const __m512 out[4] = {_mm512_shuffle_f32x4(r[0], r[2], 0x88), _mm512_shuffle_f32x4(r[1], r[3], 0x88),
                               _mm512_shuffle_f32x4(r[0], r[2], 0xDD), _mm512_shuffle_f32x4(r[1], r[3], 0xDD)};
        for (std::size_t j = 0; j < 4 && done + j * kWidth < n; ++j)
            storeSome(y + j * kWidth, out[j], n - done - j * kWidth);
    }
}

void joinTilesOfTwo(const float* x, std::ptrdiff_t xStride, float* y, std::size_t n) {
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    for (std::size_t done = 0; done < n; done += 2 * kWidth, x += kWidth, y += 2 * kWidth) {
        const __m512 a = _mm512_loadu_ps(x), b = _mm512_loadu_ps(x + xStride);
        storeSome(y, _mm512_permutex2var_ps(a, low, b), n - done);
        if (n - done > kWidth) storeSome(y + kWidth, _mm512_permutex2var_ps(a, high, b), n - done - kWidth);
    }
}
#endif

void joinTiles(const float* x, std::ptrdiff_t xStride, int step, float* y, std::size_t n) {
#if defined(__AVX512F__)
    return step == 2 ? joinTilesOfTwo(x, xStride, y, n) : joinTilesOfFour(x, xStride, y, n);
#endif
    for (std::size_t done = 0; done < n; done += static_cast<std::size_t>(step), ++x) {
        for (std::size_t j = 0; j < static_cast<std::size_t>(step) && done + j < n; ++j)
            y[done + j] = x[static_cast<std::ptrdiff_t>(j) * xStride];
    }
}

}  // namespace

void addWinograd(FloatKernels& table) {
    table.joinTiles = joinTiles;
    table.winograd2 = {transformInput<4>, transformOutput<4, 2>};
    table.winograd4 = {transformInput<6>, transformOutput<6, 4>};
}

}  // namespace sonde::ops::kernels::SONDE_ISA
