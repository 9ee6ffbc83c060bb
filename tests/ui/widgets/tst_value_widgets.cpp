#include <QApplication>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

#include <limits>

#include "ui/theme/theme.h"
#include "ui/widgets/bad_value.h"
#include "ui/widgets/color_bar.h"
#include "ui/widgets/heat_map_view.h"
#include "ui/widgets/histogram_plot.h"
#include "ui/widgets/image_grid_view.h"
#include "ui/widgets/line_plot.h"
#include "ui/widgets/number_text.h"
#include "ui/widgets/range_control.h"
#include "ui/widgets/slice_bar.h"

namespace tst_value_widgets {

using namespace sonde;
using namespace sonde::widgets;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

void wheel(QWidget* target, QPointF at, int steps, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWheelEvent event(at, target->mapToGlobal(at), {}, {0, 120 * steps}, {}, modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(target, &event);
}

/// A grey heat map of 200 × 100 pixels over 2 rows and 4 columns holding 0 … 7.
void prepare(HeatMapView& view) {
    view.resize(200, 100);
    view.setColorMap(theme::colorMap(u"grey"));
    view.setScale({0, 7, false});
    view.setField(2, 4, [](qint64 row, qint64 column) { return double(row * 4 + column); });
    view.show();
}

}  // namespace

class TestValueWidgets : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setMode(theme::Theme::Mode::Light);
    }

    void numbersReadAsPeopleWriteThem() {
        QCOMPARE(numberText(3.0), "3");
        QCOMPARE(numberText(-0.125), "-0.125");
        QCOMPARE(numberText(1.0 / 3.0, 4), "0.3333");
        QCOMPARE(numberText(1.5e-12), "1.5e-12");
        QCOMPARE(numberText(kNaN), "NaN");
        QCOMPARE(numberText(-kInf), "-Inf");
        QCOMPARE(countText(1048576), "1,048,576");
        QCOMPARE(countText(-123), "-123");
        QCOMPARE(countText(-1234), "-1,234");
        QCOMPARE(countText(999), "999");
    }

    void linearScaleGoesThereAndBack() {
        const ValueScale scale{-2, 6, false};
        QCOMPARE(scale.toUnit(-2), 0.0);
        QCOMPARE(scale.toUnit(0), 0.25);
        QCOMPARE(scale.fromUnit(0.25), 0.0);
        QCOMPARE((ValueScale{3, 3, false}).toUnit(3), 0.5);
    }

    void logarithmicScaleIsOddMonotoneAndInvertible() {
        const ValueScale scale{-10, 10, true};
        QCOMPARE(scale.toUnit(0), 0.5);
        double last = -1;
        for (double v = -10; v <= 10; v += 0.25) {
            const double t = scale.toUnit(v);
            QVERIFY(t > last);
            last = t;
            QVERIFY(std::abs(t + scale.toUnit(-v) - 1.0) < 1e-12);
            QVERIFY(std::abs(scale.fromUnit(t) - v) < 1e-9);
        }
        // Far from zero one decade takes the same room wherever it lies.
        const ValueScale positive{0, 1e6, true};
        const double upper = positive.toUnit(1e6) - positive.toUnit(1e5),
                     lower = positive.toUnit(1e5) - positive.toUnit(1e4);
        QVERIFY(std::abs(upper - lower) < 0.01);
    }

    void ticksAreRoundInsideTheScaleAndApart() {
        const ValueScale scale{-1.3, 2.7, false};
        const QList<double> ticks = ColorBar::ticks(scale, 300, 15);
        QVERIFY(ticks.contains(-1.3) && ticks.contains(2.7) && ticks.contains(0.0) && ticks.size() >= 5);
        for (int i = 0; i < ticks.size(); ++i)
            for (int j = i + 1; j < ticks.size(); ++j)
                QVERIFY(std::abs(scale.toUnit(ticks[i]) - scale.toUnit(ticks[j])) * 300 >= 15);
        QCOMPARE(ColorBar::ticks({5, 5, false}, 300, 15), QList<double>{5});
    }

    void colorBarPaintsTheRampWithTheLargestValueOnTop() {
        ColorBar bar;
        bar.setColorMap(theme::colorMap(u"grey"));
        bar.resize(bar.sizeHint());
        const QImage image = bar.grab().toImage();
        QVERIFY(qGray(image.pixel(8, 14)) > 235);
        QVERIFY(qGray(image.pixel(8, image.height() - 14)) < 20);
        QVERIFY(std::abs(qGray(image.pixel(8, image.height() / 2)) - 128) < 4);
    }

    void heatMapPaintsEachCellInItsColour() {
        HeatMapView view;
        prepare(view);
        QCOMPARE(view.zoom(), 50.0);
        const QImage image = view.viewport()->grab().toImage();
        for (int row = 0; row < 2; ++row)
            for (int column = 0; column < 4; ++column) {
                const int grey = qRound((row * 4 + column) / 7.0 * 255);
                const QPoint inside(column * 50 + 4, row * 50 + 4);
                QVERIFY(std::abs(qGray(image.pixel(inside)) - grey) <= 1);
            }
    }

    void heatMapTellsTheValueUnderThePointer() {
        HeatMapView view;
        prepare(view);
        QSignalSpy spy(&view, &HeatMapView::cellHovered);
        QTest::mouseMove(view.viewport(), QPoint(175, 75));
        QTRY_VERIFY(!spy.isEmpty());
        QCOMPARE(spy.last(), (QVariantList{qint64(1), qint64(3), 7.0}));
        QCOMPARE(view.cellAt({-3, 20}), (std::pair<qint64, qint64>{-1, -1}));
    }

    void wheelZoomsAboutThePointer() {
        HeatMapView view;
        view.resize(400, 300);
        view.setField(64, 64, [](qint64, qint64) { return 1.0; });
        view.show();
        const QPointF at(230, 140);
        view.setZoom(20, at);
        // The point may move by the rounding of the scroll bars only.
        const auto cellUnder = [&] { return QPointF(at - view.cellRect(0, 0).topLeft()) / view.zoom(); };
        const QPointF before = cellUnder();
        wheel(view.viewport(), at, 2);
        QVERIFY(view.zoom() > 30);
        QVERIFY((cellUnder() - before).manhattanLength() * view.zoom() <= 2.0);
        wheel(view.viewport(), at, -2);
        QVERIFY(std::abs(view.zoom() - 20) < 1e-9);
    }

    void draggingMovesTheField() {
        HeatMapView view;
        view.resize(200, 200);
        view.setField(100, 100, [](qint64 row, qint64) { return double(row); });
        view.show();
        view.setZoom(10, {0, 0});
        view.verticalScrollBar()->setValue(200);
        view.horizontalScrollBar()->setValue(200);
        QSignalSpy picked(&view, &HeatMapView::cellPicked);
        QTest::mousePress(view.viewport(), Qt::LeftButton, {}, {100, 100});
        QMouseEvent move(QEvent::MouseMove, QPointF(60, 130), view.viewport()->mapToGlobal(QPointF(60, 130)),
                         Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(view.viewport(), &move);
        QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, {60, 130});
        QCOMPARE(view.horizontalScrollBar()->value(), 240);
        QCOMPARE(view.verticalScrollBar()->value(), 170);
        QVERIFY(picked.isEmpty());
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, {55, 35});
        QCOMPARE(picked.size(), 1);
        QCOMPARE(picked.first().at(0).toLongLong(), (170 + 35) / 10);
    }

    void heatMapIsUsedByKeys() {
        HeatMapView view;
        prepare(view);
        QSignalSpy hovered(&view, &HeatMapView::cellHovered);
        QSignalSpy picked(&view, &HeatMapView::cellPicked);
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.cursor(), (std::pair<qint64, qint64>{0, 0}));
        QTest::keyClick(&view, Qt::Key_Right);
        QTest::keyClick(&view, Qt::Key_Down);
        QTest::keyClick(&view, Qt::Key_Down);
        QCOMPARE(view.cursor(), (std::pair<qint64, qint64>{1, 1}));
        QCOMPARE(hovered.last().at(2).toDouble(), 5.0);
        QTest::keyClick(&view, Qt::Key_Return);
        QCOMPARE(picked.first().at(2).toDouble(), 5.0);
        QTest::keyClick(&view, Qt::Key_Plus);
        QVERIFY(view.zoom() > 50 && !view.isFitted());
        QTest::keyClick(&view, Qt::Key_0);
        QVERIFY(view.isFitted());
        QVERIFY(view.accessibleDescription().contains("row 1, column 1: 5"));
    }

    void badValuesHavePatternsOfTheirOwn() {
        HeatMapView view;
        view.resize(300, 100);
        view.setField(1, 3, [](qint64, qint64 column) { return column == 0 ? kNaN : column == 1 ? kInf : -kInf; });
        view.show();
        const QImage image = view.viewport()->grab().toImage();
        const QRectF first = view.cellRect(0, 0);
        const double step = first.width();
        // Both colours occur in each; along a line the stripes of +Inf change and those of -Inf do not.
        const auto changes = [&](double x0, bool level) {
            int count = 0;
            for (int i = 1; i < 16; ++i) {
                const QPoint from = QPointF(x0 + 4, first.top() + 4).toPoint();
                const QPoint a = from + (level ? QPoint(i - 1, 0) : QPoint(0, i - 1)),
                             b = from + (level ? QPoint(i, 0) : QPoint(0, i));
                count += image.pixel(a) != image.pixel(b);
            }
            return count;
        };
        QVERIFY(changes(first.left(), true) > 4 && changes(first.left(), false) > 4);
        QVERIFY(changes(first.left() + step, true) > 4 && changes(first.left() + step, false) == 0);
        QVERIFY(changes(first.left() + 2 * step, true) == 0 && changes(first.left() + 2 * step, false) > 4);
        QVERIFY(badInk(BadValue::NaN).background != badInk(BadValue::PlusInf).background);
    }

    void markedCellsAreSeenHoweverSmallAndReachedByKey() {
        HeatMapView view;
        view.resize(200, 200);
        view.setColorMap(theme::colorMap(u"grey"));
        view.setField(4000, 4000, [](qint64, qint64) { return 0.0; });
        view.show();
        const QRgb ring = theme::color(theme::ColorRole::NanMark).rgb();
        const auto rings = [&] {
            const QImage image = view.viewport()->grab().toImage();
            int count = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) {
                    const QColor a(image.pixel(x, y)), b(ring);
                    count +=
                        std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue()) <
                        60;
                }
            return count;
        };
        QCOMPARE(rings(), 0);
        view.setMarkedCells({{3000, 2000}, {1001, 7}});
        QVERIFY(rings() > 20);
        QTest::keyClick(&view, Qt::Key_N);
        QCOMPARE(view.cursor(), (std::pair<qint64, qint64>{1001, 7}));
        QTest::keyClick(&view, Qt::Key_N);
        QCOMPARE(view.cursor(), (std::pair<qint64, qint64>{3000, 2000}));
        QTest::keyClick(&view, Qt::Key_N);
        QCOMPARE(view.cursor(), (std::pair<qint64, qint64>{1001, 7}));
        QTest::keyClick(&view, Qt::Key_N, Qt::ShiftModifier);
        QCOMPARE(view.cursor(), (std::pair<qint64, qint64>{3000, 2000}));
    }

    void aLargeFieldIsAskedForNoMoreThanIsSeen() {
        std::vector<float> data(4096 * 4096);
        for (size_t i = 0; i < data.size(); ++i) data[i] = float((i * 2654435761u) % 1000);
        HeatMapView view;
        view.resize(1000, 800);
        view.setScale({0, 1000, false});
        qint64 asked = 0;
        view.setField(4096, 4096, [&](qint64 row, qint64 column) {
            ++asked;
            return double(data[size_t(row * 4096 + column)]);
        });
        view.show();
        QPixmap target(1000, 800);
        view.render(&target);
        asked = 0;
        QElapsedTimer timer;
        timer.start();
        constexpr int kFrames = 20;
        for (int i = 0; i < kFrames; ++i) {
            view.setZoom(0.3 + 0.1 * i, {500, 400});
            view.horizontalScrollBar()->setValue(i * 37);
            view.render(&target);
        }
        const double ms = double(timer.elapsed()) / kFrames;
        QVERIFY2(asked / kFrames <= 1000 * 800, "no more than one value a pixel");
        qInfo("4096 x 4096 at 1000 x 800: %.1f ms a frame", ms);
    }

    void picturesAreShownUnsmoothed() {
        QImage picture(2, 1, QImage::Format_RGB32);
        picture.setPixel(0, 0, qRgb(200, 10, 10));
        picture.setPixel(1, 0, qRgb(10, 10, 200));
        HeatMapView view;
        view.resize(120, 60);
        view.setImage(picture);
        view.show();
        const QImage image = view.viewport()->grab().toImage();
        QCOMPARE(image.pixel(58, 30), qRgb(200, 10, 10));
        QCOMPARE(image.pixel(61, 30), qRgb(10, 10, 200));
    }

    void emptyFieldsAreNoTrouble() {
        HeatMapView view;
        view.resize(100, 100);
        for (auto [rows, columns] : {std::pair<qint64, qint64>{0, 0}, {0, 5}, {5, 0}}) {
            view.setField(rows, columns, [](qint64, qint64) { return 0.0; });
            view.grab();
            QCOMPARE(view.cellAt({50, 50}), (std::pair<qint64, qint64>{-1, -1}));
            QTest::keyClick(&view, Qt::Key_Down);
        }
        view.setField(1, 100000000, [](qint64, qint64 c) { return double(c); });
        view.grab();
        view.setZoom(1e9, {0, 0});
        view.grab();
        QTest::keyClick(&view, Qt::Key_End);
        QCOMPARE(view.cursor().second, 99999999);
    }

    void histogramReadsOutBinsByPointerAndKeys() {
        HistogramPlot plot;
        plot.resize(400, 200);
        plot.setData({-1, 1, {1, 2, 4, 1}});
        plot.show();
        QSignalSpy spy(&plot, &HistogramPlot::currentBinChanged);
        QTest::mouseMove(&plot, QPoint(250, 100));
        QTRY_COMPARE(plot.currentBin(), 2);
        QCOMPARE(plot.readOut(), QStringLiteral("0 … 0.5: 4 (50.0 %)"));
        QTest::keyClick(&plot, Qt::Key_Right);
        QCOMPARE(plot.currentBin(), 3);
        QTest::keyClick(&plot, Qt::Key_Right);
        QCOMPARE(plot.currentBin(), 3);
        QTest::keyClick(&plot, Qt::Key_Home);
        QCOMPARE(plot.readOut(), QStringLiteral("-1 … -0.5: 1 (12.5 %)"));
        QVERIFY(spy.count() >= 3);
    }

    void histogramBarsAreAsHighAsTheirCounts() {
        HistogramPlot plot;
        plot.resize(400, 200);
        plot.setData({0, 2, {100, 25}});
        const auto barTop = [&](int x) {
            const QImage image = plot.grab().toImage();
            int y = image.height() - 1;
            const QRgb bar = theme::color(theme::ColorRole::PlotBar).rgb();
            while (y > 0 && image.pixel(x, y) != bar) --y;
            const int bottom = y;
            while (y > 0 && image.pixel(x, y) == bar) --y;
            return bottom - y;
        };
        const double share = double(barTop(300)) / barTop(100);
        QVERIFY2(std::abs(share - 0.25) < 0.02, qPrintable(QString::number(share)));
        plot.setLogarithmic(true);
        const double logShare = double(barTop(300)) / barTop(100);
        QVERIFY(std::abs(logShare - std::log(26.0) / std::log(101.0)) < 0.02);
        plot.setData({});
        plot.grab();
        QTest::keyClick(&plot, Qt::Key_End);
        QCOMPARE(plot.readOut(), QString());
    }

    void linesStandAtTheirValues() {
        LinePlot plot;
        plot.resize(400, 200);
        plot.setScale({-1, 3, false});
        plot.setField(2, 5, [](qint64 row, qint64 column) { return row == 0 ? double(column) - 1 : 0.0; });
        plot.show();
        QSignalSpy spy(&plot, &LinePlot::cellHovered);
        QTest::keyClick(&plot, Qt::Key_End);
        QCOMPARE(spy.last(), (QVariantList{qint64(0), qint64(4), 3.0}));
        QTest::keyClick(&plot, Qt::Key_Left);
        QTest::keyClick(&plot, Qt::Key_Down);
        QCOMPARE(spy.last(), (QVariantList{qint64(1), qint64(3), 0.0}));
        QVERIFY(std::abs((plot.yOf(-1) - plot.yOf(1)) * 2 - (plot.yOf(-1) - plot.yOf(3))) < 1e-9);
        // Row 1 is current and is at 0: its line is drawn there in the strong colour.
        const QImage image = plot.grab().toImage();
        const QRgb strong = theme::color(theme::ColorRole::PlotBarHover).rgb();
        bool drawn = false;
        for (int dy = -1; dy <= 1; ++dy) {
            const QColor at(image.pixel(image.width() / 2, int(plot.yOf(0)) + dy)), want(strong);
            drawn = drawn || std::abs(at.red() - want.red()) + std::abs(at.blue() - want.blue()) < 60;
        }
        QVERIFY(drawn);
        for (auto [rows, columns] : {std::pair<qint64, qint64>{0, 0}, {1, 1}, {3, 0}, {100, 1000000}}) {
            plot.setField(rows, columns, [](qint64, qint64 c) { return c % 3 == 0 ? kNaN : c % 3 == 1 ? kInf : 1.0; });
            plot.grab();
            QTest::keyClick(&plot, Qt::Key_Right);
        }
    }

    void imageGridAsksForWhatIsSeenAndMovesByKeys() {
        ImageGridView grid;
        grid.resize(330, 200);
        QSet<int> asked;
        grid.setPictures(
            1000,
            [&](int index) {
                asked << index;
                QImage image(4, 4, QImage::Format_RGB32);
                image.fill(QColor(index % 256, 0, 0));
                return image;
            },
            [](int index) { return QStringLiteral("channel %1").arg(index); });
        grid.show();
        grid.grab();
        QVERIFY(asked.contains(0));
        QVERIFY2(asked.size() < 60, qPrintable(QString::number(asked.size())));
        QSignalSpy current(&grid, &ImageGridView::currentPictureChanged);
        grid.setCurrentIndex(grid.model()->index(0, 0));
        QTest::keyClick(&grid, Qt::Key_Right);
        QCOMPARE(current.last().first().toInt(), 1);
        QSignalSpy opened(&grid, &ImageGridView::pictureActivated);
        QTest::keyClick(&grid, Qt::Key_Return);
        QCOMPARE(opened.size(), 1);
        const int before = grid.thumbnailSize();
        wheel(grid.viewport(), {50, 50}, 2, Qt::ControlModifier);
        QVERIFY(grid.thumbnailSize() > before);
    }

    /// Few feature maps fill the view, all of them seen; of many, or with a size that was chosen, none is made larger.
    void fewPicturesAreEnlarged() {
        ImageGridView grid;
        grid.resize(600, 500);
        const auto show = [&grid](int count) {
            grid.setPictures(
                count, [](int) { return QImage(4, 4, QImage::Format_RGB32); },
                [](int index) { return QString::number(index); });
            grid.show();
            grid.grab();
        };
        show(1000);
        QCOMPARE(grid.thumbnailSize(), 72);
        show(8);
        QVERIFY2(grid.thumbnailSize() > 120, qPrintable(QString::number(grid.thumbnailSize())));
        QTRY_VERIFY(grid.viewport()->rect().contains(grid.visualRect(grid.model()->index(7, 0))));
        for (int width = 500; width < 700; width += 9) {
            grid.resize(width, 500);
            grid.grab();
            QTRY_VERIFY2(grid.viewport()->rect().contains(grid.visualRect(grid.model()->index(7, 0))),
                         qPrintable(QString::number(width)));
        }
        grid.resize(300, 260);
        grid.grab();
        QVERIFY2(grid.thumbnailSize() < 100, qPrintable(QString::number(grid.thumbnailSize())));
        grid.setThumbnailSize(90);
        show(1);
        QCOMPARE(grid.thumbnailSize(), 90);
    }

    void rangeFollowsTheDataUntilItIsSetOrLocked() {
        RangeControl range;
        QSignalSpy spy(&range, &RangeControl::changed);
        range.setData(-2, 5);
        QCOMPARE(range.scale(), (ValueScale{-2, 5, false}));
        range.setLocked(true);
        range.setData(0, 100);
        QCOMPARE(range.state().high, 5.0);
        range.setLocked(false);
        QCOMPARE(range.state().high, 100.0);
        range.setDiverging(true);
        QCOMPARE(range.state().low, -100.0);
        QCOMPARE(range.mapId(), "diverging");
        range.setData(-300, 4);
        QCOMPARE(range.scale(), (ValueScale{-300, 300, false}));
        QVERIFY(spy.count() >= 5);
    }

    void rangeFieldsTakeNumbersAndKeys() {
        RangeControl range;
        range.setData(0, 10);
        const auto fields = range.findChildren<QLineEdit*>();
        QLineEdit* high = fields.at(1);
        high->selectAll();
        QTest::keyClicks(high, "4.5");
        QTest::keyClick(high, Qt::Key_Return);
        QCOMPARE(range.state().high, 4.5);
        QVERIFY(!range.state().autofit);
        QTest::keyClick(high, Qt::Key_Up);
        QVERIFY(std::abs(range.state().high - 4.545) < 1e-12);
        high->selectAll();
        QTest::keyClicks(high, "rubbish");
        QTest::keyClick(high, Qt::Key_Return);
        QVERIFY(std::abs(range.state().high - 4.545) < 1e-12);
        QCOMPARE(high->text(), "4.545");
        range.fitOnce();
        QCOMPARE(range.state().high, 10.0);
        QVERIFY(!range.state().autofit);
    }

    void rightClickOnAutofitKeepsItOn() {
        RangeControl range;
        range.setData(0, 10);
        RangeState state = range.state();
        state.autofit = false;
        range.setState(state);
        range.setData(0, 20);
        QCOMPARE(range.state().high, 10.0);
        auto* button = range.findChildren<QToolButton*>().first();
        QTest::mouseClick(button, Qt::RightButton);
        QVERIFY(range.state().autofit);
        QCOMPARE(range.state().high, 20.0);
    }

    void slicesAreReadAsNumpyWritesThem_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("valid");
        QTest::addColumn<QString>("back");
        QTest::newRow("plain") << "0, 3, :, :" << true << "0, 3, :, :";
        QTest::newRow("brackets") << "[0,3,:,:]" << true << "0, 3, :, :";
        QTest::newRow("from the end") << ":,-1,4,:" << true << ":, 7, 4, :";
        QTest::newRow("one axis") << "1, 2, 3, :" << true << "1, 2, 3, :";
        QTest::newRow("no axis") << "1, 2, 3, 4" << true << "1, 2, 3, 4";
        QTest::newRow("out of range") << "2, 0, :, :" << false << "";
        QTest::newRow("too few") << "0, :, :" << false << "";
        QTest::newRow("three axes") << "0, :, :, :" << false << "";
        QTest::newRow("word") << "0, a, :, :" << false << "";
        QTest::newRow("empty") << "" << false << "";
    }
    void slicesAreReadAsNumpyWritesThem() {
        QFETCH(QString, text);
        QFETCH(bool, valid);
        QFETCH(QString, back);
        Slice slice;
        QString why;
        QCOMPARE(SliceBar::parse(text, {2, 8, 16, 16}, slice, why), valid);
        if (valid) QCOMPARE(SliceBar::text(slice), back);
        else QVERIFY(!why.isEmpty());
    }

    void axesWithOnePlaceAreNoRowsAndColumns_data() {
        QTest::addColumn<QList<qint64>>("shape");
        QTest::addColumn<QString>("slice");
        QTest::newRow("filters of sound") << QList<qint64>{258, 1, 256} << ":, 0, :";
        QTest::newRow("a bias") << QList<qint64>{1, 64, 1, 1} << "0, :, 0, 0";
        QTest::newRow("sound") << QList<qint64>{1, 1, 288} << "0, :, :";
        QTest::newRow("a column") << QList<qint64>{1, 288, 1} << "0, :, :";
        QTest::newRow("one number") << QList<qint64>{1, 1, 1} << "0, :, :";
        QTest::newRow("nothing") << QList<qint64>{2, 0, 1, 4} << "0, :, 0, :";
        QTest::newRow("row") << QList<qint64>{9} << ":";
    }
    void axesWithOnePlaceAreNoRowsAndColumns() {
        QFETCH(QList<qint64>, shape);
        QFETCH(QString, slice);
        QCOMPARE(SliceBar::text(SliceBar::usual({shape.begin(), shape.end()})), slice);
    }

    void sliceBarHasOneSliderForEachHiddenAxis() {
        SliceBar bar;
        bar.setShape({2, 8, 16, 32});
        QCOMPARE(SliceBar::text(bar.slice()), "0, 0, :, :");
        const auto visibleSpins = [&] {
            int count = 0;
            for (QSpinBox* spin : bar.findChildren<QSpinBox*>()) count += !spin->parentWidget()->isHidden();
            return count;
        };
        QCOMPARE(visibleSpins(), 2);
        QSignalSpy spy(&bar, &SliceBar::sliceChanged);
        bar.findChildren<QSpinBox*>().at(1)->setValue(5);
        QCOMPARE(SliceBar::text(bar.slice()), "0, 5, :, :");
        QCOMPARE(spy.count(), 1);
        QTest::keyClick(&bar, Qt::Key_PageDown);
        QCOMPARE(SliceBar::text(bar.slice()), "0, 6, :, :");
        // Taking the other's axis turns the slice.
        QComboBox* down = bar.findChildren<QComboBox*>().first();
        down->setCurrentIndex(down->findData(3));
        Q_EMIT down->activated(down->currentIndex());
        QCOMPARE(bar.slice().rowAxis, 3);
        QCOMPARE(bar.slice().columnAxis, 2);
        bar.setShape({2, 8, 16, 32});
        QCOMPARE(bar.slice().rowAxis, 3);
        bar.setShape({5});
        QCOMPARE(SliceBar::text(bar.slice()), ":");
        bar.setShape({});
        QCOMPARE(SliceBar::text(bar.slice()), "");
        bar.setShape({0, 3});
        QCOMPARE(SliceBar::text(bar.slice()), ":, :");
        bar.setShape({2, 2, 2, 2, 2, 2, 2, 2});
        QCOMPARE(visibleSpins(), 6);
        bar.setShape({1, 5, 3, 3});
        QCOMPARE(visibleSpins(), 1);
    }

    void sliceTextIsTakenOrPutBack() {
        SliceBar bar;
        bar.setShape({2, 8, 16, 32});
        QLineEdit* text = nullptr;
        for (QLineEdit* edit : bar.findChildren<QLineEdit*>())
            if (edit->accessibleName() == "Slice") text = edit;
        QVERIFY(text);
        text->setText("1, :, 3, :");
        QTest::keyClick(text, Qt::Key_Return);
        QCOMPARE(bar.slice(), (Slice{1, 3, {1, 0, 3, 0}}));
        text->setText("9, :, 3, :");
        QTest::keyClick(text, Qt::Key_Return);
        QCOMPARE(text->text(), "1, :, 3, :");
        QVERIFY(text->toolTip().contains("has size 2"));
    }
};

QTEST_MAIN(TestValueWidgets)

}  // namespace tst_value_widgets

#include "tst_value_widgets.moc"
