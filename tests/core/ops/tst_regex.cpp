// Regular expressions of operators and queries: RE2's syntax (https://github.com/google/re2/wiki/Syntax), in linear
// time.

#include <QtTest>

#include <unistd.h>

#include "core/ops/support/regex.h"

namespace tst_regex {

using namespace sonde;

class TestRegex : public QObject {
    Q_OBJECT

  private slots:
    void fullMatches_data() {
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<QStringList>("matching");
        QTest::addColumn<QStringList>("others");
        const auto row = [](const char* pattern, const QStringList& matching, const QStringList& others) {
            QTest::newRow(pattern) << QString::fromUtf8(pattern) << matching << others;
        };
        row("", {""}, {"a"});
        row("a|b*|", {"a", "", "bb"}, {"ab", "c"});
        row("[a-z]+@(?:\\w+\\.)+(com|org)", {"me@a.com", "you@x.y.org"}, {"me@com", "me@a.como"});
        row("^a$", {"a"}, {"aa", "a\n"});
        row("a.c", {"abc", "aäc", "a€c"}, {"a\nc", "ac", "abbc"});
        row("(?s)a.c", {"a\nc"}, {"ac"});
        row("(?i)straße[Ä-Ü]", {"STRAßEÄ", "straßeö"}, {"strasseä"});
        row("(?i:a)b", {"ab", "Ab"}, {"AB"});
        row("a{2,3}b{2}c{1,}", {"aabbc", "aaabbccc"}, {"abbc", "aaaabbc", "aabc"});
        row("a{,2}", {"a{,2}"}, {"aa"});
        row("[^x-z]*?", {"", "abc"}, {"axc"});
        row("[]a-]+", {"]-a"}, {"b"});
        row("[[:alpha:]_\\d]+", {"aZ_9"}, {"a b"});
        row("[\\D]", {"a", "é"}, {"7"});
        row("\\x41\\x{20AC}\\101\\.\\t", {"A€A.\t"}, {"A€AX\t"});
        row("\\Qa.b*\\E+", {"a.b*", "a.b**"}, {"aXb"});
        row("(?P<year>\\d{4})-(?P<month>\\d\\d)", {"2024-05"}, {"24-05"});
        row("\\pN+\\p{Greek}\\PL", {"1²Ⅳα7"}, {"1²Ⅳa7", "αα7"});
        row("[\\p{Lu}é]+", {"ÀЖé"}, {"àЖ"});
        row("(?U)a+?b", {"aab"}, {"b"});
        row("\\bfoo\\b.*", {"foo", "foo bar"}, {"foobar"});
        row("(a*)*b", {"b", "aaab"}, {"aaa"});
        row("(|a)+", {"", "aaa"}, {"b"});
        row("\\A\\S+\\s\\W\\z", {"ab !"}, {"ab a"});
        row("(?m)a$\\nb", {"a\nb"}, {"ab"});
    }
    void fullMatches() {
        QFETCH(QString, pattern);
        QFETCH(QStringList, matching);
        QFETCH(QStringList, others);
        const auto regex = ops::Regex::parse(pattern.toStdString());
        QVERIFY2(regex.has_value(), regex ? "" : regex.error().text().c_str());
        for (const QString& text : matching) QVERIFY2(regex->matchesAll(text.toStdString()), qPrintable(text));
        for (const QString& text : others) QVERIFY2(!regex->matchesAll(text.toStdString()), qPrintable(text));
    }

    void wrongPatternsAreTold() {
        // clang-format off
        for (const char* pattern : {"(", ")", "a)", "[a", "[b-a]", "*a", "a**", "a{2,1}", "a{1001}", "\\", "\\p", "\\p{Foo}", "\\1", "(?=a)", "(?P<>a)", "(?<month>a)", "[[:foo:]]", "\\x{110000}", "((((a{1000}){1000}){1000}))", "((((){1000}){1000}){1000})", "\\pL{1000}"}) {
            const auto regex = ops::Regex::parse(pattern);
            QVERIFY2(!regex, pattern);
            QVERIFY2(regex.error().what.starts_with("invalid regular expression: "), regex.error().text().c_str());
        }
        // clang-format on
        const auto deep = ops::Regex::parse(std::string(100'000, '('));
        QVERIFY(!deep && deep.error().what.size() < 200);
    }

    /// What takes other matchers for ever, or their stack.
    void longTextsEnd() {
        const std::string text(1'000'000, 'a');
        QVERIFY(ops::Regex::parse(".*")->matchesAll(text));
        QVERIFY(!ops::Regex::parse("(a*)*b")->matchesAll(text));
        QVERIFY(!ops::Regex::parse("(a|aa)+$b")->matchesAll(text));
        QVERIFY(ops::Regex::parse("(?:a?){100}")->maxTextSize() > 100'000);
        // Two to the power of 900 states: text that may be matched so has to be short.
        QVERIFY(ops::Regex::parse("(?:a|b)*a(?:a|b){900}")->maxTextSize() < text.size());
    }

    /// A byte that is no UTF-8 is no character: neither '.' nor a negated class takes it.
    void invalidUtf8IsNoCharacter() {
        QVERIFY(!ops::Regex::parse(".{3}")->matchesAll("\xff\xc3("));
        QVERIFY(!ops::Regex::parse("[^b]")->matchesAll("\xff"));
        QVERIFY(!ops::Regex::parse("a")->matchesAll("\xc3"));
        QVERIFY(ops::Regex::parse("\\($")->matchesPart("\xff\xc3("));
    }

    void partsMatch() {
        const auto regex = ops::Regex::parse("b+c$");
        QVERIFY(regex->matchesPart("abbc") && !regex->matchesAll("abbc"));
        QVERIFY(!regex->matchesPart("abbcd") && regex->matchesAll("bc"));
    }

    /// Unicode's simple case folding: K is also the Kelvin sign, ς and σ are Σ.
    void caseMayBeIgnored() {
        QVERIFY(ops::Regex::parse("größe", ops::Case::Ignored)->matchesAll("GRÖßE"));
        QVERIFY(ops::Regex::parse("k[α-ω]ж", ops::Case::Ignored)->matchesAll("\u212aΣЖ"));
        QVERIFY(!ops::Regex::parse("größe")->matchesAll("Größe"));
    }

    void nothingIsWrittenToStandardError() {
        QTemporaryFile file;
        QVERIFY(file.open());
        const int kept = dup(STDERR_FILENO);
        dup2(file.handle(), STDERR_FILENO);
        QVERIFY(!ops::Regex::parse("(") && !ops::Regex::parse("a{1001}"));
        dup2(kept, STDERR_FILENO);
        close(kept);
        QCOMPARE(file.size(), 0);
    }
};

QTEST_APPLESS_MAIN(TestRegex)

}  // namespace tst_regex

#include "tst_regex.moc"
