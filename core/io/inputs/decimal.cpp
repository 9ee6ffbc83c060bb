#include "core/io/inputs/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/number_text.h"

namespace sonde::io {

namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::int64_t kMaxExponent = std::int64_t{1} << 50;  ///< so that sums with lengths of texts stay in int64

/// "e-12", all of it; a larger one than kMaxExponent becomes that.
std::optional<std::int64_t> exponentOf(std::string_view text) {
    text.remove_prefix(1);
    const bool isNegative = text.starts_with('-');
    if (isNegative || text.starts_with('+')) text.remove_prefix(1);
    if (text.empty() || text.find_first_not_of(kDigits) != std::string_view::npos) return std::nullopt;
    const std::int64_t size = std::min(base::parseNumber<std::int64_t>(text).value_or(kMaxExponent), kMaxExponent);
    return isNegative ? -size : size;
}

}  // namespace

std::optional<std::uint64_t> Decimal::magnitude() const {
    constexpr std::size_t kMaxDigits = 20;
    if (!isInteger()) return std::nullopt;
    if (digits.empty()) return 0;
    if (exponent > static_cast<std::int64_t>(kMaxDigits) ||
        digits.size() + static_cast<std::size_t>(exponent) > kMaxDigits)
        return std::nullopt;
    return base::parseNumber<std::uint64_t>(digits + std::string(static_cast<std::size_t>(exponent), '0'));
}

std::optional<Decimal> parseDecimal(std::string_view text) {
    Decimal number;
    number.isNegative = text.starts_with('-');
    if (number.isNegative || text.starts_with('+')) text.remove_prefix(1);
    const std::size_t mark = text.find_first_of("eE");
    if (mark != std::string_view::npos) {
        const auto exponent = exponentOf(text.substr(mark));
        if (!exponent) return std::nullopt;
        number.exponent = *exponent;
    }
    const std::string_view mantissa = text.substr(0, mark);
    const std::size_t point = mantissa.find('.');
    number.digits = mantissa.substr(0, point);
    if (point != std::string_view::npos) {
        number.digits += mantissa.substr(point + 1);
        number.exponent -= static_cast<std::int64_t>(mantissa.size() - point - 1);
    }
    if (number.digits.empty() || number.digits.find_first_not_of(kDigits) != std::string::npos) return std::nullopt;
    number.digits.erase(0, number.digits.find_first_not_of('0'));
    if (number.digits.empty()) return Decimal{};
    const std::size_t last = number.digits.find_last_not_of('0');
    number.exponent += static_cast<std::int64_t>(number.digits.size() - last - 1);
    number.digits.erase(last + 1);
    return number;
}

Decimal decimalOf(double integer) {
    std::array<char, 512> text{};  // 309 digits at most
    const auto end = std::to_chars(text.data(), text.data() + text.size(), integer, std::chars_format::fixed, 0).ptr;
    return parseDecimal({text.data(), static_cast<std::size_t>(end - text.data())}).value_or(Decimal{});
}

}  // namespace sonde::io
