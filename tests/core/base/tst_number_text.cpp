// Numbers as text and back, whatever the process' locale.

#include <QtTest>

#include <clocale>
#include <cstdio>
#include <limits>

#include "core/base/number_text.h"

namespace tst_number_text {

using namespace sonde;

class TestNumberText : public QObject {
    Q_OBJECT

  private slots:
    /// Printed by printf in the C locale.
    void roundsAsPrintf_data() {
        QTest::addColumn<double>("value");
        QTest::addColumn<int>("digits");
        QTest::newRow("third") << 1.0 / 3 << 6;
        QTest::newRow("large") << 123456789.0 << 6;
        QTest::newRow("hundred thousand") << 1e5 << 6;
        QTest::newRow("million") << 1e6 << 6;
        QTest::newRow("small") << 1e-5 << 7;
        QTest::newRow("negative") << -0.00012345678 << 4;
        QTest::newRow("17 digits") << 0.1 << 17;
        QTest::newRow("largest") << std::numeric_limits<double>::max() << 17;
        QTest::newRow("zero") << -0.0 << 6;
        QTest::newRow("inf") << -std::numeric_limits<double>::infinity() << 6;
        QTest::newRow("nan") << std::numeric_limits<double>::quiet_NaN() << 6;
    }
    void roundsAsPrintf() {
        QFETCH(double, value);
        QFETCH(int, digits);
        char expected[64];
        std::snprintf(expected, sizeof expected, "%.*g", digits, value);
        QCOMPARE(base::roundedText(value, digits), std::string(expected));
    }

    /// The shortest that Python's repr() and numpy's float32 print, but for their ".0".
    void shortestReadsBack() {
        QCOMPARE(base::shortestText(0.1), std::string("0.1"));
        QCOMPARE(base::shortestText(0.1F), std::string("0.1"));
        QCOMPARE(base::shortestText(0.1 + 0.2), std::string("0.30000000000000004"));
        QCOMPARE(base::shortestText(16777216.0F), std::string("16777216"));
        QCOMPARE(base::shortestText(5e-324), std::string("5e-324"));
    }

    void exactTextTakesTheUsualDigits() {
        QCOMPARE(base::exactText(100000), std::string("100000"));
        QCOMPARE(base::exactText(0.1), std::string("0.1"));
        QCOMPARE(base::exactText(1234567.0), std::string("1234567"));
        QCOMPARE(base::exactText(0.1 + 0.2), std::string("0.30000000000000004"));
        QCOMPARE(base::exactText(std::numeric_limits<double>::infinity()), std::string("inf"));
        QCOMPARE(base::exactText(std::numeric_limits<double>::quiet_NaN()), std::string("nan"));
    }

    void wholeTextsAreNumbers() {
        QCOMPARE(base::parseNumber<int>("-12"), std::optional(-12));
        QCOMPARE(base::parseNumber<std::uint64_t>("18446744073709551615"),
                 std::optional(std::numeric_limits<std::uint64_t>::max()));
        QCOMPARE(base::parseNumber<double>("1e-3"), std::optional(0.001));
        QCOMPARE(base::parseNumber<double>("-INF"), std::optional(-std::numeric_limits<double>::infinity()));
        for (const char* text : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x10", "--1", "12a", "2147483648"})
            QVERIFY2(!base::parseNumber<int>(text), text);
        for (const char* text : {"", "-", ".", "1,5", "+1", "1e", "1e999", "0x10", "1.5 "})
            QVERIFY2(!base::parseNumber<double>(text), text);
        QVERIFY(!base::parseNumber<std::uint32_t>("-1"));
    }

    void beginningsAreTaken() {
        std::string_view text = "64x32";
        QCOMPARE(base::takeNumber<std::int64_t>(text), std::optional(std::int64_t{64}));
        QCOMPARE(text, std::string_view("x32"));
        QVERIFY(!base::takeNumber<std::int64_t>(text) && text == "x32");
        text = "1.5e3k";
        QCOMPARE(base::takeNumber<double>(text), std::optional(1500.0));
        QCOMPARE(text, std::string_view("k"));
    }

    /// Under a locale with a decimal comma printf and strtod are of no use; where none is installed this holds
    /// trivially.
    void localeDoesNotMatter() {
        const QByteArray before = std::setlocale(LC_ALL, nullptr);
        for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"}) {
            std::setlocale(LC_ALL, locale);
            QCOMPARE(base::exactText(0.5), std::string("0.5"));
            QCOMPARE(base::roundedText(0.5, 3), std::string("0.5"));
            QCOMPARE(base::parseNumber<double>("0.5"), std::optional(0.5));
        }
        std::setlocale(LC_ALL, before);
    }
};

QTEST_APPLESS_MAIN(TestNumberText)

}  // namespace tst_number_text

#include "tst_number_text.moc"
