// The weights of models: generated networks whose weights, consumers and filters are known by construction.

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include "core/analysis/model_cost.h"
#include "core/analysis/weights/weight_columns.h"
#include "core/document/document.h"
#include "core/session/weights/weights.h"
#include "tests/support/onnx_file.h"
#include "tests/support/weight_cases.h"

namespace tst_weights {

using namespace sonde;
using namespace sonde::test;
using namespace sonde::test::onnxfile;
using session::WeightReport;

namespace {

constexpr int kFloat = 1, kInt8 = 3, kInt64 = 7, kBool = 9;
using Dims = std::vector<std::int64_t>;

std::string floats(const std::string& name, const Dims& dims, const std::vector<float>& values) {
    return rawTensor(name, kFloat, dims, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

std::vector<float> varied(std::size_t count, std::uint64_t seed = 1) {
    const std::vector<double> numbers = generatedNumbers(count, seed);
    return {numbers.begin(), numbers.end()};
}

class Models {
  public:
    std::shared_ptr<const document::Document> open(const std::string& bytes) {
        const QString path = m_folder.filePath(QStringLiteral("model%1.onnx").arg(m_count++));
        if (!write(path, bytes)) return nullptr;
        auto document = document::open(path.toStdString());
        if (!document) qWarning("%s", document.error().text().c_str());
        return document ? *document : nullptr;
    }
    /// With figures.
    WeightReport measured(const std::string& bytes) {
        WeightReport report = session::listWeights(open(bytes));
        const auto done = session::measureWeights(report, [&report](std::size_t, analysis::WeightFigures figures) {
            report.figures.push_back(std::move(figures));
        });
        if (!done) qWarning("%s", done.error().text().c_str());
        return report;
    }

  private:
    QTemporaryDir m_folder;
    int m_count = 0;
};

std::size_t rowOf(const WeightReport& report, const std::string& name) {
    const auto row = session::findWeight(report, name);
    return row ? *row : SIZE_MAX;
}

std::vector<std::string> usersOf(const WeightReport& report, std::size_t row) {
    std::vector<std::string> names;
    for (const graph::ExprId user : report.rows[row].users)
        names.push_back(analysis::operatorTitle(report.document->graph->expr(user)));
    return names;
}

/// y = conv(x, w) · m, with `w` as `kernel` says.
std::string convolution(const std::vector<Node>& before, const std::string& kernel,
                        const std::vector<std::string>& initializers) {
    std::vector<Node> nodes = before;
    nodes.push_back({"Conv", {"x", kernel}, {"y"}});
    return model({.nodes = nodes,
                  .inputs = {valueInfo("x", kFloat, {1, 2, 8, 8})},
                  .outputs = {valueInfo("y", kFloat, {1, 6, 6, 6})},
                  .initializers = initializers});
}

}  // namespace

class TestWeights : public QObject {
    Q_OBJECT

  private slots:
    void filtersOfAConvolution();
    void quantisedKernelsHaveTheirScale();
    void transposedMatrices();
    void tiedOnesAreListedOnce();
    void bodiesAndFunctionsAreUsers();
    void unusedOnesAreListed();
    void layersShareTheirBins();
    void manySmallOnes();
    void cancelledInTheMiddle();
    void sortedByAColumn();
    void namesThatAreNone();
    void directionsAreMatricesOfTheirOwn();
    void whatNothingReadsIsListed();
    void buffersThatNothingReadsAreUnused();
    void castsAreNoUsers();
};

void TestWeights::filtersOfAConvolution() {
    Models models;
    std::vector<float> kernel = varied(6 * 2 * 3 * 3);
    std::fill_n(kernel.begin() + 36, 18, 0.0F);
    std::copy_n(kernel.begin(), 18, kernel.begin() + 5 * 18);
    const WeightReport report = models.measured(convolution({}, "w", {floats("w", {6, 2, 3, 3}, kernel)}));
    QCOMPARE(report.rows.size(), std::size_t{1});
    const analysis::WeightRow& row = report.rows[0];
    QCOMPARE(row.kind, analysis::StoredKind::Parameter);
    QCOMPARE(row.shape.text(), std::string("[6,2,3,3]"));
    QCOMPARE(row.bytes, std::int64_t{432});
    QVERIFY(usersOf(report, 0) == (std::vector<std::string>{"Conv"}));
    QVERIFY(report.figures[0].filters.zero == (std::vector<std::size_t>{2}));
    QVERIFY(report.figures[0].filters.duplicates == (std::vector<std::pair<std::size_t, std::size_t>>{{5, 0}}));
    QCOMPARE(report.figures[0].zero, std::int64_t{18});
}

void TestWeights::quantisedKernelsHaveTheirScale() {
    Models models;
    std::string raw(6 * 2 * 3 * 3, '\0');
    for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<char>(i % 100 - 50);
    const WeightReport report = models.measured(
        convolution({{"DequantizeLinear", {"q", "s", "z"}, {"w"}, {}, {}, {intAttribute("axis", 0)}}}, "w",
                    {rawTensor("q", kInt8, {6, 2, 3, 3}, raw), floats("s", {6}, {1, 2, 0.5, 0.25, 4, 8}),
                     rawTensor("z", kInt8, {6}, std::string(6, '\1'))}));
    const std::size_t row = rowOf(report, "q");
    QVERIFY(row != SIZE_MAX);
    QVERIFY(report.rows[row].scale != nullptr);
    QVERIFY(report.rows[row].filters == (analysis::FilterLayout{1, 1, 6, 18}));
    // The last filter is 8·(stored − 1) of stored 90 − 50 … 99 − 50, then −50 … −43; the fifth 4·(22 … 39).
    QCOMPARE(report.figures[row].minimum, 8.0 * (-50 - 1));
    QCOMPARE(report.figures[row].maximum, 8.0 * (49 - 1));
}

void TestWeights::transposedMatrices() {
    Models models;
    std::vector<float> matrix = varied(5 * 7);
    std::fill_n(matrix.begin() + 2 * 7, 7, 0.0F);  // row 2: an output, of 7 features
    const WeightReport report = models.measured(model(
        {.nodes = {{"Transpose", {"w"}, {"t"}, {}, {}, {intsAttribute("perm", {1, 0})}}, {"MatMul", {"x", "t"}, {"y"}}},
         .inputs = {valueInfo("x", kFloat, {1, 7})},
         .outputs = {valueInfo("y", kFloat, {1, 5})},
         .initializers = {floats("w", {5, 7}, matrix)}}));
    const std::size_t row = rowOf(report, "w");
    QVERIFY(row != SIZE_MAX);
    QVERIFY(report.rows[row].filters == (analysis::FilterLayout{1, 1, 5, 7}));
    QVERIFY(report.figures[row].filters.zero == (std::vector<std::size_t>{2}));
    const auto spectrum = session::weightSpectrum(report, row);
    QVERIFY(spectrum);
    QCOMPARE(spectrum->rows, std::int64_t{5});
    QCOMPARE(spectrum->numericalRank, std::int64_t{4});
}

void TestWeights::tiedOnesAreListedOnce() {
    Models models;
    // One memory, read as it is and transposed: the embedding and the projection back of a language model.
    const WeightReport report =
        models.measured(model({.nodes = {{"Gather", {"w", "x"}, {"e"}},
                                         {"Transpose", {"w"}, {"t"}, {}, {}, {intsAttribute("perm", {1, 0})}},
                                         {"MatMul", {"e", "t"}, {"y"}}},
                               .inputs = {valueInfo("x", kInt64, {1})},
                               .outputs = {valueInfo("y", kFloat, {1, 9})},
                               .initializers = {floats("w", {9, 4}, varied(36))}}));
    QCOMPARE(report.rows.size(), std::size_t{1});
    const std::vector<std::string> users = usersOf(report, 0);
    QVERIFY(std::ranges::find(users, "Gather") != users.end());
    QCOMPARE(users.size(), std::size_t{2});
    QVERIFY(report.rows[0].filters == (analysis::FilterLayout{1, 1, 9, 4}));
}

void TestWeights::bodiesAndFunctionsAreUsers() {
    Models models;
    Graph body{.nodes = {{"MatMul", {"h", "w"}, {"h2"}}, {"Identity", {"go"}, {"go2"}}},
               .inputs = {valueInfo("i", kInt64, {}), valueInfo("go", kBool, {}), valueInfo("h", kFloat, {1, 4})},
               .outputs = {valueInfo("go2", kBool, {}), valueInfo("h2", kFloat, {1, 4})},
               .name = "body"};
    const std::int64_t trips = 3;
    const std::string count = rawTensor("trips", kInt64, {}, {reinterpret_cast<const char*>(&trips), sizeof trips});
    const Function twice{.name = "Twice",
                         .domain = "own",
                         .inputs = {"a", "b"},
                         .outputs = {"c"},
                         .nodes = {{"MatMul", {"a", "b"}, {"c"}}}};
    const WeightReport report = models.measured(
        model({.nodes = {{"Loop", {"trips", "", "x"}, {"l"}, {}, {}, {graphAttribute("body", body.bytes())}},
                         {"Twice", {"l", "v"}, {"y"}, {}, "own"}},
               .inputs = {valueInfo("x", kFloat, {1, 4})},
               .outputs = {valueInfo("y", kFloat, {1, 4})},
               .initializers = {floats("w", {4, 4}, varied(16)), floats("v", {4, 4}, varied(16, 2)), count}},
              {twice}, {opset("", 16), opset("own", 1)}));
    QCOMPARE(report.rows.size(), std::size_t{2});
    for (const char* name : {"w", "v"}) {
        const std::size_t row = rowOf(report, name);
        QVERIFY2(row != SIZE_MAX, name);
        QVERIFY2(usersOf(report, row) == (std::vector<std::string>{"MatMul"}), name);
        QVERIFY2(report.rows[row].filters == (analysis::FilterLayout{1, 4, 4, 1}), name);
        QVERIFY2(report.figures[row].finite() == 16, name);
    }
}

void TestWeights::unusedOnesAreListed() {
    const auto document = document::open("zoo:resnet18");
    QVERIFY(document);
    const WeightReport report = session::listWeights(*document);
    // torchvision's ResNet-18 has 62 parameters and 60 buffers; num_batches_tracked are 20 of them.
    std::size_t parameters = 0, buffers = 0;
    for (const analysis::WeightRow& row : report.rows)
        ++(row.kind == analysis::StoredKind::Parameter ? parameters : buffers);
    QCOMPARE(parameters, std::size_t{62});
    QVERIFY(buffers == 60 || buffers == 40);
    const std::size_t row = rowOf(report, "layer1.0.conv1.weight");
    QVERIFY(row != SIZE_MAX);
    QCOMPARE(report.rows[row].qualname, std::string("layer1.0.conv1"));
    QVERIFY(report.rows[row].filters == (analysis::FilterLayout{1, 1, 64, 576}));
    QVERIFY(report.rows[row].node.valid());
    QCOMPARE(report.rows[row].users.size(), std::size_t{1});
}

void TestWeights::layersShareTheirBins() {
    Models models;
    std::vector<float> wild = varied(64);
    wild[5] = 1000;
    WeightReport report =
        models.measured(model({.nodes = {{"MatMul", {"x", "a"}, {"h"}}, {"MatMul", {"h", "b"}, {"y"}}},
                               .inputs = {valueInfo("x", kFloat, {1, 8})},
                               .outputs = {valueInfo("y", kFloat, {1, 8})},
                               .initializers = {floats("a", {8, 8}, wild), floats("b", {8, 8}, varied(64, 9))}}));
    const auto layers = session::layerHistograms(report);
    QVERIFY(layers);
    QCOMPARE(layers->layers.size(), std::size_t{2});
    // 1000 is an outlier: it is outside of the bins, and all others are in them.
    QVERIFY(layers->high < 10);
    QCOMPARE(layers->layers[0].bins.above, std::int64_t{1});
    std::int64_t inside = 0;
    for (const std::int64_t count : layers->layers[0].bins.counts) inside += count;
    QCOMPARE(inside, std::int64_t{63});
    report.layers = *layers;
    const auto json = nlohmann::json::parse(session::weightsJson(report, {1, 0}, true));
    QCOMPARE(json["format"].get<std::string>(), std::string("sonde-weights"));
    QCOMPARE(json["weights"][0]["name"].get<std::string>(), std::string("b"));
    QCOMPARE(json["weights"][1]["outliers"].get<int>(), 1);
    QCOMPARE(json["layers"]["layers"][0]["above"].get<int>(), 1);
}

/// One Sum of them all; listed and read within seconds, whatever their number.
void TestWeights::manySmallOnes() {
    Models models;
    constexpr int kCount = 100'000;
    Graph graph{.nodes = {}, .inputs = {valueInfo("x", kFloat, {1, 4})}, .outputs = {valueInfo("y", kFloat, {1, 4})}};
    std::string last = "x";
    for (int i = 0; i < kCount; ++i) {
        const std::string name = "w" + std::to_string(i), result = i + 1 == kCount ? "y" : "h" + std::to_string(i);
        graph.initializers.push_back(floats(name, {4}, {static_cast<float>(i), 1, 2, 3}));
        graph.nodes.push_back({"Add", {last, name}, {result}});
        last = result;
    }
    const auto document = models.open(model(graph));
    QVERIFY(document);
    QElapsedTimer timer;
    timer.start();
    WeightReport report = session::listWeights(document);
    QCOMPARE(report.rows.size(), std::size_t{kCount});
    QVERIFY(session::measureWeights(report, [&report](std::size_t, analysis::WeightFigures figures) {
        report.figures.push_back(std::move(figures));
    }));
    QCOMPARE(report.figures[static_cast<std::size_t>(rowOf(report, "w777"))].maximum, 777.0);
    QVERIFY2(timer.elapsed() < 30'000, QByteArray::number(timer.elapsed()).constData());  // 1 s alone on a machine
}

void TestWeights::cancelledInTheMiddle() {
    Models models;
    const WeightReport report = session::listWeights(
        models.open(model({.nodes = {{"MatMul", {"x", "a"}, {"h"}}, {"MatMul", {"h", "b"}, {"y"}}},
                           .inputs = {valueInfo("x", kFloat, {1, 8})},
                           .outputs = {valueInfo("y", kFloat, {1, 8})},
                           .initializers = {floats("a", {8, 8}, varied(64)), floats("b", {8, 8}, varied(64, 9))}})));
    std::stop_source stop;
    std::size_t read = 0;
    const auto done = session::measureWeights(
        report,
        [&](std::size_t, const analysis::WeightFigures&) {
            ++read;
            stop.request_stop();
        },
        base::WorkContext{stop.get_token(), {}});
    QVERIFY(!done);
    QCOMPARE(done.error().kind, base::ErrorKind::Cancelled);
    QCOMPARE(read, std::size_t{1});
}

void TestWeights::sortedByAColumn() {
    Models models;
    const WeightReport report = models.measured(
        model({.nodes = {{"MatMul", {"x", "a"}, {"h"}}, {"MatMul", {"h", "b"}, {"g"}}, {"Add", {"g", "c"}, {"y"}}},
               .inputs = {valueInfo("x", kFloat, {1, 4})},
               .outputs = {valueInfo("y", kFloat, {1, 4})},
               .initializers = {floats("a", {4, 4}, std::vector<float>(16, 2)), floats("b", {4, 4}, varied(16)),
                                floats("c", {4}, {9, NAN, 0, 0})}}));
    const auto order = [&report](const char* id) {
        QString names;
        for (const std::size_t row :
             analysis::sortedWeights(*analysis::weightColumn(id), *report.document->graph, report.rows, report.figures))
            names += QString::fromStdString(report.rows[row].name);
        return names;
    };
    QCOMPARE(order("max"), QString("cab"));
    QCOMPARE(order("bad"), QString("cab"));
    QCOMPARE(order("name"), QString("abc"));
    QCOMPARE(order("elements"), QString("abc"));
    QCOMPARE(order("zeros"), QString("cab"));
    QCOMPARE(order("zero-filters"), QString("abc"));  // of the third there are none
}

void TestWeights::namesThatAreNone() {
    Models models;
    const WeightReport report =
        models.measured(convolution({}, "kernel", {floats("kernel", {6, 2, 3, 3}, varied(108))}));
    const auto none = session::findWeight(report, "kernl");
    QVERIFY(!none);
    QCOMPARE(none.error().kind, base::ErrorKind::Usage);
    QVERIFY(QString::fromStdString(none.error().hint).contains("kernel"));
}

/// Two directions of an LSTM with 2 hidden units and 3 features: each has a matrix of 4·2 gates by features. In the
/// second direction all rows are the same.
void TestWeights::directionsAreMatricesOfTheirOwn() {
    Models models;
    std::vector<float> w = varied(2 * 8 * 3);
    for (std::size_t i = 0; i < 24; ++i) w[24 + i] = static_cast<float>(1 + i % 3);
    const WeightReport report = models.measured(
        model({.nodes = {{"LSTM",
                          {"x", "w", "r"},
                          {"y"},
                          "",
                          "",
                          {intAttribute("hidden_size", 2), stringAttribute("direction", "bidirectional")}}},
               .inputs = {valueInfo("x", kFloat, {5, 1, 3})},
               .outputs = {valueInfo("y", kFloat, {5, 2, 1, 2})},
               .initializers = {floats("w", {2, 8, 3}, w), floats("r", {2, 8, 2}, varied(32))}}));
    const std::size_t row = rowOf(report, "w");
    QCOMPARE(report.rows[row].matrices, std::int64_t{2});
    for (const std::int64_t direction : {0, 1}) {
        const auto spectrum = session::weightSpectrum(report, row, {}, direction);
        QVERIFY(spectrum);
        QCOMPARE(spectrum->rows, std::int64_t{8});
        QCOMPARE(spectrum->cols, std::int64_t{3});
        QCOMPARE(spectrum->numericalRank, std::int64_t{direction == 0 ? 3 : 1});
        QVERIFY(spectrum->matrix.starts_with("direction " + std::to_string(direction)));
    }
}

/// Not the counter of a norm: one number.
void TestWeights::buffersThatNothingReadsAreUnused() {
    analysis::StoredTensor table{.kind = analysis::StoredKind::Buffer, .names = {"positions"}};
    table.size.elements = 64;
    QVERIFY(analysis::isUnused(table));
    table.isResult = true;
    QVERIFY(!analysis::isUnused(table));
    analysis::StoredTensor counter{.kind = analysis::StoredKind::Buffer, .names = {"bn.num_batches_tracked"}};
    counter.size.elements = 1;
    QVERIFY(!analysis::isUnused(counter));
}

void TestWeights::castsAreNoUsers() {
    Models models;
    const WeightReport report = models.measured(
        model({.nodes = {{"Cast", {"w"}, {"c"}, "", "", {intAttribute("to", kFloat)}}, {"MatMul", {"x", "c"}, {"y"}}},
               .inputs = {valueInfo("x", kFloat, {1, 3})},
               .outputs = {valueInfo("y", kFloat, {1, 3})},
               .initializers = {floats("w", {3, 3}, varied(9))}}));
    QVERIFY(usersOf(report, 0) == (std::vector<std::string>{"MatMul"}));
}

/// An initializer that nothing reads is in the file: it is listed, and its elements are no parameters.
void TestWeights::whatNothingReadsIsListed() {
    Models models;
    const WeightReport report = models.measured(
        model({.nodes = {{"MatMul", {"x", "w"}, {"y"}}},
               .inputs = {valueInfo("x", kFloat, {1, 3})},
               .outputs = {valueInfo("y", kFloat, {1, 3})},
               .initializers = {floats("left", {2, 2}, {1, 2, 3, 4}), floats("w", {3, 3}, varied(9))}}));
    QCOMPARE(report.rows.size(), std::size_t{2});
    const std::size_t row = rowOf(report, "left");
    QCOMPARE(analysis::kindName(report.rows[row]), std::string_view("constant"));
    QVERIFY(report.rows[row].users.empty());
    QCOMPARE(report.figures[row].maximum, 4.0);
    const std::string text = session::weightsText(report, {0, 1}, false);
    QVERIFY2(text.find("9 parameters in 1 tensor") != std::string::npos &&
                 text.find("4 elements in 1 constant that nothing reads") != std::string::npos,
             text.c_str());
}

QTEST_GUILESS_MAIN(TestWeights)

}  // namespace tst_weights

#include "tst_weights.moc"
