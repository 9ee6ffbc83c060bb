// Random networks that are exported again under other names and in another order, and random budgets for what is
// watched of them. SONDE_RANDOM_SEED=N repeats one.

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace tst_random_watches {

using namespace sonde;
using session::Session;
using tensor::Tensor;
namespace onnx = test::onnxfile;

namespace {

struct Operation {
    const char* op;
    std::vector<int> inputs;  ///< earlier operations; -1: the input
};

/// A random program of element-wise operations; values that nobody reads are outputs.
std::vector<Operation> randomProgram(std::mt19937& random, int count) {
    static constexpr const char* kUnary[] = {"Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Softplus"};
    static constexpr const char* kBinary[] = {"Add", "Mul", "Sub", "Max"};
    std::vector<Operation> program;
    for (int i = 0; i < count; ++i) {
        const auto earlier = [&] { return static_cast<int>(random() % static_cast<unsigned>(std::min(i + 1, 5))); };
        const int first = i - 1 - earlier();
        if (random() % 2 == 0) program.push_back({kUnary[random() % 6], {std::max(first, -1)}});
        else program.push_back({kBinary[random() % 4], {std::max(first, -1), std::max(i - 1 - earlier(), -1)}});
    }
    return program;
}

/// The operations in another order that the program allows.
std::vector<int> otherOrder(std::mt19937& random, const std::vector<Operation>& program) {
    std::vector<int> order;
    std::set<int> done{-1};
    while (order.size() < program.size()) {
        std::vector<int> ready;
        for (int i = 0; i < static_cast<int>(program.size()); ++i)
            if (!done.contains(i) && std::ranges::all_of(program[static_cast<std::size_t>(i)].inputs,
                                                         [&](int input) { return done.contains(input); }))
                ready.push_back(i);
        order.push_back(ready[random() % ready.size()]);
        done.insert(order.back());
    }
    return order;
}

onnx::Graph graphOf(const std::vector<Operation>& program, const std::vector<int>& order, const std::string& prefix) {
    const auto name = [&](int i) { return i < 0 ? std::string("x") : prefix + std::to_string(i); };
    onnx::Graph graph{{}, {onnx::valueInfo("x", 1, {64})}, {}, {}};
    std::set<int> read;
    for (const int i : order) {
        const Operation& operation = program[static_cast<std::size_t>(i)];
        std::vector<std::string> inputs;
        for (const int input : operation.inputs) {
            inputs.push_back(name(input));
            read.insert(input);
        }
        graph.nodes.push_back({operation.op, inputs, {name(i)}});
    }
    for (int i = 0; i < static_cast<int>(program.size()); ++i)
        if (!read.contains(i)) graph.outputs.push_back(onnx::valueInfo(name(i), 1, {64}));
    return graph;
}

}  // namespace

class TestRandomWatches : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    std::string write(const char* file, const onnx::Graph& graph) const {
        const std::string path = m_folder.filePath(QLatin1String(file)).toStdString();
        std::ofstream(path, std::ios::binary) << onnx::model(graph);
        return path;
    }
    static std::vector<unsigned> seeds(unsigned count) {
        if (const unsigned given = qEnvironmentVariable("SONDE_RANDOM_SEED").toUInt()) return {given};
        std::vector<unsigned> seeds;
        for (unsigned seed = 1; seed <= count; ++seed) seeds.push_back(seed);
        return seeds;
    }

  private slots:
    void noRenamedNodeIsTakenForAnother();
    void aBudgetHoldsAndChangesNothing();
};

void TestRandomWatches::noRenamedNodeIsTakenForAnother() {
    int watched = 0, found = 0;
    for (const unsigned seed : seeds(60)) {
        std::mt19937 random(seed);
        const std::vector<Operation> program = randomProgram(random, 10 + static_cast<int>(random() % 40));
        std::vector<int> order(program.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
        Session session;
        QVERIFY(session.open(write("a.onnx", graphOf(program, order, "a"))));
        for (std::size_t i = 0; i < program.size(); ++i)
            session.setWatched(session.document()->graph->findNode("a" + std::to_string(i)), true);
        QCOMPARE(session.points().watched.nodes().size(), program.size());
        QVERIFY(session.open(write("b.onnx", graphOf(program, otherOrder(random, program), "b"))));
        for (std::size_t i = 0; i < program.size(); ++i) {
            ++watched;
            const session::PointSet::Entry& entry = session.points().watched.entries()[i];
            if (!entry.node.valid()) continue;
            ++found;
            QVERIFY2(session.document()->graph->node(entry.node).name == "b" + std::to_string(i),
                     qPrintable(QStringLiteral("seed %1, node %2").arg(seed).arg(i)));
        }
    }
    QVERIFY2(found * 100 >= watched * 95, qPrintable(QStringLiteral("%1 of %2").arg(found).arg(watched)));
}

void TestRandomWatches::aBudgetHoldsAndChangesNothing() {
    for (const unsigned seed : seeds(40)) {
        std::mt19937 random(seed);
        const std::vector<Operation> program = randomProgram(random, 30);
        std::vector<int> order(program.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
        const std::string path = write("c.onnx", graphOf(program, order, "c"));
        std::vector<float> x(64);
        for (float& element : x) element = static_cast<float>(random() % 2001) / 500.0F - 2;
        std::vector<tensor::Value> plain;
        for (const bool isWatched : {false, true}) {
            Session session;
            QVERIFY(session.open(path));
            const std::size_t budget = random() % 9'000;  // 30 values have 7,680 bytes
            if (isWatched) {
                session.runs().setPolicy({static_cast<session::WatchKeep>(random() % 3), budget,
                                          1 + static_cast<std::int64_t>(random() % 70)});
                QVERIFY(session.addWatchGroup({session::WatchGroup::Kind::Everything, ""}));
            }
            session.runs().giveValues({Tensor::of<float>({64}, x)});
            session.runs().run();
            const session::Run& run = session.runs().last();
            QVERIFY(!run.error);
            if (!isWatched) {
                plain = run.recording->outputs;
                continue;
            }
            for (std::size_t i = 0; i < plain.size(); ++i)
                QVERIFY2(tensor::identical(plain[i].tensor(), run.recording->outputs[i].tensor()),
                         qPrintable(QString::number(seed)));
            std::size_t bytes = 0;
            for (const auto& [node, values] : run.recording->kept)
                for (const tensor::Value& value : values) bytes += value.tensor().sizeBytes();
            for (const auto& [node, summary] : run.summaries)
                if (summary.sample.defined()) bytes += summary.sample.sizeBytes();
            QVERIFY2(bytes <= budget, qPrintable(QStringLiteral("seed %1: %2 of %3").arg(seed).arg(bytes).arg(budget)));
            QCOMPARE(run.recording->kept.size() + run.summaries.size(), std::size_t(31));  // with x
        }
    }
}

QTEST_GUILESS_MAIN(TestRandomWatches)

}  // namespace tst_random_watches

#include "tst_random_watches.moc"
