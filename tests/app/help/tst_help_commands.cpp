// The help pages for people who come from other systems: every command line is run as a shell runs it, in a folder with
// a model, and gives the output that the page shows; every line of C++ stands in a test beside this one, which runs it.

#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/help_shell.h"

namespace tst_help_commands {

using namespace sonde::test;

namespace {

/// C++ without comments and blanks, so that line breaks do not count.
QString bareCode(QString code) {
    static const QRegularExpression comment(QStringLiteral("(^|\\s)//[^\n]*")), blank(QStringLiteral("\\s+"));
    return code.remove(comment).remove(blank);
}

void addPages() {
    QTest::addColumn<QString>("name");
    for (const QString& name : checkedHelpPages()) QTest::newRow(qPrintable(name)) << name;
}

}  // namespace

class TestHelpCommands : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyCommandRuns_data() { addPages(); }
    void everyCommandRuns();
    void everySnippetIsInATest_data() { addPages(); }
    void everySnippetIsInATest();
    void theCheckFindsWhatIsWrong();
};

void TestHelpCommands::everyCommandRuns() {
    QFETCH(QString, name);
    const HelpPage page = readHelpPage(name);
    QVERIFY2(page.problems.isEmpty(), qPrintable(page.problems.join(u'\n')));
    QVERIFY(page.commands.size() >= 3);
    // What the pages call by these names.
    const QTemporaryDir folder;
    const std::pair<const char*, const char*> files[] = {{"models/nested_containers.script.pt", "model.pt"},
                                                         {"models/nested_containers.onnx", "model.onnx"},
                                                         {"models/nested_containers.npz", "reference.npz"},
                                                         {"models/control_flow.script.pt", "branches.pt"}};
    for (const auto& [from, to] : files)
        QVERIFY(
            QFile::copy(QStringLiteral(SONDE_TEST_DATA "/") + QLatin1String(from), folder.filePath(QLatin1String(to))));
    for (const char* name : {"find-the-nan.onnx", "find-the-nan.npy", "find-the-nan.txt", "find-the-nan.sonde"})
        QVERIFY(QFile::copy(QStringLiteral(SONDE_SOURCE_DIR "/resources/demos/") + QLatin1String(name),
                            folder.filePath(QLatin1String(name))));
    for (const auto& [from, to] : {std::pair{"ch_ppocr_mobile_v2.0_cls_infer.onnx", "direction.onnx"},
                                   {"ch_ppocr_mobile_v2.0_cls_infer.labels.txt", "names.txt"},
                                   {"text-line-upside-down.png", "line.png"}})
        QVERIFY(QFile::copy(QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/") + QLatin1String(from),
                            folder.filePath(QLatin1String(to))));
    QStringList failed;
    for (const HelpCommand& command : page.commands) {
        if (const QString problem = problemOf(command, folder.path()); !problem.isEmpty()) failed << problem;
    }
    QVERIFY2(failed.isEmpty(), qPrintable(failed.join(u'\n')));
}

void TestHelpCommands::everySnippetIsInATest() {
    QFETCH(QString, name);
    static const QString code = [] {
        QString all;
        for (const QString& file : sourceFiles({"tests/app/help"}, {"tst_help_*.cpp"}))
            all += bareCode(sourceLines(file).join(u'\n'));
        return all;
    }();
    const HelpPage page = readHelpPage(name);
    // The demo, the audit and the outputs are for the window and the command line.
    QVERIFY(page.snippets.size() >= 2 || name == QLatin1String("find-the-nan.md") ||
            name == QLatin1String("auditing.md") || name == QLatin1String("outputs.md"));
    QStringList missing;
    for (const QString& snippet : page.snippets)
        if (!code.contains(bareCode(snippet))) missing << snippet;
    QVERIFY2(missing.isEmpty(), qPrintable(missing.join(u'\n')));
}

void TestHelpCommands::theCheckFindsWhatIsWrong() {
    const QStringList output{"a", "b", "c", "d"};
    QVERIFY(isShown({}, output) && isShown({"b", "c"}, output) && isShown({"a", "…", "d"}, output));
    QVERIFY(isShown({"…", "c"}, output) && isShown({"a", "…"}, output));
    QVERIFY(!isShown({"b", "d"}, output) && !isShown({"c", "…", "b"}, output) && !isShown({"e"}, output));
    QCOMPARE(bareCode("f( x );  // why\ng()"), QString("f(x);g()"));
    const ShellOutcome wrong = runInShell("sonde trace no-such-model.onnx", QDir::tempPath());
    QCOMPARE(wrong.status, 3);
}

QTEST_GUILESS_MAIN(TestHelpCommands)

}  // namespace tst_help_commands

#include "tst_help_commands.moc"
