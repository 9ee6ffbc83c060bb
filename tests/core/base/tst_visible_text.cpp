#include <QtTest>

#include "core/base/visible_text.h"

using namespace sonde;

class TestVisibleText : public QObject {
    Q_OBJECT

  private slots:
    void controlCharactersAreWritten() {
        QCOMPARE(base::visibleText("conv1"), std::string("conv1"));
        QCOMPARE(base::visibleText("a\nb\tc\r"), std::string("a\\nb\\tc\\r"));
        QCOMPARE(base::visibleText(std::string_view("n\0ul\x1b\x7f", 6)), std::string("n\\x00ul\\x1b\\x7f"));
        QCOMPARE(base::visibleText("größe"), std::string("größe"));
    }
};

QTEST_GUILESS_MAIN(TestVisibleText)
#include "tst_visible_text.moc"
