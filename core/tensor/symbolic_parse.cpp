
#include "core/base/number_text.h"
#include "core/tensor/symbolic.h"

namespace sonde::tensor {

namespace {

constexpr std::size_t kMaxSourceLength = 400;
constexpr int kMaxDepth = 24;

bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isNamePart(char c) { return isNameStart(c) || (c >= '0' && c <= '9') || c == '.' || c == ':'; }

/// sum := product (('+' | '-') product)*;  product := factor (('*' | '//' | '%') factor)*;
/// factor := number | name | 'name' | '(' sum ')' | '-' factor | ('min' | 'max') '(' sum ',' sum ')'
template <typename Symbol>
class Reader {
  public:
    Reader(std::string_view text, const Symbol& symbol) : m_text(text), m_symbol(symbol) {}

    /// Nothing if the text is no expression.
    std::optional<Symbolic> read() {
        if (m_text.size() > kMaxSourceLength) return std::nullopt;
        const Symbolic result = sum(0);
        skip();
        if (m_failed || m_at != m_text.size()) return std::nullopt;
        return result;
    }

  private:
    void skip() {
        while (m_at < m_text.size() && m_text[m_at] == ' ') ++m_at;
    }
    bool take(std::string_view token) {
        skip();
        if (!m_text.substr(m_at).starts_with(token)) return false;
        m_at += token.size();
        return true;
    }

    Symbolic sum(int depth) {
        Symbolic result = product(depth);
        while (!m_failed) {
            if (take("+")) result = result + product(depth);
            else if (take("-")) result = result - product(depth);
            else break;
        }
        return result;
    }

    Symbolic product(int depth) {
        Symbolic result = factor(depth);
        while (!m_failed) {
            if (take("//")) result = floorDiv(result, factor(depth));
            else if (take("*")) result = result * factor(depth);
            else if (take("%")) result = mod(result, factor(depth));
            else break;
        }
        return result;
    }

    Symbolic failed() {
        m_failed = true;
        return {};
    }

    Symbolic factor(int depth) {
        skip();
        if (depth > kMaxDepth || m_at >= m_text.size()) return failed();
        const char c = m_text[m_at];
        if (take("(")) {
            const Symbolic inside = sum(depth + 1);
            return take(")") ? inside : failed();
        }
        if (take("-")) return -factor(depth + 1);
        if (c == '\'') {
            const std::size_t end = m_text.find('\'', m_at + 1);
            if (end == std::string_view::npos) return failed();
            const std::string_view name = m_text.substr(m_at, end + 1 - m_at);
            m_at = end + 1;
            return m_symbol(name);
        }
        if (c >= '0' && c <= '9') {
            std::string_view rest = m_text.substr(m_at);
            const auto value = base::takeNumber<std::int64_t>(rest);
            m_at = m_text.size() - rest.size();
            return value ? Symbolic::of(*value) : failed();
        }
        if (!isNameStart(c)) return failed();
        const std::size_t begin = m_at;
        while (m_at < m_text.size() && isNamePart(m_text[m_at])) ++m_at;
        const std::string_view name = m_text.substr(begin, m_at - begin);
        if (name != "min" && name != "max") return m_symbol(name);
        if (!take("(")) return failed();
        const Symbolic a = sum(depth + 1);
        if (!take(",")) return failed();
        const Symbolic b = sum(depth + 1);
        if (!take(")")) return failed();
        return name == "min" ? smaller(a, b) : larger(a, b);
    }

    std::string_view m_text;
    const Symbol& m_symbol;
    std::size_t m_at = 0;
    bool m_failed = false;
};

}  // namespace

Symbolic Symbolic::parse(std::string_view text) {
    const auto symbol = [](std::string_view name) { return atom(std::string(name)); };
    if (auto expression = Reader(text, symbol).read()) return *expression;
    if (text.empty() || text.find('\'') != std::string_view::npos) return {};
    return atom("'" + std::string(text) + "'");
}

Symbolic Symbolic::bound(const std::function<std::optional<std::int64_t>(std::string_view symbol)>& value) const {
    if (!m_terms) return {};
    const auto symbol = [&value](std::string_view name) {
        if (name.size() > 2 && name.front() == '\'') name = name.substr(1, name.size() - 2);
        const auto number = value(name);
        return number ? of(*number) : Symbolic();
    };
    const std::string source = make(*m_terms).text();
    const auto above = Reader(source, symbol).read();
    return above ? *above / of(m_denominator) : Symbolic();
}

}  // namespace sonde::tensor
