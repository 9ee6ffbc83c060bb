// The help page on problems: its commands run and print what it shows.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/help_shell.h"

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
    int count = 0;
    for (const HelpCommand& command : readHelpPage(QStringLiteral("problems.md")).commands) {
        if (!command.line.contains(u"model.onnx")) continue;  // a verb in a sentence
        const QString problem = problemOf(command, folder.path());
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        ++count;
    }
    QCOMPARE(count, 3);
}

QTEST_GUILESS_MAIN(TestHelpProblems)

}  // namespace tst_help_problems

#include "tst_help_problems.moc"
