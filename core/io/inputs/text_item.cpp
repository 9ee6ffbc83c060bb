#include "core/io/inputs/text_item.h"

#include <algorithm>
#include <charconv>

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;

constexpr std::size_t kMaxLength = 1'000'000;
constexpr std::string_view kPlain = "plain", kCased = "cased", kUncased = "uncased";
constexpr std::string_view kHexadecimal = "0123456789abcdef";

/// Where the quote that the text begins with is closed; npos: nowhere.
std::size_t closingQuote(std::string_view text) {
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '\\') ++i;
        else if (text[i] == text.front()) return i;
    }
    return std::string_view::npos;
}

bool isQuote(char c) { return c == '\'' || c == '"'; }

/// The bytes of 'TEXT'# at the beginning; 0: there is no such.
std::size_t quotedBytes(std::string_view text) {
    if (text.empty() || !isQuote(text.front())) return 0;
    const std::size_t close = closingQuote(text);
    const bool isText = close != std::string_view::npos && close + 1 < text.size() && text[close + 1] == '#';
    return isText ? close + 2 : 0;
}

std::optional<char> plainEscape(char c) {
    switch (c) {
        case 'n': return '\n';
        case 't': return '\t';
        case 'r': return '\r';
        case '\\':
        case '\'':
        case '"': return c;
        default: return std::nullopt;
    }
}

/// "16", "plain", "words": whether it is an option, which then is in `to`.
bool takeOption(std::string_view word, TokenizerPart& to) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), length);
    if (!word.empty() && error == std::errc() && end == word.data() + word.size()) {
        to.length = length;
        return true;
    }
    if (word == kPlain) to.isPlain = true;
    else if (word == kCased || word == kUncased) to.choice.lowersCase = word == kUncased;
    else if (std::ranges::find(vocabularyKinds(), word, &VocabularyKind::id) != vocabularyKinds().end())
        to.choice.kind = word;
    else return false;
    return true;
}

/// The path and the options behind it, which are the last words between commas.
std::size_t pathBytes(std::string_view part, TokenizerPart* to = nullptr) {
    TokenizerPart ignored;
    while (true) {
        const std::size_t comma = part.rfind(',');
        if (comma == std::string_view::npos || !takeOption(part.substr(comma + 1), to ? *to : ignored))
            return part.size();
        part = part.substr(0, comma);
    }
}

}  // namespace

bool isTextItem(std::string_view item) { return quotedBytes(item) > 0; }

base::Result<TextItem> parseTextItem(std::string_view item) {
    const std::size_t end = quotedBytes(item);
    if (end == 0) return usageError("a text in quotes with '#' and its tokenizer is expected", std::string(item));
    TextItem made{{}, std::string(item.substr(end))};
    const std::string_view inside = item.substr(1, end - 3);
    for (std::size_t i = 0; i < inside.size(); ++i) {
        if (inside[i] != '\\') {
            made.text += inside[i];
            continue;
        }
        const char escape = inside[++i];  // closingQuote() takes no '\' without one
        unsigned byte = 0;
        if (const std::optional<char> plain = plainEscape(escape)) {
            made.text += *plain;
        } else if (const std::string_view digits = inside.substr(std::min(i + 1, inside.size()), 2);
                   escape == 'x' && digits.size() == 2 &&
                   std::from_chars(digits.data(), digits.data() + 2, byte, 16).ptr == digits.data() + 2) {
            made.text += static_cast<char>(byte);
            i += 2;
        } else {
            return usageError("'\\" + std::string(1, escape) + "' is no escape of a text", {},
                              R"(write \n, \t, \r, \\, \', \" or \xHH)");
        }
    }
    return made;
}

std::string textItemOf(std::string_view text, std::string_view part) {
    std::string item = "'";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\\' || c == '\'') item += {'\\', c};
        else if (c == '\n') item += "\\n";
        else if (c == '\t') item += "\\t";
        else if (byte < 0x20 || c == ';') item += {'\\', 'x', kHexadecimal[byte >> 4U], kHexadecimal[byte & 15U]};
        else item += c;
    }
    return item + "'#" + std::string(part);
}

base::Result<TokenizerPart> parseTokenizerPart(std::string_view part) {
    TokenizerPart made;
    made.path = part.substr(0, pathBytes(part, &made));
    if (made.path.empty())
        return usageError("a text needs the file of its tokenizer", {},
                          "write prompt.txt#tokenizer.json, or 'Hello world'#vocab.txt");
    if (made.length && (*made.length < 1 || *made.length > kMaxLength))
        return usageError("a length of " + std::to_string(*made.length) + " tokens is not possible",
                          "#" + std::string(part), "write a length from 1 to " + std::to_string(kMaxLength));
    return made;
}

std::string tokenizerPartText(const TokenizerPart& part) {
    std::string text = part.path;
    if (part.length) text += ',' + std::to_string(*part.length);
    if (part.isPlain) text += ',' + std::string(kPlain);
    if (!part.choice.kind.empty()) text += ',' + part.choice.kind;
    if (part.choice.lowersCase) text += ',' + std::string(*part.choice.lowersCase ? kUncased : kCased);
    return text;
}

std::vector<std::string_view> splitSpecification(std::string_view specification) {
    std::vector<std::string_view> items;
    std::size_t begin = 0;
    bool mayBegin = true;  // a text: at the beginning of an item, or behind its name
    for (std::size_t at = 0; at <= specification.size(); ++at) {
        if (at == specification.size() || specification[at] == ';') {
            if (at > begin) items.push_back(specification.substr(begin, at - begin));
            begin = at + 1;
            mayBegin = true;
            continue;
        }
        if (mayBegin && isQuote(specification[at]))
            at += std::max<std::size_t>(quotedBytes(specification.substr(at)), 1) - 1;
        mayBegin = specification[at] == ':';
    }
    return items;
}

std::size_t tokenizerPathBytes(std::string_view part) { return pathBytes(part); }

}  // namespace sonde::io
