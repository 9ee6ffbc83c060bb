// Another model beside the window's own: two canvases, marks, one selection, pairs by hand, values of both. By keys and
// clicks.

#include <QAction>
#include <QFileDialog>
#include <QLineEdit>
#include <QTableView>
#include <QToolButton>

#include "core/io/npz/npy.h"
#include "tests/support/hover.h"
#include "tests/support/window_fixture.h"
#include "tests/support/window_network.h"
#include "ui/context/edits.h"
#include "ui/context/runs.h"
#include "ui/context/second_model.h"
#include "ui/panels/differences/differences_panel.h"
#include "ui/panels/tensor_viewer/paired_value.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/panels/tensor_viewer/value_pair.h"
#include "ui/widgets/search_field.h"

namespace tst_compare_models {

using namespace sonde;
using canvas::GraphCanvas;
using models::ModelDifferenceTableModel;
using namespace sonde::test::onnxfile;

namespace {

/// The window network with other names, w[3] = 5 in place of 4, and m = abs(r) between r and the rest.
std::string otherNetwork() {
    Graph graph{
        {{"Conv", {"in", "k", "b"}, {"c2"}},
         {"Relu", {"c2"}, {"r2"}},
         {"Abs", {"r2"}, {"m"}},
         {"Flatten", {"m"}, {"f2"}},
         {"MatMul", {"f2", "w"}, {"out"}}},
        {valueInfo("in", 1, {1, 1, 6, 6})},
        {valueInfo("out", 1, {1, 1})},
        {rawTensor("k", 1, {1, 1, 3, 3}, test::floatBytes(std::vector<float>(9, 1))),
         rawTensor("b", 1, {1}, test::floatBytes({0.5F})), rawTensor("w", 1, {4, 1}, test::floatBytes({1, 2, 3, 5}))}};
    graph.nodes[0].attributes.push_back(intsAttribute("strides", {2, 2}));
    return model(graph);
}

}  // namespace

class TestCompareModels : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
        QVERIFY(write(path("first.onnx"), test::windowNetwork()));
        QVERIFY(write(path("second.onnx"), otherNetwork()));
    }
    void cleanup() { closeWindow(); }
    void bothAreShownWithMarks();
    void theMenuAsksForAModel();
    void oneSelectionForBoth();
    void figuresHaveFormulasAndNodes();
    void openOperationsAreOneRow();
    void keysGoThroughDifferences();
    void pairsByHand();
    void pairsAreInTheSessionFile();
    void valuesOfBothAreBeside();
    void anEditedRunIsCompared();
    void bothCanvasesAreFilled();
    void closingLeavesOneCanvas();
    void whatCannotBeOpenedIsTold();
    void anotherModelEndsIt();

  private:
    QString path(const char* name) const { return m_files.filePath(QLatin1String(name)); }
    context::SecondModel& second() { return context().second(); }
    context::InspectorContext& other() { return *second().context(); }
    GraphCanvas* compared() { return m_window->canvases().compared(); }
    void compare() {
        open(path("first.onnx"));
        second().open(path("second.onnx"));
        settle();
        QVERIFY(second().diff());
        QVERIFY(compared() && compared()->isVisible());
    }
    graph::NodeId nodeOf(context::InspectorContext& of, const char* name) {
        const auto found = of.model().document()->findNode(name);
        return found ? *found : graph::NodeId();
    }
    canvas::ItemFlags flagsOf(GraphCanvas* on, context::InspectorContext& of, const char* name) {
        const graph::ExprId producer = of.model().graph().node(nodeOf(of, name)).producer;
        return on->marks().of(on->view().scene()->itemOf(producer));
    }
    void clickNode(GraphCanvas* on, context::InspectorContext& of, const char* name) {
        of.navigation().reveal(of.navigation().selectionOf(nodeOf(of, name)));
        settle();
        const QRectF place = on->view().rectOf(of.model().graph().node(nodeOf(of, name)).producer);
        QVERIFY2(QRectF(on->rect()).intersects(place), name);
        click(on, {place.left() + place.width() * 0.35, place.top() + std::min(place.height() / 2, 4.0)});
    }
    /// A file for x, all elements of which are `value`.
    QString arrayOf(float value) const {
        const QString name = m_files.filePath(QStringLiteral("x%1.npy").arg(static_cast<double>(value)));
        const auto array = tensor::Tensor::of<float>({1, 1, 6, 6}, std::vector<float>(36, value));
        if (!io::writeNpyFile(name.toStdString(), array)) qFatal("cannot write");
        return name;
    }
    panels::DifferencesPanel* panel() {
        return qobject_cast<panels::DifferencesPanel*>(m_window->docks().panel(QStringLiteral("differences")));
    }

    QTemporaryDir m_files;
};

void TestCompareModels::bothAreShownWithMarks() {
    compare();
    QVERIFY(std::abs(canvas()->width() - compared()->width()) < 40);
    QVERIFY(flagsOf(compared(), other(), "m") & canvas::kAdded);
    QVERIFY(flagsOf(m_window->canvases().at(0), context(), "y") & canvas::kChanged);  // its weights
    QVERIFY(flagsOf(compared(), other(), "out") & canvas::kChanged);
    QCOMPARE(flagsOf(m_window->canvases().at(0), context(), "r") & (canvas::kChanged | canvas::kRemoved), 0U);
    QVERIFY(panel() && panel()->isVisible());
    // As the verb has it: of 9 operations 8 have a counterpart, one is new, one weight differs.
    QVERIFY2(panel()->summary().startsWith(QStringLiteral("88.8 % matched \u00b7 1 added")),
             qPrintable(panel()->summary()));
    QCOMPARE(panel()->view()->model()->index(0, ModelDifferenceTableModel::Kind).data().toString(),
             QStringLiteral("+ added"));
    QCOMPARE(panel()->view()->model()->index(0, ModelDifferenceTableModel::Second).data().toString(),
             QStringLiteral("m"));
    QCOMPARE(panel()->view()->model()->index(1, ModelDifferenceTableModel::MaxAbsolute).data().toString(),
             QStringLiteral("1"));
    // The filter keeps rows with all words.
    QTest::keyClicks(panel()->filter()->lineEdit(), QStringLiteral("kind:parameter"));
    QTRY_COMPARE(panel()->view()->model()->rowCount(), 1);
    panel()->filter()->lineEdit()->clear();
    QTRY_VERIFY(panel()->view()->model()->rowCount() > 1);
}

void TestCompareModels::theMenuAsksForAModel() {
    QVERIFY(!m_window->actions().action(QStringLiteral("file.compare_model"))->isEnabled());
    open(path("first.onnx"));
    key(Qt::Key_O, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    auto* dialog = m_window->findChild<QFileDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    Q_EMIT dialog->fileSelected(path("second.onnx"));
    dialog->close();
    settle();
    QVERIFY(second().diff() && compared());
}

void TestCompareModels::oneSelectionForBoth() {
    compare();
    clickNode(m_window->canvases().at(0), context(), "r");
    QCOMPARE(other().navigation().selection().node, nodeOf(other(), "r2"));
    clickNode(compared(), other(), "f2");
    QCOMPARE(context().navigation().selection().node, nodeOf(context(), "f"));
    QVERIFY(m_window->canvases().active() == compared());
    // What has no counterpart leaves nothing selected beside it.
    clickNode(compared(), other(), "m");
    QVERIFY(context().navigation().selection().isNone());
    // A click on a row selects on both.
    QTableView* view = panel()->view();
    const QModelIndex row = view->model()->index(1, ModelDifferenceTableModel::Kind);
    view->scrollTo(row);
    click(view->viewport(), view->visualRect(row).center());
    QCOMPARE(context().navigation().selection().node, nodeOf(context(), "w"));
    QCOMPARE(other().navigation().selection().node, nodeOf(other(), "w"));
    // One camera moves the other.
    clickNode(m_window->canvases().at(0), context(), "c");
    const double before = compared()->view().camera().scale;
    m_window->canvases().at(0)->view().zoomBy(1.7);
    settle();
    QCOMPARE(compared()->view().camera().scale, m_window->canvases().at(0)->view().camera().scale);
    QVERIFY(compared()->view().camera().scale != before);
    m_window->actions().action(QStringLiteral("compare.link_cameras"))->trigger();
    m_window->canvases().at(0)->view().zoomBy(0.5);
    QVERIFY(compared()->view().camera().scale != m_window->canvases().at(0)->view().camera().scale);
}

/// The second model takes absolute values, one FLOP for each of four elements: that node makes the difference.
void TestCompareModels::figuresHaveFormulasAndNodes() {
    compare();
    QTableView* const view = panel()->view();
    const auto rowOf = [&](ModelDifferenceTableModel::Column column, const QString& text) {
        for (int row = 0; row < view->model()->rowCount(); ++row)
            if (view->model()->index(row, column).data().toString() == text) return row;
        return -1;
    };
    const int flops = rowOf(ModelDifferenceTableModel::What, QStringLiteral("FLOPs")),
              weight = rowOf(ModelDifferenceTableModel::Kind, QStringLiteral("parameter"));
    QVERIFY(flops >= 0 && weight >= 0);
    const QString tip = test::hovered(view, view->model()->index(flops, ModelDifferenceTableModel::Second));
    QVERIFY2(tip.contains(QStringLiteral("2 \u00d7 multiply-adds + 1 for each other operation")), qPrintable(tip));
    QVERIFY2(tip.contains(QStringLiteral("select the node that makes the difference")), qPrintable(tip));
    const QString maximum = test::hovered(view, view->model()->index(weight, ModelDifferenceTableModel::MaxAbsolute));
    QVERIFY2(maximum.startsWith(QStringLiteral("1\nMaximum of |b \u2212 a|")), qPrintable(maximum));
    const QModelIndex cell = view->model()->index(flops, ModelDifferenceTableModel::What);
    view->scrollTo(cell);
    QTest::mouseDClick(view->viewport(), Qt::LeftButton, {}, view->visualRect(cell).center());
    click(view->viewport(), view->visualRect(cell).center());
    QVERIFY(other().navigation().selectedNodes() == std::vector{nodeOf(other(), "m")});
    QVERIFY(context().navigation().selection().isNone());
    QCOMPARE(view->currentIndex().row(), flops);
}

/// The layer norm of the export has nine operations, eight of which the archive has no counterpart of: a click selects
/// them.
void TestCompareModels::openOperationsAreOneRow() {
    open(QStringLiteral(SONDE_TEST_DATA "/models/shared_twice.onnx"));
    second().open(QStringLiteral(SONDE_TEST_DATA "/models/shared_twice.trace.pt"));
    settle();
    QVERIFY(second().diff());
    QVERIFY2(panel()->summary().contains(QStringLiteral("the same results on equal inputs; 8 operations")),
             qPrintable(panel()->summary()));
    QTableView* const view = panel()->view();
    const QModelIndex cell = view->model()->index(0, ModelDifferenceTableModel::First);
    QCOMPARE(cell.siblingAtColumn(ModelDifferenceTableModel::Kind).data().toString(), QStringLiteral("not compared"));
    QCOMPARE(cell.data().toString(), QStringLiteral("8 operations"));
    click(view->viewport(), view->visualRect(cell).center());
    const std::vector<graph::NodeId> chosen = context().navigation().selectedNodes();
    QCOMPARE(chosen.size(), std::size_t{8});
    QVERIFY(std::ranges::count(chosen, nodeOf(context(), "/norm/Sub_output_0")) == 1);
}

void TestCompareModels::keysGoThroughDifferences() {
    compare();
    key(Qt::Key_F7, Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(other().navigation().selection().node, nodeOf(other(), "m"));
    key(Qt::Key_F7, Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(context().navigation().selection().node, nodeOf(context(), "w"));
    key(Qt::Key_F6, Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(other().navigation().selection().node, nodeOf(other(), "m"));
}

void TestCompareModels::pairsByHand() {
    compare();
    QAction* const pair = m_window->actions().action(QStringLiteral("compare.pair"));
    QAction* const unpair = m_window->actions().action(QStringLiteral("compare.unpair"));
    clickNode(m_window->canvases().at(0), context(), "r");
    QVERIFY(unpair->isEnabled() && !pair->isEnabled());
    key(Qt::Key_6, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QVERIFY(!second().counterpart(nodeOf(context(), "r")).valid());
    QVERIFY(flagsOf(m_window->canvases().at(0), context(), "r") & canvas::kRemoved);
    // Relu and Abs are the same from now on.
    clickNode(m_window->canvases().at(0), context(), "r");
    clickNode(compared(), other(), "m");
    QCOMPARE(context().navigation().selection().node, nodeOf(context(), "r"));
    QVERIFY(pair->isEnabled());
    key(Qt::Key_5, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(second().counterpart(nodeOf(context(), "r")), nodeOf(other(), "m"));
    QCOMPARE(second().pairsByHand().size(), std::size_t{2});
    QVERIFY(flagsOf(compared(), other(), "r2") & canvas::kAdded);
}

void TestCompareModels::pairsAreInTheSessionFile() {
    compare();
    QVERIFY(second().setPaired(nodeOf(context(), "r"), nodeOf(other(), "m"), true));
    settle();
    context().sessionFiles().saveAs(path("both.sonde"));
    settle();
    QFile file(path("both.sonde"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY2(text.contains("\"model\": \"second.onnx\""), text.constData());
    closeWindow();
    openWindow();
    open(path("both.sonde"));
    settle();
    QVERIFY(second().diff());
    QCOMPARE(second().pairsByHand().size(), std::size_t{1});
    QCOMPARE(second().counterpart(nodeOf(context(), "r")), nodeOf(other(), "m"));
}

void TestCompareModels::valuesOfBothAreBeside() {
    compare();
    context().inputs().setSpec(QStringLiteral("x"), {arrayOf(1), {}});
    settle();
    key(Qt::Key_K, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QVERIFY(second().diff()->values);
    // All of x is 1: each element of c is 9.5; y = 9.5·10 in the first, 9.5·11 in the second.
    QCOMPARE(second().diff()->values->changed.size(), std::size_t{1});
    QCOMPARE(second().diff()->values->changed[0].maxAbs, 9.5);
    clickNode(m_window->canvases().at(0), context(), "y");
    m_window->docks().show(QStringLiteral("tensor_viewer"));
    auto* tensor = qobject_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    QVERIFY(tensor->showBeside(QStringLiteral("second")));
    settle();
    QTRY_VERIFY(tensor->paired()->value());
    QCOMPARE(tensor->paired()->value()->tensor().toDouble(0), 104.5);
    QCOMPARE(tensor->viewer()->tensor().toDouble(0), 95.0);
    QTRY_VERIFY2(tensor->pair()->differenceText().contains(QStringLiteral("9.5")),
                 qPrintable(tensor->pair()->differenceText()));
    // Other inputs: what was compared no longer counts.
    context().inputs().setSpec(QStringLiteral("x"), {arrayOf(0), {}});
    settle();
    for (const session::DifferenceRow& row : second().rows()) QVERIFY(row.kind != session::DifferenceRow::Kind::Value);
}

/// What is debugged stays as it is: with its edits, and the values of the second model beside them.
void TestCompareModels::anEditedRunIsCompared() {
    compare();
    context().inputs().setSpec(QStringLiteral("x"), {arrayOf(1), {}});
    settle();
    const auto edit = context().edits().readLine(QStringLiteral("y = 7"), true);
    QVERIFY(edit);
    context().edits().add(edit->first, edit->second);
    settle();
    QVERIFY(context().edits().isCounterfactual());
    key(Qt::Key_K, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    settle();
    QVERIFY(context().edits().isCounterfactual());
    QVERIFY(second().diff()->values);
    // Without the edit; see valuesOfBothAreBeside().
    QCOMPARE(second().diff()->values->changed.size(), std::size_t{1});
    QCOMPARE(second().diff()->values->changed[0].maxAbs, 9.5);
    clickNode(m_window->canvases().at(0), context(), "y");
    m_window->docks().show(QStringLiteral("tensor_viewer"));
    auto* tensor = qobject_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    QVERIFY(tensor->showBeside(QStringLiteral("second")));
    settle();
    QTRY_VERIFY(tensor->paired()->value());
    QCOMPARE(tensor->paired()->value()->tensor().toDouble(0), 104.5);
    QCOMPARE(tensor->viewer()->tensor().toDouble(0), 7.0);
    // Of other inputs there is no such run: both are run again.
    context().inputs().setSpec(QStringLiteral("x"), {arrayOf(0), {}});
    settle();
    key(Qt::Key_K, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    settle();
    QVERIFY(!context().runs().isDebugged());
    QVERIFY(second().diff()->values);
    QTRY_VERIFY(tensor->paired()->value());
    QVERIFY(tensor->paired()->value()->tensor().toDouble(0) != 104.5);
}

/// A view that nobody has moved is placed into the half that is left to it, and into the whole again.
void TestCompareModels::bothCanvasesAreFilled() {
    open(path("first.onnx"));
    run();
    const auto isInTheMiddle = [](GraphCanvas* on) {
        const layout::Rect all = on->view().scene()->bounds;
        const QPointF at = on->view().camera().toPixel({all.x + all.width / 2, all.y + all.height / 2}, on->size());
        return std::abs(at.x() - on->width() / 2.0) < on->width() / 8.0;
    };
    QVERIFY(isInTheMiddle(canvas()));
    second().open(path("second.onnx"));
    settle();
    QVERIFY(compared() && isInTheMiddle(m_window->canvases().at(0)));
    second().close();
    settle();
    QVERIFY(!m_window->canvases().compared() && isInTheMiddle(canvas()));
}

void TestCompareModels::closingLeavesOneCanvas() {
    compare();
    QTest::mouseClick(compared()->findChild<QToolButton*>(QStringLiteral("closeCanvas")), Qt::LeftButton);
    QTRY_VERIFY(!m_window->canvases().compared());
    settle();
    QVERIFY(!second().isOpen() && !panel()->hasContent());
    QVERIFY(canvas() == m_window->canvases().at(0));
    QCOMPARE(flagsOf(canvas(), context(), "y") & canvas::kChanged, 0U);
    second().open(path("second.onnx"));
    settle();
    QVERIFY(second().diff());
}

void TestCompareModels::whatCannotBeOpenedIsTold() {
    open(path("first.onnx"));
    QVERIFY(write(path("broken.onnx"), "no model"));
    QSignalSpy told(&context().messages(), &context::Messages::messageReported);
    second().open(path("broken.onnx"));
    settle();
    QTRY_VERIFY(second().location().isEmpty());
    QVERIFY(!m_window->canvases().compared());
    QCOMPARE(told.count(), 1);
}

void TestCompareModels::anotherModelEndsIt() {
    compare();
    open(path("second.onnx"));
    settle();
    // The same other model, compared with the new one.
    QVERIFY(second().diff());
    QVERIFY(second().diff()->isEqual());
    context().loader().close();
    settle();
    QVERIFY(!second().isOpen());
}

QTEST_MAIN(TestCompareModels)

}  // namespace tst_compare_models

#include "tst_compare_models.moc"
