// Two exports of one network differ in what the exporter computed once: one file stores what the other computes of
// stored values in each run. That is no difference, nor is an attribute that is set to its default; what the values are
// still is. Operators of other names between an ONNX file and an archive are held against each other alone.

#include <QtTest>

#include <cmath>
#include <cstring>

#include "core/session/diff/model_diff.h"
#include "tests/support/renamed_onnx.h"
#include "tests/support/written_models.h"

namespace tst_folded_exports {

using namespace sonde;
using namespace sonde::test::onnxfile;
using session::ModelDiff;
using test::openedModel;

namespace {

constexpr int kFloatType = 1, kIntType = 7;

std::string numbers(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    return rawTensor(name, kFloatType, dims,
                     std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}
std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
    return rawTensor(name, kIntType, {static_cast<std::int64_t>(values.size())},
                     std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t)));
}

const std::vector<float> kTurned{1, 4, 7, 2, 5, 8};  ///< [2,3]
const std::vector<float> kWeight{1, 2, 4, 5, 7, 8};  ///< [3,2]: the same, transposed

/// y = relu(reshape(x)·W + b). Not folded: W is a transposition, the sizes are put together of parts, b is a copy.
Graph network(bool isFolded, const std::vector<float>& weight = {}, const std::vector<float>& bias = {0.5F, -1, 2}) {
    Graph graph{.nodes = {},
                .inputs = {valueInfo("x", kFloatType, {4, 1, 2})},
                .outputs = {valueInfo("y", kFloatType, {4, 3})}};
    if (isFolded) {
        graph.initializers = {numbers("turned", {2, 3}, weight.empty() ? kTurned : weight), integers("sizes", {4, 2}),
                              numbers("b", {3}, bias)};
        graph.nodes = {{"Reshape", {"x", "sizes"}, {"flat"}},
                       {"MatMul", {"flat", "turned"}, {"product"}},
                       {"Add", {"product", "b"}, {"sum"}}};
    } else {
        graph.initializers = {numbers("w", {3, 2}, weight.empty() ? kWeight : weight), integers("four", {4}),
                              integers("two", {2}), numbers("b", {3}, bias)};
        graph.nodes = {{"Concat", {"four", "two"}, {"sizes"}, "", "", {intAttribute("axis", 0)}},
                       {"Reshape", {"x", "sizes"}, {"flat"}, "", "", {intAttribute("allowzero", 0)}},
                       {"Transpose", {"w"}, {"turned"}, "", "", {intsAttribute("perm", {1, 0})}},
                       {"MatMul", {"flat", "turned"}, {"product"}},
                       {"Identity", {"b"}, {"copy"}},
                       {"Add", {"product", "copy"}, {"sum"}}};
    }
    graph.nodes.push_back({"Relu", {"sum"}, {"y"}});
    return graph;
}

/// An initializer with another second element.
std::string withOtherElement(const std::string& model, const std::string& name, float added) {
    constexpr unsigned kGraph = 7, kInitializer = 5, kName = 8, kRawData = 9;
    const auto changed = [&](std::string_view tensor, std::string& to) {
        bool isMeant = false;
        to = test::RenamedOnnx::rewritten(tensor, [&](unsigned tag, std::string_view field, std::string& bytes) {
            isMeant = isMeant || (tag == kName && field == name);
            if (tag != kRawData) return false;
            bytes = field;
            float number = 0;
            std::memcpy(&number, bytes.data() + sizeof number, sizeof number);
            number += added;
            std::memcpy(bytes.data() + sizeof number, &number, sizeof number);
            return true;
        });
        return isMeant;
    };
    return test::RenamedOnnx::rewritten(model, [&](unsigned tag, std::string_view graph, std::string& to) {
        if (tag != kGraph) return false;
        to = test::RenamedOnnx::rewritten(graph, [&](unsigned inner, std::string_view field, std::string& bytes) {
            return inner == kInitializer && changed(field, bytes);
        });
        return true;
    });
}

}  // namespace

class TestFoldedExports : public QObject {
    Q_OBJECT

  private slots:
    void whatIsComputedOfStoredValuesIsNoDifference();
    void otherStoredValuesAreTold();
    void defaultsAreNotSet();
    void attributesAreInputsOfOtherOpsets();
    void otherOperatorsForOneFunction();
    void plantedInOtherOperators_data();
    void plantedInOtherOperators();
    void littleChangesAreTold();
    void notRunIsSaid();

  private:
    ModelDiff diffOf(const document::Document& a, const document::Document& b) {
        auto diff = session::modelDiff(a, b);
        if (!diff) qFatal("%s", diff.error().text().c_str());
        return std::move(*diff);
    }
    std::shared_ptr<const document::Document> open(const Graph& graph, std::int64_t version = 16,
                                                   bool isRenamed = false) {
        const std::string bytes = model(graph, {}, {opset("", version)});
        return m_models.open(isRenamed ? test::RenamedOnnx::of(bytes) : bytes);
    }

    test::WrittenModels m_models;
};

/// Transpose, Concat and Identity of stored values, whatever the nodes are called, in either order.
void TestFoldedExports::whatIsComputedOfStoredValuesIsNoDifference() {
    const auto folded = open(network(true));
    for (const bool isRenamed : {false, true}) {
        const auto computed = open(network(false), 16, isRenamed);
        for (const bool isTurned : {false, true}) {
            const document::Document &a = isTurned ? *computed : *folded, &b = isTurned ? *folded : *computed;
            const ModelDiff diff = diffOf(a, b);
            const std::string text = session::modelDiffText(a, b, diff);
            QVERIFY2(diff.isEqual(), text.c_str());
            QCOMPARE(diff.structure.matched(), 1.0);
            QCOMPARE(diff.structure.matchedByConstants, std::size_t{3});
            QVERIFY2(text.find("3 of these compute what the other model stores") != std::string::npos, text.c_str());
        }
    }
}

void TestFoldedExports::otherStoredValuesAreTold() {
    const auto folded = open(network(true));
    std::vector<float> weight = kWeight;
    weight[3] += 0.25F;
    const ModelDiff other = diffOf(*folded, *open(network(false, weight), 16, true));
    QCOMPARE(other.parameters.changed.size(), std::size_t{1});
    QCOMPARE(other.parameters.changed.front().maxAbs.value_or(0), 0.25);
    const ModelDiff shifted = diffOf(*folded, *open(network(false, {}, {0.5F, -1, 2.5F}), 16, true));
    QCOMPARE(shifted.parameters.changed.size(), std::size_t{1});
    QCOMPARE(shifted.parameters.changed.front().maxAbs.value_or(0), 0.5);
    // Not transposed at all, other sizes.
    Graph square = network(false);
    square.nodes[2].attributes = {intsAttribute("perm", {0, 1})};
    QVERIFY(!diffOf(*folded, *open(square, 16, true)).isEqual());
    Graph turned = network(false);
    turned.nodes[0].inputs = {"two", "four"};
    QVERIFY(!diffOf(*folded, *open(turned, 16, true)).isEqual());
}

/// Conv, AveragePool, Transpose: the defaults of the specification, by hand.
void TestFoldedExports::defaultsAreNotSet() {
    const auto convolved = [this](const std::vector<std::string>& attributes, const std::vector<std::string>& perm) {
        Graph graph{.nodes = {},
                    .inputs = {valueInfo("x", kFloatType, {1, 1, 4, 4})},
                    .outputs = {valueInfo("y", kFloatType, {3, 3, 1, 1})}};
        graph.initializers = {numbers("w", {1, 1, 2, 2}, {1, 2, 3, 4})};
        graph.nodes = {{"Conv", {"x", "w"}, {"c"}, "", "", attributes}, {"Transpose", {"c"}, {"y"}, "", "", perm}};
        return open(graph);
    };
    const auto plain = convolved({}, {});
    const auto told =
        convolved({intsAttribute("strides", {1, 1}), intsAttribute("dilations", {1, 1}), intAttribute("group", 1),
                   intsAttribute("pads", {0, 0, 0, 0}), intsAttribute("kernel_shape", {2, 2})},
                  {intsAttribute("perm", {3, 2, 1, 0})});
    const ModelDiff same = diffOf(*plain, *told);
    QVERIFY2(same.isEqual(), session::modelDiffText(*plain, *told, same).c_str());
    QVERIFY(diffOf(*told, *plain).isEqual());
    for (const auto& other :
         {convolved({intsAttribute("strides", {1, 2})}, {}), convolved({intsAttribute("pads", {0, 1, 0, 0})}, {}),
          convolved({}, {intsAttribute("perm", {2, 3, 1, 0})})})
        QVERIFY(!diffOf(*plain, *other).structure.changed.empty());
}

/// Squeeze and Clip of opset 10, and of 13.
void TestFoldedExports::attributesAreInputsOfOtherOpsets() {
    const auto old = [this](std::int64_t axis) {
        Graph graph{.nodes = {},
                    .inputs = {valueInfo("x", kFloatType, {1, 4, 1})},
                    .outputs = {valueInfo("y", kFloatType, {4, 1})}};
        graph.nodes = {{"Squeeze", {"x"}, {"y"}, "", "", {intsAttribute("axes", {axis})}}};
        return open(graph, 10);
    };
    Graph graph{.nodes = {},
                .inputs = {valueInfo("x", kFloatType, {1, 4, 1})},
                .outputs = {valueInfo("y", kFloatType, {4, 1})}};
    graph.initializers = {integers("axes", {0})};
    graph.nodes = {{"Squeeze", {"x", "axes"}, {"y"}}};
    const auto recent = open(graph, 13);
    const ModelDiff same = diffOf(*old(0), *recent);
    QVERIFY2(same.structure.isEqual(), session::modelDiffText(*old(0), *recent, same).c_str());
    QVERIFY(!diffOf(*old(2), *recent).structure.isEqual());
}

/// InstanceNormalization, Slice, ReduceL2, Split, Mul and Add for instance_norm, flip, norm, unbind, addcmul.
void TestFoldedExports::otherOperatorsForOneFunction() {
    const std::string folder = SONDE_TEST_DATA "/forms/";
    const std::string bytes = test::bytesOfFile(folder + "forms.onnx");
    const auto archive = openedModel(folder + "forms.trace.pt");
    for (const std::string& each : {bytes, test::RenamedOnnx::of(bytes)}) {
        const auto exported = m_models.open(each);
        for (const bool isTurned : {false, true}) {
            const document::Document &a = isTurned ? *archive : *exported, &b = isTurned ? *exported : *archive;
            const ModelDiff diff = diffOf(a, b);
            QVERIFY2(diff.isEqual(), session::modelDiffText(a, b, diff).c_str());
            QCOMPARE(diff.structure.matched(), 1.0);
        }
    }
}

void TestFoldedExports::plantedInOtherOperators_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    const auto floats = [](float number) { return QByteArray(reinterpret_cast<const char*>(&number), sizeof number); };
    QTest::newRow("epsilon") << QByteArray("epsilon\x15") + floats(1e-5F) << QByteArray("epsilon\x15") + floats(1e-3F);
    QTest::newRow("a factor") << floats(0.5F) << floats(0.625F);
    QTest::newRow("kind of norm") << QByteArray(
                                         "\"\x08"
                                         "ReduceL2")
                                  << QByteArray(
                                         "\"\x08"
                                         "ReduceL1");
    QTest::newRow("another function") << QByteArray(
                                             "\"\x04"
                                             "Tanh")
                                      << QByteArray(
                                             "\"\x04"
                                             "Sinh");
}

void TestFoldedExports::plantedInOtherOperators() {
    QFETCH(const QByteArray, from);
    QFETCH(const QByteArray, to);
    const std::string folder = SONDE_TEST_DATA "/forms/";
    QByteArray bytes = QByteArray::fromStdString(test::bytesOfFile(folder + "forms.onnx"));
    const qsizetype at = bytes.indexOf(from);
    QVERIFY(at > 0 && from.size() == to.size());
    bytes.replace(at, from.size(), to);
    const auto archive = openedModel(folder + "forms.trace.pt");
    for (const std::string& each : {bytes.toStdString(), test::RenamedOnnx::of(bytes.toStdString())})
        QVERIFY(!diffOf(*m_models.open(each), *archive).isEqual());
}

/// The factor of addcmul, on which the results hardly depend: a parameter has changed, no form.
void TestFoldedExports::littleChangesAreTold() {
    const std::string folder = SONDE_TEST_DATA "/forms/";
    const auto archive = openedModel(folder + "forms.trace.pt");
    const std::string planted = withOtherElement(test::bytesOfFile(folder + "forms.onnx"), "scale", 1e-5F);
    for (const std::string& each : {planted, test::RenamedOnnx::of(planted)}) {
        const auto exported = m_models.open(each);
        const ModelDiff diff = diffOf(*exported, *archive);
        QVERIFY(diff.runs.haveSameResults());
        QCOMPARE(diff.parameters.changed.size(), std::size_t{1});
        QCOMPARE(archive->graph->node(diff.parameters.changed.front().b).name, std::string("scale"));
        QVERIFY(std::abs(diff.parameters.changed.front().maxAbs.value_or(0) - 1e-5) < 1e-7);
    }
}

/// Of files that do not say all, a run that came to no end is no proof.
void TestFoldedExports::notRunIsSaid() {
    const std::string folder = SONDE_TEST_DATA "/forms/";
    const auto exported = openedModel(folder + "forms.onnx"), archive = openedModel(folder + "forms.trace.pt");
    ModelDiff diff = diffOf(*exported, *archive);
    QVERIFY(session::modelDiffText(*exported, *archive, diff).find("no difference in structure") != std::string::npos);
    diff.runs.runs = 0;
    diff.runs.note = "neither model runs on them";
    const std::string text = session::modelDiffText(*exported, *archive, diff);
    QVERIFY2(text.find("no difference in structure") == std::string::npos, text.c_str());
    QVERIFY2(text.find("nor by running the models") != std::string::npos, text.c_str());
}

QTEST_APPLESS_MAIN(TestFoldedExports)

}  // namespace tst_folded_exports

#include "tst_folded_exports.moc"
