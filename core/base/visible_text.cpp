#include "core/base/visible_text.h"

namespace sonde::base {

std::string visibleText(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string result;
    result.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') result += "\\n";
        else if (c == '\r') result += "\\r";
        else if (c == '\t') result += "\\t";
        else if (byte < 0x20 || byte == 0x7f) result += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
        else result += c;
    }
    return result;
}

}  // namespace sonde::base
