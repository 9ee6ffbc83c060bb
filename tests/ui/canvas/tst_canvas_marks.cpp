// Layouts, marks and words of a model without a canvas: the parts by themselves, on a widget that nobody sees.

#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>
#include <QWidget>

#include "ui/canvas/canvas_marks.h"
#include "ui/canvas/canvas_text.h"
#include "ui/canvas/card_labels.h"
#include "ui/canvas/layout_requests.h"
#include "ui/canvas/previews.h"
#include "ui/theme/theme.h"

namespace tst_canvas_marks {

using namespace sonde;
using canvas::CanvasMarks;
using canvas::LayoutRequests;

class TestCanvasMarks : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("sonde-test-marks"));
        theme::Theme::instance().install(*qApp);
    }

    void init() {
        QSettings().clear();
        m_context = std::make_unique<context::InspectorContext>();
        m_view = std::make_unique<canvas::CanvasView>(m_widget);
        m_marks = std::make_unique<CanvasMarks>(*m_view, *m_context);
        m_layouts = std::make_unique<LayoutRequests>(m_context->canvases().at(0), *m_marks, *m_context);
        connect(m_layouts.get(), &LayoutRequests::arrived, this, [this](const canvas::ComposedScene& scene, bool) {
            m_view->setPainter(
                std::make_shared<canvas::ScenePainter>(scene.index, scene.graph, m_layouts->measure(), scene.style));
            m_marks->retake();
        });
        m_context->loader().open(QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"));
        QTRY_VERIFY_WITH_TIMEOUT(m_context->model().isOpen(), 20000);
        m_marks->begin();
        m_layouts->request({900, 700});
        QVERIFY(m_layouts->isActive());
        QTRY_VERIFY_WITH_TIMEOUT(!m_layouts->isActive(), 20000);
        QVERIFY(m_view->scene());
    }

    void cleanup() {
        m_layouts.reset();
        m_marks.reset();
        m_view.reset();
        m_context.reset();
    }
    void cleanupTestCase() { context::Job::waitForAll(); }

    void aPointIsMarkedWhereItIs() {
        QVERIFY(m_marks->now().flags.empty());
        QSignalSpy areas(m_marks.get(), &CanvasMarks::areaChanged), changed(m_marks.get(), &CanvasMarks::changed);
        m_context->points().setEnd(node("conv1"), true);
        QCOMPARE(changed.size(), 1);
        QCOMPARE(areas.size(), 1);
        QVERIFY(m_marks->now().of(item("conv1")) & canvas::kEnd);
        const layout::Rect& rect = m_view->scene()->item(item("conv1")).rect;
        QVERIFY(areas.front().front().toRectF().contains(canvas::toQt(rect)));
        const canvas::CanvasText text(*m_view, *m_marks, m_context->model());
        QVERIFY(text.spoken(item("conv1")).endsWith(QStringLiteral(", end point")));
        // The same again is no change.
        m_marks->refresh();
        QCOMPARE(changed.size(), 1);
        m_context->points().clearEnds();
        QCOMPARE(changed.size(), 2);
        QCOMPARE(m_marks->now().of(item("conv1")), canvas::ItemFlags{0});
    }

    void aClosedModuleIsMarkedForWhatIsInside() {
        m_context->points().setEnd(node("layer1.0.conv1"), true);
        const canvas::ItemFlags flags = m_marks->now().of(item("layer1.0.conv1"));
        QVERIFY(flags & canvas::kEnd);
        QVERIFY(flags & canvas::kInside);
    }

    void ofAValueThatWasNotKeptThereAreItsStatistics() {
        session::WatchPolicy policy;
        policy.keep = session::WatchKeep::Statistics;
        m_context->watches().setPolicy(policy);
        m_context->points().setWatched(node("conv1"), true);
        m_context->runs().run();
        QTRY_COMPARE_WITH_TIMEOUT(m_context->runs().state(), context::RunState::Finished, 20000);
        const auto preview = [&]() -> const canvas::Preview* {
            const auto& made = m_marks->now().previews;
            if (!made) return nullptr;
            const auto found = made->find(node("conv1"));
            return found == made->end() ? nullptr : &found->second;
        };
        QTRY_VERIFY_WITH_TIMEOUT(preview(), 20000);
        QVERIFY(preview()->big.startsWith(QStringLiteral("mean ")));
        QVERIFY(preview()->range.contains(QStringLiteral(" … ")));
        // What the policy leaves out is not computed for the canvas alone.
        QVERIFY(!m_context->runs().value(node("conv1")));
        m_context->watches().setPolicy({});
    }

    void statisticsAreWrittenAsTheyAre() {
        session::WatchSummary summary;
        summary.type = "float32[4]";
        QCOMPARE(canvas::makePreview(summary).big, QStringLiteral("float32[4]"));
        summary.stats = analysis::TensorStats{
            .count = 4, .nanCount = 1, .infCount = 0, .zeroCount = 1, .minimum = 0, .maximum = 6, .mean = 2.5};
        const canvas::Preview preview = canvas::makePreview(summary);
        QCOMPARE(preview.big, QStringLiteral("mean 2.5"));
        QCOMPARE(preview.range, QStringLiteral("0 … 6"));
        QVERIFY(preview.bad);
        summary.stats = analysis::TensorStats{.count = 2, .nanCount = 2};
        QCOMPARE(canvas::makePreview(summary).big, QStringLiteral("not finite"));
        summary.stats = analysis::TensorStats{};
        QCOMPARE(canvas::makePreview(summary).big, QStringLiteral("no elements"));
    }

    void watchedModulesAreThoseWhoseOutputIsWatched() {
        QVERIFY(m_marks->watchedModules().empty());
        // An output of its own module, and inside of layer1.
        m_context->points().setWatched(node("layer1.0.conv1"), true);
        const graph::ScopeId layer1 = m_context->navigation().selectionOf(QStringLiteral("layer1")).scope;
        QVERIFY(layer1.valid());
        QCOMPARE(m_marks->watchedModules().size(), std::size_t{1});
        QVERIFY(!m_marks->watchedModules().contains(layer1));
        const graph::NodeId output = lastOf("layer1.1");
        m_context->points().setWatched(output, true);
        QVERIFY(m_marks->watchedModules().contains(layer1));
        QCOMPARE(m_marks->now().moduleValue(layer1), output);
    }

    void aPictureOnPaperIsLight() {
        m_context->settings().setColorBy(QStringLiteral("bytes"));
        m_marks->recolor();
        QVERIFY(m_marks->now().coloring);
        canvas::CanvasStyle style;
        style.scheme = theme::Theme::instance().scheme();
        QCOMPARE(m_marks->inScheme(style, style.scheme).coloring, m_marks->now().coloring);
        style.scheme = theme::Scheme::Dark;
        QVERIFY(m_marks->inScheme(style, theme::Scheme::Light).coloring != m_marks->now().coloring);
    }

    void whatIsHiddenIsCounted() {
        const canvas::CanvasText text(*m_view, *m_marks, m_context->model());
        QVERIFY(m_view->scene()->hiddenExprs > 0);
        QVERIFY2(text.hidden().contains(QStringLiteral("%1 in collapsed modules").arg(m_view->scene()->hiddenExprs)),
                 qPrintable(text.hidden()));
        QVERIFY(text.twin().contains(QStringLiteral("layer1")));
        QCOMPARE(text.currentLine(), -1);
        const layout::ItemId second = text.itemOfLine(1);
        QVERIFY(second);
        m_view->setCurrent(second);
        QCOMPARE(text.currentLine(), 1);
        QVERIFY(!text.itemOfLine(-1));
        QVERIFY(!text.itemOfLine(100'000));
    }

    void labelsOfAStaleRunSaySo() {
        context::LabelRule rule;
        rule.operators = QStringLiteral("*");
        rule.lines = {QStringLiteral("{op}"), QStringLiteral("{time}")};
        m_context->settings().setLabelRules({rule});
        m_layouts->rebuildLabels();
        QVERIFY(m_layouts->labelsTellOfRuns());
        m_context->runs().run();
        QTRY_VERIFY_WITH_TIMEOUT(m_context->runs().state() == context::RunState::Finished, 30000);
        m_layouts->rebuildLabels();
        const auto lines = [this] {
            return canvas::labelLines(*m_layouts->style().labels, m_context->model().graph(), exprOf("conv1"));
        };
        QCOMPARE(lines().size(), 2);
        QVERIFY2(lines().back().endsWith(QStringLiteral(" ms")), qPrintable(lines().back()));
        QVERIFY(!m_layouts->areLabelsOutdated());
        m_context->inputs().setSpec(m_context->inputs().all().front().name, {QStringLiteral("#ones"), {}});
        QTRY_VERIFY(m_layouts->areLabelsOutdated());
        m_layouts->rebuildLabels();
        QVERIFY2(lines().back().endsWith(QStringLiteral(" ms (stale)")), qPrintable(lines().back()));
        QVERIFY(!lines().front().contains(QStringLiteral("stale")));
        QVERIFY(!m_layouts->areLabelsOutdated());
    }

    void anAbandonedLayoutDoesNotArrive() {
        QSignalSpy arrived(m_layouts.get(), &LayoutRequests::arrived);
        m_layouts->request({900, 700});
        m_layouts->abandon();
        QVERIFY(!m_layouts->isActive());
        m_layouts->request({900, 700});
        QTRY_VERIFY_WITH_TIMEOUT(!m_layouts->isActive(), 20000);
        QCOMPARE(arrived.size(), 1);
        QVERIFY(arrived.front().at(1).toBool());
    }

  private:
    graph::NodeId node(const char* module) const { return m_context->navigation().selectionOf(exprOf(module)).node; }
    /// The first operation in a module.
    graph::ExprId exprOf(std::string_view module) const {
        const graph::InternalGraph& graph = m_context->model().graph();
        for (const graph::ExprId id : graph.main().order)
            if (!layout::Outline::isConstant(graph.expr(id)) && graph.expr(id).scope.valid() &&
                graph.scope(graph.expr(id).scope).qualname == module)
                return id;
        return {};
    }
    /// What the last operation in a module gives.
    graph::NodeId lastOf(std::string_view module) const {
        const graph::InternalGraph& graph = m_context->model().graph();
        graph::NodeId last;
        for (const graph::ExprId id : graph.main().order)
            if (!layout::Outline::isConstant(graph.expr(id)) && graph.expr(id).scope.valid() &&
                graph.scope(graph.expr(id).scope).qualname.starts_with(module))
                last = graph.expr(id).outputs.front();
        return last;
    }
    layout::ItemId item(const char* module) const { return m_view->scene()->itemOf(exprOf(module)); }

    QWidget m_widget;
    std::unique_ptr<context::InspectorContext> m_context;
    std::unique_ptr<canvas::CanvasView> m_view;
    std::unique_ptr<CanvasMarks> m_marks;
    std::unique_ptr<LayoutRequests> m_layouts;
};

QTEST_MAIN(TestCanvasMarks)

}  // namespace tst_canvas_marks

#include "tst_canvas_marks.moc"
