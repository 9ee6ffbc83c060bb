// Text on bars is read in each theme, where it lies on the bar and where it does not.

#include <QImage>
#include <QPainter>
#include <QTableWidget>
#include <QTest>

#include <algorithm>

#include "ui/panels/tensor_viewer/share_delegate.h"
#include "ui/theme/theme.h"

namespace tst_share_delegate {

using namespace sonde;
using panels::ShareDelegate;
using theme::ColorRole;
using theme::Theme;

class TestShareDelegate : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void cleanup() { Theme::instance().setMode(Theme::Mode::Light); }

    void textIsReadOnTheBar_data() {
        QTest::addColumn<int>("mode");
        QTest::newRow("light") << static_cast<int>(Theme::Mode::Light);
        QTest::newRow("dark") << static_cast<int>(Theme::Mode::Dark);
        QTest::newRow("contrast") << static_cast<int>(Theme::Mode::HighContrast);
    }
    void textIsReadOnTheBar() {
        QFETCH(const int, mode);
        Theme::instance().setMode(static_cast<Theme::Mode>(mode));
        const QColor bar = theme::color(ColorRole::AccentSoft);
        QVERIFY(most(1, bar) >= 4.5);
        QVERIFY(most(0, theme::color(ColorRole::Base)) >= 4.5);
    }

  private:
    /// The largest contrast to the background of any pixel inside of a cell with a share.
    static double most(double share, const QColor& background) {
        QTableWidget table(1, 1);
        auto* item = new QTableWidgetItem(QStringLiteral("MMMM 50 %"));
        item->setData(ShareDelegate::kShareRole, share);
        table.setItem(0, 0, item);
        const ShareDelegate delegate;
        QImage picture(120, 24, QImage::Format_RGB32);
        picture.fill(background);
        QPainter painter(&picture);
        QStyleOptionViewItem option;
        option.initFrom(&table);
        option.state &= ~(QStyle::State_HasFocus | QStyle::State_MouseOver);
        option.palette.setColor(QPalette::Text, theme::color(ColorRole::Text));
        option.rect = picture.rect();
        delegate.paint(&painter, option, table.model()->index(0, 0));
        painter.end();
        double found = 1;
        for (int y = 4; y < 20; ++y)
            for (int x = 4; x < 100; ++x)
                found = std::max(found, theme::contrast(picture.pixelColor(x, y), background));
        return found;
    }
};

QTEST_MAIN(TestShareDelegate)

}  // namespace tst_share_delegate

#include "tst_share_delegate.moc"
