// Register-blocked float32 product on the compiler's vector types. One tile of C stays in registers while k runs:
// 14x32 floats with AVX-512 (28 of 32 registers), 6x16 with AVX2 (12 of 16), 4x8 with SSE2.
// Eigen does this well, but packs both operands at every call and wants to own the loop; packed weights and the
// im2col that packs as it goes need the innermost part alone.

#include <utility>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/tile_end.h"
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
constexpr int kColumn = (kRows + kWidth - 1) / kWidth;  ///< vectors of the rows of one column

/// x − 0 is x for every x, so that this is one broadcasting load; 0 + x is not (−0), and would cost an addition.
inline __attribute__((always_inline)) Vector all(float x) { return x - Vector{}; }

inline __attribute__((always_inline)) Vector load(const float* x) { return *reinterpret_cast<const Vector*>(x); }
inline __attribute__((always_inline)) void store(float* x, const Vector& v) { *reinterpret_cast<Vector*>(x) = v; }

/// use(i) for each i, a constant. Written with folds and not with loops over the rows: the compiler then keeps every
/// sum in a register.
template <typename Use, int... i>
inline __attribute__((always_inline)) void forEach(std::integer_sequence<int, i...>, Use use) {
    (use(std::integral_constant<int, i>{}), ...);
}

/// use(vector, its row, its first column).
template <int rows, int vectors, typename Use>
inline __attribute__((always_inline)) void forEachSum(Vector (&sums)[rows][vectors], Use use) {
    forEach(
        std::make_integer_sequence<int, rows * vectors>{}, [&](auto i) __attribute__((always_inline)) {
            constexpr int row = decltype(i)::value / vectors, vector = decltype(i)::value % vectors;
            use(sums[row][vector], row, vector * kWidth);
        });
}

/// Goes along the rows of a tile in memory: next() is where its next vector is. The compiler does not know where that
/// begins: it would compute the places of all rows once for several ways along them, and keep them in memory.
template <int vectors, typename T>
struct Places {
    T* row;
    std::ptrdiff_t pitch;

    Places(T* first, std::ptrdiff_t between) : row(first), pitch(between) { asm("" : "+r"(row)); }
    inline __attribute__((always_inline)) T* next(int column) {
        T* const place = row + column;
        if (column == (vectors - 1) * kWidth) row += pitch;
        return place;
    }
};

/// step() for each p below k; with `fetches` the memory from `ahead` on comes nearer meanwhile.
template <bool fetches, typename Step>
inline __attribute__((always_inline)) void alongDepth(std::ptrdiff_t k, FetchAhead ahead, Step step) {
    for (std::ptrdiff_t p = 0; p < k; ++p) {
        if constexpr (fetches) __builtin_prefetch(ahead.data + p * ahead.step, 0, 3);
        step();
    }
}

/// What TileEnd makes of the sums, to y.
template <bool scales, bool adds, int rows, int vectors>
inline __attribute__((always_inline)) void end(Vector (&sums)[rows][vectors], float* y, std::ptrdiff_t ldc,
                                               const TileEnd end) {
    const Vector low = all(end.low), high = all(end.high);
    Vector bad[vectors] = {};
    Places<vectors, float> results(y, ldc);
    Places<vectors, const float> others(end.other, ldc);
    forEachSum(
        sums, [&](Vector & sum, int row, int column) __attribute__((always_inline)) {
            const Vector other = adds ? load(others.next(column)) : low;
            const Vector factor = scales ? all(end.factor[row]) : low, shift = scales ? all(end.shift[row]) : low;
            store(results.next(column),
                  ended<scales, adds>(sum, factor, shift, other, low, high, bad[column / kWidth]));
        });
    for (const Vector& one : bad) store(end.bad, load(end.bad) + one);
}

/// The sums go to C: added to what is there or to the bias of their row, and what comes behind.
template <int rows, int vectors>
inline __attribute__((always_inline)) void finish(Vector (&sums)[rows][vectors], float* c, std::ptrdiff_t ldc,
                                                  const TileStart& start) {
    if (start.accumulate) {
        Places<vectors, float> places(c, ldc);
        forEachSum(
            sums, [&](Vector & sum, int, int column)
                      __attribute__((always_inline)) { sum = load(places.next(column)) + sum; });
    } else if (start.rowBias) {
        const float* const bias = start.rowBias;
        forEachSum(
            sums, [&](Vector & sum, int row, int) __attribute__((always_inline)) { sum = all(bias[row]) + sum; });
    }
    const TileEnd* const behind = start.end;
    if (!behind || behind->y) {
        Places<vectors, float> places(c, ldc);
        forEachSum(
            sums, [&](Vector & sum, int, int column)
                      __attribute__((always_inline)) { store(places.next(column), sum); });
    }
    if (!behind) return;
    float* const y = behind->y ? behind->y : c;
    if (behind->factor && behind->other) end<true, true>(sums, y, ldc, *behind);
    else if (behind->factor) end<true, false>(sums, y, ldc, *behind);
    else if (behind->other) end<false, true>(sums, y, ldc, *behind);
    else end<false, false>(sums, y, ldc, *behind);
}

inline float endedOne(float sum, const TileEnd& end, int row, std::ptrdiff_t at) {
    const Vector low = all(end.low), high = all(end.high), other = all(end.other ? end.other[at] : 0.0F);
    Vector y = all(sum), bad = {};
    if (end.factor) y = rounded(y * all(end.factor[row])) + all(end.shift[row]);
    y = end.other ? ended<false, true>(y, low, low, other, low, high, bad)
                  : ended<false, false>(y, low, low, other, low, high, bad);
    *end.bad += bad[0];
    return y[0];
}

/// The same of a few columns, whose rows lie side by side.
template <int columns>
inline void finishColumns(const Vector (&sums)[columns][kColumn], int rows, float* c, std::ptrdiff_t ldc,
                          const TileStart& start) {
    for (int r = 0; r < rows; ++r) {
        for (int j = 0; j < columns; ++j) {
            const std::ptrdiff_t at = r * ldc + j;
            const float sum = sums[j][r / kWidth][r % kWidth];
            const float total = start.accumulate ? c[at] + sum : start.rowBias ? start.rowBias[r] + sum : sum;
            if (!start.end || start.end->y) c[at] = total;
            if (start.end) (start.end->y ? start.end->y : c)[at] = endedOne(total, *start.end, r, at);
        }
    }
}

/// One row after the other of a packed factor, the first vectors of it.
struct PackedRows {
    const float* b;

    template <int vectors>
    void next(Vector (&right)[vectors]) {
        for (int v = 0; v < vectors; ++v) right[v] = load(b + v * kWidth);
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
            right[v] = load(b + v * kWidth);
            store(packed + v * kWidth, right[v]);
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
        for (int v = 0; v < kVectors; ++v) right[v] = load(row + v * kWidth);
    }
};

/// C[rows, vectors · kWidth].
template <int rows, int vectors, bool fetches, typename Rows>
void tile(std::ptrdiff_t k, const float* a, Rows b, float* c, std::ptrdiff_t ldc, const TileStart& start,
          FetchAhead ahead) {
    // What is written or added to at the end would otherwise be waited for.
    const float* row = c;
    forEach(
        std::make_integer_sequence<int, rows>{}, [&](auto) __attribute__((always_inline)) {
            __builtin_prefetch(row, 1);
            if constexpr (vectors > 1) __builtin_prefetch(row + vectors * kWidth - 1, 1);
            row += ldc;
        });
    Vector sums[rows][vectors] = {};
    alongDepth<fetches>(
        k, ahead, [&]() __attribute__((always_inline)) {
            Vector right[vectors];
            b.next(right);
            forEachSum(
                sums, [&](Vector & sum, int row, int column)
                          __attribute__((always_inline)) { sum += all(a[row]) * right[column / kWidth]; });
            a += kRows;
        });
    finish(sums, c, ldc, start);
}

/// The first vector of each row, and the column behind it: one more vector for all rows. Every sum is as in a tile.
template <int rows>
void halfAndColumn(std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
                   const TileStart& start) {
    Vector sums[rows][1] = {}, column[1][kColumn] = {};
    for (std::ptrdiff_t p = 0; p < k; ++p, a += kRows, b += kVectors * kWidth) {
        const Vector right = load(b);
        forEachSum(
            sums, [&](Vector & sum, int row, int) __attribute__((always_inline)) { sum += all(a[row]) * right; });
        for (int v = 0; v < kColumn; ++v) column[0][v] += load(a + v * kWidth) * all(b[kWidth]);
    }
    finish(sums, c, ldc, start);
    TileEnd end;
    TileStart behind = start;
    if (start.end) {
        end = *start.end, behind.end = &end;
        if (end.other) end.other += kWidth;
        if (end.y) end.y += kWidth;
    }
    finishColumns(column, rows, c + kWidth, ldc, behind);
}

/// Few columns: the rows of A are what lies side by side in vectors. Each element's sum is the same as in a tile.
template <int columns>
void narrowTile(int rows, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
                const TileStart& start) {
    Vector sums[columns][kColumn] = {};  // lanes behind the last row are not used
    for (std::ptrdiff_t p = 0; p < k; ++p, a += kRows, b += kVectors * kWidth) {
        for (int v = 0; v < kColumn; ++v) {
            const Vector left = load(a + v * kWidth);
            for (int j = 0; j < columns; ++j) sums[j][v] += left * all(b[j]);
        }
    }
    finishColumns(sums, rows, c, ldc, start);
}

constexpr int kNarrow = kRows / 2 - 1;  ///< with more columns half a tile is as fast

template <int columns = kNarrow>
void chooseNarrow(int rows, int n, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
                  const TileStart& start) {
    if (n == columns) narrowTile<columns>(rows, k, a, b, c, ldc, start);
    else if constexpr (columns > 1) chooseNarrow<columns - 1>(rows, n, k, a, b, c, ldc, start);
}

template <int R>
void chooseHalf(int rows, bool isOneMore, std::ptrdiff_t k, const float* a, const float* b, float* c,
                std::ptrdiff_t ldc, const TileStart& start, FetchAhead ahead) {
    if (rows == R) {
        if (isOneMore) return halfAndColumn<R>(k, a, b, c, ldc, start);
        if constexpr (R == kRows)
            if (ahead.data) return tile<R, 1, true>(k, a, PackedRows{b}, c, ldc, start, ahead);
        tile<R, 1, false>(k, a, PackedRows{b}, c, ldc, start, ahead);
    } else if constexpr (R > 1) {
        chooseHalf<R - 1>(rows, isOneMore, k, a, b, c, ldc, start, ahead);
    }
}

template <int R, typename Rows>
void choose(int rows, std::ptrdiff_t k, const float* a, Rows b, float* c, std::ptrdiff_t ldc, const TileStart& start,
            FetchAhead ahead) {
    if (rows == R) {
        if constexpr (R == kRows)
            if (ahead.data) return tile<R, kVectors, true>(k, a, b, c, ldc, start, ahead);
        tile<R, kVectors, false>(k, a, b, c, ldc, start, ahead);
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
    tile<kRows, kVectors, false>(k, a, PackingRows{b, ldb, packed}, c, ldc, start, {});
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
