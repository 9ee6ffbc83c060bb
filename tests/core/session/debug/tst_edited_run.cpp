// A run with edits that takes what they leave as it is from another run: at every step it has the values of a plain run
// of everything with the same edits (which tst_edits compares with other graphs).

#include <QtTest>

#include <random>

#include "core/exec/dependants.h"
#include "core/exec/flatten.h"
#include "core/session/debug/place.h"
#include "tests/support/random_graph.h"

namespace tst_edited_run {

using namespace sonde;
using namespace session::debug;
using exec::Edits;
using exec::Plan;
using exec::Recording;
using exec::Runner;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;
using test::RandomGraph;

namespace {

constexpr std::uint64_t kSeed = 7;

/// Some values of float32 times a number.
std::shared_ptr<const Edits> someEdits(const InternalGraph& graph, const Recording& plain, std::mt19937& engine) {
    auto edits = std::make_shared<Edits>();
    const std::vector<NodeId> sources = exec::valueSources(graph);
    for (int tries = 0; tries < 200 && edits->values.size() < 1 + engine() % 2; ++tries) {
        const NodeId node(engine() % graph.nodeCount());
        const bool isInput = graph.expr(graph.node(node).producer).kind == graph::ExprKind::Input &&
                             graph.expr(graph.node(node).producer).body == graph.mainId();
        if (sources[node.index()] != node || isInput || graph.node(node).constant || plain.iterations(node) == 0)
            continue;
        const Value& value = *plain.value(node);
        if (!value.isTensor() || value.tensor().dtype() != tensor::DType::Float32) continue;
        const float factor = engine() % 2 ? 0.5F : -2.0F;
        edits->values.push_back(
            {node, {}, [factor](const Value& before, std::span<const Value>) -> base::Result<Value> {
                 SONDE_ASSIGN(Tensor copy, before.tensor().clone());
                 for (float& x : copy.mutableSpan<float>()) x *= factor;
                 return Value(std::move(copy));
             }});
    }
    return edits;
}

std::string wrongIn(RecordedRun& run, const Recording& expected, int seed) {
    for (ItemId item = 0; item < run.trace().size(); ++item) {
        const Item& at = run.trace()[item];
        if (at.kind != Item::Kind::Operation || !run.trace().isDone(item)) continue;
        for (const NodeId node : run.graph().expr(at.expr).outputs) {
            const Value* const due = expected.value(node, run.trace().countBefore(at.expr, item));
            const auto value = run.value(node, item, true);
            const std::string place = "seed " + std::to_string(seed) + ", " + run.graph().node(node).name;
            if (!due) return place + " has no value in the plain run";
            if (!value) return place + ": " + value.error().text();
            if (!tensor::identical(*value, *due)) return place + " is another value";
        }
    }
    return {};
}

}  // namespace

class TestEditedRun : public QObject {
    Q_OBJECT

  private slots:
    void valuesAreThoseOfAPlainRun_data() {
        QTest::addColumn<int>("first");
        QTest::addColumn<int>("memory");
        for (int first = 0; first < 120; first += 40) {
            QTest::addRow("in memory, seeds from %d", first) << first << (1 << 30);
            QTest::addRow("computed again, seeds from %d", first) << first << 2000;
        }
    }
    void valuesAreThoseOfAPlainRun() {
        QFETCH(int, first);
        QFETCH(int, memory);
        std::size_t taken = 0;
        for (int seed = first; seed < first + 40; ++seed) {
            RandomGraph random(static_cast<unsigned>(seed), seed % 2 == 1);
            const InternalGraph& graph = *random.graph;
            const auto runner = std::make_shared<Runner>(2);
            const auto planWith = [&](std::shared_ptr<const Edits> edits) {
                exec::PlanOptions options;
                options.watchAll = true;
                options.edits = std::move(edits);
                return Plan::make(random.graph, options).value();
            };
            const auto plainOf = [&](const std::shared_ptr<const Plan>& plan) {
                return Runner(1).run(*plan, random.inputs, {}, {.seed = kSeed});
            };
            const auto taskOf = [&](std::shared_ptr<const Plan> plan, std::shared_ptr<RecordedRun> base) {
                const KeptLimits limits{static_cast<std::size_t>(memory), 0, {}};
                return RecordedTask{std::move(plan), random.inputs, runner, kSeed, limits, std::move(base)};
            };
            const auto plainPlan = planWith(nullptr);
            const Recording plain = plainOf(plainPlan);
            std::mt19937 engine(static_cast<unsigned>(seed));
            const auto editedPlan = planWith(someEdits(graph, plain, engine));
            const Recording edited = plainOf(editedPlan);
            if (edited.error || plain.error) continue;
            // The base stands somewhere, or is at its end.
            const auto base = std::make_shared<RecordedRun>(taskOf(plainPlan, nullptr));
            const ItemId until = engine() % 2 ? kNoItem : static_cast<ItemId>(engine() % 20);
            base->advance({[&](ItemId item) { return item >= until; }, 0, kNoItem});
            const auto run = std::make_shared<RecordedRun>(taskOf(editedPlan, base));
            const std::size_t steps = base->trace().size();
            const Place there = base->hasEnded() ? Place{kNoItem, true, Reason::End, {}}
                                                 : Place{static_cast<ItemId>(steps - 1), false, Reason::Step, {}};
            const Place place = follow(*run, *base, there, {});
            QCOMPARE(place.isEnd, there.isEnd);
            QCOMPARE(run->hasEnded(), base->hasEnded());
            std::string wrong = wrongIn(*run, edited, seed);
            QVERIFY2(wrong.empty(), wrong.c_str());
            while (!run->hasEnded()) run->advance({});
            wrong = wrongIn(*run, edited, seed);
            QVERIFY2(wrong.empty(), wrong.c_str());
            // And the way back: a run without edits that is based on the one with them.
            const auto back = std::make_shared<RecordedRun>(taskOf(plainPlan, run));
            while (!back->hasEnded()) back->advance({});
            wrong = wrongIn(*back, plain, seed);
            QVERIFY2(wrong.empty(), wrong.c_str());
            while (!base->hasEnded()) base->advance({});
            wrong = wrongIn(*base, plain, seed);
            QVERIFY2(wrong.empty(), wrong.c_str());
            taken += run->takenOver();
            // What depends on the edits is done, nothing else that the base has done.
            const exec::Dependants reached = exec::dependantsOf(graph, *editedPlan->options().edits);
            std::size_t due = 0;
            for (ItemId item = 0; item < steps; ++item) {
                const Item& at = base->trace()[item];
                const bool isLeaf = at.kind == Item::Kind::Operation && graph.expr(at.expr).bodies.empty() &&
                                    graph.expr(at.expr).kind != graph::ExprKind::Output;
                if (until == kNoItem && isLeaf && !reached.exprs[at.expr.index()]) ++due;
            }
            if (until == kNoItem) QCOMPARE(run->takenOver(), due);
        }
        QVERIFY(taken > 40);
    }
};

QTEST_GUILESS_MAIN(TestEditedRun)

}  // namespace tst_edited_run

#include "tst_edited_run.moc"
