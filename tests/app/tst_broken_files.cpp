// Broken files of values and text, the command line on broken files, and what this family of tests stands on.

#include <QProcess>

#include "tests/support/broken_files.h"

namespace tst_broken_files {

using namespace sonde;
using test::CaseResult;

namespace {

bool isModel(const QString& file) { return file.endsWith(".onnx") || file.endsWith(".pt"); }

}  // namespace

class TestBrokenFiles : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void crashesHangsAndHugeAllocationsAreSeen();
    void openingSurvives_data();
    void openingSurvives();
    void theCommandLineSaysWhatIsWrong_data();
    void theCommandLineSaysWhatIsWrong();

  private:
    QTemporaryDir m_folder;
};

void TestBrokenFiles::initTestCase() {
    QVERIFY(m_folder.isValid());
    QVERIFY(!QDir(test::referenceModels()).entryList({"*.onnx"}).isEmpty());
}

void TestBrokenFiles::crashesHangsAndHugeAllocationsAreSeen() {
    test::ForkLimits limits;
    limits.seconds = 1;
    const QList<CaseResult> results = test::runForked(5, limits, [](int i) -> QByteArray {
        if (i == 1) std::raise(SIGSEGV);
        if (i == 2) pause();
        if (i == 3) return std::vector<char>(3ull << 30).empty() ? "" : "3 GiB were given";
        return {};
    });
    QCOMPARE(results.size(), 5);
    QCOMPARE(results.at(0).kind, CaseResult::Passed);
    QCOMPARE(results.at(1).signal, SIGSEGV);
    QCOMPARE(results.at(2).signal, SIGALRM);
#ifdef __SANITIZE_ADDRESS__
    // The sanitizer's allocator ends the process where the usual one throws.
    QCOMPARE(results.at(3).kind, CaseResult::Killed);
#else
    QCOMPARE(results.at(3).kind, CaseResult::Failed);
#endif
    QCOMPARE(results.at(4).kind, CaseResult::Passed);
}

void TestBrokenFiles::openingSurvives_data() {
    test::addFileRows([](const QString& file) { return !isModel(file); });
}

void TestBrokenFiles::openingSurvives() {
    QFETCH(QString, file);
    const QByteArray wrong = test::openBroken(file, m_folder);
    QVERIFY2(wrong.isEmpty(), wrong.constData());
}

void TestBrokenFiles::theCommandLineSaysWhatIsWrong_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("percent");
    for (const char* file : {"mlp_functional.onnx", "mlp_functional.trace.pt", "shared_twice.npz", "gpt_mini.fx.txt"}) {
        for (int percent : {0, 30, 99}) QTest::addRow("%s %d%%", file, percent) << QString(file) << percent;
    }
}

void TestBrokenFiles::theCommandLineSaysWhatIsWrong() {
    QFETCH(QString, file);
    QFETCH(int, percent);
    const QString path = test::brokenCopy(file, m_folder);
    QVERIFY(QFile::resize(path, QFile(path).size() * percent / 100));

    QProcess sonde;
    sonde.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"), {"trace", path});
    QVERIFY(sonde.waitForFinished(10000));
    QCOMPARE(sonde.exitStatus(), QProcess::NormalExit);
    QCOMPARE(sonde.exitCode(), 3);
    const QByteArrayList lines = sonde.readAllStandardError().trimmed().split('\n');
    QVERIFY2(lines.constFirst().startsWith("sonde: error: "), lines.join('\n').constData());
    QVERIFY2(lines.size() == 1 || (lines.size() == 2 && lines.at(1).startsWith("hint: ")),
             lines.join('\n').constData());
    QVERIFY(sonde.readAllStandardOutput().isEmpty());
}

QTEST_GUILESS_MAIN(TestBrokenFiles)

}  // namespace tst_broken_files

#include "tst_broken_files.moc"
