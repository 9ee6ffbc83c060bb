#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sonde::app {

/// A check whose message names no limits of the type.
inline CLI::Validator aboveZero() {
    return CLI::Validator(
        [](std::string& text) {
            return text.find_first_of("123456789") == std::string::npos || text.starts_with('-')
                       ? "'" + text + "' is not above 0"
                       : std::string();
        },
        "");
}

/// "2MB" becomes a number of bytes.
inline CLI::Validator wholeBytes() {
    return CLI::Validator(
        [](std::string& text) {
            if (text.find('.') != std::string::npos) return "'" + text + "' is no whole number of units";
            return CLI::AsSizeValue(false)(text);
        },
        "");
}

}  // namespace sonde::app
