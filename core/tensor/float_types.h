#pragma once

#include <bit>
#include <cstdint>

#include "core/tensor/dtype.h"

namespace sonde::tensor {

// Narrow floating point numbers as raw bits with conversions; arithmetic is done in float.
// IEEE 754-2019 (binary16), bfloat16 as in Intel's whitepaper 338302, the float8 types as in "FP8 Formats for Deep
// Learning" (arXiv:2209.05433) and "8-bit Numerical Formats for Deep Neural Networks" (arXiv:2206.02915) for FNUZ,
// float4 e2m1 and e8m0 as in the OCP Microscaling Formats specification 1.0.

float halfToFloat(std::uint16_t bits);
std::uint16_t floatToHalf(float value);      ///< rounds to nearest even
std::uint16_t floatToBFloat16(float value);  ///< rounds to nearest even

struct Half {  // not Eigen's, which no header includes; conversions are Eigen's (half_floats.cpp)
    std::uint16_t bits = 0;
    Half() = default;
    Half(float value) : bits(floatToHalf(value)) {}
    operator float() const { return halfToFloat(bits); }
};

struct BFloat16 {
    std::uint16_t bits = 0;
    BFloat16() = default;
    BFloat16(float value) : bits(floatToBFloat16(value)) {}
    operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

/// One-byte float types by their bits. `saturate`: values outside the range become the largest finite one, else NaN or
/// Inf as the type has it (ONNX Cast, attribute `saturate`).
float narrowToFloat(DType dtype, std::uint8_t bits);
std::uint8_t floatToNarrow(DType dtype, float value, bool saturate = true);

}  // namespace sonde::tensor
