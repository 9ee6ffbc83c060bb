// Values in loops and branches: each panel says which iteration it shows, and why a branch has none.

#include <QSpinBox>
#include <QTableView>

#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/models/watch_list_model.h"
#include "ui/panels/node_details/node_details_panel.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/widgets/empty_state.h"

namespace tst_loop_values {

using namespace sonde;
namespace onnx = test::onnxfile;

namespace {

/// Over the three numbers of x: sum = before + item. Of k, y is sum or −sum.
std::string scanAndBranch() {
    onnx::Graph body;
    body.nodes = {{"Add", {"before", "item"}, {"sum"}}, {"Identity", {"sum"}, {"listed"}}};
    body.inputs = {onnx::valueInfo("before", 1, {}), onnx::valueInfo("item", 1, {})};
    body.outputs = {onnx::valueInfo("sum", 1, {}), onnx::valueInfo("listed", 1, {})};
    onnx::Graph taken, other;
    taken.nodes = {{"Identity", {"last"}, {"kept"}}};
    taken.outputs = {onnx::valueInfo("kept", 1, {})};
    other.nodes = {{"Neg", {"last"}, {"negated"}}};
    other.outputs = {onnx::valueInfo("negated", 1, {})};
    onnx::Graph graph;
    graph.nodes = {
        {"Scan",
         {"start", "x"},
         {"last", "all"},
         "",
         "",
         {onnx::graphAttribute("body", body.bytes()), onnx::intAttribute("num_scan_inputs", 1)}},
        {"If",
         {"k"},
         {"y"},
         "",
         "",
         {onnx::graphAttribute("then_branch", taken.bytes()), onnx::graphAttribute("else_branch", other.bytes())}}};
    graph.inputs = {onnx::valueInfo("x", 1, {3}), onnx::valueInfo("k", 9, {})};
    graph.outputs = {onnx::valueInfo("y", 1, {}), onnx::valueInfo("all", 1, {3})};
    graph.initializers = {onnx::rawTensor("start", 1, {}, std::string(4, '\0'))};
    return onnx::model(graph);
}

}  // namespace

class TestLoopValues : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
        const QString model = m_settings.filePath(QStringLiteral("scan.onnx"));
        QVERIFY(onnx::write(model, scanAndBranch()));
        open(model);
        context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[1,2,4]"), {}});
        context().inputs().setSpec(QStringLiteral("k"), {QStringLiteral("true"), {}});
    }
    void cleanup() { closeWindow(); }
    void theIterationIsNamed_data();
    void theIterationIsNamed();
    void anIterationOfAnEditedRunIsChosen();
    void aBranchThatWasNotTakenIsNamed();

  private:
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
};

void TestLoopValues::theIterationIsNamed_data() {
    QTest::addColumn<bool>("isWatchedLater");
    QTest::newRow("watched before the run") << false;
    QTest::newRow("watched after the run") << true;
}

/// Of sum: 1, 3, 7.
void TestLoopValues::theIterationIsNamed() {
    QFETCH(bool, isWatchedLater);
    const graph::NodeId sum = named("sum");
    if (!isWatchedLater) context().points().setWatched(sum, true);
    run();
    context().points().setWatched(sum, true);
    context().navigation().select(sum);
    QTRY_VERIFY_WITH_TIMEOUT(context().runs().value(sum), 30000);
    settle();
    auto* details = qobject_cast<panels::NodeDetailsPanel*>(m_window->docks().panel(QStringLiteral("details")));
    const QStringList lines = details->text().split(u'\n');
    QVERIFY2(std::ranges::any_of(lines,
                                 [](const QString& line) {
                                     return line.contains(QStringLiteral("Iteration")) &&
                                            line.contains(QStringLiteral("last of 3"));
                                 }),
             qPrintable(details->text()));
    const auto* table = m_window->findChild<QTableView*>(QStringLiteral("watchTable"));
    QCOMPARE(table->model()->index(0, models::WatchListModel::ValueColumn).data().toString(),
             QStringLiteral("last of 3: 7"));
    QCOMPARE(context().runs().passText(sum, 1), QStringLiteral("1"));
    // One that is in no loop is not one of several.
    context().points().setWatched(named("last"), true);
    run();
    QCOMPARE(table->model()->index(1, models::WatchListModel::ValueColumn).data().toString(), QStringLiteral("7"));
}

/// Of sum with an x of 1, 5, 4, by an edit: 1, 6, 10, and without it 1, 3, 7.
void TestLoopValues::anIterationOfAnEditedRunIsChosen() {
    const graph::NodeId sum = named("sum");
    run();
    session::Edit edit;
    edit.slice = "[1]";
    edit.kind = session::Edit::Kind::Expression;
    edit.text = "5";
    context().edits().add(named("x"), edit);
    const auto stopped = [&] { return context().debugger().isStopped() && !context().debugger().isBusy(); };
    QTRY_VERIFY_WITH_TIMEOUT(stopped(), 30000);
    context().navigation().select(sum);
    auto* panel = qobject_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    const auto shown = [&] {
        const tensor::Value* const value = context().runs().value(sum);
        return stopped() && value ? value->tensor().toDouble(0) : -1.0;
    };
    QTRY_COMPARE_WITH_TIMEOUT(shown(), 10.0, 30000);
    QVERIFY(!panel->iterationBox()->parentWidget()->isHidden());
    QCOMPARE(panel->iterationBox()->maximum(), 2);
    QCOMPARE(panel->iterationBox()->value(), 2);
    panel->iterationBox()->setValue(1);
    QTRY_COMPARE_WITH_TIMEOUT(shown(), 6.0, 30000);
    QTRY_COMPARE(panel->iterationBox()->value(), 1);
    context().debugger().setShown(context::ShownValues::Baseline);
    QTRY_COMPARE_WITH_TIMEOUT(shown(), 3.0, 30000);
    panel->iterationBox()->setValue(0);
    QTRY_COMPARE_WITH_TIMEOUT(shown(), 1.0, 30000);
    QCOMPARE(panel->iterationBox()->maximum(), 2);
}

void TestLoopValues::aBranchThatWasNotTakenIsNamed() {
    run();
    context().navigation().select(named("negated"));
    settle();
    QStringList texts;
    for (const auto* label : m_window->docks().panel(QStringLiteral("tensor_viewer"))->findChildren<QLabel*>())
        if (label->isVisible()) texts << label->text();
    QVERIFY2(texts.contains(QStringLiteral("The last run did not take the branch that negated is in")),
             qPrintable(texts.join(u'|')));
}

QTEST_MAIN(TestLoopValues)

}  // namespace tst_loop_values

#include "tst_loop_values.moc"
