#include "core/io/dump/input_transform.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/number_text.h"

namespace sonde::io::dump {

namespace {

using Numbers = std::vector<double>;  ///< one for each element, or one for all

constexpr int kMaxExpressionDepth = 100;

struct Failure {
    std::string what;
    std::size_t column;
};

class Evaluation {
  public:
    Evaluation(std::string_view text, Numbers data) : m_text(text), m_data(std::move(data)) {}

    Numbers run() {
        Numbers result = sum(0);
        skip();
        if (m_at != m_text.size()) fail("'" + std::string(1, m_text[m_at]) + "' is not expected");
        return result;
    }

  private:
    [[noreturn]] void fail(std::string what) const { throw Failure{std::move(what), m_at + 1}; }
    void skip() {
        while (m_at < m_text.size() && m_text[m_at] == ' ') ++m_at;
    }
    bool take(std::string_view token) {
        skip();
        if (m_text.substr(m_at, token.size()) != token) return false;
        m_at += token.size();
        return true;
    }
    void expect(std::string_view token) {
        if (!take(token)) fail("'" + std::string(token) + "' is missing");
    }

    static Numbers both(const Numbers& a, const Numbers& b, const std::function<double(double, double)>& op) {
        Numbers result(std::max(a.size(), b.size()));
        for (std::size_t i = 0; i < result.size(); ++i)
            result[i] = op(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
        return result;
    }

    Numbers sum(int depth) {
        Numbers value = product(depth);
        while (true) {
            if (take("+")) value = both(value, product(depth), std::plus<>());
            else if (take("-")) value = both(value, product(depth), std::minus<>());
            else return value;
        }
    }
    Numbers product(int depth) {
        Numbers value = power(depth);
        while (true) {
            skip();
            if (m_text.substr(m_at, 2) == "**") return value;
            if (take("*")) value = both(value, power(depth), std::multiplies<>());
            else if (take("/")) value = both(value, power(depth), std::divides<>());
            else return value;
        }
    }
    /// -a ** b is -(a ** b), and a ** b ** c is a ** (b ** c).
    Numbers power(int depth) {
        if (depth > kMaxExpressionDepth) fail("the expression nests too deeply");
        if (take("-")) return both({-1}, power(depth + 1), std::multiplies<>());
        if (take("+")) return power(depth + 1);
        Numbers base = atom(depth + 1);
        if (take("**")) return both(base, power(depth + 1), [](double a, double b) { return std::pow(a, b); });
        return base;
    }
    Numbers atom(int depth) {
        if (take("(")) {
            Numbers value = sum(depth);
            expect(")");
            return value;
        }
        const std::size_t start = m_at;
        std::string name;
        while (m_at < m_text.size() &&
               (std::isalnum(static_cast<unsigned char>(m_text[m_at])) || m_text[m_at] == '_' ||
                (m_text[m_at] == '.' && !name.empty() && std::isalpha(static_cast<unsigned char>(name[0]))))) {
            if (name.empty() && std::isdigit(static_cast<unsigned char>(m_text[m_at]))) break;
            name += m_text[m_at++];
        }
        if (name == "data") return m_data;
        if (name.starts_with("np.")) return function(name.substr(3), start, depth);
        if (!name.empty()) {
            m_at = start;
            fail("the name '" + name +
                 "' is not defined; known are data, np.mean, std, min, max, abs, sqrt, exp, log, clip");
        }
        std::string_view rest = std::string_view(m_text).substr(m_at);
        const auto number = base::takeNumber<double>(rest);
        if (!number) fail("a number, data or a function is expected");
        m_at = m_text.size() - rest.size();
        return {*number};
    }
    Numbers function(const std::string& name, std::size_t start, int depth) {
        expect("(");
        Numbers value = sum(depth);
        if (name == "clip") {
            expect(",");
            const Numbers low = sum(depth);
            expect(",");
            const Numbers high = sum(depth);
            expect(")");
            return both(both(value, low, [](double a, double b) { return std::max(a, b); }), high,
                        [](double a, double b) { return std::min(a, b); });
        }
        expect(")");
        const auto each = [&](double (*op)(double)) {
            for (double& number : value) number = op(number);
            return value;
        };
        if (name == "abs") return each([](double x) { return std::abs(x); });
        if (name == "sqrt") return each([](double x) { return std::sqrt(x); });
        if (name == "exp") return each([](double x) { return std::exp(x); });
        if (name == "log") return each([](double x) { return std::log(x); });
        if (value.empty()) fail("there are no elements");
        const double mean = std::accumulate(value.begin(), value.end(), 0.0) / static_cast<double>(value.size());
        if (name == "mean") return {mean};
        if (name == "min") return {*std::ranges::min_element(value)};
        if (name == "max") return {*std::ranges::max_element(value)};
        if (name == "std") {
            double squares = 0;
            for (const double number : value) squares += (number - mean) * (number - mean);
            return {std::sqrt(squares / static_cast<double>(value.size()))};
        }
        m_at = start;
        fail("the function np." + name + " is not defined; known are mean, std, min, max, abs, sqrt, exp, log, clip");
    }

    std::string_view m_text;
    Numbers m_data;
    std::size_t m_at = 0;
};

}  // namespace

base::Result<tensor::Tensor> transformed(std::string_view expression, const tensor::Tensor& data) {
    Numbers numbers(static_cast<std::size_t>(data.numel()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = data.toDouble(static_cast<std::int64_t>(i));
    try {
        Numbers result = Evaluation(expression, std::move(numbers)).run();
        if (result.size() == 1) result.assign(static_cast<std::size_t>(data.numel()), result[0]);
        SONDE_ASSIGN(tensor::Tensor made, tensor::Tensor::allocate(tensor::DType::Float64, data.shape()));
        std::ranges::copy(result, made.mutableSpan<double>().begin());
        return made;
    } catch (const Failure& failure) {
        return base::usageError(failure.what,
                                "column " + std::to_string(failure.column) + " of '" + std::string(expression) + "'");
    }
}

}  // namespace sonde::io::dump
