// Where the banner's button stands: beside the words, in a narrow window below them.

#include <QLabel>
#include <QPushButton>
#include <QtTest>

#include "ui/widgets/banner.h"

using sonde::widgets::Banner;

class TestBanner : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theButtonMakesRoomForTheWords();
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

QTEST_MAIN(TestBanner)
#include "tst_banner.moc"
