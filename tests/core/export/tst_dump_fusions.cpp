// Fusions of dumps beside those of convolutions: sums that are means, reductions that are poolings, bytes on their way
// into blocks of channels. What operators follow a layout. Expected values are worked by hand, or are what the model
// computes without the option.

#include <QtTest>

#include <cmath>

#include "core/export/dump.h"
#include "core/export/plain_form.h"
#include "tests/core/export/document_maker.h"

namespace tst_dump_fusions {

using namespace sonde;
using namespace sonde::test;
using tensor::DType;
using tensor::Shape;

namespace {

using Ints = std::vector<std::int64_t>;

/// Small numbers of both signs that repeat after 97.
Tensor numbers(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(static_cast<int>(i * 31 % 97) - 48) / 50;
    return Tensor::of<float>(shape, values);
}

struct Model : DocumentMaker {
    Argument ints(const std::string& name, const Ints& values) {
        return arg(constant(name, Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values)));
    }
    /// 3x3, as large as its input.
    NodeId conv(const std::string& name, NodeId x, const Shape& weights) {
        return op(name, "Conv", {arg(x), arg(constant(name + "_w", numbers(weights)))}, {{"pads", Ints{1, 1, 1, 1}}});
    }
};

base::Result<io::dump::DumpFile> dumped(const document::Document& document, const std::string& option = {},
                                        bool value = true) {
    exporting::DumpOptions options;
    if (!option.empty()) SONDE_TRY(options.inference.set(option, value));
    return exporting::makeDump(document, {}, options);
}

std::size_t countOf(const InternalGraph& graph, const std::string& op, const std::string& of = {}) {
    std::size_t count = 0;
    for (const ExprId id : graph.main().order) {
        const Expr& expr = graph.expr(id);
        const bool isOp = expr.op.name == op || expr.op.name.starts_with(op + '.');
        count += isOp && (of.empty() || expr.attributes.getString("of", "") == of) ? 1 : 0;
    }
    return count;
}

std::vector<Tensor> run(const std::shared_ptr<const InternalGraph>& graph, const std::vector<Value>& inputs) {
    exec::Runner runner(1);
    const auto plan = exec::Plan::make(graph, {});
    const exec::Recording recording = runner.run(**plan, inputs);
    if (recording.error) qWarning("%s", recording.error->text().c_str());
    std::vector<Tensor> outputs;
    for (const Value& value : recording.outputs)
        if (value.isTensor()) outputs.push_back(value.tensor());
    return outputs;
}

bool isNear(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    if (a.size() != b.size() || a.empty()) return false;
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k].shape() != b[k].shape()) return false;
        for (std::int64_t i = 0; i < a[k].numel(); ++i)
            if (!(std::abs(a[k].toDouble(i) - b[k].toDouble(i)) < 1e-4)) return false;
    }
    return true;
}

}  // namespace

class TestDumpFusions : public QObject {
    Q_OBJECT

  private slots:
    void sumsDividedByTheirCountAreMeans_data();
    void sumsDividedByTheirCountAreMeans();
    void flattenedMeansArePoolings_data();
    void flattenedMeansArePoolings();
    void bytesBecomeBlocksInOneStep_data();
    void bytesBecomeBlocksInOneStep();
    void requestsToTheReaderAreKept();
    void operatorsFollowTheLayout_data();
    void operatorsFollowTheLayout();
    void warpsFollowTheLayout_data() { operatorsFollowTheLayout_data(); }
    void warpsFollowTheLayout();
    void paddedChannelsAreCounted();
};

void TestDumpFusions::sumsDividedByTheirCountAreMeans_data() {
    QTest::addColumn<QString>("how");
    QTest::addColumn<bool>("isFused");
    for (const char* how : {"number", "factor", "size", "onnx", "onnx factor"}) QTest::newRow(how) << how << true;
    for (const char* how : {"other number", "first axis", "two users", "onnx other number"})
        QTest::newRow(how) << how << false;
}

/// Of x [3, 4] along the last axis; the mean of 0 … 3 is 1.5.
void TestDumpFusions::sumsDividedByTheirCountAreMeans() {
    QFETCH(QString, how);
    QFETCH(bool, isFused);
    Model model;
    const NodeId x = model.floats("x", {3, 4});
    std::vector<NodeId> results;
    if (how.startsWith("onnx")) {
        const NodeId sum = model.op("s", "ReduceSum", {arg(x), model.ints("axes", {-1})});
        const bool isFactor = how.endsWith("factor");
        const float count = isFactor ? 0.25F : how == "onnx" ? 4.0F : 5.0F;
        results = {
            model.op("y", isFactor ? "Mul" : "Div", {arg(sum), arg(model.constant("n", Tensor::scalar(count)))})};
    } else {
        const NodeId sum =
            model.call("s", "aten::sum.dim_IntList", x, list({arg(how == "first axis" ? 0 : 1)}), false, none());
        if (how == "size")
            results = {model.call("y", "aten::div.Scalar", sum, model.call("n", "aten::size.int", x, 1))};
        else if (how == "factor") results = {model.call("y", "aten::mul.Scalar", sum, 0.25)};
        else
            results = {model.call("y", "aten::div.Scalar", sum,
                                  how == "other number" ? 5
                                  : how == "first axis" ? 3
                                                        : 4)};
        if (how == "two users") results.push_back(model.call("z", "aten::neg", sum));
    }
    const document::Document& document = model.done(results);
    const auto plain = dumped(document, "enable_fuse_grain", false), dump = dumped(document);
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    QVERIFY(plain.has_value());
    const bool isOnnx = how.startsWith("onnx");
    QCOMPARE(countOf(*dump->graph, isOnnx ? "ReduceMean" : "mean"), std::size_t(isFused ? 1 : 0));
    QCOMPARE(countOf(*plain->graph, isOnnx ? "ReduceMean" : "mean"), std::size_t(0));
    const std::vector<Value> inputs{Value(numbers({3, 4}))};
    QVERIFY(isNear(run(dump->graph, inputs), run(plain->graph, inputs)));
    // What was requested, and beside it what was done.
    QCOMPARE(*dump->metadata->optimizeOptions, std::uint64_t{64});
    QCOMPARE(*plain->metadata->optimizeOptions, std::uint64_t{0});
    QCOMPARE(dump->metadata->applied.size(), std::size_t(isFused ? 1 : 0));
    if (isFused) QCOMPARE(dump->metadata->applied[0].first, std::string("enable_fuse_grain"));
}

void TestDumpFusions::flattenedMeansArePoolings_data() {
    QTest::addColumn<QString>("op");
    QTest::addColumn<bool>("keeps");
    QTest::addColumn<QString>("pool");
    for (const bool keeps : {true, false}) {
        const auto row = [&](const char* op, const char* pool) {
            QTest::addRow("%s%s", op, keeps ? ", keepdims" : "") << QString(op) << keeps << QString(pool);
        };
        row("mean", "adaptive_avg_pool2d");
        row("ReduceMean", "GlobalAveragePool");
        row("ReduceMax", "GlobalMaxPool");
        row("ReduceMin", "");
    }
}

void TestDumpFusions::flattenedMeansArePoolings() {
    QFETCH(QString, op);
    QFETCH(bool, keeps);
    QFETCH(QString, pool);
    Model model;
    const NodeId x = model.floats("x", {2, 3, 4, 5});
    NodeId y;
    if (op == "mean") {
        y = model.call("y", "aten::mean.dim", model.call("flat", "aten::flatten.using_ints", x, 2, -1), list({arg(-1)}),
                       keeps, none());
    } else {
        const NodeId flat = model.op("flat", "Reshape", {arg(x), model.ints("shape", {2, 3, 20})});
        y = model.op("y", op.toStdString(), {arg(flat)}, {{"axes", Ints{2}}, {"keepdims", std::int64_t{keeps}}});
    }
    const document::Document& document = model.done({y});
    const auto plain = dumped(document, "enable_fuse_grain", false), dump = dumped(document);
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    if (!pool.isEmpty()) QCOMPARE(countOf(*dump->graph, pool.toStdString()), std::size_t(1));
    QCOMPARE(countOf(*dump->graph, op.toStdString()), std::size_t(pool.isEmpty() ? 1 : 0));
    const std::vector<Value> inputs{Value(numbers({2, 3, 4, 5}))};
    const auto got = run(dump->graph, inputs);
    QVERIFY(isNear(got, run(plain->graph, inputs)));
    QCOMPARE(got[0].shape().text(), (keeps ? Shape{2, 3, 1} : Shape{2, 3}).text());
}

void TestDumpFusions::bytesBecomeBlocksInOneStep_data() {
    QTest::addColumn<double>("zero");
    QTest::addColumn<bool>("isConverted");
    QTest::newRow("-128") << 128.0 << true;
    QTest::newRow("-127") << 127.0 << false;
}

/// uint8 [1, 3, 2, 2] -> float32 - 128 -> int8 -> [1, 4, 2, 2] -> [1, 1, 4, 2, 2] -> [1, 1, 2, 2, 4].
void TestDumpFusions::bytesBecomeBlocksInOneStep() {
    QFETCH(double, zero);
    QFETCH(bool, isConverted);
    Model model;
    const NodeId x = model.input("x", tensor::TypeInfo::tensor(DType::UInt8, Shape{1, 3, 2, 2}));
    const auto to = [](DType dtype) { return tensor::Attributes{{"to", static_cast<std::int64_t>(dtype)}}; };
    const NodeId wide = model.op("wide", "Cast", {arg(x)}, to(DType::Float32));
    const NodeId minus =
        model.op("minus", "Sub", {arg(wide), arg(model.constant("zero", Tensor::scalar(static_cast<float>(zero))))});
    const NodeId bytes = model.op("bytes", "Cast", {arg(minus)}, to(DType::Int8));
    const NodeId padded = model.op("padded", "Pad", {arg(bytes), model.ints("pads", {0, 0, 0, 0, 0, 1, 0, 0})});
    const NodeId blocks = model.op("blocks", "Reshape", {arg(padded), model.ints("shape", {1, 1, 4, 2, 2})});
    const NodeId y = model.op("y", "Transpose", {arg(blocks)}, {{"perm", Ints{0, 1, 3, 4, 2}}});
    const document::Document& document = model.done({y});
    const auto dump = dumped(document, "enable_fuse_preprocess");
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    QCOMPARE(countOf(*dump->graph, "Relayout"), std::size_t(1));
    QCOMPARE(countOf(*dump->graph, "Cast"), std::size_t(isConverted ? 0 : 2));
    QCOMPARE(countOf(*dump->graph, "Transpose"), std::size_t(0));
    std::vector<std::uint8_t> image(12);
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::uint8_t>(20 * i + 20);
    const auto got = run(dump->graph, {Value(Tensor::of<std::uint8_t>({1, 3, 2, 2}, image))});
    QCOMPARE(got.at(0).typeText(), std::string("int8[1,1,2,2,4]"));
    // The first pixel of the planes: 20, 100, 180, and a lane of zero.
    const double offset = zero;
    for (const auto& [lane, value] : std::vector<std::pair<int, double>>{{0, 20}, {1, 100}, {2, 180}})
        QCOMPARE(got[0].toDouble(lane), value - offset);
    QCOMPARE(got[0].toDouble(3), 0.0);
    QCOMPARE(*dump->metadata->optimizeOptions, std::uint64_t{64 + 32});
}

/// Weights are packed when a plan is made, whether that is requested or not; the request is kept.
void TestDumpFusions::requestsToTheReaderAreKept() {
    Model model;
    const document::Document& document = model.done({model.call("y", "aten::exp", model.floats("x", {4}))});
    const auto dump = dumped(document, "weight_preprocess");
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    QCOMPARE(*dump->metadata->optimizeOptions, std::uint64_t{64 + 16});
    QCOMPARE(countOf(*dump->graph, "exp"), std::size_t(1));
}

void TestDumpFusions::operatorsFollowTheLayout_data() {
    QTest::addColumn<QString>("option");
    for (const char* layout : {"hwcd4", "nchw88", "nchw44", "nchw44_dot"})
        QTest::newRow(layout) << QString("enable_") + layout;
}

/// conv -> per-channel sum -> max pooling -> twice as large -> concatenation with itself -> mean pooling -> conv ->
/// global pooling: in blocks from the first convolution to the last pooling.
void TestDumpFusions::operatorsFollowTheLayout() {
    QFETCH(QString, option);
    Model model;
    const NodeId first = model.conv("first", model.floats("x", {2, 8, 8, 8}), {16, 8, 3, 3});
    const NodeId shifted = model.op("shifted", "Mul", {arg(first), arg(model.constant("scale", numbers({16, 1, 1})))});
    const NodeId pooled =
        model.op("pooled", "MaxPool", {arg(shifted)}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
    const NodeId scales = model.constant("scales", Tensor::of<float>({4}, {1, 1, 2, 2}));
    const NodeId resized = model.op("resized", "Resize", {arg(pooled), Argument::omitted(), arg(scales)},
                                    {{"mode", std::string("nearest")}});
    const NodeId both = model.op("both", "Concat", {arg(resized), arg(shifted)}, {{"axis", std::int64_t{1}}});
    const NodeId mean = model.op("mean", "AveragePool", {arg(both)}, {{"kernel_shape", Ints{3, 3}}});
    const NodeId second = model.conv("second", mean, {16, 32, 3, 3});
    const document::Document& document = model.done({model.op("all", "GlobalAveragePool", {arg(second)})});
    const auto dump = dumped(document, option.toStdString());
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    const InternalGraph& graph = *dump->graph;
    QCOMPARE(countOf(graph, "ConvBias"), std::size_t(2));
    QCOMPARE(countOf(graph, "Blocked"), std::size_t(4));
    QCOMPARE(countOf(graph, "Blocked", "Resize"), std::size_t(1));
    // Into blocks in front, and out of them at the end.
    QCOMPARE(countOf(graph, "Relayout"), std::size_t(2));
    const std::vector<Value> inputs{Value(numbers({2, 8, 8, 8}))};
    const auto expected = run(document.graph, inputs);
    QVERIFY(isNear(run(dump->graph, inputs), expected));
    QCOMPARE(expected.at(0).shape().text(), Shape({2, 16, 1, 1}).text());
    // The way back gives the same.
    const auto plain = exporting::plainForm(graph);
    QVERIFY2(plain.has_value(), plain ? "" : plain.error().text().c_str());
    QCOMPARE(countOf(**plain, "Blocked"), std::size_t(0));
    QVERIFY(isNear(run(*plain, inputs), expected));
}

/// conv -> warp by a grid -> conv: what a warp does to a channel it does to a lane. Half a pixel to the right, with
/// zeros behind the edge.
void TestDumpFusions::warpsFollowTheLayout() {
    QFETCH(QString, option);
    Model model;
    const NodeId first = model.conv("first", model.floats("x", {1, 8, 2, 2}), {16, 8, 3, 3});
    const NodeId grid = model.constant("grid", Tensor::of<float>({1, 2, 2, 2}, {0, -0.5F, 1, -0.5F, 0, 0.5F, 1, 0.5F}));
    const NodeId warped = model.op("warped", "GridSample", {arg(first), arg(grid)});
    const document::Document& document = model.done({model.conv("second", warped, {16, 16, 3, 3})});
    const auto dump = dumped(document, option.toStdString());
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    QCOMPARE(countOf(*dump->graph, "Blocked", "GridSample"), std::size_t(1));
    QCOMPARE(countOf(*dump->graph, "Relayout"), std::size_t(2));
    const std::vector<Value> inputs{Value(numbers({1, 8, 2, 2}))};
    const auto expected = run(document.graph, inputs);
    QVERIFY(isNear(run(dump->graph, inputs), expected));
    const auto plain = exporting::plainForm(*dump->graph);
    QVERIFY2(plain.has_value(), plain ? "" : plain.error().text().c_str());
    QVERIFY(isNear(run(*plain, inputs), expected));
}

/// Ten channels in two blocks of eight: a pooling leaves the six that are padding alone.
void TestDumpFusions::paddedChannelsAreCounted() {
    Model model;
    const NodeId conv = model.conv("conv", model.floats("x", {1, 8, 4, 4}), {10, 8, 3, 3});
    const NodeId pooled = model.op("pooled", "MaxPool", {arg(conv)}, {{"kernel_shape", Ints{2, 2}}});
    const document::Document& document = model.done({pooled});
    const auto dump = dumped(document, "enable_nchw88");
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    QCOMPARE(countOf(*dump->graph, "Blocked", "MaxPool"), std::size_t(1));
    const std::vector<Value> inputs{Value(numbers({1, 8, 4, 4}))};
    const auto got = run(dump->graph, inputs);
    QVERIFY(isNear(got, run(document.graph, inputs)));
    QCOMPARE(got[0].shape().text(), Shape({1, 10, 3, 3}).text());
}

QTEST_GUILESS_MAIN(TestDumpFusions)

}  // namespace tst_dump_fusions

#include "tst_dump_fusions.moc"
