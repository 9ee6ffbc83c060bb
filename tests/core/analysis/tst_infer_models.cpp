// Inferred types against the values of real runs: on the models and cases of SONDE_SHARED.

#include <QDir>
#include <QtTest>

#include <cstdio>
#include <map>

#include "core/document/document.h"
#include "core/exec/run.h"
#include "core/io/npz/npz.h"
#include "core/io/onnx/value_file.h"
#include "core/tensor/symbolic.h"

using namespace sonde;
using tensor::Dim;
using tensor::Symbolic;
using tensor::TypeInfo;
using tensor::Value;

namespace {

struct Coverage {
    std::size_t tensors = 0, ranks = 0, shapes = 0, wrong = 0;
};

using Bindings = std::map<std::string, std::int64_t, std::less<>>;

/// Symbols of the inputs and the extents that they really have.
Bindings bindingsOf(const document::Document& document, const std::vector<Value>& inputs) {
    Bindings bindings;
    for (std::size_t i = 0; i < inputs.size() && i < document.graph->inputs().size(); ++i) {
        const TypeInfo& type = document.graph->node(document.graph->inputs()[i]).type;
        if (!inputs[i].isTensor() || !type.shape || type.shape->size() != inputs[i].tensor().rank()) continue;
        for (std::size_t d = 0; d < type.shape->size(); ++d) {
            const Dim& dim = (*type.shape)[d];
            if (!dim.known() && !dim.symbol.empty()) bindings.emplace(dim.symbol, inputs[i].tensor().dim(d));
        }
    }
    return bindings;
}

/// What of a type a value contradicts; empty if nothing.
QString contradiction(const TypeInfo& type, const Value& value, const Bindings& bindings) {
    if (type.kind && *type.kind != value.kind()) return "kind " + QString::fromStdString(value.typeText());
    if (!value.isTensor()) return {};
    const tensor::Tensor& tensor = value.tensor();
    if (type.dtype != tensor::DType::Undefined && type.dtype != tensor.dtype()) return QString::fromStdString("dtype of " + value.typeText());
    if (!type.shape) return {};
    if (type.shape->size() != tensor.rank()) return QString::fromStdString("rank of " + value.typeText());
    for (std::size_t i = 0; i < tensor.rank(); ++i) {
        const auto found = [&bindings](std::string_view name) -> std::optional<std::int64_t> {
            const auto place = bindings.find(name);
            return place == bindings.end() ? std::nullopt : std::optional(place->second);
        };
        const auto extent = Symbolic::of((*type.shape)[i]).bound(found).constant();
        if (extent && *extent != tensor.dim(i)) return QString::fromStdString("extent " + std::to_string(i) + " of " + value.typeText());
    }
    return {};
}

Coverage compared(const document::Document& document, const std::vector<Value>& inputs, QStringList& problems) {
    Coverage coverage;
    exec::Runner runner(1);
    const auto plan = exec::Plan::make(document.graph, {.watchAll = true});
    if (!plan) return coverage;
    const exec::Recording recording = runner.run(**plan, inputs);
    const Bindings bindings = bindingsOf(document, inputs);
    for (std::size_t i = 0; i < document.graph->nodeCount(); ++i) {
        const graph::NodeId id(i);
        const graph::Node& node = document.graph->node(id);
        if (document.graph->isErased(node.producer) || node.constant) continue;
        for (std::size_t k = 0; k < recording.iterations(id); ++k) {
            const Value& value = *recording.value(id, k);
            if (value.isTensor() && k == 0) {
                const bool hasRank = node.type.shape.has_value();
                ++coverage.tensors;
                coverage.ranks += hasRank ? 1 : 0;
                coverage.shapes += hasRank && std::ranges::all_of(*node.type.shape, [](const Dim& dim) { return dim.known() || !dim.symbol.empty(); }) ? 1 : 0;
            }
            const QString what = value.isNone() ? QString() : contradiction(node.type, value, bindings);
            if (what.isEmpty()) continue;
            ++coverage.wrong;
            problems += QString::fromStdString(document.title + ", node '" + node.name + "' of " + document.graph->expr(node.producer).op.name + ": inferred " +
                                               node.type.text() + ", but ") +
                        what;
            break;
        }
    }
    return coverage;
}

void print(const QString& name, const Coverage& coverage) {
    const auto share = [&](std::size_t count) { return coverage.tensors ? 100.0 * static_cast<double>(count) / static_cast<double>(coverage.tensors) : 100.0; };
    std::printf("%-40s %6zu tensors  rank known %6.2f %%  all extents %6.2f %%  wrong %zu\n", qPrintable(name), coverage.tensors, share(coverage.ranks),
                share(coverage.shapes), coverage.wrong);
}

QString shared() { return qEnvironmentVariable("SONDE_SHARED", SONDE_SOURCE_DIR "/../shared"); }

std::vector<Value> npzInputs(const document::Document& document, const QString& path, const std::string& prefix) {
    const auto npz = io::NpzFile::open(path.toStdString());
    std::vector<Value> inputs(document.graph->inputs().size());
    if (!npz) return inputs;
    for (const document::NamedNode& input : document.inputs) {
        const auto tensor = npz->read(prefix + "in." + input.name);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (document.graph->inputs()[i] == input.node && tensor) inputs[i] = Value(*tensor);
        }
    }
    return inputs;
}

}  // namespace

class TestInferModels : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        if (!QDir(shared()).exists()) QSKIP("SONDE_SHARED is not there");
    }

    /// All cases of the exported and the pretrained models. Whatever is symbolic holds for every case.
    void exportedModels() {
        QStringList problems;
        const QDir folder(shared() + "/models");
        for (const QString& file : folder.entryList({"*.onnx"})) {
            const auto document = document::open(folder.filePath(file).toStdString());
            QVERIFY2(document.has_value(), qPrintable(file));
            const QString reference = folder.filePath(QString(file).replace(".onnx", ".npz"));
            for (const char* prefix : {"", "case1."}) {
                const std::vector<Value> inputs = npzInputs(**document, reference, prefix);
                if (inputs.empty() || inputs.front().isNone()) continue;
                const Coverage coverage = compared(**document, inputs, problems);
                print(file + " " + prefix, coverage);
                // Ifs of silero give tensors of different rank, depending on an extent; of joined sequences the length is open.
                if (file.startsWith("silero")) QVERIFY2(coverage.ranks * 100 >= coverage.tensors * 75, qPrintable(file));
                else if (file.startsWith("robust_nested")) QVERIFY2(coverage.ranks * 100 >= coverage.tensors * 95, qPrintable(file));
                else QVERIFY2(coverage.shapes == coverage.tensors, qPrintable(file));
            }
        }
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 20).join('\n')));
    }

    /// Classic networks with 1x3x224x224 pixels; values do not matter here.
    void lightModels() {
        QStringList problems;
        const QDir folder(shared() + "/onnx-light");
        for (const QString& file : folder.entryList({"light_squeezenet.onnx", "light_shufflenet.onnx"})) {
            const auto document = document::open(folder.filePath(file).toStdString());
            QVERIFY2(document.has_value(), qPrintable(file));
            std::vector<Value> inputs((*document)->graph->inputs().size());
            inputs.front() = Value(tensor::Tensor::zeros(tensor::DType::Float32, tensor::Shape{1, 3, 224, 224}).value());
            const Coverage coverage = compared(**document, inputs, problems);
            print(file, coverage);
            QCOMPARE(coverage.shapes, coverage.tensors);
        }
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 20).join('\n')));
    }

    /// Every value of the built-in models that are traced whole, loops and branches included.
    void builtInModels() {
        for (const char* name : {"resnet18", "mobilenet_v2", "mobilenet_v3_small", "squeezenet1_1", "densenet121", "shufflenet_v2_x0_5", "vit_small", "unet_small", "autoencoder",
                                 "lstm_classifier", "gpt_mini", "mlp_functional", "nested_containers", "several_results", "two_forms", "conditional"}) {
            const auto document = document::open(std::string("zoo:") + name);
            QVERIFY2(document.has_value(), name);
            const graph::InternalGraph& graph = *(*document)->graph;
            std::size_t tensors = 0;
            for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
                const tensor::TypeInfo& type = graph.node(graph::NodeId(i)).type;
                QVERIFY2(type.kind.has_value(), (name + (": " + graph.node(graph::NodeId(i)).name)).c_str());
                if (!type.isTensor()) continue;
                ++tensors;
                QVERIFY2(type.dtype != tensor::DType::Undefined && type.staticShape(), (name + (": " + graph.node(graph::NodeId(i)).name + " " + type.text())).c_str());
            }
            QVERIFY(tensors > 1);
        }
    }

    void conformanceCases() {
        QStringList problems;
        std::map<QString, Coverage> groups;
        for (const QString group : {"node", "simple", "pytorch-converted", "pytorch-operator"}) {
            const QDir folder(shared() + "/onnx-conformance/" + group);
            for (const QString& name : folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
                const auto document = document::open(folder.filePath(name + "/model.onnx").toStdString());
                if (!document) continue;
                std::vector<Value> inputs((*document)->graph->inputs().size());
                for (std::size_t i = 0; i < inputs.size(); ++i) {
                    auto file = base::MappedFile::open(folder.filePath(name + QString("/test_data_set_0/input_%1.pb").arg(i)).toStdString());
                    if (!file) break;
                    const graph::Node& node = (*document)->graph->node((*document)->graph->inputs()[i]);
                    if (auto value = io::readOnnxValue(std::move(*file), node.type)) inputs[i] = std::move(*value);
                }
                const qsizetype before = problems.size();
                const Coverage one = compared(**document, inputs, problems);
                for (qsizetype i = before; i < problems.size(); ++i) problems[i] = name + ": " + problems[i];
                Coverage& all = groups[group];
                all.tensors += one.tensors;
                all.ranks += one.ranks;
                all.shapes += one.shapes;
                all.wrong += one.wrong;
            }
        }
        for (const auto& [group, coverage] : groups) {
            print(group, coverage);
            QVERIFY(coverage.ranks * 100 >= coverage.tensors * 99);
            QVERIFY(coverage.shapes * 100 >= coverage.tensors * 97);
        }
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 60).join('\n')));
    }
};

QTEST_GUILESS_MAIN(TestInferModels)
#include "tst_infer_models.moc"
