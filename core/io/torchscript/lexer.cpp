#include "core/io/torchscript/lexer.h"

namespace sonde::io::script {

namespace {

bool isNameStart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<signed char>(c) < 0;
}

class Lexer {
  public:
    Lexer(std::string_view text, const std::string& file) : m_text(text), m_file(file) {}

    base::Result<std::vector<Token>> run() {
        m_tokens.reserve(m_text.size() / 4 +
                         16);  // of a model's code about right: growing would copy them all several times
        while (m_at < m_text.size()) {
            if (m_lineStart && m_depth == 0) {
                SONDE_TRY(indentation());
                continue;
            }
            SONDE_TRY(next());
        }
        if (!m_tokens.empty() && m_tokens.back().kind != Token::Kind::Newline) add(Token::Kind::Newline, m_at);
        for (; m_indents.size() > 1; m_indents.pop_back()) add(Token::Kind::Dedent, m_at);
        add(Token::Kind::End, m_at);
        return std::move(m_tokens);
    }

  private:
    base::Error wrong(const std::string& what) const {
        return base::unreadable(what, m_file + ":" + std::to_string(m_line));
    }
    void add(Token::Kind kind, std::size_t start) {
        m_tokens.push_back({kind, m_text.substr(start, m_at - start), {}, m_line, static_cast<std::uint32_t>(start)});
    }
    char peek(std::size_t ahead = 0) const { return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0'; }

    base::Result<void> indentation() {
        std::size_t width = 0;
        while (peek() == ' ' || peek() == '\t') {
            ++width;
            ++m_at;
        }
        if (peek() == '\n' || peek() == '\r' || peek() == '#' || m_at >= m_text.size()) {
            while (m_at < m_text.size() && peek() != '\n') ++m_at;
            if (m_at < m_text.size()) ++m_at;
            ++m_line;
            return {};
        }
        m_lineStart = false;
        if (width > m_indents.back()) {
            if (m_indents.size() > 300) return wrong("blocks nest too deeply");
            m_indents.push_back(width);
            add(Token::Kind::Indent, m_at);
        }
        while (width < m_indents.back()) {
            m_indents.pop_back();
            add(Token::Kind::Dedent, m_at);
        }
        return width == m_indents.back() ? base::Result<void>() : wrong("the indentation fits no block");
    }

    base::Result<void> next() {
        const char c = peek();
        const std::size_t start = m_at;
        if (c == '\n') {
            ++m_at;
            if (m_depth == 0) {
                add(Token::Kind::Newline, start);
                m_lineStart = true;
            }
            ++m_line;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++m_at;
        } else if (c == '#') {
            while (m_at < m_text.size() && peek() != '\n') ++m_at;
        } else if (isNameStart(c)) {
            while (isNameStart(peek()) || isDigit(peek())) ++m_at;
            add(Token::Kind::Name, start);
        } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
            number();
        } else if (c == '"' || c == '\'') {
            return string(c);
        } else {
            return symbol();
        }
        return {};
    }

    void number() {
        const std::size_t start = m_at;
        bool isFloat = false;
        while (isDigit(peek())) ++m_at;
        if (peek() == '.') {
            isFloat = true;
            ++m_at;
            while (isDigit(peek())) ++m_at;
        }
        const bool signedExponent = (peek(1) == '-' || peek(1) == '+') && isDigit(peek(2));
        if ((peek() == 'e' || peek() == 'E') && (isDigit(peek(1)) || signedExponent)) {
            isFloat = true;
            m_at += 2;
            while (isDigit(peek())) ++m_at;
        }
        add(isFloat ? Token::Kind::Float : Token::Kind::Int, start);
    }

    base::Result<void> string(char quote) {
        const std::size_t start = m_at++;
        std::string value;
        while (peek() != quote) {
            if (m_at >= m_text.size() || peek() == '\n') return wrong("unterminated string");
            if (peek() != '\\') {
                value += m_text[m_at++];
                continue;
            }
            ++m_at;
            SONDE_TRY(escape(value));
        }
        ++m_at;
        add(Token::Kind::String, start);
        m_tokens.back().value = std::move(value);
        return {};
    }

    base::Result<void> escape(std::string& value) {
        const char c = peek();
        ++m_at;
        static constexpr std::string_view kFrom = "nrtabfv0\\'\"";
        static constexpr std::string_view kTo("\n\r\t\a\b\f\v\0\\'\"", 11);
        if (isDigit(c)) {  // up to three octal digits
            int code = c - '0';
            for (int i = 0; i < 2 && peek() >= '0' && peek() <= '7'; ++i) code = code * 8 + (m_text[m_at++] - '0');
            value += static_cast<char>(code);
        } else if (c == 'x') {
            int code = 0;
            for (int i = 0; i < 2; ++i) {
                const char digit = peek();
                const int number = isDigit(digit)                                   ? digit - '0'
                                   : (digit | 0x20) >= 'a' && (digit | 0x20) <= 'f' ? (digit | 0x20) - 'a' + 10
                                                                                    : -1;
                if (number < 0) return wrong("a broken \\x in a string");
                code = code * 16 + number;
                ++m_at;
            }
            value += static_cast<char>(code);
        } else if (const std::size_t known = kFrom.find(c); known != std::string_view::npos && c != '\0') {
            value += kTo[known];
        } else {
            value += '\\';
            value += c;
        }
        return {};
    }

    base::Result<void> symbol() {
        const std::size_t start = m_at;
        static constexpr std::string_view kSymbols = "()[]{},:.=-+*/<>@%&|~!^";
        const char c = peek();
        if (kSymbols.find(c) == std::string_view::npos || c == '\0')
            return wrong("the character '" + std::string(1, c) + "' is not understood");
        m_at += c == '-' && peek(1) == '>' ? 2 : 1;
        if (c == '(' || c == '[' || c == '{') ++m_depth;
        if ((c == ')' || c == ']' || c == '}') && m_depth > 0) --m_depth;
        add(Token::Kind::Symbol, start);
        return {};
    }

    std::string_view m_text;
    const std::string& m_file;
    std::size_t m_at = 0;
    int m_line = 1;
    int m_depth = 0;
    bool m_lineStart = true;
    std::vector<std::size_t> m_indents{0};
    std::vector<Token> m_tokens;
};

}  // namespace

base::Result<std::vector<Token>> tokenize(std::string_view text, const std::string& file) {
    return Lexer(text, file).run();
}

}  // namespace sonde::io::script
