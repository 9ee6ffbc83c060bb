#include <QtTest>

#include <stdexcept>

#include "core/base/exception_text.h"
#include "core/base/visible_text.h"

namespace tst_visible_text {

using namespace sonde;

class TestVisibleText : public QObject {
    Q_OBJECT

  private slots:
    void controlCharactersAreWritten() {
        QCOMPARE(base::visibleText("conv1"), std::string("conv1"));
        QCOMPARE(base::visibleText("a\nb\tc\r"), std::string("a\\nb\\tc\\r"));
        QCOMPARE(base::visibleText(std::string_view("n\0ul\x1b\x7f", 6)), std::string("n\\x00ul\\x1b\\x7f"));
        QCOMPARE(base::visibleText("größe"), std::string("größe"));
        QCOMPARE(base::visibleText("a\xef\xbf\xbez"), std::string("a\\xef\\xbf\\xbez"));  // U+FFFE, no character
        QCOMPARE(base::visibleText("a\xc2\x85z"), std::string("a\\xc2\\x85z"));           // U+0085, next line
    }

    void bytesThatAreNotUtf8AreWritten() {
        QCOMPARE(base::visibleText("\xff\xfe ok"), std::string("\\xff\\xfe ok"));
        QCOMPARE(base::visibleText("gr\xc3"), std::string("gr\\xc3"));
    }

    void exceptionsWithoutAMessage() {
        struct Speechless : std::exception {
            const char* what() const noexcept override { return nullptr; }
        };
        QCOMPARE(base::exceptionText(Speechless()), std::string("exception without a message"));
        QCOMPARE(base::exceptionText(Speechless(), {}), std::string());
        QCOMPARE(base::exceptionText(std::runtime_error("")), std::string("exception without a message"));
        QCOMPARE(base::exceptionText(std::runtime_error("a\nb")), std::string("a\\nb"));
    }

    void longMessagesAreCut() {
        const std::string longest(base::kMaxThrownText, 'x');
        QCOMPARE(base::exceptionText(std::runtime_error(longest)), longest);
        QCOMPARE(base::exceptionText(std::runtime_error(std::string(200'000, 'x'))),
                 longest + " … (196000 of 200000 bytes are left out)");
        // No code point is divided: 4,000 bytes end inside of one of three.
        const QByteArray wide = QByteArray("…").repeated(2000);
        QCOMPARE(base::thrownText(wide.toStdString()),
                 wide.left(3999).toStdString() + " … (2001 of 6000 bytes are left out)");
    }
};

QTEST_GUILESS_MAIN(TestVisibleText)

}  // namespace tst_visible_text

#include "tst_visible_text.moc"
