// Going to any step of a debugged run, back and on: the place, and values that are the same each time that one is
// there, random ones too, whether they were kept, spilled or computed again.

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <map>
#include <random>

#include "core/session/debug/missed_node.h"
#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace tst_debugger_places {

using namespace sonde;
using session::Debugger;
using session::DebugState;
using session::Session;
using session::debug::Direction;
using session::debug::Item;
using session::debug::ItemId;
using session::debug::kNoItem;
using session::debug::Target;
using tensor::Tensor;
using tensor::Value;
namespace onnx = test::onnxfile;

namespace {

/// Noise on noise, eight times: y1 = x + normal(x), y2 = y1 * uniform(y1), y3 = y2 + normal(y2), …
std::string noiseModel() {
    onnx::Graph graph;
    std::string last = "x";
    for (int i = 1; i <= 8; ++i) {
        const std::string noise = "noise" + std::to_string(i), next = "y" + std::to_string(i);
        graph.nodes.push_back({i % 2 ? "RandomNormalLike" : "RandomUniformLike", {last}, {noise}});
        graph.nodes.push_back({i % 2 ? "Add" : "Mul", {last, noise}, {next}});
        last = next;
    }
    graph.inputs = {onnx::valueInfo("x", 1, {-1})};
    graph.outputs = {onnx::valueInfo(last, 1, {-1})};
    return onnx::model(graph);
}

}  // namespace

class TestDebuggerPlaces : public QObject {
    Q_OBJECT

  private slots:
    void placesAreGoneToBackAndOn() {
        Session session;
        openNoise(session);
        Debugger& debugger = session.debugger();
        QVERIFY(debugger.goTo(0));  // begins a run
        QCOMPARE(debugger.place().item, ItemId{0});
        QVERIFY(debugger.goTo(5));
        QCOMPARE(debugger.place().item, ItemId{5});
        QCOMPARE(debugger.state(), DebugState::Stopped);
        QCOMPARE(debugger.timeline().size(), std::size_t{6});
        QVERIFY(!debugger.isComplete());
        QVERIFY(debugger.goTo(2));
        QCOMPARE(debugger.place().item, ItemId{2});
        QCOMPARE(debugger.timeline().size(), std::size_t{6});  // nothing was done for it
        debugger.resume();
        QCOMPARE(debugger.state(), DebugState::Finished);
        QVERIFY(debugger.isComplete());
        QCOMPARE(debugger.timeline().size(), std::size_t{16});
        QVERIFY(!debugger.goTo(16));
        QCOMPARE(debugger.state(), DebugState::Finished);
        QVERIFY(debugger.goTo(15));
        QCOMPARE(debugger.state(), DebugState::Stopped);
        debugger.cancel();
        QCOMPARE(debugger.timeline().size(), std::size_t{0});
    }

    /// "unused" is Abs(x) beside y = Neg(Neg(x)); the branch of "z" that is not taken has "other".
    void whatNothingNeedsIsGoneTo() {
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("dead.onnx")).toStdString();
        onnx::Graph graph, taken, other;
        taken.nodes = {{"Abs", {"y"}, {"taken"}}};
        taken.outputs = {onnx::valueInfo("taken", 1, {-1})};
        other.nodes = {{"Sqrt", {"y"}, {"other"}}};
        other.outputs = {onnx::valueInfo("other", 1, {-1})};
        graph.nodes = {{"Neg", {"x"}, {"n"}}, {"Abs", {"x"}, {"unused"}}, {"Neg", {"n"}, {"y"}}};
        graph.nodes.push_back(
            {"If",
             {"c"},
             {"z"},
             "",
             "",
             {onnx::graphAttribute("then_branch", taken.bytes()), onnx::graphAttribute("else_branch", other.bytes())}});
        graph.inputs = {onnx::valueInfo("x", 1, {-1}), onnx::valueInfo("c", 9, {})};
        graph.outputs = {onnx::valueInfo("z", 1, {-1})};
        std::ofstream(path, std::ios::binary) << onnx::model(graph);
        Session session;
        QVERIFY(session.open(path));
        session.runs().giveValues({Tensor::of<float>({2}, {-1, 2}), Value(Tensor::scalar(true))});
        Debugger& debugger = session.debugger();
        const auto node = [&](const char* name) { return *session.document()->findNode(name); };
        QVERIFY(debugger.runTo(node("unused")));
        QCOMPARE(debugger.current(), node("unused"));
        QCOMPARE(debugger.value(node("unused"))->tensor().toDouble(0), 1.0);
        debugger.restart();  // another run does without it
        QCOMPARE(debugger.state(), DebugState::Finished);
        QVERIFY(!debugger.value(node("unused")));
        QVERIFY(debugger.runTo(node("unused")));
        QCOMPARE(debugger.current(), node("unused"));
        QVERIFY(debugger.runTo(node("other")));
        QCOMPARE(debugger.state(), DebugState::Finished);
        QCOMPARE(session::debug::whyMissed(debugger, node("other")),
                 std::string("'other' was not computed: 'z' took another branch"));
        QVERIFY(debugger.runTo(node("y")));
        QCOMPARE(debugger.current(), node("y"));
        QVERIFY(session::debug::whyMissed(debugger, node("y")).empty());
    }

    /// More steps at once than the session's own thread takes over one by one.
    void manyStepsAreTakenOver() {
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("chain.onnx")).toStdString();
        onnx::Graph graph;
        for (int i = 0; i < 12'000; ++i)
            graph.nodes.push_back({"Abs", {i == 0 ? "x" : "y" + std::to_string(i)}, {"y" + std::to_string(i + 1)}});
        graph.inputs = {onnx::valueInfo("x", 1, {-1})};
        graph.outputs = {onnx::valueInfo("y12000", 1, {-1})};
        std::ofstream(path, std::ios::binary) << onnx::model(graph);
        Session session;
        document::OpenOptions options;
        options.groups = false;
        QVERIFY(session.open(path, options));
        session.runs().giveValues({tensor::Tensor::of<float>({2}, std::vector<float>{-1, 2})});
        Debugger& debugger = session.debugger();
        debugger.step(session::debug::Target::Kind::Into);
        const auto number = debugger.timeline().number();
        const auto* const timeline = &debugger.timeline();
        debugger.step(session::debug::Target::Kind::Into);
        QCOMPARE(timeline->size(), std::size_t{2});
        debugger.resume();
        QCOMPARE(&debugger.timeline(), timeline);  // who looks at it goes on
        QCOMPARE(timeline->size(), std::size_t{12'000});
        QCOMPARE(timeline->number(), number);
        QVERIFY(debugger.isComplete() && timeline->open().empty());
        for (const ItemId item : {ItemId{0}, ItemId{1}, ItemId{11'999}}) {
            QCOMPARE((*timeline)[item].end, item + 1);
            QCOMPARE(timeline->begin(item, session::debug::TimelineScale::Uniform), double(item));
        }
        debugger.step(session::debug::Target::Kind::Into, Direction::Back);
        QCOMPARE(debugger.place().item, ItemId{11'999});
    }

    /// Going on stops at breakpoints, going back does not.
    void breakpointsStopOnTheWay() {
        Session session;
        openNoise(session);
        Debugger& debugger = session.debugger();
        QVERIFY(debugger.addBreakpoint("y2"));
        debugger.step(Target::Kind::Into);
        QVERIFY(debugger.goTo(10));
        QCOMPARE(debugger.place().item, ItemId{3});  // noise1, y1, noise2, y2
        QCOMPARE(debugger.place().breakpoints.size(), std::size_t{1});
        QVERIFY(debugger.goTo(10));
        QCOMPARE(debugger.place().item, ItemId{10});
        QVERIFY(debugger.goTo(0));
        QCOMPARE(debugger.place().item, ItemId{0});
    }

    /// With the current operation done at once, as the window wants it: also that which had begun only.
    void theLastOperationIsDone() {
        Session session;
        openNoise(session);
        Debugger& debugger = session.debugger();
        debugger.setDoesCurrent(true);
        debugger.step(Target::Kind::Into);
        const auto last = static_cast<ItemId>(debugger.timeline().size() - 1);
        QVERIFY(debugger.goTo(last));
        QCOMPARE(debugger.place().item, last);
        QVERIFY(debugger.timeline()[last].end != kNoItem);
        QVERIFY(debugger.goTo(0));
        QCOMPARE(debugger.place().item, ItemId{0});
    }

    void anywhereIsTheSameValue_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<qulonglong>("memory");
        QTest::addColumn<qulonglong>("disk");
        for (const char* file : {"", "control_flow.onnx", "lstm_classifier.script.pt", "gpt_mini.onnx"}) {
            QTest::addRow("%s kept", file) << file << ~qulonglong{0} << qulonglong{0};
            QTest::addRow("%s spilled", file) << file << qulonglong{100} << ~qulonglong{0};
            QTest::addRow("%s computed again", file) << file << qulonglong{100} << qulonglong{0};
        }
    }
    /// 1,000 jumps and steps in both directions.
    void anywhereIsTheSameValue() {
        QFETCH(QString, file);
        QFETCH(qulonglong, memory);
        QFETCH(qulonglong, disk);
        Session session;
        if (file.isEmpty()) openNoise(session);
        else openModel(session, file.toStdString());
        Debugger& debugger = session.debugger();
        debugger.setLimits({memory, disk, {}});
        debugger.step(Target::Kind::Into);
        std::map<ItemId, Value> seen;
        std::mt19937 engine(4);
        std::size_t again = 0;
        for (int i = 0; i < 1'000; ++i) {
            const auto size = static_cast<unsigned>(debugger.timeline().size());
            if (engine() % 2) (void)debugger.goTo(engine() % (size + (debugger.isComplete() ? 0 : 3)));
            else debugger.step(Target::Kind::Into, engine() % 2 ? Direction::Forward : Direction::Back);
            if (!debugger.current().valid()) continue;
            const auto value = debugger.value(debugger.current());
            QVERIFY2(value, value ? "" : value.error().text().c_str());
            const auto [found, isNew] = seen.emplace(debugger.place().item, *value);
            if (isNew) continue;
            ++again;
            QVERIFY2(tensor::identical(found->second, *value), qPrintable(QString::number(debugger.place().item)));
        }
        QVERIFY(again > 300);
        QCOMPARE(debugger.keptUse().computedAgain > 0, memory < 1'000 && disk == 0);
        QCOMPARE(debugger.keptUse().diskBytes > 0, disk > 0);
    }

  private:
    void openNoise(Session& session) const {
        const std::string path = m_folder.filePath(QStringLiteral("noise.onnx")).toStdString();
        std::ofstream(path, std::ios::binary) << noiseModel();
        document::OpenOptions options;
        options.groups = false;  // each operation is a step of its own
        QVERIFY(session.open(path, options));
        session.runs().giveValues({Tensor::of<float>({64}, std::vector<float>(64, 1.5F))});
    }
    static void openModel(Session& session, const std::string& name) {
        const std::string folder = SONDE_TEST_DATA "/models/";
        QVERIFY(session.open(folder + name));
        const std::string archive = folder + name.substr(0, name.find('.')) + ".npz";
        QVERIFY(session.runs().give(session.inputs().all().front().name, {archive}));
    }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestDebuggerPlaces)

}  // namespace tst_debugger_places

#include "tst_debugger_places.moc"
