// Where the banner's button stands: beside the words, in a narrow window below them.

#include <QLabel>
#include <QPushButton>
#include <QtTest>

#include "ui/widgets/banner.h"

namespace tst_banner {

using sonde::widgets::Banner;

class TestBanner : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theButtonMakesRoomForTheWords();
    void aQuestionIsReadWhole();
    void aShortErrorIsReadWhole();
};

void TestBanner::theButtonMakesRoomForTheWords() {
    Banner banner;
    banner.showMessage(Banner::Severity::Warning,
                       QStringLiteral("own.so is a shared library: opening it runs its code with your rights."), {},
                       QStringLiteral("Run Its Code"));
    auto* button = banner.findChild<QPushButton*>();
    const auto text = [&banner]() -> QLabel* {
        for (QLabel* label : banner.findChildren<QLabel*>())
            if (label->text().startsWith(QStringLiteral("own.so"))) return label;
        return nullptr;
    };
    for (const int width : {800, 360, 800}) {
        banner.resize(width, 160);
        QVERIFY(QTest::qWaitForWindowExposed(&banner));
        QCoreApplication::processEvents();
        QVERIFY(text());
        const bool isBelow = button->y() > text()->geometry().bottom();
        QCOMPARE(isBelow, width == 360);
        QCOMPARE(button->x() > text()->geometry().right(), width == 800);
    }
}

/// Of the question before native code runs the last words count; a note may be cut.
void TestBanner::aQuestionIsReadWhole() {
    const QString hint = QStringLiteral(
        "Agree only if you know where it comes from. Sonde remembers this for exactly this content (SHA-256 "
        "0123456789abcdef…) and asks again if the file changes.");
    for (const bool isQuestion : {true, false}) {
        Banner banner;
        banner.showMessage(isQuestion ? Banner::Severity::Warning : Banner::Severity::Info, QStringLiteral("own.so"),
                           hint, QStringLiteral("Run Its Code"));
        banner.resize(240, 400);
        QVERIFY(QTest::qWaitForWindowExposed(&banner));
        QCoreApplication::processEvents();
        QLabel* label = nullptr;
        for (QLabel* each : banner.findChildren<QLabel*>())
            if (each->text().startsWith(QStringLiteral("Agree"))) label = each;
        QVERIFY(label);
        QCOMPARE(label->text().simplified().endsWith(QStringLiteral("if the file changes.")), isQuestion);
        if (isQuestion)
            QVERIFY(label->height() >= label->fontMetrics().lineSpacing() * (label->text().count(u'\n') + 1));
    }
}

/// Which dimension is refused stands at the end, also in a window of 800 x 600, which leaves 240 pixels.
void TestBanner::aShortErrorIsReadWhole() {
    const QString refused = QStringLiteral(
        "input 'image' expects float32[n,3,4,4], got float32[1,4,4,4] (dimension 1: 3 declared, 4 given)");
    Banner banner;
    banner.showMessage(Banner::Severity::Error, refused, {}, QStringLiteral("Show Node"));
    banner.resize(240, 400);
    QVERIFY(QTest::qWaitForWindowExposed(&banner));
    QCoreApplication::processEvents();
    const auto labels = banner.findChildren<QLabel*>();
    const auto shown = std::ranges::find_if(labels, [](QLabel* label) { return label->text().startsWith(u"input"); });
    QVERIFY(shown != labels.end());
    QVERIFY2((*shown)->text().endsWith(QStringLiteral("4 given)")), qPrintable((*shown)->text()));
    QVERIFY((*shown)->text().count(u'\n') >= 3);
    QVERIFY((*shown)->height() >= (*shown)->fontMetrics().lineSpacing() * ((*shown)->text().count(u'\n') + 1));
}

QTEST_MAIN(TestBanner)

}  // namespace tst_banner

#include "tst_banner.moc"
