// Which parameters of two models are paired: never a weight with a bias, by name where both say the same, by what reads
// them, and in the forms that exporters are known to pack them.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/session/diff/model_diff.h"
#include "tests/support/onnx_file.h"

namespace tst_parameter_pairs {

using namespace sonde;
using namespace sonde::test::onnxfile;
using session::ParameterDiff;

namespace {

constexpr int kFloat = 1;

std::string floats(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    return rawTensor(name, kFloat, dims,
                     std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}

std::string namesOf(const std::vector<session::ParameterRef>& parameters) {
    std::string names;
    for (const session::ParameterRef& parameter : parameters) names += (names.empty() ? "" : " ") + parameter.name;
    return names;
}

}  // namespace

class TestParameterPairs : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aWeightIsNoBias();
    void sameNamesComeBeforeUsers();
    void sameNamesAreFoundWithoutUsers();
    void otherNamesAreFoundByUsers();
    void valuesAreComparedWhereOnlyOnesDiffer();
    void foldedNormalisationsAreComparedFolded();
    void recurrentLayersAreComparedByGate();
    void operationsAreFoundFromTheirNeighbours();
    void exportsPairWhatHasTheSameElements();

  private:
    std::shared_ptr<const document::Document> open(const Graph& graph) {
        const QString path = m_folder.filePath(QStringLiteral("m%1.onnx").arg(m_count++));
        if (!write(path, model(graph, {}, {opset("", 17)}))) qFatal("cannot write");
        const auto document = document::open(path.toStdString(), {});
        if (!document) qFatal("%s", document.error().text().c_str());
        return *document;
    }
    static ParameterDiff differ(const document::Document& a, const document::Document& b) {
        const session::GraphPairs pairs = session::pairOperations(*a.graph, *b.graph);
        const auto diff = session::parameterDiff(a, b, pairs);
        if (!diff) qFatal("%s", diff.error().text().c_str());
        return *diff;
    }
    /// x·w, then an operation with a vector, then a softmax.
    Graph withVector(const std::string& op, const std::string& name, const std::vector<float>& values) const {
        return {.nodes = {{"MatMul", {"x", "w"}, {"p"}}, {op, {"p", name}, {"q"}}, {"Softmax", {"q"}, {"y"}}},
                .inputs = {valueInfo("x", kFloat, {1, 2})},
                .outputs = {valueInfo("y", kFloat, {1, 2})},
                .initializers = {floats("w", {2, 2}, {1, 2, 3, 4}), floats(name, {2}, values)}};
    }

    QTemporaryDir m_folder;
    int m_count = 0;
};

/// The sum of the one model stands where the product of the other does, with as many elements.
void TestParameterPairs::aWeightIsNoBias() {
    const ParameterDiff diff = differ(*open(withVector("Add", "10", {1, 2})), *open(withVector("Mul", "11", {3, 4})));
    QCOMPARE(namesOf(diff.removed), std::string("10"));
    QCOMPARE(namesOf(diff.added), std::string("11"));
    QVERIFY(diff.changed.empty());
    QCOMPARE(diff.equal, std::size_t{1});
    // Not by name either.
    const ParameterDiff named = differ(*open(withVector("Add", "v", {1, 2})), *open(withVector("Mul", "v", {3, 4})));
    QCOMPARE(namesOf(named.removed) + ' ' + namesOf(named.added), std::string("v v"));
    // Two sums are what two sums are.
    const ParameterDiff same = differ(*open(withVector("Add", "10", {1, 2})), *open(withVector("Add", "11", {3, 5})));
    QCOMPARE(same.changed.size(), std::size_t{1});
    QCOMPARE(same.changed[0].otherName, std::string("11"));
    QCOMPARE(same.changed[0].maxAbs.value(), 3.0);
}

/// p and q have changed places: the operations have other inputs, the parameters are what they were.
void TestParameterPairs::sameNamesComeBeforeUsers() {
    const auto graph = [](const std::string& first, const std::string& second) {
        return Graph{.nodes = {{"Add", {"x", first}, {"a"}}, {"Tanh", {"a"}, {"b"}}, {"Add", {"b", second}, {"y"}}},
                     .inputs = {valueInfo("x", kFloat, {1, 2})},
                     .outputs = {valueInfo("y", kFloat, {1, 2})},
                     .initializers = {floats("p", {2}, {1, 1}), floats("q", {2}, {2, 2})}};
    };
    const ParameterDiff diff = differ(*open(graph("p", "q")), *open(graph("q", "p")));
    QVERIFY(diff.isEqual());
    QCOMPARE(diff.equal, std::size_t{2});
    QCOMPARE(diff.renamed, std::size_t{0});
}

/// Elements and operations are others: nothing but the name says that it is the same parameter.
void TestParameterPairs::sameNamesAreFoundWithoutUsers() {
    const auto graph = [](bool isFirst, const std::string& name, const std::vector<float>& values) {
        std::vector<Node> nodes{{"Add", {"x", name}, {"a"}}, {"Tanh", {"a"}, {"y"}}};
        if (!isFirst) nodes = {{"Tanh", {"x"}, {"a"}}, {"Sub", {"a", name}, {"y"}}};
        return Graph{.nodes = nodes,
                     .inputs = {valueInfo("x", kFloat, {1, 2})},
                     .outputs = {valueInfo("y", kFloat, {1, 2})},
                     .initializers = {floats(name, {static_cast<std::int64_t>(values.size())}, values)}};
    };
    const auto first = open(graph(true, "p", {1, 2}));
    const ParameterDiff diff = differ(*first, *open(graph(false, "p", {1, 5})));
    QCOMPARE(diff.changed.size(), std::size_t{1});
    QCOMPARE(diff.changed[0].name, std::string("p"));
    QCOMPARE(diff.changed[0].maxAbs.value(), 3.0);
    QVERIFY(diff.added.empty() && diff.removed.empty());
    // With another name nothing says so.
    const ParameterDiff other = differ(*first, *open(graph(false, "q", {1, 5})));
    QCOMPARE(namesOf(other.removed) + ' ' + namesOf(other.added), std::string("p q"));
    QVERIFY(other.changed.empty());
}

/// Another name and other elements: what reads it tells, and its shape may be another one too.
void TestParameterPairs::otherNamesAreFoundByUsers() {
    const auto graph = [](const std::string& name, const std::vector<float>& values) {
        const auto size = static_cast<std::int64_t>(values.size());
        return Graph{.nodes = {{"MatMul", {"x", name}, {"p"}}, {"Softmax", {"p"}, {"y"}}},
                     .inputs = {valueInfo("x", kFloat, {1, 2})},
                     .outputs = {valueInfo("y", kFloat, {1, size / 2})},
                     .initializers = {floats(name, {2, size / 2}, values)}};
    };
    const auto first = open(graph("fc.weight", {1, 2, 3, 4}));
    const ParameterDiff diff = differ(*first, *open(graph("7", {1, 2, 3, 5})));
    QCOMPARE(diff.changed.size(), std::size_t{1});
    QCOMPARE(diff.changed[0].otherName, std::string("7"));
    QCOMPARE(diff.changed[0].maxAbs.value(), 1.0);
    QVERIFY(diff.added.empty() && diff.removed.empty());
    const ParameterDiff wider = differ(*first, *open(graph("7", {1, 2, 3, 4, 5, 6})));
    QCOMPARE(wider.changed.size(), std::size_t{1});
    QCOMPARE(wider.changed[0].what, std::string("shape: [2,2] -> [2,3]"));
}

/// Another shape is told, and that the elements are the same.
void TestParameterPairs::valuesAreComparedWhereOnlyOnesDiffer() {
    const auto graph = [](const std::string& name, const std::vector<std::int64_t>& dims) {
        return Graph{.nodes = {{"Add", {"x", name}, {"y"}}},
                     .inputs = {valueInfo("x", kFloat, {1, 2, 3})},
                     .outputs = {valueInfo("y", kFloat, {1, 2, 3})},
                     .initializers = {floats(name, dims, {1, 2, 4})}};
    };
    const ParameterDiff diff = differ(*open(graph("bias", {3})), *open(graph("12", {1, 1, 3})));
    QCOMPARE(diff.changed.size(), std::size_t{1});
    QCOMPARE(diff.changed[0].what, std::string("shape: [3] -> [1,1,3]"));
    QCOMPARE(diff.changed[0].maxAbs.value(), 0.0);
    QVERIFY(diff.added.empty() && diff.removed.empty());
}

/// By hand: γ/√σ² is 3/√4 and 1/√1, so that 2 and 4 become 3 and 4, and the bias is 1 − 2·1.5 and 0 − 4·1.
void TestParameterPairs::foldedNormalisationsAreComparedFolded() {
    const auto image = [](const char* name) { return valueInfo(name, kFloat, {1, 1, 2, 2}); };
    const Graph plain{.nodes = {{"Conv", {"x", "conv.weight"}, {"c"}},
                                {"BatchNormalization",
                                 {"c", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"},
                                 {"n"},
                                 "",
                                 "",
                                 {floatAttribute("epsilon", 0)}},
                                {"Relu", {"n"}, {"y"}}},
                      .inputs = {image("x")},
                      .outputs = {valueInfo("y", kFloat, {1, 2, 2, 2})},
                      .initializers = {floats("conv.weight", {2, 1, 1, 1}, {2, 4}), floats("bn.weight", {2}, {3, 1}),
                                       floats("bn.bias", {2}, {1, 0}), floats("bn.running_mean", {2}, {2, 4}),
                                       floats("bn.running_var", {2}, {4, 1})}};
    const auto folded = [&](float second) {
        return Graph{.nodes = {{"Conv", {"x", "31", "32"}, {"n"}}, {"Relu", {"n"}, {"y"}}},
                     .inputs = {image("x")},
                     .outputs = {valueInfo("y", kFloat, {1, 2, 2, 2})},
                     .initializers = {floats("31", {2, 1, 1, 1}, {3, second}), floats("32", {2}, {-2, -4})}};
    };
    const auto first = open(plain), second = open(folded(4)), other = open(folded(6));
    for (const bool isTurned : {false, true}) {
        const ParameterDiff diff = isTurned ? differ(*second, *first) : differ(*first, *second);
        QVERIFY2(diff.isEqual(), (namesOf(diff.added) + " | " + namesOf(diff.removed)).c_str());
        QCOMPARE(diff.equal, std::size_t{2});
        QCOMPARE(diff.renamed, std::size_t{2});
    }
    const ParameterDiff diff = differ(*first, *other);
    QCOMPARE(diff.changed.size(), std::size_t{1});
    QCOMPARE(diff.changed[0].name, std::string("conv.weight"));
    QCOMPARE(diff.changed[0].otherName, std::string("31"));
    QCOMPARE(diff.changed[0].maxAbs.value(), 2.0);
    QCOMPARE(diff.changed[0].what, std::string("with the batch normalisation behind it"));
}

/// The archive and the ONNX export of one LSTM of PyTorch: what the one has in twelve tensors the other has in six.
void TestParameterPairs::recurrentLayersAreComparedByGate() {
    const std::string folder = SONDE_TEST_DATA "/models/";
    const auto exported = document::open(folder + "lstm_classifier.onnx", {});
    const auto archive = document::open(folder + "lstm_classifier.trace.pt", {});
    QVERIFY(exported && archive);
    const ParameterDiff diff = differ(**exported, **archive);
    QVERIFY2(diff.isEqual(), (namesOf(diff.added) + " | " + namesOf(diff.removed)).c_str());
    QVERIFY(diff.equal >= 8);
    QVERIFY(differ(**archive, **exported).isEqual());
}

/// Two branches whose sums have changed places in the file. Operations before and behind them are others, so that only
/// their products, which have weights of their own, say which sum is which.
void TestParameterPairs::operationsAreFoundFromTheirNeighbours() {
    const auto graph = [](bool isOther) {
        std::vector<Node> left{{"MatMul", {"h", "w1"}, {"l1"}}, {"Tanh", {"l1"}, {"l2"}}, {"Exp", {"l2"}, {"l3"}}};
        std::vector<Node> right{{"MatMul", {"h", "w2"}, {"r1"}}, {"Tanh", {"r1"}, {"r2"}}, {"Exp", {"r2"}, {"r3"}}};
        if (isOther) std::swap(left, right);
        Graph graph{.nodes = {{isOther ? "Relu" : "Abs", {"x"}, {"h"}}},
                    .inputs = {valueInfo("x", kFloat, {2, 2})},
                    .outputs = {valueInfo("y", kFloat, {2, 2})},
                    .initializers = {floats("w1", {2, 2}, {1, 2, 3, 4}), floats("w2", {2, 2}, {5, 6, 7, 9})}};
        graph.nodes.insert(graph.nodes.end(), left.begin(), left.end());
        graph.nodes.insert(graph.nodes.end(), right.begin(), right.end());
        graph.nodes.push_back({"Sub", {"l3", "r3"}, {"s"}});
        graph.nodes.push_back({isOther ? "Sin" : "Cos", {"s"}, {"y"}});
        return graph;
    };
    const auto first = open(graph(false)), second = open(graph(true));
    const session::GraphPairs pairs = session::pairOperations(*first->graph, *second->graph);
    for (const char* name : {"l1", "l2", "l3", "r1", "r2", "r3", "s"}) {
        const graph::ExprId own = first->graph->node(first->graph->findNode(name)).producer;
        const graph::ExprId other = second->graph->node(second->graph->findNode(name)).producer;
        QVERIFY2(pairs.counterpart(own) == other, name);
    }
}

/// A group normalisation that one file writes in other operators: what is paired has the same elements, no weight those
/// of a bias.
void TestParameterPairs::exportsPairWhatHasTheSameElements() {
    const std::string base = SONDE_TEST_DATA "/models/nested_containers";
    const auto exported = document::open(base + ".onnx", {}), archive = document::open(base + ".trace.pt", {});
    QVERIFY(exported && archive);
    const ParameterDiff diff = differ(**exported, **archive);
    for (const session::ParameterChange& change : diff.changed) {
        QVERIFY2(change.maxAbs && *change.maxAbs < 1e-4, (change.name + ' ' + change.otherName).c_str());
    }
    QVERIFY(diff.equal > 0);
}

QTEST_GUILESS_MAIN(TestParameterPairs)

}  // namespace tst_parameter_pairs

#include "tst_parameter_pairs.moc"
