#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace sonde::document {

/// SHA-256 (FIPS 180-4) of the bytes, as 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);

}  // namespace sonde::document
