// A place that scrolls keeps a part of its content in view, also when the content grows after that.

#include <QLabel>
#include <QScrollBar>
#include <QVBoxLayout>
#include <QtTest>

#include "ui/widgets/tall_area.h"

namespace tst_tall_area {

using namespace sonde;

class TestTallArea : public QObject {
    Q_OBJECT

  private slots:
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

QTEST_MAIN(TestTallArea)

}  // namespace tst_tall_area

#include "tst_tall_area.moc"
