// `sonde debug`: the real program, with commands on standard input and in a script.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/run_sonde.h"

namespace tst_debug_verb {

namespace {

const QString kModel = QStringLiteral(SONDE_TEST_DATA "/models/control_flow.onnx");
const QString kData = QStringLiteral(SONDE_TEST_DATA "/models/control_flow.npz");

struct Answers {
    int status = -1;
    QList<QJsonObject> lines;
    QString err;
};

/// What the program answers to these bytes.
Answers debugged(const QByteArray& input, const QStringList& options = {}) {
    QProcess process;
    process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"),
                  QStringList{"debug", kModel, "--input-data", kData} + options);
    process.write(input);
    process.closeWriteChannel();
    Answers answers;
    if (!process.waitForFinished(120'000)) return answers;
    answers.status = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2;
    for (const QByteArray& line : process.readAllStandardOutput().split('\n'))
        if (!line.isEmpty()) answers.lines << QJsonDocument::fromJson(line).object();
    answers.err = QString::fromUtf8(process.readAllStandardError());
    return answers;
}

}  // namespace

class TestDebugVerb : public QObject {
    Q_OBJECT

  private slots:
    void eachCommandHasALine() {
        const Answers answers = debugged("step\nstep into\nstep back\nrun\nproblems\nquit\nstep\n");
        QVERIFY2(answers.status == 0, qPrintable(answers.err));
        QCOMPARE(answers.lines.size(), 6);  // nothing after quit
        for (const QJsonObject& line : answers.lines) QVERIFY(line.contains("state") && line.contains("current"));
        QCOMPARE(answers.lines.at(0).value("state").toString(), QStringLiteral("stopped"));
        QCOMPARE(answers.lines.at(2).value("current"), answers.lines.at(0).value("current"));
        QCOMPARE(answers.lines.at(3).value("state").toString(), QStringLiteral("finished"));
        QVERIFY(answers.lines.at(3).value("current").isNull());
        QVERIFY(answers.lines.at(4).value("problems").isArray());
    }

    void aScriptIsDone() {
        QTemporaryDir folder;
        const QString path = folder.filePath("commands.txt");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("# to the end and back\nrun\nstep back\n\ncontinue back");  // no end of line
        file.close();
        const Answers answers = debugged("", {"--script", path});
        QVERIFY2(answers.status == 0, qPrintable(answers.err));
        QCOMPARE(answers.lines.size(), 3);
        QCOMPARE(answers.lines.at(2).value("reason").toString(), QStringLiteral("start"));
        QCOMPARE(debugged("", {"--script", folder.filePath("nothing.txt")}).status, 2);
    }

    void badInputDoesNoHarm() {
        QByteArray bytes("run\n");
        for (int i = 0; i < 4'000; ++i) bytes.append(static_cast<char>((i * 7919) % 251));
        bytes.append("\nprint ");
        bytes.append(QByteArray(5'000'000, 'x'));
        bytes.append("\nstep back\nto");  // ends in the middle
        const Answers answers = debugged(bytes);
        QVERIFY2(answers.status == 0, qPrintable(answers.err));
        for (const QJsonObject& line : answers.lines) QVERIFY(line.contains("state"));
        QVERIFY(answers.lines.last().contains("error"));
        QVERIFY(answers.lines.at(answers.lines.size() - 2).value("current").isString());
        QCOMPARE(debugged("").status, 0);
    }

    /// Values from disk, or computed again, are those from memory.
    void littleMemoryGivesTheSame() {
        QByteArray commands("run\n");
        for (int i = 0; i < 12; ++i) commands += "step into back\nstats #0\nproblems\n";
        const Answers all = debugged(commands), disk = debugged(commands, {"--memory", "0"}),
                      again = debugged(commands, {"--memory", "0", "--disk", "0"});
        QCOMPARE(all.lines.size(), 37);
        QCOMPARE(disk.lines, all.lines);
        QCOMPARE(again.lines, all.lines);
    }

    void theHelpListsTheCommands() {
        const auto help = sonde::test::runSonde({"debug", "--help"});
        QCOMPARE(help.status, 0);
        for (const char* command : {"continue [back]", "step [over|into|out] [back]", "to NODE [back]",
                                    "print EXPRESSION", "stats NODE", "log NODE EXPRESSION", "--script", "Example:"})
            QVERIFY2(help.out.contains(QLatin1String(command)), command);
    }
};

QTEST_GUILESS_MAIN(TestDebugVerb)

}  // namespace tst_debug_verb

#include "tst_debug_verb.moc"
