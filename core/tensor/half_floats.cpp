// Conversion between float32 and the two-byte floating point types, by Eigen.

#include "core/tensor/half_floats.h"

#include <Eigen/Core>
#include <bit>

#include "core/tensor/float_types.h"

namespace sonde::tensor {

namespace {

bool isNaN(std::uint32_t floatBits) { return (floatBits & 0x7fffffff) > 0x7f800000; }

float widenHalf(std::uint16_t bits) {
    return Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits));
}

// Eigen's portable roundings make one NaN of all. The payload stays here, as with the processors' own instructions.

std::uint16_t roundToHalf(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint16_t rounded = Eigen::half_impl::float_to_half_rtne(value).x;
    return isNaN(bits) ? static_cast<std::uint16_t>(rounded | ((bits >> 13) & 0x1ff)) : rounded;
}

std::uint16_t roundToBFloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return isNaN(bits) ? static_cast<std::uint16_t>((bits >> 16) | 0x40)
                       : Eigen::bfloat16_impl::float_to_bfloat16_rtne<true>(value).value;
}

}  // namespace

float halfToFloat(std::uint16_t bits) { return widenHalf(bits); }
std::uint16_t floatToHalf(float value) { return roundToHalf(value); }
std::uint16_t floatToBFloat16(float value) { return roundToBFloat16(value); }

void halfToFloat(const std::uint16_t* bits, float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) values[i] = widenHalf(bits[i]);
}

void floatToHalf(const float* values, std::uint16_t* bits, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bits[i] = roundToHalf(values[i]);
}

void bfloat16ToFloat(const std::uint16_t* bits, float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        values[i] = Eigen::bfloat16_impl::bfloat16_to_float(Eigen::bfloat16_impl::raw_uint16_to_bfloat16(bits[i]));
}

void floatToBFloat16(const float* values, std::uint16_t* bits, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bits[i] = roundToBFloat16(values[i]);
}

}  // namespace sonde::tensor
