// Opening, running, reloading, comparing and closing in any order and without waiting for one another, with two
// canvases and dialogs in between: nothing may crash, get stuck, or end with something else than what is open. Meant
// for AddressSanitizer too.

#include <QDialog>

#include <random>

#include "tests/support/window_fixture.h"
#include "ui/context/comparison.h"
#include "ui/context/value_measures.h"

namespace tst_random_sessions {

using namespace sonde;

class TestRandomSessions : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void cleanup() { closeWindow(); }
    void anyOrder_data();
    void anyOrder();

  private:
    std::size_t any(std::size_t count) { return static_cast<std::size_t>(m_random() % count); }
    graph::NodeId anyNode() {
        for (int tries = 0; context().model().isOpen() && tries < 20; ++tries) {
            const graph::NodeId node(any(context().model().graph().nodeCount()));
            if (!context().model().graph().isErased(context().model().graph().node(node).producer)) return node;
        }
        return {};
    }
    void actOnModels();
    void actOnRuns();
    void actOnView();
    void actOnDialogs();

    std::mt19937 m_random;
};

void TestRandomSessions::actOnModels() {
    const QStringList models{
        "zoo:seed",          "zoo:unet_small",          "zoo:mlp_functional",  "zoo:vit_small",      "zoo:iterating",
        "zoo:robust_nested", file("control_flow.onnx"), file("gpt_mini.onnx"), "/nowhere/model.onnx"};
    switch (any(8)) {
        case 0:
        case 1: context().loader().open(models[static_cast<qsizetype>(any(9))]); break;
        case 2: context().loader().reload(); break;
        case 3: context().loader().close(); break;
        case 4: context().loader().cancel(); break;
        case 5: context().loader().showGraph(static_cast<int>(any(3))); break;
        case 6: {
            document::OpenOptions options = context().loader().options();
            options.passes = any(2) ? std::vector<std::string>{"fold-constants"} : std::vector<std::string>{};
            context().loader().retrace(options);
            break;
        }
        default:
            if (context().model().whole()) context().loader().show(context().model().whole());
            break;
    }
}

void TestRandomSessions::actOnRuns() {
    context::Comparison& comparison = context().comparison();
    switch (any(14)) {
        case 0:
        case 1: context().runs().run(); break;
        case 2: context().runs().cancel(); break;
        case 3: context().runs().runTo(anyNode()); break;
        case 4: context().runs().setLive(any(4) == 0); break;
        case 5: comparison.keepRun(); break;
        case 6: comparison.withKeptRun(); break;
        case 7: comparison.withBeforePasses(); break;
        case 8: comparison.withFile(any(2) ? file("gpt_mini.npz") : QStringLiteral("zoo:seed")); break;
        case 9: comparison.clear(); break;
        case 10: context().valueMeasures().compute(); break;
        case 11: context().runs().requestValue(anyNode()); break;
        case 12: context().runs().setThreads(static_cast<int>(any(3))); break;
        default:
            if (!context().inputs().all().empty()) {
                const QStringList sources{"#rand(0,1)", "#rand(0,0)", "/nowhere/picture.png", ""};
                context().inputs().setSpec(context().inputs().all()[any(context().inputs().all().size())].name,
                                           {sources[static_cast<qsizetype>(any(4))], {}});
            }
    }
}

void TestRandomSessions::actOnView() {
    static const QStringList columns{"category", "mean", "difference", "time", "op", "bad"};
    switch (any(15)) {
        case 0: context().navigation().navigateTo(anyNode()); break;
        case 1: context().points().toggleWatch(anyNode()); break;
        case 2: context().points().toggleEnd(anyNode()); break;
        case 3: m_window->canvases().split(any(2) ? Qt::Horizontal : Qt::Vertical); break;
        case 4: m_window->canvases().close(static_cast<int>(any(2))); break;
        case 5:
            if (m_window->canvases().isSplit()) context().canvases().setActive(static_cast<int>(any(2)));
            break;
        case 6:
        case 7: context().settings().setColorBy(columns[static_cast<qsizetype>(any(6))]); break;
        case 8: context().canvases().active().expandToDepth(static_cast<int>(any(5))); break;
        case 9: context().canvases().active().focusConeOfSelection(any(2), true); break;
        case 10: context().canvases().active().hideSelection(); break;
        case 11: context().navigation().goBack(); break;
        case 12: context().navigation().toggleBookmark(context().navigation().selection()); break;
        case 13:
            QTest::mouseClick(canvas(), Qt::LeftButton, {}, {static_cast<int>(any(600)), static_cast<int>(any(400))});
            break;
        default: {
            context::LabelRules rules;
            if (any(2))
                rules = {{QStringLiteral("*"), {QStringLiteral("{op}"), QStringLiteral("{mean} {time} {difference}")}}};
            context().settings().setLabelRules(rules);
        }
    }
}

void TestRandomSessions::actOnDialogs() {
    static const char* const ids[] = {"view.text",    "view.labels",    "file.print", "go.next_problem",
                                      "compare.next", "help.operators", "edit.find"};
    if (any(2)) {
        for (QDialog* dialog : m_window->findChildren<QDialog*>()) dialog->close();
        return;
    }
    QAction* action = m_window->actions().action(QLatin1String(ids[any(std::size(ids))]));
    if (action->isEnabled()) action->trigger();
}

void TestRandomSessions::anyOrder_data() {
    QTest::addColumn<int>("seed");
    for (int seed = 1; seed <= 6; ++seed) QTest::addRow("seed %d", seed) << seed;
}

void TestRandomSessions::anyOrder() {
    QFETCH(int, seed);
    QSettings().clear();
    m_random.seed(static_cast<unsigned>(seed));
    openWindow({1000, 700});
    for (int i = 0; i < 400; ++i) {
        switch (any(8)) {
            case 0: actOnModels(); break;
            case 1:
            case 2:
            case 3: actOnRuns(); break;
            case 4:
                if (any(4) == 0) actOnDialogs();
                break;
            default: actOnView(); break;
        }
        // Nothing, what is there, or what comes in a moment: time itself is meant, as a user's hands take it.
        const std::size_t patience = any(6);
        if (patience == 0) continue;
        if (patience < 5) QCoreApplication::processEvents();
        else QTest::qWait(static_cast<int>(any(30)));
        if (i % 100 == 99) settle();
    }
    for (QDialog* dialog : m_window->findChildren<QDialog*>()) dialog->close();
    context().runs().setLive(false);
    settle();
    // What is shown is what is open.
    open(QStringLiteral("zoo:unet_small"));
    context().points().clearEnds();
    context().canvases().active().showEverything();
    context().inputs().setSpec(context().inputs().all().front().name,
                               {QStringLiteral("#rand(0,1)"), {}});  // what was given before is remembered
    settle();
    run();
    settle();
    for (int number = 0; number < (m_window->canvases().isSplit() ? 2 : 1); ++number) {
        QVERIFY(m_window->canvases().at(number)->view().scene());
        for (const layout::SceneItem& item : m_window->canvases().at(number)->view().scene()->items)
            if (item.what.expr.valid()) QVERIFY(item.what.expr.index() < context().model().graph().exprCount());
    }
    QVERIFY(!context().comparison().isKnown());
}

QTEST_MAIN(TestRandomSessions)

}  // namespace tst_random_sessions

#include "tst_random_sessions.moc"
