#include <QtTest>

#include "core/exec/runner.h"
#include "core/graph/inline_calls.h"

namespace tst_inline_calls {

using namespace sonde;
using namespace sonde::graph;
using tensor::DType;
using tensor::Shape;
using tensor::Value;

namespace {

/// Module "m" is called with x: y = |−x| and the pair (−x, y); the inner module "m.abs" makes |·|.
struct Nested {
    InternalGraph graph;
    ExprId outer, inner;
    NodeId x, negated, result;

    explicit Nested(bool pair) {
        x = graph.addInput(graph.mainId(), "x", TypeInfo::tensor(DType::Float32, Shape{2}));
        outer = call(graph.mainId(), "m", "m", x);
        const BodyId body = graph.addBody(outer, "m");
        const NodeId given = graph.addInput(body, "m/x", TypeInfo::tensor(DType::Float32, Shape{2}));
        negated = apply(body, "Neg", "m/negated", given);
        inner = call(body, "m.abs", "m/abs", negated);
        const BodyId absBody = graph.addBody(inner, "m.abs");
        const NodeId argument = graph.addInput(absBody, "m/abs/x", TypeInfo::tensor(DType::Float32, Shape{2}));
        graph.setResult(absBody, Argument::of(apply(absBody, "Abs", "m/abs/result", argument)));
        const Argument y = Argument::of(graph.expr(inner).outputs.front());
        graph.setResult(body, pair ? Argument::container(Argument::Kind::Tuple, {Argument::of(negated), y}) : y);
        result = graph.expr(outer).outputs.front();
        graph.setResult(graph.mainId(), Argument::of(result));
    }

    ExprId call(BodyId body, std::string module, std::string output, NodeId argument) {
        Expr expr;
        expr.kind = ExprKind::CallModule;
        expr.target = module;
        expr.qualname = module;
        expr.scope = graph.addScope(graph.rootScope(), module, "Block");
        expr.body = body;
        expr.arguments = {Argument::of(argument)};
        return graph.addExpr(std::move(expr), std::span<const std::string>(&output, 1));
    }

    NodeId apply(BodyId body, std::string op, std::string output, NodeId argument) {
        Expr expr;
        expr.op = OpKey{"", op, 13};
        expr.target = op;
        expr.body = body;
        expr.arguments = {Argument::of(argument)};
        return graph.expr(graph.addExpr(std::move(expr), std::span<const std::string>(&output, 1))).outputs.front();
    }
};

Value run(const InternalGraph& graph) {
    exec::PlanOptions options;
    const auto plan = exec::Plan::make(std::make_shared<const InternalGraph>(graph), options);
    if (!plan) return {};
    const std::vector<Value> inputs{Value(tensor::Tensor::of<float>(Shape{2}, {3, -4}))};
    exec::Runner runner;
    const exec::Recording recording = runner.run(**plan, inputs);
    return recording.error || recording.outputs.empty() ? Value() : recording.outputs.front();
}

bool hasCalls(const InternalGraph& graph) {
    for (const ExprId id : graph.recursiveOrder(graph.mainId()))
        if (graph.expr(id).kind == ExprKind::CallModule) return true;
    return false;
}

}  // namespace

class TestInlineCalls : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void insidesTakeThePlaceOfCalls() {
        const Nested nested(false);
        const std::vector<ExprId> calls{nested.outer, nested.inner};
        const InlinedGraph made = inlineCalls(nested.graph, calls);
        QVERIFY(made.graph.validate().has_value());
        QVERIFY(!hasCalls(made.graph));
        QCOMPARE(made.graph.bodyCount(), std::size_t{1});
        const NodeId result = made.nodes[nested.result.index()];
        QCOMPARE(made.graph.node(result).name, std::string("m/abs/result"));
        QCOMPARE(made.graph.outputs(), std::vector<NodeId>{result});
        QCOMPARE(made.graph.node(made.nodes[nested.negated.index()]).users.size(), std::size_t{1});
        const Value value = run(made.graph);
        QVERIFY(value.isTensor());
        QCOMPARE(value.tensor().toDouble(0), 3.0);
        QCOMPARE(value.tensor().toDouble(1), 4.0);
    }

    void otherCallsStay() {
        const Nested nested(false);
        const InlinedGraph made = inlineCalls(nested.graph, std::vector<ExprId>{nested.outer});
        QVERIFY(made.graph.validate().has_value());
        const NodeId abs = made.nodes[nested.graph.findNode("m/abs").index()];
        const Expr& call = made.graph.expr(made.graph.node(abs).producer);
        QVERIFY(call.kind == ExprKind::CallModule);
        QCOMPARE(call.body, made.graph.mainId());
        QCOMPARE(made.graph.scope(call.scope).qualname, std::string("m.abs"));
        QCOMPARE(run(made.graph).tensor().toDouble(1), 4.0);
    }

    void structuresStayOneValue() {
        const Nested nested(true);
        const InlinedGraph made = inlineCalls(nested.graph, std::vector<ExprId>{nested.outer});
        QVERIFY(made.graph.validate().has_value());
        const Value value = run(made.graph);
        QCOMPARE(value.items().size(), std::size_t{2});
        QCOMPARE(value.items()[0].tensor().toDouble(0), -3.0);
        QCOMPARE(value.items()[1].tensor().toDouble(0), 3.0);
    }

    /// What a call returned keeps the name of the outermost call; scopes are gone, qualnames stay.
    void withoutHierarchyThereAreNoCalls() {
        const Nested nested(false);
        const InlinedGraph made = withoutHierarchy(nested.graph);
        QVERIFY(made.graph.validate().has_value());
        QVERIFY(!hasCalls(made.graph));
        QCOMPARE(made.graph.bodyCount(), std::size_t{1});
        QCOMPARE(made.graph.scopeCount(), std::size_t{1});
        const NodeId result = made.graph.outputs().front();
        QCOMPARE(made.graph.node(result).name, std::string("m"));
        QCOMPARE(made.nodes[nested.result.index()], result);
        QVERIFY(made.graph.findNode("m/negated").valid() && !made.graph.findNode("m/abs").valid());
        QCOMPARE(run(made.graph).tensor().toDouble(1), 4.0);
    }

    /// What a call was given and returns as it is keeps its own name.
    void inputsThatAreReturnedKeepTheirNames() {
        Nested nested(false);
        const BodyId inside = nested.graph.expr(nested.inner).bodies.front();
        nested.graph.setResult(inside, Argument::of(nested.graph.body(inside).inputs.front()));
        const BodyId body = nested.graph.expr(nested.outer).bodies.front();
        nested.graph.setResult(body, Argument::of(nested.graph.body(body).inputs.front()));
        const InlinedGraph made = withoutHierarchy(nested.graph);
        QVERIFY(made.graph.validate().has_value());
        QCOMPARE(made.graph.node(made.graph.outputs().front()).name, std::string("x"));
        QVERIFY(made.graph.findNode("m/negated").valid() && !made.graph.findNode("m").valid());
    }

    void defaultsOfInputsStay() {
        Nested nested(false);
        const Value usual(tensor::Tensor::of<float>(Shape{2}, {1, 2}));
        nested.graph.setArguments(nested.graph.node(nested.x).producer, {Argument::of(usual)});
        const InlinedGraph made = withoutHierarchy(nested.graph);
        const Expr& input = made.graph.expr(made.graph.node(made.graph.inputs().front()).producer);
        QCOMPARE(input.arguments.size(), std::size_t{1});
        QVERIFY(input.arguments.front().constant.isTensor());
    }
};

QTEST_GUILESS_MAIN(TestInlineCalls)

}  // namespace tst_inline_calls

#include "tst_inline_calls.moc"
