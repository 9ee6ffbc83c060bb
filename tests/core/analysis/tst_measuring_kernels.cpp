// Statistics that kernels take of their results while those are in the cache, before they write over them.

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/analysis/measured_runs.h"

namespace tst_measuring_kernels {

using namespace sonde;
using graph::NodeId;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// y = relu(clip(norm(convolution(x))) + x).
struct Layers {
    static constexpr std::int64_t kChannels = 24, kHeight = 57, kWidth = 43;
    std::shared_ptr<graph::InternalGraph> graph = std::make_shared<graph::InternalGraph>();
    NodeId x, made, normal, clipped, sum, y;

    explicit Layers(float bias) {
        x = graph->addInput(graph->mainId(), "x",
                            tensor::TypeInfo::tensor(tensor::DType::Float32, Shape{1, kChannels, kHeight, kWidth}));
        const NodeId w = parameter("w", waves({kChannels, kChannels, 1, 1}, 0));
        const NodeId b = parameter("b", Tensor::of<float>({kChannels}, std::vector<float>(kChannels, bias)));
        const NodeId scale = parameter("scale", waves({kChannels}, 0)),
                     shift = parameter("shift", waves({kChannels}, 0.5F)),
                     mean = parameter("mean", waves({kChannels}, bias)),
                     variance = parameter("variance", waves({kChannels}, 3));
        const NodeId low = parameter("low", Tensor::of<float>({}, {0})),
                     high = parameter("high", Tensor::of<float>({}, {6}));
        made = add("Conv", {x, w, b}, "made");
        normal = add("BatchNormalization", {made, scale, shift, mean, variance}, "normal");
        clipped = add("Clip", {normal, low, high}, "clipped");
        sum = add("Add", {clipped, x}, "sum");
        y = add("Relu", {sum}, "y");
        graph->setResult(graph->mainId(), graph::Argument::of(y));
    }
    /// Numbers between middle - 1 and middle + 1 that depend on the position alone.
    static Tensor waves(const Shape& shape, float middle) {
        Tensor t = Tensor::allocate(tensor::DType::Float32, shape).value();
        for (std::int64_t i = 0; i < t.numel(); ++i)
            t.mutableData<float>()[i] = static_cast<float>((i * 7919 + 13) % 2003) / 1001.0F - 1.0F + middle;
        return t;
    }

  private:
    NodeId add(const char* op, const std::vector<NodeId>& inputs, const std::string& name) {
        graph::Expr expr;
        expr.op = {"", op, 13};
        expr.target = op;
        for (const NodeId in : inputs) expr.arguments.push_back(graph::Argument::of(in));
        return graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
    }
    NodeId parameter(const std::string& name, Tensor value) {
        graph::Expr expr;
        expr.kind = graph::ExprKind::Constant;
        expr.isParameter = true;
        expr.body = graph->mainId();
        expr.scope = graph->rootScope();
        const NodeId node = graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
        graph->setType(node, tensor::TypeInfo::tensor(value.dtype(), value.shape()));
        graph->setConstant(node, tensor::Value(std::move(value)));
        return node;
    }
};

/// By hand, in more than double precision.
struct Expected {
    std::int64_t nans = 0, infs = 0, zeros = 0, finite = 0;
    double low = INFINITY, high = -INFINITY, mean = 0, deviation = 0;

    explicit Expected(std::span<const float> values) {
        long double total = 0, squares = 0;
        for (const float v : values) {
            nans += std::isnan(v) ? 1 : 0, infs += std::isinf(v) ? 1 : 0;
            if (!std::isfinite(v)) continue;
            total += v, ++finite, zeros += v == 0 ? 1 : 0;
            low = std::min<double>(low, v), high = std::max<double>(high, v);
        }
        for (const float v : values)
            if (std::isfinite(v)) squares += (v - total / finite) * (v - total / finite);
        mean = static_cast<double>(total / finite);
        deviation = static_cast<double>(std::sqrt(squares / finite));
    }
};

}  // namespace

class TestMeasuringKernels : public QObject {
    Q_OBJECT

  private slots:
    void kernelsMeasureWhatTheyWriteOver_data();
    void kernelsMeasureWhatTheyWriteOver();
};

/// A kernel does all layers in one pass, in the memory of its own result.
void TestMeasuringKernels::kernelsMeasureWhatTheyWriteOver_data() {
    QTest::addColumn<float>("bias");
    QTest::addColumn<bool>("isBad");
    QTest::addColumn<int>("threads");
    for (const int threads : {1, 2}) {
        QTest::addRow("around 0, %d threads", threads) << 0.0F << false << threads;
        QTest::addRow("far from 0, %d threads", threads) << 5000.0F << false << threads;
        QTest::addRow("NaN and infinity, %d threads", threads) << 0.0F << true << threads;
    }
}

void TestMeasuringKernels::kernelsMeasureWhatTheyWriteOver() {
    QFETCH(float, bias);
    QFETCH(bool, isBad);
    QFETCH(int, threads);
    const Layers g(bias);
    Tensor x = Layers::waves({1, Layers::kChannels, Layers::kHeight, Layers::kWidth}, 0);
    if (isBad) {
        x.mutableData<float>()[5'000] = std::numeric_limits<float>::quiet_NaN();
        x.mutableData<float>()[30'000] = -std::numeric_limits<float>::infinity();
    }
    exec::Runner runner(static_cast<std::size_t>(threads));
    const auto found = analysis::measureRun({g.graph, {x}}, runner);
    QVERIFY(found && !found->error);
    exec::PlanOptions all;
    all.watchAll = true;
    const exec::Recording recording =
        runner.run(*exec::Plan::make(g.graph, all).value(), std::vector<tensor::Value>{x});
    for (const NodeId node : {g.made, g.normal, g.clipped, g.sum, g.y}) {
        const Expected expected(recording.value(node)->tensor().span<float>());
        const auto& stats = found->ofNode[node.index()];
        QVERIFY(stats.has_value());
        QCOMPARE(stats->finiteCount(), expected.finite);
        QCOMPARE(stats->nanCount, expected.nans);
        QCOMPARE(stats->infCount, expected.infs);
        QCOMPARE(stats->zeroCount, expected.zeros);
        QCOMPARE(stats->minimum, expected.low);
        QCOMPARE(stats->maximum, expected.high);
        QVERIFY(expected.deviation > 0);
        QVERIFY(std::fabs(stats->mean - expected.mean) < 1e-11 * expected.deviation);
        QVERIFY(std::fabs(stats->deviation - expected.deviation) < 1e-11 * expected.deviation);
    }
    QCOMPARE(recording.doneWith(*g.graph, g.graph->node(g.y).producer), g.graph->node(g.made).producer);
}

QTEST_GUILESS_MAIN(TestMeasuringKernels)

}  // namespace tst_measuring_kernels

#include "tst_measuring_kernels.moc"
