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
