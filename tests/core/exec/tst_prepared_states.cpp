// Packed weights are there once for all runners of a graph, and go with the last of them.

#include <QtTest>

#include "core/document/document.h"
#include "core/exec/prepared_states.h"
#include "core/exec/runner.h"
#include "core/io/npz/npz.h"

namespace tst_prepared_states {

using namespace sonde;
using exec::PreparedStates;

class TestPreparedStates : public QObject {
    Q_OBJECT

  private slots:
    void runnersOfAGraphShareThem() {
        const auto document = document::open(SONDE_TEST_DATA "/models/resnet18_slim.onnx");
        QVERIFY(document.has_value());
        const auto graph = (*document)->graph;
        const auto plan = exec::Plan::make(graph, {});
        QVERIFY(plan.has_value());
        const auto npz = io::NpzFile::open(SONDE_TEST_DATA "/models/resnet18_slim.npz");
        QVERIFY(npz.has_value());
        const auto input = npz->read("in." + (*document)->inputs.front().name);
        QVERIFY(input.has_value());
        const std::vector<tensor::Value> inputs{*input};
        graph::ExprId conv;
        for (const graph::ExprId id : graph->main().order)
            if (!conv.valid() && graph->expr(id).op.name == "Conv") conv = id;
        QVERIFY(conv.valid());

        std::weak_ptr<PreparedStates> before;
        {
            exec::Runner first(1);
            const auto one = first.run(**plan, inputs);
            QVERIFY(!one.error);
            const auto states = PreparedStates::of(graph, false);
            before = states;
            const auto packed = states->find(conv);
            QVERIFY(packed && *packed);
            QVERIFY(!PreparedStates::of(graph, true)->find(conv));
            exec::Runner second(2);
            const auto other = second.run(**plan, inputs);
            QVERIFY(!other.error);
            QCOMPARE(PreparedStates::of(graph, false), states);
            QCOMPARE(states->find(conv), packed);
            QVERIFY(tensor::identical(one.outputs.front(), other.outputs.front()));
        }
        QVERIFY(before.expired());
        QVERIFY(!PreparedStates::of(graph, false)->find(conv));
    }

    /// A runner that did other graphs before, or none, does an operation again with the weights of its own graph.
    void replayHasItsOwnWeights() {
        const auto document = document::open(SONDE_TEST_DATA "/models/resnet18_slim.onnx");
        QVERIFY(document.has_value());
        auto doubled = std::make_shared<graph::InternalGraph>(*(*document)->graph);
        graph::ExprId conv;
        for (const graph::ExprId id : doubled->main().order)
            if (!conv.valid() && doubled->expr(id).op.name == "Conv") conv = id;
        QVERIFY(conv.valid());
        const graph::Expr& expr = doubled->expr(conv);
        for (std::size_t i = 1; i < expr.inputs.size(); ++i) {
            const tensor::Tensor weight = doubled->node(expr.inputs[i]).constant->tensor();
            std::vector<float> values;
            for (std::int64_t k = 0; k < weight.numel(); ++k)
                values.push_back(2 * static_cast<float>(weight.toDouble(k)));
            doubled->setConstant(expr.inputs[i], tensor::Tensor::of<float>(weight.shape(), values));
        }
        const auto plan = exec::Plan::make((*document)->graph, {});
        const auto other = exec::Plan::make(doubled, {});
        QVERIFY(plan.has_value() && other.has_value());
        const tensor::Tensor x = tensor::Tensor::of<float>({1, 3, 64, 64}, std::vector<float>(3 * 64 * 64, 0.5F));
        exec::ReplayInputs inputs{conv, {{exec::readsOf(**plan, conv).front(), x}}, {}};
        exec::Runner fresh(1);
        const auto once = fresh.replay(**plan, inputs);
        QVERIFY(once.has_value());
        const auto twice = fresh.replay(**other, inputs);
        QVERIFY(twice.has_value());
        const tensor::Tensor& a = once->front().tensor();
        const tensor::Tensor& b = twice->front().tensor();
        QVERIFY(a.toDouble(0) != 0);
        for (std::int64_t k = 0; k < a.numel(); ++k) QCOMPARE(b.toDouble(k), 2 * a.toDouble(k));
    }

    void theFirstIsKept() {
        struct Some : ops::PreparedState {};
        PreparedStates states;
        const auto a = std::make_shared<const Some>(), b = std::make_shared<const Some>();
        QVERIFY(!states.find(graph::ExprId(3)));
        QCOMPARE(states.add(graph::ExprId(3), a), PreparedStates::State(a));
        QCOMPARE(states.add(graph::ExprId(3), b), PreparedStates::State(a));
        QCOMPARE(states.add(graph::ExprId(4), nullptr), PreparedStates::State());
        QVERIFY(states.find(graph::ExprId(4)) && !*states.find(graph::ExprId(4)));
    }
};

QTEST_GUILESS_MAIN(TestPreparedStates)

}  // namespace tst_prepared_states

#include "tst_prepared_states.moc"
