// Gradients through whole runs: control flow, conventions, limits of memory, and whole models against each other and
// against differences along a direction.

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <numeric>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/session/read_inputs.h"
#include "tests/core/session/gradient/small_net.h"
#include "tests/support/onnx_file.h"
#include "tests/support/reference_sets.h"

namespace tst_saliency {

using namespace sonde;
using namespace sonde::test::gradients;
using graph::Argument;
using graph::NodeId;
using sonde::test::referenceModels;
using tensor::Tensor;
using tensor::Value;
namespace onnx = sonde::test::onnxfile;

namespace {

constexpr int kDouble = 11, kInt64 = 7, kBool = 9;

std::string scalar(const std::string& name, int dtype, const void* bytes, std::size_t size) {
    return onnx::rawTensor(name, dtype, {}, std::string(static_cast<const char*>(bytes), size));
}
std::string real(const std::string& name, double value) { return scalar(name, kDouble, &value, sizeof(value)); }

std::vector<double> numbers(const Tensor& tensor) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.toDouble(i));
    return values;
}

/// The gradient of Σ op(x).
std::vector<double> gradientOf(graph::OpKey op, std::vector<double> x, std::vector<Argument> more = {},
                               tensor::Attributes attributes = {}) {
    SmallNet net;
    const NodeId a = net.input("a", Tensor::of<double>({static_cast<std::int64_t>(x.size())}, x));
    more.insert(more.begin(), Argument::of(a));
    const NodeId y = net.call(std::move(op), more, std::move(attributes)).front();
    const NodeId loss = net.call({"", "ReduceSum", 13}, {Argument::of(y)}, {{"keepdims", std::int64_t{0}}}).front();
    const auto found = differentiate(net.finish(loss), net.inputs);
    return found ? numbers(found->gradients.at(0).gradient) : std::vector<double>{};
}

}  // namespace

class TestSaliency : public QObject {
    Q_OBJECT

  private:
    std::shared_ptr<const document::Document> open(const onnx::Graph& graph) {
        const QString path = m_folder.filePath("model.onnx");
        if (!onnx::write(path, onnx::model(graph, {}, {onnx::opset("", 18)}))) return nullptr;
        const auto document = document::open(path.toStdString(), {}, {});
        return document ? *document : nullptr;
    }
    QTemporaryDir m_folder;

  private slots:
    void conventionsArePyTorchs();
    void nanIsNotCutOff();
    void followsLoops();
    void followsTheBranchTaken();
    void takesTheLargestOutputWithoutAnElement();
    void differentiatesByInnerNodesAndWeights();
    void namesWhatHasNoRule();
    void refusesIntegers();
    void givesTheSameWithoutMemoryForValues();
    void modelsAgreeWithDifferences_data();
    void modelsAgreeWithDifferences();
    void weightsOfAModuleThatIsCalledTwiceAreOne();
    void goesIntoWhatAModuleGivesTogether();
    void exportsOfOneModelAgree_data();
    void exportsOfOneModelAgree();
};

void TestSaliency::conventionsArePyTorchs() {
    // By the subgradients that torch.autograd documents: relu and abs at 0, a clamp's ends, rounding, equal maxima, 0
    // to the power 0.
    QCOMPARE(gradientOf({"", "Relu", 14}, {-1, 0, 2}), (std::vector<double>{0, 0, 1}));
    QCOMPARE(gradientOf({"", "Abs", 13}, {-1, 0, 2}), (std::vector<double>{-1, 0, 1}));
    QCOMPARE(gradientOf({"", "Round", 11}, {-1.2, 0.5, 2}), (std::vector<double>{0, 0, 0}));
    QCOMPARE(gradientOf({"", "Floor", 13}, {-1.2, 0.5, 2}), (std::vector<double>{0, 0, 0}));
    QCOMPARE(gradientOf({"", "HardSigmoid", 6}, {-3, 0, 3}, {}, {{"alpha", 0.5}, {"beta", 0.5}}),
             (std::vector<double>{0, 0.5, 0}));
    QCOMPARE(gradientOf({"", "ReduceMax", 13}, {3, 1, 3}), (std::vector<double>{0.5, 0, 0.5}));
    QCOMPARE(gradientOf({"", "ReduceProd", 13}, {2, 0, 5}), (std::vector<double>{0, 10, 0}));
    QCOMPARE(gradientOf({"", "ReduceL2", 13}, {0, 0}), (std::vector<double>{0, 0}));
    QCOMPARE(gradientOf({"aten", "clamp", 0}, {-1, 0.5, 1, 2},
                        {Argument::of(Value::ofFloat(-1)), Argument::of(Value::ofFloat(1))}),
             (std::vector<double>{1, 1, 1, 0}));
    QCOMPARE(gradientOf({"aten", "hardtanh", 0}, {-1, 0.5, 1, 2},
                        {Argument::of(Value::ofFloat(-1)), Argument::of(Value::ofFloat(1))}),
             (std::vector<double>{0, 1, 0, 0}));
    QCOMPARE(gradientOf({"aten", "pow.Tensor_Scalar", 0}, {0, 2}, {Argument::of(Value::ofFloat(0))}),
             (std::vector<double>{0, 0}));
}

/// torch.autograd at (NaN, 2): what cuts off what is not above a limit lets NaN through.
void TestSaliency::nanIsNotCutOff() {
    const double nan = std::nan("");
    const auto rounded = [](std::vector<double> numbers) {
        for (double& number : numbers) number = std::round(number * 1e6) / 1e6;
        return numbers;
    };
    QCOMPARE(gradientOf({"", "Relu", 14}, {nan, 2}), (std::vector<double>{1, 1}));
    QCOMPARE(gradientOf({"", "Elu", 6}, {nan, 2}), (std::vector<double>{1, 1}));
    QCOMPARE(gradientOf({"", "Celu", 12}, {nan, 2}), (std::vector<double>{1, 1}));
    QCOMPARE(rounded(gradientOf({"", "Selu", 6}, {nan, 2})), (std::vector<double>{1.050701, 1.050701}));
    QCOMPARE(rounded(gradientOf({"", "LeakyRelu", 16}, {nan, 2}, {}, {{"alpha", 0.1}})), (std::vector<double>{0.1, 1}));
    QCOMPARE(gradientOf({"", "ThresholdedRelu", 10}, {nan, 2}), (std::vector<double>{1, 1}));
    QCOMPARE(gradientOf({"", "Shrink", 9}, {nan, 2}), (std::vector<double>{1, 1}));
    QCOMPARE(gradientOf({"", "Max", 13}, {nan, 2}, {Argument::of(Value(Tensor::of<double>({2}, {0, 0})))}),
             (std::vector<double>{1, 1}));
}

/// y = x·w, four times: dy/dx = w⁴, dy/dw = 4·x·w³.
void TestSaliency::followsLoops() {
    const onnx::Graph body{
        {{"Mul", {"carried", "w"}, {"next"}}, {"Identity", {"cond"}, {"again"}}},
        {onnx::valueInfo("i", kInt64, {}), onnx::valueInfo("cond", kBool, {}), onnx::valueInfo("carried", kDouble, {})},
        {onnx::valueInfo("again", kBool, {}), onnx::valueInfo("next", kDouble, {}),
         onnx::valueInfo("next", kDouble, {})}};
    const std::int64_t trips = 4;
    const onnx::Graph graph{
        {{"Loop", {"trips", "", "x"}, {"y", "all"}, "", "", {onnx::graphAttribute("body", body.bytes())}},
         {"ReduceSum", {"all"}, {"sum"}, "", "", {onnx::intAttribute("keepdims", 0)}}},
        {onnx::valueInfo("x", kDouble, {}), onnx::valueInfo("w", kDouble, {})},
        {onnx::valueInfo("y", kDouble, {}), onnx::valueInfo("sum", kDouble, {})},
        {scalar("trips", kInt64, &trips, sizeof(trips))}};
    const auto document = open(graph);
    QVERIFY(document);
    const std::vector<Value> inputs{Value(Tensor::scalar<double>(3)), Value(Tensor::scalar<double>(2))};
    const auto found = differentiate(document, inputs);
    QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
    QCOMPARE(found->value, 48.0);
    QCOMPARE(found->gradients[0].gradient.toDouble(0), 16.0);
    QCOMPARE(found->gradients[1].gradient.toDouble(0), 96.0);
    // The sum of what all iterations gave: x·(w + w² + w³ + w⁴).
    session::gradient::Request request;
    request.of.node = *document->findNode("sum");
    const auto sum = differentiate(document, inputs, request);
    QVERIFY2(sum.has_value(), sum ? "" : sum.error().text().c_str());
    QCOMPARE(sum->gradients[0].gradient.toDouble(0), 2.0 + 4 + 8 + 16);
    QCOMPARE(sum->gradients[1].gradient.toDouble(0), 3.0 * (1 + 2 * 2 + 3 * 4 + 4 * 8));
}

void TestSaliency::followsTheBranchTaken() {
    const onnx::Graph square{{{"Mul", {"x", "x"}, {"a"}}}, {}, {onnx::valueInfo("a", kDouble, {})}};
    const onnx::Graph triple{{{"Mul", {"x", "three"}, {"b"}}}, {}, {onnx::valueInfo("b", kDouble, {})}};
    const onnx::Graph graph{
        {{"Greater", {"x", "zero"}, {"c"}},
         {"If",
          {"c"},
          {"y"},
          "",
          "",
          {onnx::graphAttribute("then_branch", square.bytes()), onnx::graphAttribute("else_branch", triple.bytes())}}},
        {onnx::valueInfo("x", kDouble, {})},
        {onnx::valueInfo("y", kDouble, {})},
        {real("three", 3), real("zero", 0)}};
    const auto document = open(graph);
    QVERIFY(document);
    for (const auto& [x, slope] : {std::pair(5.0, 10.0), std::pair(-5.0, 3.0)}) {
        const auto found = differentiate(document, {Value(Tensor::scalar<double>(x))});
        QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
        QCOMPARE(found->gradients[0].gradient.toDouble(0), slope);
    }
}

void TestSaliency::takesTheLargestOutputWithoutAnElement() {
    SmallNet net;
    const NodeId x = net.input("x", Tensor::of<double>({2, 2}, {1, 2, 7, 3}));
    const auto document = net.finish(net.call({"", "Mul", 14}, {Argument::of(x), Argument::of(x)}).front());
    const auto found = differentiate(document, net.inputs);
    QVERIFY(found.has_value());
    QCOMPARE(found->of.index, (Dims{1, 0}));
    QCOMPARE(found->value, 49.0);
    QCOMPARE(numbers(found->gradients[0].gradient), (std::vector<double>{0, 0, 14, 0}));
}

void TestSaliency::differentiatesByInnerNodesAndWeights() {
    // y = (x·w)², with w stored.
    const onnx::Graph graph{{{"Mul", {"x", "w"}, {"p"}}, {"Mul", {"p", "p"}, {"y"}}},
                            {onnx::valueInfo("x", kDouble, {})},
                            {onnx::valueInfo("y", kDouble, {})},
                            {real("w", 2)}};
    const auto document = open(graph);
    QVERIFY(document);
    session::gradient::Request request;
    for (const char* name : {"p", "w", "x"}) request.to.push_back(*document->findNode(name));
    const auto found = differentiate(document, {Value(Tensor::scalar<double>(3))}, request);
    QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
    QCOMPARE(found->gradients[0].gradient.toDouble(0), 12.0);
    QCOMPARE(found->gradients[1].gradient.toDouble(0), 36.0);
    QCOMPARE(found->gradients[2].gradient.toDouble(0), 24.0);
}

void TestSaliency::namesWhatHasNoRule() {
    SmallNet net;
    const NodeId x = net.input("x", Tensor::of<double>({1, 2, 2}, {4, 2, 2, 3}));
    const auto document = net.finish(net.call({"aten", "lgamma", 0}, {Argument::of(x)}).front());
    const auto found = differentiate(document, net.inputs);
    QVERIFY(!found.has_value());
    QCOMPARE(found.error().kind, base::ErrorKind::Usage);
    QVERIFY2(found.error().what.find("'loss' (lgamma)") != std::string::npos, found.error().what.c_str());
}

void TestSaliency::refusesIntegers() {
    SmallNet net;
    const NodeId x = net.input("x", Tensor::of<std::int64_t>({2}, {1, 2}));
    const auto document =
        net.finish(net.call({"", "Cast", 13}, {Argument::of(x)}, {{"to", std::int64_t{kDouble}}}).front());
    const auto found = differentiate(document, net.inputs);
    QVERIFY(!found.has_value());
    QVERIFY(!found.error().hint.empty());
    session::gradient::Request request;
    request.to = {x};
    const auto asked = differentiate(document, net.inputs, request);
    QVERIFY(!asked.has_value());
    QVERIFY2(asked.error().what.starts_with("'x' is int64"), asked.error().what.c_str());
}

void TestSaliency::givesTheSameWithoutMemoryForValues() {
    SmallNet net;
    NodeId x = net.input("x", spread({4, 4}, 1, -1, 1));
    for (int i = 0; i < 6; ++i) {
        x = net.call({"", "Tanh", 13}, {Argument::of(x)}).front();
        x = net.call({"", "MatMul", 13}, {Argument::of(x), Argument::of(net.graph.inputs().front())}).front();
    }
    const auto document = net.finish(x);
    const auto kept = differentiate(document, net.inputs);
    const auto again = differentiate(document, net.inputs, {}, {0, 0, {}});
    QVERIFY(kept.has_value() && again.has_value());
    QCOMPARE(numbers(again->gradients[0].gradient), numbers(kept->gradients[0].gradient));
}

namespace {

struct Reference {
    std::shared_ptr<const document::Document> document;
    std::vector<Value> inputs;
};
std::optional<Reference> reference(const QString& model, const QString& npz) {
    const auto document = document::open(model.toStdString(), {}, {});
    if (!document) return std::nullopt;
    const auto cases = session::readCases(**document, {npz.toStdString()});
    if (!cases || cases->empty()) return std::nullopt;
    return Reference{*document, cases->front().values};
}

}  // namespace

void TestSaliency::modelsAgreeWithDifferences_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("values");
    for (const char* name :
         {"mlp_functional", "nested_containers", "resnet18_slim", "unet_small", "vit_small", "squeezenet1_1",
          "shufflenet_v2_x0_5", "mobilenet_v3_small", "robust_nested", "shared_twice"})
        for (const char* end : {".onnx", ".script.pt", ".trace.pt"}) {
            // A trace has no branches: there is none of this model.
            if (QString(name) == "robust_nested" && QString(end) == ".trace.pt") continue;
            QTest::newRow(qPrintable(QString(name) + end)) << QString(name) + end << QString(name) + ".npz";
        }
}

/// In float32, along the gradient itself: |gradient|² = dy/dt. The step is such that y changes by about 2/1000 of its
/// magnitude; 2 % are allowed for what lies between both sides (kinks of relu and max pooling).
void TestSaliency::modelsAgreeWithDifferences() {
    QFETCH(QString, model);
    QFETCH(QString, values);
    const QString folder = referenceModels();
    SONDE_NEEDS_SET("models", folder + "/" + model);
    const auto given = reference(folder + "/" + model, folder + "/" + values);
    QVERIFY(given);
    const auto found = differentiate(given->document, given->inputs);
    QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
    const auto& inputs = given->document->graph->inputs();
    double square = 0;
    for (const auto& one : found->gradients)
        for (const double value : numbers(one.gradient)) square += value * value;
    QVERIFY(square > 0);
    const double step = 0.001 * std::max(0.1, std::abs(found->value)) / square;
    const auto plan = exec::Plan::make(given->document->graph, {});
    QVERIFY(plan.has_value());
    exec::Runner runner;
    double sides[2] = {};
    for (const int side : {0, 1}) {
        std::vector<Value> moved = given->inputs;
        for (const auto& one : found->gradients) {
            const auto at =
                static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), one.node) - inputs.begin());
            Tensor changed = moved[at].tensor().clone().value();
            for (std::int64_t i = 0; i < changed.numel(); ++i)
                changed.mutableData<float>()[i] += static_cast<float>((side ? step : -step) * one.gradient.toDouble(i));
            moved[at] = Value(changed);
        }
        const exec::Recording recording = runner.run(**plan, moved, {});
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        const Tensor y = recording.outputs.at(0).tensor();
        std::int64_t element = 0;
        for (std::size_t d = 0; d < y.rank(); ++d) element = element * y.dim(d) + found->of.index[d];
        sides[side] = y.toDouble(element);
    }
    const double slope = (sides[1] - sides[0]) / (2 * step);
    QVERIFY2(std::abs(slope - square) <= 0.02 * square, qPrintable(QString("%1 instead of %2").arg(square).arg(slope)));
}

/// A trace has the weights of a module that is called twice under two names. Values of torch.autograd (PyTorch 1.13, in
/// float64) for norm[3, 10] by proj.weight and block.lin.bias.
void TestSaliency::weightsOfAModuleThatIsCalledTwiceAreOne() {
    const QString folder = referenceModels();
    SONDE_NEEDS_SET("models", folder + "/shared_twice.trace.pt");
    const auto given = reference(folder + "/shared_twice.trace.pt", folder + "/shared_twice.npz");
    QVERIFY(given);
    session::gradient::Request request;
    request.of.node = *given->document->findNode("norm");
    request.of.index = {3, 10};
    for (const char* name : {"proj/weight", "proj_1/weight", "block_lin/bias"})
        request.to.push_back(*given->document->findNode(name));
    const auto found = differentiate(given->document, given->inputs, request);
    QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
    for (const std::size_t name : {0, 1}) {
        const std::vector<double> weight = numbers(found->gradients[name].gradient);
        QVERIFY(std::abs(weight[11 * 12 + 7] - 0.038497769178674285) < 1e-5);
        QVERIFY(std::abs(std::accumulate(weight.begin(), weight.end(), 0.0) + 1.7813705099156298) < 1e-4);
    }
    const std::vector<double> bias = numbers(found->gradients[2].gradient);
    QVERIFY(std::abs(bias[0] + 0.7978423879205652) < 1e-5);
    QVERIFY(std::abs(std::accumulate(bias.begin(), bias.end(), 0.0) + 1.110142644163568) < 1e-4);
}

/// PyTorch 1.13's numbers for y[1, 2], where the module gives (y, steps).
void TestSaliency::goesIntoWhatAModuleGivesTogether() {
    const QString folder = QString(SONDE_TEST_DATA) + "/models";
    const auto given = reference(folder + "/control_flow.script.pt", folder + "/control_flow.npz");
    QVERIFY(given);
    session::gradient::Request request;
    request.of.node = *given->document->findNode("output");
    request.of.index = {0, 1, 2};
    const auto found = differentiate(given->document, given->inputs, request);
    QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
    const std::vector<double> gradient = numbers(found->gradients.at(0).gradient);
    const std::vector<double> row{-0.26777714, 0.04485543, 0.12544616, 0.19838437,
                                  0.03838293,  0.16990352, 0.25643206, -0.06680502};
    QCOMPARE(gradient.size(), std::size_t{24});
    double sum = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
        const double expected = i / 8 == 1 ? row[i % 8] : 0;
        QVERIFY2(std::abs(gradient[i] - expected) < 1e-6,
                 qPrintable(QString("element %1: %2").arg(i).arg(gradient[i])));
        sum += std::abs(gradient[i]);
    }
    QVERIFY(std::abs(sum - 1.16798675) < 1e-5);
}

void TestSaliency::exportsOfOneModelAgree_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"resnet18_slim", "unet_small", "vit_small", "nested_containers", "mlp_functional"})
        QTest::newRow(name) << name;
}

/// ONNX operators by their rules, PyTorch's by what they are exported as: the same gradients within 1e-3 of the
/// largest.
void TestSaliency::exportsOfOneModelAgree() {
    QFETCH(QString, name);
    const QString folder = referenceModels();
    std::optional<Tensor> first;
    for (const char* end : {".onnx", ".trace.pt", ".script.pt"}) {
        const QString model = folder + "/" + name + end;
        SONDE_NEEDS_SET("models", model);
        const auto given = reference(model, folder + "/" + name + ".npz");
        QVERIFY(given);
        const auto found = differentiate(given->document, given->inputs);
        QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
        const Tensor gradient = found->gradients.at(0).gradient;
        if (!first) first = gradient;
        QCOMPARE(gradient.shape(), first->shape());
        double largest = 0, apart = 0;
        for (std::int64_t i = 0; i < gradient.numel(); ++i) {
            largest = std::max(largest, std::abs(first->toDouble(i)));
            apart = std::max(apart, std::abs(first->toDouble(i) - gradient.toDouble(i)));
        }
        QVERIFY2(largest > 0 && apart <= 1e-3 * largest, qPrintable(QString("%1 of %2").arg(apart).arg(largest)));
    }
}

QTEST_GUILESS_MAIN(TestSaliency)

}  // namespace tst_saliency

#include "tst_saliency.moc"
