#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sonde::tensor {

/// target[row-major index] = source[strided index] for every index of `dims`; `source` points at the first element,
/// strides are in elements and may be 0 or negative. Elements are `itemSize` bytes (1, 2, 4, 8 or 16).
void copyStrided(const void* source, std::span<const std::int64_t> dims, std::span<const std::int64_t> strides,
                 std::size_t itemSize, void* target);

}  // namespace sonde::tensor
