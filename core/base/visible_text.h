#pragma once

#include <string>
#include <string_view>

namespace sonde::base {

/// Text of a model for a line of a listing: line ends and other control characters as C++ writes them, "\n", "\x00".
/// Everything else stays.
std::string visibleText(std::string_view text);

}  // namespace sonde::base
