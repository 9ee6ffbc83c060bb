// Parameters of layers: those of torchvision's and Hugging Face's models as their sources have them, and forms of ONNX.

#include <QTemporaryDir>
#include <QtTest>

#include "core/analysis/layer_facts.h"
#include "core/document/document.h"
#include "core/graph/main_layer.h"
#include "tests/support/onnx_file.h"

namespace tst_layer_facts {

using namespace sonde;
using namespace sonde::test::onnxfile;
using analysis::LayerFact;

namespace {

constexpr int kFloat = 1;

std::shared_ptr<const document::Document> opened(const std::string& model) {
    const auto document = document::open(model, {});
    if (!document) qFatal("%s: %s", model.c_str(), document.error().text().c_str());
    return *document;
}

std::string zeros(const std::string& name, const std::vector<std::int64_t>& dims) {
    std::size_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
    return rawTensor(name, kFloat, dims, std::string(count * sizeof(float), '\0'));
}

/// The operations that a module stands for: of a leaf, its layer.
std::vector<graph::ExprId> exprsOf(const graph::InternalGraph& graph, const std::string& qualname) {
    std::vector<graph::ExprId> found;
    for (const graph::ExprId id : graph.main().order) {
        const graph::Expr& expr = graph.expr(id);
        const graph::ExprId inside = graph::mainLayerOf(graph, expr);
        if (expr.qualname == qualname) found.push_back(inside.valid() ? inside : id);
    }
    return found;
}

}  // namespace

class TestLayerFacts : public QObject {
    Q_OBJECT

  private slots:
    void layersOfModels_data();
    void layersOfModels();
    void modulesAreTheirMainLayer_data();
    void modulesAreTheirMainLayer();
    void formsOfOnnx_data();
    void formsOfOnnx();
    void allParametersAreListed();
    void nothingIsSaidOfOthers();

  private:
    std::shared_ptr<const document::Document> file(const Node& node, std::vector<std::string> initializers,
                                                   const std::vector<std::int64_t>& input) {
        Graph graph;
        graph.nodes = {node};
        graph.initializers = std::move(initializers);
        graph.inputs = {valueInfo("x", kFloat, input)};
        graph.outputs = {valueInfo("y", kFloat, {})};
        const QString path = m_folder.filePath(QStringLiteral("model%1.onnx").arg(m_count++));
        if (!write(path, model(graph, {}, {opset("", 21)}))) qFatal("cannot write");
        return opened(path.toStdString());
    }

    QTemporaryDir m_folder;
    int m_count = 0;
};

/// From torchvision/models/{resnet,mobilenetv3,densenet,vision_transformer}.py and the papers' tables.
void TestLayerFacts::layersOfModels_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("module");
    QTest::addColumn<QString>("brief");
    const auto row = [](const char* model, const char* module, const char* brief) {
        QTest::addRow("%s %s", model, module) << model << module << QString::fromUtf8(brief);
    };
    row("zoo:resnet18", "conv1", "3→64 k7 s2 p3");
    row("zoo:resnet18", "bn1", "64");
    row("zoo:resnet18", "maxpool", "k3 s2 p1");
    row("zoo:resnet18", "layer2.0.downsample.0", "64→128 k1 s2");
    row("zoo:resnet18", "layer1.0.conv1", "64→64 k3 p1");
    row("zoo:resnet18", "avgpool", "→1×1");
    row("zoo:resnet18", "fc", "512→1000");
    row("zoo:mobilenet_v3_small", "features.1.block.0.0", "16→16 k3 s2 p1 g16");
    row("zoo:densenet121", "features.transition1.pool", "k2 s2");
    row("zoo:densenet121", "features.denseblock2.denselayer3.conv1", "192→128 k1");
    row("zoo:vit_b_16", "conv_proj", "3→768 k16 s16");
    row("zoo:vit_b_16", "encoder.layers.encoder_layer_0.mlp.0", "768→3072");
    row("zoo:vit_b_16", "encoder.ln", "768");
    row("zoo:bert_base", "embeddings.word_embeddings", "30522×768");
}

void TestLayerFacts::layersOfModels() {
    QFETCH(QString, model);
    QFETCH(QString, module);
    QFETCH(QString, brief);
    const auto document = opened(model.toStdString());
    const graph::InternalGraph& graph = *document->graph;
    QStringList found;
    for (const graph::ExprId id : exprsOf(graph, module.toStdString()))
        if (const std::string text = analysis::layerBrief(graph, graph.expr(id)); !text.empty())
            found << QString::fromStdString(text);
    QCOMPARE(found, QStringList{brief});
}

void TestLayerFacts::modulesAreTheirMainLayer_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("module");
    QTest::addColumn<QString>("brief");
    const auto row = [](const char* model, const char* module, const char* brief) {
        QTest::addRow("%s %s", model, module) << model << module << QString::fromUtf8(brief);
    };
    row("zoo:mobilenet_v3_small", "features.0", "3→16 k3 s2 p1");
    row("zoo:bert_base", "encoder.layer.0.attention.self", "12 heads");
    row("zoo:vit_b_16", "encoder.layers.encoder_layer_0.self_attention", "12 heads ×64");
    row("zoo:vit_small", "encoder.layers.encoder_layer_2.self_attention", "4 heads ×16");
    row("zoo:resnet18", "layer1.0", "");
}

void TestLayerFacts::modulesAreTheirMainLayer() {
    QFETCH(QString, model);
    QFETCH(QString, module);
    QFETCH(QString, brief);
    const auto document = opened(model.toStdString());
    const graph::InternalGraph& graph = *document->graph;
    graph::MainLayer layer(graph);
    graph::ExprId found;
    std::string moduleClass;
    for (const graph::ExprId id : graph.main().order) {
        const graph::Expr& expr = graph.expr(id);
        const graph::Scope* scope = &graph.scope(expr.scope);
        while (scope->qualname != module.toStdString() && scope->parent.valid()) scope = &graph.scope(scope->parent);
        if (expr.kind == graph::ExprKind::CallModule && expr.target == module.toStdString()) {
            found = graph::mainLayerOf(graph, expr);
            moduleClass = expr.moduleClass;
        } else if (scope->qualname == module.toStdString()) {
            moduleClass = scope->moduleClass;
            const graph::ExprId inside = graph::mainLayerOf(graph, expr);
            layer.add(inside.valid() ? inside : id);
        }
    }
    if (!found.valid()) found = layer.found();
    QCOMPARE(found.valid() ? QString::fromStdString(analysis::moduleBrief(graph, graph.expr(found), moduleClass))
                           : QString(),
             brief);
}

void TestLayerFacts::formsOfOnnx_data() {
    QTest::addColumn<QString>("op");
    QTest::addColumn<QByteArrayList>("attributes");
    QTest::addColumn<QList<QList<qint64>>>("weights");
    QTest::addColumn<QList<qint64>>("input");
    QTest::addColumn<QString>("brief");
    using Ints = std::vector<std::int64_t>;
    const auto ints = [](const char* name, const Ints& values) {
        return QByteArray::fromStdString(intsAttribute(name, values));
    };
    const auto one = [](const char* name, std::int64_t value) {
        return QByteArray::fromStdString(intAttribute(name, value));
    };
    const auto word = [](const char* name, const char* value) {
        return QByteArray::fromStdString(stringAttribute(name, value));
    };
    const auto row = [](const char* name, const char* op, const QByteArrayList& attributes,
                        const QList<QList<qint64>>& weights, const QList<qint64>& input, const char* brief) {
        QTest::newRow(name) << op << attributes << weights << input << QString::fromUtf8(brief);
    };
    row("one side", "Conv", {ints("pads", {0, 1, 0, 2})}, {{8, 3, 3, 5}}, {1, 3, 9, 9}, "3→8 k3×5 p0×1,0×2");
    row("same", "Conv", {word("auto_pad", "SAME_UPPER"), ints("dilations", {2, 2})}, {{8, 3, 3, 3}}, {1, 3, 9, 9},
        "3→8 k3 p same_upper d2");
    row("groups", "Conv", {one("group", 4), ints("strides", {1, 2})}, {{8, 2, 3, 3}}, {1, 8, 9, 9}, "8→8 k3 s1×2 g4");
    row("transposed", "ConvTranspose", {one("group", 2), ints("strides", {2, 2})}, {{8, 3, 4, 4}}, {1, 8, 9, 9},
        "8→6 k4 s2 g2");
    row("Gemm", "Gemm", {one("transB", 1)}, {{10, 32}, {10}}, {1, 32}, "32→10");
    row("Gemm as it is", "Gemm", {}, {{32, 10}, {10}}, {1, 32}, "32→10");
    row("MatMul", "MatMul", {}, {{32, 10}}, {2, 5, 32}, "32→10");
    row("GroupNorm", "GroupNormalization", {one("num_groups", 4)}, {{16}, {16}}, {1, 16, 5, 5}, "16 g4");
    row("LSTM", "LSTM", {one("hidden_size", 6), word("direction", "bidirectional")}, {{2, 24, 5}, {2, 24, 6}},
        {7, 1, 5}, "5→6 bidirectional");
    row("softmax", "Softmax", {}, {}, {1, 10}, "dim -1");
}

void TestLayerFacts::formsOfOnnx() {
    QFETCH(QString, op);
    QFETCH(QByteArrayList, attributes);
    QFETCH(QList<QList<qint64>>, weights);
    QFETCH(QList<qint64>, input);
    QFETCH(QString, brief);
    Node node{op.toStdString(), {"x"}, {"y"}, "", "", {}};
    for (const QByteArray& attribute : attributes) node.attributes.push_back(attribute.toStdString());
    std::vector<std::string> initializers;
    for (const QList<qint64>& dims : weights) {
        node.inputs.push_back("w" + std::to_string(initializers.size()));
        initializers.push_back(zeros(node.inputs.back(), {dims.begin(), dims.end()}));
    }
    const auto document = file(node, std::move(initializers), {input.begin(), input.end()});
    const graph::InternalGraph& graph = *document->graph;
    QStringList found;
    for (const graph::ExprId id : graph.main().order)
        if (const std::string text = analysis::layerBrief(graph, graph.expr(id)); !text.empty())
            found << QString::fromStdString(text);
    QCOMPARE(found, QStringList{brief});
}

void TestLayerFacts::allParametersAreListed() {
    const auto document = opened("zoo:resnet18");
    const graph::InternalGraph& graph = *document->graph;
    for (const graph::ExprId id : exprsOf(graph, "conv1")) {
        const std::vector<LayerFact> facts = analysis::layerFacts(graph, graph.expr(id));
        if (facts.empty()) continue;
        const std::vector<LayerFact> expected{
            {"Channels in", "3", ""}, {"Channels out", "64", "3→64"}, {"Kernel", "7×7", "k7"}, {"Stride", "2×2", "s2"},
            {"Padding", "3×3", "p3"}, {"Dilation", "1×1", ""},        {"Groups", "1", ""}};
        QCOMPARE(facts, expected);
        const std::vector<LayerFact> weights{{"weight", "float32[64,3,7,7]", ""}};
        QCOMPARE(analysis::weightFacts(graph, graph.expr(id)), weights);
        return;
    }
    QFAIL("there is no convolution");
}

/// Products without weights are no layers; what is gathered from other tensors is no embedding.
void TestLayerFacts::nothingIsSaidOfOthers() {
    const auto relu = file({"Relu", {"x"}, {"y"}, "", "", {}}, {}, {1, 8});
    for (const graph::ExprId id : relu->graph->main().order)
        QCOMPARE(analysis::layerBrief(*relu->graph, relu->graph->expr(id)), std::string());
    const auto square = file({"MatMul", {"x", "x"}, {"y"}, "", "", {}}, {}, {8, 8});
    for (const graph::ExprId id : square->graph->main().order)
        QCOMPARE(analysis::layerBrief(*square->graph, square->graph->expr(id)), std::string());
    const auto gather =
        file({"Gather", {"w", "x"}, {"y"}, "", "", {intAttribute("axis", 1)}}, {zeros("w", {8, 4})}, {2});
    for (const graph::ExprId id : gather->graph->main().order)
        QCOMPARE(analysis::layerBrief(*gather->graph, gather->graph->expr(id)), std::string());
}

QTEST_APPLESS_MAIN(TestLayerFacts)

}  // namespace tst_layer_facts

#include "tst_layer_facts.moc"
