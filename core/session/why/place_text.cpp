#include "core/session/why/place_text.h"

#include <algorithm>

#include "core/base/number_text.h"

namespace sonde::session::why {

namespace {

constexpr std::size_t kMaxDims = 64;

std::size_t columnAt(std::string_view text, std::size_t byte) {
    return 1 + static_cast<std::size_t>(
                   std::ranges::count_if(text.substr(0, byte), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::size_t afterBlanks(std::string_view text, std::size_t at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    return at;
}

/// The name at the beginning; `at` is then behind it. Empty: an end is missing.
std::string nameIn(std::string_view text, std::size_t& at) {
    std::string name;
    if (text.empty() || text[0] != '`') {
        while (at < text.size() && text[at] != '[' && text[at] != ' ' && text[at] != '\t') name += text[at++];
        return name;
    }
    for (at = 1; at < text.size(); ++at) {
        if (text[at] == '`') {
            ++at;
            return name;
        }
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        name += text[at];
    }
    return {};
}

}  // namespace

std::optional<PlaceText> readPlace(std::string_view text, PlaceProblem& problem) {
    const auto refuse = [&](std::string what, std::size_t byte) {
        problem = {base::usageError(std::move(what)), columnAt(text, byte)};
        return std::nullopt;
    };
    std::size_t at = 0;
    PlaceText place;
    place.node = nameIn(text, at);
    if (place.node.empty())
        return refuse(text.starts_with('`') ? "the closing backtick is missing" : "the name of a node is missing", 0);
    const auto finish = [&] {
        at = afterBlanks(text, at);
        place.rest = text.substr(at);
        place.restColumn = columnAt(text, at);
        return place;
    };
    const std::size_t open = afterBlanks(text, at);
    place.indexColumn = columnAt(text, open);
    if (open >= text.size() || text[open] != '[') return finish();
    place.hasBrackets = true;
    at = afterBlanks(text, open + 1);
    place.indexColumn = columnAt(text, at);
    if (at < text.size() && text[at] == ']') {
        ++at;
        return finish();
    }
    for (;;) {
        std::size_t end = at;
        while (end < text.size() && (text[end] == '-' || (text[end] >= '0' && text[end] <= '9'))) ++end;
        const auto number = base::parseNumber<std::int64_t>(text.substr(at, end - at));
        if (!number) return refuse("expected an integer as index", at);
        if (place.index.size() == kMaxDims) return refuse("the index has more than 64 numbers", at);
        place.index.push_back(*number);
        at = afterBlanks(text, end);
        if (at >= text.size()) return refuse("the closing bracket is missing", at);
        if (text[at] == ']') break;
        if (text[at] != ',') return refuse("expected ',' or ']' in the index", at);
        at = afterBlanks(text, at + 1);
    }
    ++at;
    return finish();
}

}  // namespace sonde::session::why
