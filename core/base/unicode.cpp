#include "core/base/unicode.h"

#include <utf8proc.h>

namespace sonde::base {

namespace {

constexpr char32_t kReplacement = 0xFFFD, kEscapedByte = 0xDC00, kSharpS = 0xDF;
constexpr char32_t kDottedUpper = 0x130, kDotlessLower = 0x131;

utf8proc_int32_t code(char32_t c) { return static_cast<utf8proc_int32_t>(c); }

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

template <typename Mapping>
std::string mapped(std::string_view text, Mapping&& mapping) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const CodePoint first = firstCodePoint(text);
        if (first.valid) appendUtf8(result, mapping(first.value));
        else result += text.front();
        text.remove_prefix(first.bytes);
    }
    return result;
}

}  // namespace

CodePoint firstCodePoint(std::string_view text) {
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte < 0x80) return {byte, 1, true};
    utf8proc_int32_t value = 0;
    const utf8proc_ssize_t bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                    static_cast<utf8proc_ssize_t>(text.size()), &value);
    if (bytes < 1) return {};
    return {static_cast<char32_t>(value), static_cast<std::size_t>(bytes), true};
}

std::u32string codePoints(std::string_view text) {
    std::u32string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const CodePoint first = firstCodePoint(text);
        result += first.valid ? first.value : kEscapedByte + static_cast<unsigned char>(text.front());
        text.remove_prefix(first.bytes);
    }
    return result;
}

void appendUtf8(std::string& text, char32_t value) {
    if (value < 0x80) {
        text += static_cast<char>(value);
        return;
    }
    if (!utf8proc_codepoint_valid(code(value))) value = kReplacement;
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t count = utf8proc_encode_char(code(value), bytes);
    text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

std::string_view utf8Prefix(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    const std::size_t end = bytes;
    while (bytes > 0 && end - bytes < 3 && isContinuation(text[bytes])) --bytes;
    return text.substr(0, bytes);
}

std::string_view utf8Suffix(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    const std::size_t from = text.size() - bytes;
    std::size_t begin = from;
    while (begin < text.size() && begin - from < 3 && isContinuation(text[begin])) ++begin;
    return text.substr(begin);
}

char32_t upperCase(char32_t c, CaseRules rules) {
    if (rules == CaseRules::Turkic && c == 'i') return kDottedUpper;
    // utf8proc has ẞ here, which Unicode's simple mapping and ONNX Runtime have not.
    return c == kSharpS ? c : static_cast<char32_t>(utf8proc_toupper(code(c)));
}

char32_t lowerCase(char32_t c, CaseRules rules) {
    if (rules == CaseRules::Turkic && c == 'I') return kDotlessLower;
    return static_cast<char32_t>(utf8proc_tolower(code(c)));
}

std::string upperCase(std::string_view text, CaseRules rules) {
    return mapped(text, [rules](char32_t c) { return upperCase(c, rules); });
}

std::string lowerCase(std::string_view text, CaseRules rules) {
    return mapped(text, [rules](char32_t c) { return lowerCase(c, rules); });
}

char32_t foldCase(char32_t c) { return lowerCase(upperCase(c)); }

std::string foldCase(std::string_view text) {
    return mapped(text, [](char32_t c) { return foldCase(c); });
}

bool isSpace(char32_t c) {
    if ((c >= '\t' && c <= '\r') || c == 0x85) return true;
    const utf8proc_category_t category = utf8proc_category(code(c));
    return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

bool isControl(char32_t c) { return utf8proc_category(code(c)) == UTF8PROC_CATEGORY_CC; }

}  // namespace sonde::base
