// Methods of str and text of other things, as TorchScript has them (torch/csrc/jit/runtime/register_prim_ops.cpp lists
// the names, docs.python.org says what they do). Text is bytes: only ASCII letters have cases and classes.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/base/number_text.h"
#include "core/io/torchscript/builtins.h"
#include "core/io/torchscript/lexer.h"

namespace sonde::io::script {

using tensor::Value;
using tensor::ValueKind;
using trace::TraceErrorKind;

namespace {

/// Whole numbers below 1e10 as "3.", others with 17 digits.
std::string floatText(double number) {
    if (std::abs(number) < 1e10 && number == std::trunc(number))
        return std::to_string(static_cast<std::int64_t>(number)) + ".";
    return base::roundedText(number, 17);
}

}  // namespace

std::string textOf(const ScriptValue& value, bool quoted) {
    checkNesting();
    if (value.isString()) return quoted ? "'" + stringOf(value) + "'" : stringOf(value);
    if (value.isNone()) return "None";
    if (value.plain() && value.plain()->kind() == Var::Kind::Value) {
        const Value& plain = value.plain()->value();
        if (plain.kind() == ValueKind::Bool) return plain.toBool() ? "True" : "False";
        return plain.kind() == ValueKind::Float ? floatText(plain.toFloat()) : plain.text();
    }
    if (const std::vector<ScriptValue>* items = itemsOf(value)) {
        std::string text = value.list() ? "[" : "(";
        for (const ScriptValue& item : *items) text += (text.size() > 1 ? ", " : "") + textOf(item);
        if (value.tuple() && items->size() == 1) text += ",";
        return text + (value.list() ? "]" : ")");
    }
    if (const DictValue* dict = value.dict()) {
        std::string text = "{";
        for (const auto& [key, item] : dict->items)
            text += (text.size() > 1 ? ", " : "") + textOf(key) + ": " + textOf(item);
        return text + "}";
    }
    return "<" + typeName(value) + ">";
}

namespace {

bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isAlpha(char c) { return isUpper(c) || isLower(c); }
bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
char upper(char c) { return isLower(c) ? static_cast<char>(c - 32) : c; }
char lower(char c) { return isUpper(c) ? static_cast<char>(c + 32) : c; }

/// The receiver and `n` more arguments of which the first `strings` are strings.
bool isCall(const Arguments& in, std::size_t least, std::size_t most, std::size_t strings = 0) {
    if (in.size() < 1 + least || in.size() > 1 + most || !in[0].isString()) return false;
    for (std::size_t i = 1; i <= strings && i < in.size(); ++i) {
        if (!in[i].isString()) return false;
    }
    return true;
}

std::int64_t numberAt(const Arguments& in, std::size_t i, std::int64_t otherwise) {
    return in.size() > i && !in[i].isNone() ? intOf(in[i]) : otherwise;
}

template <typename Map>
bool mapped(Arguments& in, ScriptValue& out, Map map) {
    if (!isCall(in, 0, 0)) return false;
    std::string text = stringOf(in[0]);
    for (char& c : text) c = map(c);
    out = Var(std::move(text));
    return true;
}

template <typename Test>
bool allAre(Arguments& in, ScriptValue& out, Test test) {
    if (!isCall(in, 0, 0)) return false;
    out = Var(!stringOf(in[0]).empty() && std::ranges::all_of(stringOf(in[0]), test));
    return true;
}

/// Some letters, and all of one case.
bool casedAs(Arguments& in, ScriptValue& out, bool (*wanted)(char), bool (*other)(char)) {
    if (!isCall(in, 0, 0)) return false;
    out = Var(std::ranges::any_of(stringOf(in[0]), wanted) && std::ranges::none_of(stringOf(in[0]), other));
    return true;
}

/// Words begin with a capital and go on without.
bool isTitle(Arguments& in, ScriptValue& out) {
    if (!isCall(in, 0, 0)) return false;
    bool any = false, good = true, inside = false;
    for (char c : stringOf(in[0])) {
        if (isUpper(c)) good = good && !inside;
        if (isLower(c)) good = good && inside;
        inside = isAlpha(c);
        any = any || isAlpha(c);
    }
    out = Var(any && good);
    return true;
}

bool title(Arguments& in, ScriptValue& out) {
    bool inside = false;
    return mapped(in, out, [&inside](char c) {
        const char made = inside ? lower(c) : upper(c);
        inside = isAlpha(c);
        return made;
    });
}

bool capitalize(Arguments& in, ScriptValue& out) {
    bool first = true;
    return mapped(in, out, [&first](char c) { return std::exchange(first, false) ? upper(c) : lower(c); });
}

bool isIdentifier(Arguments& in, ScriptValue& out) {
    if (!isCall(in, 0, 0)) return false;
    const std::string& text = stringOf(in[0]);
    out = Var(!text.empty() && !isDigit(text[0]) &&
              std::ranges::all_of(text, [](char c) { return isAlpha(c) || isDigit(c) || c == '_'; }));
    return true;
}

/// Bounds as in a slice; false if the start follows the end of the text.
bool bounded(const Arguments& in, std::size_t at, std::size_t size, std::size_t& begin, std::size_t& end) {
    const auto n = static_cast<std::int64_t>(size);
    const auto place = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n); };
    const std::int64_t start = numberAt(in, at, 0);
    const std::int64_t given = numberAt(in, at + 1, -1);
    // The schemas have −1 for the default of `end`.
    const std::int64_t stop = in.size() <= at + 1 || given == -1 ? n : place(given);
    if (start > n) return false;
    begin = static_cast<std::size_t>(place(start));
    end = static_cast<std::size_t>(stop);
    return begin <= end;
}

std::optional<std::size_t> searched(const Arguments& in, bool fromRight) {
    const std::string &text = stringOf(in[0]), &part = stringOf(in[1]);
    std::size_t begin = 0, end = 0;
    if (!bounded(in, 2, text.size(), begin, end) || part.size() > end - begin) return std::nullopt;
    const std::size_t found = fromRight ? text.rfind(part, end - part.size()) : text.find(part, begin);
    if (found == std::string::npos || found < begin || found + part.size() > end) return std::nullopt;
    return found;
}

bool find(Arguments& in, ScriptValue& out, bool fromRight, bool mustBe) {
    if (!isCall(in, 1, 3, 1)) return false;
    const auto found = searched(in, fromRight);
    if (!found && mustBe) fail(TraceErrorKind::Value, "ValueError: substring not found");
    out = Var(found ? static_cast<std::int64_t>(*found) : std::int64_t{-1});
    return true;
}

bool count(Arguments& in, ScriptValue& out) {
    if (!isCall(in, 1, 3, 1)) return false;
    const std::string &text = stringOf(in[0]), &part = stringOf(in[1]);
    std::size_t begin = 0, end = 0;
    std::int64_t times = 0;
    if (bounded(in, 2, text.size(), begin, end)) {
        if (part.empty()) times = static_cast<std::int64_t>(end - begin) + 1;
        else
            for (std::size_t at = text.find(part, begin); at != std::string::npos && at + part.size() <= end;
                 at = text.find(part, at + part.size()))
                ++times;
    }
    out = Var(times);
    return true;
}

bool affix(Arguments& in, ScriptValue& out, bool atStart) {
    if (!isCall(in, 1, 3, 1)) return false;
    std::size_t begin = 0, end = 0;
    bool found = false;
    if (bounded(in, 2, stringOf(in[0]).size(), begin, end)) {
        const std::string_view part = std::string_view(stringOf(in[0])).substr(begin, end - begin);
        found = atStart ? part.starts_with(stringOf(in[1])) : part.ends_with(stringOf(in[1]));
    }
    out = Var(found);
    return true;
}

bool replace(Arguments& in, ScriptValue& out) {
    if (!isCall(in, 2, 3, 2)) return false;
    const std::string &text = stringOf(in[0]), &from = stringOf(in[1]), &to = stringOf(in[2]);
    const std::int64_t most = numberAt(in, 3, -1);
    std::string made;
    std::size_t at = 0;
    for (std::int64_t done = 0; most < 0 || done < most; ++done) {
        const std::size_t found = from.empty() ? at : text.find(from, at);
        if (found == std::string::npos || found > text.size()) break;
        made.append(text, at, found - at).append(to);
        if (from.empty() && found < text.size()) made += text[found];
        at = found + std::max<std::size_t>(from.size(), 1);
        if (made.size() > kMaxElements) fail(TraceErrorKind::Runtime, "a string exceeds the size limit");
    }
    if (at < text.size()) made.append(text, at);
    out = Var(std::move(made));
    return true;
}

void put(std::vector<ScriptValue>& list, std::string_view text) { list.emplace_back(Var(std::string(text))); }

/// Parts between a separator, or between spaces of any length.
bool split(Arguments& in, ScriptValue& out, bool fromRight) {
    if (!isCall(in, 0, 2)) return false;
    std::string_view text = stringOf(in[0]);
    const bool bySpace = in.size() < 2 || in[1].isNone();
    if (!bySpace && !in[1].isString()) return false;
    std::int64_t most = numberAt(in, 2, -1);
    std::vector<ScriptValue> parts;
    if (bySpace) {
        const auto trimLeft = [&] {
            while (!text.empty() && isSpace(text.front())) text.remove_prefix(1);
        };
        const auto trimRight = [&] {
            while (!text.empty() && isSpace(text.back())) text.remove_suffix(1);
        };
        trimLeft();
        trimRight();
        while (!text.empty()) {
            std::size_t at = std::string_view::npos;
            if (fromRight) {
                for (std::size_t i = text.size(); i-- > 0 && at == std::string_view::npos;)
                    at = isSpace(text[i]) ? i : at;
            } else at = static_cast<std::size_t>(std::ranges::find_if(text, isSpace) - text.begin());
            if (at >= text.size() || most-- == 0) {
                put(parts, text);
                break;
            }
            put(parts, fromRight ? text.substr(at + 1) : text.substr(0, at));
            text = fromRight ? text.substr(0, at) : text.substr(at);
            fromRight ? trimRight() : trimLeft();
        }
    } else {
        const std::string& by = stringOf(in[1]);
        if (by.empty()) fail(TraceErrorKind::Value, "ValueError: empty separator");
        for (;;) {
            const std::size_t at = fromRight ? text.rfind(by) : text.find(by);
            if (at == std::string_view::npos || most-- == 0) break;
            put(parts, fromRight ? text.substr(at + by.size()) : text.substr(0, at));
            text = fromRight ? text.substr(0, at) : text.substr(at + by.size());
        }
        put(parts, text);
    }
    if (fromRight) std::ranges::reverse(parts);
    out = makeList(std::move(parts));
    return true;
}

bool splitLines(Arguments& in, ScriptValue& out) {
    if (!isCall(in, 0, 1)) return false;
    const std::string& text = stringOf(in[0]);
    const bool keep = in.size() > 1 && toBool(in[1]);
    std::vector<ScriptValue> lines;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = text.find_first_of("\n\r", at), next = end;
        if (end == std::string::npos) end = next = text.size();
        else next = end + 1;  // TorchScript takes "\r\n" for two ends of lines, unlike Python
        put(lines, std::string_view(text).substr(at, (keep ? next : end) - at));
        at = next;
    }
    out = makeList(std::move(lines));
    return true;
}

bool partition(Arguments& in, ScriptValue& out, bool fromRight) {
    if (!isCall(in, 1, 1, 1)) return false;
    const std::string &text = stringOf(in[0]), &by = stringOf(in[1]);
    const std::size_t at = fromRight ? text.rfind(by) : text.find(by);
    const auto piece = [](std::string part) { return ScriptValue(Var(std::move(part))); };
    if (at == std::string::npos)
        out =
            fromRight ? makeTuple({piece(""), piece(""), piece(text)}) : makeTuple({piece(text), piece(""), piece("")});
    else out = makeTuple({piece(text.substr(0, at)), piece(by), piece(text.substr(at + by.size()))});
    return true;
}

bool strip(Arguments& in, ScriptValue& out, bool left, bool right) {
    if (!isCall(in, 0, 1)) return false;
    std::string_view text = stringOf(in[0]);
    const bool bySpace = in.size() < 2 || in[1].isNone();
    if (!bySpace && !in[1].isString()) return false;
    const auto goes = [&](char c) { return bySpace ? isSpace(c) : stringOf(in[1]).find(c) != std::string::npos; };
    while (left && !text.empty() && goes(text.front())) text.remove_prefix(1);
    while (right && !text.empty() && goes(text.back())) text.remove_suffix(1);
    out = Var(std::string(text));
    return true;
}

enum class Justify : std::uint8_t { Left, Right, Centre };

bool justified(Arguments& in, ScriptValue& out, Justify how) {
    if (!isCall(in, 1, 2)) return false;
    const std::string& text = stringOf(in[0]);
    const std::string fill = in.size() > 2 && in[2].isString() ? stringOf(in[2]) : " ";
    if (fill.size() != 1)
        fail(TraceErrorKind::Type, "TypeError: The fill character must be exactly one character long");
    const std::int64_t width = intOf(in[1]);
    if (width > static_cast<std::int64_t>(kMaxElements))
        fail(TraceErrorKind::Runtime, "a string exceeds the size limit");
    const std::size_t missing =
        width > static_cast<std::int64_t>(text.size()) ? static_cast<std::size_t>(width) - text.size() : 0;
    // Python puts the odd one to the left if the width is odd.
    const std::size_t before = how == Justify::Left    ? 0
                               : how == Justify::Right ? missing
                                                       : missing / 2 + (missing & static_cast<std::size_t>(width) & 1);
    out = Var(std::string(before, fill[0]) + text + std::string(missing - before, fill[0]));
    return true;
}

bool zeroFill(Arguments& in, ScriptValue& out) {
    if (!isCall(in, 1, 1)) return false;
    const std::string& text = stringOf(in[0]);
    const std::int64_t width = intOf(in[1]);
    if (width > static_cast<std::int64_t>(kMaxElements))
        fail(TraceErrorKind::Runtime, "a string exceeds the size limit");
    const std::size_t missing =
        width > static_cast<std::int64_t>(text.size()) ? static_cast<std::size_t>(width) - text.size() : 0;
    out = Var(std::string(missing, '0') + text);  // also before a sign, unlike Python
    return true;
}

bool expandTabs(Arguments& in, ScriptValue& out) {
    if (!isCall(in, 0, 1)) return false;
    const std::int64_t size = std::clamp<std::int64_t>(numberAt(in, 1, 8), 0, 1000);
    std::string made;
    std::size_t column = 0;
    for (char c : stringOf(in[0])) {
        if (c == '\t') {
            const std::size_t blanks =
                size > 0 ? static_cast<std::size_t>(size) - column % static_cast<std::size_t>(size) : 0;
            made.append(blanks, ' ');
            column += blanks;
        } else {
            made += c;
            column = c == '\n' || c == '\r' ? 0 : column + 1;
        }
        if (made.size() > kMaxElements) fail(TraceErrorKind::Runtime, "a string exceeds the size limit");
    }
    out = Var(std::move(made));
    return true;
}

bool join(Arguments& in, ScriptValue& out) {
    if (!isCall(in, 1, 1) || !itemsOf(in[1])) return false;
    std::string text;
    bool first = true;
    for (const ScriptValue& item : *itemsOf(in[1])) {
        if (!item.isString()) return false;
        if (!std::exchange(first, false)) text += stringOf(in[0]);
        text += stringOf(item);
        if (text.size() > kMaxElements) fail(TraceErrorKind::Runtime, "a string exceeds the size limit");
    }
    out = Var(std::move(text));
    return true;
}

/// "{}" one after the other.
bool format(Arguments& in, ScriptValue& out) {
    if (in.empty() || !in[0].isString()) return false;
    const std::string pattern = stringOf(in[0]);
    std::string text;
    std::size_t next = 1;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern.compare(i, 2, "{}") == 0) {
            if (next >= in.size()) fail(TraceErrorKind::Value, "Too few arguments for format string: " + pattern);
            text += textOf(in[next++]);
            ++i;
        } else {
            text += pattern[i];
        }
    }
    out = Var(std::move(text));
    return true;
}

std::string formatted(char specifier, const ScriptValue& value) {
    switch (specifier) {
        case 's': return textOf(value);
        case 'd':
        case 'i':
            if (!value.isNumber()) break;
            return isInt(value) ? std::to_string(intOf(value))
                                : std::to_string(static_cast<long long>(std::clamp(numberOf(value), -9.2e18, 9.2e18)));
        case 'f':
        case 'F':
        case 'e':
        case 'E': {
            if (!value.isNumber()) break;
            return fmt::format(fmt::runtime(std::string("{:") + specifier + '}'), numberOf(value));
        }
        case 'c':
            if (value.isString() && stringOf(value).size() == 1) return stringOf(value);
            if (value.isNumber() && isInt(value)) return std::string(1, static_cast<char>(intOf(value)));
            break;
        default:
            fail(TraceErrorKind::Runtime,
                 std::string("The specifier %") + specifier + " is not supported in TorchScript format strings");
    }
    fail(TraceErrorKind::Type, std::string("%") + specifier + " cannot format a " + typeName(value));
}

/// "%d of %s" % (…)
bool percentFormat(Arguments& in, ScriptValue& out) {
    if (in.empty() || !in[0].isString()) return false;
    // A tuple on the right of the operator comes as its elements or as a tuple.
    Arguments values(in.begin() + 1, in.end());
    if (values.size() == 1 && values[0].tuple()) values = Arguments(values[0].tuple()->items);
    const std::string pattern = stringOf(in[0]);
    std::string text;
    std::size_t next = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            text += pattern[i];
            continue;
        }
        if (++i >= pattern.size()) fail(TraceErrorKind::Value, "Incomplete format specifier");
        if (pattern[i] == '%') {
            text += '%';
            continue;
        }
        if (next >= values.size()) fail(TraceErrorKind::Value, "Too few arguments for format string");
        text += formatted(pattern[i], values[next++]);
    }
    if (next < values.size()) fail(TraceErrorKind::Value, "Too many arguments for format string");
    out = Var(std::move(text));
    return true;
}

/// 0xff, 0o10, 0b101
bool inBase(Arguments& in, ScriptValue& out, const char* form) {
    if (in.size() != 1 || !in[0].isNumber() || !isInt(in[0])) return false;
    const std::int64_t value = intOf(in[0]);
    const std::uint64_t size = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    out = Var((value < 0 ? "-" : "") + fmt::format(fmt::runtime(form), size));
    return true;
}

bool ordinal(Arguments& in, ScriptValue& out) {
    if (!isCall(in, 0, 0)) return false;
    if (stringOf(in[0]).size() != 1) fail(TraceErrorKind::Type, "ord() expects a single character");
    out = Var(static_cast<std::int64_t>(static_cast<unsigned char>(stringOf(in[0])[0])));
    return true;
}

bool character(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].isNumber() || !isInt(in[0])) return false;
    if (intOf(in[0]) < 0 || intOf(in[0]) > 255) fail(TraceErrorKind::Value, "chr() arg not in range");
    out = Var(std::string(1, static_cast<char>(intOf(in[0]))));
    return true;
}

bool hash(Arguments& in, ScriptValue& out) {
    if (in.size() != 1) return false;
    if (in[0].isString()) out = Var(static_cast<std::int64_t>(std::hash<std::string>{}(stringOf(in[0]))));
    else if (in[0].isNumber())
        out = Var(isInt(in[0]) ? intOf(in[0]) : static_cast<std::int64_t>(std::hash<double>{}(numberOf(in[0]))));
    else return false;
    return true;
}

}  // namespace

const BuiltinTable& textBuiltins() {
    static const BuiltinTable builtins{
        {"upper", [](Arguments& in, ScriptValue& out) { return mapped(in, out, upper); }},
        {"lower", [](Arguments& in, ScriptValue& out) { return mapped(in, out, lower); }},
        {"casefold", [](Arguments& in, ScriptValue& out) { return mapped(in, out, lower); }},
        {"swapcase",
         [](Arguments& in, ScriptValue& out) {
             return mapped(in, out, [](char c) { return isUpper(c) ? lower(c) : upper(c); });
         }},
        {"title", title},
        {"capitalize", capitalize},
        {"istitle", isTitle},
        {"isidentifier", isIdentifier},
        {"isupper", [](Arguments& in, ScriptValue& out) { return casedAs(in, out, isUpper, isLower); }},
        {"islower", [](Arguments& in, ScriptValue& out) { return casedAs(in, out, isLower, isUpper); }},
        {"isdigit", [](Arguments& in, ScriptValue& out) { return allAre(in, out, isDigit); }},
        {"isdecimal", [](Arguments& in, ScriptValue& out) { return allAre(in, out, isDigit); }},
        {"isnumeric", [](Arguments& in, ScriptValue& out) { return allAre(in, out, isDigit); }},
        {"isalpha", [](Arguments& in, ScriptValue& out) { return allAre(in, out, isAlpha); }},
        {"isalnum", [](Arguments& in,
                       ScriptValue& out) { return allAre(in, out, [](char c) { return isAlpha(c) || isDigit(c); }); }},
        {"isspace", [](Arguments& in, ScriptValue& out) { return allAre(in, out, isSpace); }},
        {"isprintable",
         [](Arguments& in, ScriptValue& out) {
             if (!isCall(in, 0, 0)) return false;
             out = Var(std::ranges::all_of(stringOf(in[0]), [](char c) { return c >= ' ' && c < 127; }));
             return true;
         }},
        {"find", [](Arguments& in, ScriptValue& out) { return find(in, out, false, false); }},
        {"rfind", [](Arguments& in, ScriptValue& out) { return find(in, out, true, false); }},
        {"index", [](Arguments& in, ScriptValue& out) { return find(in, out, false, true); }},
        {"rindex", [](Arguments& in, ScriptValue& out) { return find(in, out, true, true); }},
        {"count", count},
        {"startswith", [](Arguments& in, ScriptValue& out) { return affix(in, out, true); }},
        {"endswith", [](Arguments& in, ScriptValue& out) { return affix(in, out, false); }},
        {"replace", replace},
        {"split", [](Arguments& in, ScriptValue& out) { return split(in, out, false); }},
        {"rsplit", [](Arguments& in, ScriptValue& out) { return split(in, out, true); }},
        {"splitlines", splitLines},
        {"partition", [](Arguments& in, ScriptValue& out) { return partition(in, out, false); }},
        {"rpartition", [](Arguments& in, ScriptValue& out) { return partition(in, out, true); }},
        {"strip", [](Arguments& in, ScriptValue& out) { return strip(in, out, true, true); }},
        {"lstrip", [](Arguments& in, ScriptValue& out) { return strip(in, out, true, false); }},
        {"rstrip", [](Arguments& in, ScriptValue& out) { return strip(in, out, false, true); }},
        {"ljust", [](Arguments& in, ScriptValue& out) { return justified(in, out, Justify::Left); }},
        {"rjust", [](Arguments& in, ScriptValue& out) { return justified(in, out, Justify::Right); }},
        {"center", [](Arguments& in, ScriptValue& out) { return justified(in, out, Justify::Centre); }},
        {"zfill", zeroFill},
        {"expandtabs", expandTabs},
        {"join", join},
        {"format", format},
        {"percentFormat", percentFormat},
        {"hex", [](Arguments& in, ScriptValue& out) { return inBase(in, out, "0x{:x}"); }},
        {"oct", [](Arguments& in, ScriptValue& out) { return inBase(in, out, "0o{:o}"); }},
        {"bin", [](Arguments& in, ScriptValue& out) { return inBase(in, out, "0b{:b}"); }},
        {"ord", ordinal},
        {"chr", character},
        {"hash", hash},
        {"str",
         [](Arguments& in, ScriptValue& out) {
             if (in.size() != 1 || hasTensorOrProxy(in[0])) return false;
             out = Var(textOf(in[0]));
             return true;
         }},
    };
    return builtins;
}

}  // namespace sonde::io::script
