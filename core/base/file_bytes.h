#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sonde::base {

/// An unsigned number of `count` bytes, at most 8, from `at` on; 0 beyond the end.
inline std::uint64_t numberAt(std::span<const std::byte> bytes, std::size_t at, std::size_t count, std::endian order) {
    if (at > bytes.size() || bytes.size() - at < count) return 0;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < count; ++i)
        number =
            number << 8U | std::to_integer<std::uint64_t>(bytes[at + (order == std::endian::big ? i : count - 1 - i)]);
    return number;
}

/// Whether the bytes from `at` on begin with a text.
inline bool isTextAt(std::span<const std::byte> bytes, std::size_t at, std::string_view text) {
    return at <= bytes.size() && bytes.size() - at >= text.size() &&
           std::equal(text.begin(), text.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                      [](char c, std::byte byte) { return static_cast<std::byte>(c) == byte; });
}

}  // namespace sonde::base
