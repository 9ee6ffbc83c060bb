// What is wrong with a run: the status says it, F8 goes there, Details and the tensor viewer explain it, and it goes
// with the run.

#include <QLabel>
#include <QSpinBox>
#include <QStatusBar>
#include <QTableView>
#include <QToolButton>

#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/context/problems.h"
#include "ui/context/value_measures.h"
#include "ui/models/node_columns.h"
#include "ui/models/problem_table_model.h"
#include "ui/panels/node_details/node_details_panel.h"
#include "ui/panels/problems/problems_panel.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"

namespace tst_run_problems {

using namespace sonde;
using namespace sonde::test;
using context::RunState;

namespace {

/// early = exp(x); root = sqrt(x); scores = log(x); sum = root + scores; last = sum · early. Zeros: scores is −inf, and
/// so are sum and last; −1: root and scores are NaN.
std::string chain() {
    onnxfile::Graph graph;
    graph.nodes = {{"Exp", {"x"}, {"early"}},
                   {"Sqrt", {"x"}, {"root"}},
                   {"Log", {"x"}, {"scores"}},
                   {"Add", {"root", "scores"}, {"sum"}},
                   {"Mul", {"sum", "early"}, {"last"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {3})};
    graph.outputs = {onnxfile::valueInfo("last", 1, {3})};
    return onnxfile::model(graph);
}

/// early = exp(x) [N]; failing = MatMul(early, y [1,N]); last = −failing. Fails unless N is 1; nothing tells before the
/// run.
std::string product() {
    onnxfile::Graph graph;
    graph.nodes = {{"Exp", {"x"}, {"early"}}, {"MatMul", {"early", "y"}, {"failing"}}, {"Neg", {"failing"}, {"last"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {-1}), onnxfile::valueInfo("y", 1, {1, -1})};
    graph.outputs = {onnxfile::valueInfo("last", 1, {-1})};
    return onnxfile::model(graph);
}

/// s = s − x, y = √s in three iterations on x of [3,1], from s = 1.5: with ones s is 0.5, −0.5, −1.5.
std::string scan() {
    onnxfile::Graph body;
    body.nodes = {{"Sub", {"before", "item"}, {"after"}}, {"Sqrt", {"after"}, {"root"}}};
    body.inputs = {onnxfile::valueInfo("before", 1, {1}), onnxfile::valueInfo("item", 1, {1})};
    body.outputs = {onnxfile::valueInfo("after", 1, {1}), onnxfile::valueInfo("root", 1, {1})};
    const float start = 1.5F;
    onnxfile::Graph graph;
    graph.nodes = {{"Scan",
                    {"start", "x"},
                    {"last", "roots"},
                    "scan",
                    "",
                    {onnxfile::graphAttribute("body", body.bytes()), onnxfile::intAttribute("num_scan_inputs", 1)}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {3, 1})};
    graph.outputs = {onnxfile::valueInfo("roots", 1, {3, 1})};
    graph.initializers = {
        onnxfile::rawTensor("start", 1, {1}, std::string(reinterpret_cast<const char*>(&start), sizeof start))};
    return onnxfile::model(graph);
}

}  // namespace

class TestRunProblems : public WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }
    void badValuesAreToldAndVisited();
    void theFirstBadIterationIsShown();
    void whatIsAcceptedIsRemembered();
    void aFailedNodeSaysWhy();
    void aRunThatCannotBeginLeavesNoValues();
    void whereNothingWasRunNothingIsRight();
    void aRefusedRunLeavesNoShapes();
    void whatWasNotReachedIsNotMeasured();
    void aDebuggedRunListsWhatItHasComeTo();

  private:
    QString write(const char* name, const std::string& bytes) {
        const QString path = m_files.filePath(QLatin1String(name));
        if (!onnxfile::write(path, bytes)) qFatal("cannot write");
        return path;
    }
    void runOn(const QString& input, const QString& spec) {
        QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
        context().inputs().setSpec(input, {spec, {}});
        context().runs().run();
        if (finished.isEmpty()) QVERIFY(finished.wait(30000));
        settle();
    }
    void setInput(const QString& input, const QString& spec) {
        context().inputs().setSpec(input, {spec, {}});
        settle();
    }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    QToolButton* button() { return m_window->findChild<QToolButton*>(QStringLiteral("problems")); }
    QString details() { return m_window->findChild<panels::NodeDetailsPanel*>()->text(); }
    /// Rows of the Problems panel: "root origin, sum carrier".
    QString problemRows() {
        const auto* table = m_window->findChild<QTableView*>(QStringLiteral("problemTable"));
        QStringList rows;
        for (int row = 0; row < table->model()->rowCount(); ++row)
            rows << table->model()->index(row, models::ProblemTableModel::Node).data().toString() + u' ' +
                        table->model()->index(row, models::ProblemTableModel::Role).data().toString();
        return rows.join(QStringLiteral(", "));
    }
    QString tensorText() {
        QString text;
        auto* panel = m_window->findChild<QWidget*>(QStringLiteral("tensor_viewer"));
        for (const QLabel* label : (panel ? panel : m_window.get())->findChildren<QLabel*>())
            if (label->isVisible()) text += label->text() + u'\n';
        return text;
    }

    QTemporaryDir m_files;
};

void TestRunProblems::badValuesAreToldAndVisited() {
    open(write("chain.onnx", chain()));
    runOn(QStringLiteral("x"), QStringLiteral("#rand(-1,-1,3)"));
    QCOMPARE(context().runs().state(), RunState::Finished);
    QCOMPARE(context().problems().summary(), QStringLiteral("NaN in 4 nodes, first produced by root (Sqrt)"));
    QVERIFY(button()->isVisible());
    QCOMPARE(button()->text(), context().problems().summary());
    // Origins first, in execution order; then carriers.
    context().navigation().clearSelection();
    for (const char* name : {"root", "scores", "sum", "last", "root"}) {
        key(Qt::Key_F8);
        QCOMPARE(context().navigation().selection().node, named(name));
    }
    QVERIFY(details().contains(QStringLiteral("produced here")));
    key(Qt::Key_F8, Qt::ShiftModifier);
    QCOMPARE(context().navigation().selection().node, named("last"));
    QVERIFY(details().contains(QStringLiteral("propagated from an input")));
    // A run without them: nothing is left.
    runOn(QStringLiteral("x"), QStringLiteral("#rand(1,1,3)"));
    QVERIFY(!button()->isVisible());
    context().navigation().clearSelection();
    key(Qt::Key_F8);
    QVERIFY(context().navigation().selection().isNone());
    QCOMPARE(context().messages().all().back().text, QStringLiteral("No node has a problem"));
}

void TestRunProblems::theFirstBadIterationIsShown() {
    open(write("scan.onnx", scan()));
    runOn(QStringLiteral("x"), QStringLiteral("[[1],[1],[1]]"));
    context().navigation().clearSelection();
    key(Qt::Key_F8);
    QCOMPARE(context().navigation().selection().node, named("root"));
    settle();
    const auto* iteration = m_window->findChild<QSpinBox*>(QStringLiteral("iteration"));
    QVERIFY(iteration);
    QTRY_COMPARE(iteration->maximum(), 2);
    QCOMPARE(iteration->value(), 1);
    QVERIFY2(details().contains(QStringLiteral("produced here, in 3 iterations: 2 elements are NaN")),
             qPrintable(details()));
}

void TestRunProblems::whatIsAcceptedIsRemembered() {
    const QString path = write("accepted.onnx", chain());
    open(path);
    runOn(QStringLiteral("x"), QStringLiteral("#zeros"));
    QCOMPARE(context().problems().summary(), QStringLiteral("Inf in 3 nodes, first produced by scores (Log)"));
    context().navigation().select(named("scores"));
    key(Qt::Key_F8, Qt::ControlModifier);
    QTRY_VERIFY(context().problems().summary().isEmpty());
    QVERIFY(!button()->isVisible());
    QVERIFY(m_window->actions().action(QStringLiteral("go.accept_bad"))->isChecked());
    QVERIFY(details().contains(QStringLiteral("accepted")));
    closeWindow();
    openWindow();
    open(path);
    QVERIFY(context().problems().isAccepted(named("scores")));
    runOn(QStringLiteral("x"), QStringLiteral("#zeros"));
    QVERIFY(context().problems().summary().isEmpty());
    context().navigation().select(named("scores"));
    key(Qt::Key_F8, Qt::ControlModifier);
    QTRY_COMPARE(context().problems().summary(), QStringLiteral("Inf in 3 nodes, first produced by scores (Log)"));
}

void TestRunProblems::aFailedNodeSaysWhy() {
    open(write("product.onnx", product()));
    setInput(QStringLiteral("y"), QStringLiteral("#rand(0,1,1,3)"));
    runOn(QStringLiteral("x"), QStringLiteral("#rand(0,1,3)"));
    QCOMPARE(context().runs().state(), RunState::Failed);
    context().navigation().clearSelection();
    key(Qt::Key_F8);
    QCOMPARE(context().navigation().selection().node, named("failing"));
    for (const char* part : {"Failed", "float32[3]", "float32[1,3]"}) {
        QVERIFY2(details().contains(QLatin1String(part)), qPrintable(details()));
        QVERIFY2(tensorText().contains(QLatin1String(part)), qPrintable(tensorText()));
    }
    QVERIFY(!details().contains(QStringLiteral("not reached")));
    QVERIFY(!details().contains(QStringLiteral("Time")));
    context().navigation().select(named("last"));
    QVERIFY(tensorText().contains(QStringLiteral("failed at failing")));
    // What fits runs, and the failure is gone.
    setInput(QStringLiteral("y"), QStringLiteral("#rand(0,1,1,1)"));
    setInput(QStringLiteral("x"), QStringLiteral("#rand(0,1,1)"));
    run();
    QVERIFY(!context().runs().failure(context().model().graph().node(named("failing")).producer));
    context().navigation().clearSelection();
    key(Qt::Key_F8);
    QVERIFY(context().navigation().selection().isNone());
}

void TestRunProblems::aRunThatCannotBeginLeavesNoValues() {
    open(write("again.onnx", product()));
    setInput(QStringLiteral("y"), QStringLiteral("#rand(0,1,1,1)"));
    runOn(QStringLiteral("x"), QStringLiteral("#rand(0,1,1)"));
    QCOMPARE(context().runs().state(), RunState::Finished);
    QVERIFY(context().runs().value(named("last")));
    runOn(QStringLiteral("x"), m_files.filePath(QStringLiteral("missing.npy")));
    QCOMPARE(context().runs().state(), RunState::Failed);
    QVERIFY(!context().runs().recording());
    for (const char* name : {"early", "failing", "last"}) QVERIFY2(!context().runs().value(named(name)), name);
}

void TestRunProblems::whereNothingWasRunNothingIsRight() {
    open(write("told.onnx", product()));
    const auto says = [this](const char* start) {
        context().navigation().clearSelection();
        key(Qt::Key_F8);
        const QString status = m_window->statusBar()->findChild<widgets::ElidedLabel*>()->text();
        return context().messages().all().back().text.startsWith(QLatin1String(start)) &&
               status == context().messages().all().back().text;
    };
    QVERIFY(says("Nothing was run yet: F5 runs the model"));
    setInput(QStringLiteral("y"), QStringLiteral("#rand(0,1,1,1)"));
    runOn(QStringLiteral("x"), m_files.filePath(QStringLiteral("missing.npy")));
    QVERIFY(says("The run was refused: "));
    runOn(QStringLiteral("x"), QStringLiteral("#rand(0,1,1)"));
    QVERIFY(says("No node has a problem"));
    setInput(QStringLiteral("x"), QStringLiteral("#rand(0,2,1)"));
    QVERIFY(says("No node had a problem in the last run; since then the inputs were changed"));
}

/// What the last run that went through had is not what the refused one has.
void TestRunProblems::aRefusedRunLeavesNoShapes() {
    open(write("shapes.onnx", product()));
    setInput(QStringLiteral("y"), QStringLiteral("#rand(0,1,1,1)"));
    const std::string declared = context().model().graph().node(named("early")).type.text();
    runOn(QStringLiteral("x"), QStringLiteral("#rand(0,1,1)"));
    QCOMPARE(context().model().graph().node(named("early")).type.text(), std::string("float32[1]"));
    QSignalSpy types(&context().model(), &context::OpenModel::typesChanged);
    runOn(QStringLiteral("x"), m_files.filePath(QStringLiteral("missing.npy")));
    QCOMPARE(types.size(), 1);
    QCOMPARE(context().model().graph().node(named("early")).type.text(), declared);
    context().navigation().select(named("early"));
    QVERIFY2(!details().contains(QStringLiteral("float32[1]")), qPrintable(details()));
}

/// Statistics come from a run of their own, which goes on where the shown one had ended: s, beside what fails.
void TestRunProblems::whatWasNotReachedIsNotMeasured() {
    onnxfile::Graph graph;
    graph.nodes = {{"MatMul", {"x", "y"}, {"failing"}}, {"Neg", {"y"}, {"s"}}, {"Exp", {"s"}, {"t"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {-1}), onnxfile::valueInfo("y", 1, {1, -1})};
    graph.outputs = {onnxfile::valueInfo("failing", 1, {-1}), onnxfile::valueInfo("t", 1, {1, -1})};
    open(write("beside.onnx", onnxfile::model(graph)));
    setInput(QStringLiteral("y"), QStringLiteral("#rand(0,1,1,3)"));
    runOn(QStringLiteral("x"), QStringLiteral("#rand(0,1,3)"));
    QCOMPARE(context().runs().state(), RunState::Failed);
    context().valueMeasures().compute();
    QTRY_VERIFY_WITH_TIMEOUT(context().valueMeasures().isKnown(), 30000);
    const models::NodeMeasures measures(context().model(), context().runs(), context().valueMeasures(),
                                        context().comparison());
    for (const char* name : {"failing", "s", "t"}) {
        const graph::NodeId node = named(name);
        QVERIFY2(context().runs().wasReached(node) || !measures.number(models::ZerosColumn, node), name);
    }
    QVERIFY(!context().runs().wasReached(named("t")));
}

/// On [−1, 0, 1]: root is NaN at the first element, scores NaN and −inf; the operation at the place is done, too.
void TestRunProblems::aDebuggedRunListsWhatItHasComeTo() {
    open(write("debugged.onnx", chain()));
    setInput(QStringLiteral("x"), QStringLiteral("[-1,0,1]"));
    key(Qt::Key_F10);
    QCOMPARE(context().debugger().current(), named("early"));
    QCOMPARE(problemRows(), QString());
    key(Qt::Key_F10);
    QTRY_COMPARE(problemRows(), QStringLiteral("root origin"));
    key(Qt::Key_F10);
    QTRY_COMPARE(problemRows(), QStringLiteral("root origin, scores origin"));
    key(Qt::Key_F10);
    QTRY_COMPARE(problemRows(), QStringLiteral("root origin, scores origin, sum carrier"));
    // F8 goes there.
    context().navigation().clearSelection();
    key(Qt::Key_F8);
    QCOMPARE(context().navigation().selection().node, named("root"));
    // Going back undoes nothing; what is accepted goes.
    key(Qt::Key_F10, Qt::ShiftModifier);
    QCOMPARE(problemRows(), QStringLiteral("root origin, scores origin, sum carrier"));
    context().problems().setAccepted(named("scores"), true);
    QTRY_COMPARE(problemRows(), QStringLiteral("root origin, sum carrier"));
    const QString file = m_files.filePath(QStringLiteral("problems.txt"));
    QVERIFY(m_window->findChild<panels::ProblemsPanel*>()->saveTo(file));
    QFile saved(file);
    QVERIFY(saved.open(QIODevice::ReadOnly));
    const QByteArray text = saved.readAll();
    QVERIFY2(text.contains("root") && !text.contains("scores"), text.constData());
    // None is of the run that has ended.
    key(Qt::Key_Escape, Qt::ShiftModifier);
    QCOMPARE(problemRows(), QString());
}

QTEST_MAIN(TestRunProblems)

}  // namespace tst_run_problems

#include "tst_run_problems.moc"
