#include "core/ops/support/regex.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "core/base/error.h"

namespace sonde::ops {

namespace {

constexpr char32_t kEnd = 0xFFFFFFFF, kLast = 0x10FFFF;

/// The next code point of UTF-8; a byte that is none is U+FFFD.
char32_t nextCodePoint(std::string_view text, std::size_t& at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at++);
    if (first < 0x80) return first;
    const int more = first >= 0xF0 && first < 0xF5 ? 3 : first >= 0xE0 && first < 0xF0 ? 2 : first >= 0xC2 && first < 0xE0 ? 1 : 0;
    if (more == 0 || text.size() - at < static_cast<std::size_t>(more)) return 0xFFFD;
    char32_t value = first & (0x3F >> more);
    for (int i = 0; i < more; ++i) {
        if ((byte(at + static_cast<std::size_t>(i)) & 0xC0) != 0x80) return 0xFFFD;
        value = value << 6 | (byte(at + static_cast<std::size_t>(i)) & 0x3F);
    }
    at += static_cast<std::size_t>(more);
    return value;
}

/// The same letter in the other case: Latin, Greek and Cyrillic basics.
char32_t otherCase(char32_t c) {
    const auto in = [c](char32_t low, char32_t high) { return c >= low && c <= high; };
    if (in('A', 'Z') || (in(0xC0, 0xDE) && c != 0xD7) || in(0x391, 0x3A9) || in(0x410, 0x42F)) return c + 32;
    if (in('a', 'z') || (in(0xE0, 0xFE) && c != 0xF7) || (in(0x3B1, 0x3C9) && c != 0x3C2) || in(0x430, 0x44F)) return c - 32;
    if (in(0x400, 0x40F)) return c + 80;
    if (in(0x450, 0x45F)) return c - 80;
    return c;
}

bool isWord(char32_t c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

using Ranges = std::vector<std::pair<char32_t, char32_t>>;

/// Everything that a list of ranges leaves out.
Ranges complement(Ranges ranges) {
    std::sort(ranges.begin(), ranges.end());
    Ranges others;
    char32_t next = 0;
    for (const auto& [low, high] : ranges) {
        if (low > next) others.emplace_back(next, low - 1);
        next = std::max(next, static_cast<char32_t>(high + 1));
    }
    if (next <= kLast) others.emplace_back(next, kLast);
    return others;
}

std::optional<Ranges> classRanges(char name) {
    switch (name) {
        case 'd': case 'D': return Ranges{{'0', '9'}};
        case 's': case 'S': return Ranges{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
        case 'w': case 'W': return Ranges{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
        default: return std::nullopt;
    }
}

std::optional<Ranges> posixRanges(std::string_view name) {
    static const std::pair<std::string_view, Ranges> kClasses[] = {
        {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}}, {"alpha", {{'A', 'Z'}, {'a', 'z'}}}, {"ascii", {{0, 0x7F}}}, {"blank", {{'\t', '\t'}, {' ', ' '}}},
        {"cntrl", {{0, 0x1F}, {0x7F, 0x7F}}}, {"digit", {{'0', '9'}}}, {"graph", {{'!', '~'}}}, {"lower", {{'a', 'z'}}}, {"print", {{' ', '~'}}},
        {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}}, {"space", {{'\t', '\r'}, {' ', ' '}}}, {"upper", {{'A', 'Z'}}},
        {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}}, {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
    for (const auto& [known, ranges] : kClasses) {
        if (known == name) return ranges;
    }
    return std::nullopt;
}

}  // namespace

bool Regex::CharacterSet::contains(char32_t c) const {
    const auto in = [this](char32_t x) { return std::any_of(ranges.begin(), ranges.end(), [x](const auto& range) { return x >= range.first && x <= range.second; }); };
    return (in(c) || (foldsCase && in(otherCase(c)))) != negated;
}

/// Reads a pattern by recursive descent into a tree, and writes the tree as a program.
class RegexCompiler {
  public:
    explicit RegexCompiler(std::string_view pattern) : m_text(pattern) {}

    base::Result<Regex> compile() {
        try {
            const Tree tree = alternatives(0);
            if (!atEnd()) throw Problem{"')' without '('"};
            emit(*tree);
            add({Regex::Step::Match});
        } catch (const Problem& problem) {
            return base::runError("the pattern cannot be read: " + problem.what + " at character " + std::to_string(m_at));
        }
        return std::move(m_regex);
    }

  private:
    struct Problem {
        std::string what;
    };
    struct Node {
        enum class Kind : std::uint8_t { Empty, Step, Sequence, Choice, Repeat } kind = Kind::Empty;
        Regex::Instruction instruction{Regex::Step::Match};
        std::vector<std::unique_ptr<Node>> parts;
        int least = 0, most = -1;
    };
    using Tree = std::unique_ptr<Node>;
    struct Flags {
        bool foldsCase = false, dotTakesAll = false, byLine = false;
    };
    static constexpr std::size_t kStates = 20'000;

    bool atEnd() const { return m_at >= m_text.size(); }
    bool follows(std::string_view what) const { return m_text.substr(m_at).starts_with(what); }
    bool take(std::string_view what) {
        if (!follows(what)) return false;
        m_at += what.size();
        return true;
    }
    char32_t next() {
        if (atEnd()) throw Problem{"it ends too early"};
        return nextCodePoint(m_text, m_at);
    }

    static Tree made(Node::Kind kind) {
        auto node = std::make_unique<Node>();
        node->kind = kind;
        return node;
    }
    static Tree step(Regex::Step step, std::uint32_t to = 0) {
        Tree node = made(Node::Kind::Step);
        node->instruction = {step, to};
        return node;
    }
    Tree set(Ranges ranges, bool negated = false) {
        m_regex.m_sets.push_back({std::move(ranges), negated, m_flags.foldsCase});
        if (m_regex.m_sets.size() > kStates) throw Problem{"it is too large"};
        return step(Regex::Step::Set, static_cast<std::uint32_t>(m_regex.m_sets.size() - 1));
    }
    Tree character(char32_t c) { return set({{c, c}}); }

    Tree alternatives(int depth) {
        if (depth > 200) throw Problem{"brackets are too deep"};
        Tree choice = made(Node::Kind::Choice);
        do {
            choice->parts.push_back(sequence(depth));
        } while (take("|"));
        return choice->parts.size() == 1 ? std::move(choice->parts.front()) : std::move(choice);
    }
    Tree sequence(int depth) {
        Tree all = made(Node::Kind::Sequence);
        bool quoted = false;
        while (!atEnd() && (quoted || (!follows("|") && !follows(")")))) {
            if (quoted ? take("\\E") : take("\\Q")) {
                quoted = !quoted;
                continue;
            }
            Tree one = quoted ? character(next()) : atom(depth);
            if (quoted && take("\\E")) quoted = false;
            if (quoted) {
                all->parts.push_back(std::move(one));
                continue;
            }
            if (const std::optional<std::pair<int, int>> times = repetition()) {
                Tree repeat = made(Node::Kind::Repeat);
                repeat->least = times->first, repeat->most = times->second;
                repeat->parts.push_back(std::move(one));
                one = std::move(repeat);
                take("?");  // which end is found first changes no full match
                if (repetition()) throw Problem{"a repetition of a repetition"};
            }
            all->parts.push_back(std::move(one));
        }
        return all;
    }
    /// {least, most} of *, +, ?, {n}, {n,}, {n,m}; −1 is without end. Other braces are characters.
    std::optional<std::pair<int, int>> repetition() {
        if (take("*")) return std::pair{0, -1};
        if (take("+")) return std::pair{1, -1};
        if (take("?")) return std::pair{0, 1};
        if (!follows("{")) return std::nullopt;
        std::size_t at = m_at + 1;
        const auto number = [&]() -> std::optional<int> {
            const std::size_t begin = at;
            int value = 0;
            for (; at < m_text.size() && m_text[at] >= '0' && m_text[at] <= '9'; ++at) value = std::min(value * 10 + (m_text[at] - '0'), 100'000);
            return at == begin ? std::nullopt : std::optional(value);
        };
        const std::optional<int> least = number();
        if (!least) return std::nullopt;
        int most = *least;
        if (at < m_text.size() && m_text[at] == ',') {
            ++at;
            most = number().value_or(-1);
        }
        if (at >= m_text.size() || m_text[at] != '}') return std::nullopt;
        m_at = at + 1;
        if (*least > 1000 || most > 1000 || (most >= 0 && most < *least)) throw Problem{"a repetition is out of range"};
        return std::pair{*least, most};
    }

    Tree atom(int depth) {
        if (take("(")) return group(depth);
        if (take("[")) return bracket();
        if (take(".")) return m_flags.dotTakesAll ? set({{0, kLast}}) : set({{'\n', '\n'}}, true);
        if (take("^")) return step(m_flags.byLine ? Regex::Step::LineBegin : Regex::Step::TextBegin);
        if (take("$")) return step(m_flags.byLine ? Regex::Step::LineEnd : Regex::Step::TextEnd);
        if (follows("*") || follows("+") || follows("?")) throw Problem{"nothing to repeat"};
        if (!take("\\")) return character(next());
        if (take("A")) return step(Regex::Step::TextBegin);
        if (take("z")) return step(Regex::Step::TextEnd);
        if (take("b")) return step(Regex::Step::WordEdge);
        if (take("B")) return step(Regex::Step::NoWordEdge);
        if (const std::optional<Ranges> ranges = atEnd() ? std::nullopt : classRanges(m_text[m_at])) {
            const bool negated = m_text[m_at++] < 'a';
            return set(*ranges, negated);
        }
        return character(escaped());
    }
    /// What follows a backslash, as a character.
    char32_t escaped() {
        const char32_t c = next();
        switch (c) {
            case 'a': return '\a';
            case 'f': return '\f';
            case 'n': return '\n';
            case 'r': return '\r';
            case 't': return '\t';
            case 'v': return '\v';
            case 'x': return hexadecimal();
            default: break;
        }
        if (c >= '0' && c <= '7') {
            char32_t value = c - '0';
            for (int i = 0; i < 2 && !atEnd() && m_text[m_at] >= '0' && m_text[m_at] <= '7'; ++i) value = value * 8 + static_cast<char32_t>(m_text[m_at++] - '0');
            if (c != '0' && value < 8) throw Problem{"references to groups are not part of the syntax"};
            return value;
        }
        if (isWord(c) && c != '_') throw Problem{"'\\" + std::string(1, static_cast<char>(c)) + "' is not known"};
        return c;
    }
    char32_t hexadecimal() {
        const bool braces = take("{");
        char32_t value = 0;
        int digits = 0;
        for (; !atEnd() && digits < (braces ? 8 : 2); ++digits, ++m_at) {
            const char c = m_text[m_at];
            const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
            if (digit < 0) break;
            value = value * 16 + static_cast<char32_t>(digit);
        }
        if (digits == 0 || (!braces && digits != 2) || (braces && !take("}")) || value > kLast) throw Problem{"a wrong number of a character"};
        return value;
    }

    /// Behind "(": a group, with flags or a name, or flags for the rest of the group around it.
    Tree group(int depth) {
        const Flags before = m_flags;
        if (take("?P<") || take("?<")) {
            const std::size_t end = m_text.find('>', m_at);
            if (end == std::string_view::npos || end == m_at || !std::all_of(m_text.begin() + static_cast<std::ptrdiff_t>(m_at), m_text.begin() + static_cast<std::ptrdiff_t>(end), [](unsigned char c) { return isWord(c); })) {
                throw Problem{"a wrong name of a group"};
            }
            m_at = end + 1;
        } else if (take("?")) {
            bool value = true;
            while (!follows(":") && !follows(")")) {
                const char32_t c = next();
                if (c == '-' && value) value = false;
                else if (c == 'i') m_flags.foldsCase = value;
                else if (c == 's') m_flags.dotTakesAll = value;
                else if (c == 'm') m_flags.byLine = value;
                else if (c != 'U') throw Problem{"an unknown kind of group"};
            }
            if (take(")")) return made(Node::Kind::Empty);
            take(":");
        }
        Tree inside = alternatives(depth + 1);
        if (!take(")")) throw Problem{"'(' without ')'"};
        m_flags = before;
        return inside;
    }

    /// Behind "[".
    Tree bracket() {
        const bool negated = take("^");
        Ranges ranges;
        for (bool first = true; first || !follows("]"); first = false) {
            if (take("[:")) {
                const bool inverted = take("^");
                const std::size_t end = m_text.find(":]", m_at);
                const std::optional<Ranges> known = end == std::string_view::npos ? std::nullopt : posixRanges(m_text.substr(m_at, end - m_at));
                if (!known) throw Problem{"an unknown class of characters"};
                m_at = end + 2;
                const Ranges taken = inverted ? complement(*known) : *known;
                ranges.insert(ranges.end(), taken.begin(), taken.end());
                continue;
            }
            char32_t low = next();
            if (low == '\\') {
                if (const std::optional<Ranges> known = atEnd() ? std::nullopt : classRanges(m_text[m_at])) {
                    const Ranges taken = m_text[m_at++] < 'a' ? complement(*known) : *known;
                    ranges.insert(ranges.end(), taken.begin(), taken.end());
                    continue;
                }
                low = escaped();
            }
            char32_t high = low;
            if (follows("-") && m_at + 1 < m_text.size() && m_text[m_at + 1] != ']') {
                ++m_at;
                high = next();
                if (high == '\\') high = escaped();
                if (high < low) throw Problem{"a range that ends before it begins"};
            }
            ranges.emplace_back(low, high);
        }
        ++m_at;
        return set(std::move(ranges), negated);
    }

    std::size_t add(Regex::Instruction instruction) {
        if (m_regex.m_program.size() >= kStates) throw Problem{"it is too large"};
        m_regex.m_program.push_back(instruction);
        return m_regex.m_program.size() - 1;
    }
    std::uint32_t here() const { return static_cast<std::uint32_t>(m_regex.m_program.size()); }

    void emit(const Node& node) {
        if (++m_emitted > 10 * kStates) throw Problem{"it is too large"};
        switch (node.kind) {
            case Node::Kind::Empty: return;
            case Node::Kind::Step: add(node.instruction); return;
            case Node::Kind::Sequence:
                for (const Tree& part : node.parts) emit(*part);
                return;
            case Node::Kind::Choice: return emitChoice(node);
            case Node::Kind::Repeat: return emitRepeat(node);
        }
    }
    void emitChoice(const Node& node) {
        std::vector<std::size_t> exits;
        for (std::size_t i = 0; i < node.parts.size(); ++i) {
            const bool last = i + 1 == node.parts.size();
            const std::size_t split = last ? 0 : add({Regex::Step::Split});
            if (!last) m_regex.m_program[split].to = here();
            emit(*node.parts[i]);
            if (last) break;
            exits.push_back(add({Regex::Step::Jump}));
            m_regex.m_program[split].other = here();
        }
        for (std::size_t exit : exits) m_regex.m_program[exit].to = here();
    }
    void emitRepeat(const Node& node) {
        const Node& part = *node.parts.front();
        for (int i = 0; i < node.least; ++i) emit(part);
        if (node.most < 0) {
            const std::uint32_t begin = here();
            const std::size_t split = add({Regex::Step::Split});
            m_regex.m_program[split].to = here();
            emit(part);
            add({Regex::Step::Jump, begin});
            m_regex.m_program[split].other = here();
            return;
        }
        std::vector<std::size_t> splits;
        for (int i = node.least; i < node.most; ++i) {
            splits.push_back(add({Regex::Step::Split}));
            m_regex.m_program[splits.back()].to = here();
            emit(part);
        }
        for (std::size_t split : splits) m_regex.m_program[split].other = here();
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    Flags m_flags;
    std::size_t m_emitted = 0;  ///< parts, also those without states
    Regex m_regex;
};

base::Result<Regex> Regex::parse(std::string_view pattern) { return RegexCompiler(pattern).compile(); }

/// The states that are alive between two characters.
struct Regex::Scan {
    const std::vector<Instruction>& program;
    std::vector<std::uint32_t> alive, stack;
    std::vector<std::uint32_t> seen;  ///< by instruction: the position at which it was added last
    bool matched = false;

    /// A state and all that follow it without a character.
    void add(std::uint32_t first, std::uint32_t position, char32_t before, char32_t after) {
        stack.push_back(first);
        while (!stack.empty()) {
            const std::uint32_t at = stack.back();
            stack.pop_back();
            if (seen[at] == position) continue;
            seen[at] = position;
            const Instruction& one = program[at];
            const bool edge = isWord(before) != isWord(after);
            bool passes = false;
            switch (one.step) {
                case Step::Set: alive.push_back(at); break;
                case Step::Match: matched = true; break;
                case Step::Split: stack.push_back(one.to); stack.push_back(one.other); break;
                case Step::Jump: stack.push_back(one.to); break;
                case Step::TextBegin: passes = before == kEnd; break;
                case Step::TextEnd: passes = after == kEnd; break;
                case Step::LineBegin: passes = before == kEnd || before == '\n'; break;
                case Step::LineEnd: passes = after == kEnd || after == '\n'; break;
                case Step::WordEdge: passes = edge; break;
                case Step::NoWordEdge: passes = !edge; break;
            }
            if (passes) stack.push_back(at + 1);
        }
    }
};

bool Regex::matchesAll(std::string_view text, const std::function<bool()>& stopped) const {
    Scan scan{m_program, {}, {}, std::vector<std::uint32_t>(m_program.size(), 0)};
    std::uint32_t position = 1;
    std::size_t at = 0;
    std::vector<std::uint32_t> states;
    char32_t current = text.empty() ? kEnd : nextCodePoint(text, at);
    scan.add(0, position, kEnd, current);
    while (current != kEnd) {
        if (scan.alive.empty() || (position % 256 == 0 && stopped && stopped())) return false;
        const char32_t after = at < text.size() ? nextCodePoint(text, at) : kEnd;
        scan.matched = false;
        ++position;
        states.swap(scan.alive);
        scan.alive.clear();
        for (std::uint32_t state : states) {
            if (m_sets[m_program[state].to].contains(current)) scan.add(state + 1, position, current, after);
        }
        current = after;
    }
    return scan.matched;
}

}  // namespace sonde::ops
