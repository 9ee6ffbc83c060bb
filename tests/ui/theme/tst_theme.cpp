#include <QApplication>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "ui/theme/color_map.h"
#include "ui/theme/icon.h"
#include "ui/theme/scales.h"
#include "ui/theme/theme.h"

namespace tst_theme {

using namespace sonde::theme;

namespace {

constexpr Scheme kSchemes[] = {Scheme::Light, Scheme::Dark, Scheme::HighContrast};

/// Relative lightness as CIE L*, 0 to 100.
double lightness(QRgb rgb) {
    const auto linear = [](int v) {
        const double c = v / 255.0;
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    const double y = 0.2126 * linear(qRed(rgb)) + 0.7152 * linear(qGreen(rgb)) + 0.0722 * linear(qBlue(rgb));
    return y > 0.008856 ? 116.0 * std::cbrt(y) - 16.0 : 903.3 * y;
}

double channelDistance(const QColor& a, const QColor& b) {
    return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue());
}

}  // namespace

class TestTheme : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void init() { Theme::instance().install(*qApp); }

    void scalesAndSetsCanBeReadAndToldApart() {
        for (const Scheme scheme : {Scheme::Light, Scheme::Dark, Scheme::HighContrast}) {
            double last = contrast(scaleColors(0, scheme).fill, color(ColorRole::Canvas, scheme));
            for (int i = 0; i <= 32; ++i) {
                const CategoryColors at = scaleColors(i / 32.0, scheme);
                QVERIFY2(contrast(at.text, at.fill) >= 4.5,
                         qPrintable(QStringLiteral("%1 %2").arg(int(scheme)).arg(i)));
                // More is always farther from the background in lightness: the order is seen without hue.
                const double now = contrast(at.fill, color(ColorRole::Canvas, scheme));
                QVERIFY2(i == 0 || now > last, qPrintable(QStringLiteral("%1 %2").arg(int(scheme)).arg(i)));
                last = now;
            }
            for (int i = 0; i < kSetColors; ++i)
                QVERIFY(contrast(setColors(i, scheme).text, setColors(i, scheme).fill) >= 4.5);
        }
    }

    void contrastOfBlackAndWhiteIs21() {
        QCOMPARE(contrast(Qt::black, Qt::white), 21.0);
        // 4.54 is the figure that WCAG's own material gives for #767676 on white.
        QVERIFY(std::abs(contrast(QColor(0x76, 0x76, 0x76), Qt::white) - 4.54) < 0.01);
    }

    void textIsReadableOnItsBackgroundInEveryScheme() {
        QStringList bad;
        for (Scheme scheme : kSchemes) {
            for (const TextPair& pair : textPairs()) {
                const QColor text = color(pair.text, scheme), background = color(pair.background, scheme);
                if (contrast(text, background) < 4.5)
                    bad << QStringLiteral("%1 on %2 in scheme %3: %4")
                               .arg(colorTable()[size_t(pair.text)].name, colorTable()[size_t(pair.background)].name)
                               .arg(int(scheme))
                               .arg(contrast(text, background));
            }
            for (int i = 0; i < int(OpCategory::Count); ++i) {
                const CategoryColors c = categoryColors(OpCategory(i), scheme);
                if (contrast(c.text, c.fill) < 4.5) bad << "category text " + categoryKey(OpCategory(i));
                if (contrast(color(ColorRole::NodeSubtext, scheme), c.fill) < 4.5)
                    bad << QStringLiteral("subtext on %1 in scheme %2: %3")
                               .arg(categoryKey(OpCategory(i)))
                               .arg(int(scheme))
                               .arg(contrast(color(ColorRole::NodeSubtext, scheme), c.fill));
            }
        }
        QVERIFY2(bad.isEmpty(), qPrintable(bad.join('\n')));
    }

    /// Of what was not reached: its fill at 0.3 over the canvas or a module, its text as it is.
    void dimmedTextIsRead() {
        const auto faint = [](const QColor& fill, const QColor& below) {
            const auto mix = [](int a, int b) { return static_cast<int>(0.3 * a + 0.7 * b + 0.5); };
            return QColor(mix(fill.red(), below.red()), mix(fill.green(), below.green()),
                          mix(fill.blue(), below.blue()));
        };
        for (const Scheme scheme : kSchemes) {
            const double least = scheme == Scheme::HighContrast ? 4.5 : 3.0;
            for (int depth = -1; depth < 6; ++depth) {
                const QColor below = depth < 0 ? color(ColorRole::Canvas, scheme) : moduleFill(depth, scheme);
                for (int i = 0; i < int(OpCategory::Count); ++i) {
                    const QColor fill = faint(categoryColors(OpCategory(i), scheme).fill, below);
                    QVERIFY(contrast(color(ColorRole::DimmedText, scheme), fill) >= least);
                }
                for (const double t : {-1.0, -0.5, 0.0, 0.5, 1.0})
                    QVERIFY(contrast(color(ColorRole::Text, scheme), faint(divergingColors(t, scheme).fill, below)) >=
                            least);
            }
        }
    }

    void marksAndOutlinesStandOutFromTheCanvas() {
        using enum ColorRole;
        for (Scheme scheme : kSchemes)
            for (ColorRole role : {SelectionOutline, WatchMark, EndMark, CurrentMark, ErrorMark, WarningMark,
                                   EdgeHighlight, EdgeOfInput, EdgeOfOutput, FocusRing})
                QVERIFY2(contrast(color(role, scheme), color(Canvas, scheme)) >= 3.0, colorTable()[size_t(role)].name);
    }

    void categoriesCanBeToldApart() {
        for (Scheme scheme : kSchemes)
            for (int i = 0; i < int(OpCategory::Count); ++i)
                for (int j = i + 1; j < int(OpCategory::Count); ++j) {
                    const CategoryColors a = categoryColors(OpCategory(i), scheme),
                                         b = categoryColors(OpCategory(j), scheme);
                    const double distance = channelDistance(a.fill, b.fill) + channelDistance(a.stroke, b.stroke);
                    QVERIFY2(distance >= 16,
                             qPrintable(categoryTitle(OpCategory(i)) + " " + categoryTitle(OpCategory(j))));
                }
    }

    void categoryKeysGoThereAndBack() {
        for (int i = 0; i < int(OpCategory::Count); ++i)
            QCOMPARE(categoryFromKey(QString(categoryKey(OpCategory(i)))), OpCategory(i));
        QCOMPARE(categoryFromKey(u"no such"), OpCategory::Unknown);
    }

    void moduleFillsChangeWithDepthForEver() {
        for (Scheme scheme : kSchemes)
            for (int depth = 0; depth < 40; ++depth)
                QVERIFY(moduleFill(depth, scheme) != moduleFill(depth + 1, scheme));
    }

    void changingModeChangesPaletteAndTellsOnce() {
        Theme& theme = Theme::instance();
        theme.setMode(Theme::Mode::Light);
        QSignalSpy spy(&theme, &Theme::changed);
        theme.setMode(Theme::Mode::Dark);
        QCOMPARE(spy.count(), 1);
        QCOMPARE(QApplication::palette().color(QPalette::Window), color(ColorRole::Window, Scheme::Dark));
        QVERIFY(theme.isDark());
        theme.toggle();
        QCOMPARE(theme.mode(), Theme::Mode::Light);
        theme.setMode(Theme::Mode::Light);
        QCOMPARE(spy.count(), 2);
    }

    void modeKeysGoThereAndBack() {
        using Mode = Theme::Mode;
        for (Mode mode : {Mode::System, Mode::Light, Mode::Dark, Mode::HighContrast})
            QCOMPARE(Theme::modeFromKey(Theme::modeKey(mode)), mode);
        QCOMPARE(Theme::modeFromKey("purple"), Mode::System);
    }

    void styleSheetNamesOnlyKnownRoles() {
        for (Scheme scheme : kSchemes) QVERIFY(!Theme::styleSheet(scheme).contains('@'));
    }

    void textScaleChangesFonts() {
        Theme& theme = Theme::instance();
        const double before = theme.uiFont().pointSizeF();
        theme.setTextScale(1.5);
        QVERIFY(qFuzzyCompare(theme.uiFont().pointSizeF(), before * 1.5));
        QVERIFY(qFuzzyCompare(QApplication::font().pointSizeF(), before * 1.5));
        theme.setTextScale(100);
        QCOMPARE(theme.textScale(), 3.0);
        theme.setTextScale(1.0);
    }

    void reducedMotionMeansNoAnimation() {
        Theme& theme = Theme::instance();
        QCOMPARE(theme.animationMs(200), 200);
        theme.setReducedMotion(true);
        QCOMPARE(theme.animationMs(200), 0);
        theme.setReducedMotion(false);
    }

    void iconsFollowTheTheme() {
        Theme& theme = Theme::instance();
        const QIcon close = icon("close");
        QVERIFY(!close.isNull());
        theme.setMode(Theme::Mode::Light);
        const QImage light = close.pixmap(QSize(24, 24), 1.0).toImage();
        theme.setMode(Theme::Mode::Dark);
        const QImage dark = close.pixmap(QSize(24, 24), 1.0).toImage();
        // The two strokes cross in the middle.
        QVERIFY(channelDistance(light.pixelColor(12, 12), color(ColorRole::Text, Scheme::Light)) < 12);
        QVERIFY(channelDistance(dark.pixelColor(12, 12), color(ColorRole::Text, Scheme::Dark)) < 12);
        QCOMPARE(light.pixelColor(12, 2).alpha(), 0);
        theme.setMode(Theme::Mode::Light);
        QVERIFY(icon("no such icon").isNull());
        QCOMPARE(close.pixmap(QSize(24, 24), 2.0).size(), QSize(48, 48));
    }

    void everyIconDrawsSomethingInsideItsSquare() {
        QVERIFY(iconNames().size() > 60);
        for (const QString& name : iconNames()) {
            const QImage image = iconPixmap(name, Qt::red, 48, 1.0).toImage();
            int inked = 0;
            for (int y = 0; y < 48; ++y)
                for (int x = 0; x < 48; ++x) {
                    const bool ink = qAlpha(image.pixel(x, y)) > 128;
                    inked += ink;
                    if (ink) QVERIFY2(x > 0 && y > 0 && x < 47 && y < 47, qPrintable(name));
                }
            QVERIFY2(inked > 20 && inked < 1400, qPrintable(name));
        }
        QVERIFY(!applicationIcon().pixmap(64, 64).isNull());
    }

    void sequentialMapsRiseInLightness() {
        for (const ColorMap& map : colorMaps()) {
            if (map.diverging()) continue;
            for (int i = 4; i < ColorMap::kSize; ++i)
                QVERIFY2(lightness(map.entries()[i]) > lightness(map.entries()[i - 4]), qPrintable(map.title()));
            QVERIFY(lightness(map.entries().back()) - lightness(map.entries().front()) > 55);
        }
    }

    void divergingMapIsWhiteInTheMiddleAndEvenOnBothSides() {
        const ColorMap& map = colorMap(u"diverging");
        QVERIFY(map.diverging());
        const QRgb middle = map.at(0.5);
        QVERIFY(qRed(middle) > 235 && qGreen(middle) > 235 && qBlue(middle) > 235);
        for (double d : {0.1, 0.25, 0.4, 0.5})
            QVERIFY(std::abs(lightness(map.at(0.5 - d)) - lightness(map.at(0.5 + d))) < 6);
        QVERIFY(qBlue(map.at(0.1)) > qRed(map.at(0.1)));
        QVERIFY(qRed(map.at(0.9)) > qBlue(map.at(0.9)));
    }

    void mapsHoldTheEnds() {
        const ColorMap& grey = colorMap(u"grey");
        QCOMPARE(grey.at(-3), qRgb(0, 0, 0));
        QCOMPARE(grey.at(7), qRgb(255, 255, 255));
        QCOMPARE(grey.at(std::nan("")), qRgb(0, 0, 0));
        QCOMPARE(grey.at(0.2), qRgb(51, 51, 51));
        QCOMPARE(colorMap(u"no such").id(), colorMaps().front().id());
    }
};

QTEST_MAIN(TestTheme)

}  // namespace tst_theme

#include "tst_theme.moc"
