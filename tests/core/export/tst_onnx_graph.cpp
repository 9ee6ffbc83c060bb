// Models of other kinds written as ONNX files: what the file computes is what the model does.

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <cstdio>
#include <set>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/export/lowering/onnx_graph.h"
#include "core/io/inputs/inputs.h"
#include "core/io/onnx/onnx_writer.h"
#include "core/ops/registry/registry.h"
#include "tests/support/json_values.h"

namespace tst_onnx_graph {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;

namespace {

void collect(const Value& value, std::vector<Tensor>& tensors) {
    if (value.isTensor()) tensors.push_back(value.tensor());
    if (value.kind() == tensor::ValueKind::Int) tensors.push_back(Tensor::scalar<std::int64_t>(value.toInt()));
    if (value.kind() == tensor::ValueKind::Bool) tensors.push_back(Tensor::scalar<bool>(value.toBool()));
    if (value.kind() == tensor::ValueKind::Float) tensors.push_back(Tensor::scalar<double>(value.number()));
    if (value.isListLike()) {
        for (const Value& item : value.items()) collect(item, tensors);
    }
    if (value.kind() == tensor::ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) collect(item, tensors);
    }
}

base::Result<std::vector<Tensor>> resultsOf(const document::Document& document, const std::vector<Value>& inputs) {
    SONDE_ASSIGN(const auto plan, exec::Plan::make(document.graph, {}));
    exec::Runner runner(1);
    exec::Recording recording = runner.run(*plan, inputs, {});
    if (recording.error) return *recording.error;
    std::vector<Tensor> tensors;
    for (const Value& value : recording.outputs) collect(value, tensors);
    return tensors;
}

}  // namespace

class TestOnnxGraph : public QObject {
    Q_OBJECT

  private slots:
    void filesComputeWhatModelsDo_data();
    void filesComputeWhatModelsDo();
    void namesAndModulesAreKept();
    void missingInputsAtTheEndAreLeftOut();
    void branchesAndLoopsFollowTheData();
    void whatHasNoFormIsNamed();
    void operatorsOfTorch();
    void everyConstantIsUsed();

  private:
    QTemporaryDir m_folder;
};

namespace {

/// A model of one call of an operator, whose tensors are its inputs.
struct OneCall {
    document::Document document;
    std::vector<Value> inputs;
};

std::optional<OneCall> oneCall(const QJsonObject& line) {
    std::string name = line["op"].toString().toStdString(), domain = "aten";
    if (const std::size_t colon = name.find("::"); colon != std::string::npos) {
        domain = name.substr(0, colon);
        name = name.substr(colon + 2);
    }
    const ops::OpDef* op = ops::Registry::all().find(domain, name, 0);
    if (!op) return std::nullopt;
    OneCall made;
    auto graph = std::make_shared<graph::InternalGraph>();
    graph::Expr expr;
    expr.kind = graph::ExprKind::CallFunction;
    expr.body = graph->mainId();
    expr.scope = graph->rootScope();
    expr.op = {domain, name, 0};
    const std::function<graph::Argument(const Value&)> argumentOf = [&](const Value& value) {
        if (value.isTensor()) {
            const std::string input = "x" + std::to_string(made.inputs.size());
            made.inputs.push_back(value);
            return graph::Argument::of(graph->addInput(graph->mainId(), input, tensor::TypeInfo::of(value), input));
        }
        if (!value.isListLike() || value.items().empty() || !value.items().front().isTensor())
            return graph::Argument::of(value);
        std::vector<graph::Argument> items;
        for (const Value& item : value.items()) items.push_back(argumentOf(item));
        return graph::Argument::container(graph::Argument::Kind::List, std::move(items));
    };
    for (const QJsonValue& argument : line["in"].toArray())
        expr.arguments.push_back(argumentOf(test::valueIn(argument)));
    const QJsonObject keywords = line["kw"].toObject();
    for (const QString& key : keywords.keys())
        expr.keywords.emplace_back(key.toStdString(), argumentOf(test::valueIn(keywords[key])));
    const std::size_t outputs = std::max<std::size_t>(1, op->outputs.size());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outputs; ++i) names.push_back("y" + std::to_string(i));
    const std::vector<graph::NodeId> nodes = graph->expr(graph->addExpr(std::move(expr), names)).outputs;
    std::vector<graph::Argument> results;
    for (graph::NodeId node : nodes) results.push_back(graph::Argument::of(node));
    graph->setResult(graph->mainId(), results.size() == 1
                                          ? results.front()
                                          : graph::Argument::container(graph::Argument::Kind::Tuple, results));
    made.document.graph = graph;
    return made;
}

}  // namespace

void TestOnnxGraph::filesComputeWhatModelsDo_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("inputs");
    for (const char* name : {"resnet18_slim", "mobilenet_v3_small", "squeezenet1_1",    "shufflenet_v2_x0_5",
                             "vit_small",     "unet_small",         "autoencoder",      "lstm_classifier",
                             "gpt_mini",      "mlp_functional",     "shared_twice",     "nested_containers",
                             "blocks_net",    "param_linear",       "two_forms",        "several_results",
                             "flag",          "item_assignment",    "slice_assignment", "mask_assignment"}) {
        QTest::newRow(qPrintable(QString("zoo:%1").arg(name))) << QString("zoo:%1").arg(name) << QString();
    }
    const QString folder = QStringLiteral(SONDE_TEST_DATA "/models/");
    for (const QString& file : QDir(folder).entryList({"*.trace.pt", "*.script.pt"}, QDir::Files)) {
        const QString values = folder + file.section('.', 0, 0) + ".npz";
        if (QFile::exists(values)) QTest::newRow(qPrintable(file)) << folder + file << values + "#case0";
    }
}

void TestOnnxGraph::filesComputeWhatModelsDo() {
    QFETCH(QString, model);
    QFETCH(QString, inputs);
    const auto document = document::open(model.toStdString());
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    std::vector<io::InputInfo> infos;
    for (const document::NamedNode& input : (*document)->inputs)
        infos.push_back({input.name, (*document)->graph->node(input.node).type});
    auto cases = io::makeInputs(inputs.toStdString(), infos);
    if (!cases) cases = io::makeInputs(inputs.section('#', 0, 0).toStdString(), infos);
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    const std::vector<Value>& values = cases->front().values;
    const auto made = exporting::onnxGraph(**document, values);
    QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
    const std::string path = m_folder.filePath("made.onnx").toStdString();
    const auto written = io::writeOnnx(path, *made->graph);
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
    const auto again = document::open(path);
    QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
    for (const base::Diagnostic& finding : (*again)->diagnostics)
        QVERIFY2(finding.severity != base::Severity::Warning, finding.what.c_str());
    std::vector<Value> tensors;
    for (const Value& value : values) {
        if (value.isTensor()) tensors.push_back(value);
    }
    const auto expected = resultsOf(**document, values), found = resultsOf(**again, tensors);
    QVERIFY2(expected.has_value(), expected ? "" : expected.error().text().c_str());
    QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
    QCOMPARE(found->size(), expected->size());
    for (std::size_t i = 0; i < found->size(); ++i) {
        const Tensor &a = (*found)[i], &b = (*expected)[i];
        QVERIFY2(a.shape() == b.shape() && a.dtype() == b.dtype(),
                 (a.typeText() + " instead of " + b.typeText()).c_str());
        double largest = 0;
        for (std::int64_t k = 0; k < b.numel(); ++k) {
            if (std::isfinite(b.toDouble(k))) largest = std::max(largest, std::abs(b.toDouble(k)));
        }
        for (std::int64_t k = 0; k < b.numel(); ++k) {
            const double x = a.toDouble(k), y = b.toDouble(k);
            QVERIFY2(x == y || std::abs(x - y) <= 1e-4 * largest + 1e-5 || (std::isnan(x) && std::isnan(y)),
                     qPrintable(QString("output %1, element %2 is %3 instead of %4").arg(i).arg(k).arg(x).arg(y)));
        }
    }
}

void TestOnnxGraph::namesAndModulesAreKept() {
    const auto document = document::open("zoo:resnet18_slim");
    QVERIFY(document.has_value());
    const auto made = exporting::onnxGraph(
        **document, std::vector<Value>{Value(Tensor::zeros(tensor::DType::Float32, {1, 3, 64, 64}).value())});
    QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
    const graph::InternalGraph& graph = *made->graph;
    QVERIFY(graph.findNode("conv1.weight").valid());
    const graph::NodeId conv = graph.findNode("layer1_0_conv1/conv2d");
    QVERIFY(conv.valid());
    const graph::Expr& expr = graph.expr(graph.node(conv).producer);
    QCOMPARE(expr.op.name, std::string("Conv"));
    QCOMPARE(graph.scope(expr.scope).qualname, std::string("layer1.0.conv1"));
}

/// An empty name in the place of a bias keeps ONNX Runtime from fusing what follows the convolution.
void TestOnnxGraph::missingInputsAtTheEndAreLeftOut() {
    const auto document = document::open("zoo:resnet18_slim");
    QVERIFY(document.has_value());
    const auto shape = (*document)->graph->node((*document)->graph->inputs().front()).type.staticShape();
    const std::vector<Value> inputs{Tensor::zeros(tensor::DType::Float32, *shape).value()};
    const auto onnx = exporting::onnxGraph(**document, inputs);
    QVERIFY(onnx.has_value());
    int convolutions = 0;
    for (const graph::ExprId id : onnx->graph->main().order) {
        const graph::Expr& expr = onnx->graph->expr(id);
        convolutions += expr.op.name == "Conv" && expr.arguments.size() == 2;
        if (!expr.arguments.empty())
            QVERIFY2(expr.arguments.back().kind != graph::Argument::Kind::Omitted, expr.name.c_str());
    }
    QCOMPARE(convolutions, 20);
}

/// A file written from one case gives the values of the others, which take other branches and other numbers of passes.
void TestOnnxGraph::branchesAndLoopsFollowTheData() {
    const auto document = document::open(SONDE_TEST_DATA "/models/control_flow.script.pt");
    QVERIFY(document.has_value());
    std::vector<io::InputInfo> infos;
    for (const document::NamedNode& input : (*document)->inputs)
        infos.push_back({input.name, (*document)->graph->node(input.node).type});
    std::set<int> passes;
    for (const char* from : {"case0", "case1", "case2"}) {
        const auto inputs = io::makeInputs(std::string(SONDE_TEST_DATA "/models/control_flow.npz#") + from, infos);
        QVERIFY2(inputs.has_value(), inputs ? "" : inputs.error().text().c_str());
        const auto made = exporting::onnxGraph(**document, inputs->front().values);
        QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
        QCOMPARE(made->notes.size(),
                 std::size_t{2});  // ONNX has no assertions: it says which one is left out, and how many
        QVERIFY2(made->notes[0].what.find("expected a batch of vectors") != std::string::npos,
                 made->notes[0].what.c_str());
        const std::string path = m_folder.filePath("flow.onnx").toStdString();
        QVERIFY(io::writeOnnx(path, *made->graph).has_value());
        const auto again = document::open(path);
        QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
        for (const char* with : {"case0", "case1", "case2"}) {
            const std::vector<Value> values =
                io::makeInputs(std::string(SONDE_TEST_DATA "/models/control_flow.npz#") + with, infos)->front().values;
            const auto expected = resultsOf(**document, values), found = resultsOf(**again, values);
            QVERIFY2(expected.has_value() && found.has_value() && expected->size() == found->size(),
                     found ? "" : found.error().text().c_str());
            passes.insert(static_cast<int>(expected->back().toDouble(0)));
            for (std::size_t i = 0; i < found->size(); ++i)
                QCOMPARE(test::difference(Value((*found)[i]), Value((*expected)[i])), QString());
        }
    }
    QVERIFY(passes.size() > 1);
}

void TestOnnxGraph::whatHasNoFormIsNamed() {
    const auto call =
        oneCall(QJsonDocument::fromJson(R"({"op":"lgamma","in":[{"t":"f32","s":[2],"v":[1,2]}]})").object());
    QVERIFY(call.has_value());
    const auto made = exporting::onnxGraph(call->document, call->inputs);
    QVERIFY(!made.has_value());
    QCOMPARE(made.error().exitStatus(), 2);
    QVERIFY2(made.error().what.find("aten::lgamma (node 'y0'") != std::string::npos, made.error().text().c_str());
    QVERIFY(!exporting::onnxGraph(call->document, {}).has_value());
}

/// Each call that PyTorch was asked for (tests/data/aten/cases.jsonl) written as a file: the file gives PyTorch's
/// values.
void TestOnnxGraph::operatorsOfTorch() {
    QFile file(QStringLiteral(SONDE_TEST_DATA "/aten/cases.jsonl")),
        exceptions(QStringLiteral(SONDE_TEST_DATA "/onnx_form_exceptions.txt"));
    QVERIFY(file.open(QIODevice::ReadOnly) && exceptions.open(QIODevice::ReadOnly));
    QMap<QString, QString> excused;
    for (const QByteArray& line : exceptions.readAll().split('\n')) {
        if (!line.isEmpty() && !line.startsWith('#'))
            excused.insert(line.left(line.indexOf(' ')), QString::fromUtf8(line.mid(line.indexOf(' ') + 1)));
    }
    QStringList wrong;
    QSet<QString> met;
    int number = 0, passed = 0, without = 0;
    for (const QByteArray& line : file.readAll().split('\n')) {
        if (line.isEmpty()) continue;
        ++number;
        const QJsonObject call = QJsonDocument::fromJson(line).object();
        const QString op = call["op"].toString(), where = QString("%1 %2: ").arg(number).arg(op);
        // ONNX does not say where boxes without a score stand.
        if (op == "torchvision::nms" && line.contains("nan")) continue;
        const auto model = oneCall(call);
        if (!model || model->inputs.empty()) continue;
        const auto made = exporting::onnxGraph(model->document, model->inputs);
        if (!made) {
            met.insert(op);
            ++without;
            if (!excused.contains(op)) wrong << where + QString::fromStdString(made.error().what);
            continue;
        }
        const std::string path = m_folder.filePath("call.onnx").toStdString();
        const auto written = io::writeOnnx(path, *made->graph);
        const auto again =
            written ? document::open(path) : base::Result<std::shared_ptr<const document::Document>>(written.error());
        if (!again) {
            wrong << where + QString::fromStdString(again.error().text());
            continue;
        }
        std::vector<Value> inputs;
        for (const document::NamedNode& input : (*again)->inputs) {
            for (std::size_t i = 0; i < model->inputs.size(); ++i) {
                if (input.name == "x" + std::to_string(i)) inputs.push_back(model->inputs[i]);
            }
        }
        const auto found = resultsOf(**again, inputs);
        if (!found) {
            wrong << where + QString::fromStdString(found.error().text());
            continue;
        }
        std::vector<Tensor> expected;
        const QJsonArray outputs = call["out"].toArray();
        for (const QJsonValue& output : outputs) collect(test::valueIn(output), expected);
        QString problem;
        for (std::size_t i = 0; i < expected.size() && i < found->size() && problem.isEmpty(); ++i) {
            if (op == "max_pool2d" && i > 0) break;
            problem = test::difference(Value((*found)[i]), Value(expected[i]));
        }
        if (found->size() < static_cast<std::size_t>(std::min<qsizetype>(outputs.size(), 1)))
            problem = "results are missing";
        if (!problem.isEmpty()) wrong << where + problem;
        else ++passed;
    }
    for (auto it = excused.cbegin(); it != excused.cend(); ++it) {
        if (!met.contains(it.key())) wrong << it.key() + " has an ONNX form now: take it off the list";
    }
    qInfo("%d calls give PyTorch's values, %d have no ONNX form", passed, without);
    for (const QString& problem : wrong) std::printf("%s\n", qPrintable(problem));
    QVERIFY(wrong.isEmpty());
}

/// The gates of an LSTM are in ONNX's order: the weights as torch has them are needed no more.
void TestOnnxGraph::everyConstantIsUsed() {
    const auto document = document::open(SONDE_TEST_DATA "/models/lstm_classifier.trace.pt");
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    const auto cases = io::makeInputs("#rand(0,9,2,5)", {{"tokens", tensor::TypeInfo::tensor(tensor::DType::Int64)}});
    QVERIFY(cases.has_value());
    const auto made = exporting::onnxGraph(**document, cases->front().values);
    QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
    std::size_t constants = 0;
    for (const graph::ExprId id : made->graph->main().order) {
        const graph::Expr& expr = made->graph->expr(id);
        if (expr.kind != graph::ExprKind::Constant) continue;
        ++constants;
        for (const graph::NodeId node : expr.outputs)
            QVERIFY2(!made->graph->node(node).users.empty(), made->graph->node(node).name.c_str());
    }
    QVERIFY(constants > 0);
}

QTEST_GUILESS_MAIN(TestOnnxGraph)

}  // namespace tst_onnx_graph

#include "tst_onnx_graph.moc"
