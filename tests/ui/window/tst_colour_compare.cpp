// Colours by what values are, and differences between runs, references, passes and models: driven by keys; expected
// numbers are worked by hand or are those of PyTorch's reference files.

#include <QAction>
#include <QCheckBox>
#include <QDockWidget>
#include <QRegularExpression>
#include <QTableView>

#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/canvas/coloring.h"
#include "ui/canvas/legend.h"
#include "ui/context/comparison.h"
#include "ui/context/value_measures.h"
#include "ui/models/operator_table_model.h"
#include "ui/panels/comparison/comparison_panel.h"
#include "ui/panels/node_details/node_details_panel.h"
#include "ui/panels/node_table/node_table_panel.h"
#include "ui/theme/scales.h"

namespace tst_colour_compare {

using namespace sonde;
using canvas::Coloring;

class TestColourCompare : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }
    void valuesAreMeasuredWhenAColourAsks();
    void scalesAreExplained();
    void staleNumbersAreMarked();
    void signedScalesGoBothWays();
    void badElementsHaveAMark();
    void twoRunsAreCompared();
    void aReferenceFileIsComparedWith();
    void aComparisonIsARunOfItsOwn();
    void theListIsSorted();
    void aModelIsComparedWith();
    void passesAreComparedWith();
    void calledModulesAreCountedOnce();
    void scalesAreReadable();

  private:
    double number(models::NodeColumnIndex column, graph::NodeId of) {
        return models::NodeMeasures(context().model(), context().runs(), context().valueMeasures(),
                                    context().comparison())
            .number(column, of)
            .value_or(-12345);
    }
    std::uint32_t flags(graph::NodeId of) {
        const QString spoken =
            canvas()->text().spoken(canvas()->view().scene()->itemOf(context().model().graph().node(of).producer));
        std::uint32_t found = 0;
        if (spoken.contains(QStringLiteral("NaN"))) found |= canvas::kBadValue;
        if (spoken.contains(QStringLiteral("differs"))) found |= canvas::kDiffers;
        return found;
    }
};

void TestColourCompare::valuesAreMeasuredWhenAColourAsks() {
    open(file("resnet18_slim.onnx"));
    const graph::NodeId relu = node("op:Relu"), conv = node("op:Conv");
    QVERIFY(!context().valueMeasures().isKnown());
    key(Qt::Key_Z, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);  // by zeros
    QCOMPARE(context().settings().colorBy(), QStringLiteral("zeros"));
    QVERIFY(canvas()->overlays().legendVisible());
    run();
    QTRY_VERIFY_WITH_TIMEOUT(context().valueMeasures().isKnown(), 30000);
    settle();
    // After a ReLU nothing is below 0 and some is 0; a convolution is hardly ever 0.
    QCOMPARE(number(models::MinimumColumn, relu), 0.0);
    QVERIFY(number(models::ZerosColumn, relu) > 5);
    QVERIFY(number(models::ZerosColumn, conv) < 1);
    QVERIFY(number(models::MeanColumn, relu) > number(models::MeanColumn, conv));
    // The table and the value itself agree.
    context().runs().requestValue(relu);
    QTRY_VERIFY(context().runs().value(relu));
    const analysis::TensorStats stats = analysis::tensorStats(context().runs().value(relu)->tensor());
    QCOMPARE(number(models::MeanColumn, relu), stats.mean);
    QCOMPARE(number(models::DeviationColumn, relu), stats.deviation);
    auto* table = qobject_cast<panels::NodeTablePanel*>(m_window->docks().panel(QStringLiteral("nodes")));
    QVERIFY(table);
    // A run after that brings them again.
    run();
    QTRY_VERIFY_WITH_TIMEOUT(context().valueMeasures().isKnown(), 30000);
}

/// Of convolutions and additions by hand: FLOPs are apart by factors, and a closed module has more than any operation.
void TestColourCompare::scalesAreExplained() {
    open(QStringLiteral("zoo:resnet18"));
    const auto* legend = canvas()->findChild<canvas::Legend*>();
    QVERIFY(legend);
    context().settings().setColorBy(QStringLiteral("flops"));
    QTRY_VERIFY_WITH_TIMEOUT(legend->lines().contains(QStringLiteral("logarithmic")), 30000);
    // conv1: 2 · 3·7·7 · 64·112·112. layer1: four of 2 · 64·3·3 · 64·56·56; of two blocks two norms (2), two ReLUs, a
    // sum.
    const qint64 first = qint64{2} * 3 * 49 * 64 * 112 * 112;
    const qint64 layer = qint64{4} * 2 * 64 * 9 * 64 * 56 * 56 + qint64{2} * 7 * 64 * 56 * 56;
    const QString text = legend->lines().join(u'\n').remove(u',');
    QVERIFY2(text.contains(QString::number(first)), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("of modules the sum up to %1").arg(layer)), qPrintable(text));
    context().settings().setColorBy(QStringLiteral("depth"));
    QTRY_VERIFY(!legend->lines().isEmpty() && !legend->lines().front().contains(QStringLiteral("FLOPs")));
    QVERIFY(!legend->lines().contains(QStringLiteral("logarithmic")));
}

/// y = 2x: numbers of the last run are no longer those of the inputs that are given now.
void TestColourCompare::staleNumbersAreMarked() {
    using namespace test::onnxfile;
    const QString file = m_settings.filePath(QStringLiteral("twice.onnx"));
    QVERIFY(write(file, model({{{"Add", {"x", "x"}, {"y"}}}, {valueInfo("x", 1, {3})}, {valueInfo("y", 1, {3})}})));
    open(file);
    context().settings().setColorBy(QStringLiteral("mean"));
    const auto give = [this](const char* numbers) {
        QSignalSpy read(&context().inputs(), &context::Inputs::inputsChanged);
        context().inputs().setSpec(QStringLiteral("x"), {QString::fromLatin1(numbers), {}});
        QTRY_VERIFY(!read.isEmpty());
        settle();
    };
    give("[1,2,3]");
    run();
    context().valueMeasures().compute();
    QTRY_VERIFY_WITH_TIMEOUT(context().valueMeasures().isKnown(), 30000);
    auto* table = qobject_cast<panels::NodeTablePanel*>(m_window->docks().panel(QStringLiteral("nodes")));
    const auto* legend = canvas()->findChild<canvas::Legend*>();
    QVERIFY(table && legend);
    const auto cell = [&](int column) {
        const QAbstractItemModel* rows = table->view()->model();
        for (int row = 0; row < rows->rowCount(); ++row)
            if (rows->index(row, models::NameColumn).data() == QStringLiteral("y")) return rows->index(row, column);
        return QModelIndex();
    };
    const auto saysStale = [&] { return legend->lines().join(u'\n').contains(QStringLiteral("stale: ")); };
    const auto isMarked = [&](int column) { return cell(column).data(models::MutedRole).toBool(); };
    QCOMPARE(cell(models::MeanColumn).data().toString(), QStringLiteral("4"));
    for (const int column : {models::MeanColumn, models::MaximumColumn, models::TimeColumn}) QVERIFY(!isMarked(column));
    QTRY_VERIFY(legend->lines().size() > 2);
    QVERIFY(!saysStale());

    QSignalSpy marked(table->view()->model(), &QAbstractItemModel::dataChanged);
    give("[7,8,9]");
    QVERIFY(!marked.isEmpty());
    QCOMPARE(cell(models::MeanColumn).data().toString(), QStringLiteral("4"));
    for (const int column : {models::MeanColumn, models::MaximumColumn, models::TimeColumn}) {
        QVERIFY(isMarked(column));
        QVERIFY(cell(column).data(Qt::ToolTipRole).toString().contains(context().runs().staleReason()));
    }
    QVERIFY(!isMarked(models::NameColumn) && !isMarked(models::ReadersColumn));  // true of any run
    QTRY_VERIFY(saysStale());

    run();
    QTRY_COMPARE_WITH_TIMEOUT(cell(models::MeanColumn).data().toString(), QStringLiteral("16"), 30000);
    QVERIFY(!isMarked(models::MeanColumn) && !isMarked(models::TimeColumn));
    QTRY_VERIFY(!saysStale());
}

void TestColourCompare::signedScalesGoBothWays() {
    open(file("mlp_functional.onnx"));
    run();
    context().valueMeasures().compute();
    QTRY_VERIFY_WITH_TIMEOUT(context().valueMeasures().isKnown(), 30000);
    const models::NodeMeasures measures(context().model(), context().runs(), context().valueMeasures(),
                                        context().comparison());
    const Coloring byMinimum(measures, QStringLiteral("minimum"), theme::Scheme::Light);
    QVERIFY(byMinimum.isKnown() && byMinimum.isSigned());
    QVERIFY(byMinimum.lowText().startsWith(u'-'));
    bool below = false;
    for (const graph::ExprId id : context().model().graph().main().order) {
        const graph::Expr& expr = context().model().graph().expr(id);
        if (expr.outputs.empty() || layout::Outline::isConstant(expr)) continue;
        layout::ItemDescription what;
        what.kind = layout::ItemKind::Expr;
        what.expr = id;
        const canvas::Tint* tint = byMinimum.of(what);
        const auto number = measures.number(models::MinimumColumn, expr.outputs.front());
        if (!number || *number == 0) continue;
        QCOMPARE(tint->below, *number < 0);
        below = below || tint->below;
    }
    QVERIFY(below);
    const Coloring byZeros(measures, QStringLiteral("zeros"), theme::Scheme::Light);
    QVERIFY(!byZeros.isSigned());
}

void TestColourCompare::badElementsHaveAMark() {
    open(file("resnet18_slim.onnx"));
    const QString input = context().inputs().all().front().name;
    const auto zeros = QString(38, u'0');  // sums of such numbers are beyond float32, which ends at 3.4e38
    context().inputs().setSpec(input, {QStringLiteral("#rand(1%1,3%1,1,3,64,64)").arg(zeros), {}});
    settle();
    QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
    key(Qt::Key_F5);
    QTRY_VERIFY_WITH_TIMEOUT(!finished.isEmpty(), 30000);
    QVERIFY2(context().runs().state() == context::RunState::Finished,
             context().messages().all().empty() ? "" : qPrintable(context().messages().all().back().text));
    key(Qt::Key_V, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY_WITH_TIMEOUT(context().valueMeasures().isKnown(), 30000);
    settle();
    int bad = 0;
    for (const graph::ExprId id : context().model().graph().main().order)
        for (const graph::NodeId output : context().model().graph().expr(id).outputs) {
            const analysis::TensorStats* stats = context().valueMeasures().of(output);
            if (!stats || stats->finiteCount() == stats->count) continue;
            ++bad;
            if (canvas()->view().scene()->itemOf(id)) QVERIFY(flags(output) & canvas::kBadValue);
        }
    QVERIFY(bad > 0);
}

void TestColourCompare::twoRunsAreCompared() {
    open(file("resnet18_slim.onnx"));
    const QString input = context().inputs().all().front().name;
    run();
    QVERIFY(!m_window->actions().action(QStringLiteral("compare.kept"))->isEnabled());
    key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
    key(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    context::Comparison& comparison = context().comparison();
    QTRY_VERIFY_WITH_TIMEOUT(comparison.isKnown(), 60000);
    QCOMPARE(comparison.differing(), std::size_t{0});  // the same run
    QVERIFY(comparison.compared() > 40);
    QCOMPARE(context().settings().colorBy(), QStringLiteral("difference"));
    // So small a change is within the tolerance, and is shown as what it is.
    context().inputs().setSpec(input, {QStringLiteral("#rand(0,1.000001,1,3,64,64)"), {}});
    settle();
    run();
    QTRY_VERIFY_WITH_TIMEOUT(!comparison.isActive() && !comparison.isStale(), 60000);
    settle();
    QCOMPARE(comparison.differing(), std::size_t{0});
    const double small = comparison.of(node("op:Conv"))->maxAbsolute;
    QVERIFY(small > 0);
    const canvas::Coloring coloring(
        models::NodeMeasures(context().model(), context().runs(), context().valueMeasures(), context().comparison()),
        QStringLiteral("difference"), theme::Scheme::Light);
    QVERIFY2(coloring.highText() != models::nodeColumnText(models::nodeColumnIndex(QStringLiteral("difference")), 0),
             qPrintable(coloring.highText()));
    // Another input: everything differs, and the comparison follows the run.
    context().inputs().setSpec(input, {QStringLiteral("#rand(0,2,1,3,64,64)"), {}});
    settle();
    run();
    QTRY_VERIFY_WITH_TIMEOUT(comparison.differing() > 40, 60000);
    settle();
    QVERIFY(comparison.firstDiverging() == node("op:Conv"));
    QVERIFY(flags(node("op:Conv")) & canvas::kDiffers);
    // F7 goes to the first in order of execution, then to the next; Ctrl+F7 to the worst.
    key(Qt::Key_F7);
    QVERIFY(context().navigation().selection().node == comparison.firstDiverging());
    key(Qt::Key_F7);
    QVERIFY(context().navigation().selection().node == comparison.diverging()[1]);
    key(Qt::Key_F7, Qt::ShiftModifier);
    QVERIFY(context().navigation().selection().node == comparison.firstDiverging());
    context().navigation().clearSelection();
    key(Qt::Key_F7, Qt::ControlModifier);
    const graph::NodeId worst = context().navigation().selection().node;
    for (const graph::NodeId node : comparison.diverging())
        QVERIFY(comparison.of(node)->maxAbsolute <= comparison.of(worst)->maxAbsolute);
    key(Qt::Key_X, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(!comparison.isKnown());
}

void TestColourCompare::aReferenceFileIsComparedWith() {
    open(file("resnet18_slim.onnx"));
    context().comparison().withFile(file("resnet18_slim.npz"));
    QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown(), 60000);
    QCOMPARE(context().comparison().title(), QStringLiteral("resnet18_slim.npz"));
    QVERIFY(context().comparison().compared() > 0);
    QCOMPARE(context().comparison().differing(), std::size_t{0});  // PyTorch's values
    // A tolerance that nothing can meet: what is compared differs.
    context().comparison().setTolerance({0, 0});
    QTRY_VERIFY_WITH_TIMEOUT(context().comparison().differing() > 0, 60000);
}

/// What is coloured, listed and shown is one run, on the reference's input; anything else makes the comparison stale.
void TestColourCompare::aComparisonIsARunOfItsOwn() {
    open(file("resnet18_slim.onnx"));
    run();  // on random numbers
    context::Comparison& comparison = context().comparison();
    QDockWidget* list = m_window->docks().dock(QStringLiteral("comparison"));
    QVERIFY(list->isHidden());
    const QString reference = file("resnet18_slim.npz");
    comparison.setTolerance({0, 0});
    comparison.withFile(reference);
    QTRY_VERIFY_WITH_TIMEOUT(comparison.isKnown(), 60000);
    settle();
    QVERIFY(!comparison.isStale());
    QVERIFY(!list->isHidden());
    // Its input is the window's, and the run that is shown was made on it.
    QCOMPARE(context().inputs().all().front().spec.source, reference);
    const auto npz = io::NpzFile::open(reference.toStdString());
    QVERIFY(npz);
    const auto given = npz->read("in." + context().inputs().all().front().name.toStdString());
    QVERIFY(given);
    QVERIFY(tensor::identical(context().runs().lastInputs().front().tensor(), *given));
    // The list has what differs; a row leads to its node, whose value and difference are told.
    auto* panel = qobject_cast<panels::ComparisonPanel*>(list->widget());
    static const QRegularExpression differ(QStringLiteral("values? differs? from resnet18_slim.npz"));
    QVERIFY2(panel->summary().contains(differ), qPrintable(panel->summary()));
    QCOMPARE(panel->model().rowCount(), static_cast<int>(comparison.differing()));
    panel->view()->setCurrentIndex(panel->view()->model()->index(0, 0));
    settle();
    const graph::NodeId first = comparison.firstDiverging();
    QVERIFY(context().navigation().selection().node == first);
    QTRY_VERIFY(context().runs().value(first));
    auto* details = qobject_cast<panels::NodeDetailsPanel*>(m_window->docks().panel(QStringLiteral("details")));
    static const QRegularExpression compared(QStringLiteral("compared with (case ?\\d+ of )?resnet18_slim.npz"));
    QVERIFY2(details->text().contains(compared), qPrintable(details->text()));
    QVERIFY(details->text().contains(QStringLiteral("differs first here")));
    QVERIFY(details->text().contains(QStringLiteral("Cosine")));
    // The same input again: the same values, so it holds. Another one: it does not.
    run();
    QTRY_VERIFY(!comparison.isStale());
    QVERIFY(flags(first) & canvas::kDiffers);
    context().inputs().setSpec(context().inputs().all().front().name, {QStringLiteral("#rand(0,2,1,3,64,64)"), {}});
    settle();
    QVERIFY(comparison.isStale());
    QVERIFY(!comparison.of(first));
    QVERIFY(!(flags(first) & canvas::kDiffers));
    QVERIFY(panel->summary().startsWith(QStringLiteral("Stale")));
    QVERIFY(!details->text().contains(QStringLiteral("compared with")));
    run();
    settle();
    QVERIFY(comparison.isStale());
    // Again: the reference's input comes back.
    key(Qt::Key_F7, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY_WITH_TIMEOUT(comparison.isKnown() && !comparison.isStale(), 60000);
    QCOMPARE(context().inputs().all().front().spec.source, reference);
    // Another model has no differences, and no colours of them.
    QCOMPARE(context().settings().colorBy(), QStringLiteral("difference"));
    open(file("mlp_functional.onnx"));
    settle();
    QVERIFY(!comparison.isKnown());
    QVERIFY(list->isHidden());
    QVERIFY(context().settings().colorBy() != QStringLiteral("difference"));
}

void TestColourCompare::theListIsSorted() {
    open(file("resnet18_slim.onnx"));
    context::Comparison& comparison = context().comparison();
    comparison.setTolerance({0, 0});
    comparison.withFile(file("resnet18_slim.npz"));
    QTRY_VERIFY_WITH_TIMEOUT(comparison.isKnown(), 60000);
    settle();
    auto* panel = qobject_cast<panels::ComparisonPanel*>(m_window->docks().panel(QStringLiteral("comparison")));
    using models::DifferenceTableModel;
    panel->view()->sortByColumn(DifferenceTableModel::MaxAbsolute, Qt::DescendingOrder);
    const QAbstractItemModel* rows = panel->view()->model();
    for (int row = 1; row < rows->rowCount(); ++row)
        QVERIFY(rows->index(row - 1, DifferenceTableModel::MaxAbsolute).data(models::SortRole).toDouble() >=
                rows->index(row, DifferenceTableModel::MaxAbsolute).data(models::SortRole).toDouble());
    panel->findChild<QCheckBox*>(QStringLiteral("allValues"))->setChecked(true);
    QVERIFY(panel->model().rowCount() > static_cast<int>(comparison.differing()) ||
            comparison.differing() == comparison.compared());
    QVERIFY(comparison.firstDiverging().valid());
    QVERIFY(!comparison.of(comparison.firstDiverging())->isInherited);
}

void TestColourCompare::aModelIsComparedWith() {
    open(file("unet_small.onnx"));
    run();
    context().comparison().withFile(file("unet_small.trace.pt"));
    QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown(), 60000);
    QVERIFY2(context().comparison().compared() > 5, qPrintable(QString::number(context().comparison().compared())));
    QCOMPARE(context().comparison().differing(), std::size_t{0});  // the same network by two exporters
}

void TestColourCompare::passesAreComparedWith() {
    open(file("resnet18_slim.onnx"));
    document::OpenOptions options;
    options.passes = {"remove-dead-code"};
    QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
    context().loader().retrace(options);
    QVERIFY(opened.wait(30000));
    settle();
    run();
    QVERIFY(m_window->actions().action(QStringLiteral("compare.passes"))->isEnabled());
    key(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown(), 60000);
    QVERIFY(context().comparison().compared() > 20);
    QCOMPARE(context().comparison().differing(), std::size_t{0});
}

/// A module that was traced into and its inside: one operation, one result, one time.
void TestColourCompare::calledModulesAreCountedOnce() {
    auto graph = std::make_shared<graph::InternalGraph>();
    const auto type = tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{4});
    const graph::NodeId x = graph->addInput(graph->mainId(), "x", type);
    const auto add = [&](graph::BodyId body, const char* op, graph::NodeId in, std::string name) {
        graph::Expr expr;
        expr.op = {"", op, 13};
        expr.target = op;
        expr.body = body;
        expr.arguments = {graph::Argument::of(in)};
        const graph::ExprId id = graph->addExpr(std::move(expr), std::span(&name, 1));
        graph->setType(graph->expr(id).outputs[0], type);
        return graph->expr(id).outputs[0];
    };
    graph::Expr call;
    call.kind = graph::ExprKind::CallModule;
    call.target = "block";
    call.moduleClass = "Block";
    call.arguments = {graph::Argument::of(x)};
    std::string name = "block_out";
    const graph::ExprId id = graph->addExpr(std::move(call), std::span(&name, 1));
    graph->setType(graph->expr(id).outputs[0], type);
    const graph::BodyId body = graph->addBody(id, "block");
    const graph::NodeId inside = graph->addInput(body, "in", type);
    const graph::NodeId relu = add(body, "Relu", inside, "relu_out");
    graph->setResult(body, graph::Argument::of(relu));
    const graph::NodeId last = add(graph->mainId(), "Relu", graph->expr(id).outputs[0], "last");
    graph->setResult(graph->mainId(), graph::Argument::of(last));

    auto document = std::make_shared<document::Document>();
    document->title = "calls";
    document->location = "calls";
    document->graph = graph;
    document->modules = std::make_shared<graph::ModuleTree>();
    document->inputs = {{"x", x}};
    document->outputs = {{"y", last}};
    context().loader().show(document);
    settle();

    models::OperatorTableModel operators(context().model(), context().runs(), context().valueMeasures(),
                                         context().comparison());
    QCOMPARE(operators.rowCount(), 1);  // Relu; the call of the block is no operator
    QCOMPARE(operators.nodes(0).size(), std::size_t{2});
    QCOMPARE(operators.index(0, models::OperatorTableModel::Memory).data(models::SortRole).toDouble(), 32.0);
    // x, the inner and the outer Relu: 16 bytes each; the call's result and the input inside are the same tensors again
    double bytes = 0;
    const models::NodeMeasures measures(context().model(), context().runs(), context().valueMeasures(),
                                        context().comparison());
    for (const graph::ExprId expr : graph->recursiveOrder(graph->mainId()))
        for (const graph::NodeId output : graph->expr(expr).outputs)
            bytes += measures.number(models::BytesColumn, output).value_or(0);
    QCOMPARE(bytes, 48.0);
}

void TestColourCompare::scalesAreReadable() {
    for (const theme::Scheme scheme : {theme::Scheme::Light, theme::Scheme::Dark, theme::Scheme::HighContrast})
        for (int i = -20; i <= 20; ++i) {
            const theme::CategoryColors colors = theme::divergingColors(i / 20.0, scheme);
            QVERIFY2(theme::contrast(colors.text, colors.fill) >= 4.5, qPrintable(QString::number(i)));
        }
}

QTEST_MAIN(TestColourCompare)

}  // namespace tst_colour_compare

#include "tst_colour_compare.moc"
