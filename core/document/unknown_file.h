#pragma once

#include <filesystem>
#include <span>

#include "core/base/error.h"

namespace sonde::document {

/// The error for a file that no format recognises: says what it looks like, and what to do with such a file.
base::Error unknownFile(const std::filesystem::path& path, std::span<const std::byte> head, std::size_t sizeBytes);

}  // namespace sonde::document
