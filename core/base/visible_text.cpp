#include "core/base/visible_text.h"

#include "core/base/unicode.h"

namespace sonde::base {

namespace {

void appendEscaped(std::string& result, std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        result += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    }
}

/// What Unicode keeps from ever being a character, and XML does not allow.
bool isNoCharacter(char32_t value) { return value == 0xfffe || value == 0xffff; }

}  // namespace

std::string visibleText(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const CodePoint first = firstCodePoint(text);
        const std::string_view bytes = text.substr(0, first.bytes);
        if (first.value == U'\n') result += "\\n";
        else if (first.value == U'\r') result += "\\r";
        else if (first.value == U'\t') result += "\\t";
        else if (!first.valid || isControl(first.value) || isNoCharacter(first.value)) appendEscaped(result, bytes);
        else result += bytes;
        text.remove_prefix(first.bytes);
    }
    return result;
}

}  // namespace sonde::base
