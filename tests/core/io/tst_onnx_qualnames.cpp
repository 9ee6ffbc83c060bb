// Module names recovered from ONNX files, against the modules that torch.jit.trace recorded for the same models
// (models/*.aten.tsv, made by torch).

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/io/onnx/onnx_reader.h"
#include "tests/support/onnx_file.h"

namespace tst_onnx_qualnames {

using namespace sonde;

namespace {

QString data(const QString& name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + name; }

graph::InternalGraph readGraph(const QString& name) {
    const auto file = base::MappedFile::open(data(name + ".onnx").toStdString());
    auto model = io::readOnnx(file.value());
    return std::move(model.value().graph);
}

/// Modules of the recorded calls of one kind of operator, in order.
QStringList recorded(const QString& name, const QStringList& kinds) {
    QFile file(data(name + ".aten.tsv"));
    QStringList modules;
    if (!file.open(QIODevice::ReadOnly)) return modules;
    for (const QString& line : QString::fromUtf8(file.readAll()).split(u'\n')) {
        const QStringList cells = line.split(u'\t');
        if (cells.size() >= 4 && kinds.contains(cells[1])) modules << cells[3];
    }
    return modules;
}

QStringList read(const graph::InternalGraph& graph, const QStringList& operators) {
    QStringList modules;
    for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (operators.contains(QString::fromStdString(expr.op.name)))
            modules << QString::fromStdString(expr.qualname.value_or("None"));
    }
    return modules;
}

}  // namespace

class TestOnnxQualnames : public QObject {
    Q_OBJECT

  private slots:
    void convolutionsAndActivationsBelongToTheirModules_data();
    void convolutionsAndActivationsBelongToTheirModules();
    void scriptsLosePathsThatParametersBringBack();
    void callsNestAsTheyWereMade();
    void slashesOfTensorFlowAreModules();
};

void TestOnnxQualnames::convolutionsAndActivationsBelongToTheirModules_data() {
    QTest::addColumn<QStringList>("kinds");
    QTest::addColumn<QStringList>("operators");
    const QStringList convolutions{"aten::_convolution", "aten::convolution", "aten::conv2d"};
    for (const char* model : {"mobilenet_v3_small", "nested_containers", "resnet18_slim"}) {
        QTest::addRow("%s convolutions", model) << convolutions << QStringList{"Conv"};
    }
    QTest::newRow("unet_small convolutions") << convolutions << QStringList{"Conv", "ConvTranspose"};
    for (const char* model : {"mobilenet_v3_small", "resnet18_slim", "unet_small"}) {
        QTest::addRow("%s relu", model) << QStringList{"aten::relu", "aten::relu_"} << QStringList{"Relu"};
    }
    QTest::newRow("mobilenet_v3_small hardswish")
        << QStringList{"aten::hardswish", "aten::hardswish_"} << QStringList{"HardSwish"};
    QTest::newRow("shared_twice linear") << QStringList{"aten::linear"} << QStringList{"Gemm"};
    QTest::newRow("shared_twice elu") << QStringList{"aten::elu"} << QStringList{"Elu"};
    QTest::newRow("lstm_classifier lstm")
        << QStringList{"aten::embedding", "aten::linear"} << QStringList{"Gather", "Gemm"};
    QTest::newRow("gpt_mini gelu") << QStringList{"aten::gelu"} << QStringList{"Erf", "Tanh"};
    QTest::newRow("gpt_mini softmax") << QStringList{"aten::softmax"} << QStringList{"Softmax"};
}

void TestOnnxQualnames::convolutionsAndActivationsBelongToTheirModules() {
    QFETCH(QStringList, kinds);
    QFETCH(QStringList, operators);
    const QString model = QString(QTest::currentDataTag()).section(u' ', 0, 0);
    QStringList expected = recorded(model, kinds);
    QStringList found = read(readGraph(model), operators);
    QVERIFY(!expected.isEmpty());
    if (model == u"lstm_classifier") {  // Gather also picks the last state and sizes: only whose it is matters
        expected.removeDuplicates();
        found.removeDuplicates();
        for (const QString& module : expected) QVERIFY2(found.contains(module), qPrintable(module));
        return;
    }
    QCOMPARE(found, expected);
}

void TestOnnxQualnames::scriptsLosePathsThatParametersBringBack() {
    // In the Python model `/body/1/Conv_1` is `body.1.gate.conv`.
    const graph::InternalGraph graph = readGraph("robust_nested");
    const graph::NodeId node = graph.findNode("/body/1/Conv_1_output_0");
    QVERIFY(node.valid());
    QCOMPARE(graph.expr(graph.node(node).producer).qualname.value(), std::string("body.1.gate.conv"));
    QCOMPARE(read(graph, {"Conv"}), (QStringList{"stem.0", "body.0.pre", "body.0.gate.conv", "body.0.gate.alt",
                                                 "body.1.pre", "body.1.gate.conv", "body.1.gate.alt"}));
}

void TestOnnxQualnames::callsNestAsTheyWereMade() {
    const graph::InternalGraph graph = readGraph("shared_twice");
    QStringList chains;
    for (graph::ExprId id : graph.main().order) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.op.name != "Elu") continue;
        QString chain;
        for (graph::ScopeId scope = expr.scope; graph.scope(scope).parent.valid(); scope = graph.scope(scope).parent) {
            chain.prepend(QString("/%1#%2")
                              .arg(QString::fromStdString(graph.scope(scope).qualname))
                              .arg(graph.scope(scope).call));
        }
        chains << chain;
    }
    QCOMPARE(chains, (QStringList{"/block#0/block.act#0", "/block#1/block.act#1", "/block#2/block.act#2"}));
}

void TestOnnxQualnames::slashesOfTensorFlowAreModules() {
    using test::onnxfile::Node;
    const std::vector<std::pair<const char*, const char*>> names{
        {"StatefulPartitionedCall/model/block1/conv/BiasAdd", "model.block1.conv"},
        {"StatefulPartitionedCall/StatefulPartitionedCall/model/block1/relu/Relu;model/block1/add",
         "model.block1.relu"},
        {"PartitionedCall_1/model/dense/MatMul__12", "model.dense"},
        {"functional_1/conv2d_1/convolution", "functional_1.conv2d_1"},
        {"Relu__7", ""},
    };
    test::onnxfile::Graph graph;
    graph.inputs = {test::onnxfile::valueInfo("x", 1, {})};
    graph.outputs = {test::onnxfile::valueInfo("y" + std::to_string(names.size() - 1), 1, {})};
    for (std::size_t i = 0; i < names.size(); ++i) {
        graph.nodes.push_back(
            Node{"Relu", {i == 0 ? "x" : "y" + std::to_string(i - 1)}, {"y" + std::to_string(i)}, names[i].first});
    }
    QTemporaryDir folder;
    const QString path = folder.filePath("tf.onnx");
    QVERIFY(test::onnxfile::write(path, test::onnxfile::model(graph)));
    const auto model = io::readOnnx(base::MappedFile::open(path.toStdString()).value());
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const graph::InternalGraph& read = model->graph;
        const graph::NodeId node = read.findNode("y" + std::to_string(i));
        QCOMPARE(QString::fromStdString(read.expr(read.node(node).producer).qualname.value_or("None")),
                 QString(names[i].second));
    }
}

QTEST_APPLESS_MAIN(TestOnnxQualnames)

}  // namespace tst_onnx_qualnames

#include "tst_onnx_qualnames.moc"
