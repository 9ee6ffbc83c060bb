// The first word of the command line: a verb, help, or one that is neither.

#include <QtTest>

#include "tests/support/run_sonde.h"

namespace tst_first_word {

using sonde::test::Outcome;
using sonde::test::runSonde;

class TestFirstWord : public QObject {
    Q_OBJECT

  private slots:
    void wordsThatAreNoVerbAreTold_data();
    void wordsThatAreNoVerbAreTold();
    void helpIsAVerbToo();
};

void TestFirstWord::wordsThatAreNoVerbAreTold_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("hint");
    QTest::newRow("alone") << QStringList{"chek"} << "did you mean check? sonde --help lists the verbs";
    QTest::newRow("with a model") << QStringList{"frobnicate", "zoo:seed"} << "sonde --help lists the verbs";
    QTest::newRow("with options") << QStringList{"traces", "zoo:seed", "--json"} << "did you mean trace";
}

void TestFirstWord::wordsThatAreNoVerbAreTold() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, hint);
    const Outcome outcome = runSonde(arguments);
    QCOMPARE(outcome.status, 2);
    const QString told = "sonde: error: '" + arguments.front() + "' is neither a verb nor a file\nhint: ";
    QVERIFY2(outcome.err.startsWith(told + hint), qPrintable(outcome.err));
}

void TestFirstWord::helpIsAVerbToo() {
    const Outcome all = runSonde({"help"}), one = runSonde({"help", "info"});
    QCOMPARE(all.status, 0);
    QCOMPARE(all.out, runSonde({"--help"}).out);
    QCOMPARE(one.status, 0);
    QCOMPARE(one.out, runSonde({"info", "--help"}).out);
    QCOMPARE(runSonde({"help", "frobnicate"}).status, 2);
}

QTEST_GUILESS_MAIN(TestFirstWord)

}  // namespace tst_first_word

#include "tst_first_word.moc"
