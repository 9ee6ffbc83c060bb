// A call whose last step does what comes after the call as well, up to the end point: what the call gives is there.

#include <QtTest>

#include "core/document/document.h"
#include "core/exec/runner.h"

namespace tst_watched_calls {

using namespace sonde;
using exec::Plan;
using exec::Recording;
using tensor::Tensor;
using tensor::Value;

class TestWatchedCalls : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// The kernel of the linear layer adds what the block adds to its result.
    void theEndIsReachedInsideOfTheCall() {
        const auto document = document::open("zoo:gpt_mini");
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        const auto& graph = (*document)->graph;
        const graph::NodeId call = graph->findNode("blocks_1_attn_proj"), end = graph->findNode("add_3");
        QVERIFY(call.valid() && end.valid());
        QCOMPARE(graph->expr(graph->node(call).producer).kind, graph::ExprKind::CallModule);
        const std::vector<Value> inputs{Value(Tensor::of<std::int64_t>({1, 4}, {3, 1, 4, 1}))};
        exec::Runner runner(1);
        const Recording all = runner.run(*Plan::make(graph, {.watchAll = true}).value(), inputs);
        QVERIFY(!all.error && all.value(call));
        exec::PlanOptions options;
        options.watch = {call};
        options.end = {end};
        const Recording recording = runner.run(*Plan::make(graph, options).value(), inputs);
        QVERIFY(!recording.error);
        QVERIFY(tensor::identical(recording.outputs.front(), *all.value(end)));
        QVERIFY(recording.value(call));
        QVERIFY(tensor::identical(*recording.value(call), *all.value(call)));
        QCOMPARE(recording.iterations(call), std::size_t{1});
        QCOMPARE(recording.state(graph->node(call).producer), exec::ExprState::Done);
    }
};

QTEST_GUILESS_MAIN(TestWatchedCalls)

}  // namespace tst_watched_calls

#include "tst_watched_calls.moc"
