// Window scripts: the table of commands, the actions of the menus behind it, and what a script does in a real window.

#include <QAction>
#include <QListWidget>
#include <QScrollBar>
#include <QTextBrowser>

#include <algorithm>
#include <set>
#include <string_view>

#include "tests/support/window_fixture.h"
#include "ui/actions/action_table.h"
#include "ui/dialogs/help_viewer.h"
#include "ui/window/panel_table.h"
#include "ui/window/script.h"
#include "ui/window/script_commands.h"

namespace tst_script {

using namespace sonde;
using window::ScriptCommand;
using window::ScriptWord;

class TestScript : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void cleanup() { closeWindow(); }
    void everyCommandCanBeDone();
    void everyWordIsAnActionOfTheMenus();
    void helpListsEveryCommand();
    void commandsDoWhatMenusDo();
    void helpOpensAtAPage();
    void keysGoToTheDialogInFront();
    void unknownWordsEndTheScript();
    void aPictureShowsTheWholeNewTheme();
    void badQueriesAreTold();

  private:
    /// Runs the lines to their end; the error, or empty.
    QString play(const QString& text) {
        window::Script script(*m_window, {}, text, {});
        QSignalSpy finished(&script, &window::Script::finished);
        script.start();
        if (finished.isEmpty() && !finished.wait(60000)) return QStringLiteral("not finished");
        return script.error() ? QString::fromStdString(script.error()->what + " (" + script.error()->where + ')')
                              : QString();
    }
};

void TestScript::everyCommandCanBeDone() {
    std::set<std::string_view> names;
    for (const ScriptCommand& command : window::scriptCommands()) {
        QVERIFY2(names.insert(command.name).second, command.name.data());
        QVERIFY2(command.perform || !command.words.empty() || command.after == ScriptCommand::After::End,
                 command.name.data());
        QCOMPARE(window::findScriptCommand(command.name), &command);
    }
    for (const panels::PanelInfo& panel : window::panelTable())
        for (const panels::PanelCommand& command : panel.commands) {
            QVERIFY2(names.insert(command.name).second, command.name);
            QVERIFY(command.perform);
        }
    QVERIFY(names.contains("view"));
    QVERIFY(!window::findScriptCommand("dance"));
}

void TestScript::everyWordIsAnActionOfTheMenus() {
    for (const ScriptCommand& command : window::scriptCommands())
        for (const ScriptWord& word : command.words) {
            const auto& table = actions::actionTable();
            const auto found = std::ranges::find(table, QLatin1String(word.action), &actions::ActionInfo::id);
            QVERIFY2(found != table.end(), word.action);
            QVERIFY2(found->checkable || !word.checks, word.action);
            QCOMPARE(command.find(word.word), &word);
        }
}

void TestScript::helpListsEveryCommand() {
    const std::string help = window::scriptHelp();
    for (const ScriptCommand& command : window::scriptCommands())
        QVERIFY2(help.find("\n  " + std::string(command.name)) != std::string::npos, command.name.data());
    for (const char* preset : {"half-arithmetic", "packed-arm", "older"})
        QVERIFY2(help.find(preset) != std::string::npos, preset);
    for (const char* ofPanel : {"\n  view ", "\n  iteration "}) QVERIFY(help.find(ofPanel) != std::string::npos);
}

void TestScript::commandsDoWhatMenusDo() {
    openWindow();
    open(file("resnet18_slim.onnx"));
    QCOMPARE(play("fold off\nedges size\ndirection right\nlegend on"), QString());
    QVERIFY(!context().canvases().active().folds());
    QVERIFY(context().settings().edgeWidths());
    QCOMPARE(context().canvases().active().view().direction, layout::Direction::LeftRight);
    QVERIFY(canvas()->overlays().legendVisible());
    QCOMPARE(play("fold on\nfold on\nedges plain\nlegend off"), QString());
    QVERIFY(context().canvases().active().folds());
    QVERIFY(!context().settings().edgeWidths());
    QVERIFY(!canvas()->overlays().legendVisible());
    QCOMPARE(play("expand all\ncollapse"), QString());
    QVERIFY(context().canvases().active().view().openScopes.empty());
    QCOMPARE(play("select layer1\nbookmark\nfocus only"), QString());
    QCOMPARE(context().navigation().bookmarks().size(), 1u);
    QCOMPARE(context().canvases().active().focus().kind, context::Focus::Kind::Only);
    QCOMPARE(play("focus all\nrun\naction view.split\ncolor time"), QString());
    QCOMPARE(context().canvases().active().focus().kind, context::Focus::Kind::None);
    QCOMPARE(context().runs().state(), context::RunState::Finished);
    QVERIFY(m_window->canvases().isSplit());
    QCOMPARE(context().settings().colorBy(), QStringLiteral("time"));
    QVERIFY(canvas()->overlays().legendVisible());
}

/// Without a model, and for screenshots.
void TestScript::helpOpensAtAPage() {
    openWindow();
    QCOMPARE(play("help from-megengine InternalGraph"), QString());
    auto* help = m_window->findChild<dialogs::HelpViewer*>();
    QVERIFY(help && help->isVisible());
    QCOMPARE(help->pages()->currentItem()->text(), QStringLiteral("Coming from MegEngine"));
    const int there = help->browser()->verticalScrollBar()->value();
    QVERIFY(there > 0);
    QCOMPARE(play("help from-megengine load-and-run"), QString());
    QVERIFY(help->browser()->verticalScrollBar()->value() > there);
    QCOMPARE(play("help running"), QString());
    QCOMPARE(help->browser()->verticalScrollBar()->value(), 0);
    QCOMPARE(play("help running Nothing"), QStringLiteral("the page has no such heading (line 1: Nothing)"));
    QCOMPARE(play("help nowhere"), QStringLiteral("the help has no such page (line 1: nowhere)"));
    for (const QString& page : dialogs::HelpViewer::pageIds())
        QVERIFY2(window::scriptHelp().find(page.toStdString()) != std::string::npos, qPrintable(page));
}

/// Keys are those of the dialog in front, not of the window behind it.
void TestScript::keysGoToTheDialogInFront() {
    openWindow();
    open(file("resnet18_slim.onnx"));
    QCOMPARE(play("direction down\nselect #5\nhelp running\nkey Down"), QString());
    const graph::NodeId selected = context().navigation().selection().node;
    auto* help = m_window->findChild<dialogs::HelpViewer*>();
    QVERIFY(help && selected.valid());
    help->pages()->setFocus();
    const int row = help->pages()->currentRow();
    QCOMPARE(play("key Down"), QString());
    QCOMPARE(help->pages()->currentRow(), row + 1);
    QCOMPARE(context().navigation().selection().node, selected);
    QCOMPARE(play("key Escape"), QString());
    QVERIFY(!help->isVisible());
    m_window->canvases().active()->setFocus();
    QCOMPARE(play("wait\nkey Down"), QString());  // the modules around the node open first
    QVERIFY(context().navigation().selection().node != selected);
}

void TestScript::unknownWordsEndTheScript() {
    openWindow();
    QCOMPARE(play("\n# nothing yet\nfold on"), QStringLiteral("no model is open (line 3)"));
    QCOMPARE(play("view table"), QStringLiteral("no model is open (line 1)"));
    open(file("resnet18_slim.onnx"));
    QCOMPARE(play("dance"), QStringLiteral("unknown command (line 1: dance)"));
    QCOMPARE(play("fold on\ndirection up"), QStringLiteral("no such direction (line 2: up)"));
    QCOMPARE(play("view table\nview nothing"), QStringLiteral("no such view (line 2: nothing)"));
    QCOMPARE(play("zoom 0"), QStringLiteral("the zoom factor is out of range (line 1: 0)"));
    QCOMPARE(play("zoom far"), QStringLiteral("zoom needs fit, in, out or a factor (line 1: far)"));
    QCOMPARE(play("action run.cancel"), QStringLiteral("the action is not possible now (line 1: run.cancel)"));
    QCOMPARE(play("action run.test_cases"), QStringLiteral("the model has no test cases (line 1: resnet18_slim.onnx)"));
    QCOMPARE(play("fold on\nkey Foo+Bar"), QStringLiteral("no such key (line 2: Foo+Bar)"));
    QCOMPARE(play("key Ctrl+Nothing"), QStringLiteral("no such key (line 1: Ctrl+Nothing)"));
    QCOMPARE(play("key F2, Blurb"), QStringLiteral("no such key (line 1: F2, Blurb)"));
    QCOMPARE(play("wait abc"), QStringLiteral("wait needs a count of seconds (line 1: abc)"));
    QCOMPARE(play("wait -1"), QStringLiteral("wait needs a count of seconds (line 1: -1)"));
    QCOMPARE(play("wait 20\nwait"), QString());
    QCOMPARE(play("click"), QStringLiteral("click needs NODE (line 1)"));
    QCOMPARE(play("doubleclick"), QStringLiteral("doubleclick needs NODE (line 1)"));
    QCOMPARE(play("quit\ndance"), QString());
}

void TestScript::aPictureShowsTheWholeNewTheme() {
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet18"));
    const QString now = m_settings.filePath(QStringLiteral("now.png")),
                  later = m_settings.filePath(QStringLiteral("later.png"));
    QCOMPARE(play(QStringLiteral("expand all\nzoom 1\ntheme dark\nscreenshot %1\nwait\nscreenshot %2").arg(now, later)),
             QString());
    const QImage first(now), second(later);
    QVERIFY(!first.isNull());
    const QRect place(canvas()->mapTo(m_window.get(), QPoint()), canvas()->size());
    QVERIFY(first.copy(place) == second.copy(place));
}

void TestScript::badQueriesAreTold() {
    openWindow();
    open(file("resnet18_slim.onnx"));
    QCOMPARE(play("search (op:conv"), QStringLiteral("unmatched '(' (line 1: character 1 of the query)"));
    QCOMPARE(play("search nothing_like_it"), QStringLiteral("no node matches (line 1: nothing_like_it)"));
}

QTEST_MAIN(TestScript)

}  // namespace tst_script

#include "tst_script.moc"
