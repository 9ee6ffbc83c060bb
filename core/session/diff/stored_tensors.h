#pragma once

#include <cstdint>
#include <tuple>

#include "core/tensor/tensor.h"

namespace sonde::session::diff {

/// What a stored tensor is in: tied ones are one.
using StoredMemory = std::tuple<const tensor::Storage*, std::int64_t, tensor::DType, std::int64_t>;
StoredMemory memoryOf(const tensor::Tensor& tensor);

/// One dtype and shape, and elements that are equal to the last bit: 0 is not -0, and a NaN is one of its bits.
bool areEqual(const tensor::Tensor& a, const tensor::Tensor& b);

}  // namespace sonde::session::diff
