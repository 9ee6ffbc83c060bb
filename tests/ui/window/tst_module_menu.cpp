// The menu of a module in the tree: it selects the module, and sets watch and end points at its output.

#include <QAction>
#include <QContextMenuEvent>
#include <QMenu>
#include <QTreeView>

#include "tests/support/window_fixture.h"

namespace tst_module_menu {

using namespace sonde;

class TestModuleMenu : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }
    void aModuleHasWatchAndEndPoints();
};

void TestModuleMenu::aModuleHasWatchAndEndPoints() {
    open(file("resnet18_slim.onnx"));
    auto* tree = m_window->docks().panel(QStringLiteral("modules"))->findChild<QTreeView*>();
    tree->expandAll();
    const QModelIndexList found =
        tree->model()->match(tree->model()->index(0, 0), Qt::DisplayRole, QStringLiteral("layer2"), 1,
                             Qt::MatchExactly | Qt::MatchRecursive);
    QCOMPARE(found.size(), 1);
    tree->scrollTo(found.front());
    const QPoint at = tree->visualRect(found.front()).center();
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, tree->viewport()->mapToGlobal(at));
    QCoreApplication::sendEvent(tree->viewport(), &event);
    settle();
    QCOMPARE(context().navigation().selection().qualname, QStringLiteral("layer2"));
    auto* menu = tree->findChild<QMenu*>(QStringLiteral("moduleMenu"));
    QVERIFY(menu && menu->isVisible());
    const QList<QAction*> actions = menu->actions();
    for (const char* id : {"run.watch", "run.end"}) {
        QAction* action = m_window->actions().action(QLatin1String(id));
        QVERIFY2(actions.contains(action) && action->isEnabled(), id);
        action->trigger();
    }
    menu->close();
    settle();
    // The output of the module: what its last operation computes.
    QCOMPARE(context().points().watched().size(), std::size_t{1});
    QCOMPARE(context().points().ends(), context().points().watched());
    const graph::Expr& expr =
        context().model().graph().expr(context().model().graph().node(context().points().watched().front()).producer);
    QVERIFY(expr.qualname && expr.qualname->starts_with("layer2"));
}

QTEST_MAIN(TestModuleMenu)

}  // namespace tst_module_menu

#include "tst_module_menu.moc"
