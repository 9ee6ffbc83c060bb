// Plans that compute values again instead of keeping them. Bytes are worked by hand: rows of 1024 floats are 4096
// bytes.

#include <QTest>

#include "core/base/random.h"
#include "core/document/document.h"
#include "core/document/evaluator.h"
#include "core/document/input_infos.h"
#include "core/exec/recompute.h"
#include "core/exec/recompute_schedule.h"
#include "core/exec/row_memory.h"
#include "core/io/inputs/inputs.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/trace/module_path_tracer.h"
#include "tests/core/trace/traced_text.h"

namespace tst_recompute {

using namespace sonde;
using exec::Measurement;
using exec::Plan;
using exec::Recomputed;
using exec::Schedule;
using tensor::Value;
using trace::Var;

namespace {

using In = std::span<const Var>;
using PlanPtr = std::shared_ptr<const Plan>;
constexpr std::int64_t kRow = 4096;

Value row(std::int64_t rows = 1) {
    std::vector<float> values;
    base::Random random(7);
    for (std::int64_t i = 0; i < rows * 1024; ++i) values.push_back(static_cast<float>(random.uniform()) - 0.5F);
    return test::floats({rows, 1024}, values);
}

Var sumOfRows(const Var& x) { return x.method("sum", {Var(std::vector<std::int64_t>{0}), Var(true)}, {}); }

/// The first value waits while the middle takes three rows.
Var longSkip(In in) {
    const Var first = in[0] + 1;
    const Var second = first * 2;
    const Var wide = nn::cat({second, second, second}, 0);
    return sumOfRows(wide) + first;
}

/// A plan, what it was measured on, and what that gave.
struct Measured {
    PlanPtr plan;
    std::vector<Value> inputs;
    Measurement measurement;
    std::vector<Value> outputs;
};

Measured measured(std::shared_ptr<const graph::InternalGraph> graph, std::vector<Value> inputs) {
    exec::Runner runner(1);
    const PlanPtr plan = *Plan::make(std::move(graph), {});
    auto made = exec::measure(runner, *plan, inputs);
    if (!made) qFatal("%s", made.error().text().c_str());
    exec::Recording run = runner.run(*plan, inputs);
    return {plan, std::move(inputs), std::move(*made), std::move(run.outputs)};
}

Measured measured(const std::function<Var(In)>& function, std::vector<Value> inputs) {
    const trace::EvaluatorScope evaluator(document::kernelEvaluator());
    trace::ModulePathTracer tracer;
    auto graph = tracer.trace(function, {{"x", std::nullopt, false, true}});
    if (!graph) qFatal("%s", graph.error().text().c_str());
    return measured(std::shared_ptr<const graph::InternalGraph>(std::move(*graph)), std::move(inputs));
}

std::int64_t peakOf(const Measured& of) { return exec::rowMemory(*of.plan, of.measurement, false).peakBytes; }
std::int64_t peakOf(const Measured& of, const Recomputed& made) {
    return exec::rowMemory(**Plan::make(made.graph, {}), of.measurement, false, made.origin).peakBytes;
}

/// Empty if the graph is valid and gives the same bits; else what is wrong.
std::string problemOf(const Measured& of, const Recomputed& made) {
    if (const auto valid = made.graph->validate(); !valid) return valid.error().text();
    if (made.origin.size() != made.graph->nodeCount()) return "not every node has an origin";
    exec::Runner runner(1);
    const exec::Recording run = runner.run(**Plan::make(made.graph, {}), of.inputs);
    if (run.error) return run.error->text();
    if (run.outputs.size() != of.outputs.size()) return "another count of outputs";
    for (std::size_t i = 0; i < run.outputs.size(); ++i) {
        if (!tensor::identical(run.outputs[i], of.outputs[i])) return "output " + std::to_string(i) + " differs";
    }
    return {};
}

exec::DtrOptions limit(std::int64_t bytes) {
    exec::DtrOptions options;
    options.evictionThreshold = bytes;
    options.evicteeMinimumSize = 0;
    return options;
}

}  // namespace

class TestRecompute : public QObject {
    Q_OBJECT

  private slots:
    void rowsOfMemory() {
        const Measured skip = measured(longSkip, {row()});
        const exec::RowMemory table = exec::rowMemory(*skip.plan, skip.measurement, false);
        std::vector<std::int64_t> bytes, after;
        for (const auto& each : table.rows) {
            bytes.push_back(each.bytes / kRow);
            after.push_back(each.bytesAfter / kRow);
        }
        // add, mul, cat, sum, add, output
        QCOMPARE(bytes, (std::vector<std::int64_t>{1, 2, 5, 5, 3, 1}));
        QCOMPARE(after, (std::vector<std::int64_t>{1, 2, 4, 2, 1, 1}));
        QCOMPARE(table.peakBytes, 5 * kRow);
        QCOMPARE(table.peakRow, 2U);
    }

    void viewsHaveTheMemoryOfTheirTensor() {
        const Measured views = measured(
            [](In in) {
                const Var made = in[0] + 1;
                const Var view = made.method("view", {Var(std::vector<std::int64_t>{1024})}, {});
                return view * 2;
            },
            {row()});
        QCOMPARE(peakOf(views), 2 * kRow);
        // A view of an input takes nothing.
        const Measured input = measured(
            [](In in) { return in[0].method("view", {Var(std::vector<std::int64_t>{1024})}, {}) * 2; }, {row()});
        QCOMPARE(peakOf(input), kRow);
    }

    void sublinearDropsWhatWaits() {
        const Measured skip = measured(longSkip, {row()});
        const auto made = exec::recomputeSublinear(*skip.plan, skip.measurement);
        QVERIFY(made);
        QCOMPARE(made->repeatedSteps, 1U);
        QVERIFY(made->graph->findNode("add_again").valid());
        QCOMPARE(peakOf(skip), 5 * kRow);
        QCOMPARE(peakOf(skip, *made), 4 * kRow);
        QCOMPARE(problemOf(skip, *made), std::string());
    }

    void dtrKeepsWithinTheLimit() {
        const Measured skip = measured(longSkip, {row()});
        const auto made = exec::recomputeDtr(*skip.plan, skip.measurement, limit(4 * kRow));
        QVERIFY(made);
        QCOMPARE(made->repeatedSteps, 1U);
        QCOMPARE(peakOf(skip, *made), 4 * kRow);
        QCOMPARE(problemOf(skip, *made), std::string());
        // Enough memory, or values too small to go: nothing is done twice.
        exec::DtrOptions small = limit(4 * kRow);
        small.evicteeMinimumSize = kRow + 1;
        for (const exec::DtrOptions& options : {limit(5 * kRow), small}) {
            const auto same = exec::recomputeDtr(*skip.plan, skip.measurement, options);
            QCOMPARE(same->repeatedSteps, 0U);
            QCOMPARE(same->graph, skip.plan->sharedGraph());
        }
    }

    void dtrEvictsWhatIsCheap() {
        const auto function = [](In in) {
            const Var one = in[0] + 1, two = in[0] - 2;
            const Var wide = nn::cat({in[0], in[0], in[0]}, 0);
            return sumOfRows(wide) + one + two;
        };
        for (const bool firstIsCheap : {true, false}) {
            Measured both = measured(function, {row()});
            const graph::InternalGraph& graph = both.plan->graph();
            const auto set = [&](const char* name, std::int64_t ns) {
                both.measurement.elapsedNs[graph.node(graph.findNode(name)).producer.index()] = ns;
            };
            set("add", firstIsCheap ? 1 : 1'000'000'000);
            set("sub", firstIsCheap ? 1'000'000'000 : 1);
            const auto made = exec::recomputeDtr(*both.plan, both.measurement, limit(5 * kRow));
            QVERIFY(made);
            QCOMPARE(made->graph->findNode("add_again").valid(), firstIsCheap);
            QCOMPARE(made->graph->findNode("sub_again").valid(), !firstIsCheap);
            QCOMPARE(made->repeatedNs, std::int64_t{1});
            QCOMPARE(problemOf(both, *made), std::string());
        }
    }

    void whatIsNeverDoneAgain() {
        const Measured mixed = measured(
            [](In in) {
                const Var random = nn::dropout(in[0], 0.5, true);
                const Var pure = in[0] * 2;
                const Var written = (pure + 1).method("mul_", {Var(3)}, {});
                const Var wide = nn::cat({written, written, written}, 0);
                return sumOfRows(wide) + random;
            },
            {row()});
        const Schedule schedule(*mixed.plan, mixed.measurement);
        std::map<std::string, bool> repeats;
        for (const Schedule::Unit& unit : schedule.units()) {
            const graph::Expr& expr = mixed.plan->graph().expr(unit.expr);
            repeats[expr.op.name.empty() ? expr.target : expr.op.name.substr(0, expr.op.name.find('.'))] =
                unit.isRepeatable;
        }
        QVERIFY(!repeats.at("dropout") && !repeats.at("mul_") && !repeats.at("output"));
        QVERIFY(repeats.at("mul") && repeats.at("add") && repeats.at("cat") && repeats.at("sum"));
        // The random value waits, as the first one of longSkip does, and stays.
        for (const auto& made : {exec::recomputeSublinear(*mixed.plan, mixed.measurement),
                                 exec::recomputeDtr(*mixed.plan, mixed.measurement, limit(4 * kRow))}) {
            QVERIFY(made);
            QVERIFY(!made->graph->findNode("dropout_again").valid());
            QCOMPARE(problemOf(mixed, *made), std::string());
        }
    }

    void whatIsWatchedStays() {
        const Measured skip = measured(longSkip, {row()});
        exec::PlanOptions options;
        options.watch = {skip.plan->graph().findNode("add")};
        const PlanPtr plan = *Plan::make(skip.plan->sharedGraph(), options);
        const auto made = exec::recomputeSublinear(*plan, skip.measurement);
        QCOMPARE(made->repeatedSteps, 0U);
    }

    void badOptions() {
        const Measured skip = measured(longSkip, {row()});
        exec::SublinearOptions sublinear;
        sublinear.threshNrTry = -1;
        const auto negative = exec::recomputeSublinear(*skip.plan, skip.measurement, sublinear);
        QCOMPARE(negative.error().what, std::string("thresh_nr_try must be 0 or more"));
        QCOMPARE(negative.error().exitStatus(), 2);
        sublinear = {};
        sublinear.numWorker = 0;
        QVERIFY(!exec::recomputeSublinear(*skip.plan, skip.measurement, sublinear));
        QCOMPARE(exec::recomputeDtr(*skip.plan, skip.measurement, {}).error().what,
                 std::string("eviction_threshold must be above 0"));
        QVERIFY(exec::SublinearOptions::defaultWorkers() >= 1);
    }

    /// Any program: the same bits, and the table of the new plan agrees with the schedule that it was made from.
    void randomPrograms() {
        std::size_t repeated = 0;
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            const Measured program = measured(
                [seed](In in) {
                    base::Random random(seed);
                    std::vector<Var> made{in[0] + 1};
                    for (int i = 0; i < 25; ++i) {
                        const Var& a = made[random() % made.size()];
                        const Var& b = made[random() % made.size()];
                        switch (random() % 4) {
                            case 0: made.push_back(a + b); break;
                            case 1: made.push_back(nn::tanh(a * b)); break;
                            case 2: made.push_back(sumOfRows(nn::cat({a, b, a}, 0))); break;
                            default:
                                made.push_back(a.method("view", {Var(std::vector<std::int64_t>{1, 1024})}, {}));
                                break;
                        }
                    }
                    return Var::tuple({made.back(), made[random() % made.size()]});
                },
                {row()});
            const Schedule schedule(*program.plan, program.measurement);
            const std::int64_t before = schedule.costOf(schedule.plain()).peakBytes;
            QCOMPARE(before, peakOf(program));
            for (int percent = 40; percent <= 90; percent += 10) {
                const auto made = exec::recomputeDtr(*program.plan, program.measurement, limit(before * percent / 100));
                if (!made) continue;  // too much would have to be done again
                repeated += made->repeatedSteps;
                QCOMPARE(problemOf(program, *made), std::string());
                QVERIFY(peakOf(program, *made) <= before);
                const auto sequence = exec::dtrSequence(schedule, limit(before * percent / 100));
                if (made->repeatedSteps > 0) QCOMPARE(schedule.costOf(*sequence).peakBytes, peakOf(program, *made));
            }
            exec::SublinearOptions options;
            options.geneticNrIter = 3;
            const auto made = exec::recomputeSublinear(*program.plan, program.measurement, options);
            repeated += made->repeatedSteps;
            QCOMPARE(problemOf(program, *made), std::string());
            const auto plain = exec::recomputeSublinear(*program.plan, program.measurement);
            QVERIFY(peakOf(program, *made) <= peakOf(program, *plain));  // the genetic search starts there
            QVERIFY(peakOf(program, *plain) <= before);
        }
        QVERIFY(repeated > 100);
    }

    /// Calls of modules are copied with what is inside.
    void calledModules() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = test::custom("Net", [](test::Custom& self, In in) {
            const Var first = self.at("first")(in[0]);
            const Var second = self.at("second")(first);
            const Var wide = nn::cat({second, second, second}, 0);
            return sumOfRows(wide) + first;
        });
        net->addChild("first", std::make_shared<nn::Linear>(64, 64));
        net->addChild("second", std::make_shared<nn::Linear>(64, 64));
        trace::ModulePathTracer tracer;
        const auto graph = tracer.trace(net);
        QVERIFY2(graph, graph ? "" : graph.error().text().c_str());
        std::vector<float> values(16 * 64, 0.25F);
        const Measured of = measured(*graph, {test::floats({16, 64}, values)});
        const auto made = exec::recomputeSublinear(*of.plan, of.measurement);
        QCOMPARE(made->repeatedSteps, 1U);
        QCOMPARE(made->graph->bodyCount(), of.plan->graph().bodyCount() + 1);
        QCOMPARE(problemOf(of, *made), std::string());
        QCOMPARE(peakOf(of), 5 * kRow);
        QCOMPARE(peakOf(of, *made), 4 * kRow);
    }

    void models_data() {
        QTest::addColumn<QString>("model");
        QTest::newRow("skips over a U") << "zoo:unet_small";
        QTest::newRow("blocks") << "zoo:blocks_net";
    }
    void models() {
        QFETCH(QString, model);
        const auto document = document::open(model.toStdString());
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        const auto cases = io::makeInputs("", document::inputInfos(**document), {}, {});
        const Measured of = measured((*document)->graph, cases->front().values);
        const std::int64_t before = peakOf(of);
        const auto sublinear = exec::recomputeSublinear(*of.plan, of.measurement);
        QVERIFY(sublinear);
        QCOMPARE(problemOf(of, *sublinear), std::string());
        QVERIFY(peakOf(of, *sublinear) <= before);
        const auto dtr = exec::recomputeDtr(*of.plan, of.measurement, limit(before * 9 / 10));
        QVERIFY(dtr);
        QCOMPARE(problemOf(of, *dtr), std::string());
    }
};

QTEST_GUILESS_MAIN(TestRecompute)

}  // namespace tst_recompute

#include "tst_recompute.moc"
