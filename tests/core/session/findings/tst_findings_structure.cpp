// What is found by how a network is written, and what looks like a fault and is none.

#include <QtTest>

#include <cmath>

#include "core/session/findings/find_findings.h"
#include "tests/support/finding_networks.h"
#include "tests/support/written_models.h"

namespace tst_findings_structure {

using namespace sonde;
using namespace test::findingnetworks;
using session::FindingReport;
using session::ReportedFinding;
using tensor::Tensor;
using tensor::Value;

class TestFindingsStructure : public QObject {
    Q_OBJECT

  private slots:
    void defaultsOfInputsAreNotSurelyFoldable();
    void resultsAreNotUnused();
    void secondTranspositionsAreUndone();
    void duplicatesMayBeSpelledOtherwise_data();
    void duplicatesMayBeSpelledOtherwise();
    void clippedWeightsAreFound_data();
    void clippedWeightsAreFound();
    void addressesAndSharesArePrivate_data();
    void addressesAndSharesArePrivate();
    void namesOfModulesAreNoPaths();
    void masksAreNoBadWeights();
    void orderBlindModelsAreNotConstant();
    void batchesInAnotherDimensionAreTold();
    void filtersOfGemmAreItsColumns();
    void filtersAreSeenThroughCasts();

  private:
    FindingReport reportOf(const std::string& model, const std::vector<std::vector<float>>& cases = {}) {
        const auto document = m_models.open(model);
        session::FindingRequest request;
        for (const std::vector<float>& one : cases) {
            const auto shape = document->graph->node(document->graph->inputs().front()).type.shape;
            std::vector<std::int64_t> dims;
            for (const tensor::Dim& dim : *shape) dims.push_back(dim.known() ? dim.value : 1);
            Tensor x = Tensor::allocate(tensor::DType::Float32, tensor::Shape(dims)).value();
            std::ranges::copy(one, x.mutableData<float>());
            request.cases.push_back({Value(x)});
        }
        session::ModelInfoRequest about;
        about.hashes = false;
        const auto info = session::modelInfo(*document, about);
        if (!info) qFatal("%s", info.error().text().c_str());
        auto report = session::findFindings(*document, *info, request);
        if (!report) qFatal("%s", report.error().text().c_str());
        return *report;
    }
    static std::vector<ReportedFinding> found(const FindingReport& report, std::string_view id) {
        std::vector<ReportedFinding> all;
        for (const ReportedFinding& each : report.findings)
            if (each.finding.id == id) all.push_back(each);
        return all;
    }

    test::WrittenModels m_models;
};

/// Since IR version 4 an initializer that is an input too is a default (ONNX specification, graphs): whoever runs the
/// model may give another value. Before, each initializer had to be listed.
void TestFindingsStructure::defaultsOfInputsAreNotSurelyFoldable() {
    using analysis::Confidence;
    const auto confidence = [this](bool isInput, std::int64_t irVersion) {
        std::string graph = Graph{.nodes = {{"Mul", {"w", "w"}, {"a"}}, {"Add", {"x", "a"}, {"y"}}},
                                  .inputs = {valueInfo("x", kFloat, {2, 8})},
                                  .outputs = {valueInfo("y", kFloat, {2, 8})},
                                  .initializers = {floats("w", {2, 8}, varied({2, 8}))}}
                                .bytes();
        if (isInput) protozero::pbf_writer(graph).add_message(11, valueInfo("w", kFloat, {2, 8}));
        std::string bytes;
        protozero::pbf_writer writer(bytes);
        writer.add_int64(1, irVersion);
        writer.add_message(7, graph);
        writer.add_message(8, opset("", 13));
        const auto all = found(reportOf(bytes), "foldable-constant");
        return all.size() == 1 ? std::optional(all.front().finding.confidence) : std::nullopt;
    };
    QVERIFY(confidence(false, 8) == Confidence::High);
    QVERIFY(confidence(true, 8) == Confidence::Low);
    QVERIFY(confidence(true, 3) == Confidence::High);
}

/// A stored tensor that the model returns, and one that nothing reads.
void TestFindingsStructure::resultsAreNotUnused() {
    const FindingReport report =
        reportOf(model({.nodes = {{"Relu", {"x"}, {"y"}}},
                        .inputs = {valueInfo("x", kFloat, {4})},
                        .outputs = {valueInfo("y", kFloat, {4}), valueInfo("w", kFloat, {4})},
                        .initializers = {floats("w", {4}, varied({4})), floats("left", {4}, varied({4}))}}));
    const auto all = found(report, "unused-parameter");
    QCOMPARE(all.size(), std::size_t{1});
    QCOMPARE(analysis::namesOf(*report.graph, all.front().finding), std::vector<std::string>{"left"});
}

/// The first one stays for its other reader.
void TestFindingsStructure::secondTranspositionsAreUndone() {
    const auto turned = [](const char* to, const char* from, Dims perm) {
        return Node{"Transpose", {from}, {to}, "", "", {intsAttribute("perm", perm)}};
    };
    const auto advice = [&](std::vector<Node> nodes, const std::string& second, const Dims& y = {2, 1, 5, 6}) {
        const auto all =
            found(reportOf(model({.nodes = std::move(nodes),
                                  .inputs = {valueInfo("x", kFloat, {2, 1, 5, 6})},
                                  .outputs = {valueInfo("y", kFloat, y), valueInfo(second, kFloat, {2, 5, 6, 1})}})),
                  "redundant-transpose");
        return all.empty() ? std::string() : all.front().finding.advice;
    };
    const Node first = turned("a", "x", {0, 2, 3, 1}), back = turned("b", "a", {0, 3, 1, 2});
    QCOMPARE(advice({first, back, {"Relu", {"b"}, {"y"}}, {"Sigmoid", {"a"}, {"z"}}}, "z"),
             std::string("read x instead of the second"));
    QCOMPARE(advice({first, turned("y", "a", {0, 3, 1, 2})}, "a"), std::string("read x instead of the second"));
    // Of what is between there would be two.
    QCOMPARE(advice({first, {"Relu", {"a"}, {"r"}}, turned("y", "r", {0, 3, 1, 2}), {"Exp", {"r"}, {"z"}}}, "z"),
             std::string());
    // Two that are needed, and neither undoes the other.
    QCOMPARE(advice({first, turned("y", "a", {0, 3, 2, 1}), {"Exp", {"a"}, {"z"}}}, "z", {2, 1, 6, 5}), std::string());
}

void TestFindingsStructure::duplicatesMayBeSpelledOtherwise_data() {
    QTest::addColumn<QByteArray>("model");
    QTest::addColumn<bool>("isFound");
    const auto add = [](const char* name, const Node& a, const Node& b, bool isFound, std::int64_t version = 13) {
        QTest::addRow("%s", name) << QByteArray::fromStdString(chain(
                                         {a, b, {"Sub", {"a", "b"}, {"y"}}}, {2, 64}, {2, 64},
                                         {floats("w", {64, 64}, varied({64, 64})), floats("v", {64}, varied({64}))},
                                         version))
                                  << isFound;
    };
    const auto softmax = [](const char* to, std::optional<int> axis) {
        return Node{"Softmax", {"x"}, {to},
                    "",        "",    axis ? std::vector{intAttribute("axis", *axis)} : std::vector<std::string>()};
    };
    add("axis from the end", softmax("a", 1), softmax("b", -1), true);
    add("axis by default", softmax("a", 1), softmax("b", {}), true);
    add("another axis", softmax("a", 1), softmax("b", 0), false);
    const auto gemm = [](const char* to, std::optional<float> alpha) {
        return Node{"Gemm", {"x", "w"},
                    {to},   "",
                    "",     alpha ? std::vector{floatAttribute("alpha", *alpha)} : std::vector<std::string>()};
    };
    add("alpha by default", gemm("a", 1), gemm("b", {}), true);
    add("another alpha", gemm("a", 2), gemm("b", {}), false);
    add("a + b", {"Add", {"x", "v"}, {"a"}}, {"Add", {"v", "x"}, {"b"}}, true);
    add("a - b", {"Sub", {"x", "v"}, {"a"}}, {"Sub", {"v", "x"}, {"b"}}, false);
    add("another opset", {"Elu", {"x"}, {"a"}, "", "", {floatAttribute("alpha", 1)}}, {"Elu", {"x"}, {"b"}}, true, 9);
}

void TestFindingsStructure::duplicatesMayBeSpelledOtherwise() {
    QFETCH(QByteArray, model);
    QFETCH(bool, isFound);
    const auto all = found(reportOf(model.toStdString()), "duplicate-subgraph");
    QCOMPARE(all.size(), std::size_t{isFound ? 1U : 0U});
    // The pass does not merge these.
    if (isFound) QVERIFY(all.front().finding.advice.find("--pass") == std::string::npos);
}

void TestFindingsStructure::clippedWeightsAreFound_data() {
    QTest::addColumn<QByteArray>("model");
    QTest::addColumn<bool>("isFound");
    const auto add = [](const char* name, const std::function<int(int)>& at, std::int64_t scales, bool isFound) {
        std::string raw(64 * 64, '\0');
        for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<char>(at(static_cast<int>(i)));
        const Dims dims = scales == 1 ? Dims{} : Dims{scales};
        QTest::addRow("%s", name) << QByteArray::fromStdString(chain(
                                         {{"DequantizeLinear", {"q", "s"}, {"w"}, "", "", {intAttribute("axis", 0)}},
                                          {"MatMul", {"x", "w"}, {"y"}}},
                                         {1, 64}, {1, 64},
                                         {rawTensor("q", 3, {64, 64}, raw), floats("s", dims, filled(dims, 0.01F))}))
                                  << isFound;
    };
    const auto spread = [](int i) { return i * 37 % 201 - 100; };
    add(
        "two of five at the end", [&](int i) { return i % 5 < 2 ? 127 : spread(i); }, 1, true);
    add(
        "at both ends of a symmetric range", [&](int i) { return i % 20 == 0   ? 127
                                                                 : i % 20 == 7 ? -127
                                                                               : spread(i); },
        1, true);
    add("none", spread, 1, false);
    // One of 64 elements of each scale is the largest one, and 3 of 64 are more than that by 3 %.
    add(
        "the one that sets each scale", [&](int i) { return i % 64 == i / 64 ? 127 : spread(i); }, 64, false);
    add(
        "one more for each scale", [&](int i) { return i % 64 < 5 ? 127 : spread(i); }, 64, true);
    add(
        "three values", [](int i) { return (i % 3 - 1) * 127; }, 1, false);
}

void TestFindingsStructure::clippedWeightsAreFound() {
    QFETCH(QByteArray, model);
    QFETCH(bool, isFound);
    QCOMPARE(found(reportOf(model.toStdString()), "quantization-clipping").size(), std::size_t{isFound ? 1U : 0U});
}

void TestFindingsStructure::addressesAndSharesArePrivate_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<int>("count");
    QTest::newRow("in a key") << "anna@x.org"
                              << "1" << 1;
    QTest::newRow("of another alphabet") << "author" << QStringLiteral("Anna Müller <anna.müller@exämple.de>") << 1;
    QTest::newRow("Cyrillic") << "author" << QStringLiteral("иван@пример.рф") << 1;
    QTest::newRow("before a colon") << "k"
                                    << "anna@x.org: by mail" << 1;
    QTest::newRow("a repository") << "k"
                                  << "git@github.com:foo/bar.git" << 0;
    QTest::newRow("a repository by its address") << "k"
                                                 << "ssh://git@github.com/foo/bar.git" << 0;
    QTest::newRow("a share of a server") << "k" << QStringLiteral("\\\\fileserver\\share\\mueller") << 1;
    QTest::newRow("a pattern") << "k" << QStringLiteral("\\\\d+\\\\w \\\\ab") << 0;
    QTest::newRow("a version") << "k"
                               << "lr=0.1@epoch.5" << 0;
}

void TestFindingsStructure::addressesAndSharesArePrivate() {
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(int, count);
    const std::string plain = chain({{"Relu", {"x"}, {"y"}}}, {1, 4}, {1, 4});
    const FindingReport report = reportOf(withMetadata(plain, {{key.toStdString(), value.toStdString()}}));
    QCOMPARE(static_cast<int>(found(report, "private-metadata").size()), count);
}

/// PyTorch's exporter names operations by modules, which may be called home.
void TestFindingsStructure::namesOfModulesAreNoPaths() {
    const auto count = [this](const char* name, const char* value) {
        const std::string bytes = chain({{"Relu", {"x"}, {value}, name}, {"Exp", {value}, {"y"}}}, {1, 4}, {1, 4});
        return found(reportOf(bytes), "private-metadata").size();
    };
    QCOMPARE(count("/home/Relu", "/home/Relu_output_0"), std::size_t{0});
    QCOMPARE(count("/Users/blocks/blocks.0/Relu_1", "/Users/blocks/blocks.0/Relu_1_output_0"), std::size_t{0});
    QCOMPARE(count("/home/anna/model.py:12/Relu", "r"), std::size_t{1});
    QCOMPARE(count("/home/anna/model", "r"), std::size_t{1});
}

/// Scores with −∞ above the diagonal, as nn.Transformer.generate_square_subsequent_mask has it.
void TestFindingsStructure::masksAreNoBadWeights() {
    const auto ids = [this](float kept, float out, const char* last) {
        Floats mask(16);
        for (std::size_t i = 0; i < 16; ++i) mask[i] = i % 4 > i / 4 ? out : kept;
        const FindingReport report = reportOf(chain({{"Add", {"x", "mask"}, {"s"}},
                                                     {"Cast", {"s"}, {"c"}, "", "", {intAttribute("to", 1)}},
                                                     {last, {"c"}, {"y"}}},
                                                    {1, 4, 4}, {1, 4, 4}, {floats("mask", {4, 4}, mask)}),
                                              {varied({16})});
        QStringList all;
        for (const ReportedFinding& each : report.findings)
            if (each.finding.id == "bad-weight" || each.finding.id == "inf" || each.finding.id == "nan")
                all << QString::fromStdString(each.finding.id);
        return all;
    };
    QCOMPARE(ids(0, -INFINITY, "Softmax"), QStringList());
    QCOMPARE(ids(0, INFINITY, "Softmax").isEmpty(), false);
    QCOMPARE(ids(0, NAN, "Softmax").isEmpty(), false);
    QCOMPARE(ids(0, -INFINITY, "Tanh").isEmpty(), false);
}

/// A mean, a largest element: in another order the elements have the same ones.
void TestFindingsStructure::orderBlindModelsAreNotConstant() {
    for (const char* op : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare"}) {
        const std::string bytes =
            chain({{op, {"x"}, {"y"}, "", "", {intsAttribute("axes", {1}), intAttribute("keepdims", 1)}}}, {-1, 16},
                  {-1, 1}, {}, 11);
        QVERIFY2(found(reportOf(bytes, {varied({16})}), "constant-output").empty(), op);
        QVERIFY2(found(reportOf(bytes, {varied({16}), varied({16}, 2)}), "constant-output").empty(), op);
        QVERIFY2(found(reportOf(bytes, {varied({16})}), "batch-dependent").empty(), op);
    }
}

/// [N,8] becomes [1,8·N].
void TestFindingsStructure::batchesInAnotherDimensionAreTold() {
    const auto count = [this](std::vector<std::int64_t> shape, const Dims& y) {
        const std::string bytes = chain({{"Relu", {"x"}, {"r"}}, {"Reshape", {"r", "shape"}, {"y"}}}, {-1, 8}, y,
                                        {longs("shape", {2}, shape)});
        return found(reportOf(bytes, {varied({8})}), "batch-dependent").size();
    };
    QCOMPARE(count({1, -1}, {1, -1}), std::size_t{1});
    QCOMPARE(count({-1, 8}, {-1, 8}), std::size_t{0});
    QCOMPARE(count({-1, 4}, {-1, 4}), std::size_t{0});
}

/// Without transB the weight is [features, filters].
void TestFindingsStructure::filtersOfGemmAreItsColumns() {
    const auto count = [this](bool isTurned, const char* id) {
        Floats w = varied({5, 5});
        for (std::size_t i = 0; i < 5; ++i) {
            w[i * 5 + 3] = 0;             // column 3
            w[i * 5 + 2] = w[i * 5 + 1];  // column 2 as column 1
        }
        const std::string bytes =
            chain({{"Gemm", {"x", "w"}, {"y"}, "", "", {intAttribute("transB", isTurned ? 1 : 0)}}}, {1, 5}, {1, 5},
                  {floats("w", {5, 5}, w)});
        return found(reportOf(bytes), id).size();
    };
    QCOMPARE(count(false, "zero-filter"), std::size_t{1});
    QCOMPARE(count(false, "duplicate-filter"), std::size_t{1});
    QCOMPARE(count(true, "zero-filter"), std::size_t{0});
    QCOMPARE(count(true, "duplicate-filter"), std::size_t{0});
}

/// Weights of another type are the layer's all the same.
void TestFindingsStructure::filtersAreSeenThroughCasts() {
    Floats w = varied({5, 5});
    for (std::size_t i = 0; i < 5; ++i) {
        w[i * 5 + 3] = 0;
        w[i * 5 + 2] = w[i * 5 + 1];
    }
    const std::vector<double> wide(w.begin(), w.end());
    constexpr int kFloatType = 1, kDoubleType = 11;
    const std::string bytes = chain(
        {{"Cast", {"w"}, {"c"}, "", "", {intAttribute("to", kFloatType)}}, {"Gemm", {"x", "c"}, {"y"}}}, {1, 5}, {1, 5},
        {rawTensor("w", kDoubleType, {5, 5},
                   {reinterpret_cast<const char*>(wide.data()), wide.size() * sizeof(double)})});
    QCOMPARE(found(reportOf(bytes), "zero-filter").size(), std::size_t{1});
    QCOMPARE(found(reportOf(bytes), "duplicate-filter").size(), std::size_t{1});
}

QTEST_APPLESS_MAIN(TestFindingsStructure)

}  // namespace tst_findings_structure

#include "tst_findings_structure.moc"
