// Text that is shortened where there is no room never shows a part of a number.

#include <QRegularExpression>
#include <QTest>

#include "ui/theme/elided_text.h"

namespace tst_elided_text {

using namespace sonde;

namespace {

/// Every character is one wide.
double letters(QStringView text) { return static_cast<double>(text.size()); }

}  // namespace

class TestElidedText : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void numbersAreWholeOrAbsent_data();
    void numbersAreWholeOrAbsent();
    void noWidthCutsANumber_data();
    void noWidthCutsANumber();
    void longNamesEndSoon();
};

void TestElidedText::numbersAreWholeOrAbsent_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("mode");
    QTest::addColumn<int>("room");
    QTest::addColumn<QString>("shown");
    const auto row = [](const char* name, const char* text, Qt::TextElideMode mode, int room, const char* shown) {
        QTest::newRow(name) << QString::fromUtf8(text) << static_cast<int>(mode) << room << QString::fromUtf8(shown);
    };
    row("fits", "parameters 714,996", Qt::ElideMiddle, 18, "parameters 714,996");
    row("groups", "parameters 714,996", Qt::ElideMiddle, 15, "paramet…714,996");
    row("groups without room", "parameters 714,996", Qt::ElideMiddle, 8, "paramet…");
    row("sizes", "float32[256,1024]", Qt::ElideMiddle, 15, "float32[…,1024]");
    row("exponent", "9.0072e+15", Qt::ElideRight, 9, "…");
    row("negative", "min -2.5", Qt::ElideRight, 7, "min …");
    row("words", "encoder layer", Qt::ElideRight, 9, "encoder …");
    row("beginning", "at 12345 words", Qt::ElideLeft, 9, "… words");
    row("one number", "9007199254740993", Qt::ElideMiddle, 8, "…");
    row("no room", "text", Qt::ElideMiddle, 0, "…");
}

void TestElidedText::numbersAreWholeOrAbsent() {
    QFETCH(QString, text);
    QFETCH(int, mode);
    QFETCH(int, room);
    QFETCH(QString, shown);
    QCOMPARE(theme::elidedText(text, static_cast<Qt::TextElideMode>(mode), room, letters), shown);
}

void TestElidedText::noWidthCutsANumber_data() {
    QTest::addColumn<QString>("text");
    for (const char* text : {"parameters 714,996  ·  memory 134.5 MiB", "-1.5e-07 … 9.0072e+15",
                             "float16[1,64,256,1024]", "0.001 s, 12,345,678", "conv12 of layer3.0"})
        QTest::newRow(text) << QString::fromUtf8(text);
}

/// Whatever the width and the mode, each number that is shown is one of the text.
void TestElidedText::noWidthCutsANumber() {
    QFETCH(QString, text);
    static const QRegularExpression number(
        QStringLiteral("[-+]?\\d{1,3}(,\\d{3})+(?!\\d)|[-+]?\\d+(\\.\\d+)?(e[-+]?\\d+)?"));
    const auto numbersOf = [](const QString& of) {
        QStringList found;
        for (auto each = number.globalMatch(of); each.hasNext();) found << each.next().captured();
        return found;
    };
    const QStringList whole = numbersOf(text);
    for (const Qt::TextElideMode mode : {Qt::ElideLeft, Qt::ElideMiddle, Qt::ElideRight}) {
        for (int room = 1; room < text.size(); ++room) {
            const QString shown = theme::elidedText(text, mode, room, letters);
            QVERIFY2(shown.size() <= room && shown.contains(QChar(0x2026)), qPrintable(shown));
            for (const QString& each : numbersOf(shown)) QVERIFY2(whole.contains(each), qPrintable(shown));
        }
    }
}

/// What could never fit is not measured.
void TestElidedText::longNamesEndSoon() {
    const QString name = QString(1'000'000, u'a') + QString(1'000'000, u'b');
    qsizetype measured = 0;
    const QString shown = theme::elidedText(name, Qt::ElideMiddle, 21, [&measured](QStringView part) {
        measured += part.size();
        return letters(part);
    });
    QCOMPARE(shown, QString(10, u'a') + QChar(0x2026) + QString(10, u'b'));
    QVERIFY(measured < 200'000);
}

QTEST_APPLESS_MAIN(TestElidedText)

}  // namespace tst_elided_text

#include "tst_elided_text.moc"
