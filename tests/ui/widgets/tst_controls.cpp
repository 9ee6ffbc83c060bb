#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/details.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/search_field.h"

namespace tst_controls {

using namespace sonde;
using namespace sonde::widgets;

class TestControls : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { theme::Theme::instance().install(*qApp); }

    void bannerTellsAndIsDismissedByKeyOrButton() {
        Banner banner;
        QVERIFY(banner.isHidden());
        QSignalSpy gone(&banner, &Banner::dismissed);
        QSignalSpy acted(&banner, &Banner::actionTriggered);
        banner.showMessage(Banner::Severity::Error, "cannot read model.onnx", "is it complete?", "Try again");
        QVERIFY(!banner.isHidden());
        QCOMPARE(banner.accessibleName(), "Error: cannot read model.onnx");
        QTest::mouseClick(banner.findChild<QPushButton*>(), Qt::LeftButton);
        QCOMPARE(acted.count(), 1);
        QTest::keyClick(&banner, Qt::Key_Escape);
        QVERIFY(banner.isHidden());
        banner.showMessage(Banner::Severity::Info, "reloaded");
        QVERIFY(banner.findChild<QPushButton*>()->isHidden());
        QTest::mouseClick(banner.findChild<QToolButton*>(), Qt::LeftButton);
        QCOMPARE(gone.count(), 2);
    }

    void bannerWrapsALongMessageInsteadOfWideningTheWindow() {
        QWidget window;
        auto* layout = new QVBoxLayout(&window);
        auto* banner = new Banner;
        layout->addWidget(banner);
        layout->addStretch();
        banner->showMessage(Banner::Severity::Warning, QString("a long message ").repeated(60));
        window.resize(400, 300);
        window.show();
        QCOMPARE(window.width(), 400);
        QVERIFY(banner->height() > 3 * banner->fontMetrics().lineSpacing());
    }

    void bannerShowsThreeWholeLinesAndTheRestAsToolTip() {
        const QString words = QString("a long message ").repeated(60).trimmed(), name(10'000, QLatin1Char('n'));
        for (const QString& text :
             {words, name, QStringLiteral("one\ntwo\nthree\nfour ") + words, QStringLiteral("short")}) {
            QWidget window;
            auto* layout = new QVBoxLayout(&window);
            auto* banner = new Banner;
            layout->addWidget(banner);
            layout->addStretch();
            banner->showMessage(Banner::Severity::Error, text, text);
            window.resize(400, 300);
            window.show();
            for (const int width : {400, 900, 300}) {
                window.resize(width, 300);
                QCoreApplication::processEvents();
                for (QLabel* label : banner->findChildren<QLabel*>()) {
                    if (label->text().isEmpty()) continue;  // the icon
                    const bool all = text == QStringLiteral("short");
                    QCOMPARE(label->text().count(QLatin1Char('\n')), all ? 0 : 2);
                    QCOMPARE(label->text().endsWith(QStringLiteral("…")), !all);
                    QCOMPARE(label->toolTip().isEmpty(), all);
                    QLabel plain(label->text());
                    plain.setTextInteractionFlags(label->textInteractionFlags());
                    plain.setFont(label->font());
                    QVERIFY(label->height() >= plain.sizeHint().height());
                    QVERIFY(label->height() < plain.sizeHint().height() + label->fontMetrics().lineSpacing() / 2);
                    QVERIFY(label->width() >= plain.sizeHint().width());
                }
                QCOMPARE(banner->text(), text);
                QCOMPARE(banner->hint(), text);
            }
        }
    }

    void searchFieldWaitsForAPauseAndCountsHits() {
        SearchField field;
        field.show();
        QSignalSpy changed(&field, &SearchField::textChanged);
        QTest::keyClicks(field.lineEdit(), "conv");
        QTRY_VERIFY(!changed.isEmpty());
        QTRY_COMPARE(changed.last().first().toString(), "conv");
        field.setHits(2, 17);
        QCOMPARE(field.lineEdit()->accessibleDescription(), "3 of 17");
        QSignalSpy next(&field, &SearchField::nextRequested), previous(&field, &SearchField::previousRequested);
        QTest::keyClick(field.lineEdit(), Qt::Key_Return);
        QTest::keyClick(field.lineEdit(), Qt::Key_F3);
        QTest::keyClick(field.lineEdit(), Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(next.size(), 2);
        QCOMPARE(previous.size(), 1);
        field.setHits(-1, 0);
        QCOMPARE(field.lineEdit()->accessibleDescription(), "No matches");
        QSignalSpy left(&field, &SearchField::left);
        QTest::keyClick(field.lineEdit(), Qt::Key_Escape);
        QCOMPARE(field.text(), QString());
        QVERIFY(left.isEmpty());
        QTest::keyClick(field.lineEdit(), Qt::Key_Escape);
        QCOMPARE(left.size(), 1);
    }

    void returnDuringAPauseSearchesAtOnce() {
        SearchField field;
        QSignalSpy changed(&field, &SearchField::textChanged), next(&field, &SearchField::nextRequested);
        QTest::keyClicks(field.lineEdit(), "x");
        QTest::keyClick(field.lineEdit(), Qt::Key_Return);
        QCOMPARE(changed.size(), 1);
        QVERIFY(next.isEmpty());
    }

    void labelsShortenInTheMiddle() {
        ElidedLabel label("encoder.layers.0.self_attention.output.dense");
        label.resize(120, 20);
        QVERIFY(label.isElided());
        label.resize(label.sizeHint());
        QVERIFY(!label.isElided());
        label.setText("two\nlines");
        QCOMPARE(label.text(), "two lines");
        label.setText(QString(10000, 'x'));
        QVERIFY(label.sizeHint().width() <= 4001);
    }

    void linksAreFollowedByMouseAndKeys() {
        LinkLabel link("layer1.0.conv1", 12);
        link.resize(link.sizeHint());
        link.show();
        QSignalSpy spy(&link, &LinkLabel::activated);
        QTest::mouseClick(&link, Qt::LeftButton);
        QTest::keyClick(&link, Qt::Key_Return);
        QTest::keyClick(&link, Qt::Key_Space);
        QCOMPARE(spy.size(), 3);
        QCOMPARE(spy.first().first().value<QVariant>().toInt(), 12);
        QTest::mousePress(&link, Qt::LeftButton);
        QTest::mouseRelease(&link, Qt::LeftButton, {}, QPoint(-5, -5));
        QCOMPARE(spy.size(), 3);
    }

    void sectionsOpenAndCloseByKeys() {
        CollapsibleSection section("Attributes");
        auto* content = new QLabel("strides");
        section.setContent(content);
        section.setCount(5);
        section.show();
        auto* header = section.findChild<QToolButton*>();
        QCOMPARE(header->text(), "Attributes  5");
        QTest::keyClick(header, Qt::Key_Left);
        QVERIFY(content->isHidden() && !section.isExpanded());
        QTest::keyClick(header, Qt::Key_Left);
        QVERIFY(!section.isExpanded());
        QTest::keyClick(header, Qt::Key_Right);
        QVERIFY(!content->isHidden());
        QTest::mouseClick(header, Qt::LeftButton);
        QVERIFY(content->isHidden());
        QTest::keyClick(header, Qt::Key_Space);
        QVERIFY(section.isExpanded());
    }

    void gridHoldsRowsAndLinks() {
        KeyValueGrid grid;
        grid.addRow("operator", "Conv");
        grid.addLink("input", "x", 7, "float32[1,3,224,224]");
        QCOMPARE(grid.rowCount(), 2);
        QCOMPARE(grid.text(), "operator\tConv\ninput\tx float32[1,3,224,224]");
        QSignalSpy spy(&grid, &KeyValueGrid::linkActivated);
        QTest::keyClick(grid.findChild<LinkLabel*>(), Qt::Key_Return);
        QCOMPARE(spy.first().first().value<QVariant>().toInt(), 7);
        grid.clear();
        QCOMPARE(grid.rowCount(), 0);
        QCOMPARE(grid.text(), QString());
    }

    void flowLayoutBreaksLinesAtTheWidth() {
        QWidget host;
        auto* flow = new FlowLayout(&host, 10, 5);
        QList<QWidget*> boxes;
        for (int i = 0; i < 5; ++i) {
            boxes << new QWidget;
            boxes.last()->setFixedSize(40, 20);
            flow->addWidget(boxes.last());
        }
        host.resize(150, 100);
        host.show();
        QCOMPARE(boxes[2]->pos(), QPoint(100, 0));
        QCOMPARE(boxes[3]->pos(), QPoint(0, 25));
        QCOMPARE(flow->heightForWidth(150), 45);
        QCOMPARE(flow->heightForWidth(10000), 20);
        boxes[0]->hide();
        QCoreApplication::processEvents();
        QCOMPARE(boxes[3]->pos(), QPoint(100, 0));
    }

    void shortWorkShowsNoProgress() {
        ProgressStrip strip;
        QSignalSpy cancel(&strip, &ProgressStrip::cancelRequested);
        strip.start("Tracing", 30);
        strip.finish();
        QTest::qWait(60);  // nothing happens for twice the delay: there is no condition to wait for
        QVERIFY(strip.isHidden());
        strip.start("Running", 10);
        QTRY_VERIFY(strip.isVisible());
        strip.setProgress("Running", 3'000'000'000, 6'000'000'000);
        QCOMPARE(strip.findChild<QProgressBar*>()->value(), 500);
        auto* button = strip.findChild<QToolButton*>();
        QTest::mouseClick(button, Qt::LeftButton);
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(cancel.size(), 1);
        strip.finish();
        QVERIFY(strip.isHidden() && !strip.isActive());
        strip.start("Again", 0);
        QVERIFY(button->isEnabled());
    }

    void emptyStateOffersAWayOn() {
        EmptyState state("tensor", "No value", "Set a watch point and run", "Run");
        QSignalSpy spy(&state, &EmptyState::actionTriggered);
        QTest::mouseClick(state.findChild<QPushButton*>(), Qt::LeftButton);
        QCOMPARE(spy.size(), 1);
        state.setContent("tensor", "Nothing selected");
        QVERIFY(state.findChild<QPushButton*>()->isHidden());
        QCOMPARE(state.accessibleName(), "Nothing selected");
    }

    void everyButtonHasANameAndNoControlIsOutOfReachOfKeys() {
        Banner banner;
        SearchField search;
        ProgressStrip strip;
        for (QWidget* host :
             {static_cast<QWidget*>(&banner), static_cast<QWidget*>(&search), static_cast<QWidget*>(&strip)})
            for (QAbstractButton* button : host->findChildren<QAbstractButton*>()) {
                // The field's own clear button is reached by Escape.
                if (button->parent() == search.lineEdit()) continue;
                QVERIFY(!button->accessibleName().isEmpty() || qobject_cast<QPushButton*>(button));
                QVERIFY(button->focusPolicy() & Qt::TabFocus);
            }
    }
};

QTEST_MAIN(TestControls)

}  // namespace tst_controls

#include "tst_controls.moc"
