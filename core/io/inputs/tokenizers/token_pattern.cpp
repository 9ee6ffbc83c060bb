#include "core/io/inputs/tokenizers/token_pattern.h"

#include <algorithm>
#include <re2/re2.h>

#include "core/base/unicode.h"
#include "core/base/visible_text.h"

namespace sonde::io {

namespace {

constexpr std::int64_t kMaxPatternMemory = std::int64_t{8} << 20;
constexpr std::string_view kLookAhead = R"(\s+(?!\S)|\s+)";
/// White_Space of Unicode, for use within brackets; RE2's \s is of ASCII.
constexpr std::string_view kBlanks = R"(\t-\r \x{85}\p{Z})";
constexpr std::string_view kDigits = R"(\p{Nd})";
/// Alphabetic characters (letters, letter numbers, circled letters), marks, digits, connectors and joiners (UTS #18).
constexpr std::string_view kWords = R"(\p{L}\p{Nl}\x{24B6}-\x{24E9}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D})";

/// What stands for `\s`, `\S` and their like; empty: nothing, the escape is RE2's too.
std::string_view classOf(char escape) {
    switch (escape) {
        case 's':
        case 'S': return kBlanks;
        case 'd':
        case 'D': return kDigits;
        case 'w':
        case 'W': return kWords;
        default: return {};
    }
}

/// With classes of Unicode in place of RE2's own.
base::Result<std::string> inRe2(std::string_view pattern) {
    std::string made;
    bool isInClass = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c != '\\' || i + 1 == pattern.size()) {
            if (c == '[') isInClass = true;
            if (c == ']') isInClass = false;
            made += c;
            continue;
        }
        const char escape = pattern[++i];
        const std::string_view set = classOf(escape);
        const bool isOpposite = escape >= 'A' && escape <= 'Z';
        if (set.empty()) {
            made += c;
            made += escape;
        } else if (!isInClass) {
            made += (isOpposite ? "[^" : "[") + std::string(set) + ']';
        } else if (!isOpposite) {
            made += set;
        } else {
            return base::unreadable(std::string("the pattern has \\") + escape + " within brackets");
        }
    }
    return made;
}

bool isBlankAt(std::string_view text, std::size_t at) {
    const base::CodePoint point = base::firstCodePoint(text.substr(at));
    return point.valid && base::isSpace(point.value);
}

/// Where the last character of [begin, end) begins.
std::size_t lastCharacter(std::string_view text, std::size_t begin, std::size_t end) {
    std::size_t at = end - 1;
    while (at > begin && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
    return at;
}

void add(std::vector<TextSpan>& spans, std::size_t begin, std::size_t end, bool isMatch) {
    if (begin < end) spans.push_back({begin, end, isMatch});
}

}  // namespace

base::Result<TokenPattern> TokenPattern::parse(std::string_view pattern) {
    TokenPattern made;
    const std::string shown = base::visibleText(base::utf8Prefix(pattern, 120));
    std::string_view rest = pattern;
    if (rest.ends_with(kLookAhead)) {
        rest.remove_suffix(kLookAhead.size());
        // Only as the last of the alternatives: within a group the blanks would be a part of something.
        const bool isLast =
            rest.empty() || (rest.ends_with('|') && std::ranges::count(rest, '(') == std::ranges::count(rest, ')'));
        made.m_keepsLastBlank = isLast;
        if (!isLast) rest = pattern;
    }
    for (const std::string_view around : {"(?=", "(?!", "(?<=", "(?<!"})
        if (rest.find(around) != std::string_view::npos)
            return base::unreadable("the pattern '" + shown + "' looks ahead or back, which is not supported", {},
                                    "supported is a pattern that ends with " + std::string(kLookAhead));
    SONDE_ASSIGN(std::string text, inRe2(rest));
    if (made.m_keepsLastBlank) text += "([" + std::string(kBlanks) + "]+)";
    re2::RE2::Options options;
    options.set_max_mem(kMaxPatternMemory);
    options.set_log_errors(false);
    auto compiled = std::make_shared<const re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
    if (!compiled->ok())
        return base::unreadable("the pattern '" + shown +
                                "' is not supported: " + std::string(base::utf8Prefix(compiled->error(), 120)));
    made.m_compiled = std::move(compiled);
    return made;
}

/// Groups cost RE2 many times as much as a match: only a match that begins with a blank is looked at.
bool TokenPattern::isLastGroup(std::string_view text, std::size_t at) const {
    if (!isBlankAt(text, at)) return false;
    std::vector<re2::StringPiece> groups(static_cast<std::size_t>(m_compiled->NumberOfCapturingGroups()) + 1);
    const re2::StringPiece whole(text.data(), text.size());
    const bool isFound = m_compiled->Match(whole, at, text.size(), re2::RE2::ANCHOR_START, groups.data(),
                                           static_cast<int>(groups.size()));
    return isFound && groups.back().data() && groups.back().size() == groups.front().size();
}

TokenPattern TokenPattern::ofText(std::string_view text) {
    TokenPattern made;
    made.m_text = text;
    return made;
}

std::vector<TextSpan> TokenPattern::spansOf(std::string_view text) const {
    std::vector<TextSpan> spans;
    std::size_t begin = 0;  // of what is not in a span yet
    if (!m_compiled) {
        if (m_text.empty()) return {{0, text.size(), false}};
        for (std::size_t at = 0; (at = text.find(m_text, begin)) != std::string_view::npos;
             begin = at + m_text.size()) {
            add(spans, begin, at, false);
            add(spans, at, at + m_text.size(), true);
        }
        add(spans, begin, text.size(), false);
        return spans;
    }
    const re2::StringPiece whole(text.data(), text.size());
    for (std::size_t from = 0; from < text.size();) {
        re2::StringPiece match;
        if (!m_compiled->Match(whole, from, text.size(), re2::RE2::UNANCHORED, &match, 1)) break;
        const auto at = static_cast<std::size_t>(match.data() - text.data());
        std::size_t end = at + match.size();
        if (m_keepsLastBlank && end > at && end < text.size() && !isBlankAt(text, end) && isLastGroup(text, at)) {
            const std::size_t last = lastCharacter(text, at, end);
            if (last > at) end = last;
        }
        add(spans, begin, at, false);
        add(spans, at, end, true);
        begin = std::max(begin, end);
        // An empty match moves on by a character.
        from = end > at ? end : at + (at < text.size() ? base::firstCodePoint(text.substr(at)).bytes : 1);
    }
    add(spans, begin, text.size(), false);
    return spans;
}

}  // namespace sonde::io
