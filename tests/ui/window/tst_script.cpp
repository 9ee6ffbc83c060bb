// Window scripts: the table of commands, the actions of the menus behind it, and what a script does in a real window.

#include <QAction>

#include <algorithm>
#include <set>
#include <string_view>

#include "tests/support/window_fixture.h"
#include "ui/actions/action_table.h"
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
    void unknownWordsEndTheScript();

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

void TestScript::unknownWordsEndTheScript() {
    openWindow();
    QCOMPARE(play("\n# nothing yet\nfold on"), QStringLiteral("no model is open (line 3)"));
    QCOMPARE(play("view table"), QStringLiteral("no model is open (line 1)"));
    open(file("resnet18_slim.onnx"));
    QCOMPARE(play("dance"), QStringLiteral("unknown command (line 1: dance)"));
    QCOMPARE(play("fold on\ndirection up"), QStringLiteral("no such direction (line 2: up)"));
    QCOMPARE(play("view table\nview nothing"), QStringLiteral("no such view (line 2: nothing)"));
    QCOMPARE(play("zoom 0"), QStringLiteral("zoom needs fit, in, out or a factor (line 1: 0)"));
    QCOMPARE(play("action run.cancel"), QStringLiteral("the action is not possible now (line 1: run.cancel)"));
    QCOMPARE(play("quit\ndance"), QString());
}

QTEST_MAIN(TestScript)

}  // namespace tst_script

#include "tst_script.moc"
