#include "core/io/dump/input_transform.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/number_text.h"
#include "core/io/dump/transform_term.h"

namespace sonde::io::dump {

namespace {

using Term = TransformTerm;

constexpr int kMaxExpressionDepth = 100;

struct Failure {
    std::string what;
    std::size_t column;
};

bool isLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The value of an expression, found while it is read.
class Evaluation {
  public:
    Evaluation(std::string_view text, Term data) : m_text(text), m_data(std::move(data)) {}

    Term run() {
        const Term result = comparison(0);
        skip();
        if (m_at != m_text.size()) fail("'" + std::string(1, m_text[m_at]) + "' is not expected");
        return asNumbersAt(result, 0);
    }

  private:
    [[noreturn]] void fail(std::string what) const { throw Failure{std::move(what), m_at + 1}; }
    void skip() {
        while (m_at < m_text.size() && m_text[m_at] == ' ') ++m_at;
    }
    bool isNext(std::string_view token) {
        skip();
        return m_text.substr(m_at, token.size()) == token;
    }
    bool take(std::string_view token) {
        if (!isNext(token)) return false;
        m_at += token.size();
        return true;
    }
    void expect(std::string_view token) {
        if (!take(token)) fail("'" + std::string(token) + "' is missing");
    }
    std::string word() {
        skip();
        const std::size_t start = m_at;
        while (m_at < m_text.size() && (isLetter(m_text[m_at]) || (m_at > start && isDigit(m_text[m_at])))) ++m_at;
        return std::string(m_text.substr(start, m_at - start));
    }

    /// What goes wrong inside is said of the column at which it stands.
    template <typename Compute>
    Term at(std::size_t column, Compute compute) const {
        try {
            return compute();
        } catch (const TransformError& error) {
            throw Failure{error.what, column + 1};
        }
    }
    Term asNumbersAt(const Term& term, std::size_t column) const {
        return at(column, [&] { return asNumbers(term); });
    }
    Term both(const Term& a, const Term& b, std::size_t column, TransformOp op) const {
        return at(column, [&] { return elementwise(a, b, op); });
    }

    Term comparison(int depth) {
        // Longer ones first.
        static constexpr std::pair<std::string_view, TransformOp> kOps[] = {
            {"<=", TransformOp::LessEqual}, {">=", TransformOp::GreaterEqual}, {"==", TransformOp::Equal},
            {"!=", TransformOp::NotEqual},  {"<", TransformOp::Less},          {">", TransformOp::Greater},
        };
        Term value = sum(depth);
        bool isCompared = false;
        while (true) {
            skip();
            const std::size_t column = m_at;
            const auto* found = std::ranges::find_if(kOps, [&](const auto& each) { return take(each.first); });
            if (found == std::end(kOps)) return value;
            if (std::exchange(isCompared, true)) {
                m_at = column;
                fail("comparisons of arrays cannot be chained; write (a < b) * (b < c)");
            }
            value = both(value, sum(depth), column, found->second);
        }
    }
    Term sum(int depth) {
        Term value = product(depth);
        while (true) {
            skip();
            const std::size_t column = m_at;
            if (take("+")) value = both(value, product(depth), column, TransformOp::Add);
            else if (take("-")) value = both(value, product(depth), column, TransformOp::Subtract);
            else return value;
        }
    }
    Term product(int depth) {
        Term value = power(depth);
        while (true) {
            skip();
            const std::size_t column = m_at;
            if (isNext("**")) return value;
            if (take("*")) value = both(value, power(depth), column, TransformOp::Multiply);
            else if (take("/")) value = both(value, power(depth), column, TransformOp::Divide);
            else return value;
        }
    }
    /// -a ** b is -(a ** b), and a ** b ** c is a ** (b ** c).
    Term power(int depth) {
        if (depth > kMaxExpressionDepth) fail("the expression nests too deeply");
        skip();
        const std::size_t column = m_at;
        if (take("-")) return at(column, [&] { return negated(power(depth + 1)); });
        if (take("+")) return asNumbersAt(power(depth + 1), column);
        const Term base = methods(depth + 1);
        skip();
        const std::size_t sign = m_at;
        if (take("**")) return both(base, power(depth + 1), sign, TransformOp::Power);
        return base;
    }

    /// data.mean(), data.transpose(0, 2, 1).
    Term methods(int depth) {
        Term value = atom(depth);
        while (isNext(".")) {
            const std::size_t column = m_at;
            ++m_at;
            const std::string name = word();
            value = called(name, column, depth, std::move(value));
        }
        return value;
    }

    Term called(const std::string& name, std::size_t column, int depth, std::optional<Term> self) {
        if (name.empty() || !isNext("(")) {
            m_at = column;
            fail("the name '" + name + "' is not defined");
        }
        TransformCall call;
        const bool isMethod = self.has_value();
        (void)at(column, [&] {
            checkFunction(name, isMethod);
            return Term();
        });
        if (self) call.arguments.push_back(std::move(*self));
        expect("(");
        while (!take(")")) {
            const std::size_t start = m_at;
            std::string keyword = word();
            if (keyword.empty() || isNext("==") || !take("=")) {
                m_at = start;
                keyword.clear();
            }
            if (keyword.empty() && !call.keywords.empty())
                fail("an argument without a name comes after one with a name");
            Term value = comparison(depth);
            if (keyword.empty()) call.arguments.push_back(std::move(value));
            else call.keywords.emplace_back(std::move(keyword), std::move(value));
            if (!isNext(")")) expect(",");
        }
        return at(column, [&] { return callFunction(name, std::move(call), isMethod); });
    }

    Term atom(int depth) {
        skip();
        if (isNext("(") || isNext("[")) return list(depth);
        const std::size_t start = m_at;
        if (isNext("'") || isNext("\"")) return quotedType();
        if (m_at < m_text.size() && isLetter(m_text[m_at])) {
            const std::string name = word();
            if (name == "data") return m_data;
            if (name == "True") return Term::number(1, tensor::DType::Bool);
            if (name == "False") return Term::number(0, tensor::DType::Bool);
            if (name == "None") return {};
            if (name == "np" && take(".")) {
                const std::string of = word();
                if (const auto dtype = typeOf(of)) return *dtype;
                return called(of, start, depth, std::nullopt);
            }
            if (const auto dtype = typeOf(name); dtype && (name == "float" || name == "int" || name == "bool"))
                return *dtype;
            m_at = start;
            fail("the name '" + name + "' is not defined; known are data and functions of np");
        }
        const std::string_view whole = m_text.substr(m_at);
        std::string_view rest = whole;
        const auto number = base::takeNumber<double>(rest);
        if (!number) fail("a number, data or a function is expected");
        m_at = m_text.size() - rest.size();
        const std::string_view written = whole.substr(0, whole.size() - rest.size());
        const bool isInteger = std::ranges::all_of(written, isDigit);
        return Term::number(*number, isInteger ? tensor::DType::Int64 : tensor::DType::Float64);
    }

    /// The dtype of a name; np.float_ and the like are Python's.
    static std::optional<Term> typeOf(std::string_view name) {
        const auto dtype = name == "float" || name == "float_" ? std::optional(tensor::DType::Float64)
                           : name == "int" || name == "int_"   ? std::optional(tensor::DType::Int64)
                                                               : tensor::dtypeFromName(name);
        if (!dtype || *dtype == tensor::DType::Undefined || *dtype == tensor::DType::String ||
            tensor::isComplex(*dtype))
            return std::nullopt;
        Term term;
        term.kind = Term::Kind::Type;
        term.dtype = *dtype;
        return term;
    }
    /// 'float32'
    Term quotedType() {
        const std::string quote(1, m_text[m_at++]);
        const std::size_t start = m_at;
        const std::string name = word();
        const auto type = typeOf(name);
        if (!type || m_text.substr(m_at, 1) != quote) {
            m_at = start;
            fail("a dtype is expected: 'float32', 'uint8' …");
        }
        ++m_at;
        return *type;
    }

    /// (a), (a, b), [a, b]
    Term list(int depth) {
        if (depth > kMaxExpressionDepth) fail("the expression nests too deeply");
        const bool isTuple = take("(");
        if (!isTuple) expect("[");
        const std::string_view end = isTuple ? ")" : "]";
        Term all;
        all.kind = Term::Kind::List;
        bool hasComma = !isTuple;
        while (!take(end)) {
            all.items.push_back(comparison(depth + 1));
            if (isNext(end)) continue;
            if (!isNext(",")) fail("'" + std::string(end) + "' is missing");
            expect(",");
            hasComma = true;
        }
        if (isTuple && all.items.empty()) fail("a number, data or a function is expected");
        return hasComma ? all : all.items.front();
    }

    std::string_view m_text;
    Term m_data;
    std::size_t m_at = 0;
};

}  // namespace

base::Result<tensor::Tensor> transformed(std::string_view expression, const tensor::Tensor& data) {
    std::vector<double> numbers(static_cast<std::size_t>(data.numel()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = data.toDouble(static_cast<std::int64_t>(i));
    try {
        const bool isWide = tensor::isInteger(data.dtype()) && tensor::itemSize(data.dtype()) == 8;
        const auto isInexact = [](double number) { return std::abs(number) > 0x1p53; };
        if (isWide && std::ranges::any_of(numbers, isInexact))
            return base::usageError("integers above 2^53 cannot be transformed", std::string(expression));
        Term term = Term::numbers(data.shape(), std::move(numbers), numpyType(data.dtype()));
        const Term result = Evaluation(expression, std::move(term)).run();
        return tensor::Tensor::of<double>(result.shape, result.values).cast(result.dtype);
    } catch (const Failure& failure) {
        return base::usageError(failure.what,
                                "column " + std::to_string(failure.column) + " of '" + std::string(expression) + "'");
    }
}

}  // namespace sonde::io::dump
