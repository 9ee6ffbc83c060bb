// Two values in one panel, without a window: each lock by itself, and how much room they take.

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QSplitter>
#include <QStyle>
#include <QStyleOptionFrame>
#include <QTest>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <complex>
#include <memory>
#include <numeric>
#include <tuple>

#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/value_pair.h"
#include "ui/theme/theme.h"
#include "ui/widgets/heat_map_view.h"
#include "ui/widgets/tall_area.h"

namespace tst_value_pair {

using namespace sonde;
using namespace sonde::panels;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

Tensor counting(const Shape& shape, float first) {
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    std::iota(values.begin(), values.end(), first);
    return Tensor::of<float>(shape, values);
}

template <typename Widget>
Widget* seen(const TensorViewer& viewer) {
    for (auto* widget : viewer.findChildren<Widget*>())
        if (widget->isVisible()) return widget;
    return nullptr;
}

}  // namespace

class TestValuePair : public QObject {
    Q_OBJECT

    /// The box of the shared controls with this accessible name.
    static QComboBox* box(const ValuePair& pair, const char* name) {
        for (auto* one : pair.findChildren<QComboBox*>())
            if (one->accessibleName() == QLatin1String(name) && one->isVisible()) return one;
        return nullptr;
    }
    static void choose(QComboBox* box, int index) {
        box->setFocus();
        box->setCurrentIndex(index);
        Q_EMIT box->activated(index);
    }
    /// In another widget: a window would not be made narrower than its layout.
    void show(ValuePair& pair, const Tensor& first, const Tensor& second) {
        m_host = std::make_unique<QWidget>();
        m_host->resize(800, 700);
        pair.setParent(m_host.get());
        pair.resize(700, 600);
        m_host->show();
        pair.show();
        pair.first()->setValue(QStringLiteral("v"), Value(first));
        const Value other(second);
        pair.setSecond(QStringLiteral("first"), QStringLiteral("second"), QStringLiteral("v"), &other, {});
        QCoreApplication::processEvents();
    }

    std::unique_ptr<QWidget> m_host;

  private Q_SLOTS:
    void cleanup() { m_host.reset(); }
    void initTestCase() {
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setMode(theme::Theme::Mode::Light);
    }

    /// Of [4, 4, 4] either may be meant.
    void theChannelLayoutIsShared() {
        auto& pair = *new ValuePair;  // the host's
        show(pair, counting({4, 4, 4}, 0), counting({4, 4, 4}, 100));
        pair.first()->setCurrentView(QStringLiteral("channels"));
        QCOMPARE(pair.second()->currentView(), QStringLiteral("channels"));
        QComboBox* const layout = box(pair, "Channel axis");
        QVERIFY(layout);
        for (const ChannelLayout chosen : {ChannelLayout::Last, ChannelLayout::First}) {
            choose(layout, static_cast<int>(chosen));
            QCOMPARE(pair.first()->shown().channels, chosen);
            QCOMPARE(pair.second()->shown().channels, chosen);
        }
    }

    /// Below each other in a low panel the place around both scrolls, not each of them in a strip of its own.
    void bothAreAsHighAsTheyNeed() {
        auto* const page = new QWidget;
        auto* const pair = new ValuePair;
        (new QVBoxLayout(page))->addWidget(pair);
        widgets::TallArea place(page);
        place.resize(320, 300);
        place.show();
        const Tensor even = Tensor::of<float>({1, 2, 20, 20}, std::vector<float>(800, 1.0F / 20));
        pair->first()->setValue(QStringLiteral("v"), Value(even));
        pair->first()->setCurrentView(QStringLiteral("attention"));
        const Value other(even);
        pair->setSecond(QStringLiteral("first"), QStringLiteral("second"), QStringLiteral("v"), &other, {});
        for (const auto mode : {ValuePair::Mode::SideBySide, ValuePair::Mode::Blink, ValuePair::Mode::Difference}) {
            pair->setMode(mode);
            QCoreApplication::processEvents();
            QTRY_VERIFY(place.verticalScrollBar()->maximum() > 0);
            for (auto* map : pair->findChildren<widgets::HeatMapView*>()) {
                if (!map->isVisible()) continue;
                // All of it can be brought into view: nothing between cuts it.
                int height = map->height();
                for (QWidget* around = map->parentWidget(); around != page; around = around->parentWidget())
                    height = std::min(height, around->height());
                QTRY_VERIFY2(height >= 200, qPrintable(QString::number(height)));
            }
        }
        // One value scrolls by itself again.
        pair->clearSecond();
        QCoreApplication::processEvents();
        QTRY_VERIFY(place.verticalScrollBar()->maximum() == 0);
    }

    /// 3 + 4i and 5 + 12i: magnitudes 5 and 13, real parts 3 and 5.
    void theReadingIsShared() {
        auto& pair = *new ValuePair;  // the host's
        using Complex = std::complex<float>;
        const std::vector<Complex> left(32, {3, 4}), right(32, {5, 12});
        show(pair, Tensor::of<Complex>({4, 8}, left), Tensor::of<Complex>({4, 8}, right));
        QComboBox* const reading = box(pair, "How elements are read");
        QVERIFY(reading);
        QCOMPARE(pair.second()->reading(), pair.first()->reading());
        for (const auto& [id, first, second] :
             {std::tuple("real", 3.0, 5.0), {"magnitude", 5.0, 13.0}, {"imaginary", 4.0, 12.0}}) {
            choose(reading, reading->findData(QLatin1String(id)));
            QCOMPARE(pair.first()->reading(), QLatin1String(id));
            QCOMPARE(pair.second()->reading(), QLatin1String(id));
            QCOMPARE(pair.first()->tensor().toDouble(7), first);
            QCOMPARE(pair.second()->tensor().toDouble(7), second);
        }
    }

    /// However long the numbers are, also where there is little room.
    void theEndsOfTheRangeAreReadWhole() {
        auto& pair = *new ValuePair;  // the host's
        show(pair, Tensor::of<float>({1, 2}, {-1.23457e-05F, 1.23457e-05F}), counting({1, 2}, 0));
        for (const bool isCompact : {false, true}) {
            pair.setCompact(isCompact);
            for (const double end : {-1.23457e-05, -3.16607, -1.23457e-105}) {
                widgets::RangeState range = pair.first()->shown().range;
                range.low = end, range.high = -end, range.autofit = false;
                pair.first()->rangeControl()->setState(range);
                QCoreApplication::processEvents();
                for (const auto* field : pair.first()->rangeControl()->findChildren<QLineEdit*>()) {
                    QStyleOptionFrame option;
                    option.initFrom(field);
                    option.lineWidth = field->style()->pixelMetric(QStyle::PM_DefaultFrameWidth, &option, field);
                    const QRect inside = field->style()->subElementRect(QStyle::SE_LineEditContents, &option, field);
                    constexpr int kMargins = 4;  // pixels, that a line edit adds
                    QVERIFY2(inside.width() - kMargins >= field->fontMetrics().horizontalAdvance(field->text()),
                             qPrintable(field->text()));
                    QCOMPARE(field->cursorPosition(), 0);
                }
            }
        }
    }

    /// Of a tensor of another shape nothing is drawn, nor said.
    void anOverlayIsOfOneShape() {
        auto& pair = *new ValuePair;  // the host's
        show(pair, counting({4, 4}, 0), counting({4, 4}, 100));
        pair.first()->setCurrentView(QStringLiteral("heat_map"));
        auto* const map = seen<widgets::HeatMapView>(*pair.first());
        QVERIFY(map);
        const auto overlay = [](const Shape& shape) {
            auto made = std::make_shared<ElementOverlay>();
            made->shape = shape;
            made->begin = {1, 1};
            made->end = {3, 3};
            made->text = QStringLiteral("field");
            return made;
        };
        pair.first()->setOverlay(overlay({4, 4}));
        QVERIFY(map->overlay());
        QCOMPARE(pair.first()->overlayText(), QStringLiteral("field"));
        const auto* const legend = pair.findChild<QWidget*>(QStringLiteral("sharedLegend"))
                                       ->findChild<QLabel*>(QStringLiteral("overlayLegend"));
        QVERIFY(legend && legend->isVisible());
        pair.first()->setOverlay(overlay({3, 8}));
        QVERIFY(!map->overlay());
        QCOMPARE(pair.first()->overlayText(), QString());
        QVERIFY(!legend->isVisible());
        // The one that was set first suits the next value.
        pair.first()->setValue(QStringLiteral("w"), Value(counting({3, 8}, 0)));
        pair.first()->setCurrentView(QStringLiteral("heat_map"));
        QVERIFY(map->overlay());
        QCOMPARE(pair.first()->overlayText(), QStringLiteral("field"));
    }

    /// What is chosen inside of a view, as all heads of attention.
    void theStateOfAViewIsShared() {
        auto& pair = *new ValuePair;  // the host's
        const auto attention = [](float share) {
            std::vector<float> values;
            for (int row = 0; row < 6; ++row) values.insert(values.end(), {share, 1 - share, 0});
            return Tensor::of<float>(Shape{1, 2, 3, 3}, values);
        };
        show(pair, attention(0.25F), attention(0.5F));
        QCOMPARE(pair.first()->currentView(), QStringLiteral("attention"));
        const auto allHeads = [](const TensorViewer* viewer) {
            return viewer->findChild<QToolButton*>(QStringLiteral("allHeads"));
        };
        auto *const all = allHeads(pair.first()), *const other = allHeads(pair.second());
        QVERIFY(all && other && all != other && !all->isChecked());
        all->click();
        QVERIFY(all->isChecked() && other->isChecked());
        other->click();
        QVERIFY(!all->isChecked() && !other->isChecked());
    }

    void titlesAndTablesAreLevel() {
        auto& pair = *new ValuePair;  // the host's
        show(pair, counting({8, 8}, 0), counting({8, 8}, 1));
        pair.first()->setCurrentView(QStringLiteral("heat_map"));
        QCoreApplication::processEvents();
        const auto* left = seen<widgets::HeatMapView>(*pair.first());
        const auto* right = seen<widgets::HeatMapView>(*pair.second());
        QVERIFY(left && right);
        QCOMPARE(left->mapTo(&pair, QPoint()).y(), right->mapTo(&pair, QPoint()).y());
        QCOMPARE(left->height(), right->height());
    }

    /// Beside each other where there is room for both, below each other where there is not: they never keep the panel
    /// wider than one of them.
    void narrowPanelsHaveThemBelowEachOther() {
        auto& pair = *new ValuePair;  // the host's
        show(pair, counting({8, 8}, 0), counting({8, 8}, 1));
        pair.first()->setCurrentView(QStringLiteral("heat_map"));
        QCoreApplication::processEvents();
        const auto* const splitter = pair.findChild<QSplitter*>(QString(), Qt::FindDirectChildrenOnly);
        QVERIFY(splitter);
        QCOMPARE(splitter->orientation(), Qt::Horizontal);
        int both = 0;
        for (int i = 0; i < 2; ++i) both += splitter->widget(i)->minimumSizeHint().width();
        QVERIFY2(pair.minimumSizeHint().width() < both, qPrintable(QString::number(pair.minimumSizeHint().width())));
        pair.resize(200, 600);
        QCoreApplication::processEvents();
        QCOMPARE(splitter->orientation(), Qt::Vertical);
        for (const TensorViewer* viewer : {pair.first(), pair.second()}) {
            const auto* const map = seen<widgets::HeatMapView>(*viewer);
            QVERIFY(map);
            QVERIFY(pair.rect().contains(QRect(map->mapTo(&pair, QPoint()), map->size())));
        }
        pair.resize(340, 600);
        QCoreApplication::processEvents();
        QCOMPARE(splitter->orientation(), Qt::Horizontal);
    }
};

QTEST_MAIN(TestValuePair)

}  // namespace tst_value_pair

#include "tst_value_pair.moc"
