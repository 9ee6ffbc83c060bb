// What is a parameter, what a buffer and what neither: counts worked by hand on small ONNX files, PyTorch's own counts
// of its models (manifest.json of the reference sets), torchvision's published count of ResNet-18.

#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <span>
#include <string_view>

#include "core/analysis/node_measures.h"
#include "core/analysis/parameters.h"
#include "core/document/document.h"
#include "tests/core/passes/graph_maker.h"
#include "tests/support/onnx_file.h"
#include "tests/support/reference_sets.h"

namespace tst_parameters {

using namespace sonde;
using namespace sonde::test::onnxfile;
using analysis::ModelCounts;

namespace {

enum OnnxType { kFloat = 1, kUInt8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7, kFloat16 = 10 };

std::size_t itemBytes(int type) {
    return type == kInt64 ? 8 : type == kFloat || type == kInt32 ? 4 : type == kFloat16 ? 2 : 1;
}

std::size_t countOf(const std::vector<std::int64_t>& dims) {
    std::size_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
    return count;
}

/// Bytes 0, 1, 2 …: many different values, whatever the type.
std::string stored(const std::string& name, int type, const std::vector<std::int64_t>& dims) {
    std::string raw(countOf(dims) * itemBytes(type), '\0');
    for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<char>(i % 60);
    return rawTensor(name, type, dims, raw);
}

std::string floats(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    return rawTensor(name, kFloat, dims,
                     std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}

Node constant(const std::string& name, const std::string& tensor) {
    std::string attribute;
    protozero::pbf_writer writer(attribute);
    writer.add_string(1, "value");
    writer.add_message(5, tensor);
    writer.add_enum(20, 4);
    return {.op = "Constant", .inputs = {}, .outputs = {name}, .name = {}, .domain = {}, .attributes = {attribute}};
}

Node storedNode(const std::string& name, int type, const std::vector<std::int64_t>& dims) {
    return constant(name, stored("", type, dims));
}

Node node(const std::string& op, std::vector<std::string> inputs, const std::string& output,
          std::vector<std::string> attributes = {}, const std::string& domain = {}) {
    return {.op = op,
            .inputs = std::move(inputs),
            .outputs = {output},
            .name = {},
            .domain = domain,
            .attributes = std::move(attributes)};
}

}  // namespace

class TestParameters : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void constantNodesInWeightPositions();
    void runningStatisticsAreBuffers();
    void whatIsNoWeight();
    void tiedOnesCountOnce();
    void modulesWithoutAnInsideReadWhatIsInThem();
    void aFunctionCalledTwiceHasItsWeightOnce();
    void partsOfOneMemoryAreApart();
    void throughCastsAndTransposes();
    void quantizedOnes();
    void weightsOfFewBits();
    void recurrentOnes();
    void insideOfBranches();
    void masksAndTables();
    void modulesSumUp();
    void unusedOnesAreSaid();
    void asPyTorchCounts_data();
    void asPyTorchCounts();
    void asTorchvisionPublishes();
    void everyPlaceAgrees();

  private:
    std::shared_ptr<const document::Document> open(const Graph& graph,
                                                   const std::vector<std::string>& opsets = {opset("", 16)},
                                                   const std::vector<Function>& functions = {}) {
        const QString path = m_folder.filePath(QStringLiteral("model%1.onnx").arg(m_next++));
        if (!write(path, model(graph, functions, opsets))) return nullptr;
        auto opened = document::open(path.toStdString());
        if (!opened) qWarning("%s", opened.error().what.c_str());
        return opened ? *opened : nullptr;
    }
    ModelCounts count(const Graph& graph, const std::vector<std::string>& opsets = {opset("", 16)}) {
        const auto document = open(graph, opsets);
        return document ? analysis::countParameters(*document->graph, *document->modules) : ModelCounts();
    }

    QTemporaryDir m_folder;
    int m_next = 0;
};

void TestParameters::constantNodesInWeightPositions() {
    const ModelCounts counts = count(
        {.nodes = {storedNode("w", kFloat, {2, 3, 3, 3}), storedNode("b", kFloat, {2}),
                   node("Conv", {"x", "w", "b"}, "c"), storedNode("shape", kInt64, {2}),
                   node("Reshape", {"c", "shape"}, "r"), storedNode("half", kFloat, {}),
                   node("Mul", {"r", "half"}, "m"), storedNode("m1", kFloat, {8, 5}), node("MatMul", {"m", "m1"}, "y1"),
                   storedNode("bias", kFloat, {5}), node("Add", {"y1", "bias"}, "y")},
         .inputs = {valueInfo("x", 1, {1, 3, 4, 4})},
         .outputs = {valueInfo("y", 1, {-1, 5})}});
    QCOMPARE(counts.parameters.elements, 54 + 2 + 40 + 5);
    QCOMPARE(counts.parameters.bytes, 4 * (54 + 2 + 40 + 5));
    QCOMPARE(counts.parameters.tensors, 4);
    QCOMPARE(counts.buffers.elements, 0);
    QCOMPARE(counts.constants.elements, 2 + 1);
    QCOMPARE(analysis::dtypesText(counts.parameters), std::string("float32"));
}

void TestParameters::runningStatisticsAreBuffers() {
    for (const bool asNodes : {false, true}) {
        Graph graph{
            .nodes = {}, .inputs = {valueInfo("x", 1, {1, 4, 2, 2})}, .outputs = {valueInfo("y", 1, {1, 4, 2, 2})}};
        for (const char* name : {"scale", "shift", "mean", "variance"}) {
            if (asNodes) graph.nodes.push_back(storedNode(name, kFloat, {4}));
            else graph.initializers.push_back(stored(name, kFloat, {4}));
        }
        graph.nodes.push_back(node("BatchNormalization", {"x", "scale", "shift", "mean", "variance"}, "y"));
        const ModelCounts counts = count(graph);
        QCOMPARE(counts.parameters.elements, 8);
        QCOMPARE(counts.buffers.elements, 8);
        QCOMPARE(counts.constants.elements, 0);
    }
}

/// Shapes, axes, scales and limits are stored as initializers, too.
void TestParameters::whatIsNoWeight() {
    const ModelCounts counts =
        count({.nodes = {node("Resize", {"x", "roi", "scales"}, "a"), node("Clip", {"a", "low", "high"}, "b"),
                         node("Pow", {"b", "power"}, "c"), node("Slice", {"c", "starts", "ends"}, "d"),
                         node("Add", {"d", "epsilon"}, "y")},
               .inputs = {valueInfo("x", 1, {1, 3, 4, 4})},
               .outputs = {valueInfo("y", 1, {-1, -1, -1, -1})},
               .initializers = {stored("roi", kFloat, {8}), floats("scales", {4}, {1, 1, 2, 2}), floats("low", {}, {0}),
                                floats("high", {}, {6}), floats("power", {1}, {2}), stored("starts", kInt64, {1}),
                                stored("ends", kInt64, {1}), floats("epsilon", {}, {1e-5F})}});
    QCOMPARE(counts.parameters.elements, 0);
    QCOMPARE(counts.buffers.elements, 0);
    QCOMPARE(counts.constants.elements, 8 + 4 + 1 + 1 + 1 + 1 + 1 + 1);
}

/// An embedding that is the output layer, too.
void TestParameters::tiedOnesCountOnce() {
    const auto document = open({.nodes = {node("Gather", {"wte", "ids"}, "e"), node("Transpose", {"wte"}, "t"),
                                          node("MatMul", {"e", "t"}, "y")},
                                .inputs = {valueInfo("ids", kInt64, {3})},
                                .outputs = {valueInfo("y", 1, {3, 10})},
                                .initializers = {stored("wte", kFloat, {10, 4})}});
    QVERIFY(document);
    const ModelCounts counts = analysis::countParameters(*document->graph, *document->modules);
    QCOMPARE(counts.parameters.elements, 40);
    std::int64_t ofOperations = 0;
    for (const std::int64_t one : counts.ofExpr) ofOperations += one;
    QCOMPARE(ofOperations, 40);
    // The same memory under two names, in a tree that registers both.
    graph::ModuleTree tree;
    const tensor::Tensor weight = tensor::Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
    const auto type = tensor::TypeInfo::tensor(weight.dtype(), weight.shape());
    const std::size_t a = tree.add("embed", "Embedding"), b = tree.add("head.proj", "Linear");
    tree.mutableModule(a).parameters = {{"weight", type, weight, false}};
    tree.mutableModule(b).parameters = {{"weight", type, weight, false}};
    const ModelCounts tied = analysis::countParameters(graph::InternalGraph(), tree);
    QCOMPARE(tied.parameters.elements, 6);
    QCOMPARE(tied.tensors.front().names, (std::vector<std::string>{"embed.weight", "head.proj.weight"}));
    QCOMPARE(tied.ofModule[0].parameters.elements, 6);
    QCOMPARE(tied.ofModule[0].tied, 6);
    QCOMPARE(tied.ofModule[a].parameters.elements, 6);
    QCOMPARE(tied.ofModule[*tree.find("head")].parameters.elements, 6);
}

/// A Constant node of a function is one tensor in the file, however many calls there are.
void TestParameters::aFunctionCalledTwiceHasItsWeightOnce() {
    const test::onnxfile::Function layer{
        "Layer", "own", {"u"}, {"v"}, {storedNode("w", kFloat, {2, 2}), node("MatMul", {"u", "w"}, "v")}};
    const Graph graph{.nodes = {node("Layer", {"x"}, "a", {}, "own"), node("Layer", {"a"}, "y", {}, "own")},
                      .inputs = {valueInfo("x", 1, {1, 2})},
                      .outputs = {valueInfo("y", 1, {1, 2})}};
    const auto document = open(graph, {opset("", 16), opset("own", 1)}, {layer});
    QVERIFY(document);
    const ModelCounts counts = analysis::countParameters(*document->graph, *document->modules);
    QCOMPARE(counts.parameters.elements, 4);
    QCOMPARE(counts.parameters.tensors, 1);
}

/// The rows of one tensor of [2, 4] are two weights of four elements.
void TestParameters::partsOfOneMemoryAreApart() {
    const auto both = tensor::Tensor::of<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    test::Maker maker;
    const auto x = maker.floats("x", {1, 4});
    const auto first = maker.onnx("first", "MatMul", x, maker.constant("a", *both.selected(0, 0).reshaped({4, 1})));
    const auto second = maker.onnx("second", "MatMul", x, maker.constant("b", *both.selected(0, 1).reshaped({4, 1})));
    maker.result(maker.onnx("sum", "Add", first, second));
    const analysis::ModelCounts counts = analysis::countParameters(maker.graph, graph::ModuleTree());
    QCOMPARE(counts.parameters.elements, std::int64_t{8});
    QCOMPARE(counts.parameters.tensors, std::int64_t{2});
    // What the graph still reads is there, whatever the graph was before a pass.
    const auto kept = analysis::countParameters(maker.graph, graph::ModuleTree(), &maker.graph);
    QCOMPARE(kept.parameters.elements, std::int64_t{8});
}

void TestParameters::throughCastsAndTransposes() {
    const ModelCounts counts =
        count({.nodes = {storedNode("w16", kFloat16, {5, 4}), node("Cast", {"w16"}, "w", {intAttribute("to", kFloat)}),
                         node("Identity", {"w"}, "i"), node("Transpose", {"i"}, "t"), node("MatMul", {"x", "t"}, "y")},
               .inputs = {valueInfo("x", 1, {1, 4})},
               .outputs = {valueInfo("y", 1, {1, 5})}});
    QCOMPARE(counts.parameters.elements, 20);
    QCOMPARE(counts.parameters.bytes, 40);
    QCOMPARE(analysis::dtypesText(counts.parameters), std::string("float16"));
}

void TestParameters::quantizedOnes() {
    const ModelCounts dequantized =
        count({.nodes = {node("DequantizeLinear", {"w", "ws", "wz"}, "wf"), node("DequantizeLinear", {"b", "bs"}, "bf"),
                         node("Conv", {"x", "wf", "bf"}, "y")},
               .inputs = {valueInfo("x", 1, {1, 3, 4, 4})},
               .outputs = {valueInfo("y", 1, {1, 2, 2, 2})},
               .initializers = {stored("w", kInt8, {2, 3, 3, 3}), floats("ws", {}, {0.1F}), stored("wz", kInt8, {}),
                                stored("b", kInt32, {2}), floats("bs", {}, {0.1F})}});
    QCOMPARE(dequantized.parameters.elements, 54 + 2);
    QCOMPARE(dequantized.parameters.bytes, 54 + 8);
    QCOMPARE(analysis::dtypesText(dequantized.parameters), std::string("int8 and int32"));
    QCOMPARE(dequantized.constants.elements, 3);
    const ModelCounts fused = count({.nodes = {node("QLinearConv", {"x", "s", "z", "w", "s", "z", "s", "z", "b"}, "y")},
                                     .inputs = {valueInfo("x", kUInt8, {1, 3, 4, 4})},
                                     .outputs = {valueInfo("y", kUInt8, {1, 2, 2, 2})},
                                     .initializers = {stored("w", kUInt8, {2, 3, 3, 3}), floats("s", {}, {0.1F}),
                                                      stored("z", kUInt8, {}), stored("b", kInt32, {2})}});
    QCOMPARE(fused.parameters.elements, 56);
    QCOMPARE(fused.constants.elements, 2);
}

/// Two weights of 4 bits in a byte, padded to blocks of 16: K is 20.
void TestParameters::weightsOfFewBits() {
    const ModelCounts counts = count({.nodes = {node("MatMulNBits", {"x", "b", "scales"}, "y",
                                                     {intAttribute("K", 20), intAttribute("N", 3),
                                                      intAttribute("bits", 4), intAttribute("block_size", 16)},
                                                     "com.microsoft")},
                                      .inputs = {valueInfo("x", 1, {1, 20})},
                                      .outputs = {valueInfo("y", 1, {1, 3})},
                                      .initializers = {stored("b", kUInt8, {3, 2, 8}), stored("scales", kFloat, {6})}},
                                     {opset("", 16), opset("com.microsoft", 1)});
    QCOMPARE(counts.parameters.elements, 60);
    QCOMPARE(counts.parameters.bytes, 48);
    QCOMPARE(counts.constants.elements, 6);
}

/// W [1,4h,i], R [1,4h,h], B [1,8h]; the first state is none of them.
void TestParameters::recurrentOnes() {
    const ModelCounts counts = count(
        {.nodes = {node("LSTM", {"x", "w", "r", "b", "", "h0", "c0"}, "y", {intAttribute("hidden_size", 2)})},
         .inputs = {valueInfo("x", 1, {5, 1, 3})},
         .outputs = {valueInfo("y", 1, {5, 1, 1, 2})},
         .initializers = {stored("w", kFloat, {1, 8, 3}), stored("r", kFloat, {1, 8, 2}), stored("b", kFloat, {1, 16}),
                          stored("h0", kFloat, {1, 1, 2}), stored("c0", kFloat, {1, 1, 2})}});
    QCOMPARE(counts.parameters.elements, 24 + 16 + 16);
    QCOMPARE(counts.constants.elements, 4);
}

/// Weights of a branch, one that it captures, and one that it only gives back to be multiplied with.
void TestParameters::insideOfBranches() {
    const Graph yes{.nodes = {node("MatMul", {"x", "inner"}, "p"), node("MatMul", {"p", "outer"}, "q"),
                              node("Identity", {"matrix1"}, "m1")},
                    .inputs = {},
                    .outputs = {valueInfo("q", 1, {2, 2}), valueInfo("m1", 1, {2, 2})},
                    .initializers = {stored("inner", kFloat, {2, 2}), stored("matrix1", kFloat, {2, 2})}};
    const Graph no{.nodes = {node("Identity", {"x"}, "n"), storedNode("matrix2", kFloat, {2, 2})},
                   .inputs = {},
                   .outputs = {valueInfo("n", 1, {2, 2}), valueInfo("matrix2", 1, {2, 2})}};
    Node branch{.op = "If",
                .inputs = {"c"},
                .outputs = {"z", "m"},
                .name = {},
                .domain = {},
                .attributes = {graphAttribute("then_branch", yes.bytes()), graphAttribute("else_branch", no.bytes())}};
    const ModelCounts counts = count({.nodes = {branch, node("MatMul", {"z", "m"}, "y")},
                                      .inputs = {valueInfo("c", 9, {}), valueInfo("x", 1, {2, 2})},
                                      .outputs = {valueInfo("y", 1, {2, 2})},
                                      .initializers = {stored("outer", kFloat, {2, 2})}});
    QCOMPARE(counts.parameters.elements, 4 * 4);
}

/// Position embeddings are weights that are added; what says which positions count is none, nor is a table in a
/// Constant node.
void TestParameters::masksAndTables() {
    const float inf = std::numeric_limits<float>::infinity();
    const ModelCounts counts =
        count({.nodes = {node("Add", {"x", "pos_embed"}, "a"), node("Add", {"a", "mask"}, "b"),
                         storedNode("table", kFloat, {2, 2}), node("Mul", {"b", "table"}, "c"),
                         node("Concat", {"c", "token"}, "y", {intAttribute("axis", 0)})},
               .inputs = {valueInfo("x", 1, {2, 2})},
               .outputs = {valueInfo("y", 1, {3, 2})},
               .initializers = {stored("pos_embed", kFloat, {2, 2}), floats("mask", {2, 2}, {0, -inf, 0, 0}),
                                stored("token", kFloat, {1, 2})}});
    QCOMPARE(counts.parameters.elements, 4 + 2);
    QCOMPARE(counts.constants.elements, 4 + 4);
}

void TestParameters::modulesSumUp() {
    const auto document =
        open({.nodes = {{.op = "Conv", .inputs = {"x", "a.conv.weight"}, .outputs = {"c"}, .name = "/a/conv/Conv"},
                        {.op = "BatchNormalization",
                         .inputs = {"c", "a.bn.weight", "a.bn.bias", "a.bn.running_mean", "a.bn.running_var"},
                         .outputs = {"y"},
                         .name = "/a/bn/BatchNormalization"}},
              .inputs = {valueInfo("x", 1, {1, 3, 4, 4})},
              .outputs = {valueInfo("y", 1, {1, 2, 2, 2})},
              .initializers = {stored("a.conv.weight", kFloat, {2, 3, 3, 3}), stored("a.bn.weight", kFloat, {2}),
                               stored("a.bn.bias", kFloat, {2}), stored("a.bn.running_mean", kFloat, {2}),
                               stored("a.bn.running_var", kFloat, {2})}});
    QVERIFY(document);
    const ModelCounts counts = analysis::countParameters(*document->graph, *document->modules);
    const auto parametersOf = [&](const char* module) {
        return counts.ofModule[*document->modules->find(module)].parameters.elements;
    };
    QCOMPARE(parametersOf("a.conv"), 54);
    QCOMPARE(parametersOf("a.bn"), 4);
    QCOMPARE(parametersOf("a"), 58);
    QCOMPARE(parametersOf(""), 58);
    QCOMPARE(counts.ofModule[0].buffers.elements, 4);
}

void TestParameters::unusedOnesAreSaid() {
    graph::ModuleTree tree;
    const tensor::Tensor weight = tensor::Tensor::of<float>({3}, {1, 2, 3});
    tree.mutableModule(tree.add("aux", "Linear")).parameters = {
        {"weight", tensor::TypeInfo::tensor(weight.dtype(), weight.shape()), weight, false}};
    const ModelCounts counts = analysis::countParameters(graph::InternalGraph(), tree);
    QCOMPARE(counts.parameters.elements, 3);
    QCOMPARE(counts.unread.elements, 3);
}

void TestParameters::asPyTorchCounts_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<qint64>("parameters");
    QFile manifest(test::referenceSets() + QStringLiteral("/models/manifest.json"));
    if (!manifest.open(QIODevice::ReadOnly)) return;
    const QJsonObject models =
        QJsonDocument::fromJson(manifest.readAll()).object().value(QStringLiteral("models")).toObject();
    for (auto model = models.begin(); model != models.end(); ++model)
        for (const char* kind : {".trace.pt", ".script.pt"})
            if (const QString path =
                    test::referenceSets() + QStringLiteral("/models/") + model.key() + QLatin1String(kind);
                QFileInfo::exists(path))
                QTest::addRow("%s%s", qPrintable(model.key()), kind)
                    << path << model.value().toObject().value(QStringLiteral("parameters")).toInteger();
}

void TestParameters::asPyTorchCounts() {
    SONDE_NEEDS_SET("models", test::referenceSets() + QStringLiteral("/models/manifest.json"));
    QFETCH(QString, file);
    QFETCH(qint64, parameters);
    const auto document = document::open(file.toStdString());
    QVERIFY(document);
    QCOMPARE(analysis::countParameters(*(*document)->graph, *(*document)->modules).parameters.elements, parameters);
}

/// https://pytorch.org/vision/stable/models: num_params of ResNet18_Weights. Its 20 norms have 4,800 channels, a mean
/// and a variance of each; PyTorch keeps a counter of each norm, too.
void TestParameters::asTorchvisionPublishes() {
    const auto document = document::open("zoo:resnet18");
    QVERIFY(document);
    const ModelCounts counts = analysis::countParameters(*(*document)->graph, *(*document)->modules);
    QCOMPARE(counts.parameters.elements, 11'689'512);
    QVERIFY(counts.buffers.elements == 9600 || counts.buffers.elements == 9620);
    QCOMPARE(counts.unread.elements, 0);
}

/// Total, sum over operations, sum over tensors and the root's row.
void TestParameters::everyPlaceAgrees() {
    const QString folder = test::referenceModels();
    for (const char* name : {"resnet18_slim.onnx", "gpt_mini.onnx", "gpt_mini.trace.pt", "mobilenet_v3_small.onnx",
                             "lstm_classifier.onnx", "unet_small.frozen.pt"}) {
        const QString path = folder + u'/' + QLatin1String(name);
        if (!QFileInfo::exists(path)) continue;
        const auto document = document::open(path.toStdString());
        QVERIFY2(document, name);
        const ModelCounts counts = analysis::countParameters(*(*document)->graph, *(*document)->modules);
        std::int64_t operations = counts.unread.elements, tensors = 0;
        for (const std::int64_t one : counts.ofExpr) operations += one;
        for (const analysis::StoredTensor& tensor : counts.tensors)
            if (tensor.kind == analysis::StoredKind::Parameter) tensors += tensor.size.elements;
        QVERIFY2(counts.parameters.elements > 0, name);
        QCOMPARE(operations, counts.parameters.elements);
        QCOMPARE(tensors, counts.parameters.elements);
        QCOMPARE(counts.ofModule[0].parameters.elements, counts.parameters.elements);
        QCOMPARE(counts.ofModule[0].buffers.elements, counts.buffers.elements);
    }
}

/// What is in a module that was not traced into is read by the call of it or of the nearest module around: of
/// "block" 2 elements and, unless it is called itself, the 3 inside of it. Nothing calls "other".
void TestParameters::modulesWithoutAnInsideReadWhatIsInThem() {
    graph::ModuleTree tree;
    const auto add = [&tree](const char* module, const char* name, std::int64_t size, bool isBuffer = false) {
        const std::size_t index = tree.find(module) ? *tree.find(module) : tree.add(module, "Custom");
        const tensor::Tensor value = tensor::Tensor::zeros(tensor::DType::Float32, {size}).value();
        tree.mutableModule(index).parameters.push_back(
            {name, tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{size}), value, isBuffer});
    };
    add("block", "bias", 2);
    add("block", "mean", 7, true);
    add("block.inner", "weight", 3);
    add("other", "weight", 5);
    for (const bool isInnerCalled : {false, true}) {
        test::Maker maker;
        graph::NodeId x = maker.floats("x", {4});
        std::vector<graph::ExprId> calls;
        for (const char* target : {"block", "block.inner", "block"}) {
            if (!isInnerCalled && calls.size() == 1 && std::string_view(target) != "block") continue;
            graph::Expr expr;
            expr.kind = graph::ExprKind::CallModule;
            expr.target = target;
            expr.arguments = {test::arg(x)};
            const std::string name = "call" + std::to_string(calls.size());
            calls.push_back(maker.graph.addExpr(std::move(expr), std::span(&name, 1)));
            x = maker.graph.expr(calls.back()).outputs.front();
        }
        maker.result(x);
        const ModelCounts counts = analysis::countParameters(maker.graph, tree);
        QCOMPARE(counts.parameters.elements, std::int64_t{10});
        QCOMPARE(counts.unread.elements, std::int64_t{5});
        QCOMPARE(counts.ofExpr[calls[0].index()], std::int64_t{isInnerCalled ? 2 : 5});
        QCOMPARE(counts.ofExpr[calls[1].index()], std::int64_t{isInnerCalled ? 3 : 0});
        QCOMPARE(counts.ofExpr[calls.back().index()], std::int64_t{0});  // read before
        for (const analysis::StoredTensor& stored : counts.tensors) {
            const std::string& name = stored.names.front();
            const graph::ExprId expected = name == "other.weight"                          ? graph::ExprId()
                                           : name == "block.inner.weight" && isInnerCalled ? calls[1]
                                                                                           : calls[0];
            QVERIFY2(stored.reader == expected, name.c_str());
        }
    }
}

QTEST_GUILESS_MAIN(TestParameters)

}  // namespace tst_parameters

#include "tst_parameters.moc"
