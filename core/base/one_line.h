#pragma once

#include <string>

namespace sonde::base {

/// Error::text() and other texts of several lines where there is room for one: "what; in Conv; in If".
inline std::string oneLine(std::string text) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, "; ");
    return text;
}

}  // namespace sonde::base
