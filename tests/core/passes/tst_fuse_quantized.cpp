// What operators between DequantizeLinear and QuantizeLinear become, beside sums of integers that are taken here.

#include <QtTest>

#include <algorithm>
#include <cmath>

#include "core/document/document.h"
#include "core/document/model_passes.h"
#include "core/io/npz/npz.h"
#include "core/passes/pass.h"
#include "tests/core/passes/graph_maker.h"

namespace tst_fuse_quantized {

using namespace sonde;
using namespace sonde::test;
using tensor::DType;
using tensor::Shape;
using tensor::TypeInfo;

namespace {

template <typename T>
Tensor integers(const Shape& shape, const std::vector<std::int64_t>& values) {
    Tensor made = *Tensor::zeros(tensor::dtypeOf<T>, shape);
    for (std::size_t i = 0; i < values.size(); ++i) made.mutableData<T>()[i] = static_cast<T>(values[i]);
    return made;
}
Tensor floats(const Shape& shape, const std::vector<float>& values) {
    Tensor made = *Tensor::zeros(DType::Float32, shape);
    std::ranges::copy(values, made.mutableData<float>());
    return made;
}

/// A graph of quantised layers.
struct Net {
    Maker maker;

    NodeId scale(const std::string& name, std::vector<float> values) {
        const auto count = static_cast<std::int64_t>(values.size());
        return maker.constant(name, floats(count == 1 ? Shape{} : Shape{count}, values));
    }
    template <typename T>
    NodeId zero(const std::string& name, std::int64_t value, std::int64_t count = 1) {
        return maker.constant(name, integers<T>(count == 1 ? Shape{} : Shape{count},
                                                std::vector<std::int64_t>(static_cast<std::size_t>(count), value)));
    }
    template <typename T = std::uint8_t>
    NodeId quantise(const std::string& name, NodeId x, float by, std::int64_t point) {
        const NodeId y = maker.onnx(name, "QuantizeLinear", x, scale(name + "_s", {by}), zero<T>(name + "_z", point));
        maker.graph.setType(y, TypeInfo::tensor(tensor::dtypeOf<T>, std::nullopt));
        return y;
    }
    template <typename T = std::uint8_t>
    NodeId dequantise(const std::string& name, NodeId x, float by, std::int64_t point) {
        return maker.onnx(name, "DequantizeLinear", x, scale(name + "_s", {by}), zero<T>(name + "_z", point));
    }
    void attribute(NodeId node, const std::string& name, tensor::AttributeValue value) {
        maker.graph.mutableExpr(maker.graph.node(node).producer).attributes.set(name, std::move(value));
    }
};

std::shared_ptr<graph::InternalGraph> fused(const InternalGraph& graph) {
    passes::PassContext context;
    context.evaluate = document::passEvaluator();
    const std::vector<std::string> ids{"fuse-quantized"};
    auto made = passes::runPasses(graph, ids, context);
    if (!made) qWarning("%s", made.error().text().c_str());
    return made ? made->graph : nullptr;
}

std::string operators(const InternalGraph& graph) {
    std::string names;
    for (const ExprId id : graph.main().order)
        if (graph.expr(id).kind == ExprKind::Apply) names += (names.empty() ? "" : " ") + graph.expr(id).op.name;
    return names;
}

constexpr std::int64_t kIn = 2, kOut = 3, kSide = 5;
const std::vector<float> kWeightScales{0.02F, 0.05F, 0.01F};
constexpr float kScaleX = 0.1F, kScaleY = 0.07F;
constexpr std::int64_t kZeroX = 120, kZeroY = 0;

std::vector<std::int64_t> weights() {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < kOut * kIn * 9; ++i) values.push_back(i * 37 % 255 - 127);
    return values;
}
std::vector<std::int64_t> biases() { return {400, -900, 1500}; }
std::vector<std::int64_t> picture() {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < kIn * kSide * kSide; ++i) values.push_back(i * 53 % 256);
    return values;
}

/// x of bytes -> convolution with a border of one, and a ReLU -> bytes.
NodeId convolution(Net& net, NodeId x, std::vector<float> biasScales) {
    const NodeId real = net.dequantise("real_x", x, kScaleX, kZeroX);
    const NodeId w = net.maker.onnx("real_w", "DequantizeLinear",
                                    net.maker.constant("w", integers<std::int8_t>({kOut, kIn, 3, 3}, weights())),
                                    net.scale("w_s", kWeightScales), net.zero<std::int8_t>("w_z", 0, kOut));
    net.attribute(w, "axis", std::int64_t{0});
    const NodeId b =
        net.maker.onnx("real_b", "DequantizeLinear", net.maker.constant("b", integers<std::int32_t>({kOut}, biases())),
                       net.scale("b_s", std::move(biasScales)), net.zero<std::int32_t>("b_z", 0, kOut));
    net.attribute(b, "axis", std::int64_t{0});
    const NodeId y = net.maker.onnx("conv", "Conv", real, w, b);
    net.attribute(y, "pads", std::vector<std::int64_t>{1, 1, 1, 1});
    net.attribute(y, "kernel_shape", std::vector<std::int64_t>{3, 3});
    return net.quantise("y", net.maker.onnx("relu", "Relu", y), kScaleY, kZeroY);
}
std::vector<float> productScales() {
    std::vector<float> scales;
    for (const float w : kWeightScales) scales.push_back(w * kScaleX);
    return scales;
}
NodeId bytesInput(Net& net, const std::string& name, const Shape& shape) {
    return net.maker.input(name, TypeInfo::tensor(DType::UInt8, shape));
}

/// Sums of integers, scaled and rounded once in float32.
std::vector<double> expectedConvolution() {
    const std::vector<std::int64_t> w = weights(), x = picture(), b = biases();
    std::vector<double> y;
    for (std::int64_t k = 0; k < kOut; ++k)
        for (std::int64_t row = 0; row < kSide; ++row)
            for (std::int64_t column = 0; column < kSide; ++column) {
                std::int64_t sum = b[static_cast<std::size_t>(k)];
                for (std::int64_t c = 0; c < kIn; ++c)
                    for (std::int64_t i = 0; i < 9; ++i) {
                        const std::int64_t r = row + i / 3 - 1, s = column + i % 3 - 1;
                        if (r < 0 || s < 0 || r >= kSide || s >= kSide) continue;
                        sum += w[static_cast<std::size_t>((k * kIn + c) * 9 + i)] *
                               (x[static_cast<std::size_t>((c * kSide + r) * kSide + s)] - kZeroX);
                    }
                const float factor = kScaleX * kWeightScales[static_cast<std::size_t>(k)] / kScaleY;
                const float rounded = std::nearbyint(static_cast<float>(sum) * factor);
                y.push_back(std::clamp(static_cast<double>(rounded) + kZeroY, 0.0, 255.0));
            }
    return y;
}

double largestStep(const std::vector<double>& a, const std::vector<double>& b) {
    double most = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

}  // namespace

class TestFuseQuantized : public QObject {
    Q_OBJECT

  private slots:
    void aConvolutionWithItsBiasAndReluIsOneOfIntegers() {
        Net net;
        const NodeId x = bytesInput(net, "x", {1, kIn, kSide, kSide});
        net.maker.result(convolution(net, x, productScales()));
        const auto after = fused(net.maker.graph);
        QVERIFY(after);
        QCOMPARE(operators(*after), std::string("QLinearConv"));
        const Value image(integers<std::uint8_t>({1, kIn, kSide, kSide}, picture()));
        const std::vector<double> values = numbers(run(*after, {image}).at(0));
        QCOMPARE(values, expectedConvolution());
        QVERIFY(largestStep(values, numbers(run(net.maker.graph, {image}).at(0))) <= 1);
        // It stands for all three under the name of the last one; what only they read is gone.
        const NodeId y = after->findNode("y");
        QVERIFY(y.valid());
        QCOMPARE(after->expr(after->node(y).producer).origins.size(), std::size_t(3));
        for (const char* name : {"real_x", "real_w", "real_b", "conv", "relu", "b_s"})
            QVERIFY2(!after->findNode(name).valid(), name);
    }

    /// Integers would add a bias of another scale wrongly, and a ReLU in the middle of the range cuts something off.
    void whatIntegersCannotSayStays() {
        Net scaled;
        scaled.maker.result(convolution(scaled, bytesInput(scaled, "x", {1, kIn, kSide, kSide}), {0.1F, 0.1F, 0.1F}));
        const auto same = fused(scaled.maker.graph);
        QCOMPARE(text(*same), text(scaled.maker.graph));

        Net bounded;
        const NodeId x = bytesInput(bounded, "x", {4});
        const NodeId sum =
            bounded.maker.onnx("sum", "Add", bounded.dequantise("a", x, 0.1F, 8), bounded.dequantise("b", x, 0.2F, 8));
        bounded.maker.result(bounded.quantise("y", bounded.maker.onnx("relu", "Relu", sum), 0.3F, 100));
        const auto kept = fused(bounded.maker.graph);
        QCOMPARE(text(*kept), text(bounded.maker.graph));
    }

    /// 6 is the last step of a scale of 6/255, though 255 times that number is a little more.
    void aClipAtTheEndOfTheRangeGoes_data() {
        QTest::addColumn<float>("scale");
        QTest::addColumn<bool>("goes");
        QTest::newRow("at the end") << 6.0F / 255 << true;
        QTest::newRow("beyond it") << 5.0F / 255 << true;
        QTest::newRow("within the range") << 6.1F / 255 << false;
    }
    void aClipAtTheEndOfTheRangeGoes() {
        QFETCH(float, scale);
        QFETCH(bool, goes);
        Net net;
        const NodeId x = bytesInput(net, "x", {256});
        const NodeId sum =
            net.maker.onnx("sum", "Add", net.dequantise("a", x, 0.02F, 8), net.dequantise("b", x, 0.03F, 100));
        const NodeId clip = net.maker.onnx("clip", "Clip", sum, net.scale("min", {0}), net.scale("max", {6}));
        net.maker.result(net.quantise("y", clip, scale, 0));
        const auto after = fused(net.maker.graph);
        QCOMPARE(operators(*after).find("Clip") == std::string::npos, goes);
        std::vector<std::int64_t> every(256);
        std::ranges::generate(every, [next = 0]() mutable { return next++; });
        const Value all(integers<std::uint8_t>({256}, every));
        QVERIFY(largestStep(numbers(run(*after, {all}).at(0)), numbers(run(net.maker.graph, {all}).at(0))) <= 1);
    }

    void aValueThatIsReadElsewhereStays() {
        Net net;
        const NodeId x = bytesInput(net, "x", {4});
        const NodeId sum =
            net.maker.onnx("sum", "Add", net.dequantise("a", x, 0.1F, 8), net.dequantise("b", x, 0.2F, 8));
        const NodeId y = net.quantise("y", sum, 0.3F, 100);
        net.maker.result(tuple({arg(sum), arg(y)}));
        QCOMPARE(text(*fused(net.maker.graph)), text(net.maker.graph));
    }

    void aNetworkComputesOnIntegersFromEndToEnd() {
        Net net;
        const NodeId x = bytesInput(net, "x", {1, kIn, kSide, kSide});
        const NodeId y = convolution(net, x, productScales());
        const NodeId pooled = net.maker.onnx("pool", "MaxPool", net.dequantise("real_y", y, kScaleY, kZeroY));
        net.attribute(pooled, "kernel_shape", std::vector<std::int64_t>{3, 3});
        net.attribute(pooled, "strides", std::vector<std::int64_t>{2, 2});
        const NodeId p = net.quantise("p", pooled, kScaleY, kZeroY);
        const NodeId sum = net.maker.onnx("sum", "Add", net.dequantise("p1", p, kScaleY, kZeroY),
                                          net.dequantise("p2", p, kScaleY, kZeroY));
        const NodeId s = net.quantise("s", sum, 0.11F, 3);
        const NodeId mean = net.maker.onnx("mean", "GlobalAveragePool", net.dequantise("real_s", s, 0.11F, 3));
        const NodeId m = net.quantise("m", mean, 0.1F, 5);
        const NodeId flat = net.maker.onnx("flat", "Flatten", net.dequantise("real_m", m, 0.1F, 5));
        const NodeId f = net.quantise("f", flat, 0.1F, 5);
        const NodeId w = net.dequantise<std::int8_t>(
            "real_v", net.maker.constant("v", integers<std::int8_t>({2, kOut}, {3, -5, 7, -100, 50, 9})), 0.03F, 0);
        const NodeId gemm = net.maker.onnx("logits", "Gemm", net.dequantise("real_f", f, 0.1F, 5), w);
        net.attribute(gemm, "transB", std::int64_t{1});
        net.maker.result(tuple({arg(f), arg(gemm)}));

        const auto after = fused(net.maker.graph);
        QVERIFY(after);
        QCOMPARE(operators(*after),
                 std::string("QLinearConv MaxPool QLinearAdd QLinearGlobalAveragePool Flatten QGemm"));
        const Value image(integers<std::uint8_t>({1, kIn, kSide, kSide}, picture()));
        const std::vector<Value> before = run(net.maker.graph, {image}), now = run(*after, {image});
        const std::vector<double> features = numbers(now.at(0));
        QVERIFY(largestStep(features, numbers(before.at(0))) <= 1);
        // The product, by hand, from the bytes that came out.
        const std::vector<double> v{3, -5, 7, -100, 50, 9};
        std::vector<double> logits;
        for (std::size_t row = 0; row < 2; ++row) {
            double total = 0;
            for (std::size_t i = 0; i < 3; ++i) total += (features[i] - 5) * v[row * 3 + i];
            logits.push_back(total * static_cast<double>(0.1F) * static_cast<double>(0.03F));
        }
        QVERIFY(largestStep(numbers(now.at(1)), logits) < 1e-5);
    }

    /// Values of ONNX Runtime 1.30, which ran the fused network (see make_qdq_net.py): bytes are equal.
    void everyValueIsThatOfOnnxRuntime() {
        const std::string net = SONDE_TEST_DATA "/quantized/qdq_net";
        const auto document = document::open(net + ".onnx", {});
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        const auto after = fused(*(*document)->graph);
        QVERIFY(after);
        QCOMPARE(operators(*after),
                 std::string("QuantizeLinear QLinearConv MaxPool QLinearConv QLinearConv QLinearAdd QLinearConv "
                             "QLinearSigmoid QLinearMul QLinearConcat QLinearGlobalAveragePool Flatten QGemm"));
        const auto npz = io::NpzFile::open(net + ".ort.npz");
        QVERIFY(npz.has_value());
        exec::PlanOptions all;
        all.watchAll = true;
        const auto plan = exec::Plan::make(after, all);
        QVERIFY(plan.has_value());
        exec::Runner runner(1);
        const exec::Recording recording = runner.run(**plan, std::vector<Value>{*npz->read("in.x")});
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        std::size_t compared = 0;
        for (const std::string& key : npz->keys()) {
            if (!key.starts_with("node.")) continue;
            const Value* const value = recording.value(after->findNode(key.substr(5)));
            QVERIFY2(value, key.c_str());
            const double allowed = value->tensor().dtype() == DType::Float32 ? 1e-6 : 0;
            QVERIFY2(largestStep(numbers(*value), numbers(*npz->read(key))) <= allowed, key.c_str());
            ++compared;
        }
        QCOMPARE(compared, std::size_t(13));
    }

    void productsJoinWithAndWithoutQuantisingAgain() {
        for (const bool again : {false, true}) {
            Net net;
            const NodeId x = bytesInput(net, "x", {2, 3});
            const NodeId w = net.dequantise<std::int8_t>(
                "real_w", net.maker.constant("w", integers<std::int8_t>({3, 2}, {1, -2, 30, 4, -50, 6})), 0.02F, 0);
            NodeId y = net.maker.onnx("y", "MatMul", net.dequantise("real_x", x, 0.1F, 9), w);
            if (again) y = net.quantise("q", y, 0.05F, 128);
            net.maker.result(y);
            const auto after = fused(net.maker.graph);
            QCOMPARE(operators(*after), std::string(again ? "QLinearMatMul" : "MatMulIntegerToFloat"));
            const Value rows(integers<std::uint8_t>({2, 3}, {0, 9, 200, 17, 255, 30}));
            // (x − 9)·w, by hand: rows (−9, 0, 191) and (8, 246, 21).
            std::vector<double> expected{-9.0 * 1 + 191.0 * -50, -9.0 * -2 + 191.0 * 6,
                                         8.0 * 1 + 246.0 * 30 + 21.0 * -50, 8.0 * -2 + 246.0 * 4 + 21.0 * 6};
            for (double& value : expected) {
                value *= static_cast<double>(0.1F) * static_cast<double>(0.02F);
                if (again) value = std::clamp(std::nearbyint(value / static_cast<double>(0.05F)) + 128, 0.0, 255.0);
            }
            QVERIFY(largestStep(numbers(run(*after, {rows}).at(0)), expected) < 1e-5);
        }
    }
};

QTEST_GUILESS_MAIN(TestFuseQuantized)

}  // namespace tst_fuse_quantized

#include "tst_fuse_quantized.moc"
