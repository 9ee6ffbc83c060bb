#include "core/base/natural_order.h"

#include <cstddef>

namespace sonde::base {

namespace {

bool isDigitByte(char c) { return c >= '0' && c <= '9'; }

/// The digits at a position without leading zeros, which is moved behind them.
std::string_view naturalNumber(std::string_view text, std::size_t& at) {
    while (at < text.size() && text[at] == '0') ++at;
    const std::size_t begin = at;
    while (at < text.size() && isDigitByte(text[at])) ++at;
    return text.substr(begin, at - begin);
}

}  // namespace

bool isNaturallyBefore(std::string_view a, std::string_view b) {
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (isDigitByte(a[i]) && isDigitByte(b[j])) {
            const std::string_view one = naturalNumber(a, i), other = naturalNumber(b, j);
            if (one.size() != other.size()) return one.size() < other.size();
            if (one != other) return one < other;
        } else if (a[i] != b[j]) {
            return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
        } else {
            ++i, ++j;
        }
    }
    if (i < a.size() || j < b.size()) return i == a.size();
    return a < b;  // the same but for zeros: 1.png, 01.png
}

}  // namespace sonde::base
