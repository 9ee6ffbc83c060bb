#pragma once

#include <string>
#include <string_view>

namespace sonde::base {

/// Text of a model for a line of a listing: line ends, other control characters (Unicode's Cc) and bytes that are not
/// UTF-8 as C++ writes them, "\n", "\x00", "\xff". Everything else stays.
std::string visibleText(std::string_view text);

}  // namespace sonde::base
