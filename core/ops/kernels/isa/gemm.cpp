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

/// What is in C, or the bias of its row, and the sum.
inline __attribute__((always_inline)) void finish(float* c, const Vector& sum, const TileStart& start, int row) {
    Vector* const out = reinterpret_cast<Vector*>(c);
    if (start.accumulate) *out = *out + sum;
    else if (start.rowBias) *out = all(start.rowBias[row]) + sum;
    else *out = sum;
}

/// One row after the other of a packed factor.
struct PackedRows {
    const float* b;

    void next(Vector (&right)[kVectors]) {
        for (int v = 0; v < kVectors; ++v) right[v] = *reinterpret_cast<const Vector*>(b + v * kWidth);
        b += kVectors * kWidth;
    }
};

/// Of one as it lies in memory, which is packed on the way. The processor reads ahead along a row, but not across rows:
/// some rows ahead are asked for, and the next panel's part of this one.
struct PackingRows {
    const float* b;
    std::ptrdiff_t ldb;
    float* packed;

    void next(Vector (&right)[kVectors]) {
        constexpr std::ptrdiff_t kRowsAhead = 6;
        for (int v = 0; v < kVectors; ++v) {
            __builtin_prefetch(b + kRowsAhead * ldb + v * kWidth, 0, 3);
            __builtin_prefetch(b + (kVectors + v) * kWidth, 0, 2);
            right[v] = *reinterpret_cast<const Vector*>(b + v * kWidth);
            *reinterpret_cast<Vector*>(packed + v * kWidth) = right[v];
        }
        b += ldb, packed += kVectors * kWidth;
    }
};

/// Wherever they are.
struct ScatteredRows {
    const float* b;
    const std::ptrdiff_t* starts;

    void next(Vector (&right)[kVectors]) {
        const float* const row = b + *starts++;
        for (int v = 0; v < kVectors; ++v) right[v] = *reinterpret_cast<const Vector*>(row + v * kWidth);
    }
};

/// Rows r… of C. Written with folds and not with loops over the rows: the compiler then keeps every sum in a register.
template <bool fetches, typename Rows, int... r>
void tile(std::ptrdiff_t k, const float* a, Rows b, float* c, std::ptrdiff_t ldc, const TileStart& start,
          FetchAhead ahead, std::integer_sequence<int, r...>) {
    // What is written or added to at the end would otherwise be waited for.
    ((__builtin_prefetch(c + r * ldc, 1), __builtin_prefetch(c + r * ldc + kVectors * kWidth - 1, 1)), ...);
    Vector first[sizeof...(r)] = {}, second[sizeof...(r)] = {};
    alongDepth<fetches>(
        k, ahead, [&]() __attribute__((always_inline)) {
            Vector right[kVectors];
            b.next(right);
            ((first[r] += all(a[r]) * right[0], second[r] += all(a[r]) * right[1]), ...);
            a += kRows;
        });
    ((finish(c + r * ldc, first[r], start, r), finish(c + r * ldc + kWidth, second[r], start, r)), ...);
}

/// The first vector of each row alone.
template <bool fetches, int... r>
void halfTile(std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc, const TileStart& start,
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
    (finish(c + r * ldc, sums[r], start, r), ...);
}

/// Few columns: the rows of A are what lies side by side in vectors. Each element's sum is the same as in a tile.
template <int columns>
void narrowTile(int rows, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
                const TileStart& start) {
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
            float& out = c[r * ldc + j];
            out = start.accumulate ? out + sum : start.rowBias ? start.rowBias[r] + sum : sum;
        }
    }
}

constexpr int kNarrow = kRows / 2 - 1;  ///< with more columns half a tile is as fast

template <int columns = kNarrow>
void chooseNarrow(int rows, int n, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
                  const TileStart& start) {
    if (n == columns) narrowTile<columns>(rows, k, a, b, c, ldc, start);
    else if constexpr (columns > 1) chooseNarrow<columns - 1>(rows, n, k, a, b, c, ldc, start);
}

template <int R>
void chooseHalf(int rows, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
                const TileStart& start, FetchAhead ahead) {
    if (rows == R) {
        if (R == kRows && ahead.data)
            halfTile<true>(k, a, b, c, ldc, start, ahead, std::make_integer_sequence<int, kRows>{});
        else halfTile<false>(k, a, b, c, ldc, start, ahead, std::make_integer_sequence<int, R>{});
    } else if constexpr (R > 1) {
        chooseHalf<R - 1>(rows, k, a, b, c, ldc, start, ahead);
    }
}

template <int R, typename Rows>
void choose(int rows, std::ptrdiff_t k, const float* a, Rows b, float* c, std::ptrdiff_t ldc, const TileStart& start,
            FetchAhead ahead) {
    if (rows == R) {
        if (R == kRows && ahead.data)
            tile<true>(k, a, b, c, ldc, start, ahead, std::make_integer_sequence<int, kRows>{});
        else tile<false>(k, a, b, c, ldc, start, ahead, std::make_integer_sequence<int, R>{});
    } else if constexpr (R > 1) {
        choose<R - 1>(rows, k, a, b, c, ldc, start, ahead);
    }
}

void run(int rows, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
         const TileStart& start, FetchAhead ahead) {
    choose<kRows>(rows, k, a, PackedRows{b}, c, ldc, start, ahead);
}

void runAt(int rows, std::ptrdiff_t k, const float* a, const float* b, const std::ptrdiff_t* rowStarts, float* c,
           std::ptrdiff_t ldc, const TileStart& start, FetchAhead ahead) {
    choose<kRows>(rows, k, a, ScatteredRows{b, rowStarts}, c, ldc, start, ahead);
}

void runPacking(std::ptrdiff_t k, const float* a, const float* b, std::ptrdiff_t ldb, float* packed, float* c,
                std::ptrdiff_t ldc, const TileStart& start) {
    tile<false>(k, a, PackingRows{b, ldb, packed}, c, ldc, start, {}, std::make_integer_sequence<int, kRows>{});
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
    table.gemm.run = run;
    table.gemm.runAt = runAt;
    table.gemm.runHalf = chooseHalf<kRows>;
    table.gemm.narrow = kNarrow;
    table.gemm.runNarrow = chooseNarrow<>;
    table.gemm.runPacking = runPacking;
    table.gemm.packRight = packRight;
}

}  // namespace sonde::ops::kernels::SONDE_ISA
