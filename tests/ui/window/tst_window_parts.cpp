// Parts of the window without the window: canvases on a plain widget, steps and links over a context.

#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>

#include "ui/canvas/graph_canvas.h"
#include "ui/theme/theme.h"
#include "ui/window/graph_steps.h"
#include "ui/window/window_canvases.h"
#include "ui/window/window_links.h"

namespace tst_window_parts {

using namespace sonde;
using window::GraphSteps;
using window::WindowCanvases;
using window::WindowLinks;

class TestWindowParts : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("sonde-test-window-parts"));
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setReducedMotion(true);
    }
    void init() {
        QSettings().clear();
        m_context = std::make_unique<context::InspectorContext>();
        m_actions = std::make_unique<actions::ActionRegistry>();
    }
    void cleanup() {
        m_actions.reset();
        m_context.reset();
    }
    void cleanupTestCase() { context::Job::waitForAll(); }

    void canvasesAreSplitTurnedAndClosed() {
        QWidget page;
        WindowCanvases canvases(page, *m_context, *m_actions);
        QSignalSpy changed(&canvases, &WindowCanvases::changed);
        QCOMPARE(canvases.all().size(), std::size_t{1});
        QVERIFY(canvases.active() == canvases.at(0) && !canvases.at(1));
        canvases.close(1);  // there is none
        QCOMPARE(changed.size(), 0);
        canvases.split(Qt::Vertical);
        QVERIFY(!changed.isEmpty());
        QVERIFY(canvases.isSplit(Qt::Vertical) && !canvases.isSplit(Qt::Horizontal));
        const canvas::GraphCanvas* second = canvases.at(1);
        canvases.toggleSplit(Qt::Horizontal);
        QVERIFY(canvases.isSplit(Qt::Horizontal));
        QVERIFY(canvases.at(1) == second);  // turned, not made anew
        m_context->canvases().setActive(1);
        QVERIFY(canvases.active() == second);
        canvases.toggleSplit(Qt::Horizontal);
        QVERIFY(!canvases.isSplit());
        QVERIFY(canvases.active() == canvases.at(0));
        QCOMPARE(m_context->canvases().activeNumber(), 0);
    }

    void aSecondCanvasBeginsWithTheFirstsLook() {
        QWidget page;
        WindowCanvases canvases(page, *m_context, *m_actions);
        canvases.at(0)->interaction().setWheelZooms(false);
        canvases.at(0)->overlays().setOverviewVisible(false);
        canvases.split(Qt::Horizontal);
        QVERIFY(!canvases.at(1)->interaction().wheelZooms());
        QVERIFY(!canvases.at(1)->overlays().overviewVisible());
    }

    void stepsGoAlongTheDataAndBack() {
        open();
        GraphSteps steps(*m_context, *m_actions);
        const graph::NodeId conv = firstOperation();
        QVERIFY(conv.valid());
        m_context->navigation().select(conv);
        QCOMPARE(steps.actedOn(), conv);
        steps.goToConsumer();
        const graph::NodeId next = m_context->navigation().selection().node;
        QVERIFY(next != conv);
        // Its weights come later in the list of inputs, or are no data: the way back is that of the data.
        steps.goToProducer();
        QCOMPARE(m_context->navigation().selection().node, conv);
    }

    void stepsSayWhyThereIsNothing() {
        open();
        GraphSteps steps(*m_context, *m_actions);
        QSignalSpy said(&steps, &GraphSteps::said);
        steps.goToProblem(1);
        QCOMPARE(said.size(), 1);
        const QString key =
            m_actions->shortcuts(QStringLiteral("run.start")).front().toString(QKeySequence::NativeText);
        QVERIFY2(said.front().front().toString().contains(key), qPrintable(said.front().front().toString()));
        steps.goToDifference(-1);
        steps.goToWorst();
        QCOMPARE(said.size(), 3);
        QVERIFY(said.back().front().toString().startsWith(QStringLiteral("Nothing was compared yet")));
    }

    void linkedWindowsSelectTheSame() {
        open();
        context::InspectorContext other;
        QWidget page, otherPage, window, otherWindow;
        WindowCanvases canvases(page, *m_context, *m_actions), otherCanvases(otherPage, other, *m_actions);
        auto* here = new WindowLinks(window, *m_context, canvases);
        auto* there = new WindowLinks(otherWindow, other, otherCanvases);
        other.loader().show(m_context->model().whole());
        QTRY_VERIFY_WITH_TIMEOUT(other.model().isOpen(), 20000);
        m_context->navigation().select(firstOperation());
        QVERIFY(other.navigation().selection().isNone());  // not linked
        QSignalSpy linked(here, &WindowLinks::linkedChanged);
        here->setLinked(true);
        there->setLinked(true);
        QCOMPARE(linked.size(), 1);
        m_context->navigation().clearSelection();
        m_context->navigation().select(firstOperation());
        QCOMPARE(other.navigation().selection().node, m_context->navigation().selection().node);
        other.navigation().clearSelection();
        QVERIFY(m_context->navigation().selection().isNone());
        there->setLinked(false);
        m_context->navigation().select(firstOperation());
        QVERIFY(other.navigation().selection().isNone());
    }

  private:
    void open() {
        m_context->loader().open(QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"));
        QTRY_VERIFY_WITH_TIMEOUT(m_context->model().isOpen(), 20000);
    }
    /// The result of the first operation that is neither an input nor a constant.
    graph::NodeId firstOperation() const {
        const graph::InternalGraph& graph = m_context->model().graph();
        for (const graph::ExprId id : graph.main().order)
            if (!layout::Outline::isConstant(graph.expr(id)) && graph.expr(id).kind != graph::ExprKind::Input)
                return graph.expr(id).outputs.front();
        return {};
    }

    std::unique_ptr<context::InspectorContext> m_context;
    std::unique_ptr<actions::ActionRegistry> m_actions;
};

QTEST_MAIN(TestWindowParts)

}  // namespace tst_window_parts

#include "tst_window_parts.moc"
