// What nothing is known of looks like nothing on the scale: hollow with a dashed outline, in every colouring, near and
// far, and the legend says what it means.

#include "tests/support/window_fixture.h"
#include "ui/canvas/coloring.h"
#include "ui/canvas/legend.h"
#include "ui/canvas/scene_painter.h"
#include "ui/context/value_measures.h"
#include "ui/models/node_columns.h"
#include "ui/theme/scales.h"

namespace tst_unmeasured {

using namespace sonde;
using canvas::Coloring;
using canvas::Tint;

class TestUnmeasured : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }
    void everyColouringTellsWhatIsUnknown();
    void zeroIsKnown();
    void farOutTheUnknownIsHollow_data();
    void farOutTheUnknownIsHollow();
    void theLegendSaysIt();

  private:
    /// control_flow has branches that a run does not take: what is in them is never measured.
    void openAndMeasure() {
        open(file("control_flow.onnx"));
        run();
        context().valueMeasures().compute();
        QTRY_VERIFY_WITH_TIMEOUT(context().valueMeasures().isKnown(), 30000);
        context().canvases().active().setExpandedRecursively(context().model().graph().rootScope(), true);
        for (const graph::ExprId id : context().model().graph().main().order)
            if (!context().model().graph().expr(id).bodies.empty()) context().canvases().active().setExpanded(id, true);
        settle();
    }
    layout::ItemDescription itemOf(graph::ExprId id) const {
        layout::ItemDescription what;
        what.kind = layout::ItemKind::Expr;
        what.expr = id;
        return what;
    }
    /// The operations that something can be known of.
    std::vector<graph::ExprId> operations() {
        std::vector<graph::ExprId> found;
        for (const graph::ExprId id : context().model().graph().recursiveOrder(context().model().graph().mainId()))
            if (const graph::Expr& expr = context().model().graph().expr(id);
                !layout::Outline::isConstant(expr) && expr.bodies.empty() && expr.outputs.size() == 1 &&
                expr.kind != graph::ExprKind::Input)
                found.push_back(id);
        return found;
    }
};

void TestUnmeasured::everyColouringTellsWhatIsUnknown() {
    openAndMeasure();
    const models::NodeMeasures measures(context().model(), context().runs(), context().valueMeasures(),
                                        context().comparison());
    const auto& columns = models::nodeColumns();
    int unknown = 0, known = 0;
    for (int column = 0; column < static_cast<int>(columns.size()); ++column) {
        if (!columns[static_cast<std::size_t>(column)].colours) continue;
        for (const theme::Scheme scheme : {theme::Scheme::Light, theme::Scheme::Dark, theme::Scheme::HighContrast}) {
            const Coloring coloring(measures, columns[static_cast<std::size_t>(column)].id, scheme);
            QVERIFY(!coloring.unknownText().isEmpty());
            for (const auto& [text, tint] : coloring.rows())
                QVERIFY2(tint.fill != coloring.unknownTint().fill && !tint.unknown, qPrintable(coloring.title()));
            for (const graph::ExprId id : operations()) {
                const graph::NodeId node = context().model().graph().expr(id).outputs.front();
                const bool is = coloring.isNumeric() ? measures.number(column, node).has_value()
                                                     : !measures.group(column, node).isEmpty();
                const Tint* tint = coloring.of(itemOf(id));
                QVERIFY(tint);
                QVERIFY2(tint->unknown != is,
                         qPrintable(coloring.title() + ' ' +
                                    QString::fromStdString(context().model().graph().node(node).name)));
                ++(is ? known : unknown);
            }
        }
    }
    QVERIFY(known > 100 && unknown > 20);
}

/// A share of 0 % is the lowest of the scale, not unknown.
void TestUnmeasured::zeroIsKnown() {
    openAndMeasure();
    const models::NodeMeasures measures(context().model(), context().runs(), context().valueMeasures(),
                                        context().comparison());
    const Coloring coloring(measures, QStringLiteral("zeros"), theme::Scheme::Light);
    int zeros = 0;
    for (const graph::ExprId id : operations()) {
        const auto number = measures.number(models::ZerosColumn, context().model().graph().expr(id).outputs.front());
        if (!number || *number != 0) continue;
        ++zeros;
        const Tint* tint = coloring.of(itemOf(id));
        QVERIFY(!tint->unknown);
        QCOMPARE(tint->fraction, 0.0);
        QCOMPARE(tint->fill, theme::divergingColors(0, theme::Scheme::Light).fill);
    }
    QVERIFY(zeros > 0);
}

void TestUnmeasured::farOutTheUnknownIsHollow_data() {
    QTest::addColumn<int>("mode");
    QTest::newRow("light") << static_cast<int>(theme::Theme::Mode::Light);
    QTest::newRow("dark") << static_cast<int>(theme::Theme::Mode::Dark);
    QTest::newRow("contrast") << static_cast<int>(theme::Theme::Mode::HighContrast);
}

/// Before, such boxes were filled with what stands out most, like the top of the scale.
void TestUnmeasured::farOutTheUnknownIsHollow() {
    QFETCH(int, mode);
    theme::Theme::instance().setMode(static_cast<theme::Theme::Mode>(mode));
    openAndMeasure();
    context().settings().setColorBy(QStringLiteral("zeros"));
    canvas()->view().zoomReset();
    canvas()->view().zoomBy(0.19);
    settle();
    canvas()->view().centreOn(canvas::toQt(canvas()->view().scene()->bounds).center());
    settle();
    const QImage shot = canvas()->grab().toImage();
    int hollow = 0;
    const auto marks = canvas()->snapshot().marks;
    const auto apart = [](const QColor& a, const QColor& b) {
        return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue());
    };
    for (const layout::SceneItem& item : canvas()->view().scene()->items) {
        const Tint* tint = item.what.open ? nullptr : marks.tint(item.what);
        if (!tint || !tint->unknown || item.what.kind != layout::ItemKind::Expr) continue;
        const QPoint middle = canvas()->view().itemRect(canvas()->view().scene()->find(item.key)).center().toPoint();
        if (!shot.rect().contains(middle) || canvas()->childAt(middle)) continue;
        // What was not reached is painted faintly as well: near the background, and far from the top of the scale.
        const QColor there = shot.pixelColor(middle);
        QVERIFY2(apart(there, theme::color(theme::ColorRole::Canvas)) < 60, qPrintable(there.name()));
        QVERIFY2(apart(there, marks.coloring->rows().back().second.fill) > 200, qPrintable(there.name()));
        QVERIFY2(apart(there, theme::color(theme::ColorRole::StrongBorder)) > 60, qPrintable(there.name()));
        ++hollow;
    }
    QVERIFY(hollow > 0);
}

void TestUnmeasured::theLegendSaysIt() {
    openAndMeasure();
    canvas()->overlays().setLegendVisible(true);
    auto* legend = canvas()->findChild<canvas::Legend*>();
    QVERIFY(legend);
    context().settings().setColorBy(QStringLiteral("zeros"));
    settle();
    QVERIFY(legend->lines().contains(QStringLiteral("no statistics")));
    context().settings().setColorBy(QStringLiteral("readers"));  // known of everything
    settle();
    QVERIFY(!legend->lines().contains(QStringLiteral("unknown")));
    context().settings().setColorBy(QStringLiteral("difference"));
    settle();
    QVERIFY(legend->lines().join(' ').contains(QStringLiteral("use Run")));
}

QTEST_MAIN(TestUnmeasured)

}  // namespace tst_unmeasured

#include "tst_unmeasured.moc"
