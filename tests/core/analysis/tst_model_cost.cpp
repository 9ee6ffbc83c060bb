// Costs of whole models: published totals, sums of parts, the same network in several files, branches and loops.

#include <QTemporaryDir>
#include <QtTest>

#include "core/analysis/infer.h"
#include "core/analysis/model_cost.h"
#include "core/document/document.h"
#include "tests/support/onnx_file.h"

namespace tst_model_cost {

using namespace sonde;
using namespace sonde::test::onnxfile;
using analysis::CostPart;
using analysis::CostSum;
using analysis::ModelCost;
using tensor::Symbolic;
using tensor::SymbolicSum;

namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

std::shared_ptr<const document::Document> opened(const std::string& model) {
    const auto document = document::open(model, {});
    if (!document) qFatal("%s: %s", model.c_str(), document.error().text().c_str());
    return *document;
}

std::string floats(const std::string& name, const std::vector<std::int64_t>& dims) {
    std::size_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
    return rawTensor(name, kFloat, dims, std::string(count * sizeof(float), '\0'));
}

bool areEqual(const CostSum& a, const CostSum& b) {
    return a.flops == b.flops && a.multiplyAdds == b.multiplyAdds && a.bytesRead == b.bytesRead &&
           a.bytesWritten == b.bytesWritten && a.activationBytes == b.activationBytes;
}

}  // namespace

class TestModelCost : public QObject {
    Q_OBJECT

  private slots:
    void publishedTotals_data();
    void publishedTotals();
    void sumsAreThoseOfTheirParts_data();
    void sumsAreThoseOfTheirParts();
    void filesOfOneNetworkCostTheSame_data();
    void filesOfOneNetworkCostTheSame();
    void openDimensionsAreSymbols();
    void branchesAndLoops();
    void whatIsAliveAtOnce();
    void calledModulesRunAsOftenAsWhatCallsThem();
    void scansAndLoopsByTheirInputs();
    void unknownOperatorsAreListed();

  private:
    std::shared_ptr<const document::Document> file(const Graph& graph,
                                                   const std::vector<std::string>& opsets = {opset("", 16)}) {
        const QString path = m_folder.filePath(QStringLiteral("model%1.onnx").arg(m_count++));
        if (!write(path, model(graph, {}, opsets))) qFatal("cannot write");
        return opened(path.toStdString());
    }

    QTemporaryDir m_folder;
    int m_count = 0;
};

/// Multiply-adds for one image of 3×224×224, in 10⁹. torchvision 0.15, "GFLOPS" of the weights' documentation (`_ops`
/// in torchvision/models/*.py), counted from operators with one FLOP for a multiply-add; of a vision transformer it has
/// the products of attention: 12·2·197²·768 = 0.715 of 17.564.
void TestModelCost::publishedTotals_data() {
    QTest::addColumn<double>("billions");
    QTest::newRow("resnet50") << 4.089;
    QTest::newRow("mobilenet_v2") << 0.301;
    QTest::newRow("vit_b_16") << 17.564;
    QTest::newRow("densenet121") << 2.834;
    QTest::newRow("squeezenet1_1") << 0.349;
    QTest::newRow("mobilenet_v3_small") << 0.057;
    QTest::newRow("shufflenet_v2_x0_5") << 0.04;
    QTest::newRow("vgg11") << 7.609;
}

void TestModelCost::publishedTotals() {
    QFETCH(double, billions);
    const auto document = opened(std::string("zoo:") + QTest::currentDataTag());
    const ModelCost cost = analysis::costOfModel(*document->graph, *document->modules);
    QVERIFY(cost.notCounted.empty());
    QVERIFY(cost.assumptions.empty());
    QVERIFY2(cost.total.multiplyAdds.constant(), cost.total.multiplyAdds.text().c_str());
    // The tables have three decimals.
    const double found = static_cast<double>(*cost.total.multiplyAdds.constant()) / 1e9;
    QVERIFY2(std::abs(found - billions) < 0.0006 || std::abs(found / billions - 1) < 0.01,
             qPrintable(QString::number(found)));
    QVERIFY(cost.peakActivationBytes && *cost.peakActivationBytes > 0);
    QVERIFY(*cost.peakActivationBytes < *cost.total.activationBytes.constant() + 4 * 3 * 224 * 224);
}

void TestModelCost::sumsAreThoseOfTheirParts_data() {
    QTest::addColumn<QString>("model");
    for (const char* name :
         {"zoo:resnet18", "zoo:vit_small", "zoo:gpt_mini", "zoo:nested_containers", "zoo:control_flow"})
        QTest::newRow(name) << name;
    for (const char* name : {"control_flow.onnx", "vit_small.onnx", "unet_small.trace.pt", "robust_nested.script.pt"})
        QTest::newRow(name) << QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name);
}

void TestModelCost::sumsAreThoseOfTheirParts() {
    QFETCH(QString, model);
    const auto document = opened(model.toStdString());
    const graph::InternalGraph& graph = *document->graph;
    const ModelCost cost = analysis::costOfModel(graph, *document->modules);
    CostSum parts;
    std::vector<CostSum> modules(document->modules->modules().size());
    std::size_t notCounted = 0;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        notCounted += cost.ofExpr[id.index()].part == CostPart::NotCounted ? 1 : 0;
        if (cost.ofExpr[id.index()].part != CostPart::Counted) continue;
        parts.add(cost.ofExpr[id.index()].sum);
        // Of its module and of all around it.
        for (std::size_t m = 0; m < modules.size(); ++m) {
            const std::string& qualname = document->modules->module(m).qualname;
            const std::string own = graph.expr(id).qualname.value_or("");
            if (qualname.empty() || own == qualname || own.starts_with(qualname + "."))
                modules[m].add(cost.ofExpr[id.index()].sum);
        }
    }
    QVERIFY(areEqual(parts, cost.total));
    for (std::size_t m = 0; m < modules.size(); ++m)
        QVERIFY2(areEqual(modules[m], cost.ofModule[m]), document->modules->module(m).qualname.c_str());
    QCOMPARE(notCounted, cost.notCountedExprs.size());
    // A part that is shown as not known would be missing in the sum of what is shown.
    SymbolicSum shown;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
        if (const auto& each = cost.ofExpr[id.index()]; each.part == CostPart::Counted && each.sum.hasActivations())
            shown.add(each.sum.activationBytes);
    QVERIFY(shown == cost.total.activationBytes);
}

void TestModelCost::filesOfOneNetworkCostTheSame_data() {
    QTest::addColumn<QStringList>("files");
    for (const char* name : {"resnet18_slim", "vit_small", "unet_small", "lstm_classifier", "gpt_mini"}) {
        QStringList files;
        for (const char* suffix : {".onnx", ".trace.pt", ".script.pt", ".nograd.trace.pt"}) {
            const QString path =
                QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name) + QLatin1String(suffix);
            if (QFileInfo::exists(path)) files << path;
        }
        QTest::newRow(name) << files;
    }
}

/// On the inputs that the built-in model has; the batch of the files is open.
void TestModelCost::filesOfOneNetworkCostTheSame() {
    QFETCH(QStringList, files);
    const auto builtIn = opened(std::string("zoo:") + QTest::currentDataTag());
    std::vector<tensor::Value> inputs;
    for (const graph::NodeId node : builtIn->graph->inputs()) {
        const tensor::TypeInfo& type = builtIn->graph->node(node).type;
        auto value = tensor::Tensor::zeros(type.dtype, *type.staticShape());
        inputs.push_back(tensor::Value(*value));
    }
    const ModelCost expected = analysis::costOfModel(*builtIn->graph, *builtIn->modules);
    QVERIFY(!files.isEmpty());
    for (const QString& path : files) {
        const auto document = opened(path.toStdString());
        const graph::InternalGraph typed = analysis::typedFor(*document->graph, inputs);
        const ModelCost cost = analysis::costOfModel(typed, *document->modules);
        // A script has branches that shapes do not decide: tst_model_info.
        if (path.endsWith(QLatin1String(".script.pt")) && !cost.assumptions.empty()) continue;
        QVERIFY2(cost.total.multiplyAdds == expected.total.multiplyAdds,
                 qPrintable(path + ": " + QString::fromStdString(cost.total.multiplyAdds.text()) + ", not " +
                            QString::fromStdString(expected.total.multiplyAdds.text())));
    }
}

/// x [N,4] · w [4,8], then Relu: N·32 multiply-adds, N·64 + N·8 FLOPs; reads x, w and the product, writes two of N·8.
void TestModelCost::openDimensionsAreSymbols() {
    const auto document = file({.nodes = {{"MatMul", {"x", "w"}, {"m"}}, {"Relu", {"m"}, {"y"}}},
                                .inputs = {valueInfo("x", kFloat, {-1, 4})},
                                .outputs = {valueInfo("y", kFloat, {-1, 8})},
                                .initializers = {floats("w", {4, 8})}});
    const ModelCost cost = analysis::costOfModel(*document->graph, *document->modules);
    QCOMPARE(cost.total.multiplyAdds.text(), std::string("32*N"));
    QCOMPARE(cost.total.flops.text(), std::string("72*N"));
    QCOMPARE(cost.total.bytesRead.text(), std::string("48*N+128"));
    QCOMPARE(cost.total.bytesWritten.text(), std::string("64*N"));
    QCOMPARE(cost.total.activationBytes.text(), std::string("64*N"));
    QVERIFY(!cost.total.intensity());
    QVERIFY(!cost.peakActivationBytes);
    const std::vector<tensor::Value> inputs{tensor::Tensor::of<float>({2, 4}, std::vector<float>(8))};
    const graph::InternalGraph typed = analysis::typedFor(*document->graph, inputs);
    const ModelCost bound = analysis::costOfModel(typed, *document->modules);
    QCOMPARE(bound.total.flops.constant(), std::optional(std::int64_t{144}));
    QCOMPARE(*bound.total.intensity(), 144.0 / (96 + 128 + 128));
    // The input of 32 bytes and the product of 64, then both of 64.
    QCOMPARE(bound.peakActivationBytes, std::optional(std::int64_t{128}));
}

/// Inside of branch and loop a product [1,4]·[4,4] has 16 multiply-adds.
void TestModelCost::branchesAndLoops() {
    const auto product = [](const char* name) {
        return Graph{
            .nodes = {{"MatMul", {"x", "w"}, {name}}}, .inputs = {}, .outputs = {valueInfo(name, kFloat, {1, 4})}};
    };
    const Graph cheap{.nodes = {{"Relu", {"x"}, {"r"}}}, .inputs = {}, .outputs = {valueInfo("r", kFloat, {1, 4})}};
    const Graph body{
        .nodes = {{"MatMul", {"state", "w"}, {"next"}}, {"Identity", {"go"}, {"goOn"}}},
        .inputs = {valueInfo("i", kInt64, {}), valueInfo("go", kBool, {}), valueInfo("state", kFloat, {1, 4})},
        .outputs = {valueInfo("goOn", kBool, {}), valueInfo("next", kFloat, {1, 4})}};
    const auto make = [&](bool isCountKnown) {
        Graph graph{.nodes = {{"If",
                               {"c"},
                               {"b"},
                               "",
                               "",
                               {graphAttribute("then_branch", cheap.bytes()),
                                graphAttribute("else_branch", product("p").bytes())}},
                              {"Loop", {"count", "", "b"}, {"y"}, "", "", {graphAttribute("body", body.bytes())}}},
                    .inputs = {valueInfo("x", kFloat, {1, 4}), valueInfo("c", kBool, {})},
                    .outputs = {valueInfo("y", kFloat, {1, 4})},
                    .initializers = {floats("w", {4, 4})}};
        std::string five(8, '\0');
        five[0] = 5;
        if (isCountKnown) graph.initializers.push_back(rawTensor("count", kInt64, {}, five));
        else graph.inputs.push_back(valueInfo("count", kInt64, {}));
        return file(graph);
    };
    const auto known = make(true), open = make(false);
    const ModelCost cost = analysis::costOfModel(*known->graph, *known->modules);
    QCOMPARE(cost.total.multiplyAdds.text(), std::string("96"));  // the else branch, and five iterations
    QCOMPARE(cost.assumptions.size(), std::size_t{1});
    const graph::ExprId relu = known->graph->node(known->graph->findNode("r")).producer;
    QVERIFY(cost.ofExpr[relu.index()].part == CostPart::NotExecuted);
    QCOMPARE(analysis::costOfModel(*open->graph, *open->modules).total.multiplyAdds.text(),
             std::string("16*y.iterations+16"));
    // A run that took the first branch and left the loop after three iterations.
    analysis::BodyRuns runs(open->graph->bodyCount(), 0);
    for (std::size_t i = 1; i < runs.size(); ++i) {
        const std::string& label = open->graph->body(graph::BodyId(i)).label;
        runs[i] = label == "then_branch" ? 1 : label == "body" ? 3 : 0;
    }
    const ModelCost measured = analysis::costOfModel(*open->graph, *open->modules, &runs);
    QCOMPARE(measured.total.multiplyAdds.text(), std::string("48"));
    const graph::ExprId left = open->graph->node(open->graph->findNode("p")).producer;
    QVERIFY(measured.ofExpr[left.index()].part == CostPart::NotExecuted);
    QVERIFY(measured.assumptions.empty());
}

/// By hand, each value of 256 float32 1024 bytes.
void TestModelCost::whatIsAliveAtOnce() {
    const auto peakOf = [](const document::Document& document) {
        return analysis::costOfModel(*document.graph, *document.modules).peakActivationBytes;
    };
    std::string shape(16, '\0');
    shape[0] = 2, shape[9] = 0, shape[8] = static_cast<char>(128);
    // v is a view of a, so that a lives until y is made; b is an output, and lives to the end: a, b, c and y.
    const auto views = file({.nodes = {{"Relu", {"x"}, {"a"}},
                                       {"Reshape", {"a", "shape"}, {"v"}},
                                       {"Neg", {"x"}, {"b"}},
                                       {"MatMul", {"b", "w"}, {"c"}},
                                       {"Neg", {"v"}, {"y"}}},
                             .inputs = {valueInfo("x", kFloat, {1, 256})},
                             .outputs = {valueInfo("b", kFloat, {1, 256}), valueInfo("c", kFloat, {1, 1}),
                                         valueInfo("y", kFloat, {2, 128})},
                             .initializers = {floats("w", {256, 1}), rawTensor("shape", kInt64, {2}, shape)}});
    QCOMPARE(peakOf(*views), std::optional(std::int64_t{3 * 1024 + 4}));
    // Both branches read a, which lives until then: a, c, y and the bool.
    const auto branch = [](const char* op, const char* name) {
        const Graph graph{.nodes = {{op, {"a"}, {name}}}, .inputs = {}, .outputs = {valueInfo(name, kFloat, {1, 256})}};
        return graph.bytes();
    };
    const auto captured = file({.nodes = {{"Relu", {"x"}, {"a"}},
                                          {"MatMul", {"x", "w"}, {"b"}},
                                          {"Neg", {"b"}, {"d"}},
                                          {"If",
                                           {"go"},
                                           {"y"},
                                           "",
                                           "",
                                           {graphAttribute("then_branch", branch("Neg", "t")),
                                            graphAttribute("else_branch", branch("Exp", "e"))}}},
                                .inputs = {valueInfo("x", kFloat, {1, 256}), valueInfo("go", kBool, {})},
                                .outputs = {valueInfo("d", kFloat, {1, 1}), valueInfo("y", kFloat, {1, 256})},
                                .initializers = {floats("w", {256, 1})}});
    QCOMPARE(peakOf(*captured), std::optional(std::int64_t{2 * 1024 + 4 + 1}));
    // A dropout at inference is the value itself: of [1,4] float32 only the ReLU's result is new.
    const auto passed = file({.nodes = {{"Dropout", {"x"}, {"d"}}, {"Relu", {"d"}, {"y"}}},
                              .inputs = {valueInfo("x", kFloat, {1, 4})},
                              .outputs = {valueInfo("y", kFloat, {1, 4})}});
    const ModelCost cost = analysis::costOfModel(*passed->graph, *passed->modules);
    QCOMPARE(cost.total.activationBytes.text(), std::string("16"));
    QCOMPARE(cost.total.flops.text(), std::string("4"));
    QCOMPARE(cost.total.bytesRead.text(), std::string("16"));
    QCOMPARE(cost.peakActivationBytes, std::optional(std::int64_t{32}));
}

/// To the engine a module that is called is no body of its own: a run counts none of its calls. They cost
/// what they cost without a run.
void TestModelCost::calledModulesRunAsOftenAsWhatCallsThem() {
    const auto document = opened("zoo:blocks_net");
    const graph::InternalGraph& graph = *document->graph;
    bool hasCalls = false;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
        hasCalls = hasCalls || (graph.expr(id).op.name.empty() && !graph.expr(id).bodies.empty());
    QVERIFY(hasCalls);
    const analysis::BodyRuns none(graph.bodyCount(), 0);
    const ModelCost counted = analysis::costOfModel(graph, *document->modules),
                    measured = analysis::costOfModel(graph, *document->modules, &none);
    QVERIFY(counted.total.multiplyAdds.constant().value_or(0) > 0);
    QVERIFY(areEqual(counted.total, measured.total));
    for (std::size_t i = 0; i < counted.ofExpr.size(); ++i) QVERIFY(counted.ofExpr[i].part == measured.ofExpr[i].part);
}

void TestModelCost::scansAndLoopsByTheirInputs() {
    const auto flopsOf = [](const document::Document& document) {
        return analysis::costOfModel(*document.graph, *document.modules).total.flops.text();
    };
    // Five columns of four elements, each added once.
    const Graph step{.nodes = {{"Add", {"state", "column"}, {"next"}}},
                     .inputs = {valueInfo("state", kFloat, {4}), valueInfo("column", kFloat, {4})},
                     .outputs = {valueInfo("next", kFloat, {4})}};
    const auto scan = file({.nodes = {{"Scan",
                                       {"s", "x"},
                                       {"y"},
                                       "",
                                       "",
                                       {graphAttribute("body", step.bytes()), intAttribute("num_scan_inputs", 1),
                                        intsAttribute("scan_input_axes", {1})}}},
                            .inputs = {valueInfo("s", kFloat, {4}), valueInfo("x", kFloat, {4, 5})},
                            .outputs = {valueInfo("y", kFloat, {4})}});
    QCOMPARE(flopsOf(*scan), std::string("20"));
    // Nobody knows whether a loop begins whose condition is an input, however often it may run.
    const Graph body{
        .nodes = {{"Neg", {"state"}, {"next"}}, {"Identity", {"go"}, {"goOn"}}},
        .inputs = {valueInfo("i", kInt64, {}), valueInfo("go", kBool, {}), valueInfo("state", kFloat, {1, 4})},
        .outputs = {valueInfo("goOn", kBool, {}), valueInfo("next", kFloat, {1, 4})}};
    std::string five(8, '\0');
    five[0] = 5;
    const auto loop =
        file({.nodes = {{"Loop", {"five", "c", "x"}, {"y"}, "", "", {graphAttribute("body", body.bytes())}}},
              .inputs = {valueInfo("x", kFloat, {1, 4}), valueInfo("c", kBool, {})},
              .outputs = {valueInfo("y", kFloat, {1, 4})},
              .initializers = {rawTensor("five", kInt64, {}, five)}});
    QCOMPARE(flopsOf(*loop), std::string("4*y.iterations"));
    // Less than no times is not at all.
    const auto never =
        file({.nodes = {{"Loop", {"less", "", "x"}, {"y"}, "", "", {graphAttribute("body", body.bytes())}}},
              .inputs = {valueInfo("x", kFloat, {1, 4})},
              .outputs = {valueInfo("y", kFloat, {1, 4})},
              .initializers = {rawTensor("less", kInt64, {}, std::string(8, '\xff'))}});
    QCOMPARE(flopsOf(*never), std::string("0"));
    // Nor does anybody know how often one runs that begins and then asks its values.
    const Graph asking{
        .nodes = {{"Neg", {"state"}, {"next"}},
                  {"ReduceSum", {"next"}, {"sum"}},
                  {"Cast", {"sum"}, {"goOn"}, "", "", {intAttribute("to", kBool)}}},
        .inputs = {valueInfo("i", kInt64, {}), valueInfo("go", kBool, {}), valueInfo("state", kFloat, {1, 4})},
        .outputs = {valueInfo("goOn", kBool, {}), valueInfo("next", kFloat, {1, 4})}};
    const auto until =
        file({.nodes = {{"Loop", {"five", "", "x"}, {"y"}, "", "", {graphAttribute("body", asking.bytes())}}},
              .inputs = {valueInfo("x", kFloat, {1, 4})},
              .outputs = {valueInfo("y", kFloat, {1, 4})},
              .initializers = {rawTensor("five", kInt64, {}, five)}});
    QVERIFY2(flopsOf(*until).ends_with("*y.iterations"), flopsOf(*until).c_str());
}

void TestModelCost::unknownOperatorsAreListed() {
    const auto document = file({.nodes = {{"Strange", {"x"}, {"s"}, "", "com.example"}, {"Relu", {"x"}, {"y"}}},
                                .inputs = {valueInfo("x", kFloat, {1, 4})},
                                .outputs = {valueInfo("y", kFloat, {1, 4}), valueInfo("s", kFloat, {1, 4})}},
                               {opset("", 16), opset("com.example", 1)});
    const ModelCost cost = analysis::costOfModel(*document->graph, *document->modules);
    const std::map<std::string, std::size_t> expected{{"com.example::Strange", 1}};
    QVERIFY(cost.notCounted == expected);
    QCOMPARE(cost.total.flops.text(), std::string("4"));
    QCOMPARE(cost.total.unknownMultiplyAdds, std::size_t{1});
}

QTEST_APPLESS_MAIN(TestModelCost)

}  // namespace tst_model_cost

#include "tst_model_cost.moc"
