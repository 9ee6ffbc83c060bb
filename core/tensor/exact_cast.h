#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/tensor/tensor.h"

namespace sonde::tensor {

/// Why a number has no counterpart in a dtype.
enum class Loss : std::uint8_t {
    Fraction,   ///< an integer dtype, and the number is none: 0.5, inf, nan
    Range,      ///< beyond the smallest or largest number of the dtype
    Precision,  ///< an integer that the float dtype rounds: 16777217 in float32
    NotBool     ///< neither 0 nor 1
};

/// "not an integer", "outside of the range of uint8", "which float32 does not hold exactly", "neither 0 nor 1".
std::string lossText(Loss loss, DType dtype);

struct LostElement {
    std::int64_t index;
    Loss loss;
};
/// The first element of `before` that is another number in `after`, the result of before.cast(dtype). Compares all 64
/// bits of integers. Floats that become narrower floats may be rounded, but finite numbers stay finite. Both are
/// tensors of numbers or bools, neither complex nor strings. Linear in the number of elements.
std::optional<LostElement> firstLost(const Tensor& before, const Tensor& after);

}  // namespace sonde::tensor
