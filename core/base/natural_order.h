#pragma once

#include <string_view>

namespace sonde::base {

/// The order of names as people count: digits are one number, "2.png" before "10.png". Names that differ by leading
/// zeros alone are ordered by their bytes. A strict order of all texts.
bool isNaturallyBefore(std::string_view a, std::string_view b);

}  // namespace sonde::base
