// Checks run whatever is watched, and what is only watched ends no run.

#include <QtTest>

#include "core/exec/runner.h"
#include "core/ops/registry/effects.h"

namespace tst_effects {

using namespace sonde;
using exec::Plan;
using exec::PlanOptions;
using exec::Recording;
using exec::Runner;
using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using graph::OpKey;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

namespace {

/// Looks at every step, so that each runs by itself.
class Watcher final : public exec::RunObserver {};

const BodyId kMain(std::size_t{0});

ExprId add(InternalGraph& graph, Expr expr, const std::string& output) {
    return graph.addExpr(std::move(expr), std::span<const std::string>(&output, 1));
}

NodeId apply(InternalGraph& graph, const std::string& op, const std::string& output, const std::vector<NodeId>& inputs,
             BodyId body = kMain) {
    Expr expr;
    expr.op = OpKey{"", op, 17};
    expr.target = op;
    expr.body = body;
    for (NodeId input : inputs) expr.arguments.push_back(Argument::of(input));
    return graph.expr(add(graph, std::move(expr), output)).outputs.front();
}

/// torch._assert(holds, "NAME must hold")
NodeId check(InternalGraph& graph, const std::string& name, NodeId holds, BodyId body = kMain) {
    Expr expr;
    expr.op = OpKey{"prim", "_assert", 0};
    expr.target = "_assert";
    expr.body = body;
    expr.arguments = {Argument::of(holds), Argument::of(Value(name + " must hold"))};
    return graph.expr(add(graph, std::move(expr), name)).outputs.front();
}

/// sum = x + x; assert a; y = -sum; dead = MatMul(x, x), which fails for three numbers and two; last = abs(y); assert
/// b; dead and what reads it are no part of the result, which is y.
struct Checked {
    std::shared_ptr<InternalGraph> graph = std::make_shared<InternalGraph>();
    NodeId x, a, b, sum, checkA, y, dead, reader, last, checkB;

    Checked() {
        x = graph->addInput(kMain, "x", TypeInfo::tensor(DType::Float32));
        a = graph->addInput(kMain, "a", TypeInfo::tensor(DType::Bool));
        b = graph->addInput(kMain, "b", TypeInfo::tensor(DType::Bool));
        sum = apply(*graph, "Add", "sum", {x, x});
        checkA = check(*graph, "checkA", a);
        y = apply(*graph, "Neg", "y", {sum});
        dead = apply(*graph, "Concat", "dead", {x, a});
        reader = apply(*graph, "Neg", "reader", {dead});
        last = apply(*graph, "Abs", "last", {y});
        checkB = check(*graph, "checkB", b);
        graph->setResult(kMain, Argument::of(y));
    }

    Recording run(PlanOptions options, bool aHolds, bool bHolds, bool observed = false, std::size_t threads = 1) const {
        const auto plan = Plan::make(graph, std::move(options)).value();
        Runner runner(threads);
        Watcher watcher;
        exec::RunOptions runOptions;
        if (observed) runOptions.observer = &watcher;
        const std::vector<Value> inputs{Value(Tensor::of<float>({3}, {1, 2, 3})), Value(Tensor::scalar(aHolds)),
                                        Value(Tensor::scalar(bHolds))};
        return runner.run(*plan, inputs, {}, runOptions);
    }
};

std::vector<float> floats(const Value& value) {
    const auto span = value.tensor().span<float>();
    return {span.begin(), span.end()};
}

bool holds(const base::Error& error, const char* part) { return error.text().find(part) != std::string::npos; }

}  // namespace

class TestEffects : public QObject {
    Q_OBJECT

  private slots:
    void operatorsSayWhatTheyDo() {
        const ops::Registry& registry = ops::Registry::all();
        for (const char* name : {"_assert", "_assert_is_none", "RaiseException"})
            QVERIFY2(ops::hasEffect(*registry.find("prim", name, 0)), name);
        QVERIFY(ops::hasEffect(*registry.find("sonde", "guard", 1)));
        QVERIFY(ops::hasEffect(*registry.find("aten", "_assert_async.msg", 0)));
        QVERIFY(!ops::hasEffect(*registry.find("", "Add", 17)));
        QVERIFY(!ops::hasEffect(*registry.find("prim", "add", 0)));
    }

    void anAssertionFailsWhateverIsWatched_data() {
        QTest::addColumn<bool>("observed");
        QTest::newRow("in one go") << false;
        QTest::newRow("step by step") << true;
    }
    void anAssertionFailsWhateverIsWatched() {
        QFETCH(bool, observed);
        const Checked model;
        const std::vector<PlanOptions> ways{
            {}, {.watch = {model.sum}}, {.watchAll = true}, {.end = {model.last, model.checkB}}};
        for (const PlanOptions& options : ways) {
            const Recording good = model.run(options, true, true, observed);
            QVERIFY(!good.error);
            const Recording bad = model.run(options, false, true, observed);
            QVERIFY(bad.error && holds(*bad.error, "checkA must hold"));
            QCOMPARE(bad.failures.size(), std::size_t{1});
            QCOMPARE(bad.failures[0].expr, model.graph->node(model.checkA).producer);
            QCOMPARE(bad.failures[0].inputTypes.front(), std::string("bool[]"));
            QVERIFY(!bad.computed(model.y));  // nothing of what comes after it
            const Recording late = model.run(options, true, false, observed);
            QVERIFY(late.error && holds(*late.error, "checkB must hold"));
        }
    }

    void checksAfterTheLastEndPointDoNotRun() {
        const Checked model;
        QVERIFY(!model.run({.end = {model.sum}}, false, false).error);
        QVERIFY(!model.run({.end = {model.x}}, false, false).error);
        const Recording between = model.run({.end = {model.y}}, true, false);
        QVERIFY(!between.error);
        QCOMPARE(floats(between.outputs.at(0)), (std::vector<float>{-2, -4, -6}));
        QVERIFY(model.run({.end = {model.y}}, false, true).error);
        QVERIFY(model.run({.end = {model.sum, model.last}}, false, true).error);
        QVERIFY(!model.run({.watch = {model.checkA}, .end = {model.sum}}, false, true).error);
    }

    void whatIsOnlyWatchedEndsNoRun() {
        const Checked model;
        for (const bool observed : {false, true}) {
            for (const PlanOptions& options :
                 {PlanOptions{.watch = {model.reader, model.last}}, PlanOptions{.watchAll = true}}) {
                const Recording recording = model.run(options, true, true, observed);
                QVERIFY(!recording.error);
                QCOMPARE(floats(recording.outputs.at(0)), (std::vector<float>{-2, -4, -6}));
                QCOMPARE(recording.failures.size(), std::size_t{1});
                QCOMPARE(recording.failures[0].expr, model.graph->node(model.dead).producer);
                QCOMPARE(recording.failures[0].inputTypes, (std::vector<std::string>{"float32[3]", "bool[]"}));
                QCOMPARE(recording.state(model.graph->node(model.dead).producer), exec::ExprState::Failed);
                QCOMPARE(recording.state(model.graph->node(model.reader).producer), exec::ExprState::NotReached);
                QVERIFY(!recording.value(model.dead) && !recording.value(model.reader));
                QCOMPARE(floats(*recording.value(model.last)), (std::vector<float>{2, 4, 6}));
                QVERIFY(!recording.failedAt.valid());
            }
            // As an end point it is needed.
            QVERIFY(model.run({.end = {model.reader}}, true, true, observed).error);
        }
    }

    /// if c: (assert a; -x) else: x
    void aBranchChecksWhenItIsTaken() {
        auto graph = std::make_shared<InternalGraph>();
        const NodeId x = graph->addInput(kMain, "x", TypeInfo::tensor(DType::Float32));
        const NodeId c = graph->addInput(kMain, "c", TypeInfo::tensor(DType::Bool));
        const NodeId a = graph->addInput(kMain, "a", TypeInfo::tensor(DType::Bool));
        const NodeId branch = apply(*graph, "If", "branch", {c});
        const ExprId owner = graph->node(branch).producer;
        const BodyId then = graph->addBody(owner, "then_branch"), other = graph->addBody(owner, "else_branch");
        graph->setResult(then, Argument::of(apply(*graph, "Neg", "negative", {x}, then)));
        const NodeId inThen = check(*graph, "inThen", a, then);
        graph->setResult(other, Argument::of(apply(*graph, "Identity", "same", {x}, other)));
        graph->mutableExpr(owner).attributes.set("then_branch", tensor::BodyRef{0});
        graph->mutableExpr(owner).attributes.set("else_branch", tensor::BodyRef{1});
        // Nothing uses the branch: its check is why it runs.
        const NodeId y = apply(*graph, "Abs", "y", {x});
        graph->setResult(kMain, Argument::of(y));
        const auto run = [&](PlanOptions options, bool taken, bool isTrue) {
            Runner runner(1);
            const std::vector<Value> inputs{Value(Tensor::of<float>({1}, {-2})), Value(Tensor::scalar(taken)),
                                            Value(Tensor::scalar(isTrue))};
            return runner.run(*Plan::make(graph, std::move(options)).value(), inputs);
        };
        for (const PlanOptions& options :
             {PlanOptions{}, PlanOptions{.watchAll = true}, PlanOptions{.watch = {inThen}}, PlanOptions{.end = {y}}}) {
            QVERIFY(!run(options, true, true).error);
            QVERIFY(!run(options, false, false).error);
            const Recording failed = run(options, true, false);
            QVERIFY(failed.error && holds(*failed.error, "inThen must hold"));
            QCOMPARE(failed.failedAt, owner);
            QCOMPARE(failed.failures.at(0).expr, graph->node(inThen).producer);
        }
    }

    /// A called module: assert a; -x. The end point before it does not need the check, what comes after the call does.
    void aCalledModuleChecks() {
        auto graph = std::make_shared<InternalGraph>();
        const NodeId x = graph->addInput(kMain, "x", TypeInfo::tensor(DType::Float32));
        const NodeId a = graph->addInput(kMain, "a", TypeInfo::tensor(DType::Bool));
        const NodeId before = apply(*graph, "Abs", "before", {x});
        Expr call;
        call.kind = graph::ExprKind::CallModule;
        call.target = "block";
        call.body = kMain;
        call.arguments = {Argument::of(before), Argument::of(a)};
        const ExprId id = add(*graph, std::move(call), "block");
        const BodyId body = graph->addBody(id, "");
        const NodeId inner = graph->addInput(body, "inner", TypeInfo{}),
                     flag = graph->addInput(body, "flag", TypeInfo{});
        const NodeId first = apply(*graph, "Abs", "first", {inner}, body);
        check(*graph, "inBlock", flag, body);
        const NodeId second = apply(*graph, "Neg", "second", {inner}, body);
        graph->setResult(body, Argument::of(second));
        const NodeId after = apply(*graph, "Abs", "after", {x});
        graph->setResult(kMain, Argument::of(after));
        const auto fails = [&](PlanOptions options) {
            Runner runner(1);
            const std::vector<Value> inputs{Value(Tensor::of<float>({1}, {-2})), Value(Tensor::scalar(false))};
            return runner.run(*Plan::make(graph, std::move(options)).value(), inputs).error.has_value();
        };
        QVERIFY(fails({}));
        QVERIFY(fails({.watchAll = true}));
        QVERIFY(fails({.end = {after}}));
        QVERIFY(fails({.end = {second}}));
        QVERIFY(!fails({.end = {before}}));
        QVERIFY(!fails({.end = {first}}));
        QVERIFY(!fails({.watch = {second}, .end = {first}}));
    }
};

QTEST_GUILESS_MAIN(TestEffects)

}  // namespace tst_effects

#include "tst_effects.moc"
