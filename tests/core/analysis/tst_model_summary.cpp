// What a graph consists of, counted by hand.

#include <QtTest>

#include <span>

#include "core/analysis/model_structure.h"
#include "core/analysis/model_summary.h"
#include "tests/core/passes/graph_maker.h"

namespace tst_model_summary {

using namespace sonde;
using tensor::Tensor;

namespace {

const graph::Expr& exprOf(const graph::InternalGraph& graph, graph::NodeId node) {
    return graph.expr(graph.node(node).producer);
}

}  // namespace

class TestModelSummary : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void operatorsAreCounted();
    void computedWeightsAreCountedOnce();
    void pathsGoThroughOperationsOnly();
    void aCallIsAsDeepAsItsDeepestResult();
};

void TestModelSummary::operatorsAreCounted() {
    test::Maker maker;
    const auto x = maker.floats("x", {4});
    const auto one = maker.constant("one", Tensor::of<float>({1}, {1}));
    const auto a = maker.onnx("a", "Add", x, one);
    const auto b = maker.onnx("b", "Add", a, x);
    const auto c = maker.call("c", "acme::strange", b);
    const auto d = maker.onnx("d", "NobodyKnowsThis", c);
    maker.result(d);
    const analysis::ModelSummary summary = analysis::summaryOf(maker.graph);
    QCOMPARE(summary.nodes, std::size_t(4));  // neither the input nor the constant
    // An operation with two results is two nodes.
    graph::Expr split;
    split.kind = graph::ExprKind::Apply;
    split.op = {"", "Split", 17};
    split.arguments = {test::arg(x)};
    const std::string names[] = {"low", "high"};
    maker.graph.addExpr(std::move(split), names);
    QCOMPARE(analysis::summaryOf(maker.graph).nodes, std::size_t(6));
    QCOMPARE(summary.operators.size(), std::size_t(3));
    QCOMPARE(summary.operators.at("Add"), std::size_t(2));
    QCOMPARE(summary.operators.at("acme::strange"), std::size_t(1));
    QCOMPARE(summary.unsupported, (std::set<std::string>{"NobodyKnowsThis", "acme::strange"}));
    QVERIFY(analysis::definitionOf(exprOf(maker.graph, a)));
    QVERIFY(!analysis::isUnsupported(exprOf(maker.graph, a)));
    QVERIFY(!analysis::definitionOf(exprOf(maker.graph, d)) && analysis::isUnsupported(exprOf(maker.graph, d)));
    // What calls no operator is none that cannot be run.
    QVERIFY(!analysis::definitionOf(exprOf(maker.graph, x)) && !analysis::isUnsupported(exprOf(maker.graph, x)));
}

void TestModelSummary::computedWeightsAreCountedOnce() {
    test::Maker maker;
    const auto x = maker.floats("x", {1, 1, 4, 4});
    const auto shape = maker.constant("shape", Tensor::of<std::int64_t>({4}, {1, 1, 3, 3}));
    const auto made = maker.onnx("made", "ConstantOfShape", shape);
    const auto first = maker.onnx("first", "Conv", x, made);
    const auto second = maker.onnx("second", "Conv", x, made);  // the same weight
    QCOMPARE(analysis::computedWeights(maker.graph).count, std::size_t(1));
    // One that depends on the input is a value of the run, and one of the file is stored.
    maker.onnx("third", "Conv", x, maker.onnx("copy", "Identity", x));
    maker.onnx("fourth", "Conv", x, maker.constant("w", Tensor::of<float>({1, 1, 1, 1}, {2})));
    QCOMPARE(analysis::computedWeights(maker.graph).count, std::size_t(1));
    // A shape is computed from constants, too, and is no weight.
    maker.onnx("reshaped", "Reshape", maker.onnx("sum", "Add", first, second), maker.onnx("same", "Identity", shape));
    QCOMPARE(analysis::computedWeights(maker.graph).count, std::size_t(1));
}

/// Three operations lead to y, one to z, which is the last result: y = ((x + 1) + x)·x, z = relu(x).
void TestModelSummary::pathsGoThroughOperationsOnly() {
    test::Maker maker;
    const auto x = maker.floats("x", {4});
    const auto one = maker.constant("one", Tensor::of<float>({1}, {1}));
    const auto a = maker.onnx("a", "Add", x, one);
    const auto b = maker.onnx("b", "Add", x, a);  // the second input is the deeper one
    const auto y = maker.onnx("y", "Mul", b, x);
    const auto z = maker.onnx("z", "Relu", x);
    maker.result(test::tuple({test::arg(y), test::arg(z)}));
    const analysis::ModelStructure structure = analysis::structureOf(maker.graph);
    QCOMPARE(structure.depth, std::size_t(3));
    QCOMPARE(structure.path, (std::vector<graph::NodeId>{a, b, y}));
    QCOMPARE(structure.depths[one.index()], std::size_t(0));
    QCOMPARE(structure.depths[x.index()], std::size_t(0));
    QCOMPARE(structure.depths[z.index()], std::size_t(1));
}

/// A called module gives a pair as one value, relu(v) and tanh(exp(v)): the longer way to it counts.
void TestModelSummary::aCallIsAsDeepAsItsDeepestResult() {
    test::Maker maker;
    const auto x = maker.floats("x", {4});
    graph::Expr call;
    call.kind = graph::ExprKind::CallModule;
    call.target = "block";
    call.arguments = {test::arg(x)};
    const std::string name = "pair";
    const graph::ExprId id = maker.graph.addExpr(std::move(call), std::span(&name, 1));
    const graph::BodyId body = maker.graph.addBody(id, "block");
    const auto v = maker.graph.addInput(body, "v", {});
    const auto inside = [&](const std::string& own, const char* op, graph::NodeId of) {
        graph::Expr expr;
        expr.kind = graph::ExprKind::Apply;
        expr.op = {"", op, 17};
        expr.target = op;
        expr.body = body;
        expr.arguments = {test::arg(of)};
        return maker.graph.expr(maker.graph.addExpr(std::move(expr), std::span(&own, 1))).outputs.front();
    };
    const auto exp = inside("exp", "Exp", v), tanh = inside("tanh", "Tanh", exp), relu = inside("relu", "Relu", v);
    for (const bool isDeepFirst : {false, true}) {
        maker.graph.setResult(
            body, test::tuple({test::arg(isDeepFirst ? tanh : relu), test::arg(isDeepFirst ? relu : tanh)}));
        test::Maker model = maker;
        const auto y = model.onnx("y", "Neg", model.graph.expr(id).outputs.front());
        model.result(y);
        const analysis::ModelStructure structure = analysis::structureOf(model.graph);
        QCOMPARE(structure.depth, std::size_t(3));
        QCOMPARE(structure.path, (std::vector<graph::NodeId>{exp, tanh, y}));
    }
}

QTEST_MAIN(TestModelSummary)

}  // namespace tst_model_summary

#include "tst_model_summary.moc"
