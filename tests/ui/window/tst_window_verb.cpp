// `sonde window MODEL --screenshot FILE`: the real program, its picture, its error stream and its exit status.

#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/run_sonde.h"

namespace tst_window_verb {

using sonde::test::Outcome;

namespace {

Outcome runWindow(const QStringList& arguments) {
    return sonde::test::runSonde(QStringList{QStringLiteral("window")} + arguments);
}

QString model(const char* name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name); }

}  // namespace

class TestWindowVerb : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QVERIFY(m_folder.isValid()); }
    void thePictureHasTheSizeThatWasAskedFor();
    void aScriptRunsOnAPhotograph();
    void aScriptReadsFilesBesideIt();
    void aScriptComparesAndGoesToDifferences();
    void whatIsWrongIsOneLineAndAStatus_data();
    void whatIsWrongIsOneLineAndAStatus();
    void aScreenshotThatCannotBeWrittenIsAFailedRun();

  private:
    QString script(const QByteArray& lines) {
        QFile file(m_folder.filePath(QStringLiteral("script.txt")));
        if (file.open(QIODevice::WriteOnly)) file.write(lines);
        return file.fileName();
    }

    QTemporaryDir m_folder;
};

void TestWindowVerb::thePictureHasTheSizeThatWasAskedFor() {
    const QString file = m_folder.filePath(QStringLiteral("plain.png"));
    const Outcome outcome =
        runWindow({model("mlp_functional.onnx"), "--screenshot", file, "--size", "900x600", "--theme", "dark"});
    QCOMPARE(outcome.err, QString());
    QCOMPARE(outcome.status, 0);
    const QImage picture(file);
    QCOMPARE(picture.size(), QSize(900, 600));
    // The dark theme: so is every background, whatever is on it.
    QVERIFY(qGray(picture.scaled(1, 1, Qt::IgnoreAspectRatio, Qt::SmoothTransformation).pixel(0, 0)) < 100);
}

/// The samples' photograph has a colour profile that libpng remarks upon: that is not for the user.
void TestWindowVerb::aScriptRunsOnAPhotograph() {
    const QString before = m_folder.filePath(QStringLiteral("before.png"));
    const QString after = m_folder.filePath(QStringLiteral("after.png"));
    const QString photograph = QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/chelsea.png");
    const QByteArray lines =
        "screenshot " + before.toUtf8() + "\ninput x " + photograph.toUtf8() + "\nwatch relu\nrun\nselect relu\n";
    const Outcome outcome = runWindow({"zoo:resnet18_slim", "--screenshot", after, "--script", script(lines)});
    QCOMPARE(outcome.err, QString());
    QCOMPARE(outcome.status, 0);
    QCOMPARE(QImage(before).size(), QImage(after).size());
    QVERIFY(QImage(before) != QImage(after));
}

void TestWindowVerb::aScriptReadsFilesBesideIt() {
    QVERIFY(QFile::copy(QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/chelsea.png"),
                        m_folder.filePath(QStringLiteral("beside.png"))));
    const Outcome outcome = runWindow({"zoo:resnet18_slim", "--script", script("input x beside.png\nrun\n")});
    QCOMPARE(outcome.err, QString());
    QCOMPARE(outcome.status, 0);
    const Outcome missing = runWindow({"zoo:resnet18_slim", "--script", script("input x nowhere.png\nrun\n")});
    QVERIFY2(missing.err.contains(QStringLiteral("no such file")), qPrintable(missing.err));
}

/// The built-in model has other weights than the reference, and the file the same.
void TestWindowVerb::aScriptComparesAndGoesToDifferences() {
    const QByteArray compare = "compare " + model("lstm_classifier.npz").toUtf8() + '\n';
    const auto run = [this](const QString& opened, const QByteArray& lines) {
        return runWindow({opened, "--script", script(lines)});
    };
    const Outcome differs = run("zoo:lstm_classifier", compare + "difference\ndifference next\ndifference worst\n");
    QCOMPARE(differs.err, QString());
    QCOMPARE(differs.status, 0);
    const Outcome same = run(model("lstm_classifier.onnx"), compare + "difference\n");
    QVERIFY2(same.err.contains("no value differs by more than the tolerance (line 2"), qPrintable(same.err));
    const Outcome before = run("zoo:seed", "difference worst\n");
    QVERIFY2(before.err.contains("nothing is compared"), qPrintable(before.err));
    const Outcome missing = run("zoo:seed", "compare nothere.npz\n");
    QVERIFY2(missing.err.contains("nothing was compared: no such file"), qPrintable(missing.err));
    const Outcome stranger =
        run(model("lstm_classifier.onnx"), "compare " + model("mlp_functional.onnx").toUtf8() + '\n');
    QVERIFY2(stranger.err.contains("nothing was compared"), qPrintable(stranger.err));
    const Outcome unchanged = run("zoo:seed", "compare passes\n");
    QVERIFY2(unchanged.err.contains("no passes have run"), qPrintable(unchanged.err));
    for (const Outcome& outcome : {same, before, missing, stranger, unchanged}) QCOMPARE(outcome.status, 2);
}

void TestWindowVerb::whatIsWrongIsOneLineAndAStatus_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QByteArray>("lines");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("word");
    QTest::newRow("no such model") << m_folder.filePath("none.onnx") << QByteArray("wait\n") << 3 << "none.onnx";
    QTest::newRow("not a model") << QStringLiteral(SONDE_SOURCE_DIR "/README.md") << QByteArray("wait\n") << 3
                                 << "README.md";
    QTest::newRow("no such node") << model("mlp_functional.onnx") << QByteArray("wait\nselect nobody\n") << 2
                                  << "line 2";
    QTest::newRow("a window of 10 gigapixels")
        << model("mlp_functional.onnx") << QByteArray("size 99999x99999\n") << 2 << "too large";
    QTest::newRow("an input that does not fit")
        << model("mlp_functional.onnx") << QByteArray("input x [1,2,3]\nrun\n") << 2 << "expects float32";
    QTest::newRow("no such word") << model("mlp_functional.onnx") << QByteArray("dance\n") << 2 << "line 1";
}

void TestWindowVerb::whatIsWrongIsOneLineAndAStatus() {
    QFETCH(QString, file);
    QFETCH(QByteArray, lines);
    QFETCH(QString, word);
    const QString picture = m_folder.filePath(QStringLiteral("never.png"));
    const Outcome outcome = runWindow({file, "--screenshot", picture, "--script", script(lines)});
    QTEST(outcome.status, "status");
    QVERIFY2(outcome.err.startsWith(QStringLiteral("sonde: error: ")), qPrintable(outcome.err));
    QVERIFY2(outcome.err.contains(word), qPrintable(outcome.err));
}

/// As files of the other verbs.
void TestWindowVerb::aScreenshotThatCannotBeWrittenIsAFailedRun() {
    const Outcome folder = runWindow({"zoo:seed", "--screenshot", "/proc/none/picture.png"});
    QVERIFY2(folder.status == 4 && folder.err.contains("the file cannot be written (/proc/none/picture.png)"),
             qPrintable(folder.err));
    const Outcome name = runWindow({"zoo:seed", "--screenshot", m_folder.filePath("picture.txt")});
    QVERIFY2(name.status == 2 && name.err.contains("must end in .png"), qPrintable(name.err));
}

QTEST_GUILESS_MAIN(TestWindowVerb)

}  // namespace tst_window_verb

#include "tst_window_verb.moc"
