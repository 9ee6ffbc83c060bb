#include "core/base/glob.h"

#include <algorithm>
#include <string>

#include "core/base/unicode.h"

namespace sonde::base {

namespace {

std::u32string compared(std::string_view text, bool ignoreCase) {
    std::u32string result = codePoints(text);
    if (ignoreCase) std::ranges::transform(result, result.begin(), [](char32_t c) { return foldCase(c); });
    return result;
}

/// Matches one character against the set after a '['; `at` moves after its ']'. A set without end is a plain '['.
bool setMatches(std::u32string_view pattern, std::size_t& at, char32_t c) {
    std::size_t i = at + 1;
    const bool negated = i < pattern.size() && pattern[i] == '!';
    if (negated) ++i;
    const std::size_t first = i;
    bool found = false;
    for (; i < pattern.size() && (pattern[i] != ']' || i == first); ++i) {
        if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
            found = found || (pattern[i] <= c && c <= pattern[i + 2]);
            i += 2;
        } else {
            found = found || pattern[i] == c;
        }
    }
    if (i >= pattern.size()) {
        ++at;
        return c == '[';
    }
    at = i + 1;
    return found != negated;
}

}  // namespace

bool globMatches(std::string_view glob, std::string_view name, bool ignoreCase) {
    const std::u32string pattern = compared(glob, ignoreCase), text = compared(name, ignoreCase);
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::u32string::npos;
    std::size_t resume = 0;
    while (t < text.size()) {
        const char32_t c = text[t];
        std::size_t next = p;
        bool matched = false;
        if (p < pattern.size() && pattern[p] == '*') {
            star = ++p;
            resume = t;
            continue;
        }
        if (p < pattern.size() && pattern[p] == '[') {
            matched = setMatches(pattern, next, c);
        } else if (p < pattern.size()) {
            matched = pattern[p] == '?' || pattern[p] == c;
            next = p + 1;
        }
        if (matched) {
            p = next;
            ++t;
        } else if (star != std::u32string::npos) {
            p = star;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace sonde::base
