#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/result.h"

namespace re2 {
class RE2;
}

namespace sonde::ops {

/// Whether upper and lower case letters of a pattern differ.
enum class Case : std::uint8_t { Sensitive, Ignored };

/// A regular expression of RE2 (https://github.com/google/re2/wiki/Syntax) over UTF-8. A pattern takes at most 8 MiB, a
/// match time that is linear in the text, whatever they are. '.' and classes match no byte that is not UTF-8.
/// Matching is thread-safe; copies share the compiled pattern.
class Regex {
  public:
    /// Errors (Run): "invalid regular expression: …" with RE2's reason: wrong syntax, a repetition above 1000, a
    /// pattern that compiles to more than the memory above.
    static base::Result<Regex> parse(std::string_view pattern, Case letters = Case::Sensitive);

    /// Whether the whole text matches.
    bool matchesAll(std::string_view text) const;
    /// Whether any part of the text matches.
    bool matchesPart(std::string_view text) const;

    /// Bytes of the longest text that is matched within seconds in the worst case. A match cannot be interrupted: who
    /// must stay cancellable refuses longer ones.
    std::size_t maxTextSize() const;

  private:
    explicit Regex(std::shared_ptr<const re2::RE2> compiled) : m_compiled(std::move(compiled)) {}

    std::shared_ptr<const re2::RE2> m_compiled;
};

}  // namespace sonde::ops
