#pragma once

#include <string_view>

namespace sonde::base {

/// The text without blanks at its ends. No newline is one unless it is named.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r") {
    const std::size_t from = text.find_first_not_of(blanks);
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

/// The text of a file without the mark that spreadsheets and editors write before text in UTF-8.
inline std::string_view withoutByteOrderMark(std::string_view text) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace sonde::base
