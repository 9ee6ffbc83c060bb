#include <QTest>

#include "core/analysis/node_measures.h"
#include "core/analysis/parameters.h"
#include "core/analysis/reach.h"
#include "tests/bench/layout_graphs.h"

namespace tst_reach {

using namespace sonde;
using namespace layout_graphs;
using analysis::Flow;

class TestReach : public QObject {
    Q_OBJECT

    static ExprId made(const InternalGraph& graph, const char* node) {
        return graph.node(graph.findNode(node)).producer;
    }
    static QString text(const InternalGraph& graph, const std::vector<ExprId>& exprs) {
        QStringList names;
        for (const ExprId id : exprs) names << QString::fromStdString(graph.node(graph.expr(id).outputs.front()).name);
        return names.join(' ');
    }
    static QString reached(const InternalGraph& graph, const char* from, Flow flow,
                           std::size_t most = analysis::kAnyDistance) {
        const auto distance = analysis::distances(graph, {made(graph, from)}, flow, most);
        QStringList names;
        for (const ExprId id : graph.recursiveOrder(graph.mainId()))
            if (distance[id.index()] != analysis::kUnreached)
                names << QString::fromStdString(graph.node(graph.expr(id).outputs.front()).name) +
                             QString::number(distance[id.index()]);
        return names.join(' ');
    }

    /// x -> a -> b -> d, x -> c -> d, c -> e
    static std::shared_ptr<const InternalGraph> diamond() {
        GraphMaker m;
        const NodeId x = m.input("x");
        const NodeId b = m.op("B", {m.op("A", {x}, "a")}, "b");
        const NodeId c = m.op("C", {x}, "c");
        return m.done({m.op("D", {b, c}, "d"), m.op("E", {c}, "e")});
    }

    /// cond, x -> if { then: neg(x) ; else: abs(x) -> sqrt } -> after
    static std::shared_ptr<const InternalGraph> branching() {
        GraphMaker m;
        const NodeId x = m.input("x"), y = m.input("y");
        const NodeId result = m.op("If", {m.op("Greater", {y}, "cond")}, "if");
        const ExprId owner = m.graph().node(result).producer;
        const BodyId yes = m.graph().addBody(owner, "then_branch"), no = m.graph().addBody(owner, "else_branch");
        m.graph().setResult(yes, Argument::of(m.addIn(yes, ExprKind::Apply, "Neg", "neg", {x})));
        const NodeId abs = m.addIn(no, ExprKind::Apply, "Abs", "abs", {x});
        m.graph().setResult(no, Argument::of(m.addIn(no, ExprKind::Apply, "Sqrt", "sqrt", {abs})));
        return m.done({m.op("Relu", {result}, "after")});
    }

  private slots:
    void conesHaveDepth() {
        const auto graph = diamond();
        QCOMPARE(reached(*graph, "d", Flow::Upstream), QStringLiteral("x2 a2 b1 c1 d0"));
        QCOMPARE(reached(*graph, "d", Flow::Upstream, 1), QStringLiteral("b1 c1 d0"));
        QCOMPARE(reached(*graph, "c", Flow::Downstream), QStringLiteral("c0 d1 e1"));
        QCOMPARE(reached(*graph, "x", Flow::Downstream, 1), QStringLiteral("x0 a1 c1"));
        QCOMPARE(reached(*graph, "e", Flow::Downstream), QStringLiteral("e0"));
    }

    void conesGoThroughBodies() {
        const auto graph = branching();
        QCOMPARE(reached(*graph, "after", Flow::Upstream), QStringLiteral("x2 y3 cond2 if1 neg1 abs2 sqrt1 after0"));
        QCOMPARE(reached(*graph, "x", Flow::Downstream), QStringLiteral("x0 if1 neg1 abs1 sqrt2 after2"));
    }

    void pathsBetweenTwo() {
        const auto graph = diamond();
        QCOMPARE(text(*graph, analysis::between(*graph, {made(*graph, "x")}, {made(*graph, "d")})),
                 QStringLiteral("x a b c d"));
        QCOMPARE(text(*graph, analysis::between(*graph, {made(*graph, "d")}, {made(*graph, "a")})),
                 QStringLiteral("a b d"));
        QVERIFY(analysis::between(*graph, {made(*graph, "b")}, {made(*graph, "e")}).empty());
    }

    /// 2^5000 ways: counted by none.
    void pathsAreLinear() {
        GraphMaker m;
        NodeId x = m.input("x");
        for (int i = 0; i < 5000; ++i) x = m.op("Add", {m.op("A", {x}), m.op("B", {x})}, "s" + std::to_string(i));
        const auto graph = m.done({x});
        QCOMPARE(analysis::between(*graph, {made(*graph, "x")}, {made(*graph, "s4999")}).size(), std::size_t{15001});
    }

    void aHundredThousandNodes() {
        const auto graph = transformer(3400);
        const ExprId last = graph->node(graph->outputs().front()).producer;
        const auto distance = analysis::distances(*graph, {last}, Flow::Upstream);
        QVERIFY(std::count(distance.begin(), distance.end(), analysis::kUnreached) < 10);
    }

    void parametersCountOnce() {
        GraphMaker m;
        const NodeId x = m.input("x"), w = m.constant("w");
        m.graph().setType(w, tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{10, 20}));
        m.graph().mutableExpr(m.graph().node(w).producer).isParameter = true;
        const NodeId a = m.op("MatMul", {x, w}, "a");
        const NodeId b = m.op("MatMul", {a, w}, "b");
        const auto graph = m.done({b});
        const auto counts = analysis::parameterCounts(*graph);
        QCOMPARE(counts[made(*graph, "a").index()], 200);
        QCOMPARE(counts[made(*graph, "b").index()], 0);
        QCOMPARE(*analysis::byteCount(graph->node(w)), 800);
        QVERIFY(!analysis::elementCount(graph->node(a)));
    }
};

QTEST_GUILESS_MAIN(TestReach)

}  // namespace tst_reach

#include "tst_reach.moc"
