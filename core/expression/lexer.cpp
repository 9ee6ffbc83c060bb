#include "core/expression/lexer.h"

#include <algorithm>
#include <array>

#include "core/base/number_text.h"
#include "core/base/unicode.h"
#include "core/base/visible_text.h"
#include "core/expression/syntax.h"

namespace sonde::expression {

namespace {

constexpr std::array<std::string_view, 12> kReserved{"and", "or",  "not", "True",  "False", "None",
                                                     "inf", "nan", "np",  "float", "int",   "bool"};
// Longer ones first.
constexpr std::array<std::string_view, 26> kSigns{"...", "**", "//", "<=", ">=", "==", "!=", "+", "-",
                                                  "*",   "/",  "%",  "<",  ">",  "=",  "(",  ")", "[",
                                                  "]",   ",",  ":",  ".",  "&",  "|",  "^",  "~"};

[[noreturn]] void failAt(std::size_t at, std::string what, std::string hint = {}) {
    throw LocatedProblem{{std::move(what), std::move(hint)}, at};
}

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

std::size_t digitsEnd(std::string_view text, std::size_t at) {
    while (at < text.size() && isDigit(text[at])) ++at;
    return at;
}

/// 12, 1.5, 1., .5, 1e-3
Token numberToken(std::string_view text, std::size_t at) {
    Token token{Token::Kind::Number, at, digitsEnd(text, at), {}, {}};
    bool isFloat = false;
    const auto next = [&](std::size_t offset = 0) {
        return token.end + offset < text.size() ? text[token.end + offset] : '\0';
    };
    if (next() == '.' && next(1) != '.') {  // "0..." is an int and an ellipsis
        isFloat = true;
        token.end = digitsEnd(text, token.end + 1);
    }
    if (next() == 'e' || next() == 'E') {
        const std::size_t sign = next(1) == '+' || next(1) == '-' ? 2 : 1;
        if (isDigit(next(sign))) {
            isFloat = true;
            token.end = digitsEnd(text, token.end + sign);
        }
    }
    const std::string written(text.substr(at, token.end - at));
    if (isLetter(next()))
        failAt(at, "'" + written + std::string(1, next()) + "…' is neither a number nor a name",
               "names that are no identifiers are written in backticks");
    if (isFloat) {
        // A point needs digits around it for the reader of numbers.
        std::string padded = written.starts_with('.') ? "0" + written : written;
        if (const std::size_t point = padded.find('.');
            point != std::string::npos && (point + 1 == padded.size() || !isDigit(padded[point + 1])))
            padded.insert(point + 1, "0");
        const auto number = base::parseNumber<double>(padded);
        if (!number) failAt(at, "the number " + written + " does not fit into float64", "write inf for infinity");
        token.number = tensor::Value::ofFloat(*number);
        return token;
    }
    const auto number = base::parseNumber<std::int64_t>(written);
    if (!number) failAt(at, "the integer " + written + " does not fit into int64", "write it as a float: 1e19");
    token.number = tensor::Value::ofInt(*number);
    return token;
}

/// `name`, in which \` and \\ stand for a backtick and a backslash.
Token quotedName(std::string_view text, std::size_t at) {
    Token token{Token::Kind::QuotedName, at, at + 1, {}, {}};
    for (; token.end < text.size(); ++token.end) {
        const char c = text[token.end];
        if (c == '`') {
            if (token.text.empty()) failAt(at, "a name in backticks is empty");
            ++token.end;
            return token;
        }
        const char next = token.end + 1 < text.size() ? text[token.end + 1] : '\0';
        if (c == '\\' && (next == '`' || next == '\\')) ++token.end;
        token.text += text[token.end];
    }
    failAt(at, "the backtick has no counterpart");
}

Token textToken(std::string_view text, std::size_t at) {
    const std::size_t end = text.find(text[at], at + 1);
    if (end == std::string_view::npos) failAt(at, "the quote has no counterpart");
    return {Token::Kind::Text, at, end + 1, std::string(text.substr(at + 1, end - at - 1)), {}};
}

}  // namespace

Token tokenAt(std::string_view text, std::size_t at) {
    while (at < text.size() && isSpace(text[at])) ++at;
    if (at >= text.size()) return {Token::Kind::End, text.size(), text.size(), {}, {}};
    const char c = text[at];
    if (isDigit(c) || (c == '.' && at + 1 < text.size() && isDigit(text[at + 1]))) return numberToken(text, at);
    if (c == '`') return quotedName(text, at);
    if (c == '\'' || c == '"') return textToken(text, at);
    if (isLetter(c)) {
        std::size_t end = at;
        while (end < text.size() && (isLetter(text[end]) || isDigit(text[end]))) ++end;
        return {Token::Kind::Word, at, end, std::string(text.substr(at, end - at)), {}};
    }
    for (const std::string_view sign : kSigns)
        if (text.substr(at).starts_with(sign)) return {Token::Kind::Sign, at, at + sign.size(), std::string(sign), {}};
    const std::string_view character = text.substr(at, base::firstCodePoint(text.substr(at)).bytes);
    failAt(at, "'" + base::visibleText(character) + "' is not expected");
}

bool isIdentifier(std::string_view name) {
    return !name.empty() && !isDigit(name.front()) &&
           std::ranges::all_of(name, [](char c) { return isLetter(c) || isDigit(c); });
}

bool isReserved(std::string_view word) { return std::ranges::find(kReserved, word) != kReserved.end(); }

}  // namespace sonde::expression
