// Errors of core carry hints for the command line. The window shows what it offers itself, or nothing.

#include <QRegularExpression>
#include <QtTest>

#include "tests/support/source_tree.h"
#include "ui/context/inspector_context.h"
#include "ui/context/window_hint.h"

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
    void clausesAreReplacedOrLeftOut_data();
    void clausesAreReplacedOrLeftOut();
    void noHintOfCoreNamesACommand();
    void reportedErrorsNameNoCommand();
    void theWindowItselfNamesNoCommand();
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
        // The substitutes, and what goes to standard error: of scripts, and where no window can be opened.
        if (file == u"ui/context/window_hint.cpp" || file == u"ui/window/application.cpp" ||
            file == u"ui/window/script.cpp")
            continue;
        const QStringList found = commandLiterals(file);
        QVERIFY2(found.isEmpty(), qPrintable(file + ": " + found.join(u'\n')));
    }
}

QTEST_MAIN(TestWindowHint)

}  // namespace tst_window_hint

#include "tst_window_hint.moc"
