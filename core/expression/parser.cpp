#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "core/expression/expression.h"
#include "core/expression/functions.h"
#include "core/expression/lexer.h"
#include "core/expression/syntax.h"

namespace sonde::expression {

namespace {

constexpr std::size_t kMaxTextLength = std::size_t{1} << 16;
constexpr int kMaxNesting = 100;              // brackets, signs and powers inside each other: levels of the parser
constexpr std::uint16_t kMaxTermDepth = 500;  // sums and indices behind each other, too: levels of the evaluator

using tensor::Value;
using Kind = Term::Kind;

/// Operators between two parts, the loosest first; those of a row bind alike.
constexpr std::pair<Operator, int> kBinary[] = {
    {Operator::BitOr, 1},  {Operator::BitXor, 2},      {Operator::BitAnd, 3},
    {Operator::Add, 4},    {Operator::Subtract, 4},    {Operator::Multiply, 5},
    {Operator::Divide, 5}, {Operator::FloorDivide, 5}, {Operator::Modulo, 5},
};
constexpr std::array kComparisons{Operator::Less,         Operator::LessEqual, Operator::Greater,
                                  Operator::GreaterEqual, Operator::Equal,     Operator::NotEqual};

/// Recursive descent; the first problem is thrown as LocatedProblem.
class ExpressionParser {
  public:
    explicit ExpressionParser(std::string_view text) : m_text(text) { advance(); }

    Term run() {
        Term term = whole();
        if (m_token.kind == Token::Kind::End) return term;
        if (m_token.is("=")) failAt(m_token.at, "'=' is not expected", "values are compared by ==");
        const bool isDotted = m_token.kind == Token::Kind::Number && m_text[m_token.at] == '.';
        failAt(m_token.at, "'" + written(m_token) + "' is not expected",
               isDotted ? "a name with points is written in backticks: `a.0.b`" : "");
    }
    std::vector<std::string> names() { return std::move(m_names); }

  private:
    [[noreturn]] static void failAt(std::size_t at, std::string what, std::string hint = {}) {
        throw LocatedProblem{{std::move(what), std::move(hint)}, at};
    }
    std::string written(const Token& token) const { return std::string(m_text.substr(token.at, token.end - token.at)); }

    // --- tokens -----------------------------------------------------------------------------------------------------

    void advance() { m_token = tokenAt(m_text, m_token.end); }
    bool take(std::string_view sign) {
        if (!m_token.is(sign)) return false;
        advance();
        return true;
    }
    bool takeWord(std::string_view word) {
        if (!m_token.isWord(word)) return false;
        advance();
        return true;
    }
    void expect(std::string_view sign) {
        if (!take(sign)) failAt(m_token.at, "'" + std::string(sign) + "' is missing");
    }

    // --- terms ------------------------------------------------------------------------------------------------------

    static Term constant(std::size_t at, Value value) {
        Term term;
        term.at = at;
        term.constant = std::move(value);
        return term;
    }
    static Term make(Kind kind, std::size_t at, std::vector<Term> parts, Operator op = Operator::Add) {
        Term term;
        term.kind = kind;
        term.at = at;
        term.op = op;
        for (const Term& part : parts) term.depth = std::max(term.depth, static_cast<std::uint16_t>(part.depth + 1));
        if (term.depth > kMaxTermDepth) failAt(at, "the expression nests too deeply");
        term.parts = std::move(parts);
        return term;
    }
    static std::vector<Term> pair(Term a, Term b) {
        std::vector<Term> both;
        both.push_back(std::move(a));
        both.push_back(std::move(b));
        return both;
    }
    static std::vector<Term> one(Term term) {
        std::vector<Term> single;
        single.push_back(std::move(term));
        return single;
    }

    /// Counts the levels that are open.
    class Nesting {
      public:
        explicit Nesting(ExpressionParser& parser) : m_parser(parser) {
            if (++m_parser.m_nesting > kMaxNesting) failAt(m_parser.m_token.at, "the expression nests too deeply");
        }
        ~Nesting() { --m_parser.m_nesting; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;

      private:
        ExpressionParser& m_parser;
    };

    Term whole() {
        const Nesting nesting(*this);
        return logical(Operator::Or);
    }

    /// a or b or c; a and b and c.
    Term logical(Operator op) {
        const auto part = [&] { return op == Operator::Or ? logical(Operator::And) : negation(); };
        const std::size_t at = m_token.at;
        std::vector<Term> parts = one(part());
        while (takeWord(name(op))) parts.push_back(part());
        return parts.size() == 1 ? std::move(parts.front()) : make(Kind::Logical, at, std::move(parts), op);
    }

    Term negation() {
        const std::size_t at = m_token.at;
        if (!takeWord("not")) return comparison();
        const Nesting nesting(*this);
        return make(Kind::Unary, at, one(negation()), Operator::Not);
    }

    Term comparison() {
        std::vector<Term> parts = one(binary(1));
        std::vector<Operator> ops;
        std::vector<std::size_t> places;
        for (;;) {
            const auto found = std::ranges::find_if(kComparisons, [&](Operator op) { return m_token.is(name(op)); });
            if (found == kComparisons.end()) break;
            ops.push_back(*found);
            places.push_back(m_token.at);
            advance();
            parts.push_back(binary(1));
        }
        if (ops.empty()) return std::move(parts.front());
        if (ops.size() == 1) return make(Kind::Binary, places.front(), std::move(parts), ops.front());
        Term chain = make(Kind::Chain, places.front(), std::move(parts));
        chain.comparisons = std::move(ops);
        chain.comparisonsAt = std::move(places);
        return chain;
    }

    /// Operators that bind at least as tightly as `level`, from left to right.
    Term binary(int level) {
        Term left = sign();
        for (;;) {
            const auto* found = std::ranges::find_if(
                kBinary, [&](const auto& row) { return row.second >= level && m_token.is(name(row.first)); });
            if (found == std::end(kBinary)) return left;
            const std::size_t at = m_token.at;
            advance();
            Term right = binary(found->second + 1);
            left = make(Kind::Binary, at, pair(std::move(left), std::move(right)), found->first);
        }
    }

    /// -a ** b is -(a ** b), and a ** b ** c is a ** (b ** c).
    Term sign() {
        static constexpr std::pair<std::string_view, Operator> kSigns[] = {
            {"-", Operator::Negate}, {"+", Operator::Plus}, {"~", Operator::Invert}};
        const std::size_t at = m_token.at;
        for (const auto& [written, op] : kSigns) {
            if (!take(written)) continue;
            const Nesting nesting(*this);
            return make(Kind::Unary, at, one(sign()), op);
        }
        Term base = suffixes();
        const std::size_t power = m_token.at;
        if (!take("**")) return base;
        const Nesting nesting(*this);
        return make(Kind::Binary, power, pair(std::move(base), sign()), Operator::Power);
    }

    /// x.mean(), x.shape, x[0, :]
    Term suffixes() {
        Term term = atom();
        for (;;) {
            const std::size_t at = m_token.at;
            if (take(".")) {
                const Token word = m_token;
                if (word.kind != Token::Kind::Word) failAt(at, "a function is expected behind the point");
                advance();
                term = member(word.text, at, std::move(term));
            } else if (take("[")) {
                term = index(at, std::move(term));
            } else {
                return term;
            }
        }
    }

    /// What is behind the point of x.mean(), x.shape.
    Term member(const std::string& word, std::size_t at, Term self) {
        const Function* function = findFunction(word);
        const bool isCall = m_token.is("(");
        if (!function && isCall)
            failAt(at, "the function " + word + " is not defined; known are " + functionNames(true));
        if (!function)
            failAt(at, "the name '" + word + "' is not defined", "a name with points is written in backticks: `a.b`");
        if (function->style == Style::Plain) failAt(at, "arrays have no " + word + "; write np." + word);
        Arguments given;
        given.byPosition.push_back(std::move(self));
        if (isCall) {
            arguments(given);
        } else if (function->style != Style::Attribute) {
            failAt(at, "the name '" + word + "' is not defined without arguments", "write ." + word + "()");
        }
        if (function->style == Style::Items && given.byPosition.size() > 2) {
            std::vector<Term> items(std::make_move_iterator(given.byPosition.begin() + 1),
                                    std::make_move_iterator(given.byPosition.end()));
            given.byPosition.resize(1);
            given.byPosition.push_back(make(Kind::Tuple, at, std::move(items)));
        }
        return call(*function, at, std::move(given));
    }

    // --- calls ------------------------------------------------------------------------------------------------------

    struct Arguments {
        std::vector<Term> byPosition;
        std::vector<std::pair<std::string, Term>> byName;
    };

    /// (a, b, axis=1)
    void arguments(Arguments& given) {
        expect("(");
        while (!take(")")) {
            std::string keyword;
            if (m_token.kind == Token::Kind::Word && tokenAt(m_text, m_token.end).is("=")) {
                keyword = m_token.text;
                advance();
                advance();
            }
            if (keyword.empty() && !given.byName.empty())
                failAt(m_token.at, "an argument without a name comes after one with a name");
            Term value = whole();
            if (keyword.empty()) given.byPosition.push_back(std::move(value));
            else given.byName.emplace_back(std::move(keyword), std::move(value));
            if (!m_token.is(")") && !take(",")) failAt(m_token.at, "')' is missing");
        }
    }

    /// Arguments in the order of the parameters.
    static Term call(const Function& function, std::size_t at, Arguments given) {
        const std::string called(function.name);
        const auto& parameters = function.parameters;
        const auto positions =
            static_cast<std::size_t>(std::ranges::count(parameters, false, &Parameter::isKeywordOnly));
        if (given.byPosition.size() > positions) failAt(at, called + " takes fewer arguments", usageOf(function));
        std::vector<Term> bound(parameters.size());
        std::vector<bool> isGiven(parameters.size(), false);
        for (Term& each : bound) each.at = at;
        for (std::size_t i = 0; i < given.byPosition.size(); ++i) {
            bound[i] = std::move(given.byPosition[i]);
            isGiven[i] = true;
        }
        for (auto& [keyword, value] : given.byName) {
            const auto found = std::ranges::find(parameters, keyword, &Parameter::name);
            if (found == parameters.end())
                failAt(at, called + " has no parameter '" + keyword + "'", usageOf(function));
            const auto position = static_cast<std::size_t>(found - parameters.begin());
            if (isGiven[position]) failAt(at, called + " got '" + keyword + "' twice", usageOf(function));
            bound[position] = std::move(value);
            isGiven[position] = true;
        }
        for (std::size_t i = 0; i < parameters.size(); ++i)
            if (parameters[i].isRequired && !isGiven[i])
                failAt(at, called + " needs '" + std::string(parameters[i].name) + "'", usageOf(function));
        Term term = make(Kind::Call, at, std::move(bound));
        term.function = &function;
        return term;
    }
    static std::string usageOf(const Function& function) { return "it is " + std::string(function.signature); }

    // --- what stands alone ------------------------------------------------------------------------------------------

    Term atom() {
        const Token token = m_token;
        switch (token.kind) {
            case Token::Kind::Number: advance(); return constant(token.at, token.number);
            case Token::Kind::Text: {
                const auto dtype = dtypeNamed(token.text);
                if (!dtype) failAt(token.at + 1, "a dtype is expected: 'float32', 'uint8' …");
                advance();
                return constant(token.at, *dtype);
            }
            case Token::Kind::QuotedName: advance(); return nameOf(token);
            case Token::Kind::Word: advance(); return word(token);
            case Token::Kind::Sign:
                if (token.text == "(" || token.text == "[") return sequence();
                break;
            case Token::Kind::End: break;
        }
        failAt(token.at, "a number, a name or a function is expected");
    }

    Term nameOf(const Token& token) {
        Term term;
        term.kind = Kind::Name;
        term.at = token.at;
        term.name = token.text;
        if (std::ranges::find(m_names, token.text) == m_names.end()) m_names.push_back(token.text);
        return term;
    }

    Term word(const Token& token) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        const std::string& text = token.text;
        if (text == "np" && take(".")) return ofNumpy(token.at);
        if (text == "True" || text == "False") return constant(token.at, Value::ofBool(text == "True"));
        if (text == "None") return constant(token.at, {});
        if (text == "inf") return constant(token.at, Value::ofFloat(kInfinity));
        if (text == "nan") return constant(token.at, Value::ofFloat(std::numeric_limits<double>::quiet_NaN()));
        if (text == "float" || text == "int" || text == "bool") return constant(token.at, *dtypeNamed(text));
        if (m_token.is("(")) return called(text, "'" + text + "'", token.at);
        if (isReserved(text)) failAt(token.at, "'" + text + "' is not expected");
        return nameOf(token);
    }

    /// mean(x)
    Term called(const std::string& name, const std::string& written, std::size_t at) {
        const Function* function = findFunction(name);
        if (!function) failAt(at, "the function " + written + " is not defined; known are " + functionNames(false));
        Arguments given;
        arguments(given);
        return call(*function, at, std::move(given));
    }

    /// np.mean(x), np.float32, np.pi
    Term ofNumpy(std::size_t at) {
        const Token token = m_token;
        if (token.kind != Token::Kind::Word) failAt(at, "a name is expected behind np.");
        advance();
        if (m_token.is("(")) return called(token.text, "np." + token.text, at);
        if (token.text == "pi") return constant(at, Value::ofFloat(std::numbers::pi));
        if (token.text == "e") return constant(at, Value::ofFloat(std::numbers::e));
        if (token.text == "newaxis") return constant(at, {});
        if (token.text == "inf" || token.text == "nan") return word(token);
        if (const auto dtype = dtypeNamed(token.text)) return constant(at, *dtype);
        failAt(at, "the name '" + token.text + "' is not defined in np");
    }

    /// The dtype of a name as a string; those of Python are float64 and int64.
    static std::optional<Value> dtypeNamed(std::string_view name) {
        const auto dtype = name == "float" || name == "float_" ? std::optional(tensor::DType::Float64)
                           : name == "int" || name == "int_"   ? std::optional(tensor::DType::Int64)
                                                               : tensor::dtypeFromName(name);
        if (!dtype || *dtype == tensor::DType::Undefined || *dtype == tensor::DType::String) return std::nullopt;
        return Value(std::string(tensor::name(*dtype)));
    }

    /// (a), (), (a, b), [a, b]
    Term sequence() {
        const std::size_t at = m_token.at;
        const bool isTuple = m_token.is("(");
        const std::string_view end = isTuple ? ")" : "]";
        advance();
        std::vector<Term> items;
        bool hasComma = false;
        while (!take(end)) {
            items.push_back(whole());
            if (m_token.is(end)) continue;
            if (!take(",")) failAt(m_token.at, "'" + std::string(end) + "' is missing");
            hasComma = true;
        }
        if (isTuple && items.size() == 1 && !hasComma) return std::move(items.front());
        return make(isTuple ? Kind::Tuple : Kind::List, at, std::move(items));
    }

    // --- indices ----------------------------------------------------------------------------------------------------

    /// What is inside x[…].
    Term index(std::size_t at, Term array) {
        std::vector<Term> parts = one(std::move(array));
        while (!take("]")) {
            parts.push_back(indexItem());
            if (m_token.is("]")) continue;
            if (!take(",")) failAt(m_token.at, "']' is missing");
        }
        if (parts.size() == 1) failAt(at, "an index is missing in the brackets");
        return make(Kind::Index, at, std::move(parts));
    }

    /// 3, start:stop:step, ...
    Term indexItem() {
        const std::size_t at = m_token.at;
        if (take("...")) return make(Kind::Ellipsis, at, {});
        const auto isEnd = [&] { return m_token.is(":") || m_token.is(",") || m_token.is("]"); };
        Term first = m_token.is(":") ? constant(at, {}) : whole();
        if (!m_token.is(":")) return first;
        std::vector<Term> parts = one(std::move(first));
        while (parts.size() < 3 && take(":")) parts.push_back(isEnd() ? constant(m_token.at, {}) : whole());
        while (parts.size() < 3) parts.push_back(constant(at, {}));
        return make(Kind::Slice, at, std::move(parts));
    }

    std::string_view m_text;
    Token m_token;
    int m_nesting = 0;
    std::vector<std::string> m_names;
};

}  // namespace

base::Result<Expression> parse(std::string_view text) {
    try {
        if (text.size() > kMaxTextLength)
            throw LocatedProblem{{"the expression is longer than " + std::to_string(kMaxTextLength) + " bytes"}, 0};
        ExpressionParser parser(text);
        auto root = std::make_shared<const Term>(parser.run());
        return Expression(std::string(text), std::move(root), parser.names());
    } catch (const LocatedProblem& located) {
        return errorOf(located, text);
    }
}

}  // namespace sonde::expression
