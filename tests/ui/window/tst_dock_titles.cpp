// Titles of docks and their tabs can be read whole in small windows, whatever the theme.

#include <QDockWidget>
#include <QImage>
#include <QTabBar>

#include "tests/support/window_fixture.h"

namespace tst_dock_titles {

using namespace sonde;
using theme::Theme;

class TestDockTitles : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() { QSettings().clear(); }
    void cleanup() { closeWindow(); }

    void titlesAndTabsAreWhole_data() {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<int>("mode");
        for (const QSize size : {QSize(800, 600), QSize(1280, 720)}) {
            for (const Theme::Mode mode : {Theme::Mode::Light, Theme::Mode::Dark, Theme::Mode::HighContrast})
                QTest::addRow("%dx%d, %d", size.width(), size.height(), static_cast<int>(mode))
                    << size << static_cast<int>(mode);
        }
    }
    void titlesAndTabsAreWhole() {
        QFETCH(QSize, size);
        QFETCH(int, mode);
        Theme::instance().setMode(static_cast<Theme::Mode>(mode));
        openWindow(size);
        open(QStringLiteral("zoo:blocks_net"));
        for (const QDockWidget* dock : m_window->findChildren<QDockWidget*>())
            m_window->docks().show(dock->objectName().section(QLatin1Char('.'), 1));
        settle();
        int titles = 0, tabs = 0;
        for (QDockWidget* dock : m_window->findChildren<QDockWidget*>()) {
            if (dock->visibleRegion().isEmpty()) continue;
            const QString lack = cutIn(*dock);
            QVERIFY2(lack.isEmpty(), qPrintable(lack));
            ++titles;
        }
        for (const QTabBar* bar : m_window->findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
            if (!bar->isVisible()) continue;
            for (int i = 0; i < bar->count(); ++i, ++tabs) {
                const int needed = bar->fontMetrics().horizontalAdvance(bar->tabText(i));
                QVERIFY2(bar->tabRect(i).width() > needed, qPrintable(bar->tabText(i)));
            }
        }
        QVERIFY2(titles >= 4 && tabs >= 6, qPrintable(QStringLiteral("%1, %2").arg(titles).arg(tabs)));
    }

  private:
    /// What of a dock's title is not painted; empty if all of it is.
    static QString cutIn(QDockWidget& dock) {
        const int height = dock.widget()->geometry().top();
        const QString title = dock.windowTitle();
        const QFontMetrics metrics(dock.font());
        const QImage strip = dock.grab(QRect(0, 0, dock.width(), height)).toImage();
        // Rows and columns with letters; the buttons are at the right end, and a line is below.
        const int right = std::min(strip.width(), 12 + metrics.horizontalAdvance(title));
        const QRgb background = strip.pixel(2, height / 2);
        QRect painted;
        for (int y = 1; y < height - 2; ++y)
            for (int x = 2; x < right; ++x)
                if (strip.pixel(x, y) != background) painted |= QRect(x, y, 1, 1);
        const QRect letters = metrics.tightBoundingRect(title);
        if (painted.height() >= letters.height() && painted.width() >= letters.width() - 2) return {};
        return QStringLiteral("%1: %2x%3 of %4x%5")
            .arg(title)
            .arg(painted.width())
            .arg(painted.height())
            .arg(letters.width())
            .arg(letters.height());
    }
};

QTEST_MAIN(TestDockTitles)

}  // namespace tst_dock_titles

#include "tst_dock_titles.moc"
