// Each finding is found where it was planted in a generated network, and not in the same network without it.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <set>

#include "core/analysis/findings/checker.h"
#include "core/analysis/findings/written_values.h"
#include "core/document/document.h"
#include "core/session/findings/find_findings.h"
#include "core/session/read_inputs.h"
#include "tests/core/passes/graph_maker.h"
#include "tests/support/finding_networks.h"
#include "tests/support/script_archive.h"
#include "tests/support/written_models.h"

namespace tst_findings {

using namespace sonde;
using session::Acceptance;
using session::FindingReport;
using test::FindingNetwork;

class TestFindings : public QObject {
    Q_OBJECT

  private slots:
    void plantedOnesAreFound_data();
    void plantedOnesAreFound();
    void everyIdIsPlanted();
    void idsAreSorted();
    void withoutARunValuesAreNotChecked();
    void failedRunsAreNotChecked();
    void docStringsArePrivateToo();
    void transpositionsBehindUnknownOperatorsAreFound();
    void stepsThatAreResultsStay();
    void transpositionsAroundSingleElementsAreFound();
    void fewSamplesAreTold();
    void saturatedOutputsAreTold();
    void infiniteWeightsHaveNoScale();
    void emptyTensorsAreNoFinding();
    void whatIsAcceptedHasAReason();
    void acceptedNodesMustBeAll();
    void ordinaryModelsHaveNone();
    void jsonHasThePublishedKeys();
    void writesMakeReadsDiffer();
    void droppingNothingIsTheValueItself();
    void layersWithDropoutInsideTrain();
    void equalOnesAreOneGroup();
    void deadUnitsOfOneInputAreUnsure();
    void takingBackSplitsAcceptances();
    void manyAreCounted();
    void largeGraphsTakeBoundedTime();

  private:
    std::shared_ptr<const document::Document> open(const std::string& bytes) { return m_models.open(bytes); }
    static FindingReport reportOf(const document::Document& document, bool isRun = true,
                                  std::vector<Acceptance> accepted = {}) {
        session::FindingRequest request;
        request.acceptances = std::move(accepted);
        if (isRun) {
            const auto cases = session::readCases(document, {});
            if (!cases) qFatal("%s", cases.error().text().c_str());
            for (const io::InputCase& one : *cases) request.cases.push_back(one.values);
        }
        session::ModelInfoRequest about;
        about.hashes = false;
        const auto info = session::modelInfo(document, about);
        if (!info) qFatal("%s", info.error().text().c_str());
        auto report = session::findFindings(document, *info, request);
        if (!report) qFatal("%s", report.error().text().c_str());
        return *report;
    }
    /// "NODE, NODE" of each finding of the id.
    static QStringList placesOf(const FindingReport& report, std::string_view id) {
        QStringList places;
        for (const auto& each : report.findings) {
            if (each.finding.id != id) continue;
            QStringList names;
            for (const std::string& name : analysis::namesOf(*report.graph, each.finding))
                names << QString::fromStdString(name);
            places << names.join(QStringLiteral(", "));
        }
        return places;
    }
    static FindingNetwork network(std::string_view id) {
        for (const FindingNetwork& each : test::findingNetworks())
            if (id == each.id) return each;
        qFatal("no network for the id");
    }

    test::WrittenModels m_models;
};

void TestFindings::plantedOnesAreFound_data() {
    QTest::addColumn<int>("index");
    const auto networks = test::findingNetworks();
    for (std::size_t i = 0; i < networks.size(); ++i)
        QTest::addRow("%s: %s", networks[i].id, networks[i].what) << static_cast<int>(i);
}

void TestFindings::plantedOnesAreFound() {
    QFETCH(int, index);
    const FindingNetwork planted = test::findingNetworks()[static_cast<std::size_t>(index)];
    const FindingReport faulty = reportOf(*open(planted.model(true))), clean = reportOf(*open(planted.model(false)));
    const QStringList places = placesOf(faulty, planted.id);
    QVERIFY2(!places.isEmpty(), faulty.text().c_str());
    if (*planted.node != '\0') {
        const QString names = QStringLiteral(", ") + places.join(QStringLiteral(", ")) + u',';
        QVERIFY2(names.contains(QStringLiteral(", %1,").arg(QLatin1String(planted.node))), faulty.text().c_str());
    }
    QVERIFY2(placesOf(clean, planted.id).isEmpty(), clean.text().c_str());
    QVERIFY2(clean.count(base::Severity::Error) == 0, clean.text().c_str());
    // Each says why it matters and what to do.
    for (const auto& each : faulty.findings) {
        QVERIFY(!each.finding.message.empty());
        QVERIFY(!each.finding.advice.empty());
    }
}

void TestFindings::everyIdIsPlanted() {
    QVERIFY(test::findingNetworks().size() >= 40);
    std::set<std::string_view> ids, planted;
    for (const analysis::FindingChecker& checker : analysis::findingCheckers()) ids.insert(checker.id);
    for (const FindingNetwork& each : test::findingNetworks()) planted.insert(each.id);
    QVERIFY(ids == planted);
    QCOMPARE(ids.size(), analysis::findingCheckers().size());
}

void TestFindings::idsAreSorted() {
    QVERIFY(std::ranges::is_sorted(analysis::findingCheckers(), {}, &analysis::FindingChecker::id));
    for (const analysis::FindingChecker& checker : analysis::findingCheckers()) {
        QVERIFY(checker.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos);
        QVERIFY(!checker.description.empty());
    }
}

void TestFindings::withoutARunValuesAreNotChecked() {
    const auto document = open(network("nan").model(true));
    const FindingReport report = reportOf(*document, false);
    QVERIFY(placesOf(report, "nan").isEmpty());
    for (const char* id : {"nan", "inf", "dead-unit", "saturation", "batch-dependent"})
        QVERIFY(std::ranges::find(report.notChecked, id) != report.notChecked.end());
    QCOMPARE(report.notes.size(), std::size_t{1});
    QVERIFY(QString::fromStdString(report.notes.front()).contains(u"was not run"));
    // What needs no run is found all the same.
    QCOMPARE(placesOf(reportOf(*open(network("training-mode").model(true)), false), "training-mode"), QStringList{"y"});
}

/// What comes after an operator that cannot be run was not seen: no id that needs a run counts as checked.
void TestFindings::failedRunsAreNotChecked() {
    using namespace test::onnxfile;
    const FindingReport report =
        reportOf(*open(model({.nodes = {{"Relu", {"x"}, {"r"}}, {"Mystery", {"r"}, {"y"}, "", "custom"}},
                              .inputs = {valueInfo("x", 1, {1, 4})},
                              .outputs = {valueInfo("y", 1, {1, 4})}},
                             {}, {opset("", 16), opset("custom", 1)})));
    for (const analysis::FindingChecker& checker : analysis::findingCheckers())
        QCOMPARE(std::ranges::count(report.notChecked, checker.id),
                 checker.need == analysis::FindingNeed::File ? 0 : 1);
    QVERIFY(std::ranges::any_of(report.notes, [](const std::string& note) {
        return note.starts_with("the run failed, and values after that were not checked: ");
    }));
}

/// Of a graph, and of two nodes with the same path, which is told once.
void TestFindings::docStringsArePrivateToo() {
    using namespace test::onnxfile;
    const auto documented = [](const Node& node, const char* text) {
        std::string bytes = node.bytes();
        protozero::pbf_writer(bytes).add_string(6, text);
        return bytes;
    };
    std::string graph =
        Graph{.nodes = {}, .inputs = {valueInfo("x", 1, {4})}, .outputs = {valueInfo("y", 1, {4})}}.bytes();
    {
        protozero::pbf_writer writer(graph);
        std::string stored = rawTensor("w", 1, {1}, std::string(4, '\0'));
        protozero::pbf_writer(stored).add_string(12, "from /home/other/weights.bin");
        writer.add_message(5, stored);
        writer.add_string(10, "made by someone@example.org");
        writer.add_message(1, documented({"Relu", {"x"}, {"r"}, "first"}, "File /home/someone/net.py, line 3"));
        writer.add_message(1, documented({"Exp", {"r"}, {"y"}, "second"}, "File /home/someone/net.py, line 3"));
    }
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_int64(1, 8);
    writer.add_message(7, graph);
    writer.add_message(8, opset("", 16));
    const FindingReport report = reportOf(*open(bytes), false);
    QCOMPARE(placesOf(report, "private-metadata"),
             (QStringList{"the doc string of graph", "the doc string of initializer 'w'",
                          "the doc string of node 'first'"}));
}

/// Of a result of an operator that nobody knows not even the rank is known: what the transpositions say is enough.
void TestFindings::transpositionsBehindUnknownOperatorsAreFound() {
    using namespace test::onnxfile;
    const auto places = [this](std::vector<Node> turned) {
        turned.insert(turned.begin(), Node{"Mystery", {"x"}, {"m"}, "", "com.example"});
        const std::string bytes = model(
            {.nodes = turned, .inputs = {valueInfo("x", 1, {2, 3, 4})}, .outputs = {valueInfo("y", 1, {2, 3, 4})}}, {},
            {opset("", 17), opset("com.example", 1)});
        return placesOf(reportOf(*open(bytes), false), "redundant-transpose");
    };
    const auto turn = [](const char* from, const char* to, std::vector<std::int64_t> order) {
        return Node{"Transpose", {from}, {to}, "", "", {intsAttribute("perm", order)}};
    };
    QCOMPARE(places({turn("m", "t", {0, 2, 1}), turn("t", "y", {0, 2, 1})}).size(), 1);
    QCOMPARE(places({turn("m", "t", {1, 2, 0}), turn("t", "y", {2, 0, 1})}).size(), 1);
    QCOMPARE(places({turn("m", "y", {0, 1, 2})}).size(), 1);
    QCOMPARE(places({turn("m", "y", {0, 2, 1})}), QStringList());
    // All dimensions in reverse, twice.
    QCOMPARE(places({{"Transpose", {"m"}, {"t"}}, {"Transpose", {"t"}, {"y"}}}).size(), 1);
    QCOMPARE(places({{"Transpose", {"m"}, {"t"}}, turn("t", "y", {0, 2, 1})}), QStringList());
}

/// What the model returns is needed whatever undoes it; then one of two can still go.
void TestFindings::stepsThatAreResultsStay() {
    using namespace test::onnxfile;
    const auto findings = [this](std::vector<Node> nodes, int resultType) {
        std::vector<std::string> outputs{valueInfo("y", 1, {2, 2})};
        if (resultType != 0) outputs.push_back(valueInfo("t", resultType, {2, 2}));
        return reportOf(
            *open(model({.nodes = std::move(nodes), .inputs = {valueInfo("x", 1, {2, 2})}, .outputs = outputs})),
            false);
    };
    const std::vector<Node> turns{{"Transpose", {"x"}, {"t"}}, {"Transpose", {"t"}, {"y"}}};
    QCOMPARE(placesOf(findings(turns, 0), "redundant-transpose"), QStringList{"t, y"});
    QCOMPARE(placesOf(findings(turns, 1), "redundant-transpose"), QStringList{"t, y"});
    const std::vector<Node> casts{{"Cast", {"x"}, {"t"}, "", "", {intAttribute("to", 11)}},
                                  {"Cast", {"t"}, {"y"}, "", "", {intAttribute("to", 1)}}};
    for (const bool isResult : {false, true}) {
        const FindingReport report = findings(casts, isResult ? 11 : 0);
        QCOMPARE(placesOf(report, "redundant-cast"), QStringList{"t, y"});
        const auto cast = std::ranges::find(report.findings, std::string_view("redundant-cast"),
                                            [](const auto& each) { return std::string_view(each.finding.id); });
        QCOMPARE(cast->finding.advice, std::string(isResult ? "read x instead of the second" : "remove both"));
    }
}

/// What does the same to each element, wherever it is, may stand between; a softmax or one number for each column may
/// not.
void TestFindings::transpositionsAroundSingleElementsAreFound() {
    using namespace test::onnxfile;
    const auto places = [this](Node between) {
        between.outputs = {"b"};
        const std::vector<std::string> perm{intsAttribute("perm", {0, 2, 1})};
        return placesOf(reportOf(*open(model({.nodes = {{"Transpose", {"x"}, {"t"}, "", "", perm},
                                                        between,
                                                        {"Transpose", {"b"}, {"y"}, "", "", perm}},
                                              .inputs = {valueInfo("x", 1, {2, 3, 4})},
                                              .outputs = {valueInfo("y", 1, {2, 3, 4})},
                                              .initializers = {test::findingnetworks::floats("one", {1}, {2}),
                                                               test::findingnetworks::floats("row", {3}, {1, 2, 3})}})),
                                 false),
                        "redundant-transpose");
    };
    const QStringList found{"t, y"};
    QCOMPARE(places({"Identity", {"t"}, {}}), found);
    QCOMPARE(places({"Tanh", {"t"}, {}}), found);
    QCOMPARE(places({"Add", {"t", "one"}, {}}), found);
    QCOMPARE(places({"Add", {"t", "row"}, {}}), QStringList());
    QCOMPARE(places({"Add", {"t", "t"}, {}}), QStringList());
    QCOMPARE(places({"Softmax", {"t"}, {}}), QStringList());
}

/// Of 16 elements, one of each channel, neither dead units nor saturation are told: that is said, and of which node.
void TestFindings::fewSamplesAreTold() {
    using namespace test::onnxfile;
    const auto notes = [this](std::int64_t rows) {
        const FindingReport report = reportOf(*open(model({.nodes = {{"Relu", {"x"}, {"r"}}, {"Sigmoid", {"r"}, {"y"}}},
                                                           .inputs = {valueInfo("x", 1, {rows, 16})},
                                                           .outputs = {valueInfo("y", 1, {rows, 16})}})));
        QStringList texts;
        for (const std::string& note : report.notes) texts << QString::fromStdString(note);
        return texts.join(u'\n');
    };
    const QString few = notes(1), many = notes(32);
    QVERIFY2(few.contains(u"dead-unit was not looked for in r: fewer than 32 positions of each channel"),
             qPrintable(few));
    QVERIFY2(few.contains(u"saturation was not looked for in y: fewer than 32 elements"), qPrintable(few));
    QVERIFY2(!many.contains(u"was not looked for"), qPrintable(many));
}

/// Clear decisions are no fault of a model's output, but are told.
void TestFindings::saturatedOutputsAreTold() {
    using namespace test::onnxfile;
    const FindingReport report =
        reportOf(*open(model({.nodes = {{"Mul", {"x", "k"}, {"m"}}, {"Sigmoid", {"m"}, {"y"}}},
                              .inputs = {valueInfo("x", 1, {1, 64})},
                              .outputs = {valueInfo("y", 1, {1, 64})},
                              .initializers = {test::findingnetworks::floats("k", {1}, {9000.0F})}})));
    const auto found =
        std::ranges::find_if(report.findings, [](const auto& each) { return each.finding.id == "saturation"; });
    QVERIFY(found != report.findings.end());
    QCOMPARE(found->finding.severity, base::Severity::Info);
    QCOMPARE(placesOf(report, "saturation"), QStringList{"y"});
}

/// Infinity is bad-weight's finding, and says nothing of the scale of others.
void TestFindings::infiniteWeightsHaveNoScale() {
    const FindingReport report = reportOf(*open(network("bad-weight").model(true)), false);
    for (const auto& each : report.findings)
        QVERIFY2(each.finding.id != "weight-scale" || each.finding.message.find("inf") == std::string::npos,
                 each.finding.message.c_str());
}

/// A batch of no samples, and weights without elements: all of their elements are as they should be.
void TestFindings::emptyTensorsAreNoFinding() {
    using namespace test::onnxfile;
    const auto document = open(
        model({.nodes = {{"Concat", {"x", "none"}, {"c"}, "", "", {intAttribute("axis", 0)}}, {"Tanh", {"c"}, {"y"}}},
               .inputs = {valueInfo("x", 1, {0, 3})},
               .outputs = {valueInfo("y", 1, {0, 3})},
               .initializers = {rawTensor("none", 1, {0, 3}, "")}},
              {}, {opset("", 17)}));
    const FindingReport report = reportOf(*document);
    for (const session::ReportedFinding& each : report.findings)
        QFAIL((each.finding.id + ": " + each.finding.message).c_str());
}

/// What looks like a fault and is none, and what follows from another one.
void TestFindings::ordinaryModelsHaveNone() {
    using namespace test::findingnetworks;
    const auto places = [this](const std::string& bytes, std::string_view id) {
        return placesOf(reportOf(*open(bytes)), id);
    };
    // Layers apart by 200, and filters by 1,000, are usual; filters by 100,000 are not.
    std::vector<std::string> weights;
    for (int i = 0; i < 3; ++i)
        weights.push_back(floats("w" + std::to_string(i), {16, 16}, varied({16, 16}, i == 1 ? 100 : 0.5F)));
    const std::string layers =
        chain({{"MatMul", {"x", "w0"}, {"a"}}, {"MatMul", {"a", "w1"}, {"b"}}, {"MatMul", {"b", "w2"}, {"y"}}}, {1, 16},
              {1, 16}, weights);
    QCOMPARE(places(layers, "weight-scale"), QStringList());
    // Of two layers neither is in the middle: both are named.
    const auto two = [](float scale) {
        return chain({{"MatMul", {"x", "w0"}, {"a"}}, {"MatMul", {"a", "w1"}, {"y"}}}, {1, 16}, {1, 16},
                     {floats("w0", {16, 16}, varied({16, 16})), floats("w1", {16, 16}, varied({16, 16}, scale))});
    };
    QCOMPARE(places(two(100), "weight-scale"), QStringList());
    QCOMPARE(places(two(1e4F), "weight-scale"), QStringList{"w0, w1"});
    const auto filters = [](float scale) {
        Floats w = varied({3, 3, 3, 3});
        for (std::size_t i = 0; i < 27; ++i) w[i] *= scale;
        return convolution(w);
    };
    QCOMPARE(places(filters(1e-3F), "weight-scale"), QStringList());
    QCOMPARE(places(filters(1e-5F), "weight-scale"), QStringList{"w"});
    // 16 · 30,000 · x is beyond 65504; its negative is so because of it.
    QCOMPARE(places(chain({{"MatMul", {"x", "w"}, {"m"}}, {"Neg", {"m"}, {"y"}}}, {1, 16}, {1, 16},
                          {floats("w", {16, 16}, filled({16, 16}, 3e4F))}),
                    "float16-overflow"),
             QStringList{"m"});
}

void TestFindings::whatIsAcceptedHasAReason() {
    const auto document = open(network("bad-weight").model(true));
    QVERIFY(reportOf(*document).count(base::Severity::Error) > 0);
    const FindingReport report = reportOf(
        *document, false, {{"bad-weight", std::vector<std::string>{"w"}, "a test"}, {"unused-input", {}, "not there"}});
    QCOMPARE(report.count(base::Severity::Error), std::size_t{0});
    QCOMPARE(report.acceptedCount(), std::size_t{1});
    QCOMPARE(report.findings.front().accepted, std::optional<std::string>("a test"));
    QVERIFY(QString::fromStdString(report.notes.back()).contains(u"accepted unused-input is not found any more"));
    QVERIFY(QString::fromStdString(report.text()).contains(u"accepted: a test"));
}

void TestFindings::acceptedNodesMustBeAll() {
    const auto document = open(network("duplicate-subgraph").model(true));
    const auto accepted = [&](std::optional<std::vector<std::string>> nodes) {
        return reportOf(*document, false, {{"duplicate-subgraph", std::move(nodes), "meant"}}).acceptedCount();
    };
    QCOMPARE(accepted(std::nullopt), std::size_t{1});
    QCOMPARE(accepted(std::vector<std::string>{"ra", "rb", "other"}), std::size_t{1});
    QCOMPARE(accepted(std::vector<std::string>{"ra"}), std::size_t{0});
    QCOMPARE(accepted(std::vector<std::string>{}), std::size_t{0});
}

void TestFindings::jsonHasThePublishedKeys() {
    const FindingReport report =
        reportOf(*open(network("training-mode").model(true)), true, {{"training-mode", std::nullopt, "on purpose"}});
    const QJsonObject root = QJsonDocument::fromJson(QByteArray::fromStdString(report.json())).object();
    QCOMPARE(root["format"].toString(), QStringLiteral("sonde-findings"));
    QCOMPARE(root["version"].toInt(), 1);
    const QJsonArray findings = root["findings"].toArray();
    QCOMPARE(findings.size(), static_cast<qsizetype>(report.findings.size()));
    QVERIFY(!findings.isEmpty());
    const QJsonObject first = findings.first().toObject();
    QCOMPARE(first.keys(), (QStringList{"accepted", "advice", "confidence", "id", "message", "nodes", "severity"}));
    QCOMPARE(first["id"].toString(), QStringLiteral("training-mode"));
    QCOMPARE(first["severity"].toString(), QStringLiteral("error"));
    QCOMPARE(first["confidence"].toString(), QStringLiteral("high"));
    QCOMPARE(first["nodes"].toArray(), (QJsonArray{"y"}));
    QCOMPARE(first["accepted"].toString(), QStringLiteral("on purpose"));
    const FindingReport open_ = reportOf(*open(network("training-mode").model(true)));
    QVERIFY(QJsonDocument::fromJson(QByteArray::fromStdString(open_.json()))["findings"][0]["accepted"].isNull());
}

/// The same reads before and after a write are no duplicates.
void TestFindings::writesMakeReadsDiffer() {
    graph::InternalGraph graph;
    const auto floats = tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{4});
    const graph::NodeId x = graph.addInput(graph.mainId(), "x", floats);
    const auto apply = [&](const char* op, const std::string& name, std::vector<graph::Argument> arguments) {
        graph::Expr expr;
        expr.op = {"aten", op, 0};
        expr.body = graph.mainId();
        expr.scope = graph.rootScope();
        expr.arguments = std::move(arguments);
        const std::vector<std::string> names{name};
        const graph::ExprId id = graph.addExpr(std::move(expr), names);
        graph.setType(graph.expr(id).outputs.front(), floats);
        return graph.expr(id).outputs.front();
    };
    const auto node = [](graph::NodeId id) { return graph::Argument::of(id); };
    const graph::NodeId before = apply("exp", "before", {node(x)});
    const graph::NodeId copy = apply("clone", "copy", {node(x)});
    const graph::NodeId first = apply("exp", "first", {node(copy)});
    apply("zero_", "zeros", {node(copy)});
    const graph::NodeId second = apply("exp", "second", {node(copy)});
    const graph::NodeId after = apply("exp", "after", {node(x)});
    graph.setResult(graph.mainId(), graph::Argument::container(graph::Argument::Kind::Tuple,
                                                               {node(before), node(first), node(second), node(after)}));
    const analysis::ModelCounts counts;
    std::vector<analysis::Finding> found;
    analysis::duplicateSubgraphChecker().find({graph, counts, {}, {}, {}, {}}, found);
    QCOMPARE(found.size(), std::size_t{1});
    QCOMPARE(analysis::namesOf(graph, found.front()), (std::vector<std::string>{"before", "after"}));
}

namespace {

/// relu(relu(… x)), and beside each an operation that nothing reads.
std::string longChain(int count) {
    std::vector<test::onnxfile::Node> nodes;
    std::string last = "x";
    for (int i = 0; i < count; ++i) {
        const std::string next = i + 1 == count ? "y" : "r" + std::to_string(i);
        nodes.push_back({"Relu", {last}, {next}});
        nodes.push_back({"Exp", {last}, {"e" + std::to_string(i)}});
        last = next;
    }
    return test::findingnetworks::chain(nodes, {1, 4}, {1, 4});
}

}  // namespace

/// Nodes that nothing reads are one entry, and each has its own in the list.
/// PyTorch returns what a dropout in evaluation was given: who writes to the result writes to that.
void TestFindings::droppingNothingIsTheValueItself() {
    test::Maker maker;
    const auto x = maker.floats("x", {4});
    const auto copy = maker.call("copy", "aten::clone", x);
    const auto dropped = maker.call("dropped", "aten::dropout", copy, 0.5, false);
    const auto other = maker.call("other", "aten::exp", x);
    maker.call("zeros", "aten::zero_", dropped);
    const std::vector<bool> isWritten = analysis::writtenValues(maker.graph);
    QVERIFY(isWritten[dropped.index()]);
    QVERIFY(isWritten[copy.index()]);
    QVERIFY(!isWritten[x.index()]);
    QVERIFY(!isWritten[other.index()]);
}

/// An archive of a recurrent layer as it was while it trained.
void TestFindings::layersWithDropoutInsideTrain() {
    const QTemporaryDir folder;
    const auto places = [&folder](const char* call) {
        const std::string path = folder.filePath("m.pt").toStdString();
        test::writeScript(path, std::string("class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
                                            "  def forward(self: __torch__.M,\n    x: Tensor,\n    h: Tensor,\n"
                                            "    w: Tensor) -> Tensor:\n    ") +
                                    call + "\n    return y\n");
        return placesOf(reportOf(*test::openedModel(path), false), "training-mode");
    };
    const QString gru = QStringLiteral("y, s = torch.gru(x, h, [w, w, w, w], False, %1, False, False)");
    const auto placesOfGru = [&](const char* flags) { return places(gru.arg(QLatin1String(flags)).toLatin1()); };
    QCOMPARE(placesOfGru("2, 0.5, True"), QStringList{"gru"});
    QCOMPARE(placesOfGru("2, 0.5, False"), QStringList{});
    QCOMPARE(placesOfGru("2, 0., True"), QStringList{});
    QCOMPARE(placesOfGru("1, 0.5, True"), QStringList{});  // nothing stands between the layers
    QCOMPARE(places("y, s, c = torch.lstm(x, [h, h], [w, w, w, w], False, 2, 0.1, True, False, False)"),
             QStringList{"lstm"});
    QCOMPARE(places("y = torch.rrelu(x, 0.1, 0.3, True)"), QStringList{"rrelu"});
    QCOMPARE(places("y = torch.rand_like(x)"), QStringList{});  // meant
}

void TestFindings::equalOnesAreOneGroup() {
    const FindingReport report = reportOf(*open(longChain(5)), false);
    QCOMPARE(report.findings.size(), std::size_t{5});
    const auto groups = session::groupsOf(report);
    QCOMPARE(groups.size(), std::size_t{1});
    QCOMPARE(groups.front().count(), std::size_t{5});
    QCOMPARE(groups.front().names, (std::vector<std::string>{"e0", "e1", "e2", "e3", "e4"}));
    const QString text = QString::fromStdString(report.text());
    QCOMPARE(text.count(QStringLiteral("unused-output")), 1);
    QVERIFY(text.contains(u"e0, e1, e2 and 2 more: 5 findings: "));
    const QJsonObject root = QJsonDocument::fromJson(QByteArray::fromStdString(report.json())).object();
    QCOMPARE(root["findings"].toArray().size(), 5);
    const QJsonObject group = root["groups"].toArray().first().toObject();
    QCOMPARE(group["count"].toInt(), 5);
    QCOMPARE(group["nodes"].toArray(), (QJsonArray{"e0", "e1", "e2", "e3", "e4"}));
    // What is accepted is apart from what is not.
    const FindingReport some =
        reportOf(*open(longChain(5)), false, {{"unused-output", std::vector<std::string>{"e1", "e3"}, "probes"}});
    const auto parts = session::groupsOf(some);
    QCOMPARE(parts.size(), std::size_t{2});
    QCOMPARE(parts[0].names, (std::vector<std::string>{"e0", "e2", "e4"}));
    QCOMPARE(parts[1].names, (std::vector<std::string>{"e1", "e3"}));
    QCOMPARE(parts[1].accepted, std::optional<std::string>("probes"));
}

void TestFindings::deadUnitsOfOneInputAreUnsure() {
    const FindingReport report = reportOf(*open(network("dead-unit").model(true)));
    const auto found =
        std::ranges::find_if(report.findings, [](const auto& each) { return each.finding.id == "dead-unit"; });
    QVERIFY(found != report.findings.end());
    QCOMPARE(found->finding.confidence, analysis::Confidence::Low);
    QVERIFY2(QString::fromStdString(found->finding.message).contains(u"of 1 input, which are few to tell by"),
             found->finding.message.c_str());
}

void TestFindings::takingBackSplitsAcceptances() {
    const FindingReport report = reportOf(*open(longChain(3)), false, {{"unused-output", std::nullopt, "all"}});
    QCOMPARE(report.acceptedCount(), std::size_t{3});
    session::FindingGroup one;
    one.id = "unused-output";
    one.members = {1};
    FindingReport after = report;
    session::accept(after, session::withoutGroup(report, one, {{"unused-output", std::nullopt, "all"}}));
    QCOMPARE(after.acceptedCount(), std::size_t{2});
    QVERIFY(!after.findings[1].accepted);
    QCOMPARE(after.findings[2].accepted, std::optional<std::string>("all"));
}

void TestFindings::manyAreCounted() {
    const FindingReport report = reportOf(*open(longChain(300)), false);
    QCOMPARE(placesOf(report, "unused-output").size(), 200);
    QCOMPARE(report.leftOut.at("unused-output"), std::size_t{100});
    QVERIFY(QString::fromStdString(report.text()).contains(u"unused-output: 100 more"));
}

/// Measures time: quadratic work on 100,000 operations would take minutes.
void TestFindings::largeGraphsTakeBoundedTime() {
    const auto document = open(longChain(50'000));
    QElapsedTimer timer;
    timer.start();
    const FindingReport report = reportOf(*document);
    QVERIFY2(timer.elapsed() < 60'000, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(report.leftOut.at("unused-output"), std::size_t{50'000 - 200});
}

QTEST_APPLESS_MAIN(TestFindings)

}  // namespace tst_findings

#include "tst_findings.moc"
