// `sonde profile` as a process of its own: the stated peak is what the process grew by, tables and files say the same.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include "tests/support/linear_network.h"
#include "tests/support/run_sonde.h"

namespace tst_profile_verb {

using sonde::test::Outcome;
using sonde::test::runSonde;

namespace {

constexpr double kMiB = 1 << 20;

QJsonObject figures(const QStringList& arguments) {
    const Outcome outcome = runSonde(QStringList{"profile"} + arguments + QStringList{"--json"});
    if (outcome.status != 0) qWarning("%s", qPrintable(outcome.err));
    return QJsonDocument::fromJson(outcome.out.toUtf8()).object();
}

}  // namespace

class TestProfileVerb : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void peakIsWhatTheProcessGrewBy_data();
    void peakIsWhatTheProcessGrewBy();
    void unalignedWeightsAreThereTwice();
    void tableNamesTheSlowest();
    void traceAndComparison();
    void errorsNameTheFile();

  private:
    void checkPeak(const QStringList& arguments);

    QTemporaryDir m_folder;
};

void TestProfileVerb::peakIsWhatTheProcessGrewBy_data() {
    QTest::addColumn<QStringList>("arguments");
    const auto row = [](const char* name, const QStringList& arguments) { QTest::newRow(name) << arguments; };
    row("resnet18", {"zoo:resnet18"});
    row("resnet18, the first run", {"zoo:resnet18", "--repeat", "1"});
    row("resnet18, fused", {"zoo:resnet18", "--fused"});
    row("resnet50", {"zoo:resnet50"});
    row("densenet121", {"zoo:densenet121"});
    row("mobilenet_v2", {"zoo:mobilenet_v2"});
    row("vit_b_16", {"zoo:vit_b_16"});
    row("bert_base", {"zoo:bert_base"});
    row("unet, large activations", {"zoo:unet", "--input-data", "#rand(0,1,1,3,512,512)"});
    row("batch of 16", {"zoo:squeezenet1_1", "--input-data", "#rand(0,1,16,3,224,224)"});
    row("loops", {SONDE_TEST_DATA "/models/control_flow.onnx"});
    row("recurrent", {SONDE_TEST_DATA "/models/lstm_classifier.onnx"});
}

/// VmHWM before and after the run, of a process that has done nothing else: within 5 % and 20 MB.
void TestProfileVerb::peakIsWhatTheProcessGrewBy() {
    QFETCH(const QStringList, arguments);
    checkPeak(arguments);
}

void TestProfileVerb::checkPeak(const QStringList& arguments) {
    const QJsonObject memory = figures(arguments + QStringList{"--threads", "2"})["memory"].toObject();
    const double peak = memory["peak_bytes"].toDouble(), growth = memory["vmhwm_growth_bytes"].toDouble();
    qInfo("%s: stated %.1f MB, grew by %.1f MB", qPrintable(arguments.front()), peak / kMiB, growth / kMiB);
    QVERIFY(memory.contains("peak_bytes"));
#ifdef __SANITIZE_ADDRESS__
    // Its shadow memory and the freed blocks that it keeps count in VmHWM as well: no more may be stated than that.
    const double off = peak - growth;
#else
    const double off = std::abs(peak - growth);
#endif
    QVERIFY2(off <= 0.05 * growth + 20e6, qPrintable(QStringLiteral("stated %1, grew by %2").arg(peak).arg(growth)));
}

/// Weights that an ONNX file does not align are copied: the pages of the file come into memory beside the copies.
void TestProfileVerb::unalignedWeightsAreThereTwice() {
    const QString file = m_folder.filePath("resnet50.onnx");
    const Outcome saved = runSonde({"save", "zoo:resnet50", "-o", file});
    QVERIFY2(saved.status == 0, qPrintable(saved.err));
    checkPeak({file});
    QFile::remove(file);
}

void TestProfileVerb::tableNamesTheSlowest() {
    const Outcome outcome = runSonde({"profile", "zoo:resnet18_slim", "--lines", "4"});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    QVERIFY2(outcome.out.contains("GFLOP/s") && outcome.out.contains("(root)"), qPrintable(outcome.out));
    QVERIFY2(outcome.out.contains("peak memory"), qPrintable(outcome.out));
    QVERIFY2(outcome.out.contains("more nodes (--json)"), qPrintable(outcome.out));
}

void TestProfileVerb::traceAndComparison() {
    const QString trace = m_folder.filePath("trace.json");
    QCOMPARE(runSonde({"profile", "zoo:resnet18_slim", "--out", trace}).status, 0);
    const QJsonObject compared = figures({"zoo:resnet18_slim", "--compare", trace});
    QCOMPARE(compared["format"].toString(), QStringLiteral("sonde-profile-comparison"));
    QVERIFY(compared["nodes"].toArray().size() > 40);
    QVERIFY(compared["only_first"].toArray().isEmpty() && compared["only_second"].toArray().isEmpty());
    double last = 1e18;
    for (const QJsonValue node : compared["nodes"].toArray()) {
        const double difference = std::abs(node["ns"].toDouble() - node["other_ns"].toDouble());
        QVERIFY(difference <= last + 1e-6);
        last = difference;
    }
    const Outcome wrong = runSonde({"profile", "zoo:resnet18_slim", "--ort-profile", trace});
    QCOMPARE(wrong.status, 2);
    QVERIFY2(wrong.err.contains("no profile of ONNX Runtime but one of Sonde"), qPrintable(wrong.err));
}

void TestProfileVerb::errorsNameTheFile() {
    const QString file = m_folder.filePath("none.json");
    const Outcome missing = runSonde({"profile", "zoo:seed", "--compare", file});
    QCOMPARE(missing.status, 3);
    QVERIFY2(missing.err.contains(file), qPrintable(missing.err));
    std::ofstream(file.toStdString()) << "[1,";
    const Outcome broken = runSonde({"profile", "zoo:seed", "--compare", file});
    QCOMPARE(broken.status, 3);
    QVERIFY2(broken.err.contains("no JSON") && broken.err.contains(file), qPrintable(broken.err));
}

QTEST_APPLESS_MAIN(TestProfileVerb)

}  // namespace tst_profile_verb

#include "tst_profile_verb.moc"
