#pragma once

#include <string>
#include <string_view>

namespace sonde::base {

/// Text for XML and HTML, in elements and in attributes with double quotes. Control characters and bytes that are not
/// UTF-8 become visible (visibleText()).
std::string xmlText(std::string_view text);

}  // namespace sonde::base
