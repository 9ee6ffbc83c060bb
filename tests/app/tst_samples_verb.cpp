// `sonde samples` and `sonde run --read`: the real program.

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/run_sonde.h"

namespace tst_samples_verb {

using namespace sonde::test;

class TestSamplesVerb : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void allAreListed();
    void oneIsRunOnItsInput_data();
    void oneIsRunOnItsInput();
    void untrainedOnesWait();
    void whatWaitsCannotBeShown();
    void tablesSayWhatIsPrinted();
    void errorsNameTheSamples();
    void withoutResourcesItIsSaidWhereTheyShouldBe();
    void valuesAreRead();
    void readingsAreRefused_data();
    void readingsAreRefused();

  private:
    static QString model(const char* name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name); }
};

void TestSamplesVerb::allAreListed() {
    const Outcome result = runSonde({"samples"});
    QVERIFY2(result.status == 0, qPrintable(result.err));
    QStringList ids;
    for (const QString& line : result.out.split(u'\n', Qt::SkipEmptyParts)) ids << line.section(u' ', 0, 0);
    QCOMPARE(ids, (QStringList{"digits", "words", "text-direction", "voice", "resnet18", "find-the-nan"}));
}

void TestSamplesVerb::oneIsRunOnItsInput_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("digits") << "three";
    QTest::newRow("words") << "next ";
    QTest::newRow("text-direction") << "upside down";
    QTest::newRow("voice") << "input sr 16000";
}

void TestSamplesVerb::oneIsRunOnItsInput() {
    QFETCH(QString, text);
    const Outcome result = runSonde({"samples", QLatin1String(QTest::currentDataTag())});
    QVERIFY2(result.status == 0, qPrintable(result.err));
    QVERIFY2(result.out.contains(text), qPrintable(result.out));
    QVERIFY(!result.out.contains("random weights"));
}

void TestSamplesVerb::untrainedOnesWait() {
    const Outcome result = runSonde({"samples", "resnet18"});
    QVERIFY2(result.status == 0, qPrintable(result.err));
    QVERIFY(result.out.contains("model zoo:resnet18\n") && result.out.contains("(imagenet)"));
    QVERIFY(!result.out.contains("classes"));
    QVERIFY2(result.out.contains("\nnot run, as its outputs mean nothing"), qPrintable(result.out));
}

void TestSamplesVerb::whatWaitsCannotBeShown() {
    const Outcome result = runSonde({"samples", "resnet18", "--show", "classes"});
    QCOMPARE(result.status, 2);
    QVERIFY2(result.err.startsWith("sonde: error: sample 'resnet18' is not run"), qPrintable(result.err));
    QVERIFY2(result.err.contains("`sonde run zoo:resnet18`"), qPrintable(result.err));
}

/// state0 is [1,1,128] or so: ten columns are printed.
void TestSamplesVerb::tablesSayWhatIsPrinted() {
    const Outcome result = runSonde({"samples", "voice"});
    QVERIFY2(result.status == 0, qPrintable(result.err));
    QVERIFY2(result.out.contains(", 10 of 128 columns\n"), qPrintable(result.out));
    QVERIFY2(!result.out.contains("64 of 128"), qPrintable(result.out));
}

void TestSamplesVerb::errorsNameTheSamples() {
    const Outcome result = runSonde({"samples", "cats"});
    QCOMPARE(result.status, 2);
    QVERIFY2(result.err.startsWith("sonde: error: there is no sample 'cats'"), qPrintable(result.err));
    QVERIFY(result.err.contains("hint: samples are digits, words"));
}

void TestSamplesVerb::withoutResourcesItIsSaidWhereTheyShouldBe() {
    const QTemporaryDir folder;
    const QString program = folder.filePath(QStringLiteral("bin/sonde"));
    QVERIFY(QDir(folder.path()).mkpath(QStringLiteral("bin")) && QFile::copy(sondeProgram(), program));
    for (const QStringList& arguments : {QStringList{"samples"}, QStringList{"samples", "digits"}}) {
        const Outcome result = runProgram(program, arguments);
        QCOMPARE(result.status, 3);
        QVERIFY(result.out.isEmpty());
        QVERIFY2(result.err.startsWith("sonde: error: no samples are installed: none are in ") &&
                     result.err.contains(folder.filePath(QStringLiteral("share/sonde"))),
                 qPrintable(result.err));
    }
}

void TestSamplesVerb::valuesAreRead() {
    const Outcome result = runSonde({"run", model("resnet18_slim.onnx"), "--read", "relu:=sparsity"});
    QVERIFY2(result.status == 0, qPrintable(result.err));
    QVERIFY2(result.out.contains("/relu/Relu_output_0  sparsity\n") && result.out.contains("\n  channel 0 "),
             qPrintable(result.out));
}

void TestSamplesVerb::readingsAreRefused_data() {
    QTest::addColumn<QString>("read");
    QTest::addColumn<QString>("text");
    QTest::newRow("form") << "relu"
                          << "'relu' is no NODE=READING";
    QTest::newRow("node") << "nowhere=bits"
                          << "there is no node";
    QTest::newRow("reading") << "relu:=heads"
                             << "a value cannot be read as 'heads'";
    QTest::newRow("value") << "relu:=bits"
                           << "float32";
}

void TestSamplesVerb::readingsAreRefused() {
    QFETCH(QString, read);
    QFETCH(QString, text);
    const Outcome result = runSonde({"run", model("resnet18_slim.onnx"), "--read", read});
    QCOMPARE(result.status, 2);
    QVERIFY2(result.err.contains("sonde: error: ") && result.err.contains(text), qPrintable(result.err));
}

QTEST_MAIN(TestSamplesVerb)

}  // namespace tst_samples_verb

#include "tst_samples_verb.moc"
