#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace sonde::base {

constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;  ///< of lists, labels and scripts

/// The text of a file, or of a pipe, without the byte order mark that editors put in front of UTF-8. Never reads more
/// than `maxBytes` and one. Errors (Usage) with the path: it cannot be read, or is longer. `what` begins them: "the
/// list".
Result<std::string> readText(const std::filesystem::path& path, std::string_view what,
                             std::size_t maxBytes = kMaxTextBytes);

}  // namespace sonde::base
