// Gradients of models: every rule against central differences of the same model, in float64.

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "tests/support/onnx_file.h"

namespace tst_gradient {

using namespace sonde;
using namespace sonde::test::onnxfile;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using Dims = std::vector<std::int64_t>;
using Nodes = std::vector<Node>;
using Shapes = std::vector<Dims>;

namespace {

constexpr int kDouble = 11;

std::string int64s(const std::string& name, const Dims& values) {
    return rawTensor(name, 7, {static_cast<std::int64_t>(values.size())},
                     std::string(reinterpret_cast<const char*>(values.data()), values.size() * 8));
}

/// Values between 0.3 and 1.7 that are all different, in no order.
Tensor example(const Dims& shape, int seed) {
    std::vector<double> values;
    std::int64_t count = 1;
    for (std::int64_t dim : shape) count *= dim;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(0.3 + 1.4 * std::fmod(0.618034 * static_cast<double>(i + 1) + 0.377 * seed, 1.0));
    return Tensor::of<double>(Shape(shape), values);
}

double sumOf(const Value& value) {
    double sum = 0;
    for (std::int64_t i = 0; i < value.tensor().numel(); ++i) sum += value.tensor().toDouble(i);
    return sum;
}

}  // namespace

class TestGradient : public QObject {
    Q_OBJECT

  private:
    base::Result<std::shared_ptr<const document::Document>> open(const std::string& bytes) {
        const QString path = m_folder.filePath("model.onnx");
        if (!write(path, bytes)) return base::runError("cannot write");
        return document::open(path.toStdString(), {}, {});
    }
    QTemporaryDir m_folder;

  private slots:
    void rulesAgreeWithDifferences_data();
    void rulesAgreeWithDifferences();
    void otherInputsAreComputedAgain();
    void operatorsWithoutARuleAreNamed();
};

void TestGradient::rulesAgreeWithDifferences_data() {
    QTest::addColumn<Nodes>("nodes");
    QTest::addColumn<Shapes>("shapes");
    const auto row = [](const char* name, Nodes nodes, Shapes shapes) { QTest::newRow(name) << nodes << shapes; };
    for (const char* op : {"Abs", "Cos", "Elu", "Erf", "Exp", "Identity", "LeakyRelu", "Log", "Neg", "Reciprocal",
                           "Relu", "Sigmoid", "Sin", "Softplus", "Sqrt", "Tanh"}) {
        // Shifted, so that both signs occur where the operator takes them.
        const bool positive = std::string(op) == "Log" || std::string(op) == "Sqrt" || std::string(op) == "Reciprocal";
        row(op,
            {{positive ? "Identity" : "Sin", {"a"}, {"s"}},
             {"Sub", {"s", positive ? "zero" : "shift"}, {"t"}},
             {op, {"t"}, {"y"}}},
            {{2, 3}});
    }
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min"}) {
        row(op, {{op, {"a", "b"}, {"y"}}}, {{2, 3}, {2, 3}});
        row(qPrintable(QString("%1, broadcast").arg(op)), {{op, {"a", "b"}, {"y"}}}, {{2, 1, 3}, {4, 1}});
    }
    row("a value used twice", {{"Mul", {"a", "b"}, {"p"}}, {"Exp", {"p"}, {"q"}}, {"Mul", {"p", "q"}, {"y"}}},
        {{3}, {3}});
    row("Where", {{"Less", {"a", "b"}, {"c"}}, {"Where", {"c", "a", "b"}, {"w"}}, {"Mul", {"w", "w"}, {"y"}}},
        {{2, 3}, {3}});
    row("Clip", {{"Clip", {"a", "low", "high"}, {"c"}}, {"Mul", {"c", "c"}, {"y"}}}, {{7}});
    row("Sum", {{"Sum", {"a", "b", "a"}, {"s"}}, {"Mul", {"s", "s"}, {"y"}}}, {{3}, {2, 3}});
    row("MatMul", {{"MatMul", {"a", "b"}, {"m"}}, {"Mul", {"m", "m"}, {"y"}}}, {{2, 3}, {3, 4}});
    row("MatMul, batches", {{"MatMul", {"a", "b"}, {"m"}}, {"Mul", {"m", "m"}, {"y"}}}, {{2, 1, 2, 3}, {3, 3, 2}});
    row("MatMul, vectors", {{"MatMul", {"a", "b"}, {"m"}}, {"Mul", {"m", "m"}, {"y"}}}, {{3}, {3}});
    row("MatMul, column", {{"MatMul", {"a", "b"}, {"m"}}, {"Mul", {"m", "m"}, {"y"}}}, {{2, 4, 3}, {3}});
    row("MatMul, row", {{"MatMul", {"a", "b"}, {"m"}}, {"Mul", {"m", "m"}, {"y"}}}, {{3}, {2, 3, 4}});
    for (int turnA : {0, 1}) {
        for (int turnB : {0, 1}) {
            row(qPrintable(QString("Gemm %1%2").arg(turnA).arg(turnB)),
                {{"Gemm",
                  {"a", "b", "c"},
                  {"m"},
                  "",
                  "",
                  {intAttribute("transA", turnA), intAttribute("transB", turnB), floatAttribute("alpha", 0.5F),
                   floatAttribute("beta", 2)}},
                 {"Mul", {"m", "m"}, {"y"}}},
                {turnA ? Dims{3, 2} : Dims{2, 3}, turnB ? Dims{4, 3} : Dims{3, 4}, {4}});
        }
    }
    for (const char* op : {"ReduceSum", "ReduceMean", "ReduceL2", "ReduceSumSquare"}) {
        const bool asInput = std::string(op) == "ReduceSum";
        Node node{op, {"a"}, {"r"}, "", "", {intAttribute("keepdims", 0)}};
        if (asInput) node.inputs.push_back("axes");
        else node.attributes.push_back(intsAttribute("axes", {1}));
        row(op, {node, {"Mul", {"r", "r"}, {"y"}}}, {{2, 3, 2}});
        row(qPrintable(QString("%1 of all").arg(op)), {{op, {"a"}, {"r"}}, {"Mul", {"r", "r"}, {"y"}}}, {{2, 3}});
    }
    row("Softmax", {{"Softmax", {"a"}, {"s"}, "", "", {intAttribute("axis", 1)}}, {"Mul", {"s", "b"}, {"y"}}},
        {{2, 3, 2}, {2, 3, 2}});
    row("LogSoftmax", {{"LogSoftmax", {"a"}, {"s"}}, {"Mul", {"s", "b"}, {"y"}}}, {{2, 4}, {2, 4}});
    row("Conv",
        {{"Conv",
          {"a", "b", "c"},
          {"m"},
          "",
          "",
          {intsAttribute("pads", {1, 0, 1, 2}), intsAttribute("strides", {2, 1})}},
         {"Mul", {"m", "m"}, {"y"}}},
        {{2, 3, 5, 4}, {2, 3, 3, 2}, {2}});
    row("Conv, groups and holes",
        {{"Conv",
          {"a", "b"},
          {"m"},
          "",
          "",
          {intAttribute("group", 2), intsAttribute("dilations", {2}), stringAttribute("auto_pad", "SAME_UPPER")}},
         {"Mul", {"m", "m"}, {"y"}}},
        {{1, 4, 6}, {6, 2, 3}});
    row("MaxPool",
        {{"MaxPool",
          {"a"},
          {"m"},
          "",
          "",
          {intsAttribute("kernel_shape", {2, 3}), intsAttribute("strides", {1, 2}),
           intsAttribute("pads", {0, 1, 0, 1})}},
         {"Mul", {"m", "m"}, {"y"}}},
        {{1, 2, 4, 5}});
    for (int counted : {0, 1}) {
        row(qPrintable(QString("AveragePool %1").arg(counted)),
            {{"AveragePool",
              {"a"},
              {"m"},
              "",
              "",
              {intsAttribute("kernel_shape", {3, 2}), intsAttribute("strides", {2, 2}),
               intsAttribute("pads", {1, 0, 1, 0}), intAttribute("count_include_pad", counted),
               intAttribute("ceil_mode", 1)}},
             {"Mul", {"m", "m"}, {"y"}}},
            {{1, 2, 4, 5}});
    }
    row("GlobalAveragePool", {{"GlobalAveragePool", {"a"}, {"m"}}, {"Mul", {"m", "m"}, {"y"}}}, {{2, 3, 2, 2}});
    row("BatchNormalization",
        {{"BatchNormalization", {"a", "b", "c", "mean", "var"}, {"m"}}, {"Mul", {"m", "m"}, {"y"}}},
        {{2, 3, 2}, {3}, {3}});
    row("Reshape, Transpose",
        {{"Reshape", {"a", "minus"}, {"r"}},
         {"Mul", {"r", "r"}, {"s"}},
         {"Transpose", {"a"}, {"t"}, "", "", {intsAttribute("perm", {1, 2, 0})}},
         {"Flatten", {"t"}, {"f"}},
         {"Mul", {"f", "f"}, {"g"}},
         {"ReduceSum", {"g"}, {"u"}},
         {"Mul", {"s", "u"}, {"y"}}},
        {{2, 3, 2}});
    row("Slice", {{"Slice", {"a", "one", "five", "axes", "two"}, {"s"}}, {"Mul", {"s", "s"}, {"y"}}}, {{2, 6}});
    row("Gather", {{"Gather", {"a", "picks"}, {"s"}}, {"Mul", {"s", "s"}, {"y"}}}, {{3, 2}});
    row("Expand", {{"Expand", {"a", "wide"}, {"s"}}, {"Mul", {"s", "b"}, {"y"}}}, {{3, 1}, {2, 3, 2}});
    row("Concat, Split",
        {{"Concat", {"a", "b"}, {"c"}, "", "", {intAttribute("axis", 1)}},
         {"Split", {"c"}, {"u", "v"}, "", "", {intAttribute("axis", 1)}},
         {"Mul", {"u", "v"}, {"y"}}},
        {{2, 3}, {2, 1}});
    row("Unsqueeze, Squeeze",
        {{"Unsqueeze", {"a", "axes"}, {"u"}}, {"Mul", {"u", "u"}, {"s"}}, {"Squeeze", {"s", "axes"}, {"y"}}}, {{3, 2}});
}

void TestGradient::rulesAgreeWithDifferences() {
    QFETCH(Nodes, nodes);
    QFETCH(Shapes, shapes);
    const std::vector<std::string> all{"a", "b", "c"};
    std::vector<std::string> xs, grads, inputs, outputs{valueInfo("y", kDouble, {})};
    std::vector<Value> values;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        xs.push_back(all[i]);
        grads.push_back("d" + all[i]);
        inputs.push_back(valueInfo(all[i], kDouble, shapes[i]));
        outputs.push_back(valueInfo(grads.back(), kDouble, shapes[i]));
        values.emplace_back(example(shapes[i], static_cast<int>(i)));
    }
    nodes.push_back({"Gradient",
                     xs,
                     grads,
                     "",
                     "ai.onnx.preview.training",
                     {stringsAttribute("xs", xs), stringAttribute("y", "y")}});
    const auto real = [](const char* name, std::vector<double> numbers, Dims dims) {
        return rawTensor(name, kDouble, dims,
                         std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 8));
    };
    Graph graph{nodes,
                inputs,
                outputs,
                {int64s("axes", {1}), int64s("minus", {3, -1}), int64s("one", {1}), int64s("two", {2}),
                 int64s("five", {5}), int64s("picks", {2, 0, 2}), int64s("wide", {2, 3, 2}), real("zero", {0}, {}),
                 real("shift", {0.83}, {}), real("low", {0.6}, {}), real("high", {1.2}, {}),
                 real("mean", {0.2, 0.5, 1}, {3}), real("var", {0.5, 1, 2}, {3})}};
    // The shape of y follows from the graph.
    graph.outputs[0] = valueInfo("y", kDouble, {}).substr(0, 3);
    const auto document = open(model(graph, {}, {opset("", 17), opset("ai.onnx.preview.training", 1)}));
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    for (const base::Diagnostic& finding : (*document)->diagnostics)
        QVERIFY2(finding.what.find("gradient") == std::string::npos, finding.what.c_str());
    const auto plan = exec::Plan::make((*document)->graph, {});
    QVERIFY2(plan.has_value(), plan ? "" : plan.error().text().c_str());
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**plan, values, {});
    QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
    constexpr double kStep = 1e-5;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Tensor& gradient = recording.outputs[1 + i].tensor();
        const Tensor given = values[i].tensor();
        QCOMPARE(gradient.shape(), given.shape());
        for (std::int64_t at = 0; at < given.numel(); ++at) {
            double sums[2] = {};
            for (int side : {0, 1}) {
                Tensor moved = given.clone().value();
                moved.mutableData<double>()[at] += side ? kStep : -kStep;
                std::vector<Value> changed = values;
                changed[i] = Value(moved);
                sums[side] = sumOf(runner.run(**plan, changed, {}).outputs[0]);
            }
            const double expected = (sums[1] - sums[0]) / (2 * kStep), found = gradient.toDouble(at);
            QVERIFY2(std::abs(found - expected) <= 1e-6 + 1e-5 * std::abs(expected),
                     qPrintable(QString("d%1[%2] is %3 instead of %4")
                                    .arg(QString::fromStdString(all[i]))
                                    .arg(at)
                                    .arg(found)
                                    .arg(expected)));
        }
    }
}

void TestGradient::otherInputsAreComputedAgain() {
    // y = a·a·z with z held; at a = 3, z = 5 in place of the model's a = 2, z = 1: dy/da = 2·3·5.
    const auto real = [](const char* name, double number) {
        return rawTensor(name, kDouble, {}, std::string(reinterpret_cast<const char*>(&number), 8));
    };
    Graph graph{{{"Mul", {"a", "a"}, {"s"}},
                 {"Mul", {"s", "z"}, {"y"}},
                 {"Gradient",
                  {"three", "five"},
                  {"da"},
                  "",
                  "ai.onnx.preview.training",
                  {stringsAttribute("xs", {"a"}), stringsAttribute("zs", {"z"}), stringAttribute("y", "y")}}},
                {valueInfo("a", kDouble, {}), valueInfo("z", kDouble, {})},
                {valueInfo("y", kDouble, {}), valueInfo("da", kDouble, {})},
                {real("three", 3), real("five", 5)}};
    const auto document = open(model(graph, {}, {opset("", 17), opset("ai.onnx.preview.training", 1)}));
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    const auto plan = exec::Plan::make((*document)->graph, {});
    QVERIFY(plan.has_value());
    exec::Runner runner(1);
    const exec::Recording recording =
        runner.run(**plan, std::vector<Value>{Value(Tensor::scalar<double>(2)), Value(Tensor::scalar<double>(1))}, {});
    QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
    QCOMPARE(recording.outputs[0].tensor().toDouble(0), 4.0);
    QCOMPARE(recording.outputs[1].tensor().toDouble(0), 30.0);
}

void TestGradient::operatorsWithoutARuleAreNamed() {
    Graph graph{{{"MaxRoiPool", {"a", "regions"}, {"y"}, "", "", {intsAttribute("pooled_shape", {1, 1})}},
                 {"Gradient",
                  {"a"},
                  {"da"},
                  "",
                  "ai.onnx.preview.training",
                  {stringsAttribute("xs", {"a"}), stringAttribute("y", "y")}}},
                {valueInfo("a", kDouble, {1, 1, 2, 2}), valueInfo("regions", kDouble, {1, 5})},
                {valueInfo("y", kDouble, {1, 1, 1, 1}), valueInfo("da", kDouble, {1, 1, 2, 2})}};
    const auto document = open(model(graph, {}, {opset("", 19), opset("ai.onnx.preview.training", 1)}));
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    bool told = false;
    for (const base::Diagnostic& finding : (*document)->diagnostics)
        told = told || finding.what.find("MaxRoiPool") != std::string::npos;
    QVERIFY(told);
}

QTEST_GUILESS_MAIN(TestGradient)

}  // namespace tst_gradient

#include "tst_gradient.moc"
