// Passes on whole models: values against files made by PyTorch and ONNX Runtime, and ONNX files saved after passes.

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

#include "core/analysis/compare.h"
#include "core/document/document.h"
#include "core/io/npz/npz.h"
#include "core/io/onnx/onnx_writer.h"
#include "core/passes/pass.h"
#include "tests/core/passes/graph_maker.h"

namespace tst_model_passes {

using namespace sonde;

namespace {

std::string data(const std::string& name) { return SONDE_TEST_DATA "/models/" + name; }

std::string problem(const document::Document& document, const std::string& reference) {
    const auto npz = io::NpzFile::open(data(reference));
    if (!npz) return npz.error().text();
    analysis::ComparedModel model;
    model.graph = document.graph;
    model.looseNames = true;
    for (const document::NamedNode& input : document.inputs) model.inputs.emplace_back(input.name, input.node);
    for (const document::NamedNode& output : document.outputs) model.outputs.emplace_back(output.name, output.node);
    // Outputs and inputs alone: passes give nodes other work.
    std::vector<std::string> keys;
    for (const std::string& key : npz->keys()) {
        if (key.find("node.") == std::string::npos) keys.push_back(key);
    }
    const analysis::ReferenceValues values{keys, [&](const std::string& key) { return npz->read(key); }};
    exec::Runner runner(1);
    const auto cases = analysis::compare(model, values, {1e-3, 1e-4}, runner);
    if (!cases) return cases.error().text();
    std::size_t compared = 0;
    for (const analysis::ComparedCase& each : *cases) {
        if (each.error) return each.label + ": " + each.error->text();
        if (!each.ok()) return each.label + ": " + each.firstDiverging()->name + " differs";
        compared += each.values.size();
    }
    return compared == 0 ? "nothing was compared" : "";
}

std::vector<std::string> general() {
    return {"fuse-conv-bn", "fuse-add-mul", "remove-identity", "merge-duplicates", "fold-constant", "remove-dead-code"};
}

}  // namespace

class TestModelPasses : public QObject {
    Q_OBJECT

    void models() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("reference");
    }
    static QString onlyName(const QString& file) { return file.left(file.indexOf('.')) + ".npz"; }

  private Q_SLOTS:
    /// Weights that Constant operators of ONNX produce: their attribute still has the former value.
    void foldedWeightsOfConstantOperatorsAreSaved() {
        test::Maker m;
        const auto constant = [&m](const char* name, std::vector<std::int64_t> shape, float value) {
            const graph::NodeId node = m.constant(name, tensor::Tensor::of<float>(tensor::Shape(shape), {value}));
            graph::Expr& expr = m.graph.mutableExpr(m.graph.node(node).producer);
            expr.op = {"", "Constant", 17};
            expr.attributes = {{"value", m.graph.node(node).constant->tensor()}};
            expr.isParameter = false;
            return node;
        };
        const graph::NodeId x = m.floats("x", {1, 1, 2, 2});
        const graph::NodeId weight = constant("w", {1, 1, 1, 1}, 3), bias = constant("b", {1}, 1);
        const graph::NodeId gamma = constant("gamma", {1}, 2), beta = constant("beta", {1}, 0.5F);
        const graph::NodeId mean = constant("mean", {1}, 1), variance = constant("variance", {1}, 4);
        const graph::NodeId conv = m.onnx("conv", "Conv", x, weight, bias);
        m.result(m.onnx("bn", "BatchNormalization", conv, gamma, beta, mean, variance));
        const auto fused = passes::runPasses(m.graph, std::vector<std::string>{"fuse-conv-bn"});
        QVERIFY2(fused.has_value(), fused ? "" : fused.error().text().c_str());
        QCOMPARE(fused->reports[0].count, std::size_t(1));
        const QTemporaryDir folder;
        const std::string path = folder.filePath("fused.onnx").toStdString();
        const auto written = io::writeOnnx(path, *fused->graph);
        QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
        const auto opened = document::open(path);
        QVERIFY2(opened.has_value(), opened ? "" : opened.error().text().c_str());
        const tensor::Value input(tensor::Tensor::of<float>({1, 1, 2, 2}, {-1, 0, 1, 3}));
        // (3 x + 1 - 1) / 2 * 2 + 0.5
        const std::vector<double> expected{-2.5, 0.5, 3.5, 9.5};
        const std::vector<double> actual = test::numbers(test::run(*(*opened)->graph, {input}).at(0));
        QCOMPARE(actual.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) QVERIFY(std::abs(actual[i] - expected[i]) < 1e-4);
    }

    void onnxModelsGiveTheSameAndAreSaved_data() {
        models();
        for (const char* file : {"mlp_functional.onnx", "nested_containers.onnx", "shared_twice.onnx",
                                 "lstm_classifier.onnx", "gpt_mini.onnx", "unet_small.onnx", "control_flow.onnx"}) {
            QTest::newRow(file) << QString(file) << onlyName(file);
        }
    }

    void onnxModelsGiveTheSameAndAreSaved() {
        QFETCH(QString, file);
        QFETCH(QString, reference);
        document::OpenOptions options;
        options.passes = general();
        const auto changed = document::open(data(file.toStdString()), options);
        QVERIFY2(changed.has_value(), changed ? "" : changed.error().text().c_str());
        QVERIFY((*changed)->original);
        QVERIFY((*changed)->graph->validate());
        QCOMPARE((*changed)->passReports.size() >= options.passes.size(), true);
        QCOMPARE(problem(**changed, reference.toStdString()), std::string());
        const auto plain = document::open(data(file.toStdString()));
        QTemporaryDir folder;
        const std::string path = folder.filePath("saved.onnx").toStdString();
        const auto written = io::writeOnnx(path, *(*changed)->graph);
        QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
        const auto again = document::open(path);
        QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
        // The names that users feed and read are those of the model.
        QCOMPARE((*again)->outputs.size(), (*plain)->outputs.size());
        for (std::size_t i = 0; i < (*plain)->outputs.size(); ++i)
            QCOMPARE((*again)->outputs[i].name, (*plain)->outputs[i].name);
        QCOMPARE((*again)->inputs.size(), (*plain)->inputs.size());
        QCOMPARE(problem(**again, reference.toStdString()), std::string());
    }

    void archivesGiveTheSame_data() {
        models();
        for (const char* file : {"mlp_functional.trace.pt", "nested_containers.trace.pt", "unet_small.trace.pt",
                                 "unet_small.frozen.pt", "shared_twice.script.pt", "gpt_mini.trace.pt"}) {
            QTest::newRow(file) << QString(file) << onlyName(file);
        }
    }

    void archivesGiveTheSame() {
        QFETCH(QString, file);
        QFETCH(QString, reference);
        for (const bool inlined : {false, true}) {
            document::OpenOptions options;
            options.passes = {"remove-unnecessary-slices", "remove-inplace"};
            for (const std::string& each : general()) options.passes.push_back(each);
            if (inlined) options.leaves = {"none"};
            const auto changed = document::open(data(file.toStdString()), options);
            QVERIFY2(changed.has_value(), changed ? "" : changed.error().text().c_str());
            QVERIFY((*changed)->graph->validate());
            QCOMPARE(problem(**changed, reference.toStdString()), std::string());
        }
    }

    void normsOfAnInlinedArchiveAreFused() {
        document::OpenOptions options;
        options.passes = {"FuseConvBn"};
        options.leaves = {"none"};
        const auto document = document::open(data("unet_small.trace.pt"), options);
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        const passes::PassReport& report = (*document)->passReports.front();
        QVERIFY(report.count > 0);
        for (std::size_t i = 0; i < (*document)->graph->exprCount(); ++i) {
            const graph::ExprId id(i);
            if (!(*document)->graph->isErased(id)) QVERIFY((*document)->graph->expr(id).op.name != "batch_norm");
        }
        QVERIFY(!(*document)->revaluedNodes().empty());
        // What went is named by the graph before, what it is replaced by, by the graph after.
        for (const passes::NodeChange& change : report.went) {
            QCOMPARE((*document)->original->node(change.node).name, change.name);
            if (change.replacedBy.valid())
                QCOMPARE((*document)->graph->node(change.replacedBy).name, change.replacedByName);
        }
    }

    void aPassThatIsNotKnownIsAUsageError() {
        document::OpenOptions options;
        options.passes = {"Nope"};
        const auto document = document::open(data("shared_twice.onnx"), options);
        QVERIFY(!document);
        QCOMPARE(document.error().kind, base::ErrorKind::Usage);
        QVERIFY(document.error().what.find("Nope is not found") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestModelPasses)

}  // namespace tst_model_passes

#include "tst_model_passes.moc"
