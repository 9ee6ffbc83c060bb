// Which values the verbs keep, where they stop, and how a run is ended: on a loop of three iterations that adds x.
// Values are worked by hand: of x = [1, 2] acc2 is [2, 4], [3, 6], [4, 8].

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>

#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"

namespace tst_points_of_runs {

using namespace sonde;
using namespace test::onnxfile;
using tensor::Tensor;
using test::Outcome;
using test::runSonde;

namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

/// y = x + count · x, of a loop whose body computes acc2.
std::string addingLoop(std::int64_t count) {
    const std::string raw(reinterpret_cast<const char*>(&count), sizeof count);
    const Graph body{.nodes = {{"Identity", {"go"}, {"go2"}}, {"Add", {"acc", "x"}, {"acc2"}}},
                     .inputs = {valueInfo("i", kInt64, {}), valueInfo("go", kBool, {}), valueInfo("acc", kFloat, {2})},
                     .outputs = {valueInfo("go2", kBool, {}), valueInfo("acc2", kFloat, {2})}};
    return model({.nodes = {{"Loop", {"n", "", "x"}, {"y"}, "", "", {graphAttribute("body", body.bytes())}}},
                  .inputs = {valueInfo("x", kFloat, {2})},
                  .outputs = {valueInfo("y", kFloat, {2})},
                  .initializers = {rawTensor("n", kInt64, {}, raw)}});
}

}  // namespace

class TestPointsOfRuns : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { QVERIFY(write(path("loop.onnx"), addingLoop(3))); }

    void iterationsAreWatchedBesideTheNode_data();
    void iterationsAreWatchedBesideTheNode();
    void anInterruptedGradientIsCancelled();

  private:
    QString path(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
};

void TestPointsOfRuns::iterationsAreWatchedBesideTheNode_data() {
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QList<int>>("iterations");
    QTest::newRow("one") << QStringList{"--watch", "acc2@1"} << QList{1};
    QTest::newRow("two") << QStringList{"--watch", "acc2@2", "--watch", "acc2@0"} << QList{0, 2};
    QTest::newRow("all of them and one") << QStringList{"--watch", "acc2", "--watch", "acc2@0"} << QList{0, 1, 2};
    QTest::newRow("one and all of them") << QStringList{"--watch", "acc2@0", "--watch", "acc2"} << QList{0, 1, 2};
    QTest::newRow("everything and one") << QStringList{"--watch-all", "--watch", "acc2@1"} << QList{0, 1, 2};
    QTest::newRow("a query and one") << QStringList{"--watch-query", "op:Add", "--watch", "acc2@1"} << QList{0, 1, 2};
}

void TestPointsOfRuns::iterationsAreWatchedBesideTheNode() {
    QFETCH(QStringList, options);
    QFETCH(QList<int>, iterations);
    const Outcome outcome =
        runSonde(QStringList{"run", path("loop.onnx"), "--input-data", "[1,2]", "--out", path("values.npz")} + options);
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const auto values = io::NpzFile::open(path("values.npz").toStdString());
    QVERIFY(values.has_value());
    for (int i = 0; i < 3; ++i) {
        const std::string key = "node.acc2.pass" + std::to_string(i);
        const bool isAskedFor = iterations.contains(i);
        QVERIFY2(values->has(key) == isAskedFor, key.c_str());
        QCOMPARE(outcome.out.contains(QStringLiteral("acc2@%1 ").arg(i)), isAskedFor);
        const float first = static_cast<float>(2 + i);
        if (isAskedFor) QVERIFY(tensor::identical(*values->read(key), Tensor::of<float>({2}, {first, 2 * first})));
    }
    // Of the node as a whole, the last one goes by its name.
    QCOMPARE(values->has("node.acc2"), iterations.size() == 3);
}

/// Ctrl+C while the model runs.
void TestPointsOfRuns::anInterruptedGradientIsCancelled() {
    QVERIFY(write(path("long.onnx"), addingLoop(std::int64_t{1} << 40)));
    QProcess process;
    process.start(test::sondeProgram(), {"gradient", path("long.onnx"), "--of", "y[0]", "--input-data", "[1,2]"});
    QVERIFY(process.waitForStarted());
    // Until it runs; sooner it would be the opening that is cancelled, with the same status.
    QVERIFY(!process.waitForFinished(1500));
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(60'000));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    const QByteArray told = process.readAllStandardError();
    QVERIFY2(process.exitCode() == 5 && told.contains("cancelled"), told.constData());
}

QTEST_GUILESS_MAIN(TestPointsOfRuns)

}  // namespace tst_points_of_runs

#include "tst_points_of_runs.moc"
