// The tracing panel in the real window: choosing, tracing again, what becomes of modules that fail.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QStyleOptionViewItem>
#include <QTemporaryDir>
#include <QTreeView>
#include <QtTest>

#include "ui/canvas/graph_canvas.h"
#include "ui/models/roles.h"
#include "ui/panels/node_details/node_details_panel.h"
#include "ui/window/main_window.h"
#include "ui/window/window_canvases.h"
#include "ui/window/window_docks.h"

namespace tst_tracing_panel {

using namespace sonde;
using context::InspectorContext;
using window::MainWindow;

class TestTracingPanel : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_settings.isValid());
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
    }
    void init() {
        QSettings().clear();
        m_window = std::make_unique<MainWindow>();
        m_window->resize(1200, 900);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        m_window->activateWindow();  // keys go to the active window
    }
    void cleanup() { m_window.reset(); }
    void anOnnxFileHasNothingToTrace();
    void aClassThatIsTickedBecomesOneNode();
    void fixedValuesAreGiven();
    void anImpossibleTraceLeavesTheModel();
    void registeredLeavesAreRemembered();
    void modulesThatWereNotReachedSayWhy();
    void failedModulesHaveGraphsOfTheirOwn();
    void failedModulesHaveASignInTheTree();

  private:
    InspectorContext& context() { return m_window->context(); }
    QWidget* panel() { return m_window->docks().panel(QStringLiteral("tracing")); }
    void open(const QString& model) {
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
        m_window->open(model);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 30000);
        m_window->docks().show(QStringLiteral("tracing"));
        QTRY_VERIFY_WITH_TIMEOUT(m_window->isIdle(), 30000);
    }
    static QString model(const char* name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name); }
    void pressRetrace(bool succeeds = true) {
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened),
            failed(&context().loader(), &context::Loader::loadFailed);
        for (QPushButton* button : panel()->findChildren<QPushButton*>())
            if (button->text() == QLatin1String("Trace Again")) QTest::mouseClick(button, Qt::LeftButton);
        if (succeeds) QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 30000);
        else QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 30000);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->isIdle(), 30000);
    }
    QListWidgetItem* leaf(const QString& name) {
        auto* list = panel()->findChild<QListWidget*>();
        for (int i = 0; i < list->count(); ++i)
            if (list->item(i)->data(Qt::UserRole).toString().endsWith(name)) return list->item(i);
        return nullptr;
    }
    int calls(const QString& name) {
        int count = 0;
        for (const graph::ExprId id : context().model().graph().main().order) {
            const graph::Expr& expr = context().model().graph().expr(id);
            if (expr.kind == graph::ExprKind::CallModule && QString::fromStdString(expr.moduleClass).endsWith(name))
                ++count;
        }
        return count;
    }

    QTemporaryDir m_settings;
    std::unique_ptr<MainWindow> m_window;
};

void TestTracingPanel::anOnnxFileHasNothingToTrace() {
    open(model("resnet18_slim.onnx"));
    for (QPushButton* button : panel()->findChildren<QPushButton*>()) QVERIFY(!button->isVisible());
    open(QStringLiteral("zoo:resnet18"));
    QVERIFY(panel()->findChild<QComboBox*>()->isVisible());
}

void TestTracingPanel::aClassThatIsTickedBecomesOneNode() {
    open(QStringLiteral("zoo:resnet18"));
    // ResNet-18 has four stages of two blocks (He et al. 2016, table 1).
    QCOMPARE(calls(QStringLiteral("BasicBlock")), 0);
    QCOMPARE(calls(QStringLiteral("Conv2d")), 20);
    QVERIFY(leaf(QStringLiteral("BasicBlock")));
    QCOMPARE(leaf(QStringLiteral("BasicBlock"))->text(), QStringLiteral("BasicBlock  ×8"));
    leaf(QStringLiteral("BasicBlock"))->setCheckState(Qt::Checked);
    pressRetrace();
    QCOMPARE(calls(QStringLiteral("BasicBlock")), 8);
    QCOMPARE(calls(QStringLiteral("Conv2d")), 1);
    QCOMPARE(leaf(QStringLiteral("BasicBlock"))->checkState(), Qt::Checked);
    // Reading the model again keeps the choice; another model begins with the usual one.
    QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
    context().loader().reload();
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 30000);
    QCOMPARE(calls(QStringLiteral("BasicBlock")), 8);
    open(QStringLiteral("zoo:resnet34"));
    QCOMPARE(calls(QStringLiteral("BasicBlock")), 0);
}

void TestTracingPanel::fixedValuesAreGiven() {
    open(QStringLiteral("zoo:resnet18"));
    auto* edit = panel()->findChild<QLineEdit*>(QStringLiteral("concrete.x"));
    QVERIFY(edit);
    QTest::keyClicks(edit, QStringLiteral("None"));
    pressRetrace();
    // The value is built in, and the graph checks that it is given just that (robust-trace.md, "Fixed parameters").
    QVERIFY(context().model().graph().findNode("x_1").valid());
    QVERIFY(context().model().graph().findNode("_assert_is_none").valid());
    QVERIFY(!context().model().graph().findNode("x").valid());
}

void TestTracingPanel::anImpossibleTraceLeavesTheModel() {
    open(model("control_flow.script.pt"));
    const QString location = context().loader().location();
    auto* tracer = panel()->findChild<QComboBox*>();
    tracer->setCurrentIndex(tracer->findData(QStringLiteral("module-path")));
    pressRetrace(false);
    QVERIFY(context().model().isOpen());
    QCOMPARE(context().loader().location(), location);
    QCOMPARE(context().messages().all().back().severity, base::Severity::Error);
    QVERIFY(
        context().messages().all().back().text.contains(QStringLiteral("cannot be used as inputs to control flow")));
    // The way that worked is still the one for reloading.
    QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
    context().loader().reload();
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 30000);
}

void TestTracingPanel::registeredLeavesAreRemembered() {
    open(QStringLiteral("zoo:resnet18"));
    leaf(QStringLiteral("BasicBlock"))->setCheckState(Qt::Checked);
    for (QCheckBox* box : panel()->findChildren<QCheckBox*>())
        if (box->text().contains(QStringLiteral("every model"))) box->setChecked(true);
    pressRetrace();
    cleanup();
    m_window = std::make_unique<MainWindow>();
    m_window->show();
    open(QStringLiteral("zoo:resnet34"));
    QCOMPARE(calls(QStringLiteral("BasicBlock")), 16);
    // An ONNX file holds a graph already and opens as ever.
    open(model("resnet18_slim.onnx"));
    QVERIFY(context().model().isOpen());
}

void TestTracingPanel::modulesThatWereNotReachedSayWhy() {
    // W3 of the robust tracer's reference: only `unused` is unvisited.
    open(QStringLiteral("zoo:branching"));
    auto* tracer = panel()->findChild<QComboBox*>();
    tracer->setCurrentIndex(tracer->findData(QStringLiteral("robust")));
    pressRetrace();
    for (const graph::ModuleInfo& module : context().model().document()->modules->modules()) {
        QVERIFY2(module.visited == (module.qualname != "unused"), module.qualname.c_str());
        QCOMPARE(module.note.empty(), module.visited);
    }
    // The Details panel says so, too, and of a module that fails what was tried with it.
    auto* details = m_window->findChild<panels::NodeDetailsPanel*>();
    const auto select = [this](const char* qualname) {
        context().navigation().navigateTo(context().navigation().selectionOf(QLatin1String(qualname)));
    };
    select("unused");
    QTRY_VERIFY2(details->text().contains(QStringLiteral("Not reached\tthe forward of the model never calls it")),
                 qPrintable(details->text()));
    select("cf");
    QTRY_VERIFY2(details->text().contains(QStringLiteral("Tried to\ttrace its forward as part of ")),
                 qPrintable(details->text()));
}

/// W3 of the robust tracer's reference: only `cf` fails.
void TestTracingPanel::failedModulesHaveASignInTheTree() {
    open(QStringLiteral("zoo:branching"));
    auto* tracer = panel()->findChild<QComboBox*>();
    tracer->setCurrentIndex(tracer->findData(QStringLiteral("robust")));
    pressRetrace();
    m_window->docks().show(QStringLiteral("modules"));
    auto* tree = m_window->docks().panel(QStringLiteral("modules"))->findChild<QTreeView*>();
    tree->expandAll();
    tree->selectionModel()->clear();
    QTRY_VERIFY_WITH_TIMEOUT(m_window->isIdle(), 30000);
    // A row with a sign needs its room beside the words.
    QStyleOptionViewItem option;
    option.widget = tree;
    option.decorationSize = {16, 16};
    const auto hasSign = [&](const QModelIndex& index) {
        option.font = tree->font();
        QFont bold = option.font;
        bold.setBold(true);
        const int words = QFontMetrics(bold).horizontalAdvance(index.data().toString());
        return tree->itemDelegate()->sizeHint(option, index).width() >= words + option.decorationSize.width();
    };
    int rows = 0;
    for (QModelIndex index = tree->model()->index(0, 0); index.isValid(); index = tree->indexBelow(index), ++rows) {
        const QString qualname = index.data(models::QualnameRole).toString();
        QVERIFY2(hasSign(index) == (qualname == u"cf"), qPrintable(qualname));
        QVERIFY(index.data(Qt::ToolTipRole).toString().contains(QStringLiteral("Could not be traced: ")) ==
                (qualname == u"cf"));
    }
    QVERIFY(rows > 3);
}

void TestTracingPanel::failedModulesHaveGraphsOfTheirOwn() {
    open(model("robust_nested.script.pt"));
    auto* tracer = panel()->findChild<QComboBox*>();
    tracer->setCurrentIndex(tracer->findData(QStringLiteral("robust")));
    pressRetrace();
    // robust_nested.robust.txt: the two gates fail, and what is in them is traced alone.
    const graph::ModuleTree& tree = *context().model().document()->modules;
    for (const char* gate : {"body.0.gate", "body.1.gate"})
        QVERIFY(tree.module(*tree.find(gate)).failure.starts_with("TypeError"));
    QVERIFY(tree.module(*tree.find("body.0.pre")).failure.empty());
    auto* graphs = m_window->findChild<QComboBox*>(QStringLiteral("graphs"));
    QVERIFY(graphs->isVisible());
    const int act = graphs->findText(QStringLiteral("body.0.gate.act"));
    QVERIFY(act > 0);
    context().navigation().navigateTo(context().navigation().selectionOf(QStringLiteral("body.0.gate.act")));
    m_window->actions().action(QStringLiteral("go.own_graph"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(m_window->isIdle(), 30000);
    QCOMPARE(context().model().shownGraph(), act);
    QVERIFY(context().model().graph().findNode("input_1").valid());
    QVERIFY(context().model().graph().findNode("_1").valid());
    m_window->canvases().active()->setFocus();
    QTest::keyClick(m_window->canvases().active(), Qt::Key_W, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(context().model().shownGraph(), 0);
    QVERIFY(context().model().graph().findNode("body_0_gate").valid());
}

QTEST_MAIN(TestTracingPanel)

}  // namespace tst_tracing_panel

#include "tst_tracing_panel.moc"
