// Graphs made at random: whatever is watched or ended at, however many threads, each value has the bits that it has
// when every step runs by itself.

#include <QtTest>

#include "core/exec/runner.h"
#include "tests/support/random_graph.h"

namespace tst_random_graphs {

using namespace sonde;
using exec::Plan;
using exec::PlanOptions;
using exec::Recording;
using exec::Runner;
using graph::InternalGraph;
using graph::NodeId;
using test::RandomGraph;

namespace {

/// Looks at every step, so that each runs by itself.
class Watcher final : public exec::RunObserver {};

}  // namespace

class TestRandomGraphs : public QObject {
    Q_OBJECT

  private slots:
    void everyValueHasTheBitsOfItsOwnStep_data() {
        QTest::addColumn<int>("first");
        for (int first = 0; first < 400; first += 40) QTest::addRow("seeds from %d", first) << first;
    }
    void everyValueHasTheBitsOfItsOwnStep() {
        QFETCH(int, first);
        for (int seed = first; seed < first + 40; ++seed) {
            RandomGraph random(static_cast<unsigned>(seed));
            const InternalGraph& graph = *random.graph;
            QVERIFY2(graph.validate().has_value(), qPrintable(QString::number(seed)));
            Watcher watcher;
            Runner one(1), two(2);
            const Recording expected = one.run(*Plan::make(random.graph, {.watchAll = true}).value(), random.inputs, {},
                                               {.observer = &watcher});
            QVERIFY2(!expected.error,
                     expected.error ? qPrintable(QString::number(seed) + QString::fromStdString(expected.error->text()))
                                    : "");
            for (int round = 0; round < 6; ++round) {
                PlanOptions options;
                options.watchAll = round == 0;
                for (std::int64_t i = random.pick(4); round > 1 && i > 0; --i)
                    options.watch.push_back(
                        NodeId(static_cast<std::size_t>(random.pick(static_cast<std::int64_t>(graph.nodeCount())))));
                for (std::int64_t i = random.pick(3); round > 3 && i > 0; --i)
                    options.end.push_back(random.ends[static_cast<std::size_t>(
                        random.pick(static_cast<std::int64_t>(random.ends.size())))]);
                const auto plan = Plan::make(random.graph, options).value();
                for (Runner* runner : {&one, &two}) {
                    const Recording recording = runner->run(*plan, random.inputs);
                    const std::string place =
                        "seed " + std::to_string(seed) + ", round " + std::to_string(round) + ": ";
                    QVERIFY2(!recording.error, recording.error ? (place + recording.error->text()).c_str() : "");
                    const std::vector<NodeId>& results = options.end.empty() ? graph.outputs() : options.end;
                    QCOMPARE(recording.outputs.size(), results.size());
                    for (std::size_t i = 0; i < results.size(); ++i) {
                        QVERIFY2(tensor::identical(recording.outputs[i], *expected.value(results[i])),
                                 (place + graph.node(results[i]).name + " given back").c_str());
                    }
                    for (const auto& [node, values] : recording.kept) {
                        QVERIFY2(values.size() <= expected.iterations(node), (place + graph.node(node).name).c_str());
                        for (std::size_t i = 0; i < values.size(); ++i) {
                            QVERIFY2(tensor::identical(values[i], *expected.value(node, i)),
                                     (place + graph.node(node).name + " kept").c_str());
                        }
                    }
                    if (options.end.empty()) {
                        for (NodeId node : options.watch)
                            QCOMPARE(recording.iterations(node), expected.iterations(node));
                    }
                }
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestRandomGraphs)

}  // namespace tst_random_graphs

#include "tst_random_graphs.moc"
