// Dumps in the forms of other engines: float16, layouts, fusions. Numbers in names are those of the acceptance cases of
// the reference page on dumps; shapes are the page's.

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

#include "core/export/dump.h"
#include "core/ops/support/packing.h"
#include "tests/core/export/document_maker.h"

namespace tst_dump_forms {

using namespace sonde;
using namespace sonde::test;
using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

/// Small numbers of both signs that repeat after 97.
Tensor numbers(const Shape& shape, DType dtype = DType::Float32) {
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int>(i * 31 % 97) - 48);
    Tensor made = Tensor::of<float>(shape, values);
    if (dtype != DType::Float32) return *made.cast(dtype);
    for (float& value : made.mutableSpan<float>()) value /= 50;
    return made;
}

/// Graphs of ONNX operators as documents.
struct Model : DocumentMaker {
    /// 3x3, as large as its input.
    NodeId conv(const std::string& name, NodeId x, const Shape& weights, std::int64_t groups = 1, bool biased = false) {
        std::vector<Argument> arguments{arg(x), arg(constant(name + "_w", numbers(weights)))};
        if (biased) arguments.push_back(arg(constant(name + "_b", numbers({weights[0]}))));
        return op(name, "Conv", std::move(arguments),
                  {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}, {"group", groups}});
    }
    NodeId input8(const std::string& name, const Shape& shape) {
        return input(name, tensor::TypeInfo::tensor(DType::Int8, shape));
    }
    /// Bytes to bytes: scales 0.5, 0.25 and 8, zero points 1, 0 and -2.
    NodeId conv8(const std::string& name, NodeId x, const Shape& weights, std::int64_t groups = 1) {
        const auto scale = [&](const char* what, float value) {
            return arg(constant(name + what, Tensor::scalar(value)));
        };
        const auto zero = [&](const char* what, std::int8_t value) {
            return arg(constant(name + what, Tensor::scalar(value)));
        };
        const NodeId w = constant(name + "_w", numbers(weights, DType::Int8));
        return op(
            name, "QLinearConv",
            {arg(x), scale("_sx", 0.5F), zero("_zx", 1), arg(w), scale("_sw", 0.25F), zero("_zw", 0), scale("_sy", 8),
             zero("_zy", -2), arg(constant(name + "_b", *numbers({weights[0]}).cast(DType::Int32)))},
            {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}, {"group", groups}});
    }
};

exporting::DumpOptions with(const char* option) {
    exporting::DumpOptions options;
    if (*option) (void)options.inference.set(option, true);
    options.noAssert = true;
    return options;
}

base::Result<io::dump::DumpFile> dumped(const document::Document& document, const char* option) {
    return exporting::makeDump(document, {}, with(option));
}

std::size_t countOf(const InternalGraph& graph, std::string_view op) {
    std::size_t count = 0;
    for (const ExprId id : graph.main().order) count += graph.expr(id).op.name == op ? 1 : 0;
    return count;
}

/// The n-th expr with the operator.
const Expr& find(const InternalGraph& graph, std::string_view op, std::size_t n = 0) {
    for (const ExprId id : graph.main().order) {
        if (graph.expr(id).op.name == op && n-- == 0) return graph.expr(id);
    }
    qFatal("there is no such operator");
}

Shape shapeOf(const InternalGraph& graph, NodeId node) {
    if (graph.node(node).constant) return graph.node(node).constant->tensor().shape();
    return graph.node(node).type.staticShape().value_or(Shape{});
}
Shape weightsOf(const InternalGraph& graph, std::size_t n = 0) {
    return shapeOf(graph, find(graph, "ConvBias", n).arguments[1].node);
}

std::vector<Tensor> run(const std::shared_ptr<const InternalGraph>& graph, const std::vector<Value>& inputs) {
    exec::Runner runner(1);
    const auto plan = exec::Plan::make(graph, {});
    const exec::Recording recording = runner.run(**plan, inputs);
    if (recording.error) qWarning("%s", recording.error->text().c_str());
    std::vector<Tensor> outputs;
    for (const Value& value : recording.outputs) {
        if (value.isTensor()) outputs.push_back(value.tensor());
    }
    return outputs;
}

double largestDifference(const Tensor& a, const Tensor& b) {
    if (a.shape() != b.shape()) return INFINITY;
    double worst = 0;
    for (std::int64_t i = 0; i < a.numel(); ++i) worst = std::max(worst, std::abs(a.toDouble(i) - b.toDouble(i)));
    return worst;
}

}  // namespace

class TestDumpForms : public QObject {
    Q_OBJECT

  private slots:
    void case11Float16BehindFloat32Inputs();
    void case11WhatTakesFloat32AloneGetsIt();
    void case18ExamplesOfLayouts_data();
    void case18ExamplesOfLayouts();
    void case18ThereAndBack_data();
    void case18ThereAndBack();
    void case19Nchw88();
    void case20Nchw4AndNchw32();
    void case22OrderOfTheDotProduct();
    void case23LayoutsKeepValues_data();
    void case23LayoutsKeepValues();
    void case23LayoutsOfBytesKeepValues_data();
    void case23LayoutsOfBytesKeepValues();
    void case24BiasAndActivationAreFused();
    void case24SumsAreFused();
    void elementwiseOperatorsFollow();
    void elementwiseOperatorsFollowMostInputs();
    void otherModelsAreWrittenInOnnxFirst();
    void formsSurviveTheFile();
    void packingsAreChecked();
};

void TestDumpForms::case11Float16BehindFloat32Inputs() {
    Model model;
    const NodeId x = model.floats("x", {4});
    const auto dump = dumped(model.done({model.op("y", "Exp", {arg(x)})}), "enable_io16xc32");
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    const InternalGraph& graph = *dump->graph;
    const Expr& exp = find(graph, "Exp");
    QCOMPARE(graph.node(graph.inputs()[0]).type.dtype, DType::Float32);
    QCOMPARE(graph.node(exp.arguments[0].node).type.dtype, DType::Float16);
    const auto outputs = run(dump->graph, {Value(Tensor::of<float>({4}, {0, 1, 2, -1}))});
    QCOMPARE(outputs.at(0).dtype(), DType::Float16);
    QCOMPARE(outputs[0].toDouble(1), 2.71875);  // the nearest float16 to e
    QCOMPARE(*dump->metadata->optimizeOptions, std::uint64_t{65});
}

void TestDumpForms::case11WhatTakesFloat32AloneGetsIt() {
    Model model;
    const NodeId x = model.floats("x", {1, 1, 2, 2});
    const NodeId scales = model.constant("scales", Tensor::of<float>({4}, {1, 1, 2, 2}));
    const NodeId y =
        model.op("y", "Resize", {arg(x), Argument::omitted(), arg(scales)}, {{"mode", std::string("nearest")}});
    const NodeId z = model.op("z", "Add", {arg(y), arg(model.constant("half", Tensor::scalar(0.5F)))});
    const auto dump = dumped(model.done({z}), "enable_ioc16");
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    const auto outputs = run(dump->graph, {Value(Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 4}))});
    QCOMPARE(outputs.at(0).typeText(), std::string("float16[1,1,4,4]"));
    QCOMPARE(outputs[0].toDouble(15), 4.5);
}

void TestDumpForms::case18ExamplesOfLayouts_data() {
    QTest::addColumn<Shape>("plain");
    QTest::addColumn<QString>("packing");
    QTest::addColumn<Shape>("packed");
    const QString b4 = "NCHW -> N C/4 H W C%4", b8 = "NCHW -> N C/8 H W C%8", b32 = "NCHW -> N C/32 H W C%32",
                  b64 = "NCHW -> N C/64 H W C%64";
    const QString hwcd4 = "NCHW -> N H C/4 W C%4", chwn4 = "NCHW -> C/4 H W N C%4";
    const Shape photo{1, 3, 224, 224}, wide{2, 64, 56, 56}, odd{1, 10, 5, 7};
    QTest::newRow("photo nchw4") << photo << b4 << Shape{1, 1, 224, 224, 4};
    QTest::newRow("photo nchw88") << photo << b8 << Shape{1, 1, 224, 224, 8};
    QTest::newRow("photo hwcd4") << photo << hwcd4 << Shape{1, 224, 1, 224, 4};
    QTest::newRow("photo chwn4") << photo << chwn4 << Shape{1, 224, 224, 1, 4};
    QTest::newRow("wide nchw4") << wide << b4 << Shape{2, 16, 56, 56, 4};
    QTest::newRow("wide nchw88") << wide << b8 << Shape{2, 8, 56, 56, 8};
    QTest::newRow("wide nchw32") << wide << b32 << Shape{2, 2, 56, 56, 32};
    QTest::newRow("wide nchw64") << wide << b64 << Shape{2, 1, 56, 56, 64};
    QTest::newRow("wide hwcd4") << wide << hwcd4 << Shape{2, 56, 16, 56, 4};
    QTest::newRow("wide chwn4") << wide << chwn4 << Shape{16, 56, 56, 2, 4};
    QTest::newRow("odd nchw4") << odd << b4 << Shape{1, 3, 5, 7, 4};
    QTest::newRow("odd nchw88") << odd << b8 << Shape{1, 2, 5, 7, 8};
    QTest::newRow("odd hwcd4") << odd << hwcd4 << Shape{1, 5, 3, 7, 4};
}

void TestDumpForms::case18ExamplesOfLayouts() {
    QFETCH(Shape, plain);
    QFETCH(QString, packing);
    QFETCH(Shape, packed);
    const auto how = ops::Packing::parse(packing.toStdString());
    QVERIFY(how.has_value());
    QCOMPARE(how->packedShape(plain)->text(), packed.text());
}

void TestDumpForms::case18ThereAndBack_data() {
    QTest::addColumn<QString>("packing");
    for (const char* packing : {"NCHW -> N C/4 H W C%4", "NCHW -> N C/8 H W C%8", "NCHW -> N C/32 H W C%32",
                                "NCHW -> N C/64 H W C%64", "NCHW -> N H C/4 W C%4", "NCHW -> C/4 H W N C%4"}) {
        QTest::newRow(packing) << QString(packing);
    }
}

void TestDumpForms::case18ThereAndBack() {
    QFETCH(QString, packing);
    const auto how = ops::Packing::parse(packing.toStdString());
    for (const std::int64_t batch : {1, 2}) {
        for (const std::int64_t channels : {1, 3, 4, 10, 64}) {
            const Tensor plain = numbers({batch, channels, 2, 3}, DType::Int32);
            const auto packed = how->pack(plain);
            QVERIFY(packed.has_value());
            const auto back = how->unpack(*packed, std::vector<std::int64_t>{-1, channels, -1, -1});
            QVERIFY(back && tensor::identical(*back, plain));
            // Lanes without a channel are zero.
            const auto whole = how->unpack(*packed, {});
            double sum = 0;
            for (std::int64_t i = 0; i < whole->numel(); ++i)
                sum += i / 6 % whole->dim(1) >= channels ? std::abs(whole->toDouble(i)) : 0;
            QCOMPARE(sum, 0.0);
        }
    }
    // Element [n, c, h, w] = [1, 9, 1, 2] of two pictures with 10 channels.
    if (packing == "NCHW -> N C/8 H W C%8") {
        const Tensor plain = numbers({2, 10, 2, 3}, DType::Int32);
        QCOMPARE(how->pack(plain)->toInt64((((1 * 2 + 1) * 2 + 1) * 3 + 2) * 8 + 1),
                 plain.toInt64(((1 * 10 + 9) * 2 + 1) * 3 + 2));
    }
}

void TestDumpForms::case19Nchw88() {
    Model model;
    const NodeId x = model.floats("x", {1, 3, 6, 6});
    const NodeId first = model.conv("first", x, {16, 3, 3, 3}, 1, true);
    const NodeId second = model.conv("second", first, {10, 16, 3, 3});
    const NodeId grouped = model.conv("grouped", model.floats("g", {1, 8, 6, 6}), {8, 4, 3, 3}, 2);
    const auto dump = dumped(model.done({second, grouped}), "enable_nchw88");
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    const InternalGraph& graph = *dump->graph;
    // Three channels stay as they are in front of a hybrid convolution.
    QCOMPARE(weightsOf(graph).text(), Shape({2, 3, 3, 3, 8}).text());
    QCOMPARE(shapeOf(graph, find(graph, "ConvBias").arguments[0].node).text(), Shape({1, 3, 6, 6}).text());
    QCOMPARE(shapeOf(graph, find(graph, "ConvBias").outputs[0]).text(), Shape({1, 2, 6, 6, 8}).text());
    // Ten channels are padded to sixteen, and the result is cut to ten again.
    QCOMPARE(weightsOf(graph, 1).text(), Shape({2, 2, 3, 3, 8, 8}).text());
    QCOMPARE(shapeOf(graph, find(graph, "ConvBias", 1).outputs[0]).text(), Shape({1, 2, 6, 6, 8}).text());
    QCOMPARE(shapeOf(graph, graph.outputs()[0]).text(), Shape({1, 10, 6, 6}).text());
    // The second reads the blocks of the first; groups of four channels stay as they are.
    QCOMPARE(find(graph, "ConvBias", 1).arguments[0].node, find(graph, "ConvBias").outputs[0]);
    QCOMPARE(weightsOf(graph, 2).text(), Shape({8, 4, 3, 3}).text());
    QCOMPARE(countOf(graph, "Relayout"), std::size_t(1));
}

void TestDumpForms::case20Nchw4AndNchw32() {
    Model model;
    const NodeId x = model.floats("x", {1, 8, 6, 6});
    const auto plain = dumped(model.done({model.conv("y", x, {8, 8, 3, 3})}), "enable_nchw4");
    QVERIFY2(plain.has_value(), plain ? "" : plain.error().text().c_str());
    QCOMPARE(countOf(*plain->graph, "Relayout"), std::size_t(0));

    for (const std::int64_t dimSize : {2, 3}) {
        Model bytes;
        const NodeId small = bytes.input8("x", {1, 32, dimSize, dimSize});
        const auto dump = dumped(bytes.done({bytes.conv8("y", small, {32, 32, 3, 3})}), "enable_nchw32");
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        QCOMPARE(weightsOf(*dump->graph).text(),
                 (dimSize == 2 ? Shape{32, 8, 3, 3, 4} : Shape{32, 1, 3, 3, 32}).text());
    }
}

/// Rule c5 of nchw32: elementwise operators follow most of their inputs. In nchw4 all of them must be packed.
void TestDumpForms::elementwiseOperatorsFollowMostInputs() {
    for (const char* option : {"enable_nchw32", "enable_nchw4"}) {
        for (const bool isMost : {true, false}) {
            Model bytes;
            const NodeId x = bytes.input8("x", {1, 32, 4, 4}), z = bytes.input8("z", {1, 32, 4, 4});
            const NodeId first = bytes.conv8("first", x, {32, 32, 3, 3});
            const NodeId second = isMost ? bytes.conv8("second", x, {32, 32, 3, 3}) : bytes.input8("s", {1, 32, 4, 4});
            const document::Document& document = bytes.done({bytes.op("y", "Max", {arg(first), arg(second), arg(z)})});
            const auto dump = dumped(document, option);
            QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
            const NodeId max = find(*dump->graph, "Max").outputs[0];
            const bool follows = isMost && std::string_view(option) == "enable_nchw32";
            QCOMPARE(shapeOf(*dump->graph, max).text(), (follows ? Shape{1, 1, 4, 4, 32} : Shape{1, 32, 4, 4}).text());
            std::vector<Value> inputs;
            for (std::size_t i = 0; i < document.graph->inputs().size(); ++i)
                inputs.emplace_back(numbers({1, 32, 4, 4}, DType::Int8));
            const auto expected = run(document.graph, inputs), actual = run(dump->graph, inputs);
            QCOMPARE(actual.size(), std::size_t(1));
            QVERIFY(tensor::identical(actual[0], expected.at(0)));
        }
    }
}

void TestDumpForms::case22OrderOfTheDotProduct() {
    Model model;
    const NodeId bytes = model.conv8("bytes", model.input8("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const NodeId floats = model.conv("floats", model.floats("f", {1, 8, 4, 4}), {8, 8, 3, 3});
    const auto dump = dumped(model.done({bytes, floats}), "enable_nchw44_dot");
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    const InternalGraph& graph = *dump->graph;
    for (std::size_t i = 0; i < 2; ++i) {
        const Expr& conv = find(graph, "ConvBias", i);
        const bool dot = conv.attributes.getString("of", "Conv") == "QLinearConv";
        QCOMPARE(weightsOf(graph, i).text(), Shape({2, 2, 3, 3, 4, 4}).text());
        const Tensor packed = graph.node(conv.arguments[1].node).constant->tensor();
        const Tensor plain = numbers({8, 8, 3, 3}, packed.dtype());
        // Output 1 and input 2 of the first blocks: [o][i] for bytes, [i][o] for floats.
        QCOMPARE(packed.toDouble(dot ? 1 * 4 + 2 : 2 * 4 + 1), plain.toDouble((1 * 8 + 2) * 9));
    }
}

void TestDumpForms::case23LayoutsKeepValues_data() {
    QTest::addColumn<QString>("option");
    for (const char* layout : {"hwcd4", "nchw88", "nchw44", "nchw44_dot", "nchw4", "nchw32", "chwn4", "nchw64"})
        QTest::newRow(layout) << QString("enable_") + layout;
}

/// Dense, grouped, one channel a group, a sum of two branches, channels that fill no block.
void TestDumpForms::case23LayoutsKeepValues() {
    QFETCH(QString, option);
    Model model;
    const NodeId x = model.floats("x", {2, 3, 5, 6});
    const NodeId a = model.op("a", "Relu", {arg(model.conv("conv_a", x, {16, 3, 3, 3}, 1, true))});
    const NodeId depth = model.op("depth", "HardSwish", {arg(model.conv("conv_depth", a, {16, 1, 3, 3}, 16, true))});
    const NodeId grouped = model.conv("conv_grouped", depth, {16, 8, 3, 3}, 2);
    const NodeId sum = model.op("sum", "Relu", {arg(model.op("added", "Add", {arg(grouped), arg(a)}))});
    const NodeId odd = model.op("odd", "Sigmoid", {arg(model.conv("conv_odd", sum, {10, 16, 3, 3}, 1, true))});
    const NodeId last = model.conv("conv_last", odd, {7, 10, 3, 3});
    const document::Document& document = model.done({last, model.op("pooled", "GlobalAveragePool", {arg(sum)})});
    const auto dump = dumped(document, option.toUtf8().constData());
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    const std::vector<Value> inputs{Value(numbers({2, 3, 5, 6}))};
    const auto expected = run(document.graph, inputs), got = run(dump->graph, inputs);
    QCOMPARE(expected.size(), std::size_t(2));
    QCOMPARE(got.size(), std::size_t(2));
    for (std::size_t i = 0; i < got.size(); ++i)
        QVERIFY2(largestDifference(expected[i], got[i]) < 1e-4, option.toUtf8());
    const bool forFloats = option == "enable_hwcd4" || option.startsWith("enable_nchw44") || option == "enable_nchw88";
    QCOMPARE(countOf(*dump->graph, "Relayout") > 0, forFloats);
}

void TestDumpForms::case23LayoutsOfBytesKeepValues_data() { case23LayoutsKeepValues_data(); }

void TestDumpForms::case23LayoutsOfBytesKeepValues() {
    QFETCH(QString, option);
    Model model;
    const NodeId x = model.input8("x", {2, 3, 5, 6});
    const NodeId a = model.conv8("a", x, {32, 3, 3, 3});
    const NodeId b = model.conv8("b", a, {32, 32, 3, 3});
    const NodeId grouped = model.conv8("grouped", b, {32, 8, 3, 3}, 4);
    const NodeId odd = model.conv8("odd", grouped, {10, 32, 3, 3});
    const document::Document& document = model.done({odd});
    const auto dump = dumped(document, option.toUtf8().constData());
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    const std::vector<Value> inputs{Value(numbers({2, 3, 5, 6}, DType::Int8))};
    const auto expected = run(document.graph, inputs), got = run(dump->graph, inputs);
    QCOMPARE(got.size(), std::size_t(1));
    QCOMPARE(largestDifference(expected.at(0), got[0]), 0.0);
    QVERIFY(countOf(*dump->graph, "Relayout") > 0);
}

void TestDumpForms::case24BiasAndActivationAreFused() {
    for (const bool secondReader : {false, true}) {
        Model model;
        const NodeId x = model.floats("x", {1, 4, 5, 5});
        const NodeId conv = model.conv("conv", x, {6, 4, 3, 3});
        const NodeId biased = model.op("biased", "Add", {arg(conv), arg(model.constant("b", numbers({1, 6, 1, 1})))});
        std::vector<NodeId> results{model.op("y", "Relu", {arg(biased)})};
        if (secondReader) results.push_back(model.op("other", "Neg", {arg(conv)}));
        const document::Document& document = model.done(results);
        const auto dump = dumped(document, "enable_fuse_conv_bias_nonlinearity");
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        QCOMPARE(countOf(*dump->graph, "ConvBias"), std::size_t(secondReader ? 0 : 1));
        QCOMPARE(countOf(*dump->graph, "Relu"), std::size_t(secondReader ? 1 : 0));
        const std::vector<Value> inputs{Value(numbers({1, 4, 5, 5}))};
        QVERIFY(largestDifference(run(document.graph, inputs).at(0), run(dump->graph, inputs).at(0)) < 1e-4);
    }
}

void TestDumpForms::case24SumsAreFused() {
    for (const Shape& shape : {Shape{1, 6, 5, 5}, Shape{1, 6, 1, 5}}) {
        Model model;
        const NodeId conv = model.conv("conv", model.floats("x", {1, 4, 5, 5}), {6, 4, 3, 3}, 1, true);
        const NodeId sum = model.op("sum", "Add", {arg(model.floats("z", shape)), arg(conv)});
        const document::Document& document = model.done({model.op("y", "Relu", {arg(sum)})});
        const auto dump = dumped(document, "enable_fuse_conv_bias_with_z");
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        const bool isWhole = shape[2] == 5;
        QCOMPARE(find(*dump->graph, "ConvBias").arguments.size(), std::size_t(isWhole ? 4 : 3));
        QCOMPARE(countOf(*dump->graph, "Add"), std::size_t(isWhole ? 0 : 1));
        const std::vector<Value> inputs{Value(numbers({1, 4, 5, 5})), Value(numbers(shape))};
        QVERIFY(largestDifference(run(document.graph, inputs).at(0), run(dump->graph, inputs).at(0)) < 1e-4);
    }
}

/// Between two packed convolutions an activation, a sum with itself, a number and slopes of channels stay in blocks.
void TestDumpForms::elementwiseOperatorsFollow() {
    Model model;
    const NodeId a = model.conv("a", model.floats("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    const NodeId tanh = model.op("tanh", "Tanh", {arg(a)});
    const NodeId sum = model.op("sum", "Add", {arg(tanh), arg(a)});
    const NodeId half = model.op("half", "Mul", {arg(sum), arg(model.constant("c", Tensor::scalar(0.5F)))});
    const NodeId sloped = model.op("sloped", "PRelu", {arg(half), arg(model.constant("s", numbers({8, 1, 1})))});
    const document::Document& document = model.done({model.conv("b", sloped, {8, 8, 3, 3})});
    const auto dump = dumped(document, "enable_nchw88");
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    QCOMPARE(countOf(*dump->graph, "Relayout"), std::size_t(2));
    for (const char* name : {"Tanh", "PRelu"})
        QCOMPARE(shapeOf(*dump->graph, find(*dump->graph, name).outputs[0]).text(), Shape({1, 1, 4, 4, 8}).text());
    const std::vector<Value> inputs{Value(numbers({1, 8, 4, 4}))};
    QVERIFY(largestDifference(run(document.graph, inputs).at(0), run(dump->graph, inputs).at(0)) < 1e-4);
}

void TestDumpForms::otherModelsAreWrittenInOnnxFirst() {
    const auto document = document::open("zoo:autoencoder");
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    exporting::DumpOptions options = with("enable_nchw44");
    options.noAssert = false;
    const auto dump = exporting::makeDump(**document, {"#rand(0,1)"}, options);
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    const auto inputs = exporting::inputsOfCase(*dump->graph, dump->cases[0]);
    QVERIFY(inputs.has_value());
    QCOMPARE(run(dump->graph, *inputs).size(), dump->outputNames.size());
    QVERIFY(countOf(*dump->graph, "ConvBias") > 0);
}

void TestDumpForms::formsSurviveTheFile() {
    Model model;
    const NodeId a =
        model.op("a", "Relu", {arg(model.conv("conv", model.floats("x", {1, 3, 6, 6}), {16, 3, 3, 3}, 1, true))});
    const document::Document& document = model.done({model.conv("b", a, {10, 16, 3, 3})});
    exporting::DumpOptions options = with("enable_nchw88");
    options.noAssert = false;
    const auto dump = exporting::makeDump(document, {"#rand(-1,1)"}, options);
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    const QTemporaryDir folder;
    const std::string path = folder.filePath("packed.dump").toStdString();
    QVERIFY(io::dump::writeDump(path, *dump).has_value());
    const auto again = io::dump::readDump(path);
    QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
    const auto inputs = exporting::inputsOfCase(*again->graph, again->cases[0]);
    QVERIFY(inputs.has_value());
    // One error value: the check against what the plain graph gave has passed.
    QCOMPARE(run(again->graph, *inputs).size(), std::size_t(1));
}

void TestDumpForms::packingsAreChecked() {
    for (const char* text : {"", "NCHW", "NCHW -> X", "NCHW -> N C/0 H W C%0", "NCHW -> N C/4 H W C%8",
                             "NCHW -> N C/4 H W", "NCHW -> N N C H W", "NCHW -> N C? H W"}) {
        QVERIFY2(!ops::Packing::parse(text).has_value(), text);
    }
    const auto packing = ops::Packing::parse("NCHW -> N C/4 H W C%4");
    QVERIFY(!packing->packedShape({1, 2, 3}).has_value());
    QVERIFY(!packing->plainShape({1, 1, 2, 2, 3}, {}).has_value());
    QVERIFY(!packing->plainShape({1, 1, 2, 2, 4}, std::vector<std::int64_t>{-1, 5, -1, -1}).has_value());
}

QTEST_GUILESS_MAIN(TestDumpForms)

}  // namespace tst_dump_forms

#include "tst_dump_forms.moc"
