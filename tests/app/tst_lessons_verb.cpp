// `sonde lessons`: the real program.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/run_sonde.h"

namespace tst_lessons_verb {

using namespace sonde::test;

class TestLessonsVerb : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theListSaysWhatIsMissing();
    void aLessonIsPrintedWithItsNumbers();
    void errorsAreOneLine_data();
    void errorsAreOneLine();
    void aRefusedEditIsToldWithItsLine();

  private:
    static QString model(const char* name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name); }
    QTemporaryDir m_files;
};

void TestLessonsVerb::theListSaysWhatIsMissing() {
    const Outcome result = runSonde({"lessons", model("lstm_classifier.onnx")});
    QCOMPARE(result.status, 0);
    const QStringList lines = result.out.split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 6);
    QVERIFY2(lines[0].startsWith("convolution") &&
                 lines[0].endsWith("needs a convolution in floating point, which the model has not"),
             qPrintable(lines[0]));
    QVERIFY2(lines[4].startsWith("recurrent") && lines[4].endsWith("3 steps"), qPrintable(lines[4]));
}

void TestLessonsVerb::aLessonIsPrintedWithItsNumbers() {
    const QStringList command{"lessons", model("resnet18_slim.onnx"), "--lesson", "convolution", "--answers"};
    const Outcome result = runSonde(command);
    QVERIFY2(result.status == 0, qPrintable(result.err));
    QVERIFY(result.out.startsWith("# How a convolution sees\n"));
    QCOMPARE(result.out.count("\n## "), 6);
    QVERIFY(result.out.contains("float32[16,3,7,7]"));
    QVERIFY(result.out.contains("\n147 — Right: 147."));
    QVERIFY(!result.out.contains(QStringLiteral("…")));
    QCOMPARE(runSonde(command).out, result.out);
    QVERIFY(!runSonde(command.mid(0, 4)).out.contains("Right: 147."));
}

void TestLessonsVerb::errorsAreOneLine_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("text");
    QTest::newRow("no lesson") << QStringList{"--lesson", "flying"} << 2 << "there is no lesson 'flying'";
    QTest::newRow("lacks") << QStringList{"--lesson", "recurrent"} << 2 << "the lesson needs a recurrent layer";
    QTest::newRow("no text") << QStringList{"--lesson", model("resnet18_slim.onnx")} << 3 << "the lesson is longer";
    QTest::newRow("no title") << QStringList{"--lesson", model("gpt_mini.fx.txt")} << 3 << "a lesson begins with";
}

void TestLessonsVerb::errorsAreOneLine() {
    QFETCH(QStringList, arguments);
    QFETCH(int, status);
    QFETCH(QString, text);
    const Outcome result = runSonde(QStringList{"lessons", model("resnet18_slim.onnx")} + arguments);
    QCOMPARE(result.status, status);
    QVERIFY2(result.err.startsWith("sonde: error: " + text), qPrintable(result.err));
    QVERIFY(result.out.isEmpty());
}

void TestLessonsVerb::aRefusedEditIsToldWithItsLine() {
    QFile file(m_files.filePath("own.md"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "# Own\n\n```sonde\nbind a: first kind relu\n```\n\n## One\n\nText.\n\n```sonde\nrun\n"
        "set $a[0,0,0,0] = foo\n```\n");
    file.close();
    const Outcome result = runSonde({"lessons", model("resnet18_slim.onnx"), "--lesson", file.fileName()});
    QCOMPARE(result.status, 2);
    QVERIFY2(result.err.contains("there is no node 'foo' (" + file.fileName() + ", line 13"), qPrintable(result.err));
}

QTEST_MAIN(TestLessonsVerb)

}  // namespace tst_lessons_verb

#include "tst_lessons_verb.moc"
