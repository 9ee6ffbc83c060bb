// What plots say where there is nothing to draw, and how names are written over a picture.

#include <QApplication>
#include <QTest>

#include <cmath>
#include <limits>
#include <vector>

#include "ui/theme/theme.h"
#include "ui/widgets/line_plot.h"
#include "ui/widgets/marked_picture.h"

namespace tst_plots_and_marks {

using namespace sonde;
using widgets::LinePlot;
using widgets::MarkedPicture;

class TestPlotsAndMarks : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setMode(theme::Theme::Mode::Light);
    }

    /// An empty picture would look like a plot that is still to come.
    void linesWithoutFiniteElementsSaySo() {
        LinePlot plot;
        plot.resize(400, 200);
        plot.setScale({0, 1, false});
        const auto inkInMiddle = [&plot] {
            const QImage image = plot.grab().toImage();
            const QColor ink = theme::color(theme::ColorRole::PlotLabel);
            int count = 0;
            for (int y = 60; y < 130; ++y)
                for (int x = 120; x < 380; ++x) {
                    const QColor at = image.pixelColor(x, y);  // letters are smoothed
                    count += std::abs(at.red() - ink.red()) + std::abs(at.green() - ink.green()) +
                                 std::abs(at.blue() - ink.blue()) <
                             90;
                }
            return count;
        };
        plot.setField(1, 64, [](qint64, qint64) { return std::nan(""); });
        QVERIFY2(inkInMiddle() > 50, qPrintable(QString::number(inkInMiddle())));
        plot.setField(
            1, 64, [](qint64, qint64 column) { return column == 40 ? 0.5 : std::numeric_limits<double>::infinity(); });
        QCOMPARE(inkInMiddle(), 0);
        // Of several rows that of the cursor counts.
        plot.setField(2, 64, [](qint64 row, qint64) { return row == 0 ? 0.5 : std::nan(""); });
        QCOMPARE(inkInMiddle(), 0);
        plot.setCursorCell(1, 0);
        QVERIFY(inkInMiddle() > 50);
    }

    /// A name that is wider than the picture keeps its beginning and the score; two that would overlap do not.
    void labelsOfBoxesStayInThePicture() {
        MarkedPicture picture;
        picture.resize(160, 160);
        const QString text = QStringLiteral("somebody with a very long name 0.90");
        const auto shown = [&picture] {
            const QImage image = picture.grab().toImage();
            const QColor plate = theme::color(theme::ColorRole::ToolTip);
            int count = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == plate;
            return count;
        };
        QImage empty(10, 10, QImage::Format_RGB32);
        empty.fill(QColor(1, 2, 3));
        std::vector<MarkedPicture::Mark> marks(1);
        marks[0].place = QRectF(0.1, 0.5, 0.3, 0.3);
        marks[0].color = QColor(Qt::red);
        marks[0].text = text;
        picture.setPicture(empty, empty.size(), marks, QString());
        const int one = shown();
        QVERIFY2(one > 300, qPrintable(QString::number(one)));
        marks.resize(2, marks[0]);
        picture.setPicture(empty, empty.size(), marks, QString());
        const int two = shown();
        QVERIFY2(two > 1.5 * one && two < 2.3 * one, qPrintable(QString::number(two)));
        // The list has the others: the picture is to be seen.
        marks.resize(9, marks[0]);
        picture.setPicture(empty, empty.size(), marks, QString());
        QVERIFY2(shown() < 160 * 160 / 2, qPrintable(QString::number(shown())));
    }
};

QTEST_MAIN(TestPlotsAndMarks)

}  // namespace tst_plots_and_marks

#include "tst_plots_and_marks.moc"
