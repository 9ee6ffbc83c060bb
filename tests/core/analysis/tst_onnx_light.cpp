// The nine networks of the large set onnx-light against ONNX Runtime's values of every tensor (their README), and the
// sequence of silero, whose state is carried from frame to frame.

#include <QDir>
#include <QtTest>

#include "core/analysis/compare.h"
#include "core/analysis/conformance.h"
#include "core/document/document.h"
#include "core/io/npz/npz.h"
#include "core/io/onnx/value_file.h"
#include "tests/support/reference_sets.h"

namespace tst_onnx_light {

using namespace sonde;
using tensor::Tensor;

namespace {

QString lightModel(const char* name) { return test::referenceSets() + "/onnx-light/light_" + name; }

/// "(float) ((double) i / 150528)" in the shape [1,3,224,224].
Tensor ramp() {
    std::vector<float> values(150528);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<double>(i) / 150528.0);
    return Tensor::of<float>({1, 3, 224, 224}, values);
}

analysis::ComparedModel modelOf(const document::Document& document) {
    analysis::ComparedModel model;
    model.graph = document.graph;
    for (const document::NamedNode& input : document.inputs) model.inputs.emplace_back(input.name, input.node);
    for (const document::NamedNode& output : document.outputs) model.outputs.emplace_back(output.name, output.node);
    return model;
}

}  // namespace

class TestOnnxLight : public QObject {
    Q_OBJECT

  private slots:
    void everyTensorIsRight_data() {
        QTest::addColumn<double>("relative");
        for (const char* name : {"bvlc_alexnet", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet",
                                 "vgg19", "zfnet512"}) {
            QTest::newRow(name) << 1e-3;
        }
        QTest::newRow("densenet121") << 2e-3;  // upstream's own
    }
    void everyTensorIsRight() {
        QFETCH(double, relative);
        const QString base = lightModel(QTest::currentDataTag());
        SONDE_NEEDS_SET("onnx-light", base + ".onnx");
        const auto document = document::open((base + ".onnx").toStdString());
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        QCOMPARE((*document)->inputs.size(), std::size_t{1});
        const auto npz = io::NpzFile::open((base + ".nodes.npz").toStdString());
        QVERIFY(npz.has_value());
        analysis::ReferenceValues reference{npz->keys(), {}};
        const std::string input = "in." + (*document)->inputs[0].name;
        reference.keys.push_back(input);
        reference.read = [&](const std::string& key) {
            return key == input ? base::Result<Tensor>(ramp()) : npz->read(key);
        };
        exec::Runner runner(2);
        const auto cases = analysis::compare(modelOf(**document), reference, {relative, 1e-4}, runner);
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        QCOMPARE(cases->size(), std::size_t{1});
        const analysis::ComparedCase& result = cases->front();
        QVERIFY(!result.error);
        QVERIFY(result.unmatched.empty());
        const analysis::ComparedValue* wrong = result.firstDiverging();
        QVERIFY2(!wrong, wrong ? qPrintable(QString("%1: %2 %3")
                                                .arg(QString::fromStdString(wrong->name))
                                                .arg(wrong->maxAbsolute)
                                                .arg(wrong->maxRelative))
                               : "");
        std::size_t tensors = 0;
        for (const std::string& key : reference.keys)
            tensors += key.ends_with(".shape") ||
                               (key.starts_with("node.") && !key.ends_with(".stats") && !key.ends_with(".head"))
                           ? 1
                           : 0;
        QCOMPARE(result.values.size(), tensors);

        const exec::Recording recording = runner.run(*exec::Plan::make((*document)->graph, {}).value(),
                                                     std::vector<tensor::Value>{tensor::Value(ramp())});
        const graph::Node& output = (*document)->graph->node((*document)->graph->outputs()[0]);
        const auto expected =
            io::readOnnxValue(base::MappedFile::open((base + "_output_0.pb").toStdString()).value(), output.type);
        QVERIFY(expected.has_value());
        const auto difference = analysis::conformanceDifference(recording.outputs.at(0), *expected, {relative, 1e-7});
        QVERIFY2(!difference, difference ? difference->c_str() : "");
    }

    void layersAreFoundInTheGraph_data() {
        QTest::addColumn<QStringList>("modules");
        QTest::newRow("resnet50") << QStringList{"stages.0.blocks.1", "stages.1.blocks.2", "stages.2.blocks.4",
                                                 "stages.3.blocks.1"};
        QTest::newRow("densenet121") << QStringList{"stages.0.blocks.5", "stages.1.blocks.11", "stages.2.blocks.23",
                                                    "blocks.15"};
        QTest::newRow("inception_v1") << QStringList{"stages.0.blocks.inception_3b", "stages.1.blocks.inception_4e",
                                                     "stages.2.blocks.inception_5b"};
        QTest::newRow("squeezenet") << QStringList{"stages.0.blocks.fire3", "stages.2.blocks.fire9"};
    }
    void layersAreFoundInTheGraph() {
        QFETCH(QStringList, modules);
        const QString path = lightModel(QTest::currentDataTag()) + ".onnx";
        SONDE_NEEDS_SET("onnx-light", path);
        const auto document = document::open(path.toStdString());
        QVERIFY(document.has_value());
        for (const QString& name : modules) {
            const auto module = (*document)->modules->find(name.toStdString());
            QVERIFY2(module, qPrintable(name));
            QVERIFY((*document)->modules->module(*module).inferred);
        }
        document::OpenOptions plain;
        plain.groups = false;
        const auto flat = document::open(path.toStdString(), plain);
        QVERIFY(flat.has_value());
        for (const graph::ModuleInfo& module : (*flat)->modules->modules()) QVERIFY(!module.inferred);
    }

    void silerosStateIsCarriedFromFrameToFrame() {
        const QString base = test::referenceModels() + "/silero_vad_v5";
        SONDE_NEEDS_SET("models", base + ".onnx");
        const auto document = document::open((base + ".onnx").toStdString());
        QVERIFY(document.has_value());
        const auto npz = io::NpzFile::open((base + ".npz").toStdString());
        QVERIFY(npz.has_value());
        exec::Runner runner(1);
        const auto cases = analysis::compare(
            modelOf(**document), {npz->keys(), [&](const std::string& key) { return npz->read(key); }}, {}, runner);
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        QCOMPARE(cases->back().label, std::string("seq"));
        QCOMPARE(cases->back().values.size(), std::size_t{2});
        for (const analysis::ComparedCase& one : *cases) QVERIFY(one.ok());
        QCOMPARE(cases->back().values.front().note, std::string("63 frames"));
    }
};

QTEST_GUILESS_MAIN(TestOnnxLight)

}  // namespace tst_onnx_light

#include "tst_onnx_light.moc"
