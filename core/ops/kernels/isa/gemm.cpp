// Register-blocked float32 product on the compiler's vector types. One tile of C stays in registers while k runs:
// 14x32 floats with AVX-512 (28 of 32 registers), 6x16 with AVX2 (12 of 16), 4x8 with SSE2.
// Eigen does this well, but packs both operands at every call and wants to own the loop; packed weights and the
// im2col that packs as it goes need the innermost part alone.

#include <utility>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

#if defined(__AVX512F__)
constexpr int kRows = 14;
#elif defined(__AVX2__)
constexpr int kRows = 6;
#elif defined(__aarch64__)
constexpr int kRows = 8;
#else
constexpr int kRows = 4;
#endif
constexpr int kVectors = 2;

/// x − 0 is x for every x, so that this is one broadcasting load; 0 + x is not (−0), and would cost an addition.
inline __attribute__((always_inline)) Vector all(float x) { return x - Vector{}; }

/// step() for each p below k; with `fetches` the memory from `ahead` on comes nearer meanwhile.
template <bool fetches, typename Step>
inline __attribute__((always_inline)) void alongDepth(std::ptrdiff_t k, FetchAhead ahead, Step step) {
    for (std::ptrdiff_t p = 0; p < k; ++p) {
        if constexpr (fetches) __builtin_prefetch(ahead.data + p * ahead.step, 0, 3);
        step();
    }
}

/// Rows r… of C. Written with folds and not with loops over the rows: the compiler then keeps every sum in a register.
template <bool fetches, int... r>
void tile(std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc, bool accumulate,
          FetchAhead ahead, std::integer_sequence<int, r...>) {
    // What is written or added to at the end would otherwise be waited for.
    ((__builtin_prefetch(c + r * ldc, 1), __builtin_prefetch(c + r * ldc + kVectors * kWidth - 1, 1)), ...);
    Vector first[sizeof...(r)] = {}, second[sizeof...(r)] = {};
    alongDepth<fetches>(
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
template <bool fetches, int... r>
void halfTile(std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc, bool accumulate,
              FetchAhead ahead, std::integer_sequence<int, r...>) {
    (__builtin_prefetch(c + r * ldc, 1), ...);
    Vector sums[sizeof...(r)] = {};
    alongDepth<fetches>(
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

/// Few columns: the rows of A are what lies side by side in vectors. Each element's sum is the same as in a tile.
template <int columns>
void narrowTile(int rows, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
                bool accumulate) {
    constexpr int kColumn = (kRows + kWidth - 1) / kWidth;  // vectors; lanes behind the last row are not used
    Vector sums[columns][kColumn] = {};
    for (std::ptrdiff_t p = 0; p < k; ++p, a += kRows, b += kVectors * kWidth) {
        for (int v = 0; v < kColumn; ++v) {
            const Vector left = *reinterpret_cast<const Vector*>(a + v * kWidth);
            for (int j = 0; j < columns; ++j) sums[j][v] += left * all(b[j]);
        }
    }
    for (int r = 0; r < rows; ++r) {
        for (int j = 0; j < columns; ++j) {
            const float sum = sums[j][r / kWidth][r % kWidth];
            c[r * ldc + j] = accumulate ? c[r * ldc + j] + sum : sum;
        }
    }
}

constexpr int kNarrow = kRows / 2 - 1;  ///< with more columns half a tile is as fast

template <int columns = kNarrow>
void chooseNarrow(int rows, int n, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
                  bool accumulate) {
    if (n == columns) narrowTile<columns>(rows, k, a, b, c, ldc, accumulate);
    else if constexpr (columns > 1) chooseNarrow<columns - 1>(rows, n, k, a, b, c, ldc, accumulate);
}

template <int R>
void chooseHalf(int rows, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
                bool accumulate, FetchAhead ahead) {
    if (rows == R) {
        if (R == kRows && ahead.data)
            halfTile<true>(k, a, b, c, ldc, accumulate, ahead, std::make_integer_sequence<int, kRows>{});
        else halfTile<false>(k, a, b, c, ldc, accumulate, ahead, std::make_integer_sequence<int, R>{});
    } else if constexpr (R > 1) {
        chooseHalf<R - 1>(rows, k, a, b, c, ldc, accumulate, ahead);
    }
}

template <int R>
void choose(int rows, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc, bool accumulate,
            FetchAhead ahead) {
    if (rows == R) {
        if (R == kRows && ahead.data)
            tile<true>(k, a, b, c, ldc, accumulate, ahead, std::make_integer_sequence<int, kRows>{});
        else tile<false>(k, a, b, c, ldc, accumulate, ahead, std::make_integer_sequence<int, R>{});
    } else if constexpr (R > 1) {
        choose<R - 1>(rows, k, a, b, c, ldc, accumulate, ahead);
    }
}

/// Whole rows are read at once, not a panel of them: memory is read ahead along a row, and hardly across many.
void packRight(const float* b, std::ptrdiff_t ldb, std::ptrdiff_t k, std::ptrdiff_t columns, float* target) {
    constexpr std::ptrdiff_t kPanel = kVectors * kWidth;
    const std::ptrdiff_t whole = columns / kPanel * kPanel;
    for (std::ptrdiff_t p = 0; p < k; ++p, b += ldb) {
        float* out = target + p * kPanel;
        for (std::ptrdiff_t j = 0; j < whole; j += kPanel, out += k * kPanel) {
            for (int v = 0; v < kVectors; ++v)
                *reinterpret_cast<Vector*>(out + v * kWidth) = *reinterpret_cast<const Vector*>(b + j + v * kWidth);
        }
        for (std::ptrdiff_t i = 0; whole < columns && i < kPanel; ++i)
            out[i] = whole + i < columns ? b[whole + i] : 0.0F;
    }
}

}  // namespace

void addGemm(FloatKernels& table) {
    table.gemm.mr = kRows;
    table.gemm.nr = kVectors * kWidth;
    table.gemm.run = choose<kRows>;
    table.gemm.runHalf = chooseHalf<kRows>;
    table.gemm.narrow = kNarrow;
    table.gemm.runNarrow = chooseNarrow<>;
    table.gemm.packRight = packRight;
}

}  // namespace sonde::ops::kernels::SONDE_ISA
