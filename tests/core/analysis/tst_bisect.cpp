// Where two models part: generated networks with one planted fault, differences that add up, and targets that cannot be
// given every value.

#include <QTemporaryDir>
#include <QtTest>

#include <bit>

#include "core/analysis/bisect.h"
#include "core/analysis/model_target.h"
#include "core/document/document.h"
#include "tests/support/faulty_networks.h"

namespace tst_bisect {

using namespace sonde;
using namespace sonde::test;
using graph::NodeId;

namespace {

/// Refuses to compute every operation on given values at once, as an engine may.
class NoSweep : public analysis::BisectTarget {
  public:
    explicit NoSweep(analysis::BisectTarget& target) : m_target(target) {}
    const std::vector<NodeId>& matched() const override { return m_target.matched(); }
    base::Result<Values> run(const Values& given, std::span<const NodeId> wanted,
                             const base::WorkContext& work) override {
        if (!given.empty() && wanted.size() > 1) return base::runError("too many inputs");
        return m_target.run(given, wanted, work);
    }

  private:
    analysis::BisectTarget& m_target;
};

std::size_t log2Above(std::size_t count) { return std::bit_width(count); }

}  // namespace

class TestBisect : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void endsAtThePlantedFault_data();
    void endsAtThePlantedFault();
    void halvesWhereOperationsCannotBeTriedAtOnce_data() { endsAtThePlantedFault_data(); }
    void halvesWhereOperationsCannotBeTriedAtOnce();
    void equalModelsDoNotDiffer();
    void differencesThatAddUpAreOnePart();
    void anotherShapeIsADifference();
    void anInsertedOperationBelongsToTheNext();
    void aFaultThatNoOutputShowsIsNone();
    void modelsWithNothingInCommonAreRefused();
    void inputsMustHaveACounterpart();

  private:
    std::shared_ptr<const document::Document> open(const char* name, const std::string& bytes) {
        const std::string path = m_files.filePath(QLatin1String(name)).toStdString();
        if (!onnxfile::write(QString::fromStdString(path), bytes)) return nullptr;
        const auto opened = document::open(path);
        return opened ? *opened : nullptr;
    }
    /// x ↦ x · factor, so many times.
    static std::string chain(int length, float factor, const char* inserted = nullptr, int at = -1) {
        onnxfile::Graph graph;
        graph.initializers.push_back(
            onnxfile::rawTensor("c", 1, {1}, {reinterpret_cast<const char*>(&factor), sizeof(float)}));
        std::string now = "x";
        for (int i = 0; i < length; ++i) {
            if (i == at) {
                graph.nodes.push_back({inserted, {now}, {"extra"}});
                now = "extra";
            }
            graph.nodes.push_back({"Mul", {now, "c"}, {"m" + std::to_string(i)}});
            now = "m" + std::to_string(i);
        }
        graph.inputs = {onnxfile::valueInfo("x", 1, {3})};
        graph.outputs = {onnxfile::valueInfo(now, 1, {3})};
        return onnxfile::model(graph, {}, {onnxfile::opset("", 17)});
    }
    base::Result<analysis::Bisection> bisect(const document::Document& a, const document::Document& b,
                                             const tensor::Tensor& input, bool canSweep = true) {
        const analysis::BisectModel model{a.graph, {tensor::Value(input)}};
        analysis::BisectModel other{b.graph, {}};
        SONDE_ASSIGN(other.inputs, analysis::inputsLike(model, *b.graph));
        analysis::ModelTarget target(*a.graph, other, m_runner);
        NoSweep noSweep(target);
        if (canSweep) return analysis::bisect(model, target, {}, m_runner);
        return analysis::bisect(model, noSweep, {}, m_runner);
    }
    static tensor::Tensor three() { return tensor::Tensor::of<float>({3}, {1, -2, 0.5F}); }

    QTemporaryDir m_files;
    exec::Runner m_runner{1};
};

void TestBisect::endsAtThePlantedFault_data() {
    QTest::addColumn<int>("index");
    for (int i = 0; i < kFaultyCount; ++i) QTest::addRow("%d, %s", i, nameOf(FaultyNetwork(i).planted())) << i;
}

void TestBisect::endsAtThePlantedFault() {
    QFETCH(int, index);
    FaultyNetwork network(index);
    const auto a = open("a.onnx", network.model(false)), b = open("b.onnx", network.model(true));
    QVERIFY(a && b);
    const auto found = bisect(*a, *b, network.input());
    QVERIFY(found && found->differs);
    QCOMPARE(QString::fromStdString(a->graph->node(found->node).name), QString::fromStdString(network.faultyNode()));
    QCOMPARE(found->operations.size(), std::size_t{1});
    QVERIFY(!found->isAccumulated);
    QCOMPARE(found->from.size(), std::size_t{1});
    QVERIFY(found->difference.maxAbsolute > 1e-3);
    QCOMPARE(found->matched, static_cast<std::size_t>(network.operations()));
    QCOMPARE(found->matched, found->computed);
    QVERIFY(found->runs <= 2);
}

void TestBisect::halvesWhereOperationsCannotBeTriedAtOnce() {
    QFETCH(int, index);
    FaultyNetwork network(index);
    const auto a = open("a.onnx", network.model(false)), b = open("b.onnx", network.model(true));
    QVERIFY(a && b);
    const auto found = bisect(*a, *b, network.input(), false);
    QVERIFY(found && found->differs);
    QCOMPARE(QString::fromStdString(a->graph->node(found->node).name), QString::fromStdString(network.faultyNode()));
    QCOMPARE(found->operations.size(), std::size_t{1});
    QVERIFY(found->runs <= 2 + log2Above(static_cast<std::size_t>(network.operations())));
}

void TestBisect::equalModelsDoNotDiffer() {
    FaultyNetwork network(7);
    const auto a = open("a.onnx", network.model(false)), b = open("b.onnx", network.model(false));
    const auto found = bisect(*a, *b, network.input());
    QVERIFY(found);
    QVERIFY(!found->differs);
    QCOMPARE(found->runs, std::size_t{1});
    QCOMPARE(found->inBetween, std::size_t{0});
}

/// Each of 64 multiplications is 3e-5 off, which is within the tolerance of 1e-4: the first value that is not is the
/// fourth.
void TestBisect::differencesThatAddUpAreOnePart() {
    const auto a = open("a.onnx", chain(64, 1)), b = open("b.onnx", chain(64, 1.00003F));
    const auto found = bisect(*a, *b, three());
    QVERIFY(found && found->differs);
    QVERIFY(found->isAccumulated);
    QCOMPARE(QString::fromStdString(a->graph->node(found->node).name), QStringLiteral("m3"));
    QCOMPARE(found->operations.size(), std::size_t{4});
    QCOMPARE(found->from, std::vector<NodeId>{a->graph->findNode("x")});
    QVERIFY(found->runs <= 2 + log2Above(64));
}

void TestBisect::anotherShapeIsADifference() {
    onnxfile::Graph graph;
    graph.inputs = {onnxfile::valueInfo("x", 1, {3})};
    graph.outputs = {onnxfile::valueInfo("y", 1, {1, 3})};
    graph.nodes = {{"Neg", {"x"}, {"n"}}, {"Flatten", {"n"}, {"y"}, "", "", {onnxfile::intAttribute("axis", 0)}}};
    const auto a = open("a.onnx", onnxfile::model(graph, {}, {onnxfile::opset("", 17)}));
    graph.nodes[1].attributes = {onnxfile::intAttribute("axis", 1)};
    graph.outputs = {onnxfile::valueInfo("y", 1, {3, 1})};
    const auto b = open("b.onnx", onnxfile::model(graph, {}, {onnxfile::opset("", 17)}));
    QVERIFY(a && b);
    const auto found = bisect(*a, *b, three());
    QVERIFY(found && found->differs);
    QCOMPARE(QString::fromStdString(a->graph->node(found->node).name), QStringLiteral("y"));
    QCOMPARE(QString::fromStdString(found->note), QStringLiteral("shape [3,1] instead of [1,3]"));
}

void TestBisect::anInsertedOperationBelongsToTheNext() {
    const auto a = open("a.onnx", chain(9, 0.9F)), b = open("b.onnx", chain(9, 0.9F, "Abs", 5));
    const auto found = bisect(*a, *b, three());
    QVERIFY(found && found->differs);
    QCOMPARE(QString::fromStdString(a->graph->node(found->node).name), QStringLiteral("m5"));
    QCOMPARE(found->from, std::vector<NodeId>{a->graph->findNode("m4")});
}

/// The branch that is another one goes nowhere.
void TestBisect::aFaultThatNoOutputShowsIsNone() {
    onnxfile::Graph graph;
    graph.inputs = {onnxfile::valueInfo("x", 1, {3})};
    graph.outputs = {onnxfile::valueInfo("y", 1, {3})};
    graph.nodes = {{"Exp", {"x"}, {"side"}}, {"Neg", {"x"}, {"y"}}};
    const auto a = open("a.onnx", onnxfile::model(graph));
    graph.nodes[0].op = "Abs";
    const auto b = open("b.onnx", onnxfile::model(graph));
    QVERIFY(a && b);
    const auto found = bisect(*a, *b, three());
    QVERIFY(found);
    QVERIFY(!found->differs);
    QCOMPARE(found->inBetween, std::size_t{1});
}

void TestBisect::modelsWithNothingInCommonAreRefused() {
    onnxfile::Graph graph;
    graph.inputs = {onnxfile::valueInfo("x", 1, {3})};
    graph.outputs = {onnxfile::valueInfo("p", 1, {3}), onnxfile::valueInfo("q", 1, {3})};
    graph.nodes = {{"Exp", {"x"}, {"p"}}, {"Neg", {"x"}, {"q"}}};
    const auto a = open("a.onnx", chain(3, 2)), b = open("b.onnx", onnxfile::model(graph));
    QVERIFY(a && b);
    const auto found = bisect(*a, *b, three());
    QVERIFY(!found);
    QCOMPARE(found.error().kind, base::ErrorKind::Usage);
    QVERIFY(QString::fromStdString(found.error().what).contains(QStringLiteral("no output of the model")));
}

void TestBisect::inputsMustHaveACounterpart() {
    onnxfile::Graph graph;
    graph.inputs = {onnxfile::valueInfo("x", 1, {3}), onnxfile::valueInfo("z", 1, {3})};
    graph.outputs = {onnxfile::valueInfo("y", 1, {3})};
    graph.nodes = {{"Add", {"x", "z"}, {"y"}}};
    const auto a = open("a.onnx", chain(3, 2)), b = open("b.onnx", onnxfile::model(graph));
    QVERIFY(a && b);
    const auto found = bisect(*a, *b, three());
    QVERIFY(!found);
    QVERIFY(QString::fromStdString(found.error().what).contains(QStringLiteral("input 'z' of the other model")));
}

QTEST_GUILESS_MAIN(TestBisect)

}  // namespace tst_bisect

#include "tst_bisect.moc"
