// Which operations of an ONNX graph and of a graph of ATen are one layer: by kernels, by weights in whatever layout,
// with what one of the files has folded or decomposed, and never where they compute something else.

#include <QtTest>

#include <algorithm>
#include <limits>

#include "core/session/diff/graph_pairs.h"
#include "core/session/diff/parameter_layout.h"
#include "core/session/diff/repacked_weights.h"
#include "tests/core/passes/graph_maker.h"

namespace tst_layer_pairs {

using namespace sonde;
using graph::ExprId;
using graph::NodeId;
using session::GraphPairs;
using test::Maker;

namespace {

tensor::Tensor ones(const tensor::Shape& shape) {
    auto tensor = tensor::Tensor::allocate(tensor::DType::Float32, shape);
    if (!tensor) qFatal("no memory");
    std::fill_n(tensor->mutableData<float>(), tensor->numel(), 1.0F);
    return *tensor;
}

tensor::Tensor counted(const tensor::Shape& shape, float first) {
    auto tensor = ones(shape);
    for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.mutableData<float>()[i] = first + static_cast<float>(i);
    return tensor;
}

ExprId producer(const Maker& maker, const char* name) {
    const NodeId node = maker.graph.findNode(name);
    if (!node.valid()) qFatal("no node %s", name);
    return maker.graph.node(node).producer;
}

/// The name of the counterpart of a result; "": none.
std::string counterpartOf(const Maker& first, const Maker& second, const GraphPairs& pairs, const char* name) {
    const ExprId other = pairs.counterpart(producer(first, name));
    return other.valid() ? second.graph.node(second.graph.expr(other).outputs.front()).name : std::string();
}

/// A branch with a kernel of 1×1 and one of 3×3, their sum, written in either order.
struct Branches {
    bool isAten = false, isWideFirst = false;

    Maker made() const {
        Maker maker;
        const NodeId x = maker.floats("x", {1, 3, 8, 8});
        NodeId narrow, wide;
        if (isWideFirst) wide = branch(maker, x, "wide", 3);
        narrow = branch(maker, x, "narrow", 1);
        if (!isWideFirst) wide = branch(maker, x, "wide", 3);
        maker.result(isAten ? maker.call("y", "aten::add.Tensor", narrow, wide) : maker.onnx("y", "Add", narrow, wide));
        return maker;
    }

  private:
    NodeId branch(Maker& maker, NodeId x, const std::string& name, std::int64_t size) const {
        return branch(maker, x, name, ones({4, 3, size, size}));
    }

  public:
    /// In ATen with the normalisation that the ONNX file has folded into the kernel and a bias.
    NodeId branch(Maker& maker, NodeId x, const std::string& name, const tensor::Tensor& weights) const {
        const std::int64_t size = weights.dim(2);
        const NodeId kernel = maker.constant(name + "_k", weights);
        const auto vector = [&](const char* what) { return maker.constant(name + what, ones({4})); };
        if (!isAten) return maker.onnx(name + "_relu", "Relu", maker.onnx(name, "Conv", x, kernel, vector("_b")));
        const auto both = [](std::int64_t number) { return test::list({test::arg(number), test::arg(number)}); };
        const NodeId conv =
            maker.call(name + "_conv", "aten::conv2d", x, kernel, test::none(), both(1), both(size / 2), both(1), 1);
        const NodeId norm = maker.call(name, "aten::batch_norm", conv, vector("_g"), vector("_s"), vector("_m"),
                                       vector("_v"), false, 0.1, 1e-5, false);
        return maker.call(name + "_relu", "aten::relu", norm);
    }
};

}  // namespace

class TestLayerPairs : public QObject {
    Q_OBJECT

  private slots:
    void kernelsTellBranchesApart_data();
    void kernelsTellBranchesApart();
    void twinsGoByTheirWeights_data();
    void twinsGoByTheirWeights();
    void aBiasIsAPartOfItsLayer();
    void decomposedLayersAreFound_data();
    void decomposedLayersAreFound();
    void productsSayHowTheyReadAMatrix();
    void roundingIsRelativeToWhatWasAdded();
};

void TestLayerPairs::kernelsTellBranchesApart_data() {
    QTest::addColumn<bool>("isFirstAten");
    QTest::addColumn<bool>("isSecondAten");
    QTest::newRow("two ONNX files") << false << false;
    QTest::newRow("two archives") << true << true;
    QTest::newRow("a file and an archive") << false << true;
    QTest::newRow("an archive and a file") << true << false;
}

void TestLayerPairs::kernelsTellBranchesApart() {
    QFETCH(const bool, isFirstAten);
    QFETCH(const bool, isSecondAten);
    const Maker first = Branches{isFirstAten, false}.made(), second = Branches{isSecondAten, true}.made();
    const GraphPairs pairs = session::pairOperations(first.graph, second.graph);
    for (const char* name : {"narrow", "wide", "narrow_relu", "wide_relu", "y"})
        QCOMPARE(counterpartOf(first, second, pairs, name), std::string(name));
    if (isFirstAten || !isSecondAten) return;
    // The folded convolution gives what the normalisation gives; the plain one is a part of that.
    QVERIFY(!pairs.ofSecond[producer(second, "wide_conv").index()].valid());
    QCOMPARE(pairs.partOf[1][producer(second, "wide_conv").index()], producer(second, "wide"));
}

void TestLayerPairs::twinsGoByTheirWeights_data() {
    QTest::addColumn<bool>("areConvolutions");
    QTest::newRow("convolutions, one of them with its normalisation folded in") << true;
    QTest::newRow("products, one of them transposed") << false;
}

/// Two layers of one size, whose sum has its operands, and the file its nodes, in the other order.
void TestLayerPairs::twinsGoByTheirWeights() {
    QFETCH(const bool, areConvolutions);
    const auto made = [&](bool isAten) {
        Maker maker;
        const NodeId x = areConvolutions ? maker.floats("x", {1, 3, 8, 8}) : maker.floats("x", {2, 4});
        const auto layer = [&](const std::string& name, float first) {
            if (areConvolutions) return Branches{isAten, false}.branch(maker, x, name, counted({4, 3, 3, 3}, first));
            const tensor::Tensor weight = counted({4, 4}, first);
            const NodeId stored = maker.constant(name + "_w", isAten ? *weight.transposed(0, 1).contiguous() : weight);
            return isAten ? maker.call(name, "aten::linear", x, stored) : maker.onnx(name, "MatMul", x, stored);
        };
        NodeId one, two;
        if (isAten) two = layer("two", 50);
        one = layer("one", 1);
        if (!isAten) two = layer("two", 50);
        maker.result(isAten ? maker.call("y", "aten::add.Tensor", two, one) : maker.onnx("y", "Add", one, two));
        return maker;
    };
    const Maker first = made(false), second = made(true);
    const GraphPairs pairs = session::pairOperations(first.graph, second.graph);
    for (const char* name : {"one", "two", "y"}) QCOMPARE(counterpartOf(first, second, pairs, name), std::string(name));
}

/// x·w + b of two operations, and aten::linear with wᵀ: the sum is what linear gives.
void TestLayerPairs::aBiasIsAPartOfItsLayer() {
    Maker first, second;
    const tensor::Tensor weight = counted({4, 4}, 2);
    const NodeId p = first.onnx("p", "MatMul", first.floats("x", {2, 4}), first.constant("7", weight));
    first.result(first.onnx("r", "Relu", first.onnx("s", "Add", first.constant("8", counted({4}, 1)), p)));
    const NodeId linear = second.call("l", "aten::linear", second.floats("input", {2, 4}),
                                      second.constant("fc.weight", *weight.transposed(0, 1).contiguous()),
                                      second.constant("fc.bias", counted({4}, 1)));
    second.result(second.call("y", "aten::relu", linear));
    const GraphPairs pairs = session::pairOperations(first.graph, second.graph);
    QCOMPARE(counterpartOf(first, second, pairs, "s"), std::string("l"));
    QCOMPARE(counterpartOf(first, second, pairs, "p"), std::string());
    QCOMPARE(pairs.partOf[0][producer(first, "p").index()], producer(first, "s"));
    QCOMPARE(counterpartOf(first, second, pairs, "r"), std::string("y"));
}

void TestLayerPairs::decomposedLayersAreFound_data() {
    QTest::addColumn<QString>("function");
    QTest::addColumn<QString>("layer");
    QTest::addColumn<bool>("isFound");
    QTest::newRow("silu") << "Sigmoid"
                          << "aten::silu" << true;
    QTest::newRow("gelu is no silu") << "Sigmoid"
                                     << "aten::gelu" << false;
    QTest::newRow("x·erf(x) for gelu") << "Erf"
                                       << "aten::gelu" << true;
    QTest::newRow("x·tanh(x) is no gelu") << "Tanh"
                                          << "aten::gelu" << false;
}

/// x·f(x) between two sums.
void TestLayerPairs::decomposedLayersAreFound() {
    QFETCH(const QString, function);
    QFETCH(const QString, layer);
    QFETCH(const bool, isFound);
    Maker first, second;
    const NodeId x = first.floats("x", {2, 4}), a = first.onnx("a", "Add", x, x);
    const NodeId f = first.onnx("f", function.toStdString(), a), m = first.onnx("m", "Mul", a, f);
    first.result(first.onnx("y", "Add", m, x));
    const NodeId u = second.floats("u", {2, 4}), b = second.call("b", "aten::add.Tensor", u, u);
    const NodeId g = second.call("g", layer.toStdString(), b);
    second.result(second.call("z", "aten::add.Tensor", g, u));
    const GraphPairs pairs = session::pairOperations(first.graph, second.graph);
    QCOMPARE(counterpartOf(first, second, pairs, "a"), std::string("b"));
    QCOMPARE(counterpartOf(first, second, pairs, "y"), std::string("z"));
    QCOMPARE(pairs.isInPairedModule[0][producer(first, "f").index()], isFound);
    if (isFound) QCOMPARE(counterpartOf(first, second, pairs, "m"), std::string("g"));
}

/// PyTorch's Linear stores [out, in], MatMul of ONNX reads [in, out], Gemm with transB the first again.
void TestLayerPairs::productsSayHowTheyReadAMatrix() {
    using session::diff::isOutputFirst;
    Maker maker;
    const NodeId x = maker.floats("x", {2, 4});
    const auto weight = [&](const char* name) { return maker.constant(name, ones({4, 4})); };
    const NodeId linear = weight("linear"), matmul = weight("matmul"), left = weight("left"), turned = weight("turned"),
                 addmm = weight("addmm"), added = weight("added");
    maker.call("a", "aten::linear", x, linear);
    maker.onnx("b", "MatMul", x, matmul);
    maker.onnx("c", "MatMul", left, x);
    maker.onnx("d", "MatMul", x, maker.onnx("t", "Transpose", turned));
    maker.call("e", "aten::addmm", x, x, addmm);
    maker.result(maker.onnx("f", "Add", x, added));
    QCOMPARE(isOutputFirst(maker.graph, linear), std::optional(true));
    QCOMPARE(isOutputFirst(maker.graph, matmul), std::optional(false));
    QCOMPARE(isOutputFirst(maker.graph, left), std::optional(true));
    maker.graph.setType(turned, tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{4, 4}));
    QCOMPARE(isOutputFirst(maker.graph, turned), std::optional(true));
    QCOMPARE(isOutputFirst(maker.graph, addmm), std::optional(false));
    QCOMPARE(isOutputFirst(maker.graph, added), std::optional<bool>());
}

/// 2^-23 of a magnitude of 100 is 1.2e-5: the sum of 100 and -99 may be off by sixteen of these.
void TestLayerPairs::roundingIsRelativeToWhatWasAdded() {
    using session::diff::differByRounding;
    const auto of = [](float value) { return tensor::Tensor::of<float>({1}, {value}); };
    QVERIFY(differByRounding(of(1), of(1.0001F), of(100)));
    QVERIFY(!differByRounding(of(1), of(1.001F), of(100)));
    QVERIFY(!differByRounding(of(1), of(1.0001F), of(1)));
    QVERIFY(!differByRounding(of(std::numeric_limits<float>::quiet_NaN()), of(1), of(1)));
}

QTEST_APPLESS_MAIN(TestLayerPairs)

}  // namespace tst_layer_pairs

#include "tst_layer_pairs.moc"
