// The canvas with graphs that no model of the samples has: hostile names, cycles, tens of thousands of nodes.

#include <QSettings>
#include <QStandardPaths>
#include <QTest>

#include "tests/bench/layout_graphs.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/theme/theme.h"

namespace tst_unusual_graphs {

using namespace sonde;
using canvas::GraphCanvas;
using context::InspectorContext;
using layout::ItemKind;

class TestUnusualGraphs : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void cleanupTestCase() { context::Job::waitForAll(); }

    void hostileGraphsAreDrawn();
    void tensOfThousandsAreSelectedAndMoved();
    void aFlightEndsWithItsModel();

  private:
    void show(const std::string& location, std::shared_ptr<const graph::InternalGraph> graph);
    bool settled() const { return m_canvas->isIdle() && !m_context->isBusy(); }
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(settled(), 20000); }
    graph::NodeId node(const char* name) const { return m_context->model().graph().findNode(name); }

    std::unique_ptr<InspectorContext> m_context;
    std::unique_ptr<GraphCanvas> m_canvas;
};

void TestUnusualGraphs::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("sonde-test-unusual-graphs"));
    theme::Theme::instance().install(*qApp);
    theme::Theme::instance().setMode(theme::Theme::Mode::Light);
    theme::Theme::instance().setReducedMotion(true);
}

void TestUnusualGraphs::init() {
    QSettings().clear();
    m_context = std::make_unique<InspectorContext>();
    m_canvas = std::make_unique<GraphCanvas>(*m_context);
    m_canvas->resize(1000, 800);
    m_canvas->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_canvas.get()));
}

void TestUnusualGraphs::cleanup() {
    m_canvas.reset();
    m_context.reset();
}

/// Names of 10 kB, empty ones, signs beyond the basic plane, right to left, markup; a cycle; 10,000 inputs.
void TestUnusualGraphs::hostileGraphsAreDrawn() {
    layout_graphs::GraphMaker m;
    std::vector<graph::NodeId> many;
    for (int i = 0; i < 10'000; ++i) many.push_back(m.input("in" + std::to_string(i)));
    graph::NodeId x = m.op("Sum", many);
    const std::string names[] = {std::string(10'000, 'n'),
                                 "\U0001F9E0\U0001F525",
                                 "\u0634\u0628\u0643\u0629 \u05d0\u05d1",
                                 "<b onclick='x'>&amp;",
                                 "a\nb\tc",
                                 "\xff\xfe broken",
                                 "\u202egnirts\u202c a\u0301\u0302\u0303\u0304e\u0308\u0323",
                                 "\u200f\u200b"};
    for (const std::string& name : names) {
        m.enter(name, name);
        x = m.op(name, {x}, name + "_value");
        x = m.op("Relu", {x}, name + "_relu");
        m.leave();
    }
    for (int i = 0; i < 100; ++i) m.enter("deep" + std::to_string(i), "Deep");
    x = m.op("Abs", {m.op("Abs", {x})}, "deepest");
    for (int i = 0; i < 100; ++i) m.leave();
    m.enter("", "");
    x = m.op("", {x}, "");
    x = m.op("Neg", {x}, "neg");
    m.leave();
    const graph::NodeId first = m.op("Add", {x, x}, "loop_a");
    const graph::NodeId second = m.op("Add", {first, x}, "loop_b");
    m.graph().setArguments(m.graph().node(first).producer,
                           {graph::Argument::of(second), graph::Argument::of(x)});  // a cycle
    show(names[0], m.done({second}));
    for (const layout::Direction direction : {layout::Direction::TopDown, layout::Direction::LeftRight}) {
        m_context->canvases().active().setDirection(direction);
        m_context->canvases().active().expandToDepth(200);
        settle();
        QVERIFY(m_canvas->view().scene()->itemOf(m_context->model().graph().node(second).producer).valid());
        QCOMPARE(m_canvas->view()
                     .scene()
                     ->item(m_canvas->view().scene()->itemOf(m_context->model().graph().node(node("deepest")).producer))
                     .what.kind,
                 ItemKind::Expr);
        for (int i = 0; i < 8; ++i) {
            m_canvas->view().zoomBy(i < 4 ? 0.3 : 4);
            settle();
            QVERIFY(!m_canvas->grab().isNull());
        }
        QVERIFY(m_canvas->text().twin().size() > 1000);
    }
    for (const QSize size : {QSize(1, 1), QSize(1, 900), QSize(1600, 1), QSize(1000, 800)}) {
        m_canvas->resize(size);
        m_canvas->navigation().fit();
        settle();
        QVERIFY(!m_canvas->grab().isNull());
    }
    m_context->navigation().navigateTo(second);
    m_context->canvases().active().focusConeOfSelection(true, true);
    settle();
    m_context->settings().setColorBy(QStringLiteral("module"));
    m_context->canvases().active().showEverything();
    settle();
    QVERIFY(!m_canvas->grab().isNull());
}

void TestUnusualGraphs::show(const std::string& location, std::shared_ptr<const graph::InternalGraph> graph) {
    auto document = std::make_shared<document::Document>();
    document->title = document->location = location;
    document->graph = std::move(graph);
    document->modules = std::make_shared<graph::ModuleTree>();
    m_context->loader().show(document);
    settle();
}

// Work that grows with the square of a picture would not come to an end here.
void TestUnusualGraphs::tensOfThousandsAreSelectedAndMoved() {
    layout_graphs::GraphMaker m;
    graph::NodeId x = m.input("x");
    for (int i = 0; i < 60'000; ++i) x = m.op("Relu", {x}, "relu" + std::to_string(i));
    m.enter("last", "Last");
    x = m.op("Abs", {m.op("Neg", {x}, "neg")}, "abs");
    m.leave();
    show("large", m.done({x}));
    m_canvas->navigation().selectAll();
    settle();
    QCOMPARE(m_context->navigation().selectedNodes().size(), std::size_t{60'001});
    QVERIFY(!m_canvas->grab().isNull());
    m_canvas->navigation().clearSelection();
    theme::Theme::instance().setReducedMotion(false);
    m_context->canvases().active().setExpanded(
        m_context->model().graph().expr(m_context->model().graph().node(node("abs")).producer).scope, true);
    settle();
    m_context->canvases().active().expandToDepth(0);
    settle();
    theme::Theme::instance().setReducedMotion(true);
    QVERIFY(!m_canvas->grab().isNull());
}

void TestUnusualGraphs::aFlightEndsWithItsModel() {
    layout_graphs::GraphMaker a, b;
    graph::NodeId x = a.input("x");
    for (int i = 0; i < 40; ++i) x = a.op("Relu", {x});
    const auto one = a.done({x}), other = b.done({b.op("Neg", {b.input("y")})});
    show("other", other);
    const canvas::Camera expected = m_canvas->view().camera();
    show("one", one);
    m_canvas->view().zoomBy(4);
    theme::Theme::instance().setReducedMotion(false);
    m_canvas->navigation().fit();  // takes a while
    QVERIFY(!m_canvas->isIdle());
    show("other", other);
    settle();  // a flight that goes on has come to its end then
    theme::Theme::instance().setReducedMotion(true);
    QVERIFY(m_canvas->view().camera() == expected);
}

QTEST_MAIN(TestUnusualGraphs)

}  // namespace tst_unusual_graphs

#include "tst_unusual_graphs.moc"
