// Register-blocked matrix product on the compiler's vector types. One tile of C stays in registers while k runs:
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

template <typename T>
struct VectorOf {
    typedef T type __attribute__((vector_size(kVectorBytes), aligned(sizeof(T)), may_alias));
};

/// x − 0 is x for every x, so that this is one broadcasting load; 0 + x is not (−0), and would cost an addition.
template <typename T>
inline __attribute__((always_inline)) typename VectorOf<T>::type all(T x) {
    return x - typename VectorOf<T>::type{};
}

/// One line of memory is asked for in advance every so many steps of k.
constexpr std::ptrdiff_t kAheadSteps = 8;
constexpr std::ptrdiff_t kLineBytes = 64;

/// step() for each p below k; meanwhile the memory from `ahead` on comes nearer.
template <typename T, typename Step>
inline __attribute__((always_inline)) void alongDepth(std::ptrdiff_t k, const T* ahead, Step step) {
    std::ptrdiff_t p = 0;
    for (; p + kAheadSteps <= k; p += kAheadSteps) {
        __builtin_prefetch(ahead, 0, 2);
        ahead += kLineBytes / static_cast<std::ptrdiff_t>(sizeof(T));
        for (std::ptrdiff_t i = 0; i < kAheadSteps; ++i) step();
    }
    for (; p < k; ++p) step();
}

/// Rows r… of C. Written with folds and not with loops over the rows: the compiler then keeps every sum in a register.
template <typename T, int... r>
void tile(std::ptrdiff_t k, const T* a, const T* b, T* c, std::ptrdiff_t ldc, bool accumulate, const T* ahead, std::integer_sequence<int, r...>) {
    using Vector = typename VectorOf<T>::type;
    constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));
    // What is written or added to at the end would otherwise be waited for.
    ((__builtin_prefetch(c + r * ldc, 1), __builtin_prefetch(c + r * ldc + kVectors * kWidth - 1, 1)), ...);
    Vector first[sizeof...(r)] = {}, second[sizeof...(r)] = {};
    alongDepth(k, ahead, [&]() __attribute__((always_inline)) {
        const Vector right0 = *reinterpret_cast<const Vector*>(b), right1 = *reinterpret_cast<const Vector*>(b + kWidth);
        ((first[r] += all(a[r]) * right0, second[r] += all(a[r]) * right1), ...);
        a += kRows;
        b += kVectors * kWidth;
    });
    const auto store = [&](T* row, const Vector& sum0, const Vector& sum1) {
        Vector* out0 = reinterpret_cast<Vector*>(row);
        Vector* out1 = reinterpret_cast<Vector*>(row + kWidth);
        *out0 = accumulate ? *out0 + sum0 : sum0;
        *out1 = accumulate ? *out1 + sum1 : sum1;
    };
    (store(c + r * ldc, first[r], second[r]), ...);
}

/// The first vector of each row alone.
template <typename T, int... r>
void halfTile(std::ptrdiff_t k, const T* a, const T* b, T* c, std::ptrdiff_t ldc, bool accumulate, const T* ahead, std::integer_sequence<int, r...>) {
    using Vector = typename VectorOf<T>::type;
    constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));
    (__builtin_prefetch(c + r * ldc, 1), ...);
    Vector sums[sizeof...(r)] = {};
    alongDepth(k, ahead, [&]() __attribute__((always_inline)) {
        const Vector right = *reinterpret_cast<const Vector*>(b);
        ((sums[r] += all(a[r]) * right), ...);
        a += kRows;
        b += kVectors * kWidth;
    });
    const auto store = [&](T* row, const Vector& sum) {
        Vector* out = reinterpret_cast<Vector*>(row);
        *out = accumulate ? *out + sum : sum;
    };
    (store(c + r * ldc, sums[r]), ...);
}

template <typename T, int R>
void chooseHalf(int rows, std::ptrdiff_t k, const T* a, const T* b, T* c, std::ptrdiff_t ldc, bool accumulate, const T* ahead) {
    if (rows == R) {
        halfTile<T>(k, a, b, c, ldc, accumulate, ahead, std::make_integer_sequence<int, R>{});
    } else if constexpr (R > 1) {
        chooseHalf<T, R - 1>(rows, k, a, b, c, ldc, accumulate, ahead);
    }
}

template <typename T, int R>
void choose(int rows, std::ptrdiff_t k, const T* a, const T* b, T* c, std::ptrdiff_t ldc, bool accumulate, const T* ahead) {
    if (rows == R) {
        tile<T>(k, a, b, c, ldc, accumulate, ahead, std::make_integer_sequence<int, R>{});
    } else if constexpr (R > 1) {
        choose<T, R - 1>(rows, k, a, b, c, ldc, accumulate, ahead);
    }
}

template <typename T>
void set(MicroKernel<T>& kernel) {
    kernel.mr = kRows;
    kernel.nr = kVectors * kVectorBytes / static_cast<int>(sizeof(T));
    kernel.run = choose<T, kRows>;
    kernel.runHalf = chooseHalf<T, kRows>;
}

}  // namespace

void addGemm(FloatKernels& table) {
    set(table.gemm32);
    set(table.gemm64);
}

}  // namespace sonde::ops::kernels::SONDE_ISA
