#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/base/progress.h"
#include "core/base/result.h"

namespace sonde::document {

/// SHA-256 (FIPS 180-4) of the bytes, as 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);
/// The same in pieces, between which it tells its progress in bytes. Error: Cancelled.
base::Result<std::string> sha256(std::span<const std::byte> bytes, const base::WorkContext& work);

}  // namespace sonde::document
