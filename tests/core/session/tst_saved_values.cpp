// What a run leaves as a reference file: all of one run, with every iteration of loops; and that comparing it with the
// model that it is of finds no difference. Values are worked by hand.

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <map>

#include "core/io/npz/npz.h"
#include "core/session/saved_values.h"
#include "tests/support/onnx_file.h"

namespace tst_saved_values {

using namespace sonde;
using analysis::ComparedValue;
using session::Session;
using tensor::Tensor;
namespace onnx = test::onnxfile;

namespace {

onnx::Node scanNode(const std::string& start, const std::string& items, const std::string& last, const std::string& all,
                    const onnx::Graph& body) {
    return {"Scan",      {start, items},
            {last, all}, "",
            "",          {onnx::graphAttribute("body", body.bytes()), onnx::intAttribute("num_scan_inputs", 1)}};
}

/// Over the rows of x [2,2] and the numbers of each: sum = before + item, half = sum / 2 for each row.
std::string nestedScan() {
    onnx::Graph inner;
    inner.nodes = {{"Add", {"before", "item"}, {"sum"}}, {"Identity", {"sum"}, {"listed"}}};
    inner.inputs = {onnx::valueInfo("before", 1, {}), onnx::valueInfo("item", 1, {})};
    inner.outputs = {onnx::valueInfo("sum", 1, {}), onnx::valueInfo("listed", 1, {})};
    onnx::Graph outer;
    outer.nodes = {scanNode("carry", "row", "carried", "sums", inner), {"Add", {"sums", "sums"}, {"doubled"}}};
    outer.inputs = {onnx::valueInfo("carry", 1, {}), onnx::valueInfo("row", 1, {2})};
    outer.outputs = {onnx::valueInfo("carried", 1, {}), onnx::valueInfo("doubled", 1, {2})};
    onnx::Graph graph;
    graph.nodes = {scanNode("start", "x", "last", "all", outer)};
    graph.inputs = {onnx::valueInfo("x", 1, {2, 2})};
    graph.outputs = {onnx::valueInfo("last", 1, {}), onnx::valueInfo("all", 1, {2, 2})};
    graph.initializers = {onnx::rawTensor("start", 1, {}, std::string(4, '\0'))};
    return onnx::model(graph);
}

std::vector<float> numbers(const Tensor& tensor) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(static_cast<float>(tensor.toDouble(i)));
    return values;
}

}  // namespace

class TestSavedValues : public QObject {
    Q_OBJECT

  private slots:
    void everyIterationIsSavedAndCompared();
    void oneWrongIterationIsFound();
    void iterationsThatTheRunHasNotFail();
    void valuesAreOfOneRun();
    void iterationsOfWhatIsWatchedLaterAreSaved();
    void anEndPointInALoopIsOneIteration();

  private:
    void open(const std::string& bytes, const std::vector<std::string>& watched) {
        const std::string path = m_folder.filePath("model.onnx").toStdString();
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes.data(), static_cast<qint64>(bytes.size())) > 0);
        file.close();
        QVERIFY(m_session.open(path));
        // Nodes of the same names keep their points.
        m_session.clearWatched();
        m_session.clearEnds();
        for (const std::string& name : watched) m_session.setWatched(*m_session.document()->findNode(name), true);
    }

    /// The rows of a comparison with these values, by their names: whether they are ok.
    std::map<std::string, bool> compared(const analysis::KeyedTensors& values) {
        const std::string path = m_folder.filePath("reference.npz").toStdString();
        std::map<std::string, bool> rows;
        if (!io::writeNpz(path, values)) return rows;
        const auto found = m_session.check(path);
        if (!found) {
            qWarning() << found.error().text().c_str();
            return rows;
        }
        for (const analysis::ComparedCase& one : found->cases) {
            for (const ComparedValue& value : one.values) rows[value.name] = value.ok;
            for (const std::string& key : one.unmatched) rows[key] = false;
        }
        return rows;
    }

    static std::string textOf(const std::map<std::string, std::vector<float>>& values) {
        std::string text;
        for (const auto& [key, numbers] : values) {
            text += key + ":";
            for (const float number : numbers) text += " " + std::to_string(number);
            text += "\n";
        }
        return text;
    }

    std::map<std::string, std::vector<float>> saved() {
        std::map<std::string, std::vector<float>> byKey;
        for (const auto& [key, tensor] : session::savedValues(m_session)) byKey[key] = numbers(tensor);
        return byKey;
    }

    QTemporaryDir m_folder;
    Session m_session;
};

void TestSavedValues::everyIterationIsSavedAndCompared() {
    open(nestedScan(), {"sum", "doubled"});
    m_session.runs().giveValues({Tensor::of<float>({2, 2}, {1, 2, 3, 4})});
    m_session.runs().run();
    const std::map<std::string, std::vector<float>> expected{
        {"in.x", {1, 2, 3, 4}},           {"out.last", {10}},        {"out.all", {2, 6, 12, 20}},
        {"node.sum.pass0.0", {1}},        {"node.sum.pass0.1", {3}}, {"node.sum.pass1.0", {6}},
        {"node.sum.pass1.1", {10}},       {"node.sum", {10}},        {"node.doubled.pass0", {2, 6}},
        {"node.doubled.pass1", {12, 20}}, {"node.doubled", {12, 20}}};
    QCOMPARE(QString::fromStdString(textOf(saved())), QString::fromStdString(textOf(expected)));
    const auto rows = compared(session::savedValues(m_session));
    QCOMPARE(rows.size(), expected.size() - 1);
    for (const auto& [name, ok] : rows) QVERIFY2(ok, name.c_str());
}

void TestSavedValues::oneWrongIterationIsFound() {
    open(nestedScan(), {"sum"});
    m_session.runs().giveValues({Tensor::of<float>({2, 2}, {1, 2, 3, 4})});
    m_session.runs().run();
    for (const std::string wrong : {"node.sum.pass0.1", "node.sum.pass1.1", "node.sum"}) {
        analysis::KeyedTensors values = session::savedValues(m_session);
        for (auto& [key, tensor] : values)
            if (key == wrong) tensor = Tensor::of<float>({}, {7});
        for (const auto& [name, ok] : compared(values)) QCOMPARE(ok, "node." + name != wrong);
    }
}

void TestSavedValues::iterationsThatTheRunHasNotFail() {
    open(nestedScan(), {"sum"});
    m_session.runs().giveValues({Tensor::of<float>({2, 2}, {1, 2, 3, 4})});
    m_session.runs().run();
    analysis::KeyedTensors values = session::savedValues(m_session);
    values.emplace_back("node.sum.pass2.0", Tensor::of<float>({}, {0}));  // a third row
    values.emplace_back("node.sum.pass1", Tensor::of<float>({}, {0}));    // of the outer loop alone: no value
    values.emplace_back("node.all.pass0", Tensor::of<float>({}, {0}));    // in no loop
    const auto rows = compared(values);
    for (const char* name : {"sum.pass2.0", "node.sum.pass1", "node.all.pass0"}) {
        QVERIFY2(rows.contains(name), name);
        QVERIFY2(!rows.at(name), name);
    }
    QCOMPARE(std::ranges::count_if(rows, [](const auto& row) { return !row.second; }), 3);
}

/// Inputs that were given after the run are not those of its outputs.
void TestSavedValues::valuesAreOfOneRun() {
    onnx::Graph graph;
    graph.nodes = {{"Add", {"x", "x"}, {"y"}}};
    graph.inputs = {onnx::valueInfo("x", 1, {3})};
    graph.outputs = {onnx::valueInfo("y", 1, {3})};
    open(onnx::model(graph), {"x"});
    QVERIFY(session::savedValues(m_session).empty());
    QVERIFY(m_session.runs().give("x", {"[1,2,4]"}));
    m_session.runs().run();
    const std::map<std::string, std::vector<float>> expected{
        {"in.x", {1, 2, 4}}, {"node.x", {1, 2, 4}}, {"out.y", {2, 4, 8}}};
    QCOMPARE(QString::fromStdString(textOf(saved())), QString::fromStdString(textOf(expected)));
    QVERIFY(m_session.runs().give("x", {"[5,5,5]"}));
    QVERIFY(!m_session.runs().staleReason().empty());
    QCOMPARE(QString::fromStdString(textOf(saved())), QString::fromStdString(textOf(expected)));
    m_session.setWatched(*m_session.document()->findNode("x"), false);
    m_session.setEnd(*m_session.document()->findNode("x"), true);
    QCOMPARE(QString::fromStdString(textOf(saved())), QString::fromStdString(textOf(expected)));
}

/// Not kept by the run, but computed again for it.
void TestSavedValues::iterationsOfWhatIsWatchedLaterAreSaved() {
    open(nestedScan(), {});
    m_session.runs().giveValues({Tensor::of<float>({2, 2}, {1, 2, 3, 4})});
    m_session.runs().run();
    for (const char* name : {"sum", "doubled"}) {
        const graph::NodeId node = *m_session.document()->findNode(name);
        m_session.setWatched(node, true);
        m_session.values().request(node);
    }
    const std::map<std::string, std::vector<float>> expected{
        {"in.x", {1, 2, 3, 4}},           {"out.last", {10}},        {"out.all", {2, 6, 12, 20}},
        {"node.sum.pass0.0", {1}},        {"node.sum.pass0.1", {3}}, {"node.sum.pass1.0", {6}},
        {"node.sum.pass1.1", {10}},       {"node.sum", {10}},        {"node.doubled.pass0", {2, 6}},
        {"node.doubled.pass1", {12, 20}}, {"node.doubled", {12, 20}}};
    QCOMPARE(QString::fromStdString(textOf(saved())), QString::fromStdString(textOf(expected)));
    const auto rows = compared(session::savedValues(m_session));
    QCOMPARE(rows.size(), expected.size() - 1);
    for (const auto& [name, ok] : rows) QVERIFY2(ok, name.c_str());
}

/// The run ends in iteration 0 of iteration 0: that is no last one, and nothing further was computed.
void TestSavedValues::anEndPointInALoopIsOneIteration() {
    open(nestedScan(), {});
    const graph::NodeId sum = *m_session.document()->findNode("sum");
    m_session.setEnd(sum, true);
    m_session.runs().giveValues({Tensor::of<float>({2, 2}, {1, 2, 3, 4})});
    m_session.runs().run();
    const std::map<std::string, std::vector<float>> expected{{"in.x", {1, 2, 3, 4}}, {"node.sum.pass0.0", {1}}};
    QCOMPARE(QString::fromStdString(textOf(saved())), QString::fromStdString(textOf(expected)));
    const graph::NodeId item = *m_session.document()->findNode("item");
    m_session.values().request(item);
    QCOMPARE(m_session.values().iterations(item), std::size_t(1));
    QCOMPARE(m_session.values().of(item)->tensor().toDouble(0), 1.0);
    m_session.setEnd(sum, false);
    m_session.setWatched(sum, true);
    for (const auto& [name, ok] : compared(session::savedValues(m_session))) QVERIFY2(ok, name.c_str());
}

QTEST_GUILESS_MAIN(TestSavedValues)

}  // namespace tst_saved_values

#include "tst_saved_values.moc"
