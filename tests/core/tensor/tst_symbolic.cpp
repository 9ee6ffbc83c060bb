#include <QtTest>

#include "core/tensor/symbolic.h"

namespace tst_symbolic {

using namespace sonde::tensor;

namespace {

QString text(const char* expression) { return QString::fromStdString(Symbolic::parse(expression).text()); }
Symbolic number(std::int64_t value) { return Symbolic::of(value); }

}  // namespace

/// Expected texts were worked by hand.
class TestSymbolic : public QObject {
    Q_OBJECT

  private slots:
    void equalExpressionsHaveEqualTexts_data() {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("canonical");
        const auto row = [](const char* source, const char* canonical) {
            QTest::newRow(source) << QString(source) << QString(canonical);
        };
        row("N", "N");
        row("(N+1)*2", "2*N+2");
        row("W*H*3", "3*H*W");
        row("1+N-1", "N");
        row("N-N", "0");
        row("1-N", "-N+1");
        row("(H-1)//2+1", "(H+1)//2");
        row("((H+1)//2-1)//2+1", "(H+3)//4");
        row("(4*H)//2", "2*H");
        row("(4*H+3)//2", "2*H+1");
        row("H//2*2", "2*(H//2)");
        row("3*((H+1)//2)", "3*((H+1)//2)");
        row("(N*H*W)//(H*N)", "W");
        row("(N*N-1)//(N-1)", "N+1");
        row("H//W", "H//W");
        row("(2*H)//(3*W)", "(2*H)//(3*W)");
        row("(6*N+4)%2", "0");
        row("(N+5)%3", "(N+2)%3");
        row("max(N,0)", "N");
        row("max(N,N+1)", "N+1");
        row("max(T-1,0)", "T-1");
        row("max(T-2,0)", "max(T-2,0)");
        row("min(1,N)", "1");
        row("min(64,T)", "min(T,64)");
        row("max(T,min(T,64))", "T");
        row("max(min(T,64),0)", "min(T,64)");
        row("max(max(min(T,64),0),T)", "T");
        row("min(max(T-2,5),0)", "0");
        row("max((T+1)//2*H,-3)", "((T+1)//2)*H");
        row("max(T%4,0)", "T%4");
        row("max((T-9)//2,0)", "max((T+1)//2-5,0)");
        row("max(min(T,U-9),0)", "max(min(T,U-9),0)");
        row("max(M,N)", "max(M,N)");
        row("max(N,M)", "max(M,N)");
        row("s0 + 1", "s0+1");
        row("((s0 - 1)//2) + 1", "(s0+1)//2");
        row("2*'batch size'", "2*'batch size'");
        row("p2o.Dynamic.0*2", "2*p2o.Dynamic.0");
        row("batch size", "'batch size'");
        row("floor(H/2)", "'floor(H/2)'");
    }
    void equalExpressionsHaveEqualTexts() {
        QFETCH(QString, source);
        QFETCH(QString, canonical);
        const std::string once = Symbolic::parse(source.toStdString()).text();
        QCOMPARE(QString::fromStdString(once), canonical);
        QCOMPARE(Symbolic::parse(once).text(), once);  // the text is read back as what it is
    }

    void numbersTakeThePlaceOfSymbols() {
        const auto bind = [](std::string_view name) -> std::optional<std::int64_t> {
            if (name == "H") return 225;
            if (name == "batch size") return 3;
            return std::nullopt;
        };
        QCOMPARE(Symbolic::parse("(H+31)//32").bound(bind).constant(), std::optional<std::int64_t>(8));
        QCOMPARE((Symbolic::of(Dim::named("batch size")) * number(4)).bound(bind).constant(),
                 std::optional<std::int64_t>(12));
        QVERIFY(!Symbolic::parse("H*W").bound(bind).known());
    }

    void dimSizesAreNumbersOrNames() {
        QCOMPARE((Symbolic::of(Dim::named("N")) * number(2)).dim().symbol, std::string("2*N"));
        QCOMPARE((number(3) * number(4)).dim(), Dim::of(12));
        QCOMPARE(number(-1).dim(), Dim{});
        QCOMPARE(Symbolic().dim(), Dim{});
        QCOMPARE(Symbolic::of(Dim::named("batch size")).dim().symbol, std::string("batch size"));
        QVERIFY(!Symbolic::of(Dim{}).known());
    }

    void fractionsAreRoundedDownOnlyWhenAsked() {
        const Symbolic h = Symbolic::parse("H");
        QCOMPARE(floor(h * Symbolic::of(0.5)).text(), std::string("H//2"));
        QCOMPARE((h * Symbolic::of(0.5) * number(2)).text(), std::string("H"));
        QCOMPARE((h * Symbolic::of(0.5)).dim(), Dim{});
        QCOMPARE(floor(h * Symbolic::of(1.5)).text(), std::string("H+H//2"));
        QCOMPARE(floor(number(10) * Symbolic::of(static_cast<double>(0.1F))).constant(),
                 std::optional<std::int64_t>(1));
        QVERIFY(!Symbolic::of(3.14159).known());
        QCOMPARE(ceilDiv(h, number(4)).text(), std::string("(H+3)//4"));
    }

    void whatGrowsTooLargeIsUnknown() {
        Symbolic sum = Symbolic::parse("a");
        for (char c = 'b'; c <= 'z'; ++c) sum = sum + Symbolic::parse(std::string(1, c));
        QVERIFY(!sum.known());
        Symbolic power = Symbolic::parse("a");
        for (int i = 0; i < 10; ++i) power = power * power;
        QVERIFY(!power.known());
        QVERIFY(!(number(INT64_MAX) * number(2)).known());
        QVERIFY(!(number(INT64_MAX) + number(1)).known());
        QVERIFY(!floorDiv(number(1), number(0)).known());
        QVERIFY(!(number(1) / number(0)).known());
        QCOMPARE(text("9223372036854775808"), QString("'9223372036854775808'"));
        const std::string deep(100'000, '(');
        QVERIFY(!Symbolic::parse(deep).known());
        QCOMPARE(text("-7//2"), QString("-4"));
    }
};

QTEST_APPLESS_MAIN(TestSymbolic)

}  // namespace tst_symbolic

#include "tst_symbolic.moc"
