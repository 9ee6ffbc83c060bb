// Profiles in files: Sonde's own, and ONNX Runtime's, whose events are as version 1.30 wrote them.

#include <QTemporaryDir>
#include <QtTest>

#include "core/analysis/profile/stored_profile.h"
#include "core/document/document.h"
#include "tests/support/linear_network.h"

namespace tst_stored_profile {

using namespace sonde;
using analysis::StoredNode;
using analysis::StoredProfile;

namespace {

/// Two runs. Names are those of nodes, or of values that nodes make where the optimiser has put several together.
const char* const kOnnxRuntime = R"([
{"cat":"Session","pid":7,"tid":7,"dur":4453,"ts":3,"ph":"X","name":"model_loading_uri","args":{}},
{"cat":"Node","pid":7,"tid":7,"dur":16,"ts":16138,"ph":"X","name":"/layer1/relu/Relu_output_0_nchwc_kernel_time",
 "args":{"op_name":"Conv","provider":"CPUExecutionProvider","node_index":"62","output_size":"16384"}},
{"cat":"Node","pid":7,"tid":7,"dur":21,"ts":16966,"ph":"X","name":"/attn/MatMul/MatMulScaleFusion/_kernel_time",
 "args":{"op_name":"FusedMatMul","provider":"CPUExecutionProvider","node_index":"81"}},
{"cat":"Node","pid":7,"tid":7,"dur":2,"ts":16990,"ph":"X","name":"ReorderOutput_token_185_kernel_time",
 "args":{"op_name":"ReorderOutput","provider":"CPUExecutionProvider","node_index":"90"}},
{"cat":"Session","pid":7,"tid":7,"dur":604,"ts":15986,"ph":"X","name":"SequentialExecutor::Execute","args":{}},
{"cat":"Session","pid":7,"tid":7,"dur":700,"ts":15980,"ph":"X","name":"model_run","args":{}},
{"cat":"Node","pid":7,"tid":7,"dur":14,"ts":26138,"ph":"X","name":"/layer1/relu/Relu_output_0_nchwc_kernel_time",
 "args":{"op_name":"Conv","provider":"CPUExecutionProvider","node_index":"62"}},
{"cat":"Node","pid":7,"tid":7,"dur":19,"ts":26966,"ph":"X","name":"/attn/MatMul/MatMulScaleFusion/_kernel_time",
 "args":{"op_name":"FusedMatMul","provider":"CPUExecutionProvider","node_index":"81"}},
{"cat":"Node","pid":7,"tid":7,"dur":4,"ts":26990,"ph":"X","name":"ReorderOutput_token_185_kernel_time",
 "args":{"op_name":"ReorderOutput","provider":"CPUExecutionProvider","node_index":"90"}},
{"cat":"Session","pid":7,"tid":7,"dur":500,"ts":25980,"ph":"X","name":"model_run","args":{}}])";

StoredNode node(std::string name, double ns, std::string fileName = {}) {
    return {std::move(name), std::move(fileName), "Op", 1, ns};
}

}  // namespace

class TestStoredProfile : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void onnxRuntimesRunsAreAveraged();
    void namesOfItsOptimiserAreUnderstood();
    void fusedOperationsAreFound();
    void differencesAreSorted();
    void whatIsNoProfileIsRefused_data();
    void whatIsNoProfileIsRefused();
};

void TestStoredProfile::onnxRuntimesRunsAreAveraged() {
    const auto profile = analysis::parseProfile(kOnnxRuntime);
    QVERIFY2(profile, profile ? "" : profile.error().text().c_str());
    QCOMPARE(profile->engine, std::string("ONNX Runtime"));
    QCOMPARE(profile->runs, std::size_t(2));
    QCOMPARE(profile->totalNs, 600'000.0);  // (700 + 500) / 2 microseconds
    QCOMPARE(profile->nodes.size(), std::size_t(3));
    QCOMPARE(profile->nodes[0].op, std::string("Conv"));
    QCOMPARE(profile->nodes[0].selfNs, 15'000.0);  // (16 + 14) / 2
    QCOMPARE(profile->nodes[1].selfNs, 20'000.0);
    QCOMPARE(profile->nodes[2].count, 2);
}

void TestStoredProfile::namesOfItsOptimiserAreUnderstood() {
    StoredProfile ours;
    ours.engine = "Sonde";
    ours.nodes = {node("layer1_relu_Relu", 40'000, "/layer1/relu/Relu"), node("scores", 30'000, "/attn/MatMul"),
                  node("other", 1'000, "/other")};
    const auto theirs = analysis::parseProfile(kOnnxRuntime);
    const auto compared = analysis::compareProfiles(ours, *theirs);
    QCOMPARE(compared.nodes.size(), std::size_t(2));
    QCOMPARE(compared.nodes[0].names, std::vector<std::string>{"layer1_relu_Relu"});
    QCOMPARE(compared.nodes[0].difference(), 25'000.0);
    QCOMPARE(compared.nodes[1].names, std::vector<std::string>{"scores"});
    QCOMPARE(compared.nodes[1].difference(), 10'000.0);
    QCOMPARE(compared.onlyHere.size(), std::size_t(1));
    QCOMPARE(compared.onlyHere.front().name, std::string("other"));
    QCOMPARE(compared.onlyThere.size(), std::size_t(1));
    const std::string text = compared.text(40);
    QVERIFY2(
        text.find("1 node of ONNX Runtime (0.003 ms) not found in Sonde: ReorderOutput_token_185") != std::string::npos,
        text.c_str());
}

/// y = x · w is read by z = relu(y) alone: who has z and no y has done both.
void TestStoredProfile::fusedOperationsAreFound() {
    QTemporaryDir folder;
    const std::string file = (folder.path() + QStringLiteral("/linear.onnx")).toStdString();
    test::writeLinearNetwork(file);
    const auto document = document::open(file, {});
    QVERIFY(document);
    StoredProfile ours, theirs;
    ours.nodes = {node("y", 70), node("z", 20), node("t", 5), node("s", 6)};
    theirs.nodes = {node("z", 60), node("s", 4)};
    const auto compared = analysis::compareProfiles(ours, theirs, (*document)->graph.get());
    QCOMPARE(compared.nodes.size(), std::size_t(2));
    QCOMPARE(compared.nodes[0].names, (std::vector<std::string>{"y", "z"}));
    QCOMPARE(compared.nodes[0].ns, 90.0);
    QCOMPARE(compared.nodes[0].otherNs, 60.0);
    QCOMPARE(compared.onlyHere.size(), std::size_t(1));  // t is an output of its own
    QCOMPARE(compared.onlyHere.front().name, std::string("t"));
}

void TestStoredProfile::differencesAreSorted() {
    const auto ours = analysis::parseProfile(
        R"({"traceEvents":[],"profile":{"format":"sonde-profile","version":1,"total_ns":60,"nodes":[
            {"name":"a","self_ns":10,"count":1,"op":"Relu"},{"name":"b","self_ns":20,"count":1,"op":"Exp"},
            {"name":"c","self_ns":30,"count":1,"op":"Add"}]}})");
    const auto before = analysis::parseProfile(
        R"({"format":"sonde-profile","version":1,"total_ns":90,"nodes":[
            {"name":"c","self_ns":29},{"name":"a","self_ns":50},{"name":"b","self_ns":11}]})");
    QVERIFY(ours && before);
    const auto compared = analysis::compareProfiles(*ours, *before);
    QCOMPARE(compared.totalNs - compared.otherTotalNs, -30.0);
    QCOMPARE(compared.nodes.size(), std::size_t(3));
    const double expected[] = {-40, 9, 1};
    for (std::size_t i = 0; i < 3; ++i) QCOMPARE(compared.nodes[i].difference(), expected[i]);
    QVERIFY(compared.onlyHere.empty() && compared.onlyThere.empty());
    const QString two = QString::fromStdString(compared.text(2));
    QVERIFY2(two.endsWith(QStringLiteral("  b\n1 more (--lines, --json)\n")), qPrintable(two));
    QVERIFY(QString::fromStdString(compared.text(3)).endsWith(QStringLiteral("  c\n")));
}

void TestStoredProfile::whatIsNoProfileIsRefused_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("message");
    QTest::newRow("nothing") << QByteArray() << QByteArray("no JSON");
    QTest::newRow("half") << QByteArray("[{\"cat\":\"Node\"") << QByteArray("no JSON");
    QTest::newRow("other JSON") << QByteArray("{\"nodes\":[]}") << QByteArray("neither a profile of Sonde nor one");
    QTest::newRow("number") << QByteArray("7") << QByteArray("neither a profile of Sonde nor one");
    QTest::newRow("no run") << QByteArray("[{\"cat\":\"Session\",\"name\":\"model_loading_uri\"}]")
                            << QByteArray("there is no event of a node");
    QTest::newRow("no events") << QByteArray("[1]") << QByteArray("an event is no object");
    QTest::newRow("version") << QByteArray("{\"format\":\"sonde-profile\",\"version\":9}")
                             << QByteArray("unknown version");
    QTest::newRow("no nodes") << QByteArray("{\"format\":\"sonde-profile\",\"version\":1}")
                              << QByteArray("there are no nodes");
    QTest::newRow("bad node") << QByteArray("{\"format\":\"sonde-profile\",\"version\":1,\"nodes\":[{\"name\":3}]}")
                              << QByteArray("a node has no name (profile.nodes[0])");
}

void TestStoredProfile::whatIsNoProfileIsRefused() {
    QFETCH(const QByteArray, text);
    QFETCH(const QByteArray, message);
    const auto profile = analysis::parseProfile(text.toStdString());
    QVERIFY(!profile);
    QCOMPARE(profile.error().kind, base::ErrorKind::Unreadable);
    QVERIFY2(profile.error().text().find(message.toStdString()) != std::string::npos, profile.error().text().c_str());
}

QTEST_APPLESS_MAIN(TestStoredProfile)

}  // namespace tst_stored_profile

#include "tst_stored_profile.moc"
