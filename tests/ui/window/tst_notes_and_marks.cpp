// What is written on nodes, and where breakpoints are seen: in the canvas, the tree of modules and the table of nodes;
// watched calls; what is kept of watched values, in Settings; a long move in the status bar. By keys and clicks.

#include <QAction>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QTableView>
#include <QTreeView>

#include "tests/support/window_fixture.h"
#include "ui/canvas/mark_text.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/models/roles.h"
#include "ui/panels/module_tree/module_tree_panel.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/search_field.h"

namespace tst_notes_and_marks {

using namespace sonde;

class TestNotesAndMarks : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
        open(QStringLiteral(SONDE_SOURCE_DIR "/resources/demos/find-the-nan.onnx"));
        context().inputs().setSpec(QStringLiteral("x"),
                                   {QStringLiteral(SONDE_SOURCE_DIR "/resources/demos/find-the-nan.npy"), {}});
        settle();
    }
    void cleanup() { closeWindow(); }

    void aNoteIsWrittenFoundAndKept();
    void theNoteFollowsTheSelection();
    void shapesTellPointsApart();
    void eventsAreMarkedWhereTheyCameUp();
    void theTreeAndTheTableHaveThem();
    void oneCallIsWatched();
    void theSettingsHaveTheWatchPolicy();
    void bothCanvasesMarkTheCurrentNode();
    void panelsSayWhichRunTheyShow();
    void aLongMoveIsCounted();

  private:
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    void go(const char* name) {
        context().navigation().navigateTo(named(name));
        settle();
    }
    layout::ItemId itemOf(const char* name) {
        return canvas()->view().scene()->itemOf(context().model().graph().node(named(name)).producer);
    }
    canvas::ItemFlags flagsOf(const char* name) {
        const layout::ItemId item = itemOf(name);
        return item ? canvas()->marks().of(item) : canvas::ItemFlags{0};
    }
    QString tipOf(const char* name) {
        return canvas::markTexts(context(), *canvas()->view().scene(), itemOf(name)).join(u'\n');
    }
    QPlainTextEdit* note() {
        return m_window->docks().panel(QStringLiteral("details"))->findChild<QPlainTextEdit*>(QStringLiteral("note"));
    }
    int add(const char* where, const char* expression, bool isLog = false) {
        const auto id = context().breakpoints().add(QLatin1String(where), QLatin1String(expression), isLog);
        return id ? *id : 0;
    }
    void debug() {
        key(Qt::Key_F5, Qt::ControlModifier);
        QTRY_VERIFY_WITH_TIMEOUT(context().debugger().isStopped() && !context().debugger().isBusy(), 30000);
        settle();
    }
};

void TestNotesAndMarks::aNoteIsWrittenFoundAndKept() {
    go("norm2_var");
    QVERIFY(!(flagsOf("norm2_var") & canvas::kNote));
    key(Qt::Key_T, Qt::ControlModifier);
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(note()));
    const int oneLine = note()->height();
    QTest::keyClicks(note(), QStringLiteral("negative"));
    QTest::keyClick(note(), Qt::Key_Return);
    QTest::keyClicks(note(), QStringLiteral("why?"));
    QTRY_COMPARE(context().notes().of(named("norm2_var")), QStringLiteral("negative\nwhy?"));
    QVERIFY(note()->height() > oneLine);
    QVERIFY(flagsOf("norm2_var") & canvas::kNote);
    QCOMPARE(tipOf("norm2_var"), QStringLiteral("Note: negative\nwhy?"));
    // What was typed is undone in the field, and stored once the focus leaves.
    QTest::keyClick(note(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(note()->toPlainText() != QStringLiteral("negative\nwhy?"));
    QTest::keyClick(note(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QTest::keyClick(note(), Qt::Key_Escape);
    QVERIFY(QApplication::focusWidget() != static_cast<QWidget*>(note()));
    QCOMPARE(context().notes().of(named("norm2_var")), QStringLiteral("negative\nwhy?"));
    // The table of nodes lists it.
    QWidget* const table = m_window->docks().panel(QStringLiteral("nodes"));
    auto* view = table->findChild<QTableView*>();
    QVERIFY(!view->isColumnHidden(models::NoteColumn));
    auto* filter = table->findChild<widgets::SearchField*>()->findChild<QLineEdit*>();
    filter->setText(QStringLiteral("note:WHY"));
    QTRY_COMPARE(view->model()->rowCount(), 1);
    QCOMPARE(view->model()->index(0, 0).data(models::NodeRole).toUInt(), named("norm2_var").value);
    filter->setText(QStringLiteral("note:norm2"));
    QTRY_COMPARE(view->model()->rowCount(), 0);
    // Without a session file it is kept for the model.
    closeWindow();
    openWindow();
    open(QStringLiteral(SONDE_SOURCE_DIR "/resources/demos/find-the-nan.onnx"));
    QCOMPARE(context().notes().of(named("norm2_var")), QStringLiteral("negative\nwhy?"));
    context().notes().set(named("norm2_var"), {});
    QVERIFY(!(flagsOf("norm2_var") & canvas::kNote));
}

void TestNotesAndMarks::theNoteFollowsTheSelection() {
    context().notes().set(named("norm2_var"), QStringLiteral("one"));
    go("norm2_var");
    QCOMPARE(note()->toPlainText(), QStringLiteral("one"));
    key(Qt::Key_T, Qt::ControlModifier);
    QTest::keyClicks(note(), QStringLiteral(" more"));
    go("norm2_log_var");  // before the pause that stores it
    QCOMPARE(note()->toPlainText(), QString());
    QCOMPARE(context().notes().of(named("norm2_var")), QStringLiteral("one more"));
    QVERIFY(context().notes().of(named("norm2_log_var")).isEmpty());
    // What is being typed is not lost when the window closes.
    key(Qt::Key_T, Qt::ControlModifier);
    QTest::keyClicks(note(), QStringLiteral("late"));
    closeWindow();
    openWindow();
    open(QStringLiteral(SONDE_SOURCE_DIR "/resources/demos/find-the-nan.onnx"));
    QCOMPARE(context().notes().of(named("norm2_log_var")), QStringLiteral("late"));
    context().navigation().clearSelection();
    settle();
    QVERIFY(!note()->isVisible());
}

void TestNotesAndMarks::shapesTellPointsApart() {
    go("norm2_var");
    const int plain = add("norm2_var", "");
    QCOMPARE(flagsOf("norm2_var") & (canvas::kBreak | canvas::kBreakIf | canvas::kBreakLog), canvas::kBreak);
    QCOMPARE(tipOf("norm2_var"), QStringLiteral("Breakpoint %1").arg(plain));
    context().breakpoints().remove(plain);
    const int log = add("norm2_var", "max(norm2_var)", true);
    QVERIFY(flagsOf("norm2_var") & canvas::kBreakLog);
    QCOMPARE(tipOf("norm2_var"), QStringLiteral("Log point %1: max(norm2_var)").arg(log));
    // What stops hides what writes, and what is on what is off.
    const int condition = add("norm2_var", "max(norm2_var) > 0");
    QVERIFY(flagsOf("norm2_var") & canvas::kBreakIf);
    QVERIFY(!(flagsOf("norm2_var") & canvas::kBreakLog));
    context().breakpoints().setEnabled(condition, false);
    context().breakpoints().remove(log);
    QVERIFY(flagsOf("norm2_var") & canvas::kBreakOff);
    QVERIFY(tipOf("norm2_var").endsWith(QStringLiteral("(disabled)")));
    context().breakpoints().clear();
    // One without a place is where it is asked, and one of an operator at each operation.
    add("", "min(norm2_var) < 0");
    QVERIFY(flagsOf("norm2_var") & canvas::kBreakIf);
    add("op:Relu", "");
    context().canvases().active().expandToDepth(9);
    settle();
    for (const char* relu : {"stem_out", "block1_out", "block2_out"}) QVERIFY2(flagsOf(relu) & canvas::kBreak, relu);
    QVERIFY(!(flagsOf("norm2_log_var") & canvas::kBreak));
}

void TestNotesAndMarks::eventsAreMarkedWhereTheyCameUp() {
    add("nan", "");
    go("norm2_log_var");
    QVERIFY(!(flagsOf("norm2_log_var") & canvas::kBreak));
    debug();
    QCOMPARE(context().debugger().current(), named("norm2_log_var"));
    QVERIFY(flagsOf("norm2_log_var") & canvas::kBreak);
    QVERIFY(flagsOf("norm2_log_var") & canvas::kBreakHit);
    QVERIFY2(tipOf("norm2_log_var").contains(QStringLiteral("first NaN")), qPrintable(tipOf("norm2_log_var")));
    context().debugger().cancel();
    settle();
    QVERIFY(!(flagsOf("norm2_log_var") & canvas::kBreak));
}

void TestNotesAndMarks::theTreeAndTheTableHaveThem() {
    auto* tree = static_cast<panels::ModuleTreePanel*>(m_window->docks().panel(QStringLiteral("modules")))->view();
    const auto row = [&](const QString& qualname) {
        for (QModelIndex index = tree->model()->index(0, 0); index.isValid(); index = tree->indexBelow(index))
            if (index.data(models::QualnameRole).toString() == qualname) return index;
        return QModelIndex();
    };
    tree->expandAll();
    QVERIFY(row(QStringLiteral("encoder.block2")).isValid());
    QVERIFY(row(QStringLiteral("encoder.block2")).data(models::PointRole).toString().isEmpty());
    const int module = add("encoder.block2", "");
    const QModelIndex own = row(QStringLiteral("encoder.block2"));
    QCOMPARE(own.data(models::PointRole).toString(), QStringLiteral("breakpoint"));
    QVERIFY(!own.data(models::PointBelowRole).toBool());
    QVERIFY(own.data(Qt::ToolTipRole).toString().contains(QStringLiteral("Breakpoint %1").arg(module)));
    QVERIFY(row(QStringLiteral("encoder")).data(models::PointBelowRole).toBool());
    QVERIFY(!row(QStringLiteral("encoder")).data(models::PointRole).toString().isEmpty());
    context().breakpoints().setEnabled(module, false);
    QCOMPARE(own.data(models::PointRole).toString(), QStringLiteral("breakpoint-off"));
    context().breakpoints().clear();
    QVERIFY(own.data(models::PointRole).toString().isEmpty());
    // One on an operation: at its module, and in its row of the table.
    const int log = add("norm2_var", "max(norm2_var)", true);
    const QString module2 = context().navigation().selectionOf(named("norm2_var")).qualname;
    QCOMPARE(row(module2).data(models::PointRole).toString(), QStringLiteral("log-point"));
    QVERIFY(row(module2).data(Qt::ToolTipRole).toString().contains(QStringLiteral("at norm2_var")));
    auto* table = m_window->docks().panel(QStringLiteral("nodes"))->findChild<QTableView*>();
    int marked = 0;
    for (int i = 0; i < table->model()->rowCount(); ++i) {
        const QModelIndex name = table->model()->index(i, models::NameColumn);
        if (name.data(models::PointRole).toString().isEmpty()) continue;
        ++marked;
        QCOMPARE(name.data(models::NodeRole).toUInt(), named("norm2_var").value);
        QVERIFY(name.data(Qt::ToolTipRole).toString().contains(QStringLiteral("Log point %1").arg(log)));
    }
    QCOMPARE(marked, 1);
}

void TestNotesAndMarks::oneCallIsWatched() {
    open(QStringLiteral("zoo:shared_twice"));
    const graph::InternalGraph& graph = context().model().graph();
    std::vector<graph::ScopeId> calls;
    for (const graph::Scope& scope : graph.scopes())
        if (scope.qualname == "block") calls.push_back(scope.id);
    QVERIFY(calls.size() > 1);
    context().navigation().select(calls[1]);
    settle();
    key(Qt::Key_C, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(context().watches().groups().size(), std::size_t{1});
    const context::Watches::Group& group = context().watches().groups().front();
    QCOMPARE(group.group.call, static_cast<int>(graph.scope(calls[1]).call));
    QVERIFY(!group.nodes.empty());
    for (const graph::NodeId node : group.nodes) {
        bool isInside = false;
        for (graph::ScopeId at = graph.expr(graph.node(node).producer).scope; at.valid(); at = graph.scope(at).parent)
            isInside = isInside || at == calls[1];
        QVERIFY2(isInside, graph.node(node).name.c_str());
    }
}

void TestNotesAndMarks::theSettingsHaveTheWatchPolicy() {
    m_window->actions().action(QStringLiteral("file.settings"))->trigger();
    auto* dialog = m_window->findChild<dialogs::SettingsDialog*>();
    QVERIFY(dialog);
    auto* keep = dialog->findChild<QComboBox*>(QStringLiteral("watchKeep"));
    QCOMPARE(keep->currentIndex(), 0);
    keep->setFocus();
    QTest::keyClicks(keep, QStringLiteral("St"));  // goes to the entry with these letters
    QCOMPARE(keep->currentIndex(), 2);
    QCOMPARE(context().watches().policy().keep, session::WatchKeep::Statistics);
    auto* memory = dialog->findChild<QSpinBox*>(QStringLiteral("watchMemory"));
    QCOMPARE(memory->value(), 1024);
    memory->setValue(64);
    QCOMPARE(context().watches().policy().budgetBytes, std::size_t{64} << 20);
    QCOMPARE(context().watches().policy().keep, session::WatchKeep::Statistics);
    dialog->close();
}

void TestNotesAndMarks::bothCanvasesMarkTheCurrentNode() {
    m_window->actions().action(QStringLiteral("view.split"))->trigger();
    settle();
    QCOMPARE(m_window->canvases().all().size(), 2);
    for (const int i : {0, 1}) context().canvases().at(i).expandToDepth(9);
    settle();
    key(Qt::Key_F10);
    key(Qt::Key_F10);
    const graph::NodeId current = context().debugger().current();
    QVERIFY(current.valid());
    for (canvas::GraphCanvas* shown : m_window->canvases().all()) {
        const auto item = shown->view().scene()->itemOf(context().model().graph().node(current).producer);
        QVERIFY(item);
        QVERIFY(shown->marks().of(item) & canvas::kCurrent);
    }
}

/// The value at the place is in the details, the expression and its pin; problems are those of the debugged run so far.
void TestNotesAndMarks::panelsSayWhichRunTheyShow() {
    run();
    go("norm2_var");
    const auto id = context().watches().addExpression(QStringLiteral("min(norm2_var)"), named("norm2_var"));
    QVERIFY(id);
    QWidget* const problems = m_window->docks().panel(QStringLiteral("problems"));
    const auto texts = [&] {
        QString all;
        for (widgets::ElidedLabel* label : problems->findChildren<widgets::ElidedLabel*>())
            all += label->text() + u'\n';
        return all;
    };
    QVERIFY(texts().contains(QStringLiteral("origin")));
    QVERIFY(!texts().contains(QStringLiteral("so far")));
    key(Qt::Key_F10);
    QVERIFY(context().debugger().isShown());
    QVERIFY2(texts().contains(QStringLiteral("so far")), qPrintable(texts()));
    QVERIFY2(!texts().contains(QStringLiteral("origin")), qPrintable(texts()));
    QVERIFY(!context().watches().result(*id));
    QVERIFY(canvas()->marks().pins.ofExpr.empty());
    key(Qt::Key_F10, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(context().debugger().isStopped() && !context().debugger().isBusy(), 30000);
    QTRY_VERIFY(context().watches().result(*id));
    QTRY_COMPARE(canvas()->marks().pins.ofExpr.size(), std::size_t{1});
    const QString pinned = canvas()->marks().pins.ofExpr.begin()->second.text;
    QVERIFY2(pinned.startsWith(QStringLiteral("min(norm2_var) = -")), qPrintable(pinned));
    key(Qt::Key_Escape, Qt::ShiftModifier);
    QVERIFY(!context().debugger().isShown());
    QVERIFY(texts().contains(QStringLiteral("origin")));
    QVERIFY(!texts().contains(QStringLiteral("so far")));
}

void TestNotesAndMarks::aLongMoveIsCounted() {
    open(QStringLiteral("zoo:resnet18"));
    std::vector<std::size_t> counts;
    std::size_t total = 0;
    connect(&context().debugger(), &context::Debugger::progressed, this, [&](const base::Progress& progress) {
        counts.push_back(progress.done);
        total = progress.total;
    });
    debug();
    QVERIFY(context().debugger().place().isEnd);
    QVERIFY(!counts.empty());
    QVERIFY(std::is_sorted(counts.begin(), counts.end()));
    QCOMPARE(total, context().debugger().total());
    QVERIFY(counts.back() > 0 && counts.back() <= total);
    disconnect(&context().debugger(), nullptr, this, nullptr);
}

QTEST_MAIN(TestNotesAndMarks)

}  // namespace tst_notes_and_marks

#include "tst_notes_and_marks.moc"
