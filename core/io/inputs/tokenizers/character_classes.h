#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sonde::io {

/// Unicode's normal forms (UAX #15).
enum class NormalForm : std::uint8_t { C, D, KC, KD };

/// `text` is UTF-8; bytes that are not stay as they are.
std::string normalForm(std::string_view text, NormalForm form);

/// General categories P*, Mn, N*, C* (with what is not assigned); letters, marks, digits, connectors and joiners: `\w`.
bool isPunctuation(char32_t c);
bool isMark(char32_t c);  ///< Mn, Mc, Me
bool isNonspacingMark(char32_t c);
bool isNumber(char32_t c);
bool isOther(char32_t c);
bool isWordCharacter(char32_t c);
/// What BERT's tokenizer calls punctuation: P*, and every printable ASCII character that is no letter, digit or blank.
bool isBertPunctuation(char32_t c);
/// Unicode's full lower case of one code point; only İ becomes two.
void appendLowerCase(std::string& text, char32_t c);

/// `text` with each code point replaced by what `append` adds for it.
std::string mappedCharacters(std::string_view text, const std::function<void(std::string& to, char32_t c)>& append);
std::size_t characterCount(std::string_view text);

}  // namespace sonde::io
