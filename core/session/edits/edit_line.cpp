#include "core/session/edits/edit_line.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/number_text.h"

namespace sonde::session {

namespace {

constexpr std::string_view kForms =
    "zero, noise DEVIATION [SEED], scale FACTOR, swap AXIS I J [of PARTS], remove AXIS I… [of PARTS] or load FILE";
constexpr std::size_t kMaxIndices = 10'000;

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// What is wrong, at a byte of the text.
struct Wrong {
    base::Error error;
    std::size_t at;
};

[[noreturn]] void failAt(std::size_t at, std::string what, std::string hint = {}) {
    throw Wrong{base::usageError(std::move(what), {}, std::move(hint)), at};
}

class LineReader {
  public:
    explicit LineReader(std::string_view text) : m_text(text) {}

    std::size_t columnAt(std::size_t at) const {
        const std::string_view before = m_text.substr(0, at);
        return 1 + static_cast<std::size_t>(std::ranges::count_if(before, [](char c) { return (c & 0xC0) != 0x80; }));
    }

    /// NODE[SLICE]
    void target(EditLine& line) {
        skip();
        line.nodeColumn = columnAt(m_at);
        if (atEnd()) failAt(m_at, "the name of a node is missing");
        if (m_text[m_at] == '`') {
            line.node = quotedName();
        } else {
            const std::size_t begin = m_at;
            while (!atEnd() && !isBlank(m_text[m_at]) && m_text[m_at] != '[' && m_text[m_at] != '=') ++m_at;
            line.node = m_text.substr(begin, m_at - begin);
            if (line.node.empty()) failAt(begin, "the name of a node is missing");
        }
        skip();
        if (atEnd() || m_text[m_at] != '[') return;
        const std::size_t open = m_at++;
        line.sliceColumn = columnAt(m_at);
        const std::size_t begin = m_at;
        for (int depth = 1; depth > 0; ++m_at) {
            if (atEnd()) failAt(open, "']' is missing");
            const char c = m_text[m_at];
            if (c == '`' || c == '\'' || c == '"') skipQuoted(c);
            else if (c == '[' || c == '(') ++depth;
            else if (c == ']' || c == ')') --depth;
        }
        line.edit.slice = m_text.substr(begin, m_at - 1 - begin);
        if (std::ranges::all_of(line.edit.slice, isBlank)) failAt(begin, "the slice is empty");
        skip();
    }

    std::string_view rest() const {
        std::string_view rest = m_text.substr(m_at);
        while (!rest.empty() && isBlank(rest.back())) rest.remove_suffix(1);
        return rest;
    }
    bool take(char c) {
        if (atEnd() || m_text[m_at] != c) return false;
        ++m_at;
        skip();
        return true;
    }
    bool atEnd() const { return m_at >= m_text.size(); }
    std::size_t at() const { return m_at; }
    std::size_t column() const { return columnAt(m_at); }

    std::string_view word() {
        const std::size_t begin = m_at;
        while (!atEnd() && !isBlank(m_text[m_at])) ++m_at;
        const std::string_view word = m_text.substr(begin, m_at - begin);
        skip();
        return word;
    }
    template <typename Number>
    Number number(std::string_view what) {
        const std::size_t begin = m_at;
        const auto number = base::parseNumber<Number>(word());
        if (!number) failAt(begin, std::string(what) + " is missing or no number");
        return *number;
    }
    /// A session file holds no other ones.
    double finite(std::string_view what) {
        const std::size_t begin = m_at;
        const double given = number<double>(what);
        if (!std::isfinite(given)) failAt(begin, std::string(what) + " is no finite number");
        return given;
    }

  private:
    void skip() {
        while (!atEnd() && isBlank(m_text[m_at])) ++m_at;
    }
    void skipQuoted(char quote) {
        for (++m_at; !atEnd() && m_text[m_at] != quote; ++m_at)
            if (quote == '`' && m_text[m_at] == '\\') ++m_at;
    }
    std::string quotedName() {
        const std::size_t begin = m_at++;
        std::string name;
        for (; !atEnd() && m_text[m_at] != '`'; ++m_at) {
            if (m_text[m_at] == '\\' && m_at + 1 < m_text.size()) ++m_at;
            name += m_text[m_at];
        }
        if (atEnd()) failAt(begin, "the backtick has no counterpart");
        ++m_at;
        return name;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
};

/// AXIS I… [of PARTS]
void takeParts(LineReader& reader, Edit& edit) {
    edit.axis = reader.number<std::int64_t>("the axis");
    while (!reader.atEnd()) {
        const std::size_t at = reader.at();
        if (reader.rest().starts_with("of ")) {
            (void)reader.word();
            edit.parts = reader.number<std::int64_t>("the count of parts");
            if (edit.parts < 1) failAt(at, "the count of parts is less than 1");
            break;
        }
        if (edit.indices.size() == kMaxIndices) failAt(at, "there are too many indices");
        edit.indices.push_back(reader.number<std::int64_t>("the index"));
    }
    const bool isSwap = edit.kind == Edit::Kind::Swap;
    if (isSwap && edit.indices.size() != 2) failAt(reader.at(), "swap takes an axis and two indices");
    if (edit.indices.empty()) failAt(reader.at(), "the index is missing");
}

void takeOperation(LineReader& reader, EditLine& line) {
    const std::size_t at = reader.at();
    if (reader.atEnd()) failAt(at, "what to do is missing", "it is " + std::string(kForms));
    const std::string word(reader.word());
    const auto kind = word == "load" ? std::optional(Edit::Kind::File) : editKind(word);
    if (!kind || *kind == Edit::Kind::Expression)
        failAt(at, "there is no edit '" + word.substr(0, 80) + "'", "it is " + std::string(kForms));
    Edit& edit = line.edit;
    edit.kind = *kind;
    line.valueColumn = reader.column();
    switch (edit.kind) {
        case Edit::Kind::File:
            edit.text = reader.rest();
            if (edit.text.empty()) failAt(reader.at(), "the name of the file is missing");
            return;
        case Edit::Kind::Noise:
            edit.number = reader.number<double>("the standard deviation");
            if (!reader.atEnd()) edit.seed = reader.number<std::uint64_t>("the seed");
            break;
        case Edit::Kind::Scale: edit.number = reader.finite("the factor"); break;
        case Edit::Kind::Swap:
        case Edit::Kind::Remove: takeParts(reader, edit); break;
        case Edit::Kind::Zero:
        case Edit::Kind::Expression: break;
    }
    if (!reader.atEnd()) failAt(reader.at(), "unexpected '" + std::string(reader.rest()) + "'");
}

template <typename Take>
base::Result<EditLine> parsed(std::string_view text, std::size_t& column, Take take) {
    LineReader reader(text);
    EditLine line;
    try {
        reader.target(line);
        take(reader, line);
        return line;
    } catch (Wrong& wrong) {
        column = reader.columnAt(wrong.at);
        return std::move(wrong.error);
    }
}

}  // namespace

std::string_view editForms() { return kForms; }

std::size_t EditLine::columnOf(const EditPlace& place) const {
    switch (place.part) {
        case EditPlace::Part::Slice: return sliceColumn + place.column - 1;
        case EditPlace::Part::Value: return valueColumn + place.column - 1;
        case EditPlace::Part::Target: break;
    }
    return nodeColumn;
}

base::Result<EditLine> parseSet(std::string_view text, std::size_t& column) {
    return parsed(text, column, [](LineReader& reader, EditLine& line) {
        if (!reader.take('=')) failAt(reader.at(), "'=' is missing", "set NODE[SLICE] = EXPRESSION");
        line.valueColumn = reader.column();
        line.edit.kind = Edit::Kind::Expression;
        line.edit.text = reader.rest();
        if (line.edit.text.empty()) failAt(reader.at(), "the expression is missing");
    });
}

base::Result<EditLine> parseEdit(std::string_view text, std::size_t& column) {
    return parsed(text, column, takeOperation);
}

}  // namespace sonde::session
