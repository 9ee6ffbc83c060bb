#pragma once

#include <optional>
#include <string>
#include <string_view>

// Numbers as text and back. All of it is here because printf, strtod, std::stod and std::stringstream go by the
// process' locale, which a window takes from the environment: 0.5 would be "0,5" in half of Europe.

namespace sonde::base {

/// The fewest characters that read back as the same number: "0.1", "1e+20", "nan", "-inf". Of float and double.
template <typename Number>
std::string shortestText(Number value);

/// At most `digits` significant digits, no zeros behind them: printf's %.*g, but for NaN, whose
/// sign means nothing: "nan".
std::string roundedText(double value, int digits);

/// 6, 9, 15 or 17 digits, the first that reads back as the same number, so "100000" and "0.1", but 17 for 0.1 + 0.2.
std::string exactText(double value);

/// The number that the whole of `text` is, without blanks and without '+'. Empty if it is none or does not fit.
/// Floating point takes exponents, "inf" and "nan"; integers are decimal. Of int, int64, uint32, uint64, float, double.
template <typename Number>
std::optional<Number> parseNumber(std::string_view text);

/// The same of the longest beginning that is a number, which is taken from the text. If there is none, the text stays.
template <typename Number>
std::optional<Number> takeNumber(std::string_view& text);

}  // namespace sonde::base
