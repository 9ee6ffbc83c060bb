// The model summary: what a file says of itself, hashes, sums, dynamic dimensions, and a cost that only a run tells.

#include <QCryptographicHash>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/document/sha256.h"
#include "core/session/model_info.h"
#include "tests/support/onnx_file.h"

namespace tst_model_info {

using namespace sonde;
using namespace sonde::test::onnxfile;

namespace {

constexpr int kFloat = 1, kInt64 = 7;

std::string floats(const std::string& name, const std::vector<std::int64_t>& dims, float first) {
    std::size_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
    std::vector<float> values(count, first);
    return rawTensor(name, kFloat, dims,
                     std::string(reinterpret_cast<const char*>(values.data()), count * sizeof(float)));
}

/// The file of model() with a version of the producer and metadata: fields of a message may come in any order.
std::string described(std::string file, const Pairs& metadata) {
    protozero::pbf_writer writer(file);
    writer.add_string(3, "4.2");
    addPairs(writer, 14, metadata);
    return file;
}

QString sha256Of(const QByteArray& bytes) {
    return QString::fromLatin1(QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex());
}

}  // namespace

class TestModelInfo : public QObject {
    Q_OBJECT

  private slots:
    void jsonSaysWhatTheFileHolds();
    void textSaysTheSame();
    void linesHaveTheirNodes();
    void unusedTensorsHaveTheirModule();
    void inputsGiveOpenDimensionsTheirSizes();
    void builtInModelsHaveNoFile();
    void pathsGoThroughCalls();
    void dataDecidesWhatOnlyARunTells();
    void runsDecideBranches();
    void computedWeightsAreTold();
    void whatIsNotKnownIsNoZero();
    void failedRunsLeaveWhatShapesTell();
    void everyFigureHasAFormula_data();
    void everyFigureHasAFormula();
    void hashesAreThoseOfOthers();
    void hashingStops();

  private:
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    std::shared_ptr<const document::Document> open(const char* name) const {
        const auto document = document::open(path(name).toStdString(), {});
        if (!document) qFatal("%s", document.error().text().c_str());
        return *document;
    }
    void writeLayers() const;
    static QJsonObject jsonOf(const document::Document& document, const session::ModelInfoRequest& request = {}) {
        const auto info = session::modelInfo(document, request);
        if (!info) qFatal("%s", info.error().text().c_str());
        return QJsonDocument::fromJson(QByteArray::fromStdString(session::modelInfoJson(document, *info, true)))
            .object();
    }

    QTemporaryDir m_folder;
};

/// y = x·w + external, twice with one w; `unused` has no user; Swish is a function of the file.
void TestModelInfo::writeLayers() const {
    QVERIFY(write(path("layers.data"), std::string(16, '\1')));
    const Function swish{"Swish", "custom", {"a"}, {"b"}, {{"Sigmoid", {"a"}, {"s"}}, {"Mul", {"a", "s"}, {"b"}}}};
    const Graph graph{.nodes = {{"MatMul", {"x", "w"}, {"m"}},
                                {"Add", {"m", "bias"}, {"h"}},
                                {"Swish", {"h"}, {"g"}, "", "custom"},
                                {"MatMul", {"g", "w"}, {"n"}},
                                {"Strange", {"n"}, {"y"}, "", "com.example"}},
                      .inputs = {valueInfo("x", kFloat, {-1, 4})},
                      .outputs = {valueInfo("y", kFloat, {-1, 4})},
                      .initializers = {floats("w", {4, 4}, 1), floats("unused", {7}, 2),
                                       externalTensor("bias", {4}, {{"location", "layers.data"}})}};
    const std::string file = model(graph, {swish}, {opset("", 16), opset("custom", 1), opset("com.example", 3)});
    QVERIFY(write(path("layers.onnx"), described(file, {{"author", "A. Uthor"}, {"producer", "not this"}})));
}

void TestModelInfo::jsonSaysWhatTheFileHolds() {
    writeLayers();
    const auto document = open("layers.onnx");
    const QJsonObject json = jsonOf(*document);
    QFile file(path("layers.onnx")), data(path("layers.data"));
    QVERIFY(file.open(QIODevice::ReadOnly) && data.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();

    QCOMPARE(json["format"].toString(), QStringLiteral("sonde-info"));
    QCOMPARE(json["version"].toInt(), 1);
    const QJsonObject of = json["file"].toObject();
    QCOMPARE(of["path"].toString(), path("layers.onnx"));
    QCOMPARE(of["sha256"].toString(), sha256Of(bytes));
    QCOMPARE(of["bytes"].toInteger(), qint64{bytes.size()});
    QCOMPARE(of["format"].toString(), QStringLiteral("ONNX"));
    QCOMPARE(of["producer"].toString(), QStringLiteral("tests 4.2"));
    const QJsonArray external = of["external"].toArray();
    QCOMPARE(external.size(), 1);
    QCOMPARE(external[0]["path"].toString(), path("layers.data"));
    QCOMPARE(external[0]["sha256"].toString(), sha256Of(data.readAll()));
    QCOMPARE(json["opset_imports"].toObject(), (QJsonObject{{"ai.onnx", 16}, {"com.example", 3}, {"custom", 1}}));
    QCOMPARE(json["metadata"].toObject(), (QJsonObject{{"author", "A. Uthor"}, {"producer", "not this"}}));
    QCOMPARE(json["functions"].toArray(), (QJsonArray{"custom::Swish"}));

    QCOMPARE(
        json["inputs"][0].toObject(),
        (QJsonObject{{"name", "x"}, {"type", "float32[N,4]"}, {"dtype", "float32"}, {"shape", QJsonArray{"N", 4}}}));
    QCOMPARE(json["outputs"][0]["name"].toString(), QStringLiteral("y"));
    // What no operator reads is not known to be a weight.
    QCOMPARE(json["parameters"].toInt(), 16 + 4);
    QCOMPARE(json["constants"].toInt(), 7);
    QCOMPARE(json["parameter_bytes"].toInt(), 4 * 20);
    QCOMPARE(json["buffers"].toInt(), 0);
    QCOMPARE(json["bytes_by_dtype"].toObject(), (QJsonObject{{"float32", 4 * 27}}));
    QCOMPARE(json["unused"].toArray(), (QJsonArray{QJsonArray{"unused"}}));
    QCOMPARE(json["operators"].toObject(),
             (QJsonObject{{"Add", 1}, {"MatMul", 2}, {"Mul", 1}, {"Sigmoid", 1}, {"com.example::Strange", 1}}));
    QCOMPARE(json["unsupported"].toArray(), (QJsonArray{"com.example::Strange"}));
    QCOMPARE(json["unsupported_nodes"].toObject(), (QJsonObject{{"com.example::Strange", QJsonArray{"y"}}}));
    QVERIFY(json["operator_versions"].toArray().contains(
        QJsonObject{{"domain", "com.example"}, {"name", "Strange"}, {"version", 3}, {"count", 1}}));
    // MatMul, Add, Sigmoid, Mul, MatMul, Strange.
    QCOMPARE(json["depth"].toInt(), 6);
    QCOMPARE(json["longest_path"]["from"].toString(), QStringLiteral("m"));
    QCOMPARE(json["longest_path"]["to"].toString(), QStringLiteral("y"));
    QCOMPARE(json["longest_path"]["operations"].toInt(), 6);
    QCOMPARE(json["longest_path"]["nodes"].toArray().size(), 6);
    // Rows of x stay apart, its columns are summed over; then nothing is known of Strange.
    QCOMPARE(json["receptive_field"][0]["input"].toString(), QStringLiteral("x"));
    QCOMPARE(json["receptive_field"][0]["outputs"]["y"].toArray(), (QJsonArray{"all", "all"}));
    QCOMPARE(json["receptive_field"][0]["all_from"].toArray(), (QJsonArray{"y", "m"}));
    QCOMPARE(json["macs"].toString(), QStringLiteral("32*N"));
    // Products 2·32·N, sum 4·N, sigmoid and product 8·N.
    QCOMPARE(json["cost"]["flops"].toString(), QStringLiteral("76*N"));
    QCOMPARE(json["cost"]["not_counted"].toObject(), (QJsonObject{{"com.example::Strange", 1}}));
    QCOMPARE(json["cost"]["not_counted_nodes"].toArray(), (QJsonArray{"y"}));
    QCOMPARE(json["dynamic_dimensions"][0]["name"].toString(), QStringLiteral("N"));
    QCOMPARE(json["dynamic_dimensions"][0]["inputs"].toArray(), (QJsonArray{"x.0"}));
    QCOMPARE(json["dynamic_dimensions"][0]["outputs"].toArray(), (QJsonArray{"y.0 = N"}));
    QCOMPARE(json["by_node"][0].toObject()["name"].toString(), QStringLiteral("m"));
    QCOMPARE(json["by_node"][0].toObject()["macs"].toString(), QStringLiteral("16*N"));
    QCOMPARE(json["by_module"][0].toObject()["macs"].toString(), QStringLiteral("32*N"));
}

void TestModelInfo::textSaysTheSame() {
    writeLayers();
    const auto document = open("layers.onnx");
    const auto info = session::modelInfo(*document);
    QVERIFY(info);
    const QString text = QString::fromStdString(session::modelInfoText(*document, *info, 1));
    for (const char* line :
         {"layers.onnx (ONNX)\n", "producer     tests 4.2\n", "opset        ai.onnx 16\n             com.example 3\n",
          "metadata     author = A. Uthor\n             producer = not this\n", "function     custom::Swish\n",
          "input        x: float32[N,4]\n", "parameters   20 in 2 tensors", "unused       unused\n", "nodes        6\n",
          "depth        6 operations on the longest path\n", "from m to y\n",
          "multiply-adds 32*N, 1 operation not counted\n", "not counted  1 com.example::Strange\n",
          "com.example::Strange  (opset 3)  (cannot be run: y)\n", "layers.data, 16 bytes, "})
        QVERIFY2(text.contains(QLatin1String(line)), qPrintable(QLatin1String(line) + QStringLiteral("\n") + text));
}

void TestModelInfo::linesHaveTheirNodes() {
    writeLayers();
    const auto document = open("layers.onnx");
    const auto info = session::modelInfo(*document);
    QVERIFY(info);
    const auto namesOf = [&](const std::string& title) {
        QStringList names;
        for (const session::InfoLine& line : session::modelInfoLines(*document, *info))
            if (line.title == title)
                for (const graph::NodeId node : line.nodes)
                    names << QString::fromStdString(document->graph->node(node).name);
        return names;
    };
    // Results of MatMul, Add, Sigmoid, Mul, MatMul, Strange; all of them and x have N rows.
    const QStringList nodes = namesOf("nodes");
    QCOMPARE(nodes.size(), 6);
    QVERIFY(nodes.contains(QStringLiteral("m")) && nodes.contains(QStringLiteral("y")) &&
            !nodes.contains(QStringLiteral("x")) && !nodes.contains(QStringLiteral("w")));
    const QStringList open = namesOf("dimension");
    QVERIFY(open.contains(QStringLiteral("x")) && open.contains(QStringLiteral("m")) &&
            open.contains(QStringLiteral("y")) && !open.contains(QStringLiteral("w")));
    QVERIFY(namesOf("unused").isEmpty() && namesOf("SHA-256").isEmpty());
}

/// What no operation reads is in a module at least.
void TestModelInfo::unusedTensorsHaveTheirModule() {
    const auto document = document::open("zoo:resnet18", {});
    QVERIFY(document);
    auto info = session::modelInfo(**document);
    QVERIFY(info);
    analysis::StoredTensor& first = info->counts.tensors.front();
    QCOMPARE(first.names.front(), std::string("conv1.weight"));
    first.reader = {};
    for (const session::InfoLine& line : session::modelInfoLines(**document, *info))
        if (line.title == "unused") {
            QCOMPARE(line.text, std::string("conv1.weight"));
            QCOMPARE(line.module, std::string("conv1"));
            return;
        }
    QFAIL("no line of what is not used");
}

/// The model's own dimension keeps its name, whatever the cost is for.
void TestModelInfo::inputsGiveOpenDimensionsTheirSizes() {
    writeLayers();
    const auto document = open("layers.onnx");
    QVERIFY(jsonOf(*document)["dynamic_dimensions"][0]["size"].isNull());
    session::ModelInfoRequest request;
    request.inputs = {tensor::Value(*tensor::Tensor::zeros(tensor::DType::Float32, {3, 4}))};
    const QJsonObject json = jsonOf(*document, request);
    QCOMPARE(json["dynamic_dimensions"].toArray().size(), 1);
    QCOMPARE(json["dynamic_dimensions"][0]["name"].toString(), QStringLiteral("N"));
    QCOMPARE(json["dynamic_dimensions"][0]["size"].toInt(), 3);
    QCOMPARE(json["dynamic_dimensions"][0]["outputs"].toArray(), (QJsonArray{"y.0 = N"}));
    const auto info = session::modelInfo(*document, request);
    QVERIFY(info);
    const QString text = QString::fromStdString(session::modelInfoText(*document, *info, 1));
    QVERIFY2(text.contains(QLatin1String("dimension    N = 3: x.0 -> y.0 = N (")), qPrintable(text));
}

void TestModelInfo::builtInModelsHaveNoFile() {
    const auto document = document::open("zoo:gpt_mini", {});
    const QJsonObject json = jsonOf(**document);
    QVERIFY(json["file"]["sha256"].isNull());
    QVERIFY(json["file"]["bytes"].isNull());
    QVERIFY(json["macs"].isDouble());
    QCOMPARE(json["tied"].toArray().size(), 1);  // the output layer has the embedding's weight
    QCOMPARE(json["cost"]["for"].toString(), QStringLiteral("the model's own input sizes"));
}

/// Rows that are not zero, [n], times a matrix: only the values of x tell n.
/// Convolution, norm, ReLU, pooling; eight blocks of two convolutions with norms, a ReLU between, a sum and a ReLU;
/// pooling, flattening, linear layer: 4 + 8·7 + 3.
void TestModelInfo::pathsGoThroughCalls() {
    const auto document = document::open("zoo:resnet18", {});
    QVERIFY(document);
    const auto info = session::modelInfo(**document);
    QVERIFY(info);
    QCOMPARE(info->structure.depth, std::size_t{63});
}

void TestModelInfo::dataDecidesWhatOnlyARunTells() {
    const Graph graph{.nodes = {{"NonZero", {"x"}, {"z"}},
                                {"Cast", {"z"}, {"f"}, "", "", {intAttribute("to", kFloat)}},
                                {"Transpose", {"f"}, {"t"}},
                                {"MatMul", {"t", "w"}, {"y"}}},
                      .inputs = {valueInfo("x", kFloat, {10})},
                      .outputs = {valueInfo("y", kFloat, {-1, 3})},
                      .initializers = {floats("w", {1, 3}, 1)}};
    QVERIFY(write(path("rows.onnx"), model(graph)));
    const auto document = open("rows.onnx");
    QVERIFY(jsonOf(*document)["macs"].isString());
    std::vector<float> values(10, 0.0F);
    values[2] = values[5] = values[7] = values[9] = 1;
    session::ModelInfoRequest request;
    request.inputs = {tensor::Value(tensor::Tensor::of<float>({10}, values))};
    const QJsonObject json = jsonOf(*document, request);
    QCOMPARE(json["macs"].toInt(), 4 * 3);
    QCOMPARE(json["cost"]["for"].toString(), QStringLiteral("a run on the given input"));
    QCOMPARE(json["cost"]["not_counted"].toObject(), (QJsonObject{{"NonZero", 1}}));
}

/// The script has both ways to attend; the exported graph has the one that runs.
void TestModelInfo::runsDecideBranches() {
    session::ModelInfoRequest request;
    request.inputs = {tensor::Value(*tensor::Tensor::zeros(tensor::DType::Float32, {2, 3, 32, 32}))};
    QJsonValue macs;
    for (const char* name : {"vit_small.onnx", "vit_small.trace.pt", "vit_small.script.pt"}) {
        const auto document = document::open(std::string(SONDE_TEST_DATA "/models/") + name, {});
        QVERIFY(document);
        const QJsonObject json = jsonOf(**document, request);
        if (macs.isNull()) macs = json["macs"];
        QCOMPARE(json["macs"], macs);
    }
    // Of each image: 16 patches of 192 numbers to 64; in 3 layers of 17 tokens four products of width 64, attention
    // (2·17²·64) and two products with 128; the head.
    QCOMPARE(macs.toInt(),
             2 * (16 * 192 * 64 + 3 * (17 * 4 * 64 * 64 + 2 * 17 * 17 * 64 + 2 * 17 * 64 * 128) + 64 * 10));
}

/// `made` is not in the file; `turned` is, in another layout.
void TestModelInfo::computedWeightsAreTold() {
    const Graph graph{
        .nodes = {{"ConstantOfShape", {"shape"}, {"made"}},
                  {"Transpose", {"w"}, {"turned"}},
                  {"MatMul", {"x", "made"}, {"h"}},
                  {"MatMul", {"h", "turned"}, {"y"}}},
        .inputs = {valueInfo("x", kFloat, {1, 6})},
        .outputs = {valueInfo("y", kFloat, {1, 2})},
        .initializers = {floats("w", {2, 5}, 1),
                         rawTensor("shape", kInt64, {2}, std::string("\6\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0", 16))}};
    QVERIFY(write(path("made.onnx"), model(graph)));
    const auto document = open("made.onnx");
    QCOMPARE(jsonOf(*document)["computed_weights"].toObject(), (QJsonObject{{"count", 1}, {"elements", 30}}));
    const auto info = session::modelInfo(*document);
    QVERIFY(info);
    const QString text = QString::fromStdString(session::modelInfoText(*document, *info));
    QVERIFY2(text.contains(QStringLiteral("computed in the graph and not stored: 1 weight of 30 elements\n")),
             qPrintable(text));
}

/// The archive does not say the rank of x: five products of which nothing can be said, until x is given.
void TestModelInfo::whatIsNotKnownIsNoZero() {
    const auto document = document::open(SONDE_TEST_DATA "/models/shared_twice.trace.pt", {});
    QVERIFY(document);
    const QJsonObject json = jsonOf(**document), cost = json["cost"].toObject();
    QVERIFY(json["macs"].isNull());
    for (const char* key : {"macs", "flops", "bytes_read", "bytes_written", "activation_bytes", "intensity"}) {
        QVERIFY2(cost[QLatin1String(key)].isNull(), key);
        QVERIFY2(json["by_module"][0].toObject()[QLatin1String(key)].isNull(), key);
    }
    QCOMPARE(cost["for"].toString(), QStringLiteral("what can be told without the sizes of x"));
    const auto info = session::modelInfo(**document);
    QVERIFY(info);
    const QString text = QString::fromStdString(session::modelInfoText(**document, *info, 1));
    for (const char* line : {"multiply-adds not known\n", "FLOPs        not known\n", "bytes read   not known\n"})
        QVERIFY2(text.contains(QLatin1String(line)), qPrintable(text));
    QVERIFY2(QRegularExpression("\\(all\\) +336 +\\? +\\? +\\? +\\?\n").match(text).hasMatch(), qPrintable(text));
    session::ModelInfoRequest request;
    request.inputs = {tensor::Value(*tensor::Tensor::zeros(tensor::DType::Float32, {4, 12}))};
    QCOMPARE(jsonOf(**document, request)["macs"].toInt(), 4 * 5 * 12 * 12);
}

void TestModelInfo::failedRunsLeaveWhatShapesTell() {
    writeLayers();
    const auto document = open("layers.onnx");
    session::ModelInfoRequest request;
    request.inputs = {tensor::Value(tensor::Tensor::of<float>({2, 4}, std::vector<float>(8)))};
    const QJsonObject json = jsonOf(*document, request);
    QCOMPARE(json["macs"].toInt(), 64);
    const QString note = json["notes"][0].toString();
    QVERIFY2(note.contains(QLatin1String("Strange")) && !note.contains(u'\n'), qPrintable(note));
}

void TestModelInfo::everyFigureHasAFormula_data() {
    QTest::addColumn<QString>("model");
    for (const char* name : {"resnet18_slim.onnx", "gpt_mini.onnx", "control_flow.onnx", "control_flow.script.pt",
                             "silero_vad_v5.onnx", "lstm_classifier.onnx", "gpt_mini.trace.pt"})
        if (QFile::exists(QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name)))
            QTest::newRow(name) << QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name);
    QTest::newRow("zoo:resnet18") << QStringLiteral("zoo:resnet18");
}

/// What the panel shows when somebody points at a line. Lines that are no figures say themselves what they are: names,
/// types, what the cost is for, and sentences.
void TestModelInfo::everyFigureHasAFormula() {
    QFETCH(const QString, model);
    const auto document = document::open(model.toStdString(), {});
    QVERIFY2(document, document ? "" : document.error().text().c_str());
    session::ModelInfoRequest request;
    request.hashes = false;
    const auto info = session::modelInfo(**document, request);
    QVERIFY2(info, info ? "" : info.error().text().c_str());
    const QStringList said{"",     "producer",    "input",   "output", "cost",       "assumed",
                           "note", "description", "weights", "class",  "IR version", "format version"};
    int figures = 0;
    for (const session::InfoLine& line : session::modelInfoLines(**document, *info)) {
        if (said.contains(QString::fromStdString(line.title))) continue;
        QVERIFY2(!line.formula.empty(), (line.title + ": " + line.text).c_str());
        ++figures;
    }
    QVERIFY2(figures > 10, qPrintable(QString::number(figures)));
}

void TestModelInfo::hashesAreThoseOfOthers() {
    for (const int size : {0, 1, 8 << 20, (8 << 20) + 1, 20'000'003}) {
        QByteArray bytes(size, '\0');
        for (int i = 0; i < size; i += 997) bytes[i] = static_cast<char>(i % 251);
        const auto view = std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(size)));
        const auto hash = document::sha256(view, base::WorkContext{});
        QVERIFY(hash);
        QCOMPARE(QString::fromStdString(*hash), sha256Of(bytes));
        QCOMPARE(*hash, document::sha256(view));
    }
}

void TestModelInfo::hashingStops() {
    const std::vector<std::byte> bytes(32 << 20);
    std::stop_source stop;
    std::size_t pieces = 0;
    const base::WorkContext work{stop.get_token(), [&](const base::Progress& progress) {
                                     QCOMPARE(progress.total, bytes.size());
                                     if (++pieces == 2) stop.request_stop();
                                 }};
    const auto hash = document::sha256(bytes, work);
    QVERIFY(!hash);
    QCOMPARE(hash.error().kind, base::ErrorKind::Cancelled);
    QCOMPARE(pieces, std::size_t{2});
}

QTEST_APPLESS_MAIN(TestModelInfo)

}  // namespace tst_model_info

#include "tst_model_info.moc"
