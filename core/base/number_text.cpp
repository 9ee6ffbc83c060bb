#include "core/base/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>

namespace sonde::base {

namespace {

constexpr std::size_t kMaxCharacters = 64;  ///< of shortest and of 17 digits, with sign, point and exponent

}  // namespace

template <typename Number>
std::string shortestText(Number value) {
    char buffer[kMaxCharacters];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string roundedText(double value, int digits) {
    if (std::isnan(value)) return "nan";
    char buffer[kMaxCharacters];
    const auto written = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits);
    if (written.ec == std::errc{}) return {buffer, written.ptr};
    return shortestText(value);  // more digits than a double has
}

std::string exactText(double value) {
    for (const int digits : {6, 9, 15}) {
        std::string text = roundedText(value, digits);
        if (parseNumber<double>(text) == value) return text;
    }
    return roundedText(value, 17);
}

template <typename Number>
std::optional<Number> takeNumber(std::string_view& text) {
    Number value{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return value;
}

template <typename Number>
std::optional<Number> parseNumber(std::string_view text) {
    const std::optional<Number> value = takeNumber<Number>(text);
    return text.empty() ? value : std::nullopt;
}

template std::string shortestText(float);
template std::string shortestText(double);

template std::optional<int> takeNumber(std::string_view&);
template std::optional<std::int64_t> takeNumber(std::string_view&);
template std::optional<std::uint32_t> takeNumber(std::string_view&);
template std::optional<std::uint64_t> takeNumber(std::string_view&);
template std::optional<float> takeNumber(std::string_view&);
template std::optional<double> takeNumber(std::string_view&);

template std::optional<int> parseNumber(std::string_view);
template std::optional<std::int64_t> parseNumber(std::string_view);
template std::optional<std::uint32_t> parseNumber(std::string_view);
template std::optional<std::uint64_t> parseNumber(std::string_view);
template std::optional<float> parseNumber(std::string_view);
template std::optional<double> parseNumber(std::string_view);

}  // namespace sonde::base
