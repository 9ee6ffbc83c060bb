// The help page on problems: its commands run and print what it shows.

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/help_page.h"

namespace tst_help_problems {

using namespace sonde::test;

class TestHelpProblems : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyCommandPrintsWhatThePageShows();
};

void TestHelpProblems::everyCommandPrintsWhatThePageShows() {
    const QTemporaryDir folder;
    for (const auto& [from, to] :
         {std::pair{"nested_containers.onnx", "model.onnx"}, {"nested_containers.npz", "reference.npz"}})
        QVERIFY(QFile::copy(QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(from),
                            folder.filePath(QLatin1String(to))));
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("PATH"),
                       QStringLiteral(SONDE_BINARY_DIR ":") + environment.value(QStringLiteral("PATH")));
    int count = 0;
    for (const HelpCommand& command : readHelpPage(QStringLiteral("problems.md")).commands) {
        if (!command.line.contains(u"model.onnx")) continue;  // a verb in a sentence
        QProcess shell;
        shell.setProcessEnvironment(environment);
        shell.setWorkingDirectory(folder.path());
        shell.start(QStringLiteral("sh"), {QStringLiteral("-c"), command.line});
        QVERIFY(shell.waitForFinished(60'000));
        const QString printed = QString::fromUtf8(shell.readAllStandardOutput());
        QVERIFY2(shell.exitCode() == command.status, qPrintable(command.line + u'\n' + printed));
        QStringList lines;
        for (const QString& line : printed.split(u'\n')) lines << line.simplified();
        for (const QString& line : command.output) QVERIFY2(lines.contains(line.simplified()), qPrintable(line));
        ++count;
    }
    QCOMPARE(count, 3);
}

QTEST_GUILESS_MAIN(TestHelpProblems)

}  // namespace tst_help_problems

#include "tst_help_problems.moc"
