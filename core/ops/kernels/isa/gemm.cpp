// Register-blocked float32 product on the compiler's vector types. One tile of C stays in registers while k runs:
// 14x32 floats with AVX-512 (28 of 32 registers), 6x16 with AVX2 (12 of 16), 4x8 with SSE2.
// Eigen does this well, but packs both operands at every call and wants to own the loop; packed weights and the
// im2col that packs as it goes need the innermost part alone.

#include <utility>

#include "core/ops/kernels/float_kernels.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kRows = 14;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
constexpr int kRows = 6;
#elif defined(__aarch64__)
constexpr int kVectorBytes = 16;
constexpr int kRows = 8;
#else
constexpr int kVectorBytes = 16;
constexpr int kRows = 4;
#endif
constexpr int kVectors = 2;

typedef float Vector __attribute__((vector_size(kVectorBytes), aligned(sizeof(float)), may_alias));
constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(float));

/// x − 0 is x for every x, so that this is one broadcasting load; 0 + x is not (−0), and would cost an addition.
inline __attribute__((always_inline)) Vector all(float x) { return x - Vector{}; }

/// One line of memory is asked for in advance every so many steps of k.
constexpr std::ptrdiff_t kAheadSteps = 8;
constexpr std::ptrdiff_t kLineBytes = 64;

/// step() for each p below k; meanwhile the memory from `ahead` on comes nearer.
template <typename Step>
inline __attribute__((always_inline)) void alongDepth(std::ptrdiff_t k, const float* ahead, Step step) {
    std::ptrdiff_t p = 0;
    for (; p + kAheadSteps <= k; p += kAheadSteps) {
        __builtin_prefetch(ahead, 0, 2);
        ahead += kLineBytes / static_cast<std::ptrdiff_t>(sizeof(float));
        for (std::ptrdiff_t i = 0; i < kAheadSteps; ++i) step();
    }
    for (; p < k; ++p) step();
}

/// Rows r… of C. Written with folds and not with loops over the rows: the compiler then keeps every sum in a register.
template <int... r>
void tile(std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc, bool accumulate,
          const float* ahead, std::integer_sequence<int, r...>) {
    // What is written or added to at the end would otherwise be waited for.
    ((__builtin_prefetch(c + r * ldc, 1), __builtin_prefetch(c + r * ldc + kVectors * kWidth - 1, 1)), ...);
    Vector first[sizeof...(r)] = {}, second[sizeof...(r)] = {};
    alongDepth(
        k, ahead, [&]() __attribute__((always_inline)) {
            const Vector right0 = *reinterpret_cast<const Vector*>(b),
                         right1 = *reinterpret_cast<const Vector*>(b + kWidth);
            ((first[r] += all(a[r]) * right0, second[r] += all(a[r]) * right1), ...);
            a += kRows;
            b += kVectors * kWidth;
        });
    const auto store = [&](float* row, const Vector& sum0, const Vector& sum1) {
        Vector* out0 = reinterpret_cast<Vector*>(row);
        Vector* out1 = reinterpret_cast<Vector*>(row + kWidth);
        *out0 = accumulate ? *out0 + sum0 : sum0;
        *out1 = accumulate ? *out1 + sum1 : sum1;
    };
    (store(c + r * ldc, first[r], second[r]), ...);
}

/// The first vector of each row alone.
template <int... r>
void halfTile(std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc, bool accumulate,
              const float* ahead, std::integer_sequence<int, r...>) {
    (__builtin_prefetch(c + r * ldc, 1), ...);
    Vector sums[sizeof...(r)] = {};
    alongDepth(
        k, ahead, [&]() __attribute__((always_inline)) {
            const Vector right = *reinterpret_cast<const Vector*>(b);
            ((sums[r] += all(a[r]) * right), ...);
            a += kRows;
            b += kVectors * kWidth;
        });
    const auto store = [&](float* row, const Vector& sum) {
        Vector* out = reinterpret_cast<Vector*>(row);
        *out = accumulate ? *out + sum : sum;
    };
    (store(c + r * ldc, sums[r]), ...);
}

template <int R>
void chooseHalf(int rows, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
                bool accumulate, const float* ahead) {
    if (rows == R) {
        halfTile(k, a, b, c, ldc, accumulate, ahead, std::make_integer_sequence<int, R>{});
    } else if constexpr (R > 1) {
        chooseHalf<R - 1>(rows, k, a, b, c, ldc, accumulate, ahead);
    }
}

template <int R>
void choose(int rows, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc, bool accumulate,
            const float* ahead) {
    if (rows == R) {
        tile(k, a, b, c, ldc, accumulate, ahead, std::make_integer_sequence<int, R>{});
    } else if constexpr (R > 1) {
        choose<R - 1>(rows, k, a, b, c, ldc, accumulate, ahead);
    }
}

}  // namespace

void addGemm(FloatKernels& table) {
    table.gemm.mr = kRows;
    table.gemm.nr = kVectors * kWidth;
    table.gemm.run = choose<kRows>;
    table.gemm.runHalf = chooseHalf<kRows>;
}

}  // namespace sonde::ops::kernels::SONDE_ISA
