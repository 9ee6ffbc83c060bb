// Going through a run in both directions, breakpoints, log points and modules alone, without a window. Orders and
// values are worked by hand or those of a run that nobody debugs.

#include <QTemporaryDir>
#include <QtTest>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace tst_debugger {

using namespace sonde;
using graph::NodeId;
using session::Debugger;
using session::DebugState;
using session::Session;
using session::debug::Direction;
using session::debug::Reason;
using session::debug::Target;
using tensor::Tensor;
using tensor::Value;
namespace onnx = test::onnxfile;

namespace {

using Kind = Target::Kind;

std::string model(const char* name) { return std::string(SONDE_TEST_DATA "/models/") + name; }

/// y = x + x, z = log(y), w = z + y, of x float32[N].
std::string logsModel() {
    const onnx::Graph graph{{{"Add", {"x", "x"}, {"y"}}, {"Log", {"y"}, {"z"}}, {"Add", {"z", "y"}, {"w"}}},
                            {onnx::valueInfo("x", 1, {-1})},
                            {onnx::valueInfo("w", 1, {-1})},
                            {}};
    return onnx::model(graph);
}

Value floats(std::vector<float> values) {
    return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

struct Diary : session::Observer {
    int moves = 0;
    void debuggerChanged() override { ++moves; }
};

/// Does the debugger's work on a thread of its own, and delivers it when asked to.
class ThreadExecutor : public session::InlineExecutor {
  public:
    void start(session::Activity activity, Task task) override {
        if (activity != session::Activity::Debug) return InlineExecutor::start(activity, std::move(task));
        m_thread = std::thread([this, task = std::move(task)] { m_deliver = task({}); });
    }
    void deliver() {
        m_thread.join();
        std::exchange(m_deliver, {})();
    }
    ~ThreadExecutor() override {
        if (m_thread.joinable()) m_thread.join();
    }

  private:
    std::thread m_thread;
    Deliver m_deliver;
};

}  // namespace

class TestDebugger : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    std::string write(const char* name, const std::string& bytes) const {
        const std::string path = m_folder.filePath(QLatin1String(name)).toStdString();
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    static NodeId node(const Session& session, const char* name) { return session.document()->graph->findNode(name); }
    static QString at(const Session& session) {
        const NodeId current = session.debugger().current();
        return current.valid() ? QString::fromStdString(session.document()->graph->node(current).name) : QString();
    }
    void openLogs(Session& session, std::vector<float> x) const {
        QVERIFY(session.open(write("logs.onnx", logsModel())));
        session.runs().giveValues({floats(std::move(x))});
    }
    static void openModel(Session& session, const char* name, const char* archive) {
        QVERIFY(session.open(model(name)));
        QVERIFY(session.runs().give(session.inputs().all().front().name, {model(archive)}));
    }

  private slots:
    void stepsGoBothWays();
    void modulesAreSteppedOverIntoAndOut();
    void loopsAreSteppedThrough();
    void aRunGoesToANode();
    void valuesAreThoseOfThePlace();
    void breakpointsStopBothWays();
    void breakpointsHaveConditions();
    void tensorEventsStopWhereTheyComeUp();
    void modulesAndOperatorsAreBreakpoints();
    void layersAreBreakpointsAtEachCall();
    void logPointsWriteAndDoNotStop();
    void breakpointsAreEnabledAndRemoved();
    void aFailedRunCanBeGoneBackIn();
    void endPointsEndIt();
    void aModuleRunsAlone();
    void aThousandStepsAnywhereGiveTheSameValues_data();
    void aThousandStepsAnywhereGiveTheSameValues();
    void pauseComesFromAnotherThread();
    void anotherModelEndsIt();
};

void TestDebugger::stepsGoBothWays() {
    Session session;
    Diary diary;
    session.setObserver(&diary);
    openLogs(session, {1, 2});
    Debugger& debugger = session.debugger();
    QCOMPARE(debugger.state(), DebugState::Stopped);
    QCOMPARE(at(session), QString());
    QStringList forward, back;
    while (debugger.state() != DebugState::Finished) {
        debugger.step(Kind::Over);
        forward << at(session);
    }
    QCOMPARE(forward, (QStringList{"y", "z", "w", ""}));
    QVERIFY(diary.moves >= 4);
    debugger.step(Kind::Over);  // at the end nothing comes any more
    QCOMPARE(debugger.state(), DebugState::Finished);
    for (int i = 0; i < 4; ++i) {
        debugger.step(Kind::Over, Direction::Back);
        back << at(session);
    }
    QCOMPARE(back, (QStringList{"w", "z", "y", "y"}));
    QCOMPARE(debugger.place().reason, Reason::Start);
    QCOMPARE(debugger.state(), DebugState::Stopped);
}

/// layer1 of a ResNet is two blocks, the first of which begins with conv1.
void TestDebugger::modulesAreSteppedOverIntoAndOut() {
    Session session;
    QVERIFY(session.open("zoo:resnet18?width=0.125&classes=10"));
    session.runs().giveValues({Tensor::zeros(tensor::DType::Float32, {1, 3, 32, 32}).value()});
    Debugger& debugger = session.debugger();
    QStringList over;
    while (debugger.state() != DebugState::Finished && over.size() < 20) {
        debugger.step(Kind::Over);
        if (debugger.state() == DebugState::Stopped) over << at(session);
    }
    QCOMPARE(over, (QStringList{"conv1", "bn1", "relu", "maxpool", "layer1_0_conv1", "layer2_0_conv1", "layer3_0_conv1",
                                "layer4_0_conv1", "avgpool", "flatten", "fc", "output"}));
    QVERIFY(debugger.runTo(node(session, "layer1_0_conv1"), Direction::Back));
    debugger.step(Kind::Out, Direction::Back);  // layer1.0
    QCOMPARE(at(session), QStringLiteral("layer1_0_conv1"));
    debugger.step(Kind::Over);
    QCOMPARE(at(session), QStringLiteral("layer1_1_conv1"));
    debugger.step(Kind::Into);
    QCOMPARE(at(session), QStringLiteral("layer1_1_conv1"));
    debugger.step(Kind::Over);
    QCOMPARE(at(session), QStringLiteral("layer1_1_bn1"));
    debugger.step(Kind::Out);
    QCOMPARE(at(session), QStringLiteral("layer2_0_conv1"));
    debugger.step(Kind::Over, Direction::Back);
    QCOMPARE(at(session), QStringLiteral("layer1_0_conv1"));
    debugger.step(Kind::Over, Direction::Back);
    QCOMPARE(at(session), QStringLiteral("maxpool"));
}

void TestDebugger::loopsAreSteppedThrough() {
    Session session;
    openModel(session, "control_flow.onnx", "control_flow.npz");
    Debugger& debugger = session.debugger();
    const auto pass = [&] { return debugger.run()->trace().passOf(debugger.place().item); };
    while (debugger.state() == DebugState::Stopped && (!debugger.run() || pass().empty())) debugger.step(Kind::Into);
    QCOMPARE(pass(), std::vector<std::int64_t>{0});
    const auto first = debugger.place().item;
    debugger.step(Kind::Over);
    QCOMPARE(pass(), std::vector<std::int64_t>{1});
    debugger.step(Kind::Into);
    QCOMPARE(pass(), std::vector<std::int64_t>{1});
    debugger.step(Kind::Out);
    QVERIFY(debugger.state() == DebugState::Finished || pass().empty());
    while (debugger.place().item != first) {
        QVERIFY(debugger.place().reason != Reason::Start);
        debugger.step(Kind::Into, Direction::Back);
    }
    QCOMPARE(pass(), std::vector<std::int64_t>{0});
}

void TestDebugger::aRunGoesToANode() {
    Session session;
    openLogs(session, {1, 2});
    Debugger& debugger = session.debugger();
    QVERIFY(!debugger.runTo(node(session, "y"), Direction::Back));
    QVERIFY(debugger.runTo(node(session, "z")));
    QCOMPARE(at(session), QStringLiteral("z"));
    QVERIFY(!debugger.runTo(node(session, "y")));  // it was passed
    QVERIFY(!debugger.runTo(node(session, "x")));  // nothing computes it
    QCOMPARE(at(session), QStringLiteral("z"));
    QVERIFY(debugger.runTo(node(session, "y"), Direction::Back));
    QCOMPARE(at(session), QStringLiteral("y"));
    QVERIFY(debugger.runTo(node(session, "w")));
    QCOMPARE(at(session), QStringLiteral("w"));
    debugger.resume();
    QCOMPARE(debugger.state(), DebugState::Finished);
    QVERIFY(debugger.runTo(node(session, "y")));  // from the start again
    QCOMPARE(at(session), QStringLiteral("y"));
}

void TestDebugger::valuesAreThoseOfThePlace() {
    Session session;
    openLogs(session, {1, 2});
    Debugger& debugger = session.debugger();
    QVERIFY(!debugger.value(node(session, "y")));
    debugger.step(Kind::Over);
    // What comes before y is there, y is computed to be shown, and what comes after it is not.
    QVERIFY(tensor::identical(*debugger.value(node(session, "x")), floats({1, 2})));
    QVERIFY(!debugger.valueSoFar(node(session, "y")));
    QVERIFY(tensor::identical(*debugger.value(node(session, "y")), floats({2, 4})));
    QVERIFY(!debugger.value(node(session, "z")));
    QCOMPARE(at(session), QStringLiteral("y"));
    debugger.resume();
    QCOMPARE(debugger.state(), DebugState::Finished);
    const auto sum = debugger.evaluate(*expression::parse("sum(y)"));
    QVERIFY2(sum, sum ? "" : sum.error().text().c_str());
    QCOMPARE(sum->isTensor() ? sum->tensor().toDouble(0) : sum->number(), 6.0);
    debugger.step(Kind::Over, Direction::Back);
    debugger.step(Kind::Over, Direction::Back);
    QCOMPARE(at(session), QStringLiteral("z"));
    const auto late = debugger.value(node(session, "w"));
    QVERIFY(!late);
    QCOMPARE(late.error().what, std::string("the value of 'w' is not computed yet"));
}

void TestDebugger::breakpointsStopBothWays() {
    Session session;
    openLogs(session, {1, 2});
    Debugger& debugger = session.debugger();
    const auto z = debugger.addBreakpoint("z");
    QVERIFY(z);
    QVERIFY(!debugger.addBreakpoint("no_such_node"));
    QVERIFY(!debugger.addBreakpoint("x"));
    debugger.restart();
    QCOMPARE(at(session), QStringLiteral("z"));
    QCOMPARE(debugger.place().reason, Reason::Breakpoint);
    QCOMPARE(debugger.place().breakpoints, std::vector<int>{*z});
    debugger.resume();
    QCOMPARE(debugger.state(), DebugState::Finished);
    debugger.resume(Direction::Back);
    QCOMPARE(at(session), QStringLiteral("z"));
    debugger.resume(Direction::Back);
    QCOMPARE(at(session), QStringLiteral("y"));
    QCOMPARE(debugger.place().reason, Reason::Start);
    QCOMPARE(debugger.breakpoints().all().front().hits.size(), std::size_t{1});
}

void TestDebugger::breakpointsHaveConditions() {
    Session session;
    openModel(session, "control_flow.onnx", "control_flow.npz");
    Debugger& debugger = session.debugger();
    // The node that a loop computes most often, found in a run without breakpoints.
    debugger.restart();
    QCOMPARE(debugger.state(), DebugState::Finished);
    const auto& trace = debugger.run()->trace();
    std::map<graph::ExprId, std::size_t> counts;
    for (session::debug::ItemId i = 0; i < trace.size(); ++i)
        if (trace[i].kind == session::debug::Item::Kind::Operation) ++counts[trace[i].expr];
    const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    QVERIFY(most->second > 1);
    const NodeId inside = session.document()->graph->expr(most->first).outputs.front();
    const std::string name = session.document()->graph->node(inside).name;
    const std::size_t times = most->second;
    const std::string quoted = expression::quoted(name);
    const auto always = debugger.addBreakpoint(name, "shape(" + quoted + ") == shape(" + quoted + ")");
    const auto never = debugger.addBreakpoint(name, "sum(abs(" + quoted + ")) < -1");
    QVERIFY2(always && never, always ? "" : always.error().text().c_str());
    QVERIFY(!debugger.addBreakpoint(name, "max("));
    QVERIFY(!debugger.addBreakpoint(name, "max(no_such_node)"));
    QVERIFY(debugger.setBreakpointEnabled(*always, false));
    debugger.restart();
    QCOMPARE(debugger.state(), DebugState::Finished);
    QVERIFY(debugger.setBreakpointEnabled(*always, true));
    debugger.restart();
    std::size_t stops = 0;
    for (; debugger.state() == DebugState::Stopped; debugger.resume()) {
        QCOMPARE(debugger.current(), inside);
        QCOMPARE(debugger.place().breakpoints, std::vector<int>{*always});
        ++stops;
    }
    QCOMPARE(stops, times);
    QCOMPARE(debugger.breakpoints().all().front().hits.size(), times);
    QCOMPARE(debugger.breakpoints().all().back().hits.size(), std::size_t{0});
}

/// log of a negative number is NaN, of zero minus infinity: both come up in z, and w only carries them.
void TestDebugger::tensorEventsStopWhereTheyComeUp() {
    Session session;
    openLogs(session, {1, -1, 0});
    Debugger& debugger = session.debugger();
    for (const char* event : {"nan", "inf"}) {
        const auto id = debugger.addBreakpoint(event);
        QVERIFY(id);
        debugger.restart();
        QCOMPARE(at(session), QStringLiteral("z"));
        debugger.resume();
        QCOMPARE(debugger.state(), DebugState::Finished);
        debugger.resume(Direction::Back);
        QCOMPARE(at(session), QStringLiteral("z"));
        QVERIFY(debugger.removeBreakpoint(*id));
    }
    QVERIFY(debugger.addBreakpoint("zero"));
    debugger.restart();
    QCOMPARE(debugger.state(), DebugState::Finished);
    session.runs().giveValues({floats({0, 0})});
    debugger.restart();
    QCOMPARE(at(session), QStringLiteral("y"));
    // Problems are those of the run so far.
    QVERIFY(debugger.runTo(node(session, "w")));
    const auto problems = debugger.problems().all;
    QVERIFY(!problems.empty());
    QCOMPARE(problems.front().node, node(session, "z"));
    QCOMPARE(problems.front().role, analysis::ProblemRole::Origin);
}

void TestDebugger::modulesAndOperatorsAreBreakpoints() {
    Session session;
    QVERIFY(session.open("zoo:resnet18?width=0.125&classes=10"));
    session.runs().giveValues({Tensor::zeros(tensor::DType::Float32, {1, 3, 32, 32}).value()});
    Debugger& debugger = session.debugger();
    const auto module = debugger.addBreakpoint("layer2");
    QVERIFY(module);
    debugger.restart();
    QCOMPARE(at(session), QStringLiteral("layer2_0_conv1"));
    debugger.resume();
    QCOMPARE(debugger.state(), DebugState::Finished);
    QVERIFY(debugger.removeBreakpoint(*module));
    QVERIFY(!debugger.addBreakpoint("op:NoSuchOperator"));
    const auto unknown = debugger.addBreakpoint("op:max_unpool");
    QVERIFY(!unknown && unknown.error().hint.find("max_pool2d") != std::string::npos);
    // Without a condition one is enough at a place.
    const auto nan = debugger.addBreakpoint("nan");
    QVERIFY(nan && debugger.setBreakpointEnabled(*nan, false));
    QCOMPARE(*debugger.addBreakpoint("nan"), *nan);
    QVERIFY(debugger.breakpoints().all().back().isEnabled);
    QVERIFY(*debugger.addBreakpoint("inf") != *nan);
    debugger.clearBreakpoints();
    QVERIFY(debugger.addBreakpoint("op:max_pool2d"));
    debugger.restart();
    QCOMPARE(at(session), QStringLiteral("maxpool/max_pool2d"));
    debugger.resume();
    QCOMPARE(debugger.state(), DebugState::Finished);
}

/// The nodes of block.lin in torch.fx's listing of this model (tests/data/models/shared_twice.fx.txt).
void TestDebugger::layersAreBreakpointsAtEachCall() {
    Session session;
    QVERIFY(session.open("zoo:shared_twice"));
    Debugger& debugger = session.debugger();
    QVERIFY(debugger.addBreakpoint("block.lin"));
    QVERIFY(!debugger.addBreakpoint("block.none"));
    debugger.restart();
    for (const char* call : {"block_lin", "block_lin_1", "block_lin_2"}) {
        QCOMPARE(at(session), QLatin1String(call));
        debugger.resume();
    }
    QCOMPARE(debugger.state(), DebugState::Finished);
    QCOMPARE(debugger.breakpoints().all().front().hits.size(), std::size_t{3});
}

void TestDebugger::logPointsWriteAndDoNotStop() {
    Session session;
    openLogs(session, {1, 2});
    Debugger& debugger = session.debugger();
    const auto id = debugger.addLogPoint("y", "max(y)");
    QVERIFY(id);
    QVERIFY(!debugger.addLogPoint("y", ""));
    debugger.restart();
    QCOMPARE(debugger.state(), DebugState::Finished);
    const auto log = debugger.takeLog();
    QCOMPARE(log.size(), std::size_t{1});
    QCOMPARE(log.front().id, *id);
    QVERIFY(log.front().value);
    const Value& value = *log.front().value;
    QCOMPARE(value.isTensor() ? value.tensor().toDouble(0) : value.number(), 4.0);
    QVERIFY(debugger.takeLog().empty());
    // What was written is not written again when it is passed again.
    debugger.resume(Direction::Back);
    debugger.resume();
    QVERIFY(debugger.takeLog().empty());
}

void TestDebugger::breakpointsAreEnabledAndRemoved() {
    Session session;
    openLogs(session, {1, 2});
    Debugger& debugger = session.debugger();
    const int id = *debugger.addBreakpoint("z");
    QVERIFY(debugger.setBreakpointEnabled(id, false));
    debugger.restart();
    QCOMPARE(debugger.state(), DebugState::Finished);
    QVERIFY(debugger.setBreakpointEnabled(id, true));
    debugger.restart();
    QCOMPARE(at(session), QStringLiteral("z"));
    QVERIFY(debugger.removeBreakpoint(id));
    QVERIFY(!debugger.removeBreakpoint(id));
    QVERIFY(!debugger.setBreakpointEnabled(id, true));
    QVERIFY(*debugger.addBreakpoint("w") > id);
    // They stay with nodes of the same names.
    QVERIFY(session.open(write("again.onnx", logsModel())));
    session.runs().giveValues({floats({1, 2})});
    debugger.restart();
    QCOMPARE(at(session), QStringLiteral("w"));
}

void TestDebugger::aFailedRunCanBeGoneBackIn() {
    const onnx::Graph graph{{{"Add", {"x", "x"}, {"y"}}, {"NoSuchOperator", {"y"}, {"z"}}},
                            {onnx::valueInfo("x", 1, {-1})},
                            {onnx::valueInfo("z", 1, {-1})},
                            {}};
    Session session;
    QVERIFY(session.open(write("unknown.onnx", onnx::model(graph))));
    session.runs().giveValues({floats({1, 2})});
    Debugger& debugger = session.debugger();
    debugger.restart();
    QCOMPARE(debugger.state(), DebugState::Failed);
    QCOMPARE(at(session), QStringLiteral("z"));
    QVERIFY(debugger.error() && debugger.error()->what.find("NoSuchOperator") != std::string::npos);
    QVERIFY(tensor::identical(*debugger.value(node(session, "y")), floats({2, 4})));
    debugger.step(Kind::Over, Direction::Back);
    QCOMPARE(debugger.state(), DebugState::Stopped);
    QCOMPARE(at(session), QStringLiteral("y"));
    debugger.step(Kind::Over);
    QCOMPARE(debugger.state(), DebugState::Stopped);
    debugger.step(Kind::Over);
    QCOMPARE(debugger.state(), DebugState::Failed);
}

void TestDebugger::endPointsEndIt() {
    Session session;
    openLogs(session, {1, 2});
    session.setEnd(node(session, "z"), true);
    Debugger& debugger = session.debugger();
    debugger.restart();
    QCOMPARE(debugger.state(), DebugState::Finished);
    QCOMPARE(debugger.run()->trace().size(), std::size_t{2});
    QVERIFY(!debugger.value(node(session, "w")));
    QVERIFY(debugger.value(node(session, "z")));
}

void TestDebugger::aModuleRunsAlone() {
    Session session;
    QVERIFY(session.open("zoo:resnet18?width=0.125&classes=10"));
    session.runs().giveValues({Tensor::zeros(tensor::DType::Float32, {1, 3, 32, 32}).value()});
    Debugger& debugger = session.debugger();
    QVERIFY(!debugger.runModule("layer1.0"));  // nothing has run
    debugger.setLimits({0, 0, {}});            // all of it is computed again
    debugger.restart();
    const auto alone = debugger.runModule("layer1.0");
    QVERIFY2(alone, alone ? "" : alone.error().text().c_str());
    QVERIFY(alone->isSame);
    QCOMPARE(alone->inputs, std::vector<NodeId>{node(session, "maxpool")});
    // conv1, bn1, relu, conv2, bn2, add, relu
    QCOMPARE(alone->nodes.size(), std::size_t{7});
    QCOMPARE(session.document()->graph->node(alone->nodes.front()).name, std::string("layer1_0_conv1/conv2d"));
    QVERIFY(!debugger.runModule("no.such.module"));
}

void TestDebugger::aThousandStepsAnywhereGiveTheSameValues_data() {
    QTest::addColumn<QString>("file");
    QTest::newRow("loops and branches") << "control_flow.onnx";
    QTest::newRow("TorchScript") << "control_flow.script.pt";
    QTest::newRow("transformer") << "gpt_mini.onnx";
}

/// Any command in any order; whatever is current has the value that it had the first time.
void TestDebugger::aThousandStepsAnywhereGiveTheSameValues() {
    QFETCH(QString, file);
    Session session;
    const std::string name = file.toStdString();
    openModel(session, name.c_str(), (name.substr(0, name.find('.')) + ".npz").c_str());
    Debugger& debugger = session.debugger();
    debugger.setLimits({5'000, 20'000, {}});
    std::map<session::debug::ItemId, Value> seen;
    std::mt19937 engine(5);
    std::size_t again = 0;
    for (int i = 0; i < 1'000; ++i) {
        const std::array kinds{Kind::Into, Kind::Into, Kind::Over, Kind::Out};
        debugger.step(kinds[engine() % kinds.size()], engine() % 2 ? Direction::Forward : Direction::Back);
        QVERIFY(debugger.state() == DebugState::Stopped || debugger.state() == DebugState::Finished);
        if (!debugger.current().valid()) continue;
        const auto value = debugger.value(debugger.current());
        QVERIFY2(value, value ? "" : value.error().text().c_str());
        const auto item = debugger.run()->trace().operationAt(debugger.place().item);
        const auto [found, isNew] = seen.emplace(item, *value);
        QVERIFY(tensor::identical(found->second, *value));
        again += isNew ? 0 : 1;
    }
    QVERIFY(again > 300);
}

void TestDebugger::pauseComesFromAnotherThread() {
    ThreadExecutor executor;
    Session session(executor);
    QVERIFY(session.open("zoo:resnet18"));
    session.runs().giveValues({Tensor::zeros(tensor::DType::Float32, {4, 3, 224, 224}).value()});
    Debugger& debugger = session.debugger();
    debugger.restart();
    QVERIFY(debugger.isRunning());
    QVERIFY(!debugger.value(node(session, "conv1")));  // not while it runs
    std::thread([&] { session.stop(); }).join();
    executor.deliver();
    QCOMPARE(debugger.state(), DebugState::Stopped);
    QCOMPARE(debugger.place().reason, Reason::Paused);
    // It goes on from there.
    const auto here = debugger.place().item;
    debugger.step(Kind::Into);
    executor.deliver();
    QVERIFY(debugger.state() == DebugState::Stopped);
    QVERIFY(here == session::debug::kNoItem || debugger.place().item == here + 1);
    debugger.cancel();
    QVERIFY(!debugger.hasBegun());
}

void TestDebugger::anotherModelEndsIt() {
    Session session;
    openLogs(session, {1, 2});
    session.debugger().step(Kind::Over);
    QVERIFY(session.debugger().hasBegun());
    QVERIFY(session.open(model("mlp_functional.onnx")));
    QVERIFY(!session.debugger().hasBegun());
    QVERIFY(!session.debugger().current().valid());
    QCOMPARE(session.debugger().state(), DebugState::Stopped);
}

QTEST_GUILESS_MAIN(TestDebugger)

}  // namespace tst_debugger

#include "tst_debugger.moc"
