#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

/// Attribute of an operator that adds up products or elements, and its value for float16 arithmetic (dump.md,
/// enable_ioc16). Without it float16 is computed in float32 and the result is rounded once.
inline constexpr const char* kComputeMode = "compute_mode";
inline constexpr const char* kComputeInHalf = "float16";

/// Whether the call is of float16 tensors and says that it computes in float16.
bool sumsInHalf(const KernelContext& context);

/// The nearest float16, ties to even; beyond 65504 infinity. Without branches, so that loops over it are vectorised.
inline float nearestHalf(float value) {
    constexpr std::uint32_t kSign = 0x80000000U;
    constexpr float kMinNormal = 0x1p-14F, kInfinite = 65520.0F;  // half way from 65504 to the next, which is none
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits & kSign;
    const float size = std::bit_cast<float>(bits & ~kSign);
    // 13 bits of the mantissa go.
    const auto magnitude = bits & ~kSign;
    const std::uint32_t rounded = (magnitude + 0xfffU + (magnitude >> 13 & 1U)) & ~0x1fffU;
    // Subnormal numbers are multiples of 2^-24, the distance of floats between 0.5 and 1.
    const float small = (size + 0.5F) - 0.5F;
    float result = size < kMinNormal ? small : std::bit_cast<float>(rounded);
    result = size >= kInfinite ? INFINITY : result;
    result = size != size ? size : result;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(result) | sign);
}

void roundToHalf(std::span<float> values);

}  // namespace sonde::ops::kernels
