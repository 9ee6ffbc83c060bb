#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace re2 {
class RE2;
}

namespace sonde::io {

/// A part of a text that a pattern looks at, in bytes; isMatch: it matches, else it is between two matches.
struct TextSpan {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool isMatch = false;
};

/// A regular expression of a tokenizer, as Rust's and Oniguruma's are written. RE2 runs it, which takes time linear in
/// the text; it has no look-ahead. The one that tokenizers end with, `\s+(?!\S)|\s+` (all blanks but the last one
/// before a word), is done here. `\s`, `\d` and `\w` are those of Unicode.
class TokenPattern {
  public:
    /// Errors (Unreadable), without a place: RE2's reason; other look-around.
    static base::Result<TokenPattern> parse(std::string_view pattern);
    /// The text itself.
    static TokenPattern ofText(std::string_view text);

    /// The whole text in spans, without empty ones.
    std::vector<TextSpan> spansOf(std::string_view text) const;

  private:
    TokenPattern() = default;
    /// Whether the match that begins there is that of the last group.
    bool isLastGroup(std::string_view text, std::size_t at) const;

    std::string m_text;  ///< of a pattern that is a plain text
    std::shared_ptr<const re2::RE2> m_compiled;
    bool m_keepsLastBlank = false;  ///< the last group matches blanks, of which the last one before a word is no part
};

}  // namespace sonde::io
