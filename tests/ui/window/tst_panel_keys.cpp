// Panels by keys alone: the key that shows one brings the focus to what the panel is for, arrows walk in its table, Tab
// leaves it, and none of that goes to a node that nobody chose.

#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QScrollArea>
#include <QTableView>
#include <QTreeView>

#include "tests/support/window_fixture.h"
#include "ui/window/panel_table.h"
#include "ui/window/script.h"

namespace tst_panel_keys {

using namespace sonde;

class TestPanelKeys : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
        open(QStringLiteral("zoo:blocks_net"));
    }
    void cleanup() { closeWindow(); }
    void theKeyOfAPanelBringsTheFocus();
    void theFocusChoosesNoNode();
    void tabLeavesEveryTable();
    void scriptsReachThePanel();

  private:
    QWidget* panel(const QString& id) { return m_window->docks().panel(id); }
    void press(const QString& keys) {
        activate();
        canvas()->setFocus();
        const QKeyCombination key = QKeySequence::fromString(keys, QKeySequence::PortableText)[0];
        QTest::keyClick(canvas(), key.key(), key.keyboardModifiers());
        QCoreApplication::processEvents();
    }
};

void TestPanelKeys::theKeyOfAPanelBringsTheFocus() {
    run();
    context().navigation().select(find("op:Conv").front());
    settle();
    for (const panels::PanelInfo& info : window::panelTable()) {
        m_window->docks().dock(info.id)->hide();
        press(info.shortcut);
        settle();
        const QWidget* focus = QApplication::focusWidget();
        QVERIFY2(focus && panel(info.id)->isAncestorOf(focus) && focus->isVisible(), qPrintable(info.id));
    }
    // What the panels are for.
    const auto focusOf = [this](const char* id, const char* keys) {
        m_window->docks().dock(QLatin1String(id))->hide();
        press(QLatin1String(keys));
        return QApplication::focusWidget();
    };
    QCOMPARE(focusOf("modules", "Alt+1"), panel("modules")->findChild<QTreeView*>());
    QVERIFY(qobject_cast<QComboBox*>(focusOf("inputs", "Alt+2")));
    QCOMPARE(focusOf("details", "Alt+3"), panel("details")->findChild<QScrollArea*>());
    QCOMPARE(focusOf("nodes", "Alt+6"), panel("nodes")->findChild<QTableView*>("nodeTable"));
    QCOMPARE(focusOf("log", "Alt+7"), panel("log")->findChild<QTreeView*>());
    QCOMPARE(focusOf("operators", "Alt+Shift+6"), panel("operators")->findChild<QTableView*>("operatorTable"));
    context().points().setWatched(find("op:Conv").front(), true);
    settle();
    QCOMPARE(focusOf("watches", "Alt+5"), panel("watches")->findChild<QTableView*>("watchTable"));
}

void TestPanelKeys::theFocusChoosesNoNode() {
    QVERIFY(context().navigation().selection().isNone());
    press(QStringLiteral("Alt+6"));
    auto* table = panel("nodes")->findChild<QTableView*>("nodeTable");
    QCOMPARE(QApplication::focusWidget(), table);
    QVERIFY(context().navigation().selection().isNone());
    // The first key does, and begins at the top.
    QTest::keyClick(table, Qt::Key_Down);
    QCOMPARE(table->currentIndex().row(), 0);
    const graph::NodeId first = context().navigation().selection().node;
    QCOMPARE(first.value, table->model()->index(0, 0).data(models::NodeRole).toUInt());
    QTest::keyClick(table, Qt::Key_Down);
    QCOMPARE(context().navigation().selection().node.value,
             table->model()->index(1, 0).data(models::NodeRole).toUInt());
}

void TestPanelKeys::tabLeavesEveryTable() {
    context().points().setWatched(find("op:Conv").front(), true);
    context().points().setEnd(find("op:Conv").front(), true);
    settle();
    int tables = 0;
    for (const char* name : {"nodeTable", "operatorTable", "watchTable"}) {
        auto* table = m_window->findChild<QTableView*>(QLatin1String(name));
        for (QWidget* each = table->parentWidget(); each; each = each->parentWidget())
            if (auto* dock = qobject_cast<QDockWidget*>(each)) dock->show(), dock->raise();
        for (const Qt::Key tab : {Qt::Key_Tab, Qt::Key_Backtab}) {
            table->setFocus();
            QTRY_VERIFY(table->hasFocus());
            QTest::keyClick(table, tab);
            QVERIFY2(!table->hasFocus(), name);
            ++tables;
        }
    }
    QCOMPARE(tables, 6);
    for (const QAbstractItemView* view : m_window->findChildren<QAbstractItemView*>())
        QVERIFY2(!view->tabKeyNavigation(), qPrintable(view->objectName() + view->metaObject()->className()));
}

/// Keys of the graph are not taken from the table that has the focus.
void TestPanelKeys::scriptsReachThePanel() {
    auto* table = panel("nodes")->findChild<QTableView*>("nodeTable");
    window::Script script(*m_window, {}, QStringLiteral("key Alt+6\nkey Down\nkey Down"), {});
    QSignalSpy finished(&script, &window::Script::finished);
    script.start();
    QVERIFY(finished.wait(60000));
    QVERIFY(!script.error());
    QCOMPARE(table->currentIndex().row(), 1);
    QCOMPARE(context().navigation().selection().node.value,
             table->model()->index(1, 0).data(models::NodeRole).toUInt());
}

QTEST_MAIN(TestPanelKeys)

}  // namespace tst_panel_keys

#include "tst_panel_keys.moc"
