// Watch points on modules, calls, queries and everything; what a budget keeps; points of a model exported again.
// Values are worked by hand.

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <fstream>
#include <random>

#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace tst_watch_points {

using namespace sonde;
using graph::NodeId;
using session::FoundBy;
using session::Session;
using session::WatchGroup;
using session::WatchKeep;
using tensor::Tensor;
namespace onnx = test::onnxfile;

class Told : public session::Observer {
  public:
    QStringList lines;
    void told(const session::Notice& notice) override { lines << QString::fromStdString(notice.what); }
};

class TestWatchPoints : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    std::string write(const QString& name, const onnx::Graph& graph) const {
        const std::string path = m_folder.filePath(name).toStdString();
        std::ofstream(path, std::ios::binary) << onnx::model(graph);
        return path;
    }
    /// v1 = x + x, v2 = v1 + x, …, each of `count` four times the bytes of float32[N].
    std::string chain(int count) const {
        onnx::Graph graph{{}, {onnx::valueInfo("x", 1, {-1})}, {}, {}};
        for (int i = 1; i <= count; ++i)
            graph.nodes.push_back(
                {"Add", {i == 1 ? "x" : "v" + std::to_string(i - 1), "x"}, {"v" + std::to_string(i)}});
        graph.outputs.push_back(onnx::valueInfo("v" + std::to_string(count), 1, {-1}));
        return write("chain.onnx", graph);
    }
    static QString told(const base::Result<void>& result) {
        return result ? QStringLiteral("done") : QString::fromStdString(result.error().text());
    }
    static QStringList names(const Session& session, const std::vector<NodeId>& nodes) {
        QStringList names;
        for (const NodeId node : nodes) names << QString::fromStdString(session.document()->graph->node(node).name);
        return names;
    }

  private slots:
    void groupsFindTheirNodes();
    void aModuleIsNotOneWhoseNameBeginsAlike();
    void groupsFollowTheModel();
    void sharedMemoryIsCountedOnce();
    void aBudgetIsKept_data();
    void aBudgetIsKept();
    void samplesAreTheElementsAtEqualDistances();
    void whatIsKeptChangesNoValue();
    void aRenamedExportIsFoundByStructure();
    void aShiftedNameIsNotTaken();
    void ambiguousNodesAreMissing();
    void aDeeperModelIsNotTheSame();
    void identitiesAreTexts();
};

void TestWatchPoints::groupsFindTheirNodes() {
    Session session;
    QVERIFY(session.open("zoo:resnet18"));
    QVERIFY(session.addWatchGroup({WatchGroup::Kind::Module, "layer1.0"}));
    const auto& entries = session.points().groups.entries();
    QCOMPARE(entries.front().nodes.size(), std::size_t(1));
    QCOMPARE(entries.front().nodes.front(), *session.document()->findNode("layer1.0:"));
    QVERIFY(session.addWatchGroup({WatchGroup::Kind::Inside, "layer1.0"}));
    // conv1, bn1, relu, conv2, bn2, the sum, relu.
    QCOMPARE(entries.back().nodes.size(), std::size_t(7));
    QVERIFY(session.addWatchGroup({WatchGroup::Kind::Call, "layer1.0.conv1", 0}));
    QCOMPARE(entries.back().nodes.size(), std::size_t(1));
    QVERIFY(session.addWatchGroup({WatchGroup::Kind::Query, "op:conv2d or op:Conv"}));
    QCOMPARE(entries.back().nodes.size(), std::size_t(20));
    // Each node counts once: those of layer1.0 with its two convolutions, and 18 more of these.
    QCOMPARE(session.points().kept().size(), std::size_t(25));

    QCOMPARE(told(session.addWatchGroup({WatchGroup::Kind::Module, "layer9"})).section(u'(', 0, 0).trimmed(),
             QStringLiteral("no node is from module 'layer9'"));
    QVERIFY(told(session.addWatchGroup({WatchGroup::Kind::Call, "layer1.0.conv1", 3})).contains(u"has no call 4"));
    QVERIFY(told(session.addWatchGroup({WatchGroup::Kind::Query, "(op:Conv"})) != u"done");
    QVERIFY(told(session.addWatchGroup({WatchGroup::Kind::Module, "layer1.0"})).contains(u"watched already"));
    QCOMPARE(entries.size(), std::size_t(4));
    session.removeWatchGroup(3);
    QCOMPARE(session.points().kept().size(), std::size_t(7));
    session.clearWatched();
    QVERIFY(session.points().kept().empty());
}

/// layer1 has a and b, layer10 has c.
void TestWatchPoints::aModuleIsNotOneWhoseNameBeginsAlike() {
    Session session;
    QVERIFY(session.open(write("alike.onnx", {{{"Relu", {"x"}, {"a"}, "/layer1/Relu"},
                                               {"Neg", {"a"}, {"b"}, "/layer1/inner/Neg"},
                                               {"Exp", {"b"}, {"c"}, "/layer10/Exp"}},
                                              {onnx::valueInfo("x", 1, {-1})},
                                              {onnx::valueInfo("c", 1, {-1})},
                                              {}})));
    QVERIFY(session.addWatchGroup({WatchGroup::Kind::Inside, "layer1"}));
    QVERIFY(session.addWatchGroup({WatchGroup::Kind::Inside, "layer10"}));
    const auto& entries = session.points().groups.entries();
    QCOMPARE(names(session, entries[0].nodes), (QStringList{"a", "b"}));
    QCOMPARE(names(session, entries[1].nodes), QStringList{QStringLiteral("c")});
}

/// Values of 4,000 bytes and room for one: what shares the memory of a kept one fits, what does not, does not, until
/// the last user of that memory is gone.
void TestWatchPoints::sharedMemoryIsCountedOnce() {
    const auto fresh = [] { return tensor::Value(Tensor::of<float>({1000}, std::vector<float>(1000, 1.0F))); };
    session::WatchKeeper keeper({WatchKeep::Full, 4'000, 0}, {}, {});
    const tensor::Value first = fresh(), view(first.tensor().transposed(0, 0));
    QCOMPARE(view.tensor().storage().get(), first.tensor().storage().get());
    QVERIFY(keeper.keep(NodeId(0), first));
    QVERIFY(keeper.keep(NodeId(1), view));
    QVERIFY(!keeper.keep(NodeId(2), fresh()));
    // The next iterations of 0 and 1 have no room, so theirs before go, one after the other.
    QVERIFY(!keeper.keep(NodeId(1), fresh()));
    QVERIFY(!keeper.keep(NodeId(3), fresh()));
    QVERIFY(!keeper.keep(NodeId(0), fresh()));
    QVERIFY(keeper.keep(NodeId(4), fresh()));
    const session::WatchedValues kept = keeper.take();
    QCOMPARE(kept.watchedCount, std::size_t(5));
    QCOMPARE(kept.overBudget, std::size_t(4));
    QCOMPARE(kept.summaries.at(NodeId(1)).iterations, std::size_t(2));
    QCOMPARE(kept.summaries.at(NodeId(2)).iterations, std::size_t(1));
}

void TestWatchPoints::groupsFollowTheModel() {
    Session session;
    QVERIFY(session.open(chain(4)));
    QVERIFY(session.addWatchGroup({WatchGroup::Kind::Query, "op:Add"}));
    QVERIFY(session.addWatchGroup({WatchGroup::Kind::Everything, ""}));
    QCOMPARE(session.points().groups.entries()[0].nodes.size(), std::size_t(4));
    QCOMPARE(session.points().groups.entries()[1].nodes.size(), std::size_t(5));  // with x
    QVERIFY(session.open(chain(7)));
    QCOMPARE(session.points().groups.entries()[0].nodes.size(), std::size_t(7));
    session.runs().giveValues({Tensor::of<float>({2}, {1, 2})});
    session.runs().run();
    for (int i = 1; i <= 7; ++i) {
        const auto* value =
            session.runs().last().recording->value(*session.document()->findNode("v" + std::to_string(i)));
        QVERIFY(value);
        QCOMPARE(value->tensor().toDouble(1), 2.0 * (i + 1));
    }
}

void TestWatchPoints::aBudgetIsKept_data() {
    QTest::addColumn<int>("keep");
    QTest::addColumn<int>("budget");  // in bytes; a value has 4,000, a sample of 10 elements 40
    QTest::addColumn<int>("whole");
    QTest::addColumn<int>("samples");
    QTest::addColumn<QString>("told");
    QTest::newRow("all fit") << 0 << 80'000 << 20 << 0 << QString();
    QTest::newRow("five fit") << 0 << 20'600 << 5 << 15
                              << QStringLiteral("15 of 20 values kept as a sample: budget 0 MiB");
    QTest::newRow("three samples") << 0 << 20'120 << 5 << 3
                                   << QStringLiteral("12 of 20 values kept as statistics, 3 as a sample: budget 0 MiB");
    QTest::newRow("nothing") << 0 << 0 << 0 << 0 << QStringLiteral("20 of 20 values kept as statistics: budget 0 MiB");
    QTest::newRow("samples") << 1 << 80'000 << 0 << 20 << QString();
    QTest::newRow("statistics") << 2 << 80'000 << 0 << 0 << QString();
}

void TestWatchPoints::aBudgetIsKept() {
    QFETCH(const int, keep);
    QFETCH(const int, budget);
    QFETCH(const int, whole);
    QFETCH(const int, samples);
    QFETCH(const QString, told);
    session::InlineExecutor executor;
    Told observer;
    Session session(executor, &observer);
    QVERIFY(session.open(chain(20)));
    for (int i = 1; i <= 20; ++i) session.setWatched(*session.document()->findNode("v" + std::to_string(i)), true);
    session.runs().setPolicy({static_cast<WatchKeep>(keep), static_cast<std::size_t>(budget), 10});
    std::vector<float> x(1'000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    session.runs().giveValues({Tensor::of<float>({1'000}, x)});
    session.runs().run();
    const session::Run& run = session.runs().last();
    QCOMPARE(run.recording->kept.size(), static_cast<std::size_t>(whole));
    QCOMPARE(run.summaries.size(), static_cast<std::size_t>(20 - whole));
    QVERIFY(session.runs().watchedValues().keptBytes <= static_cast<std::size_t>(budget));
    QCOMPARE(std::ranges::count_if(run.summaries, [](const auto& one) { return one.second.sample.defined(); }),
             samples);
    for (const auto& [node, summary] : run.summaries) {
        // v_i = (i + 1) x.
        const double factor = std::stod(session.document()->graph->node(node).name.substr(1)) + 1;
        QVERIFY(summary.stats.has_value());
        QCOMPARE(summary.stats->maximum, 999 * factor);
        QVERIFY(std::abs(summary.stats->mean - 499.5 * factor) < 1e-3);
        QCOMPARE(summary.stats->zeroCount, std::int64_t(1));
        QCOMPARE(summary.type, "float32[1000]");
    }
    QCOMPARE(observer.lines.filter(QStringLiteral("budget")).join(u'\n'), told);
    // The history has statistics of all, whatever was kept.
    QCOMPARE(session.history().runs().size(), std::size_t(1));
    QCOMPARE(session.history().runs().front().stats.size(), std::size_t(20));
}

void TestWatchPoints::samplesAreTheElementsAtEqualDistances() {
    std::int64_t step = 0;
    const Tensor sample = session::sampleOf(Tensor::of<std::int64_t>({2, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), 4, step);
    QCOMPARE(step, std::int64_t(3));
    QCOMPARE(sample.numel(), std::int64_t(4));
    for (std::int64_t i = 0; i < 4; ++i) QCOMPARE(sample.toInt64(i), 3 * i);
    // Of a view its own order counts: the transposed is 0 3, 1 4, 2 5.
    const Tensor turned = Tensor::of<float>({2, 3}, {0, 1, 2, 3, 4, 5}).transposed(0, 1);
    const Tensor three = session::sampleOf(turned, 3, step);
    QCOMPARE(three.toDouble(1), 1.0);
    QCOMPARE(three.toDouble(2), 2.0);
}

void TestWatchPoints::whatIsKeptChangesNoValue() {
    std::mt19937 random(7);
    std::vector<float> pixels(3 * 64 * 64);
    for (float& pixel : pixels) pixel = static_cast<float>(random() % 1000) / 500.0F - 1;
    const Tensor image = Tensor::of<float>({1, 3, 64, 64}, pixels);
    std::vector<Tensor> outputs;
    for (const auto& [keep, budget] :
         std::vector<std::pair<WatchKeep, std::size_t>>{{WatchKeep::Full, session::WatchPolicy::kNoBudget},
                                                        {WatchKeep::Full, 100'000},
                                                        {WatchKeep::Statistics, 0}}) {
        Session session;
        QVERIFY(session.open("zoo:resnet18"));
        if (!outputs.empty()) QVERIFY(session.addWatchGroup({WatchGroup::Kind::Everything, ""}));
        session.runs().setPolicy({keep, budget, 100});
        session.runs().giveValues({image});
        session.runs().run();
        QVERIFY(session.runs().state() == session::RunState::Finished);
        outputs.push_back(session.runs().last().recording->outputs.front().tensor());
        QVERIFY(tensor::identical(outputs.front(), outputs.back()));
    }
}

namespace {

/// A network without module names: blocks of two branches; `names` gives names.
onnx::Graph blocks(const std::function<std::string(int)>& names, bool withCast, int count = 6) {
    onnx::Graph graph{{}, {onnx::valueInfo("x", 1, {1, 8})}, {}, {}};
    int made = 0;
    std::string last = "x";
    const auto add = [&](const std::string& op, std::vector<std::string> inputs) {
        graph.nodes.push_back({op, std::move(inputs), {names(made++)}});
        return graph.nodes.back().outputs.front();
    };
    if (withCast) {
        graph.nodes.push_back({"Identity", {"x"}, {"added"}});
        last = "added";
    }
    for (int block = 0; block < count; ++block) {
        const std::string weight = "w" + std::to_string(block);
        graph.initializers.push_back(onnx::rawTensor(weight, 1, {8, 8}, std::string(8 * 8 * 4, '\0')));
        const std::string left = add("Relu", {add("MatMul", {last, weight})});
        const std::string right = add("Sigmoid", {add("MatMul", {last, weight})});
        last = add(block % 2 == 0 ? "Add" : "Mul", {left, right});
    }
    graph.outputs.push_back(onnx::valueInfo(last, 1, {1, 8}));
    return graph;
}

}  // namespace

void TestWatchPoints::aRenamedExportIsFoundByStructure() {
    for (const bool withCast : {false, true}) {
        Session session;
        const auto original = [](int i) { return "t" + std::to_string(i); };
        QVERIFY(session.open(write("first.onnx", blocks(original, false))));
        for (int i = 0; i < 30; ++i) session.setWatched(*session.document()->findNode(original(i)), true);
        QVERIFY(
            session.open(write("again.onnx", blocks([](int i) { return "renamed" + std::to_string(i); }, withCast))));
        int found = 0;
        for (int i = 0; i < 30; ++i) {
            const session::PointSet::Entry& entry = session.points().watched.entries()[static_cast<std::size_t>(i)];
            if (!entry.node.valid()) continue;
            ++found;
            QVERIFY(entry.by == FoundBy::Structure);
            QCOMPARE(session.document()->graph->node(entry.node).name, "renamed" + std::to_string(i));
        }
        QCOMPARE(found, 30);
    }
}

/// A node in front shifts all numbers: what has the old number is another node.
void TestWatchPoints::aShiftedNameIsNotTaken() {
    Session session;
    QVERIFY(session.open(write("first.onnx", blocks([](int i) { return std::to_string(100 + i); }, false))));
    for (int i = 0; i < 30; ++i) session.setWatched(*session.document()->findNode(std::to_string(100 + i)), true);
    QVERIFY(session.open(write("again.onnx", blocks([](int i) { return std::to_string(105 + i); }, false))));
    for (int i = 0; i < 30; ++i) {
        const session::PointSet::Entry& entry = session.points().watched.entries()[static_cast<std::size_t>(i)];
        QVERIFY(entry.node.valid());
        QCOMPARE(session.document()->graph->node(entry.node).name, std::to_string(105 + i));
    }
}

void TestWatchPoints::ambiguousNodesAreMissing() {
    // Two equal rows into a sum: nothing but the name tells them apart... and the side of the sum.
    const auto twins = [](const std::string& a, const std::string& b) {
        return onnx::Graph{
            {{"Relu", {"x"}, {a}}, {"Relu", {"x"}, {b}}, {"Neg", {a}, {a + "n"}}, {"Neg", {b}, {b + "n"}}},
            {onnx::valueInfo("x", 1, {-1})},
            {onnx::valueInfo("x", 1, {-1})},
            {}};
    };
    session::InlineExecutor executor;
    Told observer;
    Session session(executor, &observer);
    QVERIFY(session.open(write("a.onnx", twins("a", "b"))));
    session.setWatched(*session.document()->findNode("a"), true);
    QVERIFY(session.open(write("b.onnx", twins("c", "d"))));
    QVERIFY(session.points().watched.nodes().empty());
    QCOMPARE(session.points().watched.missing().front().name, "a");
    QCOMPARE(observer.lines.back(), QStringLiteral("of 1 watch points in the model before: 1 missing"));
    QVERIFY(session.open(write("a.onnx", twins("a", "b"))));
    QCOMPARE(names(session, session.points().watched.nodes()), QStringList{QStringLiteral("a")});
}

/// With two blocks more nobody can say which are the new ones.
void TestWatchPoints::aDeeperModelIsNotTheSame() {
    Session session;
    QVERIFY(session.open(write("first.onnx", blocks([](int i) { return "t" + std::to_string(i); }, false))));
    for (int i = 0; i < 30; ++i) session.setWatched(*session.document()->findNode("t" + std::to_string(i)), true);
    QVERIFY(session.open(write("more.onnx", blocks([](int i) { return "r" + std::to_string(i); }, false, 8))));
    QVERIFY(session.points().watched.nodes().empty());
    QCOMPARE(session.points().watched.missing().size(), std::size_t(30));
}

void TestWatchPoints::identitiesAreTexts() {
    Session session;
    QVERIFY(session.open("zoo:resnet18"));
    const session::IdentityIndex index(*session.document()->graph);
    for (std::size_t i = 0; i < session.document()->graph->nodeCount(); i += 7) {
        const NodeId node(i);
        if (session.document()->graph->isErased(session.document()->graph->node(node).producer)) continue;
        const session::NodeIdentity identity = index.of(node);
        QVERIFY(session::NodeIdentity::of(identity.text()) == identity);
        QCOMPARE(index.find(identity).node, node);
    }
    // What an earlier version wrote, and what nobody did.
    QCOMPARE(session::NodeIdentity::of("conv1\tlayer1").qualname, "layer1");
    QCOMPARE(session::NodeIdentity::of("").name, "");
    session::NodeIdentity bad = session::NodeIdentity::of("a\tb\tc\t1\t9\t3\t1\t0\t1\t1\t1\t1\t1\t1");
    QCOMPARE(bad.position, 9U);
    QVERIFY(!index.find(bad).node.valid());
    QVERIFY(session::NodeIdentity::of("a\tb\tc\tx\t9\t3\t1\t0\t1\t1\t1\t1\t1\t1").op.empty());
}

QTEST_GUILESS_MAIN(TestWatchPoints)

}  // namespace tst_watch_points

#include "tst_watch_points.moc"
