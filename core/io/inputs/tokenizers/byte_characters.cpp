#include "core/io/inputs/tokenizers/byte_characters.h"

#include <array>

#include "core/base/unicode.h"

namespace sonde::io {

namespace {

constexpr std::size_t kByteCount = 256;
constexpr char32_t kFirstOther = 0x100;

/// By byte.
const std::array<char32_t, kByteCount>& byteTable() {
    static const std::array<char32_t, kByteCount> table = [] {
        std::array<char32_t, kByteCount> made{};
        char32_t next = kFirstOther;
        for (std::size_t i = 0; i < kByteCount; ++i) {
            const bool isItself = (i >= 0x21 && i <= 0x7E) || (i >= 0xA1 && i <= 0xAC) || i >= 0xAE;
            made[i] = isItself ? static_cast<char32_t>(i) : next++;
        }
        return made;
    }();
    return table;
}

}  // namespace

std::string bytesAsCharacters(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (const char byte : bytes) base::appendUtf8(text, byteTable()[static_cast<unsigned char>(byte)]);
    return text;
}

std::optional<std::string> charactersAsBytes(std::string_view text) {
    // By code point: all of them are below U+0200.
    static const std::array<int, 2 * kByteCount> bytes = [] {
        std::array<int, 2 * kByteCount> made{};
        made.fill(-1);
        for (std::size_t i = 0; i < kByteCount; ++i) made[byteTable()[i]] = static_cast<int>(i);
        return made;
    }();
    std::string made;
    while (!text.empty()) {
        const base::CodePoint point = base::firstCodePoint(text);
        if (point.value >= bytes.size() || bytes[point.value] < 0) return std::nullopt;
        made += static_cast<char>(bytes[point.value]);
        text.remove_prefix(point.bytes);
    }
    return made;
}

std::string validUtf8(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        const base::CodePoint point = base::firstCodePoint(text);
        base::appendUtf8(valid, point.value);
        text.remove_prefix(point.bytes);
    }
    return valid;
}

}  // namespace sonde::io
