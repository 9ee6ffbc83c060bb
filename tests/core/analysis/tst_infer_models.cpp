// Inferred types against the values of real runs: on the reference models and the cases of the large sets.

#include <QDir>
#include <QtTest>

#include "core/io/onnx/value_file.h"
#include "tests/support/inferred.h"
#include "tests/support/reference_sets.h"

namespace tst_infer_models {

using namespace sonde;
using tensor::Value;
using test::compared;
using test::Coverage;
using test::npzInputs;

class TestInferModels : public QObject {
    Q_OBJECT

  private slots:
    /// All cases of the exported and the pretrained models. Whatever is symbolic holds for every case.
    void exportedModels() {
        QStringList problems;
        const QDir folder(test::referenceModels());
        for (const QString& file : folder.entryList({"*.onnx"})) {
            const auto document = document::open(folder.filePath(file).toStdString());
            QVERIFY2(document.has_value(), qPrintable(file));
            const QString reference = folder.filePath(QString(file).replace(".onnx", ".npz"));
            for (const char* prefix : {"", "case1."}) {
                const std::vector<Value> inputs = npzInputs(**document, reference, prefix);
                if (inputs.empty() || inputs.front().isNone()) continue;
                const Coverage coverage = compared(**document, inputs, problems);
                test::print(file + " " + prefix, coverage);
                // Ifs of silero give tensors of different rank, depending on a dimension; of joined sequences the
                // length is open.
                if (file.startsWith("silero"))
                    QVERIFY2(coverage.ranks * 100 >= coverage.tensors * 75, qPrintable(file));
                else if (file.startsWith("robust_nested"))
                    QVERIFY2(coverage.ranks * 100 >= coverage.tensors * 95, qPrintable(file));
                else QVERIFY2(coverage.shapes == coverage.tensors, qPrintable(file));
            }
        }
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 20).join('\n')));
    }

    /// Classic networks with 1x3x224x224 pixels; values do not matter here.
    void lightModels() {
        QStringList problems;
        const QDir folder(test::referenceSets() + "/onnx-light");
        SONDE_NEEDS_SET("onnx-light", folder.path());
        for (const QString& file : folder.entryList({"light_squeezenet.onnx", "light_shufflenet.onnx"})) {
            const auto document = document::open(folder.filePath(file).toStdString());
            QVERIFY2(document.has_value(), qPrintable(file));
            std::vector<Value> inputs((*document)->graph->inputs().size());
            inputs.front() =
                Value(tensor::Tensor::zeros(tensor::DType::Float32, tensor::Shape{1, 3, 224, 224}).value());
            const Coverage coverage = compared(**document, inputs, problems);
            test::print(file, coverage);
            QCOMPARE(coverage.shapes, coverage.tensors);
        }
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 20).join('\n')));
    }

    /// Every value of the built-in models that are traced whole, loops and branches included.
    void builtInModels() {
        for (const char* name :
             {"resnet18", "mobilenet_v2", "mobilenet_v3_small", "squeezenet1_1", "densenet121", "shufflenet_v2_x0_5",
              "vit_small", "unet_small", "autoencoder", "lstm_classifier", "gpt_mini", "mlp_functional",
              "nested_containers", "several_results", "two_forms", "conditional"}) {
            const auto document = document::open(std::string("zoo:") + name);
            QVERIFY2(document.has_value(), name);
            const graph::InternalGraph& graph = *(*document)->graph;
            std::size_t tensors = 0;
            for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
                const tensor::TypeInfo& type = graph.node(graph::NodeId(i)).type;
                QVERIFY2(type.kind.has_value(), (name + (": " + graph.node(graph::NodeId(i)).name)).c_str());
                if (!type.isTensor()) continue;
                ++tensors;
                QVERIFY2(type.dtype != tensor::DType::Undefined && type.staticShape(),
                         (name + (": " + graph.node(graph::NodeId(i)).name + " " + type.text())).c_str());
            }
            QVERIFY(tensors > 1);
        }
    }

    void conformanceCases() {
        const QString cases = test::referenceSets() + "/onnx-conformance/";
        SONDE_NEEDS_SET("onnx-conformance", cases);
        QStringList problems;
        std::map<QString, Coverage> groups;
        for (const QString group : {"node", "simple", "pytorch-converted", "pytorch-operator"}) {
            const QDir folder(cases + group);
            for (const QString& name : folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
                const auto document = document::open(folder.filePath(name + "/model.onnx").toStdString());
                if (!document) continue;
                std::vector<Value> inputs((*document)->graph->inputs().size());
                for (std::size_t i = 0; i < inputs.size(); ++i) {
                    auto file = base::MappedFile::open(
                        folder.filePath(name + QString("/test_data_set_0/input_%1.pb").arg(i)).toStdString());
                    if (!file) break;
                    const graph::Node& node = (*document)->graph->node((*document)->graph->inputs()[i]);
                    if (auto value = io::readOnnxValue(std::move(*file), node.type)) inputs[i] = std::move(*value);
                }
                const qsizetype before = problems.size();
                const Coverage one = compared(**document, inputs, problems);
                for (qsizetype i = before; i < problems.size(); ++i) problems[i] = name + ": " + problems[i];
                groups[group].add(one);
            }
        }
        for (const auto& [group, coverage] : groups) {
            test::print(group, coverage);
            QVERIFY(coverage.ranks * 100 >= coverage.tensors * 99);
            QVERIFY(coverage.shapes * 100 >= coverage.tensors * 97);
        }
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 60).join('\n')));
    }
};

QTEST_GUILESS_MAIN(TestInferModels)

}  // namespace tst_infer_models

#include "tst_infer_models.moc"
