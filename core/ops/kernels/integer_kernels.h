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
    /// The same for sums that are integers in float32.
    void (*requantiseFloats)(const float* sums, const Requantisation& by, std::uint8_t* y, std::size_t n) = nullptr;
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
