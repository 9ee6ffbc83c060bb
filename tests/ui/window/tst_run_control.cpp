// Stepping through a run in the window, with its keys: places, values of a place in all panels, marks, what ends it.

#include <QAction>
#include <QStatusBar>

#include <random>

#include "tests/support/onnx_file.h"
#include "tests/support/scan_network.h"
#include "tests/support/window_fixture.h"
#include "ui/widgets/labels.h"

namespace tst_run_control {

using namespace sonde;
namespace onnx = test::onnxfile;
using context::DebugState;

class TestRunControl : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }

    void everyKeyMoves_data();
    void everyKeyMoves();
    void valuesAreThoseOfAPlainRun();
    void randomStepsShowTheSameValues();
    void currentAndSelectedAreTwoMarks();
    void theViewMovesNoFartherThanNeeded();
    void aModuleRunsAlone();
    void whatEndsADebuggedRun();
    void aFailingNodeIsNamed();
    void loopsAreWalked();

  private:
    context::Debugger& debugger() { return context().debugger(); }
    void keys(const QString& list) {
        for (const QString& one : list.split(u' ', Qt::SkipEmptyParts)) {
            const QKeyCombination what = QKeySequence(one)[0];
            key(what.key(), what.keyboardModifiers());
        }
    }
    QString place() { return debugger().placeText(); }
    QString currentName() {
        const graph::NodeId node = debugger().current();
        return node.valid() ? QString::fromStdString(context().model().graph().node(node).name) : QString();
    }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    QString said() { return m_window->statusBar()->findChild<widgets::ElidedLabel*>()->text(); }
    bool isMarked(graph::NodeId node) {
        const auto scene = canvas()->view().scene();
        const layout::ItemId item = scene->itemOf(context().model().graph().node(node).producer);
        return item && (canvas()->marks().of(item) & canvas::kCurrent) != 0;
    }
};

void TestRunControl::everyKeyMoves_data() {
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("keys");
    QTest::addColumn<QString>("text");
    // conv1, relu and maxpool come first, then layer1 with its first convolution.
    const char* const conv2 = "qualname:layer1.0.conv2 op:Conv";
    QTest::newRow("a step begins") << ""
                                   << "F10"
                                   << "stopped before conv1";
    QTest::newRow("over") << ""
                          << "F10 F10"
                          << "stopped before relu";
    QTest::newRow("over back") << ""
                               << "F10 F10 Shift+F10"
                               << "stopped before conv1";
    QTest::newRow("next event") << ""
                                << "Ctrl+Right Ctrl+Right Ctrl+Right"
                                << "stopped before maxpool";
    QTest::newRow("previous event") << ""
                                    << "Ctrl+Right Ctrl+Right Ctrl+Right Ctrl+Left"
                                    << "stopped before relu";
    QTest::newRow("to here") << "qualname:layer1.0.conv1 op:Conv"
                             << "Ctrl+F10"
                             << "stopped before layer1.0.conv1";
    QTest::newRow("back to here") << "qualname:relu op:Relu"
                                  << "F10 F5 Ctrl+Shift+F10"
                                  << "stopped before relu";
    QTest::newRow("continue to the end") << ""
                                         << "F10 F5"
                                         << "stopped at the end";
    QTest::newRow("continue back to the start") << ""
                                                << "F10 F5 Shift+F5"
                                                << "stopped before conv1";
    QTest::newRow("over a module") << "op:MaxPool"
                                   << "Ctrl+F10 F10 F10"
                                   << "stopped before layer2";
    QTest::newRow("into a module") << "op:MaxPool"
                                   << "Ctrl+F10 F10 F11 F11 F11"
                                   << "stopped before layer1.0.relu";
    QTest::newRow("out of a module") << conv2 << "Ctrl+F10 Shift+F11"
                                     << "stopped before layer1.1";
    QTest::newRow("out back") << conv2 << "Ctrl+F10 Ctrl+Shift+F11"
                              << "stopped before layer1.0.conv1";
    QTest::newRow("into back") << "op:MaxPool"
                               << "Ctrl+F10 F10 F10 Ctrl+F11"
                               << "stopped before layer1.1";
    QTest::newRow("from the start") << ""
                                    << "F10 F10 F10 Ctrl+F5"
                                    << "stopped at the end";
}

void TestRunControl::everyKeyMoves() {
    QFETCH(QString, before);
    QFETCH(QString, keys);
    QFETCH(QString, text);
    open(file("resnet18_slim.onnx"));
    if (!before.isEmpty()) {
        context().navigation().select(node(qPrintable(before)));
        settle();
    }
    this->keys(keys);
    QVERIFY(debugger().isShown());
    QVERIFY2(place().startsWith(text), qPrintable(place()));
    QVERIFY2(said().contains(text), qPrintable(said()));
}

void TestRunControl::valuesAreThoseOfAPlainRun() {
    open(file("resnet18_slim.onnx"));
    const graph::InternalGraph& graph = context().model().graph();
    // What sonde run --watch-all writes: every node of a plain run.
    std::map<graph::NodeId, tensor::Value> plain;
    for (const graph::ExprId expr : graph.main().order)
        for (const graph::NodeId output : graph.expr(expr).outputs) context().points().setWatched(output, true);
    run();
    for (const graph::NodeId watched : context().points().watched())
        if (const tensor::Value* value = context().runs().value(watched)) plain.emplace(watched, *value);
    QVERIFY(plain.size() > 40);
    context().points().clearWatched();
    settle();
    int steps = 0;
    for (keys("Ctrl+Right"); !debugger().place().isEnd && steps < 200; keys("Ctrl+Right"), ++steps) {
        const graph::NodeId current = debugger().current();
        const tensor::Value* value = context().runs().value(current);
        QVERIFY2(value, qPrintable(place()));
        QVERIFY2(tensor::identical(*value, plain.at(current)), qPrintable(place()));
    }
    QVERIFY(steps > 40);
    QCOMPARE(debugger().position(), debugger().total());
}

void TestRunControl::randomStepsShowTheSameValues() {
    open(file("resnet18_slim.onnx"));
    static const char* const ways[] = {"F10",        "F11",      "Shift+F11", "Shift+F10", "Ctrl+F11", "Ctrl+Shift+F11",
                                       "Ctrl+Right", "Ctrl+Left"};
    std::mt19937 random(16);
    std::map<graph::NodeId, tensor::Value> seen;
    int compared = 0;
    for (int i = 0; i < 150; ++i) {
        keys(QLatin1String(ways[random() % std::size(ways)]));
        const graph::NodeId current = debugger().current();
        const tensor::Value* value = current.valid() ? context().runs().value(current) : nullptr;
        if (!value) continue;
        const auto [found, isNew] = seen.emplace(current, *value);
        QVERIFY2(tensor::identical(found->second, *value), qPrintable(place()));
        compared += isNew ? 0 : 1;
    }
    QVERIFY(compared > 20);
}

void TestRunControl::currentAndSelectedAreTwoMarks() {
    open(file("resnet18_slim.onnx"));
    keys("F10");
    // Nothing was selected: the panels show where the run is.
    QCOMPARE(context().navigation().selection().node, debugger().current());
    QVERIFY(isMarked(debugger().current()));
    const graph::NodeId chosen = node("op:Gemm");
    context().navigation().select(chosen);
    settle();
    keys("F10 F10");
    QCOMPARE(context().navigation().selection().node, chosen);
    QVERIFY(debugger().current() != chosen);
    QVERIFY(isMarked(debugger().current()));
    QVERIFY(!isMarked(chosen));
    QVERIFY(!context().runs().value(chosen));       // not computed yet,
    QVERIFY(!context().runs().wasReached(chosen));  // and said so
    keys("F5");
    QVERIFY(context().runs().value(chosen));
}

void TestRunControl::theViewMovesNoFartherThanNeeded() {
    open(file("resnet18_slim.onnx"));
    const canvas::Camera first = canvas()->view().camera();
    keys("F10");
    QCOMPARE(canvas()->view().camera().scale, first.scale);
    canvas::Camera before = canvas()->view().camera();
    for (int i = 0; i < 12; ++i) {
        keys("F10");
        if (!debugger().current().valid()) break;
        const canvas::Camera now = canvas()->view().camera();
        QCOMPARE(now.scale, first.scale);
        const QRectF at = canvas()->view().rectOf(context().model().graph().node(debugger().current()).producer);
        QVERIFY2(at.isEmpty() || QRectF(canvas()->rect()).intersects(at), qPrintable(place()));
        before = now;
    }
}

void TestRunControl::aModuleRunsAlone() {
    open(file("resnet18_slim.onnx"));
    context().navigation().select(context().navigation().selectionOf(QStringLiteral("layer2.0")));
    settle();
    QSignalSpy told(&debugger(), &context::Debugger::moduleRun);
    keys("Ctrl+Alt+R");
    QTRY_COMPARE(told.size(), 1);
    QVERIFY2(said().contains(QStringLiteral("layer2.0 alone")), qPrintable(said()));
    QVERIFY2(said().contains(QStringLiteral("bit-identical")), qPrintable(said()));
}

void TestRunControl::whatEndsADebuggedRun() {
    open(file("resnet18_slim.onnx"));
    QVERIFY(!m_window->actions().action("run.step_back")->isEnabled());
    keys("F10 F10");
    QVERIFY(m_window->actions().action("run.step_back")->isEnabled());
    // Other inputs make it stale, and no more.
    context().inputs().setSpec(context().inputs().all().front().name, {QStringLiteral("#rand(0,1)"), {}});
    settle();
    QVERIFY(debugger().isShown());
    QCOMPARE(context().runs().staleReason(), QStringLiteral("the inputs were changed"));
    keys("Shift+Esc");
    QVERIFY(!debugger().isShown());
    QVERIFY(!context().runs().recording());
    QVERIFY(!m_window->actions().action("run.step_back")->isEnabled());
    keys("F10 F10");
    QVERIFY(context().runs().staleReason().isEmpty());
    keys("Ctrl+R");
    settle();
    QVERIFY(!debugger().isShown());
    QVERIFY(place().isEmpty());
    keys("F10");
    context().runs().run();
    settle();
    QVERIFY(!debugger().isShown());
    QVERIFY(context().runs().recording());
    // Ended while it goes on.
    debugger().restart();
    debugger().pause();
    debugger().cancel();
    settle();
    QVERIFY(!debugger().isShown());
    keys("F10");
    context().loader().close();
    settle();
    QVERIFY(!debugger().isShown());
}

void TestRunControl::aFailingNodeIsNamed() {
    onnx::Graph graph;
    graph.nodes = {{"Neg", {"x"}, {"y"}}, {"Reshape", {"y", "shape"}, {"z"}}, {"Neg", {"z"}, {"w"}}};
    graph.inputs = {onnx::valueInfo("x", 1, {4}), onnx::valueInfo("shape", 7, {2})};
    graph.outputs = {onnx::valueInfo("w", 1, {})};
    const QString path = m_settings.filePath(QStringLiteral("fails.onnx"));
    QVERIFY(onnx::write(path, onnx::model(graph)));
    open(path);
    context().inputs().setSpec(QStringLiteral("shape"), {QStringLiteral("[3,3]"), {}});
    keys("Ctrl+Right Ctrl+Right");
    QCOMPARE(currentName(), QStringLiteral("z"));
    QVERIFY(context().runs().value(named("y")));
    QVERIFY(!context().runs().value(named("z")));
    QVERIFY(context().runs().failure(context().model().graph().node(named("z")).producer));
    keys("Ctrl+Right");
    QCOMPARE(debugger().state(), DebugState::Failed);
    QVERIFY2(place().startsWith(QStringLiteral("failed at z")), qPrintable(place()));
    keys("Shift+F10");
    QVERIFY2(place().startsWith(QStringLiteral("stopped before y")), qPrintable(place()));
}

void TestRunControl::loopsAreWalked() {
    const QString path = m_settings.filePath(QStringLiteral("scan.onnx"));
    QVERIFY(onnx::write(path, test::scanNetwork(3)));
    open(path);
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[1,2,4]"), {}});
    // 1, 1 + 2, 1 + 2 + 4.
    for (const auto& [iteration, sum] : {std::pair(0, 1.0F), {1, 3.0F}, {2, 7.0F}}) {
        for (int i = 0; i < 8; ++i) {
            keys("Ctrl+Right");
            if (currentName() == QLatin1String("sum")) break;
        }
        QCOMPARE(currentName(), QStringLiteral("sum"));
        QVERIFY2(place().contains(QStringLiteral("iteration %1").arg(iteration)), qPrintable(place()));
        const tensor::Value* value = context().runs().value(named("sum"));
        QVERIFY(value);
        QVERIFY(tensor::identical(*value, tensor::Value(tensor::Tensor::scalar(sum))));
        QCOMPARE(context().runs().iterationText(named("sum")), QStringLiteral("iteration %1").arg(iteration));
    }
    keys("Ctrl+Left Ctrl+Left");
    QCOMPARE(currentName(), QStringLiteral("sum"));
    QVERIFY(tensor::identical(*context().runs().value(named("sum")), tensor::Value(tensor::Tensor::scalar(3.0F))));
}

QTEST_MAIN(TestRunControl)

}  // namespace tst_run_control

#include "tst_run_control.moc"
