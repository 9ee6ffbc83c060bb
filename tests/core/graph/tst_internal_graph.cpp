#include <QtTest>

#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"

namespace tst_internal_graph {

using namespace sonde::graph;
using sonde::tensor::DType;
using sonde::tensor::Shape;
using sonde::tensor::TypeInfo;
using sonde::tensor::Value;

namespace {

/// y = relu(x + 1), with the add in module "a" and the relu in "a.b".
struct Small {
    InternalGraph graph;
    NodeId x, sum, y;
    ExprId add, relu;

    Small() {
        x = graph.addInput(graph.mainId(), "x", TypeInfo::tensor(DType::Float32, Shape{2}));
        const ScopeId a = graph.addScope(graph.rootScope(), "a", "Block");
        const ScopeId b = graph.addScope(a, "a.b", "ReLU");
        sum = apply("Add", "sum", {Argument::of(x), Argument::of(Value::ofInt(1))}, a, "a", add);
        y = apply("Relu", "y", {Argument::of(sum)}, b, "a.b", relu);
        graph.setResult(graph.mainId(), Argument::of(y));
    }

    NodeId apply(std::string op, std::string output, std::vector<Argument> arguments, ScopeId scope,
                 std::string qualname, ExprId& id) {
        Expr expr;
        expr.op = OpKey{"", op, 14};
        expr.target = op;
        expr.arguments = std::move(arguments);
        expr.scope = scope;
        expr.qualname = std::move(qualname);
        id = graph.addExpr(std::move(expr), std::span<const std::string>(&output, 1));
        return graph.expr(id).outputs.front();
    }
};

}  // namespace

class TestInternalGraph : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void buildsAValidGraph() {
        Small small;
        const auto valid = small.graph.validate();
        QVERIFY2(valid.has_value(), valid ? "" : valid.error().text().c_str());
        QCOMPARE(small.graph.findNode("sum"), small.sum);
        QVERIFY(!small.graph.findNode("nothing").valid());
        QCOMPARE(small.graph.node(small.sum).users, std::vector<ExprId>{small.relu});
        QCOMPARE(small.graph.main().order.size(), std::size_t{3});
        QCOMPARE(small.graph.scopeOf(small.y).qualname, std::string("a.b"));
    }

    void printsOneLineForEachExpr() {
        Small small;
        QCOMPARE(QString::fromStdString(printed(small.graph)), QString("x: float32[2] = Input x()\n"
                                                                       "sum: ? = Apply Add(x, 1)  # a\n"
                                                                       "y: ? = Apply Relu(sum)  # a.b\n"
                                                                       "return y\n"));
    }

    void keepsUseListsRightThroughEdits() {
        Small small;
        small.graph.replaceUses(small.sum, small.x);
        QVERIFY(small.graph.node(small.sum).users.empty());
        QCOMPARE(small.graph.node(small.x).users, (std::vector<ExprId>{small.add, small.relu}));
        QVERIFY(small.graph.validate().has_value());
        small.graph.erase(small.add);
        QVERIFY(small.graph.isErased(small.add));
        QVERIFY(!small.graph.findNode("sum").valid());
        QCOMPARE(small.graph.node(small.x).users, std::vector<ExprId>{small.relu});
        QVERIFY(small.graph.validate().has_value());
    }

    void countsUsesWithMultiplicity() {
        Small small;
        ExprId id;
        small.apply("Mul", "square", {Argument::of(small.x), Argument::of(small.x)}, small.graph.rootScope(), "", id);
        QCOMPARE(small.graph.node(small.x).users, (std::vector<ExprId>{small.add, id, id}));
        QVERIFY(small.graph.validate().has_value());
    }

    void redirectsResultsToo() {
        Small small;
        small.graph.replaceUses(small.y, small.x);
        QCOMPARE(small.graph.outputs(), std::vector<NodeId>{small.x});
        QCOMPARE(small.graph.main().result.node, small.x);
    }

    void refusesANameInUse() {
        Small small;
        QVERIFY(!small.graph.rename(small.y, "x").has_value());
        QVERIFY(small.graph.rename(small.y, "result").has_value());
        QCOMPARE(small.graph.findNode("result"), small.y);
        QVERIFY(!small.graph.findNode("y").valid());
    }

    void validatorFindsAUseBeforeTheDefinition() {
        Small small;
        small.graph.setArguments(small.add, {Argument::of(small.y), Argument::of(Value::ofInt(1))});
        const auto valid = small.graph.validate();
        QVERIFY(!valid.has_value());
        QVERIFY(QString::fromStdString(valid.error().text()).contains("not defined before its use"));
    }

    void validatorFindsTwoNodesOfOneName() {
        Small small;
        ExprId id;
        small.apply("Neg", "y", {Argument::of(small.x)}, small.graph.rootScope(), "", id);
        const auto valid = small.graph.validate();
        QVERIFY(!valid.has_value());
        QCOMPARE(QString::fromStdString(valid.error().text()), QString("name is used twice (node 'y')"));
    }

    void whatABodyMakesIsNotVisibleOutside() {
        Small small;
        Expr owner;
        owner.op = OpKey{"", "If", 16};
        owner.target = "If";
        owner.arguments = {Argument::of(small.x)};
        const std::string name = "chosen";
        const ExprId branch = small.graph.addExpr(std::move(owner), std::span<const std::string>(&name, 1));
        const BodyId body = small.graph.addBody(branch, "then_branch");
        Expr inner;
        inner.op = OpKey{"", "Neg", 13};
        inner.target = "Neg";
        inner.arguments = {Argument::of(small.x)};  // captured
        inner.body = body;
        const std::string innerName = "inner";
        const ExprId neg = small.graph.addExpr(std::move(inner), std::span<const std::string>(&innerName, 1));
        const NodeId made = small.graph.expr(neg).outputs.front();
        small.graph.setResult(body, Argument::of(made));
        QVERIFY(small.graph.validate().has_value());
        QCOMPARE(small.graph.recursiveOrder(small.graph.mainId()).back(), neg);
        small.graph.setResult(small.graph.mainId(), Argument::of(made));
        QVERIFY(!small.graph.validate().has_value());
    }

    void scopesNest() {
        Small small;
        QVERIFY(small.graph.encloses(ScopeId(std::size_t{1}), ScopeId(std::size_t{2})));
        QVERIFY(!small.graph.encloses(ScopeId(std::size_t{2}), ScopeId(std::size_t{1})));
        QVERIFY(small.graph.encloses(small.graph.rootScope(), ScopeId(std::size_t{2})));
    }

    void moduleTreeAddsMissingContainers() {
        ModuleTree tree;
        const std::size_t conv = tree.add("layer1.0.conv1", "Conv2d");
        QCOMPARE(tree.modules().size(), std::size_t{4});
        QCOMPARE(tree.module(*tree.find("layer1.0")).children, std::vector<std::size_t>{conv});
        QCOMPARE(tree.add("layer1.0.conv1", ""), conv);
        QCOMPARE(tree.module(conv).moduleClass, std::string("Conv2d"));
        ParameterInfo weight{"weight", TypeInfo::tensor(DType::Float32, Shape{64, 3, 7, 7}), std::nullopt, false};
        ParameterInfo mean{"running_mean", TypeInfo::tensor(DType::Float32, Shape{64}), std::nullopt, true};
        tree.mutableModule(conv).parameters = {weight, mean};
        QCOMPARE(tree.parameterCount(conv, false), std::int64_t{64 * 3 * 7 * 7});
        QCOMPARE(tree.parameterCount(0, true), std::int64_t{64 * 3 * 7 * 7});
        QCOMPARE(tree.parameterCount(0, false), std::int64_t{0});
    }
};

QTEST_APPLESS_MAIN(TestInternalGraph)

}  // namespace tst_internal_graph

#include "tst_internal_graph.moc"
