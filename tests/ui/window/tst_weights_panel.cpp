// The panel Weights: opened, sorted, filtered and followed by keys and clicks in the real window.

#include <QDockWidget>
#include <QHeaderView>
#include <QMenu>
#include <QTableView>
#include <QToolButton>

#include "core/analysis/weights/weight_columns.h"
#include "tests/support/float_bytes.h"
#include "tests/support/hover.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/context/count_text.h"
#include "ui/context/weight_measures.h"
#include "ui/context/weights.h"
#include "ui/models/node_columns.h"
#include "ui/models/weight_table_model.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/panels/weights/layer_histograms_view.h"
#include "ui/panels/weights/spectrum_view.h"
#include "ui/panels/weights/weights_panel.h"
#include "ui/widgets/search_field.h"

namespace tst_weights_panel {

using namespace sonde;
using models::WeightTableModel;
using panels::WeightsPanel;

class TestWeightsPanel : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void cleanup() { closeWindow(); }
    void isReadWhenItIsOpened();
    void sortsAndFilters();
    void figuresHaveFormulas();
    void opensTheTensor();
    void aDoubleClickHasAllViews();
    void selectsConsumers();
    void showsLayersAndSpectrum();
    void theButtonDecomposes();
    void columnsAreChosen();
    void aModelWithoutWeightsSaysSo();
    void takenUpAfterCancelling();
    void followsTheSelection();
    void colourReadsThem();

  private:
    QTemporaryDir m_folder;

    void openPanel(const QString& model) {
        openWindow();
        open(model);
        key(Qt::Key_T, Qt::AltModifier | Qt::ShiftModifier);
        settle();
    }
    WeightsPanel* panel() { return static_cast<WeightsPanel*>(m_window->docks().panel(QStringLiteral("weights"))); }
    QTableView* table() { return panel()->table(); }
    QString cell(int row, const char* column) {
        return table()->model()->index(row, WeightTableModel::columnOf(QLatin1String(column))).data().toString();
    }
    /// A key in the table, not the canvas.
    void tableKey(Qt::Key which, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        activate();
        table()->setFocus();
        QTest::keyClick(table(), which, modifiers);
        QCoreApplication::processEvents();
        settle();
    }
    void clickHeading(const char* column) {
        QHeaderView* header = table()->horizontalHeader();
        const int section = WeightTableModel::columnOf(QLatin1String(column));
        table()->scrollTo(table()->model()->index(0, section));
        click(header->viewport(), QPointF(header->sectionViewportPosition(section) + 8, header->height() / 2.0));
    }
    void choose(const char* weight) {
        const auto chosen = panel()->selectWeight(QLatin1String(weight));
        QVERIFY2(chosen, chosen ? "" : chosen.error().text().c_str());
    }
};

void TestWeightsPanel::isReadWhenItIsOpened() {
    openWindow();
    open(QStringLiteral("zoo:resnet18_slim"));
    QVERIFY(!panel()->isVisible());
    QVERIFY(!context::weightsOf(context()).report());
    key(Qt::Key_T, Qt::AltModifier | Qt::ShiftModifier);
    QVERIFY(panel()->isVisible());
    QVERIFY(panel()->hasContent());
    QVERIFY(context::weightsOf(context()).isKnown());
    QVERIFY(table()->model()->rowCount() > 60);
    QVERIFY2(panel()->countLine().contains(QStringLiteral("weights")), qPrintable(panel()->countLine()));
    for (int row = 0; row < table()->model()->rowCount(); ++row) {
        QVERIFY(!cell(row, "max").isEmpty());
        const QModelIndex bins = table()->model()->index(row, WeightTableModel::histogramColumn());
        qint64 sum = 0;
        for (const QVariant& count : bins.data(models::HistoryRole).toList()) sum += count.toLongLong();
        QCOMPARE(context::countText(sum), cell(row, "elements"));
    }
    QVERIFY(context::weightMeasuresOf(context().model().document()) != nullptr);
    open(QStringLiteral("zoo:param_linear"));
    QVERIFY(context::weightsOf(context()).isKnown());
    QVERIFY(table()->model()->rowCount() < 60);
}

void TestWeightsPanel::sortsAndFilters() {
    openPanel(QStringLiteral("zoo:resnet18_slim"));
    const auto elements = [this](int row) { return cell(row, "elements").remove(u',').toLongLong(); };
    const int last = table()->model()->rowCount() - 1;
    clickHeading("elements");
    const qint64 one = elements(0), other = elements(last);
    QVERIFY(one != other);
    for (int row = 1; row <= last; ++row)
        QVERIFY(one < other ? elements(row) >= elements(row - 1) : elements(row) <= elements(row - 1));
    clickHeading("elements");
    QCOMPARE(elements(0), other);
    QVERIFY(panel()->sortBy(QStringLiteral("elements")));
    QVERIFY(elements(0) > elements(last));
    auto* field = panel()->findChild<widgets::SearchField*>();
    QVERIFY(field);
    QTest::keyClicks(field->focusProxy() ? field->focusProxy() : field, QStringLiteral("layer2 conv1"));
    const int all = static_cast<int>(context::weightsOf(context()).report()->rows.size());
    QTRY_VERIFY(table()->model()->rowCount() < all);
    QVERIFY(table()->model()->rowCount() > 0);
    for (int row = 0; row < table()->model()->rowCount(); ++row) QVERIFY(cell(row, "name").contains("layer2"));
    QVERIFY(panel()->countLine().contains(QStringLiteral(" of ")));
    QVERIFY(!panel()->sortBy(QStringLiteral("nothing")));
}

/// The mouse on a cell: whose figure it is, and how it is made.
void TestWeightsPanel::figuresHaveFormulas() {
    openPanel(QStringLiteral("zoo:resnet18_slim"));
    choose("layer1.0.conv1.weight");
    const int row = table()->currentIndex().row();
    const std::pair<const char*, const char*> said[] = {{"elements", "Count of the weights"},
                                                        {"min", "Smallest finite element"},
                                                        {"mean", "\u03a3x / n of the finite elements"},
                                                        {"std", "\u221a(\u03a3(x \u2212 \u03bc)\u00b2 / n)"},
                                                        {"zeros", "Sparsity"},
                                                        {"zero-filters", "of zeros alone"},
                                                        {"outliers", "Q3 + 3\u00b7IQR"},
                                                        {"histogram", "equal bins from the smallest to the largest"}};
    for (const auto& [column, formula] : said) {
        const QString tip =
            test::hovered(table(), table()->model()->index(row, WeightTableModel::columnOf(QLatin1String(column))));
        QVERIFY2(tip.startsWith(QStringLiteral("layer1.0.conv1.weight\n")), qPrintable(tip));
        QVERIFY2(tip.contains(QString::fromUtf8(formula)), qPrintable(tip));
    }
    for (int column = 0; column < table()->model()->columnCount(); ++column)
        QVERIFY2(table()->model()->index(row, column).data(Qt::ToolTipRole).toString().count(u'\n') >= 1,
                 qPrintable(QString::number(column)));
}

/// The mouse alone: the weight is selected, and each view of the tensor viewer that a picture of filters has shows it.
void TestWeightsPanel::aDoubleClickHasAllViews() {
    openPanel(QStringLiteral("zoo:resnet18_slim"));
    choose("conv1.weight");
    const QPoint place = table()->visualRect(table()->currentIndex()).center();
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, place);
    QTest::mouseDClick(table()->viewport(), Qt::LeftButton, {}, place);
    settle();
    auto* panel = static_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    QVERIFY(panel->isVisible());
    panels::TensorViewer& viewer = *panel->viewer();
    QVERIFY(viewer.hasValue());
    QCOMPARE(context().navigation().selection().node, panel->node());
    // 16 filters of 3×7×7 (a quarter of torchvision's 64).
    QVERIFY2(viewer.statisticsText().contains(QStringLiteral("16,3,7,7")), qPrintable(viewer.statisticsText()));
    QStringList seen;
    for (const panels::TensorViewInfo& view : panels::tensorViews()) {
        auto* const button = viewer.findChild<QToolButton*>(view.id);
        if (!button || !button->isVisible() || !button->isEnabled()) continue;
        click(button, button->rect().center());
        QCOMPARE(viewer.currentView(), view.id);
        seen << view.id;
    }
    for (const char* view : {"heat_map", "histogram", "table", "line", "channels", "filters", "sparsity", "pca"})
        QVERIFY2(seen.contains(QLatin1String(view)), qPrintable(seen.join(u' ')));
}

void TestWeightsPanel::opensTheTensor() {
    openPanel(QStringLiteral("zoo:resnet18_slim"));
    choose("layer1.0.conv1.weight");
    tableKey(Qt::Key_Return);
    auto* viewer = static_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    QVERIFY(viewer->isVisible());
    QVERIFY(viewer->viewer()->hasValue());
    const graph::NodeId shown = viewer->node();
    QVERIFY(shown.valid());
    QCOMPARE(context().model().graph().node(shown).constant->tensor().rank(), std::size_t{4});
}

void TestWeightsPanel::selectsConsumers() {
    openPanel(QStringLiteral("zoo:resnet18_slim"));
    choose("layer1.0.conv1.weight");
    tableKey(Qt::Key_F3, Qt::AltModifier | Qt::ShiftModifier);
    const graph::NodeId selected = context().navigation().selection().node;
    QVERIFY(selected.valid());
    const graph::Expr& expr = context().model().graph().expr(context().model().graph().node(selected).producer);
    QCOMPARE(QString::fromStdString(expr.qualname.value_or("")), QStringLiteral("layer1.0.conv1"));
    QVERIFY(panel()->currentWeight().has_value());
}

void TestWeightsPanel::showsLayersAndSpectrum() {
    openPanel(QStringLiteral("zoo:resnet18_slim"));
    choose("fc.weight");
    tableKey(Qt::Key_F6, Qt::ControlModifier);
    QCOMPARE(panel()->view(), WeightsPanel::View::Layers);
    QVERIFY(panel()->layers()->isVisible());
    QVERIFY(panel()->layers()->count() > 20);
    activate();
    panel()->layers()->setFocus();
    QTest::keyClick(panel()->layers(), Qt::Key_End);
    QVERIFY2(panel()->layers()->rowText(panel()->layers()->currentRow()).startsWith("fc: "),
             qPrintable(panel()->layers()->rowText(panel()->layers()->currentRow())));
    QTest::keyClick(panel()->layers(), Qt::Key_Return);
    settle();
    QCOMPARE(context().navigation().selection().qualname, QStringLiteral("fc"));

    choose("fc.weight");
    tableKey(Qt::Key_F6, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(panel()->view(), WeightsPanel::View::Spectrum);
    QVERIFY(panel()->spectrum()->hasSpectrum());
    QVERIFY2(panel()->spectrum()->text().contains("effective rank"), qPrintable(panel()->spectrum()->text()));
    // A vector has none, and that is told.
    choose("fc.bias");
    tableKey(Qt::Key_F6, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(!panel()->spectrum()->hasSpectrum());
    QVERIFY2(panel()->spectrum()->text().contains("fc.bias"), qPrintable(panel()->spectrum()->text()));
}

/// σ of diag(3, 1, 2, 0) beside a column of zeros are 3, 2, 1, 0; p = 1/2, 1/3, 1/6: exp(−Σ p·ln p) = 2.7495.
void TestWeightsPanel::theButtonDecomposes() {
    using namespace test::onnxfile;
    std::vector<float> values(20, 0);
    values[0] = 3, values[6] = 1, values[12] = 2;
    const QString path = m_folder.filePath(QStringLiteral("diagonal.onnx"));
    QVERIFY(write(path, model({.nodes = {{"MatMul", {"x", "w"}, {"y"}}},
                               .inputs = {valueInfo("x", 1, {1, 4})},
                               .outputs = {valueInfo("y", 1, {1, 5})},
                               .initializers = {rawTensor("w", 1, {4, 5}, test::floatBytes(values))}})));
    openPanel(path);
    choose("w");
    QToolButton* decompose = nullptr;
    for (QToolButton* const button : panel()->findChildren<QToolButton*>())
        if (button->toolTip().startsWith(QStringLiteral("Singular values"))) decompose = button;
    QVERIFY(decompose);
    click(decompose, decompose->rect().center());
    QVERIFY(panel()->spectrum()->hasSpectrum());
    const QString text = panel()->spectrum()->text();
    QVERIFY2(text.contains(QStringLiteral("effective rank 2.7")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("numerical rank 3")), qPrintable(text));
}

void TestWeightsPanel::columnsAreChosen() {
    openPanel(QStringLiteral("zoo:param_linear"));
    const int column = WeightTableModel::columnOf(QStringLiteral("module"));
    QVERIFY(table()->isColumnHidden(column));
    auto* button = panel()->findChild<QToolButton*>(QStringLiteral("weightColumns"));
    QVERIFY(button && button->menu());
    button->menu()->popup({0, 0});
    auto* action = button->menu()->findChild<QAction*>(QStringLiteral("module"));
    QVERIFY(action);
    QVERIFY(!action->isChecked());
    action->trigger();
    button->menu()->hide();
    QVERIFY(!table()->isColumnHidden(column));
    closeWindow();
    openPanel(QStringLiteral("zoo:param_linear"));
    QVERIFY(!table()->isColumnHidden(column));
    panel()->setColumnShown(column, false);
}

void TestWeightsPanel::aModelWithoutWeightsSaysSo() {
    using namespace test::onnxfile;
    const QString path = m_folder.filePath(QStringLiteral("none.onnx"));
    QVERIFY(write(path, model({.nodes = {{"Relu", {"x"}, {"y"}}},
                               .inputs = {valueInfo("x", 1, {1, 4})},
                               .outputs = {valueInfo("y", 1, {1, 4})}})));
    openPanel(path);
    QVERIFY(context::weightsOf(context()).isKnown());
    QVERIFY(!panel()->hasContent());
    QVERIFY(!table()->isVisible());
    open(QStringLiteral("zoo:param_linear"));
    QVERIFY(panel()->hasContent());
    QVERIFY(table()->isVisible());
}

void TestWeightsPanel::takenUpAfterCancelling() {
    openWindow();
    open(QStringLiteral("zoo:resnet18"));
    context::Weights& weights = context::weightsOf(context());
    weights.compute();
    weights.cancel();
    settle();
    const std::size_t read = weights.report() ? weights.report()->figures.size() : 0;
    weights.compute();
    settle();
    QVERIFY(weights.isKnown());
    QVERIFY(weights.report()->figures.size() >= read);
    // In the order of the rows, whatever was read when.
    for (std::size_t i = 0; i < weights.report()->rows.size(); ++i)
        QCOMPARE(weights.report()->figures[i].count, weights.report()->rows[i].elements);
}

void TestWeightsPanel::followsTheSelection() {
    openPanel(QStringLiteral("zoo:resnet18_slim"));
    context().navigation().navigateTo(context().navigation().selectionOf(QStringLiteral("layer2.0.conv1")));
    const graph::NodeId conv = node("layer2.0.conv1");
    QVERIFY(conv.valid());
    context().navigation().navigateTo(conv);
    settle();
    QVERIFY(panel()->currentWeight().has_value());
    QVERIFY(context::weightsOf(context()).report()->rows[*panel()->currentWeight()].name.starts_with("layer2.0.conv1"));
}

/// Nobody has opened the panel: to colour by weights is to ask for them.
void TestWeightsPanel::colourReadsThem() {
    openWindow();
    open(QStringLiteral("zoo:param_linear"));
    for (QWidget* each = panel(); each; each = each->parentWidget())  // which a window before has left open
        if (auto* const dock = qobject_cast<QDockWidget*>(each)) dock->close();
    open(QStringLiteral("zoo:resnet18_slim"));
    QVERIFY(!context::weightsOf(context()).report());
    key(Qt::Key_F8, Qt::AltModifier | Qt::ShiftModifier);
    settle();
    QCOMPARE(context().settings().colorBy(), QStringLiteral("weight_deviation"));
    QVERIFY(context::weightsOf(context()).isKnown());
    const models::NodeMeasures measures(context().model(), context().runs(), context().valueMeasures(),
                                        context().comparison());
    const graph::InternalGraph& graph = context().model().graph();
    int known = 0;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.op.name != "conv2d" || expr.outputs.empty()) continue;
        const auto number = measures.number(models::WeightDeviationColumn, expr.outputs.front());
        QVERIFY(number && *number > 0);
        ++known;
    }
    QCOMPARE(known, 20);
}

QTEST_MAIN(TestWeightsPanel)

}  // namespace tst_weights_panel

#include "tst_weights_panel.moc"
