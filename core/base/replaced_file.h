#pragma once

#include <filesystem>

#include "core/base/result.h"

namespace sonde::base {

/// Where a file has to be moved to that takes the place of `path`: the path itself, or the file that a link leads to,
/// so that the link stays. Error (Run): there is something else than a file, as a device or a pipe; moving a file there
/// would destroy it.
Result<std::filesystem::path> placeToReplace(const std::filesystem::path& path);

}  // namespace sonde::base
