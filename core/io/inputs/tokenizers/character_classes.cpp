#include "core/io/inputs/tokenizers/character_classes.h"

#include <cstdlib>
#include <memory>
#include <utf8proc.h>

#include "core/base/unicode.h"

namespace sonde::io {

namespace {

constexpr char32_t kDottedCapitalI = 0x130, kDotAbove = 0x307;
constexpr char32_t kZeroWidthNonJoiner = 0x200C, kZeroWidthJoiner = 0x200D;

utf8proc_category_t categoryOf(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool isBetween(utf8proc_category_t category, utf8proc_category_t first, utf8proc_category_t last) {
    return category >= first && category <= last;
}

utf8proc_option_t optionsOf(NormalForm form) {
    int options = UTF8PROC_STABLE;
    options |= form == NormalForm::C || form == NormalForm::KC ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
    if (form == NormalForm::KC || form == NormalForm::KD) options |= UTF8PROC_COMPAT;
    return static_cast<utf8proc_option_t>(options);
}

}  // namespace

std::string normalForm(std::string_view text, NormalForm form) {
    utf8proc_uint8_t* made = nullptr;
    const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                               static_cast<utf8proc_ssize_t>(text.size()), &made, optionsOf(form));
    const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owned(made, std::free);
    if (size < 0) return std::string(text);
    return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(size)};
}

bool isPunctuation(char32_t c) { return isBetween(categoryOf(c), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO); }

bool isMark(char32_t c) { return isBetween(categoryOf(c), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME); }

bool isNonspacingMark(char32_t c) { return categoryOf(c) == UTF8PROC_CATEGORY_MN; }

bool isNumber(char32_t c) { return isBetween(categoryOf(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO); }

bool isOther(char32_t c) {
    const utf8proc_category_t category = categoryOf(c);
    return category == UTF8PROC_CATEGORY_CN || isBetween(category, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO);
}

bool isWordCharacter(char32_t c) {
    const utf8proc_category_t category = categoryOf(c);
    return isBetween(category, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_NL) || category == UTF8PROC_CATEGORY_PC ||
           c == kZeroWidthNonJoiner || c == kZeroWidthJoiner;
}

bool isBertPunctuation(char32_t c) {
    const bool isAscii = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
    return isAscii || isPunctuation(c);
}

void appendLowerCase(std::string& text, char32_t c) {
    if (c == kDottedCapitalI) {
        base::appendUtf8(text, 'i');
        base::appendUtf8(text, kDotAbove);
    } else {
        base::appendUtf8(text, base::lowerCase(c));
    }
}

std::string mappedCharacters(std::string_view text, const std::function<void(std::string& to, char32_t c)>& append) {
    std::string made;
    made.reserve(text.size());
    while (!text.empty()) {
        const base::CodePoint first = base::firstCodePoint(text);
        append(made, first.value);
        text.remove_prefix(first.bytes);
    }
    return made;
}

std::size_t characterCount(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count) text.remove_prefix(base::firstCodePoint(text).bytes);
    return count;
}

}  // namespace sonde::io
