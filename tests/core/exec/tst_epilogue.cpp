// Element-wise steps that run as the epilogue of another step, piece by piece, give what they give one by one, bit for
// bit.

#include <QDir>
#include <QtTest>

#include <atomic>
#include <cmath>
#include <thread>

#include "core/document/document.h"
#include "core/exec/runner.h"

namespace tst_epilogue {

using namespace sonde;
using exec::Plan;
using exec::PlanOptions;
using exec::Recording;
using exec::Runner;
using graph::Argument;
using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

namespace {

/// Looks at every step, so that each runs by itself.
class Watcher final : public exec::RunObserver {
  public:
    void exprFinished(graph::ExprId, std::span<const Value>, std::int64_t) override { ++steps; }
    int steps = 0;
};

/// Numbers between -1 and 1 that depend on the position alone.
Tensor waves(const tensor::Shape& shape) {
    Tensor x = Tensor::allocate(DType::Float32, shape).value();
    for (std::int64_t i = 0; i < x.numel(); ++i)
        x.mutableData<float>()[i] = static_cast<float>((i * 7919 + 13) % 2003) / 1001.0F - 1.0F;
    return x;
}

std::vector<Value> inputsOf(const InternalGraph& graph) {
    std::vector<Value> values;
    for (NodeId node : graph.inputs()) {
        const TypeInfo& type = graph.node(node).type;
        const auto shape = type.staticShape();
        if (!shape || type.dtype != DType::Float32) return {};
        values.emplace_back(waves(*shape));
    }
    return values;
}

NodeId apply(InternalGraph& graph, const std::string& op, const std::string& output,
             const std::vector<NodeId>& inputs) {
    Expr expr;
    expr.op = graph::OpKey{"", op, 17};
    expr.target = op;
    expr.body = graph.mainId();
    for (NodeId input : inputs) expr.arguments.push_back(Argument::of(input));
    return graph.expr(graph.addExpr(std::move(expr), std::span<const std::string>(&output, 1))).outputs.front();
}

std::vector<float> floats(const Value& value) {
    const auto span = value.tensor().span<float>();
    return {span.begin(), span.end()};
}

}  // namespace

class TestEpilogue : public QObject {
    Q_OBJECT

  private slots:
    /// product [1, 3] = x·m, then + row, then relu, then times itself before the relu, then − x.
    void handWorkedChain_data() {
        QTest::addColumn<bool>("watchAll");
        QTest::addColumn<int>("threads");
        for (int threads : {1, 2}) {
            QTest::addRow("plain, %d threads", threads) << false << threads;
            QTest::addRow("all watched, %d threads", threads) << true << threads;
        }
    }
    void handWorkedChain() {
        QFETCH(bool, watchAll);
        QFETCH(int, threads);
        auto graph = std::make_shared<InternalGraph>();
        const auto input = [&](const char* name) {
            return graph->addInput(graph->mainId(), name, TypeInfo::tensor(DType::Float32));
        };
        const NodeId x = input("x"), m = input("m"), row = input("row");
        const NodeId product = apply(*graph, "MatMul", "product", {x, m});
        const NodeId sum = apply(*graph, "Add", "sum", {row, product});
        const NodeId relu = apply(*graph, "Relu", "relu", {sum});
        const NodeId gated = apply(*graph, "Mul", "gated", {relu, sum});
        const NodeId y = apply(*graph, "Sub", "y", {x, gated});
        graph->setResult(graph->mainId(), Argument::of(y));
        PlanOptions options;
        options.watchAll = watchAll;
        const auto plan = Plan::make(graph, options).value();
        Runner runner(static_cast<std::size_t>(threads));
        // [1 2 -1]·[[1 0 2], [0 1 1], [3 -1 0]] = [-2 3 4]; + [1 -5 2] = [-1 -2 6]; relu [0 0 6]; · [0 0 36]; x − that.
        const std::vector<Value> inputs{Value(Tensor::of<float>({1, 3}, {1, 2, -1})),
                                        Value(Tensor::of<float>({3, 3}, {1, 0, 2, 0, 1, 1, 3, -1, 0})),
                                        Value(Tensor::of<float>({3}, {1, -5, 2}))};
        for (int repeat = 0; repeat < 2; ++repeat) {
            const Recording recording = runner.run(*plan, inputs);
            QVERIFY(!recording.error);
            QCOMPARE(floats(recording.outputs[0]), (std::vector<float>{1, 2, -37}));
            for (NodeId node : {product, sum, relu, gated, y}) {
                QVERIFY(recording.computed(node));
                QCOMPARE(recording.state(graph->node(node).producer), exec::ExprState::Done);
            }
            if (!watchAll) continue;
            QCOMPARE(floats(*recording.value(product)), (std::vector<float>{-2, 3, 4}));
            QCOMPARE(floats(*recording.value(sum)), (std::vector<float>{-1, -2, 6}));
            QCOMPARE(floats(*recording.value(relu)), (std::vector<float>{0, 0, 6}));
            QCOMPARE(floats(*recording.value(gated)), (std::vector<float>{0, 0, 36}));
        }
    }

    /// What cannot be done in pieces runs by itself: other dtypes, results that are larger than what they would be
    /// fused to.
    void otherwiseStepsRunByThemselves() {
        auto graph = std::make_shared<InternalGraph>();
        const NodeId x = graph->addInput(graph->mainId(), "x", TypeInfo::tensor(DType::Undefined));
        const NodeId column = graph->addInput(graph->mainId(), "column", TypeInfo::tensor(DType::Undefined));
        const NodeId negative = apply(*graph, "Neg", "negative", {x});
        const NodeId table = apply(*graph, "Add", "table", {negative, column});
        const NodeId y = apply(*graph, "Relu", "y", {table});
        graph->setResult(graph->mainId(), Argument::of(y));
        const auto plan = Plan::make(graph, {}).value();
        Runner runner(1);
        const Recording wide = runner.run(*plan, std::vector<Value>{Value(Tensor::of<float>({2}, {1, -2})),
                                                                    Value(Tensor::of<float>({2, 1}, {0, 5}))});
        QVERIFY(!wide.error);
        QCOMPARE(floats(wide.outputs[0]), (std::vector<float>{0, 2, 4, 7}));
        const Recording exact = runner.run(
            *plan, std::vector<Value>{Value(Tensor::of<double>({1}, {0.1})), Value(Tensor::of<double>({1, 1}, {0.3}))});
        QVERIFY(!exact.error);
        QCOMPARE(exact.outputs[0].tensor().dtype(), DType::Float64);
        QCOMPARE(exact.outputs[0].tensor().toDouble(0), -0.1 + 0.3);
    }

    /// a = [1 2 2]·[1 1 1] = 5; y = clip(−a, at least a): the bound is made by the same chain.
    void aBoundIsWaitedFor() {
        auto graph = std::make_shared<InternalGraph>();
        const NodeId x = graph->addInput(graph->mainId(), "x", TypeInfo::tensor(DType::Float32));
        const NodeId w = graph->addInput(graph->mainId(), "w", TypeInfo::tensor(DType::Float32));
        const NodeId a = apply(*graph, "MatMul", "a", {x, w});
        const NodeId negative = apply(*graph, "Neg", "negative", {a});
        const NodeId y = apply(*graph, "Clip", "y", {negative, a});
        graph->setResult(graph->mainId(), Argument::of(y));
        Runner runner(1);
        const std::vector<Value> inputs{Value(Tensor::of<float>({3}, {1, 2, 2})),
                                        Value(Tensor::of<float>({3}, {1, 1, 1}))};
        const Recording recording = runner.run(*Plan::make(graph, {}).value(), inputs);
        QVERIFY(!recording.error);
        QCOMPARE(floats(recording.outputs[0]), std::vector<float>{5});
    }

    /// One infinite element makes the outputs around it infinite and no others NaN, also where the convolution is
    /// computed by tiles; numbers whose sums fit into float32 have sums.
    void infinityStaysWhereItIs_data() {
        QTest::addColumn<int>("threads");
        for (int threads : {1, 2}) QTest::addRow("%d threads", threads) << threads;
    }
    void infinityStaysWhereItIs() {
        QFETCH(int, threads);
        auto graph = std::make_shared<InternalGraph>();
        const NodeId x = graph->addInput(graph->mainId(), "x", TypeInfo::tensor(DType::Float32));
        Expr weights;
        weights.kind = graph::ExprKind::Constant;
        weights.body = graph->mainId();
        const std::string name = "w";
        const NodeId w =
            graph->expr(graph->addExpr(std::move(weights), std::span<const std::string>(&name, 1))).outputs.front();
        graph->setConstant(w, Value(Tensor::of<float>({16, 16, 3, 3}, std::vector<float>(16 * 16 * 9, 0.001F))));
        const NodeId convolved = apply(*graph, "Conv", "convolved", {x, w});
        graph->mutableExpr(graph->node(convolved).producer)
            .attributes.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
        const NodeId y = apply(*graph, "Neg", "y", {convolved});
        graph->setResult(graph->mainId(), Argument::of(y));
        const auto plan = Plan::make(graph, {}).value();
        Runner runner(static_cast<std::size_t>(threads));
        std::vector<float> numbers(16 * 24 * 24, 0.0F);
        numbers[3 * 576 + 9 * 24 + 9] = INFINITY;
        const Recording one = runner.run(*plan, std::vector<Value>{Value(Tensor::of<float>({1, 16, 24, 24}, numbers))});
        QVERIFY(!one.error);
        const std::vector<float> result = floats(one.outputs[0]);
        for (std::size_t i = 0; i < result.size(); ++i) {
            const auto row = static_cast<int>(i % 576 / 24), column = static_cast<int>(i % 24);
            const float expected = std::abs(row - 9) <= 1 && std::abs(column - 9) <= 1 ? -INFINITY : 0.0F;
            QVERIFY2(
                result[i] == expected,
                qPrintable(QStringLiteral("%1 at %2, %3").arg(static_cast<double>(result[i])).arg(row).arg(column)));
        }
        // 16 channels x 9 x 0.001 x 1e37 in the middle.
        const Recording large = runner.run(
            *plan,
            std::vector<Value>{Value(Tensor::of<float>({1, 16, 24, 24}, std::vector<float>(numbers.size(), 1e37F)))});
        QVERIFY(!large.error);
        QVERIFY(std::abs(static_cast<double>(floats(large.outputs[0])[5 * 24 + 5]) / -1.44e36 - 1) < 1e-5);
    }

    /// What is only kept may be made when it is first read: whoever reads it, whatever is gone by then.
    void keptValuesOutliveTheirRun() {
        auto document = document::open("zoo:mobilenet_v2");
        QVERIFY(document);
        std::shared_ptr<const InternalGraph> graph = (*document)->graph;
        PlanOptions all;
        all.watchAll = true;
        auto plan = Plan::make(graph, all).value();
        auto runner = std::make_unique<Runner>(2);
        std::vector<Value> inputs = inputsOf(*graph);
        Watcher watcher;
        exec::RunOptions observed;
        observed.observer = &watcher;
        const Recording expected = runner->run(*plan, inputs, {}, observed);
        Recording recording = runner->run(*plan, inputs);
        QVERIFY(!expected.error && !recording.error);
        runner.reset();
        plan.reset();
        graph.reset();
        document = base::usageError("closed");
        inputs.clear();
        recording.outputs.clear();
        std::atomic<std::size_t> same{0};
        const auto read = [&] {
            for (const auto& [node, values] : recording.kept)
                same += tensor::identical(values.back(), *expected.value(node)) ? 1 : 0;
        };
        std::thread other(read);
        read();
        other.join();
        QCOMPARE(same.load(), 2 * expected.kept.size());
    }

    void modelsGiveTheSameBits_data() {
        QTest::addColumn<QString>("model");
        for (const QString& name : QDir(SONDE_TEST_DATA "/models").entryList({"*.onnx"})) {
            QTest::newRow(qPrintable(name)) << QStringLiteral(SONDE_TEST_DATA "/models/") + name;
        }
        for (const char* name :
             {"zoo:resnet18_slim", "zoo:mobilenet_v2", "zoo:unet_small", "zoo:vit_small", "zoo:in_place"}) {
            QTest::newRow(name) << QString::fromLatin1(name);
        }
    }
    void modelsGiveTheSameBits() {
        QFETCH(QString, model);
        const auto document = document::open(model.toStdString());
        QVERIFY(document);
        const std::shared_ptr<const InternalGraph> graph = (*document)->graph;
        const std::vector<Value> inputs = inputsOf(*graph);
        if (inputs.size() != graph->inputs().size()) return;  // takes something else than pictures
        PlanOptions all;
        all.watchAll = true;
        const auto plain = Plan::make(graph, {}).value(), watched = Plan::make(graph, all).value();
        Runner runner(1), two(2);
        Watcher watcher;
        exec::RunOptions observed;
        observed.observer = &watcher;
        const Recording expected = runner.run(*watched, inputs, {}, observed);
        QVERIFY2(!expected.error, expected.error ? expected.error->what.c_str() : "");
        QVERIFY(watcher.steps > 0);
        for (Runner* each : {&runner, &two}) {
            const Recording quick = each->run(*plain, inputs), every = each->run(*watched, inputs);
            QVERIFY(!quick.error && !every.error);
            for (std::size_t i = 0; i < expected.outputs.size(); ++i) {
                QVERIFY(tensor::identical(quick.outputs[i], expected.outputs[i]));
                QVERIFY(tensor::identical(every.outputs[i], expected.outputs[i]));
            }
            QCOMPARE(every.kept.size(), expected.kept.size());
            for (const auto& [node, values] : expected.kept) {
                const auto found = every.kept.find(node);
                QVERIFY2(found != every.kept.end() && found->second.size() == values.size(),
                         graph->node(node).name.c_str());
                for (std::size_t i = 0; i < values.size(); ++i) {
                    QVERIFY2(tensor::identical(found->second[i], values[i]), graph->node(node).name.c_str());
                }
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestEpilogue)

}  // namespace tst_epilogue

#include "tst_epilogue.moc"
