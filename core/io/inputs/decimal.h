#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::io {

/// A number as it is written, without rounding: digits · 10^exponent.
struct Decimal {
    bool isNegative = false;
    std::string digits;  ///< without zeros at either end; empty: 0
    std::int64_t exponent = 0;

    bool isInteger() const { return digits.empty() || exponent >= 0; }
    /// Of an integer below 2^64, without its sign.
    std::optional<std::uint64_t> magnitude() const;
    bool operator==(const Decimal&) const = default;
};

/// "-12.50e3". Nothing for what is no number, and for inf and nan.
std::optional<Decimal> parseDecimal(std::string_view text);
/// The exact value of an integer that a double holds.
Decimal decimalOf(double integer);

}  // namespace sonde::io
