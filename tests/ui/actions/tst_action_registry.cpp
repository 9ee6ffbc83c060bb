#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QSet>
#include <QSettings>
#include <QStandardPaths>
#include <QTest>

#include "ui/actions/action_registry.h"
#include "ui/theme/icon.h"

namespace tst_action_registry {

using namespace sonde::actions;

class TestActionRegistry : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("sonde-tests"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_action_registry"));
        QSettings().clear();
    }

    void everyActionHasMenuToolTipKeyAndIcon() {
        const ActionRegistry registry;
        for (const ActionInfo& info : actionTable()) {
            QVERIFY2(!info.menu.isEmpty(), qPrintable(info.id));
            QVERIFY2(menuOrder().contains(QString(info.menu).remove('-').section('/', 0, 0)), qPrintable(info.id));
            QVERIFY2(!info.toolTip.isEmpty() && !info.toolTip.endsWith('.'), qPrintable(info.id));
            QVERIFY2(sonde::theme::iconNames().contains(info.icon), qPrintable(info.id + " " + info.icon));
            QVERIFY2(!registry.defaultShortcuts(info.id).isEmpty(), qPrintable(info.id));
            for (const QKeySequence& key : registry.defaultShortcuts(info.id))
                QVERIFY2(!key.isEmpty() && key[0].key() != Qt::Key_unknown, qPrintable(info.id + " " + info.shortcuts));
        }
    }

    void noTwoActionsHearTheSameKey() {
        const ActionRegistry registry;
        for (const QString& id : registry.ids())
            for (const QKeySequence& key : registry.defaultShortcuts(id))
                QCOMPARE(registry.conflicts(id, key).join(' '), QString());
    }

    void mnemonicsAreUniqueWithinAMenu() {
        QHash<QString, QString> taken;
        for (const ActionInfo& info : actionTable()) {
            const qsizetype at = info.text.indexOf('&');
            QVERIFY2(at >= 0 && at + 1 < info.text.size(), qPrintable(info.id));
            const QString slot = QString(info.menu).remove('-') + '/' + info.text[at + 1].toLower();
            QVERIFY2(!taken.contains(slot), qPrintable(info.id + " and " + taken.value(slot)));
            taken.insert(slot, info.id);
        }
    }

    void keysThatUsersExpect_data() {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("key");
        // clang-format off
        const std::pair<const char*, const char*> rows[] = {
            {"file.open", "Ctrl+O"}, {"file.reload", "Ctrl+R"}, {"run.start", "F5"}, {"run.cancel", "Shift+Esc"},
            {"run.cancel", "Ctrl+."}, {"run.watch", "F9"}, {"run.end", "Shift+F9"}, {"view.fit", "Space"},
            {"view.zoom_in", "Ctrl++"}, {"view.zoom_out", "Ctrl+-"}, {"view.zoom_reset", "Ctrl+0"}, {"edit.find", "Ctrl+F"},
            {"edit.find_next", "F3"}, {"edit.go_to", "Ctrl+G"}, {"view.toggle_expanded", "Return"}, {"go.back", "Alt+Left"},
            {"go.forward", "Alt+Right"}, {"go.parent", "Alt+Up"}, {"go.bookmark", "Ctrl+B"},
            {"file.export_png", "Ctrl+Shift+E"}, {"file.export_svg", "Ctrl+Alt+E"}, {"view.direction", "Ctrl+K"},
            {"run.step", "F10"}, {"run.step_in", "F11"}, {"run.step_out", "Shift+F11"}, {"edit.clear_selection", "Esc"},
            {"view.depth_0", "Ctrl+Shift+0"}, {"view.depth_3", "Ctrl+Shift+3"}, {"go.leave", "Backspace"}};
        // clang-format on
        for (const auto& [id, key] : rows) QTest::addRow("%s %s", id, key) << QString(id) << QString(key);
    }
    void keysThatUsersExpect() {
        QFETCH(QString, id);
        QFETCH(QString, key);
        QVERIFY(ActionRegistry().action(id)->shortcuts().contains(QKeySequence::fromString(key)));
    }

    void anActionIsShownOnceBoundAndEnabledOnceNeedsAreMet() {
        ActionRegistry registry;
        QAction* run = registry.action("run.start");
        QVERIFY(!run->isVisible());
        int runs = 0;
        registry.bind("run.start", this, [&] { ++runs; });
        QVERIFY(run->isVisible());
        QVERIFY(!run->isEnabled());
        registry.setState(Need::Model, true);
        QVERIFY(run->isEnabled());
        registry.setState(Need::Model | Need::Running);
        QVERIFY(!run->isEnabled());
        registry.setState(Need::Model | Need::Idle);
        run->trigger();
        QCOMPARE(runs, 1);
    }

    void aTogglesStateSetByTheWindowIsNotAWish() {
        ActionRegistry registry;
        registry.setState(Need::Model | Need::Selection);
        QList<bool> wishes;
        registry.bindToggle("run.watch", this, [&](bool on) { wishes << on; });
        registry.action("run.watch")->setChecked(true);
        QVERIFY(wishes.isEmpty());
        registry.action("run.watch")->trigger();
        QCOMPARE(wishes, QList<bool>{false});
    }

    void changedShortcutsAreKeptAndForgottenOnReset() {
        {
            ActionRegistry registry;
            registry.setShortcuts("run.start", {QKeySequence("Ctrl+Alt+Q")});
            QCOMPARE(registry.action("run.start")->shortcut(), QKeySequence("Ctrl+Alt+Q"));
        }
        ActionRegistry registry;
        QCOMPARE(registry.action("run.start")->shortcut(), QKeySequence("Ctrl+Alt+Q"));
        QVERIFY(registry.toolTip("run.start").startsWith("Run (Ctrl+Alt+Q)\n"));
        QCOMPARE(registry.conflicts("run.step", QKeySequence("Ctrl+Alt+Q")), QStringList{"run.start"});
        registry.resetShortcuts();
        QCOMPARE(registry.action("run.start")->shortcut(), QKeySequence("F5"));
        QCOMPARE(ActionRegistry().action("run.start")->shortcut(), QKeySequence("F5"));
    }

    void menuBarShowsOnlyMenusWithBoundActions() {
        QMainWindow window;
        ActionRegistry registry;
        registry.bind("file.open", this, [] {});
        registry.bind("file.export_png", this, [] {});
        registry.fillMenuBar(window.menuBar());
        QStringList shown;
        for (QAction* action : window.menuBar()->actions())
            if (action->isVisible()) shown << action->text();
        QCOMPARE(shown, QStringList{"&File"});
        QStringList entries;
        for (QAction* action : window.menuBar()->actions().first()->menu()->actions())
            if (action->isVisible() && !action->isSeparator()) entries << action->text();
        QCOMPARE(entries, (QStringList{"&Open…", "Export"}));
    }

    void canvasKeysAreNotHeardOutsideTheCanvas() {
        QMainWindow window;
        auto* centre = new QWidget;
        auto* canvas = new QWidget(centre);
        auto* other = new QWidget(centre);
        canvas->setFocusPolicy(Qt::StrongFocus);
        other->setFocusPolicy(Qt::StrongFocus);
        window.setCentralWidget(centre);
        ActionRegistry registry;
        registry.setState(Need::Model | Need::Idle);
        registry.addTo(&window, Scope::Window);
        registry.addTo(canvas, Scope::Canvas);
        int fits = 0, runs = 0;
        registry.bind("view.fit", this, [&] { ++fits; });
        registry.bind("run.start", this, [&] { ++runs; });
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        other->setFocus();
        QTest::keyClick(other, Qt::Key_Space);
        QTest::keyClick(other, Qt::Key_F5);
        QCOMPARE(fits, 0);
        QCOMPARE(runs, 1);
        canvas->setFocus();
        QTest::keyClick(canvas, Qt::Key_Space);
        QCOMPARE(fits, 1);
    }
};

QTEST_MAIN(TestActionRegistry)

}  // namespace tst_action_registry

#include "tst_action_registry.moc"
