// Errors of core carry hints for the command line. The window shows what it offers itself, or nothing.

#include <QRegularExpression>
#include <QtTest>

#include "core/export/export_options.h"
#include "tests/support/source_tree.h"
#include "ui/context/inspector_context.h"
#include "ui/context/text.h"
#include "ui/context/window_hint.h"
#include "ui/window/panel_table.h"

namespace tst_window_hint {

using namespace sonde;
using context::windowHint;

namespace {

/// An option, a verb, or a model path with a name behind it: what only a command line takes.
bool namesCommand(const QString& text) {
    static const QRegularExpression command(R"((^|[^\w-])--[a-z]|\bsonde [a-z]|\bPATH#NAME\b)");
    return command.match(text).hasMatch();
}

/// String literals of a source file that name a command; adjacent literals are one.
QStringList commandLiterals(const QString& file) {
    static const QRegularExpression literal(R"re("((?:[^"\\]|\\.)*)")re");
    static const QRegularExpression comment(R"((^|\s)//.*$)");
    QStringList found;
    for (QString line : test::sourceLines(file)) {
        line.remove(comment);
        for (auto match = literal.globalMatch(line); match.hasNext();) {
            const QString text = match.next().captured(1);
            if (namesCommand(text)) found << text;
        }
    }
    return found;
}

}  // namespace

class TestWindowHint : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { window::addPanelAdvice(); }
    void clausesAreReplacedOrLeftOut_data();
    void clausesAreReplacedOrLeftOut();
    void noHintOfCoreNamesACommand();
    void reportedErrorsNameNoCommand();
    void theWindowItselfNamesNoCommand();
    void optionsOfAnExportAreNamedAsInItsDialog();
    void placesAreThoseOfTheWindow();
    void errorsComeThroughTheHints();
    void onlyPanelsNamePanels();
};

void TestWindowHint::clausesAreReplacedOrLeftOut_data() {
    QTest::addColumn<QString>("hint");
    QTest::addColumn<QString>("expected");
    QTest::newRow("none") << ""
                          << "";
    QTest::newRow("plain") << "put the data file into the model's folder"
                           << "put the data file into the model's folder";
    QTest::newRow("dashes in a name") << "export it with torch.jit.trace; see my--model"
                                      << "export it with torch.jit.trace; see my--model";
    QTest::newRow("replaced") << "--no-groups shows the graph as it is"
                              << "clear \"Find groups in models without module names\" in the settings";
    QTest::newRow("left out") << "`sonde check` compares it"
                              << "";
    QTest::newRow("one clause of two") << "names must be the model's; `sonde models` lists the settings"
                                       << "names must be the model's; File \u203a Open Built-in Model lists them";
    QTest::newRow("an option with its value")
        << "trace the model with --tracer traced-module"
        << "choose the tracer \"Traced module\" in the Tracing panel and trace again";
    QTest::newRow("several options")
        << "make the module a leaf (--leaf CLASS), or trace with --tracer robust"
        << "make the module's class a leaf in the Tracing panel; choose another tracer in the Tracing panel";
    // Options of an export: group and label of core/export/export_options.cpp.
    QTest::newRow("a switch of an export") << "leave out --append-json to replace it"
                                           << "clear \"File \u203a Add to that list\" to replace it";
    QTest::newRow("options of an export")
        << "give other names with --arg-names or --output-names"
        << "give other names with \"Names \u203a Inputs\" or \"Names \u203a Outputs\"";
    QTest::newRow("an option of an export with its value")
        << "add --dump-format FBS and leave out --no-change-graph"
        << "set \"File \u203a Format\" to \"Version 1, whose readers know no ConvBias\" and clear "
           "\"File \u203a Do not change the graph\"";
    QTest::newRow("an option of the optimisation")
        << "leave out --option enable_ioc16"
        << "clear \"Layout and precision \u203a Values and arithmetic in float16\"";
    QTest::newRow("a layout")
        << "leave out --append-json and --option enable_nchw88"
        << "clear \"File \u203a Add to that list\" and \"Layout and precision \u203a Layout\" to \"x86 "
           "with AVX: blocks of 8 channels\"";
    // --no-metadata is a switch that is on by default: to leave it out is to tick "Keep metadata".
    QTest::newRow("a negated switch") << "leave out --no-metadata"
                                      << "";
    QTest::newRow("no option of ours") << "leave out --append-jsons"
                                       << "";
}

void TestWindowHint::clausesAreReplacedOrLeftOut() {
    QFETCH(QString, hint);
    QFETCH(QString, expected);
    QCOMPARE(windowHint(hint.toStdString()), expected);
}

void TestWindowHint::noHintOfCoreNamesACommand() {
    int seen = 0;
    for (const QString& file : test::sourceFiles({"core"}, {"*.cpp"}))
        for (const QString& text : commandLiterals(file)) {
            ++seen;
            QVERIFY2(!namesCommand(windowHint(text.toStdString())), qPrintable(file + ": " + text));
        }
    QVERIFY2(seen > 10, "the pattern finds the hints of core");
}

void TestWindowHint::reportedErrorsNameNoCommand() {
    context::InspectorContext inspector;
    inspector.messages().report(
        base::usageError("there is no tracer 'x'", "--tracer",
                         "`sonde trace MODEL` lists them; give an example: --example 'x:#rand(0,1)'"));
    QCOMPARE(inspector.messages().all().size(), std::size_t{1});
    const context::Message& message = inspector.messages().all().back();
    QCOMPARE(message.text, QStringLiteral("there is no tracer 'x'"));
    QVERIFY(message.where.isEmpty());
    QVERIFY2(message.hint.contains("Tracing panel") && !namesCommand(message.hint), qPrintable(message.hint));
}

void TestWindowHint::theWindowItselfNamesNoCommand() {
    for (const QString& file : test::sourceFiles({"ui"}, {"*.cpp"})) {
        // What is replaced, and what goes to standard error: of scripts, and where no window can be opened.
        if (file == u"ui/context/window_hint.cpp" || file == u"ui/context/option_names.cpp" ||
            file == u"ui/window/application.cpp" || file == u"ui/window/script.cpp")
            continue;
        QStringList found = commandLiterals(file);
        // What a panel offers stands beside the command that it is offered for.
        for (const panels::PanelInfo& info : window::panelTable())
            for (const context::CommandAdvice& advice : info.advice) found.removeAll(advice.command);
        QVERIFY2(found.isEmpty(), qPrintable(file + ": " + found.join(u'\n')));
    }
}

void TestWindowHint::optionsOfAnExportAreNamedAsInItsDialog() {
    for (const exporting::ExportOption& option : exporting::exportOptions()) {
        const QString hint = windowHint("see " + option.spelled());
        QVERIFY2(!namesCommand(hint), qPrintable(hint));
        const QString name = context::text(option.group) + " \u203a " + context::text(option.label);
        QCOMPARE(context::windowPlace(option.spelled()), name);
        // What the dialog says of the option itself.
        for (const std::string_view said : {option.label, option.details.empty() ? option.help : option.details})
            QVERIFY2(!namesCommand(context::text(said)), qPrintable(context::text(said)));
    }
}

void TestWindowHint::placesAreThoseOfTheWindow() {
    const base::Error error = base::usageError("wrong number of output_names", "--output-names",
                                               "leave out --output-names; `sonde ops` lists the operators")
                                  .withNote("while writing");
    QCOMPARE(context::windowText(error),
             QStringLiteral("wrong number of output_names (Names \u203a Outputs)\nwhile writing"));
    QCOMPARE(context::windowTextWithHint(base::usageError("no such tracer", "--tracer", "`sonde trace` lists them")),
             QStringLiteral("no such tracer"));
    QCOMPARE(context::windowTextWithHint(base::usageError("it exists", "a.dump", "leave out --append-json")),
             QStringLiteral("it exists (a.dump); clear \"File \u203a Add to that list\""));
}

/// Errors are told by windowText(), windowHint() and windowPlace(): nothing in ui/ takes their bare parts.
void TestWindowHint::errorsComeThroughTheHints() {
    static const QRegularExpression through(R"(window(Hint|Place|Text|TextWithHint)\((?:[^()]|\(\))*\))");
    static const QRegularExpression bare(
        R"((\berror(\(\))?|[pP]roblem)(\.|->)text\(\)|\b(?!message\b)\w+(\(\))?(\.|->)hint\b)"
        R"(|\b(error(\(\))?|found|notice)(\.|->)where\b(?!\.empty\(\)))");
    QVERIFY(bare.match("QString::fromStdString(written.error().text())").hasMatch());
    QVERIFY(bare.match("problem->text()").hasMatch() && bare.match("failure.error.hint").hasMatch());
    int seen = 0;
    for (const QString& file : test::sourceFiles({"ui"}, {"*.cpp", "*.h"})) {
        // Of scripts, and where no window can be opened: standard error.
        if (file == u"ui/context/window_hint.cpp" || file == u"ui/window/application.cpp" ||
            file == u"ui/window/script.cpp" || file == u"ui/window/script_verbs.cpp" ||
            file == u"ui/window/script_export.cpp")
            continue;
        for (QString line : test::sourceLines(file)) {
            seen += line.contains(through);
            line.remove(through)
                .remove(QStringLiteral("findNode(error.where)"))
                .remove(QStringLiteral("findNode(found.where)"));
            QVERIFY2(!line.contains(bare), qPrintable(file + ": " + line.trimmed()));
        }
    }
    QVERIFY2(seen > 10, "the pattern finds what comes through");
}

/// "the Tracing panel" stands in the panel's folder only.
void TestWindowHint::onlyPanelsNamePanels() {
    QStringList titles;
    for (const panels::PanelInfo& info : window::panelTable()) titles << QRegularExpression::escape(info.title);
    QVERIFY(titles.contains(u"Tracing"));
    const QRegularExpression named(QStringLiteral("\"[^\"]*(\\b(%1) panel|[Pp]anel (%1)\\b)").arg(titles.join(u'|')));
    QVERIFY(QStringLiteral("\"in the Tracing panel\"").contains(named));
    for (const QString& file : test::sourceFiles({"ui", "core"}, {"*.cpp", "*.h"})) {
        if (file.startsWith(u"ui/panels/")) continue;
        for (const QString& line : test::sourceLines(file))
            QVERIFY2(line.trimmed().startsWith(u"//") || !line.contains(named), qPrintable(file + ": " + line));
    }
}

QTEST_MAIN(TestWindowHint)

}  // namespace tst_window_hint

#include "tst_window_hint.moc"
