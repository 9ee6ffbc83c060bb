#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace sonde::tensor {

/// Whether each byte is 0 or 1, as a bool in memory must be; one of a file may be any byte.
inline bool areBools(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte b) { return std::to_integer<int>(b) <= 1; });
}

}  // namespace sonde::tensor
