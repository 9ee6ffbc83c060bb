// The transforms of Winograd's minimal filtering F(m, 3) for m = 2 and 4 (Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2016, sections 4.1 and 4.3), on many tiles at once: one tile in each lane.

#include "core/ops/kernels/float_kernels.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
constexpr std::size_t kWidth = kVectorBytes / sizeof(float);
typedef float Vector __attribute__((vector_size(kVectorBytes), aligned(sizeof(float)), may_alias));

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
    Vector nothing = {};  // times 0 only NaN and infinity are not 0
    for (std::size_t t = 0; t < n; t += kWidth) {
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
                nothing += sum * 0.0f;
                *reinterpret_cast<Vector*>(y + (i * M + j) * yStride + static_cast<std::ptrdiff_t>(t)) = sum;
            }
        }
    }
    bool isFinite = true;
    for (std::size_t l = 0; l < kWidth; ++l) isFinite = isFinite && nothing[l] == 0.0f;
    return isFinite;
}

}  // namespace

void addWinograd(FloatKernels& table) {
    table.winograd2 = {transformInput<4>, transformOutput<4, 2>};
    table.winograd4 = {transformInput<6>, transformOutput<6, 4>};
}

}  // namespace sonde::ops::kernels::SONDE_ISA
