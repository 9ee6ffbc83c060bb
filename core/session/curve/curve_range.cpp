#include "core/session/curve/curve_range.h"

#include <cmath>

#include "core/base/number_text.h"

namespace sonde::session {

namespace {

base::Error refusedRange(std::string_view text, const std::string& why) {
    return base::usageError("'" + std::string(text) + "' is no range of a curve: " + why, {},
                            "KEY=A:B:STEP, as in batch=1:8:1 or batch=1:64:x2");
}

std::vector<std::string_view> partsOf(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; end != text.npos;) {
        end = text.find(':');
        parts.push_back(text.substr(0, end));
        if (end != text.npos) text.remove_prefix(end + 1);
    }
    return parts;
}

}  // namespace

base::Result<CurveRange> CurveRange::parse(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) return refusedRange(text, "it has no KEY=");
    CurveRange range;
    range.key = text.substr(0, equals);
    std::vector<std::string_view> parts = partsOf(text.substr(equals + 1));
    if (parts.size() == 2) parts.push_back("1");
    if (parts.size() != 3) return refusedRange(text, "it takes two or three numbers");
    const bool isFactor = parts[2].starts_with('x');
    if (isFactor) parts[2].remove_prefix(1);
    double numbers[3];
    for (int i = 0; i < 3; ++i) {
        const auto number = base::parseNumber<double>(parts[static_cast<std::size_t>(i)]);
        if (!number || !std::isfinite(*number))
            return refusedRange(text, "'" + std::string(parts[static_cast<std::size_t>(i)]) + "' is no number");
        numbers[i] = *number;
    }
    const auto [first, last, step] = numbers;
    const bool grows = isFactor ? step > 1 && first > 0 : step > 0;
    const bool shrinks = isFactor ? step > 0 && step < 1 && first > 0 && last > 0 : step < 0;
    if (first != last && !(last > first ? grows : shrinks))
        return refusedRange(text, "its step never gets from the first number to the last");
    // Sums of steps such as 0.1 miss the last one by rounding.
    const double slack = 1e-9 * std::max(std::abs(first), std::abs(last));
    for (std::size_t i = 0;; ++i) {
        const auto count = static_cast<double>(i);
        const double at = isFactor ? first * std::pow(step, count) : first + step * count;
        if (last >= first ? at > last + slack : at < last - slack) break;
        if (i == kMaxPoints) return refusedRange(text, "it has more than " + std::to_string(kMaxPoints) + " points");
        range.at.push_back(at);
        if (first == last) break;
    }
    return range;
}

}  // namespace sonde::session
