// remove-inplace in loops: what a body writes to the values that it carries. Expected values are what the same program
// gives in PyTorch, worked out by hand.

#include <QtTest>

#include "core/passes/inplace.h"
#include "tests/core/passes/graph_maker.h"

namespace tst_inplace_loops {

using namespace sonde;
using namespace sonde::test;
using passes::removeInplace;

namespace {

/// `for _ in range(2)` over a body; it carries the values that it is given.
struct LoopMaker {
    InternalGraph& graph;
    ExprId loop;
    graph::BodyId body;
    NodeId condition;
    std::vector<NodeId> carried;

    LoopMaker(Maker& m, const std::vector<NodeId>& initial) : graph(m.graph) {
        std::vector<Argument> arguments{arg(2), arg(true)};
        for (const NodeId each : initial) arguments.push_back(arg(each));
        const NodeId first = m.make(ExprKind::CallFunction, "loop", "prim::Loop", std::move(arguments));
        loop = graph.node(first).producer;
        for (std::size_t i = 1; i < initial.size(); ++i) graph.addOutput(loop, "loop_" + std::to_string(i));
        body = graph.addBody(loop, "body");
        graph.addInput(body, "i", {});
        condition = graph.addInput(body, "condition", {});
        for (std::size_t i = 0; i < initial.size(); ++i)
            carried.push_back(graph.addInput(body, "carried_" + std::to_string(i), {}));
    }
    NodeId call(const std::string& name, const std::string& op, NodeId operand, int number) {
        Expr expr;
        expr.kind = ExprKind::CallFunction;
        expr.op = {"aten", op, 0};
        expr.target = op;
        expr.body = body;
        expr.arguments = {arg(operand), arg(number)};
        return graph.expr(graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
    }
    /// What the next iteration gets. The outputs of the loop.
    std::vector<NodeId> end(const std::vector<NodeId>& results) {
        std::vector<Argument> items{arg(condition)};
        for (const NodeId each : results) items.push_back(arg(each));
        graph.setResult(body, tuple(std::move(items)));
        return graph.expr(loop).outputs;
    }
};

}  // namespace

class TestInplaceLoops : public QObject {
    Q_OBJECT

    static void checkRefused(InternalGraph& graph) {
        QVERIFY(graph.validate());
        const std::string before = printed(graph);
        const auto count = removeInplace(graph);
        QVERIFY(!count);
        QVERIFY2(count.error().where.starts_with("node 'add_', operation "), count.error().text().c_str());
        QVERIFY2(count.error().what.find("next iteration") != std::string::npos, count.error().text().c_str());
        QCOMPARE(printed(graph), before);
    }

  private Q_SLOTS:
    /// c = x.clone(); for _ in range(2): c.add_(1); return c, as the loop gives it.
    void loopsMayWriteToWhatTheyCarry() {
        Maker m;
        const NodeId c = m.call("c", "aten::clone", m.floats("x", {2}));
        LoopMaker loop(m, {c});
        loop.call("add_", "add_.Scalar", loop.carried[0], 1);
        m.result(loop.end({loop.carried[0]})[0]);
        QVERIFY(m.graph.validate());
        QVERIFY(removeInplace(m.graph).value() > 0);
        QVERIFY(m.graph.validate());
        QCOMPARE(numbers(run(m.graph, {tensorOf({2}, {1, 5})}).at(0)), (std::vector<double>{3, 7}));
    }

    /// a.add_(1); a, b = b, a: the second iteration writes to b, which is read by its name behind the loop (11, not
    /// 10).
    void loopsThatSwapWhatTheyWriteAreRefused() {
        Maker m;
        const NodeId x = m.floats("x", {1});
        const NodeId a = m.call("a", "aten::clone", x), b = m.call("b", "aten::mul.Scalar", x, 10);
        LoopMaker loop(m, {a, b});
        loop.call("add_", "add_.Scalar", loop.carried[0], 1);
        loop.end({loop.carried[1], loop.carried[0]});
        m.result(b);
        checkRefused(m.graph);
    }

    /// a.add_(1); c = b + 0; b = a: in the second iteration b is a, and read behind the write (3, not 2).
    void loopsThatCarryAWrittenTensorTwiceAreRefused() {
        Maker m;
        const NodeId x = m.floats("x", {1});
        const NodeId a = m.call("a", "aten::clone", x), b = m.call("b", "aten::mul.Scalar", x, 10);
        LoopMaker loop(m, {a, b, b});
        loop.call("add_", "add_.Scalar", loop.carried[0], 1);
        const NodeId read = loop.call("add", "add.Scalar", loop.carried[1], 0);
        m.result(loop.end({loop.carried[0], loop.carried[0], read})[2]);
        checkRefused(m.graph);
    }

    /// a.add_(1); b, c = c, b: what nobody writes may change its position, be carried twice, or come from outside.
    void loopsMayCarryWhatNobodyWritesAnyhow() {
        Maker m;
        const NodeId x = m.floats("x", {1});
        const NodeId a = m.call("a", "aten::clone", x), b = m.call("b", "aten::mul.Scalar", x, 10);
        const NodeId c = m.call("c", "aten::mul.Scalar", x, 100);
        LoopMaker loop(m, {a, b, c, b});
        loop.call("add_", "add_.Scalar", loop.carried[0], 1);
        const std::vector<NodeId> results =
            loop.end({loop.carried[0], loop.carried[2], loop.carried[2], loop.carried[1]});
        m.result(tuple({arg(results[0]), arg(results[1]), arg(results[2]), arg(results[3])}));
        QVERIFY(m.graph.validate());
        const auto count = removeInplace(m.graph);
        QVERIFY2(count.has_value() && *count > 0, count ? "0" : count.error().text().c_str());
        QVERIFY(m.graph.validate());
        // After the first iteration (2, 100, 100, 10), after the second (3, 100, 100, 100).
        const std::vector<Value> values = run(m.graph, {tensorOf({1}, {1})});
        QCOMPARE(numbers(values.at(0)), (std::vector<double>{3}));
        QCOMPARE(numbers(values.at(1)), (std::vector<double>{100}));
        QCOMPARE(numbers(values.at(2)), (std::vector<double>{100}));
        QCOMPARE(numbers(values.at(3)), (std::vector<double>{100}));
    }

    /// a.add_(1); a = b, a tensor from outside: the second iteration writes to it (11, not 10).
    void loopsThatGoOnWithATensorFromOutsideAreRefused() {
        Maker m;
        const NodeId x = m.floats("x", {1});
        const NodeId a = m.call("a", "aten::clone", x), b = m.call("b", "aten::mul.Scalar", x, 10);
        LoopMaker loop(m, {a});
        loop.call("add_", "add_.Scalar", loop.carried[0], 1);
        loop.end({b});
        m.result(b);
        checkRefused(m.graph);
    }
};

QTEST_GUILESS_MAIN(TestInplaceLoops)

}  // namespace tst_inplace_loops

#include "tst_inplace_loops.moc"
