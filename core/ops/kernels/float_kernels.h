#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ops/kernels/integer_kernels.h"

namespace sonde::ops::kernels {

/// Element-wise functions of one float32; a and b are the function's parameters (see isa/elementwise.cpp).
// clang-format off
enum class Unary : std::uint8_t {
    Relu, LeakyRelu, Clip, Sigmoid, Tanh, Exp, Sqrt, Abs, Neg, Reciprocal, HardSigmoid, HardSwish, Erf, Gelu, GeluTanh, Silu,
    Elu, Scale, Square, Count
};
// clang-format on

enum class Binary : std::uint8_t { Add, Sub, Mul, Div, Max, Min, Count };

/// y[i] = f(x[i]); x and y may be the same.
using UnaryLoop = void (*)(const float* x, float* y, std::size_t n, float a, float b);
/// z[i] = f(x[i], y[i]); a side that is `repeated` has one element that stands for all.
using BinaryLoop = void (*)(const float* x, bool xRepeated, const float* y, bool yRepeated, float* z, std::size_t n);

/// Memory that will be read soon: data, data + step, data + 2·step … are asked for while a kernel computes, one with
/// each step of k. Any address will do; null: nothing.
struct FetchAhead {
    const float* data = nullptr;
    std::ptrdiff_t step = 0;
};

/// What becomes of finished sums while they are in registers, as by affinePass, every step with its rounding:
/// y = clip(sum · factor + shift + other, low, high) with a factor and a shift for each row.
struct TileEnd {
    const float* factor = nullptr;  ///< of the piece's first row; null: the sums are not scaled and shifted
    const float* shift = nullptr;   ///< of the same row
    const float* other = nullptr;   ///< of the piece's first element, laid out as C; null: nothing is added
    float* y = nullptr;             ///< the same; null: y takes the place of the sums, else C keeps them
    float low = 0, high = 0;        ///< with the bounds of all numbers nothing is clipped
    float* bad = nullptr;           ///< [16]: if all was 0 it stays so while all is finite before the bounds
};

/// What a piece of C has before the products are added: what is there, or the bias of each row, or nothing; and what
/// becomes of the sums then.
struct TileStart {
    bool accumulate = false;
    const float* rowBias = nullptr;  ///< of the piece's first row
    const TileEnd* end = nullptr;    ///< null: they are the result
};

/// The innermost part of a matrix product: C[rows, nr] = start + A·B with A packed [k][mr] and B packed [k][nr]. rows
/// may be 1 to mr; C has leading dimension ldc. Up to mr elements behind A may be read.
struct MicroKernel {
    int mr = 0;
    int nr = 0;
    int narrow = 0;  ///< columns of runNarrow, at most
    void (*run)(int rows, std::ptrdiff_t k, const float* a, const float* b, float* c, std::ptrdiff_t ldc,
                const TileStart& start, FetchAhead ahead) = nullptr;
    /// run() of mr rows, with B as it lies in memory, rows ldb apart: it goes to `packed` on the way.
    void (*runPacking)(std::ptrdiff_t k, const float* a, const float* b, std::ptrdiff_t ldb, float* packed, float* c,
                       std::ptrdiff_t ldc, const TileStart& start) = nullptr;
    /// run() with row p of B at b + rowStarts[p].
    void (*runAt)(int rows, std::ptrdiff_t k, const float* a, const float* b, const std::ptrdiff_t* rowStarts, float* c,
                  std::ptrdiff_t ldc, const TileStart& start, FetchAhead ahead) = nullptr;
    /// run() for the first half of the columns and, if `isOneMore`, the next one; B is packed for nr as ever. (Of 49
    /// columns, a picture of 7x7, the last one would by itself take as long as five others.)
    void (*runHalf)(int rows, bool isOneMore, std::ptrdiff_t k, const float* a, const float* b, float* c,
                    std::ptrdiff_t ldc, const TileStart& start, FetchAhead ahead) = nullptr;
    /// The same for the first `columns` of them, 1 to `narrow`.
    void (*runNarrow)(int rows, int columns, std::ptrdiff_t k, const float* a, const float* b, float* c,
                      std::ptrdiff_t ldc, const TileStart& start) = nullptr;
    /// B [k, columns] with leading dimension ldb → panels [k][nr] one behind the other, zeros behind the last column.
    void (*packRight)(const float* b, std::ptrdiff_t ldb, std::ptrdiff_t k, std::ptrdiff_t columns,
                      float* target) = nullptr;
};

/// A piece of a product: C[m, n] = A[m, k]·B[k, n] + rowBias[m], columnBias[n] or, with `accumulate`, what is in C. The
/// strides are between rows, whose elements lie side by side; with `bTurned` B is given as its transpose [n, k].
template <typename T>
struct ProductBlock {
    std::ptrdiff_t m, n, k;
    const T* a;
    std::ptrdiff_t aStride;
    const T* b;
    std::ptrdiff_t bStride;
    bool bTurned;
    T* c;
    std::ptrdiff_t cStride;
    const T* rowBias = nullptr;
    const T* columnBias = nullptr;
    bool accumulate = false;
};

/// Transforms of Winograd's F(m, 3) with a = m + 2, for n tiles side by side; what lies behind them up to a multiple of
/// 16 is computed too.
struct WinogradKernel {
    /// d [a·a][n] with row stride dStride → v[p·pointStride + t]: V = Bᵀ·d·B for each tile t.
    void (*input)(const float* d, std::ptrdiff_t dStride, float* v, std::ptrdiff_t pointStride,
                  std::size_t n) = nullptr;
    /// m[p·pointStride + t] → y [m·m][n] with row stride yStride: Y = Aᵀ·M·A + bias. Whether all of Y is finite.
    bool (*output)(const float* m, std::ptrdiff_t pointStride, float bias, float* y, std::ptrdiff_t yStride,
                   std::size_t n) = nullptr;
};

/// One channel under a 3x3 window: x [height, width] → y [rows, columns]. Of a depthwise convolution with its weights
/// [3, 3] and bias, of a pool without.
struct Plane3x3 {
    const float* x;
    std::ptrdiff_t height, width, padY, padX;
    const float* weights;
    float bias;
    float* y;
    std::ptrdiff_t rows, columns;
    const TileEnd* end = nullptr;  ///< what becomes of a convolution's sums; adds nothing. Null: they are the result
};

/// y = clip(x · factor + shift + other, low, high); with the bounds of all numbers nothing is clipped. Without `scales`
/// x is taken as it is: −0 · 1 + 0 would be 0.
struct AffinePass {
    bool scales = true;
    float factor = 1, shift = 0, low = 0, high = 0;
};

/// Sums over a row of elements.
struct MomentSums {
    double sum = 0;      ///< Σ (x − shift); finite if and only if all elements are
    double squares = 0;  ///< Σ (x − shift)²
    float low = __builtin_inff(), high = -__builtin_inff();
    std::size_t zeros = 0;
};

/// The hot loops of one instruction set.
struct FloatKernels {
    const char* name = "";
    MicroKernel gemm;
    IntegerKernel integers;
    ByteWindowKernel byteWindows;
    QuantizedLoops quantized;
    void (*product32)(const ProductBlock<float>& block) = nullptr;   ///< by Eigen
    void (*product64)(const ProductBlock<double>& block) = nullptr;  ///< by Eigen
    WinogradKernel winograd2, winograd4;
    UnaryLoop unary[static_cast<std::size_t>(Unary::Count)] = {};
    BinaryLoop binary[static_cast<std::size_t>(Binary::Count)] = {};
    /// y[i] += w · x[i].
    void (*axpy)(float w, const float* x, float* y, std::size_t n) = nullptr;
    /// y[i] = x[i] · scale + shift.
    void (*scaleShift)(const float* x, float scale, float shift, float* y, std::size_t n) = nullptr;
    /// The same with a sum and a clip behind it; other may be null, x, other and y may be the same. Every step rounds
    /// as by its own loop. Whether all is finite before the clip.
    bool (*affinePass)(const float* x, const AffinePass& pass, const float* other, float* y, std::size_t n) = nullptr;
    /// y[i] = (x[i] − mean) · inverse · scale[i] + bias[i]; bias may be null.
    void (*normalizeRow)(const float* x, float mean, float inverse, const float* scale, const float* bias, float* y,
                         std::size_t n) = nullptr;
    /// Sums in an order that depends on n alone.
    float (*sum)(const float* x, std::size_t n) = nullptr;
    float (*sumSquares)(const float* x, float center, std::size_t n) = nullptr;  ///< Σ (x − center)²
    float (*dot)(const float* x, const float* y, std::size_t n) = nullptr;
    float (*maximum)(const float* x, std::size_t n) = nullptr;  ///< NaN if there is one
    /// Adds to what is in `result`; bit for bit the same in all instruction sets. `shift` is finite and near the
    /// elements, as one of them is, so that nothing is lost where the mean is far from 0.
    void (*moments)(const float* x, std::size_t n, double shift, MomentSums& result) = nullptr;
    /// y[i] = exp(x[i] − shift); returns their sum.
    float (*expSum)(const float* x, float shift, float* y, std::size_t n) = nullptr;
    /// y[i] = bias + Σ_t weights[t] · rows[t][i]: one row of a depthwise convolution.
    void (*weightedRows)(const float* const* rows, const float* weights, std::size_t taps, float bias, float* y,
                         std::size_t n) = nullptr;
    /// y[r·columns + i] = bias + Σ_t weights[t] · taps[t][r·pitch + i], in the order of t: one plane of a depthwise
    /// convolution. Up to 15 elements behind the last row are read.
    void (*weightedPlane)(const float* const* taps, const float* weights, std::size_t count, float bias,
                          std::ptrdiff_t pitch, float* y, std::ptrdiff_t columns, std::ptrdiff_t rows) = nullptr;
    /// y[r, c] = bias + Σ_ij weights[i, j] · x[stride·r + i − padY, stride·c + j − padX], row by row of the window;
    /// what lies outside of x counts as 0; then what TileEnd says. [0] for stride 1, [1] for stride 2; null where there
    /// is none.
    void (*depthwise3x3[2])(const Plane3x3& plane) = {};
    /// y[r, c] = max_ij x[stride·r + i − padY, stride·c + j − padX] of what lies inside of x, NaN wins; as above.
    void (*maxPool3x3[2])(const Plane3x3& plane) = {};
    /// y[i] = value.
    void (*fill)(float value, float* y, std::size_t n) = nullptr;
    /// y[i] = x[2·i].
    void (*everyOther)(const float* x, float* y, std::size_t n) = nullptr;
    /// y[j·yStride + t] = x[step·t + j] for j < step + 2 and t < n: the rows of Winograd's tiles, step 2 or 4. What
    /// lies outside of x[first] to x[last − 1] counts as 0 and is not read.
    void (*tileRows)(const float* x, std::ptrdiff_t first, std::ptrdiff_t last, int step, float* y,
                     std::ptrdiff_t yStride, std::size_t n) = nullptr;
    /// y[t·step + j] = x[j·xStride + t] for the first n elements of y: a row of outputs of Winograd's tiles, step 2
    /// or 4. Up to 15 elements behind those are read.
    void (*joinTiles)(const float* x, std::ptrdiff_t xStride, int step, float* y, std::size_t n) = nullptr;
    /// Whether no x[i] is NaN or infinite.
    bool (*allFinite)(const float* x, std::size_t n) = nullptr;
    /// The same of float16 or bfloat16 by their bits; `infinity` are those of the positive one.
    bool (*allNarrowFinite)(const std::uint16_t* x, std::uint16_t infinity, std::size_t n) = nullptr;
    /// y[i] = max_t rows[t][i], NaN wins: one row of a max pool.
    void (*maxRows)(const float* const* rows, std::size_t taps, float* y, std::size_t n) = nullptr;
};

enum class Isa : std::uint8_t { Baseline, Avx2, Avx512 };

/// The best of this processor.
const FloatKernels& floatKernels();
/// Those of one instruction set, or null where the processor or the build has not got it. For tests and benchmarks.
const FloatKernels* floatKernels(Isa isa);

}  // namespace sonde::ops::kernels
