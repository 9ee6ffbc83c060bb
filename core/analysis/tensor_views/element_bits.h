#pragma once

#include <cstdint>
#include <string>

#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// Whether a tensor has integers or bools, of which bits can be told.
bool hasBits(const tensor::Tensor& tensor);

/// The bits of an element by its row-major index, the most significant first, in groups of eight from the end; those of
/// signed integers in two's complement: "11111111 11111101" of int16 -3, "1101" of int4 -3, "1" of true. Asserts
/// hasBits() and that there is the element.
std::string elementBits(const tensor::Tensor& tensor, std::int64_t index);

}  // namespace sonde::analysis
