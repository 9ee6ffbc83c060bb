// Breakpoints beyond places: bare conditions, hits that are let pass, editing in place, what is kept of them, and a log
// that is bounded. Hits are counted by hand.

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include "core/session/session.h"
#include "tests/support/onnx_file.h"
#include "tests/support/scan_network.h"

namespace tst_breakpoints {

using namespace sonde;
using session::Debugger;
using session::DebugState;
using session::Session;
using session::debug::Breakpoint;
using session::debug::Direction;
using session::debug::SavedBreakpoint;
using tensor::Tensor;
using tensor::Value;
namespace onnx = test::onnxfile;

namespace {

/// y0 = x + x, y1 = y0 + y0 … y7: 2x, 4x … 256x. `prefix`: of the names.
std::string doublings(const std::string& prefix = "y", int count = 8) {
    onnx::Graph graph{{}, {onnx::valueInfo("x", 1, {-1})}, {}, {}};
    std::string last = "x";
    for (int i = 0; i < count; ++i) {
        const std::string next = prefix + std::to_string(i);
        graph.nodes.push_back({"Add", {last, last}, {next}});
        last = next;
    }
    graph.outputs = {onnx::valueInfo(last, 1, {-1})};
    return onnx::model(graph);
}

}  // namespace

class TestBreakpoints : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    void open(Session& session, const std::string& bytes, const char* name = "model.onnx") const {
        const std::string path = m_folder.filePath(QLatin1String(name)).toStdString();
        std::ofstream(path, std::ios::binary) << bytes;
        QVERIFY(session.open(path));
        session.runs().giveValues({Value(Tensor::of<float>({1}, std::vector<float>{1}))});
    }
    static QString at(Session& session) {
        const graph::NodeId node = session.debugger().current();
        return node.valid() ? QString::fromStdString(session.document()->graph->node(node).name) : QString();
    }
    static const Breakpoint& only(Session& session) { return session.debugger().breakpoints().all().front(); }

  private slots:
    void aConditionStopsWhereItBecomesTrue() {
        Session session;
        open(session, doublings());
        Debugger& debugger = session.debugger();
        QVERIFY(debugger.addBreakpoint({}, "max(y3) > 15 and max(y5) > 60"));  // y3 = 16, y5 = 64
        debugger.restart();
        QCOMPARE(at(session), QStringLiteral("y5"));
        debugger.resume();
        QCOMPARE(debugger.state(), DebugState::Finished);
        QCOMPARE(only(session).hits.size(), std::size_t{1});
        debugger.resume(Direction::Back);
        QCOMPARE(at(session), QStringLiteral("y5"));
        // An operation that runs once makes it true once; false stays false.
        QVERIFY(debugger.setBreakpointExpression(1, "max(y3) > 16"));
        debugger.restart();
        QCOMPARE(debugger.state(), DebugState::Finished);
        QCOMPARE(only(session).hits.size(), std::size_t{0});
        QVERIFY(!only(session).error);
    }

    void conditionsThatAreWrongNameTheirColumn() {
        Session session;
        open(session, doublings());
        Debugger& debugger = session.debugger();
        const auto columnOf = [&](const base::Result<int>& added) {
            return added ? std::size_t{0} : expression::errorColumn(added.error()).value_or(0);
        };
        QCOMPARE(columnOf(debugger.addBreakpoint({}, "max(y3) > ")), std::size_t{11});
        QCOMPARE(columnOf(debugger.addBreakpoint({}, "max(y3) > max(other)")), std::size_t{15});
        QCOMPARE(columnOf(debugger.addBreakpoint({}, "max(x) > 0")), std::size_t{1});  // no node that is computed
        QCOMPARE(columnOf(debugger.addBreakpoint("y1", "max(y9)")), std::size_t{5});
        QVERIFY(debugger.breakpoints().all().empty());
        // What only its evaluation shows is kept with the point, and does not stop.
        QVERIFY(debugger.addBreakpoint("y1", "y1[3] > 0"));
        debugger.restart();
        QCOMPARE(debugger.state(), DebugState::Finished);
        QVERIFY(only(session).error);
        QVERIFY(expression::errorColumn(*only(session).error).has_value());
        const auto refused = debugger.setBreakpointExpression(1, "max(");
        QVERIFY(!refused);
        QCOMPARE(only(session).expression.text(), std::string("y1[3] > 0"));
        QVERIFY(debugger.setBreakpointExpression(1, ""));
        debugger.restart();
        QCOMPARE(at(session), QStringLiteral("y1"));
    }

    /// The sums are 1, 3, 4, 2, 5: above 2 from the second on, not the fourth, and the fifth again.
    void aConditionThatStaysTrueStopsOnce() {
        Session session;
        open(session, test::scanNetwork(-1));
        session.runs().giveValues({Value(Tensor::of<float>({5}, std::vector<float>{1, 2, 1, -2, 3}))});
        Debugger& debugger = session.debugger();
        QVERIFY(debugger.addBreakpoint({}, "sum > 2"));
        debugger.restart();
        QCOMPARE(at(session), QStringLiteral("sum"));
        QCOMPARE(debugger.evaluate(*expression::parse("sum"))->text(), std::string("3"));
        debugger.resume();
        QCOMPARE(debugger.evaluate(*expression::parse("sum"))->text(), std::string("5"));
        debugger.resume();
        QCOMPARE(debugger.state(), DebugState::Finished);
        QCOMPARE(only(session).hits.size(), std::size_t{2});
        // At a place it counts as often as it holds, and not where it does not.
        debugger.clearBreakpoints();
        QVERIFY(debugger.addBreakpoint("sum", "sum > 2"));
        debugger.restart();
        for (int i = 0; i < 5 && debugger.state() != DebugState::Finished; ++i) debugger.resume();
        QCOMPARE(only(session).hits.size(), std::size_t{3});
    }

    void theLastErrorOfAConditionIsKept() {
        Session session;
        open(session, doublings());
        Debugger& debugger = session.debugger();
        // At the first of all operations the condition has no value yet.
        QVERIFY(debugger.addBreakpoint("op:Add", "max(y1) > 1000"));
        debugger.step(session::debug::Target::Kind::Over);
        debugger.step(session::debug::Target::Kind::Over);
        debugger.resume();
        QCOMPARE(debugger.state(), DebugState::Finished);
        QVERIFY(!only(session).error);
        QVERIFY(debugger.setBreakpointExpression(1, "y1[3] > 0"));
        debugger.restart();
        QVERIFY(only(session).error);
        QVERIFY2(only(session).error->text().find("y1[3]") != std::string::npos, only(session).error->text().c_str());
        // Long enough a value has an element 3: there is nothing wrong with the same condition any more.
        session.runs().giveValues({Value(Tensor::of<float>({4}, std::vector<float>{1, 1, 1, -1}))});
        debugger.restart();
        QCOMPARE(debugger.state(), DebugState::Finished);
        QVERIFY(!only(session).error);
    }

    void hitsAreLetPass() {
        Session session;
        open(session, doublings());
        Debugger& debugger = session.debugger();
        QVERIFY(debugger.addBreakpoint("op:Add", "max(`y0`) == 2"));
        QVERIFY(debugger.setBreakpointIgnored(1, 3));
        debugger.restart();
        QCOMPARE(at(session), QStringLiteral("y3"));
        QCOMPARE(only(session).hits.size(), std::size_t{4});
        debugger.resume();
        QCOMPARE(at(session), QStringLiteral("y4"));
        debugger.resume(Direction::Back);
        QCOMPARE(at(session), QStringLiteral("y3"));
        debugger.resume(Direction::Back);
        QCOMPARE(at(session), QStringLiteral("y0"));  // the start: the first three are let pass that way too
        debugger.restart();
        QCOMPARE(at(session), QStringLiteral("y3"));
        QVERIFY(!debugger.setBreakpointIgnored(7, 1));
    }

    void theyAreKeptAndBoundAgain() {
        Session session;
        open(session, doublings());
        Debugger& debugger = session.debugger();
        QVERIFY(debugger.addBreakpoint("y2", "max(y2) > 7") && debugger.addBreakpoint("op:Add") &&
                debugger.addBreakpoint("nan") && debugger.addBreakpoint({}, "max(y3) > 1") &&
                debugger.addLogPoint("y1", "max(y1)"));
        QVERIFY(debugger.setBreakpointEnabled(2, false) && debugger.setBreakpointIgnored(1, 0));
        const std::vector<SavedBreakpoint> saved = debugger.savedBreakpoints();
        QCOMPARE(saved.size(), std::size_t{5});
        QCOMPARE(saved.front().where, std::string("`y2`"));
        // Other names: what has no place waits, and is there again with the first model.
        open(session, doublings("z"), "other.onnx");
        std::vector<bool> missing;
        for (const Breakpoint& point : debugger.breakpoints().all()) missing.push_back(point.isMissing);
        QCOMPARE(missing, (std::vector<bool>{true, false, false, true, true}));
        debugger.restart();
        QCOMPARE(debugger.state(), DebugState::Finished);
        QVERIFY(debugger.savedBreakpoints() == saved);
        open(session, doublings());
        for (const Breakpoint& point : debugger.breakpoints().all()) QVERIFY(!point.isMissing);
        debugger.restart();
        QCOMPARE(at(session), QStringLiteral("y2"));

        Session second;
        open(second, doublings());
        QVERIFY(second.debugger().restoreBreakpoints(saved).empty());
        QVERIFY(second.debugger().savedBreakpoints() == saved);
        second.debugger().restart();
        QCOMPARE(at(second), QStringLiteral("y2"));
        second.debugger().resume();
        QCOMPARE(at(second), QStringLiteral("y3"));
        QCOMPARE(second.debugger().takeLog().size(), std::size_t{1});
        second.close();
        QVERIFY(second.debugger().breakpoints().all().empty());
    }

    void whatIsNoBreakpointIsLeftOut() {
        Session session;
        open(session, doublings());
        const auto errors = session.debugger().restoreBreakpoints({{"`y1`", "", "max(", false, true, 0},
                                                                   {"", "", "", false, true, 0},
                                                                   {"", "", "1", true, true, 0},
                                                                   {"y4", "", "", false, true, 0},
                                                                   {"`gone`", "", "", false, true, 0},
                                                                   {"op:Gone", "", "", false, true, 0}});
        QCOMPARE(errors.size(), std::size_t{3});
        const auto& all = session.debugger().breakpoints().all();
        QCOMPARE(all.size(), std::size_t{3});
        QVERIFY(!all[0].isMissing && all[1].isMissing && all[2].isMissing);
        session.debugger().restart();
        QCOMPARE(at(session), QStringLiteral("y4"));
    }

    void theLogIsBounded() {
        Session session;
        open(session, doublings());
        Debugger& debugger = session.debugger();
        // 24 MiB each, eight times: two fit into 64 MiB.
        const Value large = Tensor::of<float>({6 << 20}, std::vector<float>(6 << 20, 1.0F));
        session.runs().giveValues({large});
        for (int i = 0; i < 8; ++i) {
            const std::string name = "y" + std::to_string(i);
            QVERIFY(debugger.addLogPoint(name, name));
        }
        debugger.restart();
        QCOMPARE(debugger.state(), DebugState::Finished);
        QCOMPARE(debugger.takeLog().size(), std::size_t{2});
        QCOMPARE(debugger.takeDroppedLog(), std::size_t{6});
        QCOMPARE(debugger.takeDroppedLog(), std::size_t{0});
        for (const Breakpoint& point : debugger.breakpoints().all()) QCOMPARE(point.hits.size(), std::size_t{1});
    }
};

QTEST_GUILESS_MAIN(TestBreakpoints)

}  // namespace tst_breakpoints

#include "tst_breakpoints.moc"
