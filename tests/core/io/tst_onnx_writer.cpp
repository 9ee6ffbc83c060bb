// What is written is read back as the same graph; the values are held against references by `sonde check` (tests/app).

#include <QDir>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>

#include <set>

#include "core/io/onnx/onnx_reader.h"
#include "core/io/onnx/onnx_writer.h"
#include "tests/support/reference_sets.h"

namespace tst_onnx_writer {

using namespace sonde;

namespace {

base::Result<io::OnnxModel> readFile(const std::string& path) {
    auto file = base::MappedFile::open(path);
    if (!file) return file.error();
    return io::readOnnx(*file);
}

/// Everything that a person can see of a graph: the printed form, the names and scopes of its exprs, the constants.
QString described(const graph::InternalGraph& graph) {
    QString text = QString::fromStdString(graph::printed(graph));
    for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.kind == graph::ExprKind::Constant || expr.kind == graph::ExprKind::Input) continue;
        text += QString::fromStdString(expr.name + " " + expr.op.domain + " " + std::to_string(expr.op.version) + " " +
                                       expr.qualname.value_or("None") + "#") +
                QString::number(graph.scope(expr.scope).call) + "\n";
    }
    return text;
}

}  // namespace

class TestOnnxWriter : public QObject {
    Q_OBJECT

  private slots:
    void modelsComeBackTheSame_data();
    void modelsComeBackTheSame();
    void conformanceModelsComeBackTheSame();
    void sameGraphGivesSameBytes();
    void largeWeightsGoBeside();
    void foreignOperatorsAreRefused();
    void namesOfManyNodesDiffer();

  private:
    QTemporaryDir m_folder;
};

void TestOnnxWriter::modelsComeBackTheSame_data() {
    QTest::addColumn<QString>("path");
    for (const char* name : {"resnet18_slim", "shared_twice", "nested_containers", "control_flow", "robust_nested",
                             "gpt_mini", "lstm_classifier"}) {
        QTest::newRow(name) << QString(SONDE_TEST_DATA "/models/") + name + ".onnx";
    }
    QTest::newRow("ppocr") << QString(SONDE_SOURCE_DIR "/resources/samples/ch_ppocr_mobile_v2.0_cls_infer.onnx");
}

void TestOnnxWriter::modelsComeBackTheSame() {
    QFETCH(QString, path);
    const auto first = readFile(path.toStdString());
    QVERIFY(first.has_value());
    const std::string written = m_folder.filePath("again.onnx").toStdString();
    const auto result = io::writeOnnx(written, first->graph);
    QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
    const auto second = readFile(written);
    QVERIFY2(second.has_value(), second ? "" : second.error().text().c_str());
    // Weights stand after the inputs in both; value_info may only add what the nodes' own types said before.
    QCOMPARE(described(second->graph), described(first->graph));
    for (std::size_t i = 0; i < first->graph.nodeCount(); ++i) {
        const graph::Node& node = first->graph.node(graph::NodeId(i));
        if (!node.constant) continue;
        const auto& again = second->graph.node(second->graph.findNode(node.name)).constant;
        QVERIFY2(again && tensor::identical(*again, *node.constant), node.name.c_str());
    }
}

void TestOnnxWriter::conformanceModelsComeBackTheSame() {
    const QString folder = test::referenceSets() + "/onnx-conformance";
    SONDE_NEEDS_SET("onnx-conformance", folder);
    QDirIterator it(folder, {"model.onnx"}, QDir::Files, QDirIterator::Subdirectories);
    int count = 0;
    while (it.hasNext()) {
        const QString path = it.next();
        const auto first = readFile(path.toStdString());
        if (!first) continue;
        const std::string written = m_folder.filePath("case.onnx").toStdString();
        const auto result = io::writeOnnx(written, first->graph);
        QVERIFY2(result.has_value(), qPrintable(path + ": " + (result ? "" : result.error().text().c_str())));
        const auto second = readFile(written);
        QVERIFY2(second.has_value(), qPrintable(path + ": " + (second ? "" : second.error().text().c_str())));
        QVERIFY2(described(second->graph) == described(first->graph),
                 qPrintable(path + "\n" + described(first->graph) + "\n" + described(second->graph)));
        ++count;
    }
    QVERIFY(count > 1000);
}

void TestOnnxWriter::sameGraphGivesSameBytes() {
    const auto model = readFile(SONDE_TEST_DATA "/models/gpt_mini.onnx");
    QByteArray bytes[2];
    for (QByteArray& result : bytes) {
        const QString path = m_folder.filePath("same.onnx");
        QVERIFY(io::writeOnnx(path.toStdString(), model->graph).has_value());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        result = file.readAll();
    }
    QVERIFY(!bytes[0].isEmpty() && bytes[0] == bytes[1]);
}

void TestOnnxWriter::largeWeightsGoBeside() {
    const auto model = readFile(SONDE_TEST_DATA "/models/resnet18_slim.onnx");
    const QString path = m_folder.filePath("external.onnx");
    QVERIFY(io::writeOnnx(path.toStdString(), model->graph, {.inlineLimitBytes = 1000}).has_value());
    QVERIFY(QFileInfo(path).size() < 100'000);
    QVERIFY(QFileInfo(path + ".data").size() > 2'000'000);
    const auto again = readFile(path.toStdString());
    QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
    const graph::NodeId fc = model->graph.findNode("fc.weight");
    QVERIFY(tensor::identical(*again->graph.node(again->graph.findNode("fc.weight")).constant,
                              *model->graph.node(fc).constant));
}

void TestOnnxWriter::foreignOperatorsAreRefused() {
    graph::InternalGraph graph;
    const graph::NodeId x =
        graph.addInput(graph.mainId(), "x", tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{2}));
    graph::Expr expr;
    expr.op = {"aten", "relu", 0};
    expr.target = "relu";
    expr.arguments = {graph::Argument::of(x)};
    const std::string name = "relu";
    const graph::ExprId id = graph.addExpr(std::move(expr), std::span(&name, 1));
    graph.setResult(graph.mainId(), graph::Argument::of(graph.expr(id).outputs[0]));
    const auto result = io::writeOnnx(m_folder.filePath("no.onnx").toStdString(), graph);
    QVERIFY(!result);
    QCOMPARE(result.error().exitStatus(), 2);
    QVERIFY(QString::fromStdString(result.error().where).contains("relu"));
    QVERIFY(!QFile::exists(m_folder.filePath("no.onnx")));
}

/// Also in a moment where all of them have one name: some exporters name no node.
void TestOnnxWriter::namesOfManyNodesDiffer() {
    constexpr int kNodes = 20'000;
    graph::InternalGraph graph;
    graph::NodeId value =
        graph.addInput(graph.mainId(), "x", tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{2}));
    for (int i = 0; i < kNodes; ++i) {
        graph::Expr expr;
        expr.op = {"", "Relu", 14};
        expr.target = "Relu";
        expr.name = i == 2 ? "node_2" : "node";
        expr.arguments = {graph::Argument::of(value)};
        const std::string name = "v" + std::to_string(i);
        value = graph.expr(graph.addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
    }
    graph.setResult(graph.mainId(), graph::Argument::of(value));
    const std::string path = m_folder.filePath("same.onnx").toStdString();
    QElapsedTimer timer;
    timer.start();
    QVERIFY(io::writeOnnx(path, graph));
    QVERIFY2(timer.elapsed() < 10'000, qPrintable(QString::number(timer.elapsed())));
    const auto again = readFile(path);
    QVERIFY(again);
    std::vector<std::string> names;
    for (const graph::ExprId id : again->graph.recursiveOrder(again->graph.mainId()))
        if (const graph::Expr& expr = again->graph.expr(id); expr.kind == graph::ExprKind::Apply)
            names.push_back(expr.name);
    QCOMPARE(names.size(), std::size_t{kNodes});
    QCOMPARE((std::vector<std::string>(names.begin(), names.begin() + 4)),
             (std::vector<std::string>{"node", "node_2", "node_2_2", "node_3"}));
    QCOMPARE(std::set<std::string>(names.begin(), names.end()).size(), std::size_t{kNodes});
}

QTEST_APPLESS_MAIN(TestOnnxWriter)

}  // namespace tst_onnx_writer

#include "tst_onnx_writer.moc"
