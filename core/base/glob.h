#pragma once

#include <string_view>

namespace sonde::base {

/// Whether the whole text matches the pattern of `*`, `?`, `[..]` and `[!..]`, as Python's fnmatch has it: by
/// characters of UTF-8; a '[' without its ']' stands for itself. Takes time by text × pattern at most.
bool globMatches(std::string_view pattern, std::string_view text, bool ignoreCase);

}  // namespace sonde::base
