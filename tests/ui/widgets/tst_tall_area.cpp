// A place that scrolls keeps a part of its content in view, also when the content grows after that, and leaves no half
// rows of controls above it.

#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QTest>
#include <QVBoxLayout>

#include "ui/widgets/tall_area.h"

namespace tst_tall_area {

using namespace sonde;

class TestTallArea : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void noRowIsCutAboveThePart_data();
    void noRowIsCutAboveThePart();
    void keepsAPartInViewWhenTheContentGrows() {
        auto* const content = new QWidget;
        auto* const column = new QVBoxLayout(content);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        auto* const above = new QLabel;
        auto* const part = new QLabel;
        for (QLabel* label : {above, part}) {
            label->setFixedHeight(100);
            column->addWidget(label);
        }
        widgets::TallArea place(content);
        place.resize(200, 150);
        place.show();
        place.keepInView(part);
        QTRY_COMPARE(place.verticalScrollBar()->value(), 50);
        part->setFixedHeight(300);
        // Higher than the place: from its top.
        QTRY_COMPARE(place.verticalScrollBar()->value(), 100);
        // Where somebody has scrolled since, it stays so.
        place.verticalScrollBar()->setValue(20);
        part->setFixedHeight(400);
        QTRY_COMPARE(content->height(), 500);
        QTest::qWait(50);  // nothing happens
        QCOMPARE(place.verticalScrollBar()->value(), 20);
    }
};

void TestTallArea::noRowIsCutAboveThePart_data() {
    QTest::addColumn<int>("below");
    QTest::addColumn<int>("scroll");
    QTest::newRow("nothing below: the row is seen") << 0 << 30;
    QTest::newRow("something below: the part alone") << 100 << 60;
}

/// Two rows of 30 pixels above a part of 200, in a place of 210: all of the part is seen from 50 pixels on.
void TestTallArea::noRowIsCutAboveThePart() {
    QFETCH(int, below);
    QFETCH(int, scroll);
    auto* const content = new QWidget;
    auto* const column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    const auto add = [column](QWidget* widget, int height) {
        widget->setFixedHeight(height);
        column->addWidget(widget);
        return widget;
    };
    add(new QPushButton, 30);
    add(new QPushButton, 30);
    QWidget* const part = add(new QWidget, 200);
    if (below > 0) add(new QWidget, below);
    widgets::TallArea area(content);
    area.resize(300, 210);
    area.show();
    area.keepInView(part);
    QTRY_COMPARE(area.verticalScrollBar()->value(), scroll);
}

QTEST_MAIN(TestTallArea)

}  // namespace tst_tall_area

#include "tst_tall_area.moc"
