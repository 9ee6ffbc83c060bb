#include "core/io/torchscript/syntax.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/number_text.h"
#include "core/base/unicode.h"
#include "core/io/torchscript/lexer.h"

namespace sonde::io::script {

const FunctionDef* ClassDef::method(std::string_view wanted) const {
    for (const FunctionDef& method : methods) {
        if (method.name == wanted) return &method;
    }
    return nullptr;
}

std::string dottedPath(const Expression& expression) {
    if (expression.kind == Expression::Kind::Name) return expression.text;
    if (expression.kind != Expression::Kind::Attribute) return {};
    std::string head = dottedPath(expression.parts.front());
    return head.empty() ? head : head + '.' + expression.text;
}

namespace {

constexpr int kMaxSyntaxDepth = 200;

class Parser {
  public:
    Parser(std::vector<Token> tokens, const std::string& file) : m_tokens(std::move(tokens)), m_file(file) {}

    base::Result<SourceUnit> run() {
        SourceUnit unit;
        while (peek().kind != Token::Kind::End) {
            if (peek().kind == Token::Kind::Newline) {
                ++m_at;
            } else if (isWord("class")) {
                SONDE_ASSIGN(ClassDef def, classDef());
                unit.classes.push_back(std::move(def));
            } else if (isWord("def")) {
                SONDE_ASSIGN(FunctionDef def, functionDef(false));
                unit.functions.push_back(std::move(def));
            } else {
                return wrong("a class or a function is expected");
            }
        }
        return unit;
    }

  private:
    const Token& peek(std::size_t ahead = 0) const { return m_tokens[std::min(m_at + ahead, m_tokens.size() - 1)]; }
    bool isWord(std::string_view word) const { return peek().kind == Token::Kind::Name && peek().text == word; }
    bool isSymbol(std::string_view symbol) const { return peek().kind == Token::Kind::Symbol && peek().text == symbol; }
    bool take(std::string_view symbol) {
        if (!isSymbol(symbol)) return false;
        ++m_at;
        return true;
    }
    template <typename Part>
    void begin(Part& part) const {
        part.line = peek().line;
        part.offset = peek().offset;
    }
    base::Error wrong(const std::string& what) const {
        return base::unreadable(what + " where '" + std::string(base::utf8Prefix(peek().text, 40)) + "' stands",
                                m_file + ":" + std::to_string(peek().line));
    }
    base::Result<void> expect(std::string_view symbol) {
        if (take(symbol)) return {};
        return wrong("'" + std::string(symbol) + "' is expected");
    }
    base::Result<void> expectKind(Token::Kind kind, const char* what) {
        if (peek().kind != kind) return wrong(std::string(what) + " is expected");
        ++m_at;
        return {};
    }
    base::Result<std::string> name() {
        if (peek().kind != Token::Kind::Name) return wrong("a name is expected");
        return std::string(m_tokens[m_at++].text);
    }

    /// A type as written, up to a symbol that ends it at this level.
    base::Result<std::string> type() {
        std::string text;
        int depth = 0;
        while (peek().kind == Token::Kind::Name || peek().kind == Token::Kind::Symbol ||
               peek().kind == Token::Kind::String) {
            const std::string_view symbol = peek().text;
            if (depth == 0 && (symbol == "=" || symbol == "," || symbol == ")" || symbol == ":")) break;
            if (symbol == "[" || symbol == "(") ++depth;
            if (symbol == "]" || symbol == ")") --depth;
            text += symbol;
            ++m_at;
        }
        if (text.empty()) return wrong("a type is expected");
        return text;
    }

    base::Result<ClassDef> classDef() {
        ++m_at;
        ClassDef def;
        SONDE_ASSIGN(def.name, name());
        if (take("(")) {
            SONDE_ASSIGN(def.base, type());
            SONDE_TRY(expect(")"));
        }
        SONDE_TRY(expect(":"));
        SONDE_TRY(expectKind(Token::Kind::Newline, "a new line"));
        SONDE_TRY(expectKind(Token::Kind::Indent, "an indented block"));
        while (peek().kind != Token::Kind::Dedent && peek().kind != Token::Kind::End) {
            if (isWord("def")) {
                SONDE_ASSIGN(FunctionDef method, functionDef(true));
                def.methods.push_back(std::move(method));
            } else if (isWord("pass")) {
                ++m_at;
                SONDE_TRY(expectKind(Token::Kind::Newline, "a new line"));
            } else {
                SONDE_TRY(classMember(def));
            }
        }
        if (peek().kind == Token::Kind::Dedent) ++m_at;
        return def;
    }

    base::Result<void> classMember(ClassDef& def) {
        SONDE_ASSIGN(const std::string word, name());
        if (word == "__parameters__" || word == "__buffers__") {
            SONDE_TRY(expect("="));
            SONDE_ASSIGN(const Expression list, expression());
            for (const Expression& item : list.parts)
                (word == "__buffers__" ? def.buffers : def.parameters).push_back(item.text);
            return expectKind(Token::Kind::Newline, "a new line");
        }
        ClassAttribute attribute;
        attribute.name = word;
        if (word == "__annotations__" && take("[")) {
            attribute.name = peek().value;
            SONDE_TRY(expectKind(Token::Kind::String, "a name in quotes"));
            SONDE_TRY(expect("]"));
            SONDE_TRY(expect("="));
            SONDE_ASSIGN(attribute.type, type());
        } else if (take(":")) {
            SONDE_ASSIGN(attribute.type, type());
            attribute.isFinal = attribute.type.starts_with("Final[");
            if (take("=")) {
                SONDE_ASSIGN(attribute.value, expressionList());
            }
        } else {  // __forward_hooks__ = [], an Enum's NAME = value
            SONDE_TRY(expect("="));
            SONDE_ASSIGN(attribute.value, expressionList());
            attribute.isFinal = true;
        }
        def.attributes.push_back(std::move(attribute));
        return expectKind(Token::Kind::Newline, "a new line");
    }

    base::Result<FunctionDef> functionDef(bool isMethod) {
        ++m_at;
        FunctionDef def;
        SONDE_ASSIGN(def.name, name());
        SONDE_TRY(expect("("));
        bool first = true;
        while (!take(")")) {
            if (!take("*")) {
                FunctionParameter parameter;
                SONDE_ASSIGN(parameter.name, name());
                if (take(":")) {
                    SONDE_ASSIGN(parameter.type, type());
                }
                if (take("=")) {
                    parameter.hasDefault = true;
                    SONDE_ASSIGN(parameter.fallback, expression());
                }
                if (isMethod && first) def.self = std::move(parameter.name);
                else def.parameters.push_back(std::move(parameter));
            }
            first = false;
            if (!take(",") && !isSymbol(")")) return wrong("',' is expected");
        }
        if (take("->")) {
            SONDE_ASSIGN(def.result, type());
        }
        SONDE_TRY(expect(":"));
        SONDE_ASSIGN(def.body, block());
        return def;
    }

    base::Result<std::vector<Statement>> block() {
        SONDE_TRY(expectKind(Token::Kind::Newline, "a new line"));
        SONDE_TRY(expectKind(Token::Kind::Indent, "an indented block"));
        if (++m_depth > kMaxSyntaxDepth) return wrong("blocks nest too deeply");
        std::vector<Statement> statements;
        while (peek().kind != Token::Kind::Dedent && peek().kind != Token::Kind::End) {
            if (isWord("with")) {
                SONDE_TRY(withBlock(statements));
                continue;
            }
            SONDE_ASSIGN(Statement one, statement());
            statements.push_back(std::move(one));
        }
        if (peek().kind == Token::Kind::Dedent) ++m_at;
        --m_depth;
        return statements;
    }

    /// Contexts that change no value: those that do are refused when they are entered, and leaving the others does
    /// nothing.
    base::Result<void> withBlock(std::vector<Statement>& statements) {
        ++m_at;
        do {
            Statement entered;
            begin(entered);
            entered.kind = Statement::Kind::With;
            SONDE_ASSIGN(entered.value, expression());
            if (isWord("as")) {
                ++m_at;
                SONDE_ASSIGN(Expression target, expression());
                entered.targets.push_back(std::move(target));
            }
            statements.push_back(std::move(entered));
        } while (take(","));
        SONDE_TRY(expect(":"));
        SONDE_ASSIGN(std::vector<Statement> inside, block());
        for (Statement& one : inside) statements.push_back(std::move(one));
        return {};
    }

    base::Result<Statement> statement() {
        Statement result;
        begin(result);
        if (isWord("if") || isWord("while")) {
            result.kind = isWord("if") ? Statement::Kind::If : Statement::Kind::While;
            ++m_at;
            SONDE_ASSIGN(result.value, expression());
            SONDE_TRY(expect(":"));
            SONDE_ASSIGN(result.body, block());
            if (result.kind == Statement::Kind::If && isWord("else")) {
                ++m_at;
                SONDE_TRY(expect(":"));
                SONDE_ASSIGN(result.orElse, block());
            }
            return result;
        }
        if (isWord("for")) {
            result.kind = Statement::Kind::For;
            ++m_at;
            SONDE_ASSIGN(Expression variable, expression());
            result.targets.push_back(std::move(variable));
            if (!isWord("in")) return wrong("'in' is expected");
            ++m_at;
            SONDE_ASSIGN(result.value, expression());
            SONDE_TRY(expect(":"));
            SONDE_ASSIGN(result.body, block());
            return result;
        }
        if (isWord("pass")) {
            ++m_at;
        } else if (isWord("return")) {
            result.kind = Statement::Kind::Return;
            ++m_at;
            if (peek().kind != Token::Kind::Newline) {
                SONDE_ASSIGN(result.value, expressionList());
            }
        } else {
            SONDE_TRY(assignment(result));
        }
        SONDE_TRY(expectKind(Token::Kind::Newline, "a new line"));
        return result;
    }

    base::Result<void> assignment(Statement& result) {
        SONDE_ASSIGN(Expression first, expression());
        if (!isSymbol("=") && !isSymbol(",") && !isSymbol(":")) {
            result.kind = Statement::Kind::Evaluate;
            result.value = std::move(first);
            return {};
        }
        result.kind = Statement::Kind::Assign;
        result.targets.push_back(std::move(first));
        while (take(",")) {
            result.unpack = true;
            if (isSymbol("=")) break;
            SONDE_ASSIGN(Expression target, expression());
            result.targets.push_back(std::move(target));
        }
        if (take(":")) {
            SONDE_TRY(type());
        }
        SONDE_TRY(expect("="));
        SONDE_ASSIGN(result.value, expressionList());
        return {};
    }

    /// An expression, or several with commas: a tuple.
    base::Result<Expression> expressionList() {
        SONDE_ASSIGN(Expression first, expression());
        if (!isSymbol(",")) return first;
        Expression tuple;
        tuple.kind = Expression::Kind::Tuple;
        tuple.line = first.line;
        tuple.offset = first.offset;
        tuple.parts.push_back(std::move(first));
        while (take(",")) {
            if (peek().kind == Token::Kind::Newline) break;
            SONDE_ASSIGN(Expression item, expression());
            tuple.parts.push_back(std::move(item));
        }
        return tuple;
    }

    base::Result<Expression> expression() {
        if (++m_depth > kMaxSyntaxDepth) return wrong("expressions nest too deeply");
        const int beside = std::exchange(m_height, 0);
        SONDE_ASSIGN(Expression result, primary());
        ++m_height;
        while (isSymbol(".") || isSymbol("(") || isSymbol("[")) {
            const int object = std::exchange(m_height, 0);
            SONDE_ASSIGN(result, trailer(std::move(result)));
            m_height = std::max(object, m_height) + 1;
            if (m_height > kMaxSyntaxDepth) return wrong("expressions nest too deeply");
        }
        m_height = std::max(beside, m_height);
        --m_depth;
        return result;
    }

    base::Result<Expression> trailer(Expression object) {
        Expression result;
        result.line = object.line;
        result.offset = object.offset;
        if (take(".")) {
            result.kind = Expression::Kind::Attribute;
            SONDE_ASSIGN(result.text, name());
            result.parts.push_back(std::move(object));
        } else if (take("[")) {
            result.kind = Expression::Kind::Subscript;
            result.parts.push_back(std::move(object));
            SONDE_TRY(items("]", result.parts, nullptr));
        } else {
            ++m_at;
            result.kind = Expression::Kind::Call;
            result.parts.push_back(std::move(object));
            SONDE_TRY(items(")", result.parts, &result.keywords));
        }
        return result;
    }

    base::Result<void> items(std::string_view close, std::vector<Expression>& into, std::vector<Keyword>* keywords) {
        while (!take(close)) {
            if (keywords && peek().kind == Token::Kind::Name && peek(1).kind == Token::Kind::Symbol &&
                peek(1).text == "=") {
                std::string key(peek().text);
                m_at += 2;
                SONDE_ASSIGN(Expression value, expression());
                keywords->push_back({std::move(key), std::move(value)});
            } else {
                SONDE_ASSIGN(Expression value, expression());
                into.push_back(std::move(value));
            }
            if (!take(",") && !isSymbol(close)) return wrong("'" + std::string(close) + "' is expected");
        }
        return {};
    }

    base::Result<Expression> primary() {
        Expression result;
        begin(result);
        const Token& token = peek();
        switch (token.kind) {
            case Token::Kind::Name: return nameOrWord();
            case Token::Kind::Int:
            case Token::Kind::Float: return numberLiteral();
            case Token::Kind::String:
                result.kind = Expression::Kind::String;
                while (peek().kind == Token::Kind::String) result.text += m_tokens[m_at++].value;
                return result;
            default: break;
        }
        if (take("-")) {
            result.kind = Expression::Kind::Negative;
            SONDE_ASSIGN(Expression operand, expression());
            result.parts.push_back(std::move(operand));
            return result;
        }
        if (take("[")) {
            result.kind = Expression::Kind::List;
            SONDE_TRY(items("]", result.parts, nullptr));
            return result;
        }
        if (take("{")) return dictLiteral();
        if (take("(")) return parenthesised();
        return wrong("an expression is expected");
    }

    base::Result<Expression> dictLiteral() {
        Expression result;
        result.kind = Expression::Kind::Dict;
        begin(result);
        while (!take("}")) {
            SONDE_ASSIGN(Expression key, expression());
            SONDE_TRY(expect(":"));
            SONDE_ASSIGN(Expression value, expression());
            result.parts.push_back(std::move(key));
            result.parts.push_back(std::move(value));
            if (!take(",") && !isSymbol("}")) return wrong("'}' is expected");
        }
        return result;
    }

    base::Result<Expression> parenthesised() {
        Expression tuple;
        tuple.kind = Expression::Kind::Tuple;
        begin(tuple);
        bool comma = false;
        while (!take(")")) {
            SONDE_ASSIGN(Expression item, expression());
            tuple.parts.push_back(std::move(item));
            if (take(",")) comma = true;
            else if (!isSymbol(")")) return wrong("')' is expected");
        }
        if (tuple.parts.size() == 1 && !comma) {
            Expression inner = std::move(tuple.parts.front());
            inner.offset = tuple.offset;
            return inner;
        }
        return tuple;
    }

    base::Result<Expression> nameOrWord() {
        Expression result;
        begin(result);
        const std::string_view word = m_tokens[m_at++].text;
        if (word == "True") result.kind = Expression::Kind::True;
        else if (word == "False") result.kind = Expression::Kind::False;
        else if (word == "None") result.kind = Expression::Kind::None;
        else if (word == "inf" || word == "nan") {
            result.kind = Expression::Kind::Float;
            result.number =
                word == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
        } else {
            result.kind = Expression::Kind::Name;
            result.text = std::string(word);
        }
        return result;
    }

    base::Result<Expression> numberLiteral() {
        Expression result;
        begin(result);
        const std::string_view text = peek().text;
        if (peek().kind == Token::Kind::Int) {
            result.kind = Expression::Kind::Int;
            // 2^63 stands for -2^63 after its minus.
            const auto whole = base::parseNumber<std::uint64_t>(text);
            if (!whole || *whole > std::uint64_t{1} << 63U) return wrong("an integer of more than 64 bits");
            result.integer = static_cast<std::int64_t>(*whole);
        } else {
            result.kind = Expression::Kind::Float;
            result.number = base::parseNumber<double>(text).value_or(0);  // the lexer saw a number: it is out of range
        }
        ++m_at;
        return result;
    }

    std::vector<Token> m_tokens;
    const std::string& m_file;
    std::size_t m_at = 0;
    int m_depth = 0;
    /// Levels of the highest expression that was read inside of the one that is being read: x.a.b.c is read in a loop,
    /// but everything that walks it goes down as many levels as it has trailers.
    int m_height = 0;
};

}  // namespace

base::Result<SourceUnit> parseSource(std::string_view text, const std::string& file) {
    SONDE_ASSIGN(auto tokens, tokenize(text, file));
    return Parser(std::move(tokens), file).run();
}

}  // namespace sonde::io::script
