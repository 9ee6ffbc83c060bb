#include "core/io/inputs/tokenizers/splits.h"

#include <string>
#include <utility>

#include "core/base/unicode.h"

namespace sonde::io {

namespace {

constexpr std::pair<std::string_view, SplitBehavior> kSplitBehaviors[] = {
    {"Removed", SplitBehavior::Removed},
    {"Isolated", SplitBehavior::Isolated},
    {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
    {"MergedWithNext", SplitBehavior::MergedWithNext},
    {"Contiguous", SplitBehavior::Contiguous},
};

/// Whether a span goes on with the one before it.
bool joins(SplitBehavior behavior, const TextSpan& before, const TextSpan& span) {
    switch (behavior) {
        case SplitBehavior::MergedWithPrevious: return span.isMatch && !before.isMatch;
        case SplitBehavior::MergedWithNext: return before.isMatch && !span.isMatch;
        case SplitBehavior::Contiguous: return before.isMatch == span.isMatch;
        default: return false;
    }
}

}  // namespace

base::Result<SplitBehavior> splitBehaviorOf(const JsonPlace& place) {
    SONDE_ASSIGN(const std::string name, place.text());
    for (const auto& [known, behavior] : kSplitBehaviors)
        if (known == name) return behavior;
    return place.error("'" + name.substr(0, 40) + "' is no behaviour of a split");
}

std::vector<TextSpan> charactersWhere(std::string_view text, const std::function<bool(char32_t)>& matches) {
    std::vector<TextSpan> spans;
    for (std::size_t at = 0; at < text.size();) {
        const base::CodePoint point = base::firstCodePoint(text.substr(at));
        const bool isMatch = matches(point.value);
        if (isMatch || spans.empty() || spans.back().isMatch) spans.push_back({at, at, isMatch});
        at += point.bytes;
        spans.back().end = at;
    }
    return spans;
}

void split(std::string_view text, const std::vector<TextSpan>& spans, SplitBehavior behavior, Pieces& to) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const TextSpan& span = spans[i];
        if (span.begin == span.end || (behavior == SplitBehavior::Removed && span.isMatch)) continue;
        const std::string_view part = text.substr(span.begin, span.end - span.begin);
        if (i > 0 && joins(behavior, spans[i - 1], span)) to.back() += part;
        else to.emplace_back(part);
    }
}

}  // namespace sonde::io
