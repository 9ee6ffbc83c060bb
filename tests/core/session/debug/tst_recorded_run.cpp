// A run that waits: its steps in order, and the value of every node at every step, whether it was kept in memory, is on
// disk or was computed again. Expected values are those of a run that nobody debugs.

#include <QtTest>

#include <chrono>
#include <random>

#include "core/document/document.h"
#include "core/io/npz/npz.h"
#include "core/session/debug/recorded_run.h"
#include "core/session/read_inputs.h"
#include "tests/support/random_graph.h"

namespace tst_recorded_run {

using namespace sonde;
using namespace session::debug;
using exec::Plan;
using exec::Recording;
using exec::Runner;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;
using test::RandomGraph;

namespace {

constexpr std::uint64_t kSeed = 7;

/// A run of a graph and what each of its values has to be.
struct Both {
    std::shared_ptr<const InternalGraph> graph;
    std::unique_ptr<RecordedRun> run;
    Recording plain;

    Both(std::shared_ptr<const InternalGraph> given, const std::vector<Value>& inputs, KeptLimits limits = {})
        : graph(std::move(given)) {
        const auto plan = Plan::make(graph, {.watchAll = true}).value();
        exec::RunOptions options;
        options.seed = kSeed;
        plain = Runner(1).run(*plan, inputs, {}, options);
        run = std::make_unique<RecordedRun>(
            RecordedTask{plan, inputs, std::make_shared<Runner>(2), kSeed, std::move(limits)});
    }

    void toTheEnd() const {
        while (!run->hasEnded()) run->advance({});
    }

    /// Of an operation's result; null if the plain run has none.
    const Value* expected(ItemId item, NodeId node) const {
        return plain.value(node, run->trace().countBefore(run->trace()[item].expr, item));
    }

    /// Empty if an item's results are what they have to be.
    std::string wrongAt(ItemId item) const {
        const Item& at = run->trace()[item];
        if (at.kind != Item::Kind::Operation) return {};
        for (const NodeId node : graph->expr(at.expr).outputs) {
            const Value* const due = expected(item, node);
            const auto value = run->value(node, item, true);
            const std::string place = graph->node(node).name + " at " + std::to_string(item);
            if (!due) return place + " has no value in the plain run";
            if (!value) return place + ": " + value.error().text();
            if (!tensor::identical(*value, *due)) return place + " is another value";
        }
        return {};
    }

    std::string wrongAnywhere() const {
        for (ItemId item = 0; item < run->trace().size(); ++item)
            if (std::string wrong = wrongAt(item); !wrong.empty()) return wrong;
        return {};
    }
};

Both ofModel(const std::string& name, const KeptLimits& limits = {}, const std::string& data = "") {
    const std::string folder = SONDE_TEST_DATA "/models/";
    auto document = document::open(folder + name).value();
    const std::string archive = folder + name.substr(0, name.find('.')) + ".npz";
    const auto cases = session::readCases(*document, {data.empty() ? archive : data, "bgr", 0}).value();
    return {document->graph, cases.front().values, limits};
}

KeptLimits limits(std::size_t memory, std::size_t disk) { return {memory, disk, {}}; }

std::vector<std::string> listing(const RecordedRun& run) {
    std::vector<std::string> lines;
    const InternalGraph& graph = run.graph();
    for (ItemId i = 0; i < run.trace().size(); ++i) {
        const Item& item = run.trace()[i];
        std::string line(std::size_t{2} * item.depth, ' ');
        if (item.kind == Item::Kind::Module) line += "[" + graph.scope(item.scope).qualname + "]";
        else if (item.kind == Item::Kind::Body) line += "#" + std::to_string(item.iteration);
        else line += graph.node(graph.expr(item.expr).outputs.front()).name;
        lines.push_back(line);
    }
    return lines;
}

}  // namespace

class TestRecordedRun : public QObject {
    Q_OBJECT

  private slots:
    /// Modules and their operations as shared/models/*.fx.txt lists them.
    void itemsAreThoseOfTheModel() {
        const Both both = ofModel("nested_containers.onnx");
        both.toTheEnd();
        QVERIFY(!both.run->recording()->error);
        const RecordedRun& run = *both.run;
        std::size_t operations = 0, modules = 0;
        for (ItemId i = 0; i < run.trace().size(); ++i) {
            const Item& item = run.trace()[i];
            operations += item.kind == Item::Kind::Operation ? 1 : 0;
            modules += item.kind == Item::Kind::Module ? 1 : 0;
            QVERIFY(run.trace().isDone(i));
            QVERIFY(item.parent == kNoItem || (item.parent < i && run.trace()[item.parent].end >= item.end));
        }
        QCOMPARE(operations, run.plan().steps().size());
        QVERIFY(modules > 0);
    }

    /// Worked by hand from the model's source: a loop whose body is done again and again, one iteration inside of the
    /// other's place.
    void loopsHaveIterations() {
        const Both both = ofModel("control_flow.onnx");
        both.toTheEnd();
        const Trace& trace = both.run->trace();
        std::size_t iterations = 0;
        for (ItemId i = 0; i < trace.size(); ++i) {
            if (trace[i].kind != Item::Kind::Body || trace[i].iteration < 0) continue;
            ++iterations;
            QCOMPARE(trace.passOf(i).back(), trace[i].iteration);
            QCOMPARE(trace.around(i + 1), trace[i].parent);
            const ItemId before = trace.previousBeside(i);
            QCOMPARE(before == trace[i].parent, trace[i].iteration == 0);
            if (before != trace[i].parent) QCOMPARE(trace[before].iteration, trace[i].iteration - 1);
        }
        QVERIFY2(iterations > 1, qPrintable(QString::number(iterations)));
    }

    void valuesAreThoseOfAPlainRun_data() {
        QTest::addColumn<QString>("file");
        for (const char* file : {"control_flow.onnx", "control_flow.script.pt", "lstm_classifier.script.pt",
                                 "nested_containers.trace.pt", "gpt_mini.onnx", "silero_vad_v5.onnx"})
            if (QFile::exists(QStringLiteral(SONDE_TEST_DATA "/models/") + file)) QTest::addRow("%s", file) << file;
    }
    void valuesAreThoseOfAPlainRun() {
        QFETCH(QString, file);
        const Both both = ofModel(file.toStdString());
        both.toTheEnd();
        QVERIFY2(!both.run->recording()->error, both.plain.error ? both.plain.error->text().c_str() : "");
        QVERIFY(both.run->trace().size() > 5);
        const std::string wrong = both.wrongAnywhere();
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void stepsComeOneByOne() {
        const Both both = ofModel("control_flow.onnx");
        RecordedRun& run = *both.run;
        std::size_t steps = 0;
        while (!run.hasEnded()) {
            const std::size_t before = run.trace().size();
            run.advance({[](ItemId) { return true; }, 0, kNoItem});
            if (run.hasEnded()) break;
            ++steps;
            QVERIFY(run.trace().size() > before);
            // What comes next has begun and is not done.
            const auto last = static_cast<ItemId>(run.trace().size() - 1);
            QVERIFY(!run.trace().isDone(last));
            for (const NodeId node : run.graph().expr(run.trace()[last].expr).outputs)
                QVERIFY(run.itemOf(node, last, true) != last);
        }
        QVERIFY(steps > 10);
        const std::string wrong = both.wrongAnywhere();
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// Of what is around others it is their sum, however long the run waited in between.
    void timesAreThoseOfTheOperations() {
        const Both both = ofModel("nested_containers.trace.pt");
        const double start = static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
        std::int64_t waited = 0;
        while (!both.run->hasEnded()) {
            both.run->advance({[](ItemId) { return true; }, 0, kNoItem});
            QTest::qWait(1);
            waited += 1'000'000;
        }
        const double all = static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count()) - start;
        const Trace& trace = both.run->trace();
        std::int64_t outermost = 0, innermost = 0;
        for (ItemId item = 0; item < trace.size(); ++item) {
            if (trace[item].depth == 0) outermost += trace.elapsedNs(item);
            innermost += trace[item].elapsedNs;
        }
        QVERIFY(outermost > 0);
        QCOMPARE(outermost, innermost);
        QVERIFY(static_cast<double>(outermost) <= all - static_cast<double>(waited));
    }

    void aRunThatIsLeftEndsAtOnce() {
        Both both = ofModel("gpt_mini.onnx");
        both.run->advance({[](ItemId item) { return item == 10; }, 0, kNoItem});
        QVERIFY(!both.run->hasEnded());
        QCOMPARE(both.run->trace().size(), std::size_t{11});
        both.run.reset();
        QVERIFY(!both.run);
    }

    /// The same bits from disk, and computed again from what is left, random numbers included.
    void valuesComeBack_data() {
        QTest::addColumn<qulonglong>("memory");
        QTest::addColumn<qulonglong>("disk");
        QTest::newRow("all on disk") << qulonglong{0} << ~qulonglong{0};
        QTest::newRow("some in memory, some on disk") << qulonglong{20'000} << ~qulonglong{0};
        QTest::newRow("all computed again") << qulonglong{0} << qulonglong{0};
        QTest::newRow("some in memory, others computed again") << qulonglong{20'000} << qulonglong{0};
        QTest::newRow("some in memory, some on disk, others computed again") << qulonglong{8'000} << qulonglong{9'000};
    }
    void valuesComeBack() {
        QFETCH(qulonglong, memory);
        QFETCH(qulonglong, disk);
        std::size_t computedAgain = 0, onDisk = 0;
        for (unsigned seed = 1; seed <= 60; ++seed) {
            const RandomGraph random(seed, true);
            const Both both(random.graph, random.inputs, limits(memory, disk));
            both.toTheEnd();
            QVERIFY2(!both.run->recording()->error, qPrintable(QString::number(seed)));
            std::mt19937 engine(seed);
            std::uniform_int_distribution<ItemId> any(0, static_cast<ItemId>(both.run->trace().size() - 1));
            for (int step = 0; step < 100; ++step) {
                const std::string wrong = both.wrongAt(any(engine));
                QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
            }
            computedAgain += both.run->computedAgain();
            onDisk += both.run->kept().diskBytes();
        }
        QCOMPARE(computedAgain > 0, disk < 10'000);
        QCOMPARE(onDisk > 0, disk > 0);
    }

    void aThousandStepsBothWays_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<qulonglong>("disk");
        for (const char* file : {"control_flow.onnx", "control_flow.script.pt", "lstm_classifier.script.pt",
                                 "gpt_mini.onnx", "mlp_functional.onnx"})
            for (const qulonglong disk : {qulonglong{0}, qulonglong{1} << 30})
                QTest::addRow("%s, %s", file, disk ? "disk" : "computed again") << file << disk;
    }
    void aThousandStepsBothWays() {
        QFETCH(QString, file);
        QFETCH(qulonglong, disk);
        const Both both = ofModel(file.toStdString(), limits(4'096, disk));
        std::mt19937 engine(3);
        ItemId at = 0;
        for (int step = 0; step < 1'000; ++step) {
            const auto ahead = static_cast<ItemId>(engine() % 12);
            if (engine() % 2 == 0) at = at > ahead ? at - ahead : 0;
            else at += ahead;
            while (!both.run->hasEnded() && both.run->trace().size() <= at)
                both.run->advance({[at](ItemId item) { return item >= at; }, 0, kNoItem});
            at = std::min(at, static_cast<ItemId>(both.run->trace().size() - 1));
            QVERIFY(both.run->finish(at));
            const std::string wrong = both.wrongAt(at);
            QVERIFY2(wrong.empty(), wrong.c_str());
        }
    }

    /// What is in memory at any time, by count; on disk there is room for all.
    void memoryStaysWithinItsLimit() {
        constexpr std::size_t kMemory = 40'000;
        const Both both = ofModel("gpt_mini.onnx", limits(kMemory, std::size_t{1} << 30));
        std::size_t most = 0;
        while (!both.run->hasEnded()) {
            both.run->advance({[](ItemId) { return true; }, 0, kNoItem});
            most = std::max(most, both.run->kept().memoryBytes());
        }
        QVERIFY2(most <= kMemory, qPrintable(QString::number(most)));
        QVERIFY(both.run->kept().diskBytes() > 10 * kMemory);
        const std::string wrong = both.wrongAnywhere();
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(both.run->kept().memoryBytes() <= kMemory);
    }

    /// A called module is a level of its own, with what it does inside. From the listing of the model.
    void callsHoldTheirOperations() {
        const Both both = ofModel("nested_containers.trace.pt");
        both.toTheEnd();
        const std::vector<std::string> lines = listing(*both.run);
        const std::vector<std::string> expected{"[stem]",       "  [stem.0]",
                                                "    stem_0_0", "      stem_0_0/_convolution",
                                                "    stem_0_1", "      stem_0_1/hardtanh",
                                                "  stem_1"};
        QVERIFY(lines.size() > expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) QCOMPARE(lines[i], expected[i]);
    }

    /// An operation alone, on the values that it had: here in the second of two iterations, with random numbers.
    void anOperationIsDoneAgain() {
        std::size_t again = 0;
        for (unsigned seed = 1; seed <= 20; ++seed) {
            const RandomGraph random(seed, true);
            const Both both(random.graph, random.inputs);
            both.toTheEnd();
            const Trace& trace = both.run->trace();
            const std::vector<bool> can = exec::replayable(both.run->plan());
            for (ItemId item = 0; item < trace.size(); ++item) {
                if (trace[item].kind != Item::Kind::Operation || !can[trace[item].expr.index()]) continue;
                const auto outputs = both.run->doAgain(item);
                QVERIFY2(outputs, outputs ? "" : outputs.error().text().c_str());
                const auto& nodes = both.graph->expr(trace[item].expr).outputs;
                for (std::size_t i = 0; i < nodes.size(); ++i)
                    QVERIFY(tensor::identical((*outputs)[i], *both.expected(item, nodes[i])));
                ++again;
            }
        }
        QVERIFY(again > 200);
    }
};

QTEST_GUILESS_MAIN(TestRecordedRun)

}  // namespace tst_recorded_run

#include "tst_recorded_run.moc"
