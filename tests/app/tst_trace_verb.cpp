// `sonde trace`: the views of a graph that its options choose, and what it reads.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <set>

#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"

namespace tst_trace_verb {

using namespace sonde;
using namespace test::onnxfile;
using test::Outcome;
using test::runSonde;

namespace {

constexpr int kFloat = 1;

/// y = −x, by a function of the model's own.
std::string callingFunction() {
    const Function minus{
        .name = "Minus", .domain = "own", .inputs = {"a"}, .outputs = {"b"}, .nodes = {{"Neg", {"a"}, {"b"}}}};
    return model({.nodes = {{"Minus", {"x"}, {"y"}, "minus", "own"}},
                  .inputs = {valueInfo("x", kFloat, {2})},
                  .outputs = {valueInfo("y", kFloat, {2})}},
                 {minus}, {opset("", 16), opset("own", 1)});
}

}  // namespace

class TestTraceVerb : public QObject {
    Q_OBJECT

  private slots:
    void flattenedGraphsHaveNoCalls_data();
    void flattenedGraphsHaveNoCalls();
    void flattenedRunsGiveTheSame();
    void examplesAreRead_data();
    void examplesAreRead();
    void numbersOfTheTextAreNodes();

  private:
    QString path(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
};

void TestTraceVerb::flattenedGraphsHaveNoCalls_data() {
    QTest::addColumn<QStringList>("arguments");
    QVERIFY(write(path("function.onnx"), callingFunction()));
    QTest::newRow("built-in") << QStringList{"zoo:resnet18_slim"};
    QTest::newRow("built-in, custom") << QStringList{"zoo:resnet18_slim", "--tracer", "custom"};
    QTest::newRow("built-in, robust") << QStringList{"zoo:resnet18_slim", "--tracer", "robust"};
    QTest::newRow("function") << QStringList{path("function.onnx")};
}

/// "Replace every module call by its operations": no call, no scope but the root's, and the modules' names stay.
void TestTraceVerb::flattenedGraphsHaveNoCalls() {
    QFETCH(QStringList, arguments);
    const QStringList command = QStringList{"trace"} + arguments + QStringList{"--format", "json"};
    const QJsonObject nested = QJsonDocument::fromJson(runSonde(command).out.toUtf8()).object();
    const Outcome outcome = runSonde(command + QStringList{"--flatten"});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const QJsonObject flat = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    const auto kinds = [](const QJsonObject& graph) {
        std::set<QString> found;
        for (const QJsonValue node : graph["nodes"].toArray()) {
            const bool isOwn = node["domain"].toString() == u"own";
            found.insert(isOwn || node["kind"].toString() == u"CallModule" ? "call" : node["kind"].toString());
        }
        return found;
    };
    const auto qualnames = [](const QJsonObject& graph) {
        std::set<QString> found;
        for (const QJsonValue node : graph["nodes"].toArray()) found.insert(node["qualname"].toString());
        return found;
    };
    QVERIFY(!kinds(flat).contains("call"));
    QCOMPARE(flat["scopes"].toArray().size(), 1);
    QVERIFY(qualnames(flat) == qualnames(nested));
    QCOMPARE(flat["inputs"], nested["inputs"]);
}

/// Watched by the names that the calls had.
void TestTraceVerb::flattenedRunsGiveTheSame() {
    const QStringList run{"run", "zoo:resnet18_slim", "--watch", "layer1_0_conv1", "--watch", "layer2.0:"};
    QVERIFY(runSonde(run + QStringList{"--out", path("nested.npz")}).status == 0);
    const Outcome flat = runSonde({"check", "zoo:resnet18_slim", path("nested.npz"), "--flatten"});
    QVERIFY2(flat.status == 0, qPrintable(flat.out + flat.err));
    QVERIFY2(flat.out.contains("layer1_0_conv1 "), qPrintable(flat.out));
}

void TestTraceVerb::examplesAreRead_data() {
    QTest::addColumn<QStringList>("arguments");
    QVERIFY(write(path("function.onnx"), callingFunction()));
    QTest::newRow("ONNX") << QStringList{path("function.onnx")};
    for (const char* tracer : {"module-path", "traced-module", "robust", "custom"})
        QTest::newRow(tracer) << QStringList{"zoo:mlp_functional", "--tracer", tracer};
    QTest::newRow("built-in") << QStringList{"zoo:mlp_functional"};
}

/// Whether the trace needs an example or not, a file that is not there is an error.
void TestTraceVerb::examplesAreRead() {
    QFETCH(QStringList, arguments);
    for (const char* option : {"--input-data", "--example"}) {
        const Outcome outcome = runSonde(QStringList{"trace"} + arguments + QStringList{option, path("nowhere.npy")});
        QVERIFY2(outcome.status != 0 && outcome.err.contains("nowhere.npy"), qPrintable(outcome.err));
        QVERIFY(outcome.out.isEmpty());
    }
}

/// y = x + 1 + 2 (W1 of traced-module.md): %0 is the module, %1 x, %2 x + 1, %3 y. On [5] they are 5, 6 and 8.
void TestTraceVerb::numbersOfTheTextAreNodes() {
    const QStringList traced{"zoo:seed", "--tracer", "traced-module"};
    const QString text = runSonde(QStringList{"trace"} + traced + QStringList{"--format", "graph"}).out;
    QVERIFY2(text.contains("%2:\tadd_out = ") && text.contains("%3:\tadd_out_1 = "), qPrintable(text));
    const auto valueOf = [&](const QString& node) {
        return runSonde(QStringList{"run"} + traced + QStringList{"--input-data", "[5]", "--watch", node});
    };
    const QList<std::pair<QString, QString>> expected{{"%1", "min 5 "}, {"%2", "min 6 "}, {"%3", "min 8 "}};
    for (const auto& [number, value] : expected) {
        const Outcome outcome = valueOf(number);
        QVERIFY2(outcome.status == 0 && outcome.out.section(u'\n', 0, 0).contains(value),
                 qPrintable(number + outcome.out + outcome.err));
    }
    for (const char* wrong : {"%0", "%4", "%x"}) QCOMPARE(valueOf(wrong).status, 2);
    // What a block returns is the result of its identity, and that is its sum: one value.
    const QStringList blocks{"zoo:blocks_net", "--tracer", "traced-module"};
    const QString nested = runSonde(QStringList{"trace"} + blocks + QStringList{"--format", "graph"}).out;
    QVERIFY2(nested.contains("%3:\tblock0_out = ") && nested.contains("%13:\tnothing_out = "), qPrintable(nested));
    for (const char* number : {"%3", "%11", "%13"}) {
        const Outcome outcome = runSonde(QStringList{"run"} + blocks + QStringList{"--watch", number});
        QVERIFY2(outcome.status == 0 && outcome.out.startsWith("block0_add_out "),
                 qPrintable(outcome.out + outcome.err));
    }
}

QTEST_GUILESS_MAIN(TestTraceVerb)

}  // namespace tst_trace_verb

#include "tst_trace_verb.moc"
