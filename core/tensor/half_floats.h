#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::tensor {

// Arrays of float16 and bfloat16, as raw bits, to and from float32. Element by element the same bits as halfToFloat(),
// floatToHalf() and floatToBFloat16() of float_types.h: rounded to nearest, ties to even; a NaN keeps its sign and the
// upper bits of its payload and becomes quiet where it is rounded. The arrays may not overlap.

void halfToFloat(const std::uint16_t* bits, float* values, std::size_t count);
void floatToHalf(const float* values, std::uint16_t* bits, std::size_t count);
void bfloat16ToFloat(const std::uint16_t* bits, float* values, std::size_t count);
void floatToBFloat16(const float* values, std::uint16_t* bits, std::size_t count);

}  // namespace sonde::tensor
