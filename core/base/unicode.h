#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde::base {

/// What stands at the beginning of a text: a code point of UTF-8 (no surrogate, not longer than needed), or a byte that
/// begins none.
struct CodePoint {
    char32_t value = 0xFFFD;  ///< U+FFFD for a byte that begins none
    std::size_t bytes = 1;
    bool valid = false;
};

/// `text` is not empty.
CodePoint firstCodePoint(std::string_view text);

/// All code points; a byte b that begins none is U+DC00 + b, as Python's surrogateescape has it.
std::u32string codePoints(std::string_view text);

/// Surrogates and what is above U+10FFFF are written as U+FFFD.
void appendUtf8(std::string& text, char32_t value);

/// The longest beginning, or end, of at most `bytes` bytes that divides no code point.
std::string_view utf8Prefix(std::string_view text, std::size_t bytes);
std::string_view utf8Suffix(std::string_view text, std::size_t bytes);

/// Turkish and Azerbaijani have dotted and dotless i as letters of their own: i ↔ İ, ı ↔ I.
enum class CaseRules : unsigned char { Common, Turkic };

/// Unicode's simple case mapping: one code point becomes one, whatever the process' locale (so 'ß' stays 'ß').
char32_t upperCase(char32_t c, CaseRules rules = CaseRules::Common);
char32_t lowerCase(char32_t c, CaseRules rules = CaseRules::Common);
/// The same for every code point; bytes that are not UTF-8 stay.
std::string upperCase(std::string_view text, CaseRules rules = CaseRules::Common);
std::string lowerCase(std::string_view text, CaseRules rules = CaseRules::Common);

/// For comparisons that ignore case: equal for what has the same upper case, so also for σ and ς.
char32_t foldCase(char32_t c);
std::string foldCase(std::string_view text);

/// Unicode's White_Space, and control characters (general category Cc).
bool isSpace(char32_t c);
bool isControl(char32_t c);

}  // namespace sonde::base
