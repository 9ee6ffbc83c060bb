#pragma once

#include <QHash>
#include <QRegularExpression>
#include <QSet>
#include <QString>
#include <QStringList>

// Which test functions of a file can fail: a look at source text, for tests/tst_tree.cpp.

namespace sonde::test {

/// Whether the ' at `at` stands between the digits of a number.
inline bool separatesDigits(const QString& text, qsizetype at) {
    qsizetype begin = at;
    while (begin > 0 && (text[begin - 1].isLetterOrNumber() || text[begin - 1] == u'\'')) --begin;
    return begin < at && text[begin].isDigit();
}

/// C++ without its comments, and with nothing inside literals.
inline QString codeOnly(const QString& text) {
    QString code;
    code.reserve(text.size());
    const auto skipTo = [&](qsizetype from, const QString& end) {
        const qsizetype at = text.indexOf(end, from);
        return at < 0 ? text.size() : at + end.size();
    };
    for (qsizetype i = 0; i < text.size();) {
        const QChar c = text[i];
        const auto two = QStringView(text).mid(i, 2);
        if (two == u"//") {
            i = text.indexOf(u'\n', i) < 0 ? text.size() : text.indexOf(u'\n', i);
        } else if (two == u"/*") {
            i = skipTo(i + 2, QStringLiteral("*/"));
        } else if (two == u"R\"") {
            const qsizetype open = text.indexOf(u'(', i);
            i = skipTo(open, u')' + text.mid(i + 2, open - i - 2) + u'"');
            code += QStringLiteral("\"\"");
        } else if (c == u'"' || (c == u'\'' && !separatesDigits(text, i))) {
            for (++i; i < text.size() && text[i] != c && text[i] != u'\n'; ++i)
                if (text[i] == u'\\') ++i;
            ++i;
            code += QStringLiteral("\"\"");
        } else {
            code += c;
            ++i;
        }
    }
    return code;
}

/// Behind the bracket that closes the one at `open`; the end of the text if none does.
inline qsizetype behindBrackets(const QString& code, qsizetype open) {
    const QChar one = code[open], other = one == u'(' ? u')' : one == u'[' ? u']' : u'}';
    int depth = 0;
    for (qsizetype i = open; i < code.size(); ++i) {
        if (code[i] == one) ++depth;
        if (code[i] == other && --depth == 0) return i + 1;
    }
    return code.size();
}

/// Bodies of functions, named lambdas and macros, by name; functions of one name together.
inline QHash<QString, QStringList> bodiesOf(const QString& code) {
    static const QRegularExpression head(QStringLiteral(R"((\w+)\s*\()")), lambda(QStringLiteral(R"((\w+)\s*=\s*\[)")),
        macro(QStringLiteral(R"(#\s*define\s+(\w+)\([^)]*\)((?:[^\n]*\\\n)*[^\n]*))")),
        tail(QStringLiteral(R"(\G\s*(?:(?:const|noexcept|override|final)\b\s*)*(?:->[^{};]*)?\{)"));
    static const QSet<QString> words{"if", "for", "while", "switch", "catch"};
    QHash<QString, QStringList> bodies;
    for (auto all = head.globalMatch(code); all.hasNext();) {
        const QRegularExpressionMatch match = all.next();
        if (words.contains(match.captured(1))) continue;
        const auto opens = tail.match(code, behindBrackets(code, match.capturedEnd() - 1));
        if (!opens.hasMatch()) continue;
        const qsizetype from = opens.capturedEnd() - 1;
        bodies[match.captured(1)] << code.mid(from, behindBrackets(code, from) - from);
    }
    for (auto all = lambda.globalMatch(code); all.hasNext();) {
        const QRegularExpressionMatch match = all.next();
        const qsizetype from = code.indexOf(u'{', behindBrackets(code, match.capturedEnd() - 1));
        if (from >= 0) bodies[match.captured(1)] << code.mid(from, behindBrackets(code, from) - from);
    }
    for (auto all = macro.globalMatch(code); all.hasNext();) {
        const QRegularExpressionMatch match = all.next();
        bodies[match.captured(1)] << match.captured(2);
    }
    return bodies;
}

/// The private slots that Qt Test runs as tests.
inline QStringList testFunctionsOf(const QString& code) {
    static const QRegularExpression section(QStringLiteral(R"(private\s+(?:slots|Q_SLOTS)\s*:)")),
        next(QStringLiteral(R"(\G(?:private|protected|public)\b[\w\s]*:)")),
        slot(QStringLiteral(R"(\bvoid\s+(\w+)\s*\(\s*\))"));
    static const QSet<QString> around{"initTestCase", "cleanupTestCase", "init", "cleanup"};
    QStringList functions;
    for (auto all = section.globalMatch(code); all.hasNext();) {
        QString declarations;  // without bodies
        for (qsizetype i = all.next().capturedEnd(); i < code.size() && code[i] != u'}';) {
            if (next.match(code, i).hasMatch()) break;
            if (code[i] == u'{') {
                i = behindBrackets(code, i);
                declarations += u';';
            } else {
                declarations += code[i++];
            }
        }
        for (auto found = slot.globalMatch(declarations); found.hasNext();) {
            const QString name = found.next().captured(1);
            if (!around.contains(name) && !name.endsWith(QStringLiteral("_data"))) functions << name;
        }
    }
    return functions;
}

/// The test functions of `text` that contain no assertion of Qt Test and call nothing that does: no function of this
/// file or of `included`, the texts of the test headers that it includes. Methods count if this file defines them.
inline QStringList functionsThatAssertNothing(const QString& text, const QStringList& included = {}) {
    static const QRegularExpression assertion(QStringLiteral(R"(\bQ(?:COMPARE|VERIFY|TRY_|FAIL|TEST\s*\())")),
        call(QStringLiteral(R"((\.|->)?\b(\w+)\s*(?:<[^<>;(){}]*>)?\s*\()"));
    const QString code = codeOnly(text);
    const QHash<QString, QStringList> own = bodiesOf(code);
    QHash<QString, QStringList> bodies = own;
    for (const QString& header : included) {
        const QHash<QString, QStringList> others = bodiesOf(codeOnly(header));
        for (auto it = others.cbegin(); it != others.cend(); ++it) bodies[it.key()] << it.value();
    }
    QSet<QString> asserting;
    QHash<QString, QSet<QString>> calls;
    for (auto it = bodies.cbegin(); it != bodies.cend(); ++it) {
        const QString all = it.value().join(u'\n');
        if (assertion.match(all).hasMatch()) asserting << it.key();
        for (auto found = call.globalMatch(all); found.hasNext();) {
            const QRegularExpressionMatch match = found.next();
            if (match.captured(1).isEmpty() || own.contains(match.captured(2))) calls[it.key()] << match.captured(2);
        }
    }
    for (bool grows = true; grows;) {
        grows = false;
        for (auto it = calls.cbegin(); it != calls.cend(); ++it) {
            if (asserting.contains(it.key()) || !it.value().intersects(asserting)) continue;
            asserting << it.key();
            grows = true;
        }
    }
    QStringList silent = testFunctionsOf(code);
    silent.removeIf([&](const QString& name) { return asserting.contains(name); });
    return silent;
}

}  // namespace sonde::test
