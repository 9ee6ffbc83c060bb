#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::ops::kernels {

/// How a byte becomes an element of a packed factor: the integer that it is, int8 or uint8, minus `zero` (16-bit
/// elements), or its bits ^ flip (bytes, where the zero point stays with the sums).
struct ByteForm {
    bool isSigned = false;
    std::uint8_t flip = 0;
    std::int16_t zero = 0;
};

/// The innermost part of a product of integers. A group is the `depth` elements of k that one instruction multiplies
/// and adds, 32 bits together: four bytes, signed in A and unsigned in B, or two signed 16-bit integers. A is packed
/// [groups][mr], B is packed [groups][nr]. Sums are taken modulo 2^32 and hence the same in all instruction sets.
struct IntegerKernel {
    int mr = 0, nr = 0;
    int depth = 0;  ///< 4 or 2
    /// C[rows, nr], or C[rows, nr / 2] with `half`, = A·B; 1 to mr rows, leading dimension ldc.
    void (*run)(int rows, bool half, std::ptrdiff_t groups, const std::int32_t* a, const std::int32_t* b,
                std::int32_t* c, std::ptrdiff_t ldc) = nullptr;
    /// target[j] = the group of rows[0][j], rows[1][j] …; a row may be null: elements 0.
    void (*interleave)(const std::uint8_t* const* rows, const ByteForm& form, std::size_t n,
                       std::int32_t* target) = nullptr;
};

/// y = clip(round(float32(sum + offset + bias)·factor), low, high) + zero with integers modulo 2^32, in float32, halves
/// to the even number: the order of ONNX Runtime. The bounds are those of an 8-bit integer type without the zero point.
struct Requantisation {
    std::int32_t offset = 0, bias = 0;
    float factor = 1;                ///< finite
    const float* factors = nullptr;  ///< if set, one for each element instead
    float low = 0, high = 0;
    std::int32_t zero = 0;
};

/// A picture of bytes [height, width] with its border: `rows` rows of `count` elements, from `left` on, of row `top` of
/// the picture and every `step`-th behind it. What lies outside of the picture counts as `border`, a byte too, and is
/// not read.
struct BorderedRows {
    const std::uint8_t* x;
    std::ptrdiff_t height, width, top, step, rows, left, count;
    ByteForm form;
    std::uint8_t border;
};

/// One channel under a window (isa/integer_depthwise.cpp): sum[o] = start + Σ_t Σ_l weights[t][l] · x[offsets[t] +
/// stride·o + l] for o < outputs; stride 1 or 2.
struct BytePlane {
    const void* x;
    int stride;
    const std::ptrdiff_t* offsets;
    const std::int32_t* weights;
    std::ptrdiff_t steps, outputs;
    std::int32_t start;
};

/// Windows of channels by themselves.
struct ByteWindowKernel {
    static constexpr std::ptrdiff_t kSlack = 64;  ///< elements behind the last one that may be written
    /// Elements that a step takes, 32 bits of weights together: four unsigned bytes with signed ones, or two signed
    /// 16-bit integers.
    int depth = 0;
    /// To `target`, one row behind the other, and up to kSlack elements behind the last.
    void (*place)(const BorderedRows& picture, void* target) = nullptr;
    /// Up to kSlack elements behind the last output are written, and what belongs to these is read.
    void (*sums)(const BytePlane& plane, std::int32_t* y) = nullptr;
    /// The same with the sums requantised, without offset and bias, which are in `start`.
    void (*bytes)(const BytePlane& plane, const Requantisation& by, std::uint8_t* y) = nullptr;
    /// Rows of `columns` bytes from x[row·pitch] on, one behind the other; up to kSlack behind the last are read.
    void (*joinRows)(const std::uint8_t* x, std::ptrdiff_t pitch, std::ptrdiff_t rows, std::ptrdiff_t columns,
                     std::uint8_t* y) = nullptr;
};

/// y = clip(round(x / scale), low, high) + zero in float32, as above.
struct Quantisation {
    float scale = 1;
    float low = 0, high = 0;
    std::int32_t zero = 0;
};

/// Two quantised numbers to one, with ONNX Runtime's order of float32 operations, which tells ties apart.
struct QuantizedPair {
    /// A sum: fma(x, ratioX, fma(y, ratioY, shift)).
    float ratioX = 1, ratioY = 1, shift = 0;
    /// A product: (x − zeroX)·(y − zeroY)·ratioX + shift.
    std::int32_t zeroX = 0, zeroY = 0;
    float low = 0, high = 0;  ///< of the result, which is rounded last
};

/// Loops over quantised numbers of one instruction set; `y` and bytes `x` have either sign, of which only the low 8
/// bits are written.
struct QuantizedLoops {
    void (*requantise)(const std::int32_t* sums, const Requantisation& by, std::uint8_t* y, std::size_t n) = nullptr;
    /// False if some x is NaN: then y is not to be used.
    bool (*quantise)(const float* x, const Quantisation& by, std::uint8_t* y, std::size_t n) = nullptr;
    /// y[i] = (x[i] − zero)·scale.
    void (*dequantise)(const std::uint8_t* x, bool isSigned, float zero, float scale, float* y,
                       std::size_t n) = nullptr;
    /// False if some result is NaN: then z is not to be used.
    bool (*add)(const std::uint8_t* x, const std::uint8_t* y, bool isSigned, const QuantizedPair& by, std::uint8_t* z,
                std::size_t n) = nullptr;
    bool (*multiply)(const std::uint8_t* x, const std::uint8_t* y, bool isSigned, const QuantizedPair& by,
                     std::uint8_t* z, std::size_t n) = nullptr;
    std::int32_t (*sum)(const std::uint8_t* x, bool isSigned, std::size_t n) = nullptr;
    /// y[i] = x[i] + a modulo 2^32.
    void (*shift)(const std::int32_t* x, std::int32_t a, std::int32_t* y, std::size_t n) = nullptr;
    /// The smallest and the largest of x and what is there already; NaN is passed over.
    void (*range)(const float* x, float* low, float* high, std::size_t n) = nullptr;
    /// y[i] += a·x[i] modulo 2^32.
    void (*axpy)(std::int32_t a, const std::int32_t* x, std::int32_t* y, std::size_t n) = nullptr;
};

}  // namespace sonde::ops::kernels
