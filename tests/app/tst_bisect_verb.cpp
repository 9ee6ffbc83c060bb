// `sonde bisect`: the real program on generated networks with one fault each, and on an engine that is wrong
// everywhere: what it says, the piece that it writes, and its refusals.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include "core/io/npz/npz.h"
#include "tests/support/faulty_networks.h"
#include "tests/support/run_sonde.h"

namespace tst_bisect_verb {

using namespace sonde;
using namespace sonde::test;

namespace {

const QString kFakeEngine = QStringLiteral(SONDE_BINARY_DIR "/../tests/plugins/fake_ort.so");

}  // namespace

class TestBisectVerb : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void theRightPartIsCutOut_data();
    void theRightPartIsCutOut();
    void theTextNamesTheOperation();
    void equalModelsAgree();
    void nothingIsComparedWithoutElements();
    void tolerancesDecide();
    void otherFormatsAreModelsToo();
    void anotherEngineIsATarget();
    void refusalsAreOneLine_data();
    void refusalsAreOneLine();
    void aPieceWithoutOnnxFormIsToldAfterTheResult();

  private:
    QString path(const QString& name) const { return m_files.filePath(name); }
    QTemporaryDir m_files;
};

void TestBisectVerb::initTestCase() {
    FaultyNetwork network(0);
    QVERIFY(onnxfile::write(path("right.onnx"), network.model(false)));
    QVERIFY(onnxfile::write(path("wrong.onnx"), network.model(true)));
    const std::vector<io::NamedTensor> arrays{{"in.x", network.input()}};
    QVERIFY(io::writeNpz(path("x.npz").toStdString(), arrays));
    onnxfile::Graph graph;
    graph.inputs = {onnxfile::valueInfo("x", 1, {2})};
    graph.outputs = {onnxfile::valueInfo("z", 1, {2})};
    graph.nodes = {{"Neg", {"x"}, {"y"}, "negate"}, {"Neg", {"y"}, {"z"}}};
    QVERIFY(onnxfile::write(path("twice.onnx"), onnxfile::model(graph)));
    graph.outputs = {onnxfile::valueInfo("p", 1, {2}), onnxfile::valueInfo("q", 1, {2})};
    graph.nodes = {{"Exp", {"x"}, {"p"}}, {"Abs", {"x"}, {"q"}}};
    QVERIFY(onnxfile::write(path("other.onnx"), onnxfile::model(graph)));
}

void TestBisectVerb::theRightPartIsCutOut_data() {
    QTest::addColumn<int>("index");
    for (const int index : {0, 5, 10, 15, 22, 27})
        QTest::addRow("%d, %s", index, nameOf(FaultyNetwork(index).planted())) << index;
}

void TestBisectVerb::theRightPartIsCutOut() {
    QFETCH(int, index);
    FaultyNetwork network(index);
    QVERIFY(onnxfile::write(path("a.onnx"), network.model(false)));
    QVERIFY(onnxfile::write(path("b.onnx"), network.model(true)));
    const std::vector<io::NamedTensor> arrays{{"in.x", network.input()}};
    QVERIFY(io::writeNpz(path("given.npz").toStdString(), arrays));
    QFile::remove(path("piece.onnx"));
    const Outcome outcome = runSonde({"bisect", path("a.onnx"), path("b.onnx"), "--input-data", path("given.npz"), "-o",
                                      path("piece.onnx"), "--json"});
    QCOMPARE(outcome.err, QString());
    QCOMPARE(outcome.status, 1);
    const QJsonObject object = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    QCOMPARE(object.value("format").toString(), QStringLiteral("sonde-bisection"));
    QCOMPARE(object.value("differs").toBool(), true);
    QCOMPARE(object.value("node").toString(), QString::fromStdString(network.faultyNode()));
    QCOMPARE(object.value("other_node").toString(), QString::fromStdString(network.faultyNode()));
    QCOMPARE(object.value("operations").toArray().size(), 1);
    QCOMPARE(object.value("matched").toDouble(), 1.0);
    QCOMPARE(object.value("runs").toInt(), 2);
    QVERIFY(object.value("max_abs").toDouble() > 1e-3);
    // The piece is A's part, with A's values.
    const Outcome check = runSonde({"check", path("piece.onnx"), path("piece.npz")});
    QCOMPARE(check.status, 0);
    const auto values = io::NpzFile::open(path("piece.npz").toStdString());
    QVERIFY(values && values->has("out." + network.faultyNode()));
}

void TestBisectVerb::theTextNamesTheOperation() {
    FaultyNetwork network(0);
    network.model(true);
    const Outcome outcome = runSonde(
        {"bisect", path("right.onnx"), path("wrong.onnx"), "--input-data", path("x.npz"), "-o", path("piece.onnx")});
    QCOMPARE(outcome.status, 1);
    const QString node = QString::fromStdString(network.faultyNode());
    QVERIFY2(
        outcome.out.startsWith(node + QStringLiteral(" differs\n  same inputs, other output: 1 operation, max abs ")),
        qPrintable(outcome.out));
    QVERIFY2(outcome.out.contains(QStringLiteral("  %1  Conv  ").arg(node)), qPrintable(outcome.out));
    QVERIFY2(outcome.out.contains(QStringLiteral("2 runs of wrong.onnx\n")), qPrintable(outcome.out));
}

void TestBisectVerb::equalModelsAgree() {
    QFile::remove(path("none.onnx"));
    const Outcome outcome = runSonde(
        {"bisect", path("right.onnx"), path("right.onnx"), "--input-data", path("x.npz"), "-o", path("none.onnx")});
    QCOMPARE(outcome.status, 0);
    QVERIFY2(outcome.out.startsWith(QStringLiteral("The outputs agree\n")), qPrintable(outcome.out));
    QVERIFY(!QFile::exists(path("none.onnx")));
}

/// Exp and Neg of a batch of 0.
void TestBisectVerb::nothingIsComparedWithoutElements() {
    onnxfile::Graph graph;
    graph.inputs = {onnxfile::valueInfo("x", 1, {-1, 2})}, graph.outputs = {onnxfile::valueInfo("y", 1, {-1, 2})};
    for (const auto& [file, op] : {std::pair("exp.onnx", "Exp"), std::pair("neg.onnx", "Neg")}) {
        graph.nodes = {{op, {"x"}, {"y"}}};
        QVERIFY(onnxfile::write(path(file), onnxfile::model(graph)));
    }
    const auto none = *tensor::Tensor::zeros(tensor::DType::Float32, {0, 2});
    QVERIFY(
        io::writeNpz(path("empty.npz").toStdString(), std::vector<io::NamedTensor>{{"in.x", none}, {"out.y", none}}));
    const Outcome bisected = runSonde(
        {"bisect", path("exp.onnx"), path("neg.onnx"), "--input-data", path("empty.npz"), "-o", path("none.onnx")});
    QVERIFY2(bisected.out.startsWith("The outputs have no elements: nothing was compared\n"), qPrintable(bisected.out));
    const Outcome checked = runSonde({"check", path("exp.onnx"), path("empty.npz")});
    QVERIFY2(checked.err.contains("no value has elements: nothing was compared"), qPrintable(checked.err));
    QVERIFY2(checked.out.contains("no elements"), qPrintable(checked.out));
}

void TestBisectVerb::tolerancesDecide() {
    const Outcome outcome = runSonde({"bisect", path("right.onnx"), path("wrong.onnx"), "--input-data", path("x.npz"),
                                      "-o", path("none.onnx"), "--atol", "1000"});
    QCOMPARE(outcome.status, 0);
}

/// The ONNX and the TorchScript export of one model agree.
void TestBisectVerb::otherFormatsAreModelsToo() {
    const QString stem = QStringLiteral(SONDE_TEST_DATA "/models/mlp_functional");
    const Outcome outcome = runSonde({"bisect", stem + ".onnx", stem + ".trace.pt", "-o", path("none.onnx")});
    QCOMPARE(outcome.status, 0);
    QVERIFY2(outcome.out.startsWith(QStringLiteral("The outputs agree\n")), qPrintable(outcome.out));
}

/// This engine negates the model's input whatever it is asked for: the second negation is the first that differs. It
/// knows no other input than x, so that nothing can be given to it: the part begins there, and a note says why.
void TestBisectVerb::anotherEngineIsATarget() {
    const Outcome outcome = runSonde(
        {"bisect", path("twice.onnx"), "--ort", kFakeEngine, "--allow-native", "-o", path("piece.onnx"), "--json"});
    QCOMPARE(outcome.status, 1);
    const QJsonObject object = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    QCOMPARE(object.value("node").toString(), QStringLiteral("z"));
    QCOMPARE(object.value("other").toString(), QStringLiteral("ONNX Runtime 1.4.9"));
    QCOMPARE(object.value("operations").toArray().size(), 2);
    QCOMPARE(object.value("accumulated").toBool(), false);
    QVERIFY2(outcome.err.contains(QStringLiteral("the other model cannot be run on given values")),
             qPrintable(outcome.err));
    QVERIFY(QFile::exists(path("piece.onnx")));
}

void TestBisectVerb::refusalsAreOneLine_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("text");
    const QString a = path("right.onnx"), b = path("wrong.onnx"), to = path("none.onnx");
    QTest::newRow("nothing to compare with")
        << QStringList{a, "-o", to} << 2 << "there is nothing to compare the model with";
    QTest::newRow("a model and an engine")
        << QStringList{a, b, "--ort", kFakeEngine, "-o", to} << 2 << "the model is to be compared with several things";
    QTest::newRow("values without outputs") << QStringList{a, path("x.npz"), "-o", to} << 1 << "compared";
    QTest::newRow("values and inputs") << QStringList{a, path("x.npz"), "--input-data", path("x.npz"), "-o", to} << 2
                                       << "reference values have inputs of their own";
    QTest::newRow("no output") << QStringList{a, b} << 2 << "--output is required";
    QTest::newRow("over the model") << QStringList{a, b, "-o", a} << 2 << "right.onnx";
    QTest::newRow("over the other model") << QStringList{a, b, "-o", b} << 2 << "wrong.onnx";
    QTest::newRow("no such model") << QStringList{a, path("nothing.onnx"), "-o", to} << 3 << "nothing.onnx";
    QTest::newRow("another model altogether") << QStringList{path("twice.onnx"), path("other.onnx"), "-o", to} << 2
                                              << "no output of the model has a counterpart";
    QTest::newRow("no consent") << QStringList{a, "--ort", kFakeEngine, "-o", to} << 3 << "you have not agreed to that";
    QTest::newRow("no node of that name")
        << QStringList{a, b, "-o", "/nowhere/p.onnx", "--input-data", path("x.npz")} << 4 << "/nowhere";
}

void TestBisectVerb::refusalsAreOneLine() {
    QFETCH(QStringList, arguments);
    QFETCH(int, status);
    QFETCH(QString, text);
    QTemporaryDir settings;  // where nothing was agreed to
    qputenv("XDG_CONFIG_HOME", settings.path().toUtf8());
    const Outcome outcome = runSonde(QStringList{"bisect"} + arguments);
    qunsetenv("XDG_CONFIG_HOME");
    QVERIFY2(outcome.err.contains(QStringLiteral("sonde: error: ")) && outcome.err.contains(text),
             qPrintable(outcome.err));
    QCOMPARE(outcome.err.count(QStringLiteral("sonde: error")), 1);
    QCOMPARE(outcome.status, status);
    QVERIFY(!QFile::exists(path("none.onnx")));
}

/// What was found is printed although the piece cannot be written.
void TestBisectVerb::aPieceWithoutOnnxFormIsToldAfterTheResult() {
    const Outcome outcome = runSonde({"bisect", path("right.onnx"), path("wrong.onnx"), "--input-data", path("x.npz"),
                                      "-o", "/nowhere/p.onnx", "--json"});
    QCOMPARE(outcome.status, 4);
    const QJsonObject object = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    QVERIFY(object.value("differs").toBool());
    QVERIFY(object.value("piece").isNull());
}

QTEST_GUILESS_MAIN(TestBisectVerb)

}  // namespace tst_bisect_verb

#include "tst_bisect_verb.moc"
