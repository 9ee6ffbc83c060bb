// Sums of symbolic numbers, by hand.

#include <QtTest>

#include "core/tensor/symbolic_sum.h"

namespace tst_symbolic_sum {

using namespace sonde;
using tensor::Symbolic;
using tensor::SymbolicSum;

class TestSymbolicSum : public QObject {
    Q_OBJECT

  private slots:
    void equalTermsAreOne_data();
    void equalTermsAreOne();
    void sumsMayHaveMoreTermsThanADimension();
    void boundSumsAreNumbers();
    void whatIsUnknownStaysUnknown();
};

void TestSymbolicSum::equalTermsAreOne_data() {
    QTest::addColumn<QStringList>("terms");
    QTest::addColumn<QString>("text");
    QTest::newRow("nothing") << QStringList{} << "0";
    QTest::newRow("numbers") << QStringList{"3", "4"} << "7";
    QTest::newRow("a symbol") << QStringList{"N*64", "N"} << "65*N";
    QTest::newRow("larger first, the number last") << QStringList{"2*N+5", "9*H*N-3"} << "9*H*N+2*N+2";
    QTest::newRow("gone again") << QStringList{"H*N+1", "-H*N"} << "1";
    QTest::newRow("a floor division alone and as a factor") << QStringList{"H//2", "3*(H//2)"} << "4*(H//2)";
    QTest::newRow("odd names") << QStringList{"2*'a+b'", "'a+b'"} << "3*'a+b'";
    QTest::newRow("negative") << QStringList{"-N", "N*H"} << "H*N-N";
}

void TestSymbolicSum::equalTermsAreOne() {
    QFETCH(QStringList, terms);
    SymbolicSum sum;
    for (const QString& term : terms) QVERIFY(sum.add(Symbolic::parse(term.toStdString())));
    QTEST(QString::fromStdString(sum.text()), "text");
    // In any order.
    SymbolicSum other;
    for (auto term = terms.rbegin(); term != terms.rend(); ++term)
        other.add(SymbolicSum(Symbolic::parse(term->toStdString())));
    QVERIFY(other == sum);
}

/// A Symbolic has at most 12 terms.
void TestSymbolicSum::sumsMayHaveMoreTermsThanADimension() {
    SymbolicSum sum;
    for (int i = 0; i < 100; ++i)
        QVERIFY(sum.add(Symbolic::parse("s" + std::to_string(i % 50)) * Symbolic::of(i / 50 + 1.0)));
    QVERIFY(sum.known());
    QVERIFY(!sum.constant());
    QCOMPARE(sum.bound([](std::string_view) { return std::optional(std::int64_t{7}); }),
             std::optional(std::int64_t{7 * 150}));
}

void TestSymbolicSum::boundSumsAreNumbers() {
    SymbolicSum sum;
    sum.add(Symbolic::parse("3*N*((H+1)//2)"));
    sum.add(Symbolic::parse("N+10"));
    const auto value = [](std::string_view symbol) -> std::optional<std::int64_t> {
        if (symbol == "N") return 2;
        if (symbol == "H") return 7;
        return std::nullopt;
    };
    QCOMPARE(sum.bound(value), std::optional(std::int64_t{3 * 2 * 4 + 2 + 10}));
    sum.add(Symbolic::parse("W"));
    QVERIFY(!sum.bound(value));
}

void TestSymbolicSum::whatIsUnknownStaysUnknown() {
    SymbolicSum sum(Symbolic::parse("N"));
    QVERIFY(!sum.add(Symbolic()));
    QVERIFY(!sum.add(Symbolic::of(std::int64_t{1})));
    QCOMPARE(sum.text(), std::string("?"));
    SymbolicSum large(Symbolic::of(INT64_MAX));
    QVERIFY(!large.add(Symbolic::of(std::int64_t{1})));
    QVERIFY(!large.constant());
}

QTEST_APPLESS_MAIN(TestSymbolicSum)

}  // namespace tst_symbolic_sum

#include "tst_symbolic_sum.moc"
