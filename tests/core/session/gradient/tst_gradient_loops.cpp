// Gradients through Scan and SequenceMap against central differences, in float64 with shapes, axes and directions by
// chance (others with SONDE_RANDOM_SEED): step 1e-5, tolerance 1e-6 + 1e-5·|expected|.

#include <QTemporaryDir>
#include <QtTest>

#include <random>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "tests/core/session/gradient/small_net.h"
#include "tests/support/onnx_file.h"

namespace tst_gradient_loops {

using namespace sonde;
using namespace sonde::test::gradients;
using tensor::Tensor;
using tensor::Value;
namespace onnx = sonde::test::onnxfile;

namespace {

constexpr int kDouble = 11;

std::string real(const std::string& name, const Dims& dims) { return onnx::valueInfo(name, kDouble, dims); }

std::mt19937 generator() {
    return std::mt19937(static_cast<unsigned>(qEnvironmentVariableIntValue("SONDE_RANDOM_SEED")) + 5);
}

/// The only output of a document on these inputs; NaN, with a warning, if it does not run.
double outputOf(const document::Document& document, const std::vector<Value>& inputs) {
    const auto plan = exec::Plan::make(document.graph, {});
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**plan, inputs, {});
    if (recording.error) qWarning("%s", recording.error->text().c_str());
    return recording.error ? std::nan("") : recording.outputs.at(0).tensor().toDouble(0);
}

/// What is wrong with the gradients by all inputs; empty: nothing.
QString compared(const std::shared_ptr<const document::Document>& document, const std::vector<Value>& inputs) {
    const auto found = differentiate(document, inputs);
    if (!found) return found.error().text().c_str();
    if (found->gradients.size() != inputs.size()) return "the number of gradients is wrong";
    constexpr double kStep = 1e-5;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Tensor given = inputs[i].tensor(), gradient = found->gradients[i].gradient;
        if (gradient.shape() != given.shape()) return "a shape is wrong";
        for (std::int64_t at = 0; at < given.numel(); ++at) {
            double sides[2] = {};
            for (const int side : {0, 1}) {
                Tensor moved = given.clone().value();
                moved.mutableData<double>()[at] += side ? kStep : -kStep;
                std::vector<Value> changed = inputs;
                changed[i] = Value(moved);
                sides[side] = outputOf(*document, changed);
            }
            const double expected = (sides[1] - sides[0]) / (2 * kStep), value = gradient.toDouble(at);
            if (!(std::abs(value - expected) <= 1e-6 + 1e-5 * std::abs(expected)))
                return QString("input %1, element %2: %3 instead of %4").arg(i).arg(at).arg(value).arg(expected);
        }
    }
    return {};
}

/// The sum of squares of values, as the output 'loss'.
void addLoss(onnx::Graph& graph, const std::vector<std::string>& values) {
    std::string sum;
    for (const std::string& value : values) {
        graph.nodes.push_back({"Mul", {value, value}, {value + "_square"}});
        graph.nodes.push_back(
            {"ReduceSum", {value + "_square"}, {value + "_sum"}, "", "", {onnx::intAttribute("keepdims", 0)}});
        if (!sum.empty()) graph.nodes.push_back({"Add", {sum, value + "_sum"}, {sum + "_and_" + value}});
        sum = sum.empty() ? value + "_sum" : sum + "_and_" + value;
    }
    graph.nodes.push_back({"Identity", {sum}, {"loss"}});
    graph.outputs = {real("loss", {})};
}

}  // namespace

class TestGradientLoops : public QObject {
    Q_OBJECT

  private:
    std::shared_ptr<const document::Document> open(const onnx::Graph& graph, int version) {
        const QString path = m_folder.filePath("model.onnx");
        if (!onnx::write(path, onnx::model(graph, {}, {onnx::opset("", version)}))) return nullptr;
        const auto document = document::open(path.toStdString(), {}, {});
        if (!document) qWarning("%s", document.error().text().c_str());
        return document ? *document : nullptr;
    }
    QTemporaryDir m_folder;

  private slots:
    void scans_data();
    void scans();
    void scansByBatch_data();
    void scansByBatch();
    void anEmptyScanHandsItsStateOn();
    void mapsSequences_data();
    void mapsSequences();
};

void TestGradientLoops::scans_data() {
    QTest::addColumn<int>("number");
    for (int i = 0; i < 8; ++i) QTest::addRow("random %d", i) << i;
}

/// h' = tanh(h·w + x), y = h'·x, over x along one axis, forwards or backwards; both are put together along an axis.
void TestGradientLoops::scans() {
    QFETCH(int, number);
    std::mt19937 random = generator();
    random.discard(static_cast<unsigned long long>(number) * 16);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random() % static_cast<unsigned>(high - low + 1));
    };
    const std::int64_t batch = pick(1, 2), size = pick(1, 3), steps = pick(1, 4), axis = pick(0, 2),
                       outAxis = pick(0, 2);
    const bool isNegative = pick(0, 1) != 0;
    onnx::Graph body;
    body.nodes = {{"MatMul", {"h", "w"}, {"p"}},
                  {"Add", {"p", "x"}, {"q"}},
                  {"Tanh", {"q"}, {"next"}},
                  {"Mul", {"next", "x"}, {"y"}}};
    body.inputs = {real("h", {batch, size}), real("x", {batch, size})};
    body.outputs = {real("next", {batch, size}), real("y", {batch, size})};
    Dims xs{batch, size};
    xs.insert(xs.begin() + axis, steps);
    onnx::Graph graph;
    graph.inputs = {real("h0", {batch, size}), real("xs", xs), real("w", {size, size})};
    graph.nodes = {{"Scan",
                    {"h0", "xs"},
                    {"last", "ys"},
                    "",
                    "",
                    {onnx::graphAttribute("body", body.bytes()), onnx::intAttribute("num_scan_inputs", 1),
                     onnx::intsAttribute("scan_input_axes", {isNegative ? axis - 3 : axis}),
                     onnx::intsAttribute("scan_output_axes", {isNegative ? outAxis - 3 : outAxis}),
                     onnx::intsAttribute("scan_input_directions", {pick(0, 1)}),
                     onnx::intsAttribute("scan_output_directions", {pick(0, 1)})}}};
    // The elements of the result count differently.
    Dims ys{batch, size};
    ys.insert(ys.begin() + outAxis, steps);
    graph.inputs.push_back(real("factors", ys));
    graph.nodes.push_back({"Mul", {"ys", "factors"}, {"weighted"}});
    addLoss(graph, {"last", "weighted"});
    const auto document = open(graph, 18);
    QVERIFY(document);
    const QString problem = compared(document, {Value(spread({batch, size}, 1, -1, 1)), Value(spread(xs, 2, -1, 1)),
                                                Value(spread({size, size}, 3, -1, 1)), Value(spread(ys, 4))});
    QVERIFY2(problem.isEmpty(), qPrintable(problem));
}

void TestGradientLoops::scansByBatch_data() {
    QTest::addColumn<bool>("hasLengths");
    QTest::addColumn<bool>("isReversed");
    QTest::newRow("all steps") << false << false;
    QTest::newRow("backwards") << false << true;
    QTest::newRow("fewer steps") << true << false;
    QTest::newRow("fewer steps, backwards") << true << true;
}

/// Version 8: everything has a batch in front.
void TestGradientLoops::scansByBatch() {
    QFETCH(bool, hasLengths);
    QFETCH(bool, isReversed);
    const Dims h{2}, xs{3, 4, 2}, h0{3, 2};
    onnx::Graph body;
    body.nodes = {{"Mul", {"h", "w"}, {"p"}},
                  {"Add", {"p", "x"}, {"q"}},
                  {"Tanh", {"q"}, {"next"}},
                  {"Mul", {"next", "x"}, {"y"}}};
    body.inputs = {real("h", h), real("x", h)};
    body.outputs = {real("next", h), real("y", h)};
    onnx::Graph graph;
    graph.inputs = {real("h0", h0), real("xs", xs), real("w", h)};
    graph.nodes = {{"Scan",
                    {hasLengths ? "lengths" : "", "h0", "xs"},
                    {"last", "ys"},
                    "",
                    "",
                    {onnx::graphAttribute("body", body.bytes()), onnx::intAttribute("num_scan_inputs", 1),
                     onnx::intsAttribute("directions", {isReversed ? 1 : 0})}}};
    if (hasLengths) {
        const std::int64_t lengths[] = {3, 3, 3};
        graph.initializers = {
            onnx::rawTensor("lengths", 7, {3}, std::string(reinterpret_cast<const char*>(lengths), sizeof(lengths)))};
    }
    addLoss(graph, {"last", "ys"});
    const auto document = open(graph, 8);
    QVERIFY(document);
    const QString problem =
        compared(document, {Value(spread(h0, 1, -1, 1)), Value(spread(xs, 2, -1, 1)), Value(spread(h, 3, -1, 1))});
    QVERIFY2(problem.isEmpty(), qPrintable(problem));
}

/// d Σ h0² / dh0 = 2·h0: no iteration is in between.
void TestGradientLoops::anEmptyScanHandsItsStateOn() {
    onnx::Graph body;
    body.nodes = {{"Mul", {"h", "x"}, {"next"}}, {"Identity", {"x"}, {"y"}}};
    body.inputs = {real("h", {2}), real("x", {2})};
    body.outputs = {real("next", {2}), real("y", {2})};
    onnx::Graph graph;
    graph.inputs = {real("h0", {2}), real("xs", {0, 2})};
    graph.nodes = {{"Scan",
                    {"h0", "xs"},
                    {"last", "ys"},
                    "",
                    "",
                    {onnx::graphAttribute("body", body.bytes()), onnx::intAttribute("num_scan_inputs", 1)}}};
    addLoss(graph, {"last"});
    const auto document = open(graph, 18);
    QVERIFY(document);
    const auto found =
        differentiate(document, {Value(Tensor::of<double>({2}, {3, -1})), Value(Tensor::of<double>({0, 2}, {}))});
    QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
    QCOMPARE(found->gradients[0].gradient.toDouble(0), 6.0);
    QCOMPARE(found->gradients[0].gradient.toDouble(1), -2.0);
    QCOMPARE(found->gradients[1].gradient.numel(), 0);
}

void TestGradientLoops::mapsSequences_data() {
    QTest::addColumn<int>("number");
    for (int i = 0; i < 4; ++i) QTest::addRow("random %d", i) << i;
}

/// y[i] = tanh(a[i]·w)·b[i], z[i] = y[i] + w; a and b are sequences, w is given to every iteration.
void TestGradientLoops::mapsSequences() {
    QFETCH(int, number);
    std::mt19937 random = generator();
    random.discard(static_cast<unsigned long long>(number) * 16);
    const std::int64_t size = 1 + static_cast<std::int64_t>(random() % 3),
                       count = 2 + static_cast<std::int64_t>(random() % 3);
    onnx::Graph body;
    body.nodes = {
        {"Mul", {"a", "w"}, {"p"}}, {"Tanh", {"p"}, {"q"}}, {"Mul", {"q", "b"}, {"y"}}, {"Add", {"y", "w"}, {"z"}}};
    body.inputs = {real("a", {size}), real("b", {size}), real("w", {size})};
    body.outputs = {real("y", {size}), real("z", {size})};
    onnx::Graph graph;
    std::vector<Value> inputs;
    std::vector<std::string> as, bs;
    for (std::int64_t i = 0; i < count; ++i) {
        for (const char* name : {"a", "b"}) {
            const std::string own = name + std::to_string(i);
            (name[0] == 'a' ? as : bs).push_back(own);
            graph.inputs.push_back(real(own, {size}));
            inputs.emplace_back(spread({size}, static_cast<int>(inputs.size()), -1, 1));
        }
    }
    graph.inputs.push_back(real("weight", {size}));
    inputs.emplace_back(spread({size}, 9, -1, 1));
    graph.nodes = {{"SequenceConstruct", as, {"all_a"}},
                   {"SequenceConstruct", bs, {"all_b"}},
                   {"SequenceMap",
                    {"all_a", "all_b", "weight"},
                    {"ys", "zs"},
                    "",
                    "",
                    {onnx::graphAttribute("body", body.bytes())}},
                   {"ConcatFromSequence", {"ys"}, {"y_row"}, "", "", {onnx::intAttribute("axis", 0)}},
                   {"ConcatFromSequence", {"zs"}, {"z_row"}, "", "", {onnx::intAttribute("axis", 0)}}};
    addLoss(graph, {"y_row", "z_row"});
    const auto document = open(graph, 18);
    QVERIFY(document);
    const QString problem = compared(document, inputs);
    QVERIFY2(problem.isEmpty(), qPrintable(problem));
}

QTEST_GUILESS_MAIN(TestGradientLoops)

}  // namespace tst_gradient_loops

#include "tst_gradient_loops.moc"
