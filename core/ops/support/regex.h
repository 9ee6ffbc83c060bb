#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace sonde::ops {

/// A regular expression in RE2's syntax (https://github.com/google/re2/wiki/Syntax) without classes of Unicode properties
/// (\pN) and single bytes (\C). It is matched by following all its states at once, so that the time is at most that of the
/// pattern's length times the text's whatever they are.
class Regex {
  public:
    /// Errors: wrong syntax, with the place; repetitions above 1000; more than 20'000 states.
    static base::Result<Regex> parse(std::string_view pattern);

    /// Whether all of a UTF-8 text matches. `stopped` is asked now and then; after true the answer means nothing.
    bool matchesAll(std::string_view text, const std::function<bool()>& stopped = {}) const;

  private:
    friend class RegexCompiler;

    struct CharacterSet {
        std::vector<std::pair<char32_t, char32_t>> ranges;
        bool negated = false, foldsCase = false;

        bool contains(char32_t c) const;
    };
    enum class Step : std::uint8_t { Set, Split, Jump, TextBegin, TextEnd, LineBegin, LineEnd, WordEdge, NoWordEdge, Match };
    struct Instruction {
        Step step;
        std::uint32_t to = 0, other = 0;  ///< Set: which; Split: both ways; Jump: where
    };
    struct Scan;

    std::vector<CharacterSet> m_sets;
    std::vector<Instruction> m_program;
};

}  // namespace sonde::ops
