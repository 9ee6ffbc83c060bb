// Where two files write a layer in other operators, both models run on the same random numbers. A change inside such a
// layer is found whatever it is (operands, axes, parts of attention and recurrent layers, slices), and operations that
// stand for others between equal values are no difference.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include "core/session/diff/difference_rows.h"
#include "core/session/diff/model_diff.h"
#include "tests/support/renamed_onnx.h"
#include "tests/support/written_models.h"

namespace tst_same_runs {

using namespace sonde;
using namespace sonde::test::onnxfile;
using session::ModelDiff;
using test::kSmallModels;
using test::openedModel;

namespace {

constexpr int kFloatType = 1;

/// The first two inputs of the node that makes `output` are exchanged.
std::string withTurnedInputs(const std::string& model, const std::string& output) {
    const auto node = [&output](std::string_view bytes, std::string& to) {
        std::vector<std::string> inputs;
        bool isMeant = false;
        (void)test::RenamedOnnx::rewritten(bytes, [&](unsigned tag, std::string_view field, std::string&) {
            if (tag == 1) inputs.emplace_back(field);
            isMeant = isMeant || (tag == 2 && field == output);
            return false;
        });
        if (!isMeant || inputs.size() < 2) return false;
        std::swap(inputs[0], inputs[1]);
        std::size_t at = 0;
        to = test::RenamedOnnx::rewritten(bytes, [&](unsigned tag, std::string_view, std::string& name) {
            if (tag != 1) return false;
            name = inputs[at++];
            return true;
        });
        return true;
    };
    return test::RenamedOnnx::rewritten(model, [&](unsigned tag, std::string_view graph, std::string& to) {
        if (tag != 7) return false;
        to = test::RenamedOnnx::rewritten(graph, [&](unsigned inner, std::string_view field, std::string& changed) {
            return inner == 1 && node(field, changed);
        });
        return true;
    });
}

std::string withBytes(std::string model, const std::string& from, const std::string& to) {
    const std::size_t at = model.find(from);
    if (at == std::string::npos || from.size() != to.size()) qFatal("not in the file");
    return model.replace(at, from.size(), to);
}

std::string floats(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    return rawTensor(name, kFloatType, dims,
                     std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}

/// y = softmax(layer norm of x), the norm as one operator or as its nine parts.
Graph normed(bool isWhole, const std::string& difference = "Sub") {
    Graph graph{
        .nodes = {}, .inputs = {valueInfo("x", kFloatType, {4, 6})}, .outputs = {valueInfo("y", kFloatType, {4, 6})}};
    graph.initializers = {floats("scale", {6}, {1, 2, 3, 4, 5, 6}), floats("shift", {6}, {0, 1, 0, -1, 2, 0.5F})};
    graph.nodes.push_back({"Tanh", {"x"}, {"t"}});
    if (isWhole) {
        graph.nodes.push_back(
            {"LayerNormalization", {"t", "scale", "shift"}, {"n"}, "", "", {intAttribute("axis", -1)}});
    } else {
        graph.initializers.push_back(floats("two", {}, {2}));
        graph.initializers.push_back(floats("epsilon", {}, {1e-5F}));
        const std::vector<std::string> last{intsAttribute("axes", {-1})};
        const std::vector<Node> parts{{"ReduceMean", {"t"}, {"mean"}, "", "", last},
                                      {difference, {"t", "mean"}, {"centred"}},
                                      {"Pow", {"centred", "two"}, {"square"}},
                                      {"ReduceMean", {"square"}, {"variance"}, "", "", last},
                                      {"Add", {"variance", "epsilon"}, {"sum"}},
                                      {"Sqrt", {"sum"}, {"root"}},
                                      {"Div", {"centred", "root"}, {"quotient"}},
                                      {"Mul", {"quotient", "scale"}, {"scaled"}},
                                      {"Add", {"scaled", "shift"}, {"n"}}};
        graph.nodes.insert(graph.nodes.end(), parts.begin(), parts.end());
    }
    graph.nodes.push_back({"Softmax", {"n"}, {"y"}, "", "", {intAttribute("axis", 1)}});
    return graph;
}

}  // namespace

class TestSameRuns : public QObject {
    Q_OBJECT

  private slots:
    void changesInsideOfLayersAreFound_data();
    void changesInsideOfLayersAreFound();
    void openOperationsHaveNames();
    void oneOperatorIsItsParts();
    void axesFromTheEndAreTheSame();
    void largeModelsAreNotRun();

  private:
    ModelDiff diffOf(const document::Document& a, const document::Document& b) {
        auto diff = session::modelDiff(a, b);
        if (!diff) qFatal("%s", diff.error().text().c_str());
        return std::move(*diff);
    }
    std::shared_ptr<const document::Document> open(const Graph& graph, std::int64_t version) {
        return m_models.open(model(graph, {}, {opset("", version)}));
    }

    test::WrittenModels m_models;
};

void TestSameRuns::changesInsideOfLayersAreFound_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("form");
    QTest::addColumn<QString>("turned");  // node whose inputs are exchanged; else bytes of the file are others
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    const auto turned = [](const char* name, const char* form, const char* node) {
        QTest::addRow("%s, %s", name, node) << name << form << node << QByteArray() << QByteArray();
    };
    const auto bytes = [](const char* title, const char* name, const char* form, const QByteArray& from,
                          const QByteArray& to) { QTest::newRow(title) << name << form << QString() << from << to; };
    turned("shared_twice", "trace", "/norm/Sub_output_0");
    turned("shared_twice", "trace", "/norm/Div_output_0");
    turned("gpt_mini", "script", "/blocks.1/ln1/Sub_output_0");
    turned("mlp_functional", "trace", "/Concat_output_0");
    // Attributes: perm of a transposition around the LSTM, what a mask keeps.
    bytes("order of dimensions", "lstm_classifier", "trace", QByteArray("perm@\x01@\x00@\x02", 10),
          QByteArray("perm@\x00@\x01@\x02", 10));
    bytes("which triangle of a mask", "gpt_mini", "script", QByteArray("upper\x18\x00", 7),
          QByteArray("upper\x18\x01", 7));
    // Inside of a loop that the other file writes in other operators: what its branch is chosen by.
    const QByteArray divisor =
        "/Constant_12\"\x08"
        "Constant*\x18\n\x05value*\x0c\x10\x07J\x08";
    bytes("a constant of a loop", "control_flow", "script", divisor + '\x02', divisor + '\x05');
}

void TestSameRuns::changesInsideOfLayersAreFound() {
    QFETCH(const QString, name);
    QFETCH(const QString, form);
    QFETCH(const QString, turned);
    QFETCH(const QByteArray, from);
    QFETCH(const QByteArray, to);
    const std::string original = test::bytesOfFile(kSmallModels + name.toStdString() + ".onnx");
    const auto archive = openedModel(kSmallModels + name.toStdString() + '.' + form.toStdString() + ".pt");
    const ModelDiff same = diffOf(*m_models.open(original), *archive);
    QVERIFY(same.isEqual());
    QVERIFY(same.runs.runs > 0 && same.runs.haveSameResults());
    const std::string planted = turned.isEmpty() ? withBytes(original, from.toStdString(), to.toStdString())
                                                 : withTurnedInputs(original, turned.toStdString());
    const auto exported = m_models.open(planted);
    const ModelDiff diff = diffOf(*exported, *archive);
    QVERIFY(!diff.structure.isEqual());
    const std::string text = session::modelDiffText(*exported, *archive, diff);
    QVERIFY2(text.find(" on random numbers") != std::string::npos, text.c_str());
    // Whatever the file calls its nodes.
    QVERIFY(!diffOf(*m_models.open(test::RenamedOnnx::of(planted)), *archive).structure.isEqual());
}

/// Each by its name: in JSON all, in the text the first, in the list of the window as one row that selects them.
void TestSameRuns::openOperationsHaveNames() {
    const auto exported = openedModel(kSmallModels + "shared_twice.onnx"),
               archive = openedModel(kSmallModels + "shared_twice.trace.pt");
    const ModelDiff diff = diffOf(*exported, *archive);
    // All of the layer norm but its last sum.
    const QStringList expected{"/norm/ReduceMean_output_0",   "/norm/Sub_output_0", "/norm/Pow_output_0",
                               "/norm/ReduceMean_1_output_0", "/norm/Add_output_0", "/norm/Sqrt_output_0",
                               "/norm/Div_output_0",          "/norm/Mul_output_0"};
    const QJsonObject json =
        QJsonDocument::fromJson(QByteArray::fromStdString(session::modelDiffJson(*exported, *archive, diff))).object();
    QStringList names;
    for (const auto& name : json["not_compared_nodes"].toObject()["a"].toArray()) names << name.toString();
    for (const QString& name : expected) QVERIFY2(names.contains(name), qPrintable(name));
    QCOMPARE(json["runs"].toObject()["same_results"].toBool(), true);
    const std::string text = session::modelDiffText(*exported, *archive, diff);
    QVERIFY2(text.find("/norm/ReduceMean_output_0, /norm/Sub_output_0") != std::string::npos, text.c_str());
    QVERIFY2(text.find(" more\n") != std::string::npos, text.c_str());
    const auto rows = session::differenceRows(*exported, *archive, diff);
    const auto row = std::ranges::find(rows, session::DifferenceRow::Kind::NotCompared, &session::DifferenceRow::kind);
    QVERIFY(row != rows.end());
    QCOMPARE(row->nodesA.size(), static_cast<std::size_t>(names.size()));
}

/// LayerNormalization of opset 17 and what opset 16 has for it; not if a part is another one.
void TestSameRuns::oneOperatorIsItsParts() {
    const auto whole = open(normed(true), 17), parts = open(normed(false), 16);
    for (const bool isTurned : {false, true}) {
        const ModelDiff diff = isTurned ? diffOf(*parts, *whole) : diffOf(*whole, *parts);
        QVERIFY2(diff.isEqual(),
                 session::modelDiffText(isTurned ? *parts : *whole, isTurned ? *whole : *parts, diff).c_str());
        QVERIFY(diff.structure.matched() > 0.95);
        QCOMPARE(diff.structure.matchedByForm, std::size_t{10});  // one and nine
        QVERIFY(diff.runs.runs > 0 && diff.runs.haveSameResults());
    }
    const ModelDiff other = diffOf(*whole, *open(normed(false, "Add"), 16));
    QVERIFY(!other.structure.isEqual());
}

/// Softmax of a tensor of rank 2: 1 is the last dimension, as -1 is; 0 is not.
void TestSameRuns::axesFromTheEndAreTheSame() {
    const auto withAxis = [this](std::int64_t axis) {
        Graph graph = normed(true);
        graph.nodes.back().attributes = {intAttribute("axis", axis)};
        return open(graph, 17);
    };
    QVERIFY(diffOf(*withAxis(1), *withAxis(-1)).isEqual());
    const ModelDiff other = diffOf(*withAxis(0), *withAxis(-1));
    QCOMPARE(other.structure.changed.size(), std::size_t{1});
    QCOMPARE(other.structure.changed.front().what, std::string("axis: 0 -> -1"));
}

/// Nobody asked for a run of so many operations: the structure is compared all the same. What only a run can tell stays
/// listed: a norm that adds in place of subtracting.
void TestSameRuns::largeModelsAreNotRun() {
    Graph graph = normed(true);
    graph.nodes.pop_back();
    std::string last = "n";
    for (int i = 0; i < 51'000; ++i) {
        graph.nodes.push_back({"Relu", {last}, {"r" + std::to_string(i)}});
        last = graph.nodes.back().outputs.front();
    }
    graph.nodes.push_back({"Softmax", {last}, {"y"}});
    Graph other = graph;
    other.nodes.erase(other.nodes.begin() + 1);
    const Graph parts = normed(false, "Add");
    other.initializers = parts.initializers;
    other.nodes.insert(other.nodes.begin() + 1, parts.nodes.begin() + 1, parts.nodes.end() - 1);
    const ModelDiff diff = diffOf(*open(graph, 17), *open(other, 16));
    QCOMPARE(diff.runs.runs, std::size_t{0});
    QVERIFY(!diff.runs.note.empty());
    QCOMPARE(diff.structure.added.size(), std::size_t{9});
    QCOMPARE(diff.structure.removed.size(), std::size_t{1});
}

QTEST_APPLESS_MAIN(TestSameRuns)

}  // namespace tst_same_runs

#include "tst_same_runs.moc"
