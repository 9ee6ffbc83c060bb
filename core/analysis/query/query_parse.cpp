#include <algorithm>

#include "core/analysis/query/query_term.h"
#include "core/base/nearest.h"
#include "core/base/number_text.h"
#include "core/base/unicode.h"

namespace sonde::analysis {

namespace {

constexpr std::size_t kMaxQueryLength = 4000;
constexpr int kMaxNesting = 60;
constexpr std::size_t kFar = 1'000'000'000;

struct FieldName {
    std::string_view name;
    QueryField field;
};
// clang-format off
constexpr FieldName kFields[] = {
    {"name", QueryField::Name},         {"op", QueryField::Op},             {"module", QueryField::Module},
    {"qualname", QueryField::Module},   {"class", QueryField::Class},       {"attr", QueryField::Attribute},
    {"dtype", QueryField::DType},       {"shape", QueryField::Shape},       {"category", QueryField::Category},
    {"kind", QueryField::Kind},         {"domain", QueryField::Domain},     {"source", QueryField::Source},
    {"is", QueryField::Is},             {"readers", QueryField::Readers},   {"inputs", QueryField::Inputs},
    {"elements", QueryField::Elements}, {"bytes", QueryField::Bytes},       {"parameters", QueryField::Parameters},
    {"time", QueryField::Time},         {"rank", QueryField::Rank},         {"nan", QueryField::Nan},
    {"inf", QueryField::Inf},           {"zeros", QueryField::Zeros},       {"min", QueryField::Min},
    {"max", QueryField::Max},           {"mean", QueryField::Mean},         {"std", QueryField::Std},
    {"consumers", QueryField::Readers},  // the word of the window
    {"value", QueryField::Value},
};
// clang-format on

struct RelationName {
    std::string_view name;
    QueryRelation relation;
};
constexpr RelationName kRelations[] = {
    {"inputs-of", QueryRelation::InputsOf},
    {"outputs-of", QueryRelation::OutputsOf},
    {"near", QueryRelation::Near},
    {"upstream-of", QueryRelation::UpstreamOf},
    {"downstream-of", QueryRelation::DownstreamOf},
};

constexpr std::string_view kStates[] = {"input",    "output",  "constant", "weight",
                                        "inferred", "watched", "reached",  "unused"};

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool isFieldLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_'; }

using Term = std::shared_ptr<const QueryTerm>;

/// Recursive descent over the characters; the first problem ends it.
class Parser {
  public:
    Parser(std::string_view text, QueryProblem& problem) : m_text(text), m_problem(problem) {}

    Term parse() {
        if (m_text.size() > kMaxQueryLength) return fail("the query is too long", 0, m_text.size());
        skip();
        if (atEnd()) return nullptr;
        Term root = any();
        if (!root) return nullptr;
        skip();
        if (!atEnd()) return fail("unmatched ')'", m_at, 1);
        return root;
    }

  private:
    bool atEnd() const { return m_at >= m_text.size(); }
    char peek() const { return atEnd() ? '\0' : m_text[m_at]; }
    void skip() {
        while (!atEnd() && isSpace(m_text[m_at])) ++m_at;
    }

    Term fail(std::string what, std::size_t at, std::size_t length, std::string hint = {}) {
        if (m_problem.what.empty()) m_problem = {std::move(what), std::move(hint), at, length};
        return nullptr;
    }

    /// A whole word that stands here: "and", "or", "not".
    bool takeWord(std::string_view word) {
        skip();
        if (base::foldCase(m_text.substr(m_at, word.size())) != word) return false;
        const std::size_t end = m_at + word.size();
        if (end < m_text.size() && !isSpace(m_text[end]) && m_text[end] != '(' && m_text[end] != ')') return false;
        m_at = end;
        return true;
    }

    Term combine(QueryTerm::Kind kind, std::vector<Term> parts) {
        if (parts.size() == 1) return parts.front();
        auto term = std::make_shared<QueryTerm>();
        term->kind = kind;
        term->parts = std::move(parts);
        return term;
    }

    Term any() {
        std::vector<Term> parts;
        do {
            Term part = all();
            if (!part) return nullptr;
            parts.push_back(std::move(part));
        } while (takeWord("or"));
        return combine(QueryTerm::Kind::Or, std::move(parts));
    }

    Term all() {
        std::vector<Term> parts;
        for (;;) {
            Term part = one();
            if (!part) return nullptr;
            parts.push_back(std::move(part));
            if (takeWord("and")) continue;
            const std::size_t here = m_at;
            if (takeWord("or")) {
                m_at = here;
                break;
            }
            skip();
            if (atEnd() || peek() == ')') break;
        }
        return combine(QueryTerm::Kind::And, std::move(parts));
    }

    Term one() {
        if (++m_depth > kMaxNesting) return fail("the query is nested too deeply", m_at, 1);
        Term term = oneInside();
        --m_depth;
        return term;
    }

    Term oneInside() {
        skip();
        const std::size_t begin = m_at;
        if (takeWord("not")) {
            Term inner = one();
            if (!inner) return nullptr;
            auto term = std::make_shared<QueryTerm>();
            term->kind = QueryTerm::Kind::Not;
            term->parts = {inner};
            return term;
        }
        for (const std::string_view word : {"and", "or"})
            if (takeWord(word))
                return fail("'" + std::string(word) + "' needs a condition on both sides", begin, word.size());
        if (atEnd()) return fail("a condition is missing at the end", m_text.size(), 0);
        if (peek() == ')') return fail("a condition is missing before this ')'", m_at, 1);
        if (peek() != '(') return term();
        ++m_at;
        skip();
        if (peek() == ')') return fail("empty brackets", begin, m_at - begin + 1);
        Term inner = any();
        if (!inner) return nullptr;
        skip();
        if (peek() != ')') return fail("unmatched '('", begin, 1);
        ++m_at;
        return inner;
    }

    Term term() {
        const std::size_t begin = m_at;
        if (peek() == '#') return number();
        std::size_t end = begin;
        while (end < m_text.size() && isFieldLetter(m_text[end])) ++end;
        const char next = end < m_text.size() ? m_text[end] : '\0';
        const std::string word = base::foldCase(m_text.substr(begin, end - begin));
        if (end > begin && next == ':') {
            for (const RelationName& row : kRelations) {
                if (row.name != word) continue;
                m_at = end + 1;
                return relation(row.relation);
            }
        }
        if (end > begin && (next == ':' || next == '=' || next == '<' || next == '>' || next == '!')) {
            for (const FieldName& row : kFields) {
                if (row.name != word) continue;
                m_at = end;
                return field(row.field, begin);
            }
            if (next == ':' && end + 1 < m_text.size() && m_text[end + 1] != ':') return unknownField(word, begin);
        }
        auto any = std::make_shared<QueryTerm>();
        if (!pattern(any->pattern, false)) return nullptr;
        return any;
    }

    Term unknownField(const std::string& word, std::size_t begin) {
        std::vector<std::string> names;
        for (const FieldName& row : kFields) names.emplace_back(row.name);
        for (const RelationName& row : kRelations) names.emplace_back(row.name);
        std::string hint = base::didYouMean(word, names);
        if (hint.empty())
            hint =
                "fields are name, op, module, class, attr, dtype, shape, category and more; put the text in \"…\" to search for it";
        return fail("unknown field '" + word + "'", begin, word.size(), hint);
    }

    Term number() {
        const std::size_t begin = m_at++;
        std::size_t end = m_at;
        while (end < m_text.size() && m_text[end] >= '0' && m_text[end] <= '9') ++end;
        const auto value = base::parseNumber<std::uint32_t>(m_text.substr(m_at, end - m_at));
        if (!value)
            return fail("'#' expects a node number", begin, std::max<std::size_t>(1, end - begin), "such as #12");
        m_at = end;
        auto term = std::make_shared<QueryTerm>();
        term->field = QueryField::Number;
        term->number = *value;
        return term;
    }

    Term relation(QueryRelation kind) {
        auto term = std::make_shared<QueryTerm>();
        term->kind = QueryTerm::Kind::Relation;
        term->relation = kind;
        term->distance = kind == QueryRelation::UpstreamOf || kind == QueryRelation::DownstreamOf ? kFar : 1;
        // near:2:TERM
        std::size_t end = m_at;
        while (end < m_text.size() && m_text[end] >= '0' && m_text[end] <= '9') ++end;
        if (end > m_at && end < m_text.size() && m_text[end] == ':') {
            term->distance = base::parseNumber<std::uint64_t>(m_text.substr(m_at, end - m_at)).value_or(0);
            if (term->distance == 0) return fail("the distance must be at least 1", m_at, end - m_at);
            m_at = end + 1;
        }
        if (atEnd() || isSpace(peek()))
            return fail("a node or a condition is expected here", m_at, 0,
                        "near:conv1 or near:(op:Conv and dtype:float16)");
        Term inner = one();
        if (!inner) return nullptr;
        term->parts = {inner};
        return term;
    }

    QueryCompare takeCompare() {
        static constexpr std::pair<std::string_view, QueryCompare> kSigns[] = {
            {"!=", QueryCompare::Unequal}, {"<=", QueryCompare::LessEqual}, {">=", QueryCompare::GreaterEqual},
            {"=", QueryCompare::Equal},    {"<", QueryCompare::Less},       {">", QueryCompare::Greater},
            {":", QueryCompare::Has}};
        for (const auto& [sign, compare] : kSigns) {
            if (m_text.substr(m_at, sign.size()) != sign) continue;
            m_at += sign.size();
            return compare;
        }
        return QueryCompare::Has;
    }

    Term field(QueryField which, std::size_t begin) {
        auto term = std::make_shared<QueryTerm>();
        term->field = which;
        term->compare = takeCompare();
        // nan:>0 is the same as nan>0.
        if (isNumeric(which) && term->compare == QueryCompare::Has &&
            (peek() == '<' || peek() == '>' || peek() == '=' || peek() == '!'))
            term->compare = takeCompare();
        if (atEnd() || isSpace(peek()) || peek() == ')')
            return fail("'" + std::string(m_text.substr(begin, m_at - begin)) + "' needs a value", begin, m_at - begin);
        if (isNumeric(which)) return numeric(term, begin);
        if (term->compare != QueryCompare::Has && term->compare != QueryCompare::Equal &&
            term->compare != QueryCompare::Unequal)
            return fail("this field is text and has no order", begin, m_at - begin, "use ':' or '='");
        if (which == QueryField::Value) return value(term);
        if (which == QueryField::Shape) return shape(term);
        if (which == QueryField::Attribute) return attribute(term);
        const std::size_t at = m_at;
        if (!pattern(term->pattern, term->compare != QueryCompare::Has)) return nullptr;
        if (which == QueryField::Is &&
            std::find(std::begin(kStates), std::end(kStates), term->pattern.text) == std::end(kStates))
            return fail("'is:' does not accept '" + term->pattern.text + "'", at, m_at - at,
                        "input, output, constant, weight, inferred, watched, reached or unused");
        return term;
    }

    /// A number with an optional k, M, G (powers of 1000), or ms, us, s for a time in milliseconds. The condition is
    /// `max` > 1000.
    Term numeric(const std::shared_ptr<QueryTerm>& term, std::size_t field) {
        const std::size_t begin = m_at;
        std::size_t end = m_at;
        while (end < m_text.size() && !isSpace(m_text[end]) && m_text[end] != ')') ++end;
        std::string_view rest = m_text.substr(begin, end - begin);
        if (rest.starts_with('+') && !rest.starts_with("+-")) rest.remove_prefix(1);
        const auto number = base::takeNumber<double>(rest);
        const std::string unit(rest);
        if (!number) return fail("a number is expected here", begin, end - begin, "such as 64, 1e6 or 4k");
        static const std::pair<const char*, double> kUnits[] = {{"", 1},   {"k", 1e3},   {"M", 1e6}, {"G", 1e9},
                                                                {"ms", 1}, {"us", 1e-3}, {"s", 1e3}};
        const auto found =
            std::find_if(std::begin(kUnits), std::end(kUnits), [&](const auto& row) { return unit == row.first; });
        if (found == std::end(kUnits))
            return fail("'" + unit + "' is not a unit", end - unit.size(), unit.size(),
                        "k, M, G, or us, ms, s for a time");
        m_at = end;
        std::string name;
        for (std::size_t i = field; isFieldLetter(m_text[i]); ++i) name += m_text[i];
        const std::string text = "`" + base::foldCase(name) + "` " + std::string(expressionSign(term->compare)) + " " +
                                 base::exactText(*number * found->second);
        return condition(term, text, begin, end - begin);
    }
    static std::string_view expressionSign(QueryCompare compare) {
        switch (compare) {
            case QueryCompare::Unequal: return "!=";
            case QueryCompare::Less: return "<";
            case QueryCompare::LessEqual: return "<=";
            case QueryCompare::Greater: return ">";
            case QueryCompare::GreaterEqual: return ">=";
            default: return "==";
        }
    }

    /// value:(max(abs(x)) > 1e4): an expression in brackets, in quotes, or without blanks outside of brackets.
    Term value(const std::shared_ptr<QueryTerm>& term) {
        if (term->compare != QueryCompare::Has)
            return fail("an expression is expected here", m_at, 0, "value:(max(abs(x)) > 1e4)");
        const bool isQuoted = peek() == '"';
        const std::size_t begin = m_at + (isQuoted ? 1 : 0);
        std::size_t end = begin;
        int open = 0;
        for (; end < m_text.size(); ++end) {
            const char c = m_text[end];
            if (isQuoted ? c == '"' : open == 0 && (isSpace(c) || c == ')')) break;
            if (c == '(' || c == '[') ++open;
            if (c == ')' || c == ']') --open;
        }
        if (isQuoted && end >= m_text.size()) return fail("unmatched quote", m_at, 1);
        m_at = end + (isQuoted ? 1 : 0);
        return condition(term, std::string(m_text.substr(begin, end - begin)), begin, end - begin);
    }

    /// Reads the expression that stands for `length` bytes of the query.
    Term condition(const std::shared_ptr<QueryTerm>& term, const std::string& text, std::size_t at,
                   std::size_t length) {
        auto parsed = expression::parse(text);
        if (!parsed) {
            // The column counts code points, the query bytes.
            const std::size_t column = expression::errorColumn(parsed.error()).value_or(1);
            std::size_t offset = 0;
            for (std::size_t i = 1; i < column && offset < length; ++i)
                offset += base::firstCodePoint(m_text.substr(at + offset)).bytes;
            return fail(parsed.error().what, at + offset, std::min<std::size_t>(1, length - offset),
                        parsed.error().hint);
        }
        for (const std::string& name : parsed->names()) {
            if (name == kValueName || numericField(name)) continue;
            const std::size_t found = m_text.find(name, at);
            return fail("unknown name '" + name + "' in a condition of values", found == m_text.npos ? at : found,
                        name.size(), "x is the value of the node; min, max, mean, elements … are its numbers");
        }
        term->condition = std::move(*parsed);
        return term;
    }

    Term attribute(const std::shared_ptr<QueryTerm>& term) {
        const std::size_t begin = m_at;
        std::size_t end = m_at;
        while (end < m_text.size() && !isSpace(m_text[end]) &&
               std::string_view("=<>!()\"").find(m_text[end]) == std::string_view::npos)
            ++end;
        if (end == begin)
            return fail("the name of an attribute is expected here", begin, 1,
                        "such as attr:kernel_shape or attr:group>1");
        term->attribute = base::foldCase(m_text.substr(begin, end - begin));
        m_at = end;
        term->compare = takeCompare();
        if (term->compare == QueryCompare::Has) return term;
        term->wantsValue = true;
        const std::size_t at = m_at;
        if (!pattern(term->pattern, true)) return nullptr;
        const std::string& text = term->pattern.text;
        const auto number = base::parseNumber<double>(text);
        term->number = number.value_or(0);
        term->valueIsNumber = number && !term->pattern.regex;
        const bool ordered = term->compare != QueryCompare::Equal && term->compare != QueryCompare::Unequal;
        if (ordered && !term->valueIsNumber) return fail("a number is expected here", at, m_at - at);
        return term;
    }

    Term shape(const std::shared_ptr<QueryTerm>& term) {
        const std::size_t begin = m_at;
        std::string_view inside;
        char comma = ',';
        if (peek() == '[') {
            const std::size_t close = m_text.find(']', m_at);
            if (close == std::string_view::npos) return fail("unmatched '['", m_at, 1);
            inside = m_text.substr(m_at + 1, close - m_at - 1);
            m_at = close + 1;
        } else {
            std::size_t end = m_at;
            while (end < m_text.size() && !isSpace(m_text[end]) && m_text[end] != ')') ++end;
            inside = m_text.substr(m_at, end - m_at);
            comma = 'x';
            term->anyDimSize = inside.find('x') == std::string_view::npos;
            m_at = end;
        }
        std::size_t at = 0;
        bool rest = false;
        while (at <= inside.size() && !(at == 0 && inside.empty())) {
            const std::size_t end = std::min(inside.find(comma, at), inside.size());
            DimSizePattern dimSize;
            if (!readDimSize(inside.substr(at, end - at), dimSize))
                return fail("this is not a dimension of a shape",
                            static_cast<std::size_t>(inside.data() - m_text.data()) + at, end - at,
                            "a number, a symbol, *, a comparison such as >64, or ...");
            if (dimSize.kind == DimSizePattern::Kind::Rest && std::exchange(rest, true))
                return fail("'...' may occur once in a shape", begin, m_at - begin);
            term->dimSizes.push_back(std::move(dimSize));
            at = end + 1;
        }
        return term;
    }

    static bool readDimSize(std::string_view text, DimSizePattern& dimSize) {
        while (!text.empty() && isSpace(text.front())) text.remove_prefix(1);
        while (!text.empty() && isSpace(text.back())) text.remove_suffix(1);
        using Kind = DimSizePattern::Kind;
        if (text.empty()) return false;
        if (text == "*" || text == "?") return dimSize.kind = Kind::Any, true;
        if (text == "..." || text == "\xe2\x80\xa6") return dimSize.kind = Kind::Rest, true;
        static constexpr std::pair<std::string_view, QueryCompare> kSigns[] = {
            {"<=", QueryCompare::LessEqual}, {">=", QueryCompare::GreaterEqual}, {"!=", QueryCompare::Unequal},
            {"<", QueryCompare::Less},       {">", QueryCompare::Greater},       {"=", QueryCompare::Equal}};
        bool compared = false;
        for (const auto& [sign, compare] : kSigns) {
            if (compared || !text.starts_with(sign)) continue;
            dimSize.compare = compare;
            text.remove_prefix(sign.size());
            compared = true;
        }
        if (const auto number = base::parseNumber<std::int64_t>(text)) {
            dimSize.number = *number;
            return dimSize.kind = Kind::Number, true;
        }
        if (compared || text.empty()) return false;
        dimSize.kind = Kind::Symbol;
        dimSize.symbol = base::foldCase(text);
        return true;
    }

    /// A word up to a blank or bracket, a text in quotes, or /regex/.
    bool pattern(TextPattern& out, bool whole) {
        const std::size_t begin = m_at;
        const char first = peek();
        if (first == '"') {
            const std::size_t close = m_text.find('"', begin + 1);
            if (close == std::string_view::npos) return fail("unmatched quote", begin, 1), false;
            out.text = base::foldCase(m_text.substr(begin + 1, close - begin - 1));
            out.whole = whole;
            m_at = close + 1;
            return true;
        }
        if (first == '/') return regex(out);
        int open = 0;  // names such as add(x) may hold brackets of their own
        std::size_t end = begin, opened = begin;
        for (; end < m_text.size() && !isSpace(m_text[end]); ++end) {
            if (m_text[end] == '(' && open++ == 0) opened = end;
            if (m_text[end] == ')' && --open < 0) break;
        }
        if (open > 0) return fail("unmatched '('", opened, 1, "put text with a bracket in quotes"), false;
        out.text = base::foldCase(m_text.substr(begin, end - begin));
        out.whole = whole || out.text.find_first_of("*?") != std::string::npos;
        m_at = end;
        if (out.text.empty()) return fail("text is expected here", begin, 1), false;
        return true;
    }

    bool regex(TextPattern& out) {
        const std::size_t begin = m_at;
        std::size_t end = begin + 1;
        while (end < m_text.size() && m_text[end] != '/') end += m_text[end] == '\\' ? 2 : 1;
        // A name of a file may begin with a slash: without a second one it is a plain text.
        if (end >= m_text.size()) return fail("unmatched '/'", begin, 1, "put text with a slash in quotes"), false;
        const std::string_view text = m_text.substr(begin + 1, end - begin - 1);
        base::Result<ops::Regex> parsed = ops::Regex::parse(text, ops::Case::Ignored);
        if (!parsed)
            return fail(parsed.error().what, begin, end - begin + 1,
                        "the syntax is that of RE2, without look-ahead and back references"),
                   false;
        out.regex = std::move(*parsed);
        out.text = text;
        m_at = end + 1;
        return true;
    }

    std::string_view m_text;
    QueryProblem& m_problem;
    std::size_t m_at = 0;
    int m_depth = 0;
};

bool mentionsConstants(const QueryTerm& term) {
    if (term.kind == QueryTerm::Kind::Field)
        return term.field == QueryField::Name || term.field == QueryField::Number || term.field == QueryField::Is ||
               term.field == QueryField::Kind;
    return std::any_of(term.parts.begin(), term.parts.end(), [](const auto& part) { return mentionsConstants(*part); });
}

}  // namespace

base::Error QueryProblem::error() const {
    return base::usageError(what, "character " + std::to_string(at + 1) + " of the query", hint);
}

bool isNumeric(QueryField field) { return field >= QueryField::Readers; }

std::optional<QueryField> numericField(std::string_view name) {
    const auto* found = std::ranges::find(kFields, name, &FieldName::name);
    return found != std::end(kFields) && isNumeric(found->field) ? std::optional(found->field) : std::nullopt;
}

std::optional<Query> Query::parse(std::string_view text, QueryProblem* problem) {
    QueryProblem found;
    Query query;
    query.m_root = Parser(text, found).parse();
    if (problem) *problem = found;
    if (!found.what.empty()) return std::nullopt;
    return query;
}

bool Query::asksForConstants() const { return m_root && mentionsConstants(*m_root); }

std::vector<std::string_view> queryFields() {
    std::vector<std::string_view> names;
    for (const FieldName& row : kFields) names.push_back(row.name);
    return names;
}

std::vector<std::string_view> queryRelations() {
    std::vector<std::string_view> names;
    for (const RelationName& row : kRelations) names.push_back(row.name);
    return names;
}

}  // namespace sonde::analysis
