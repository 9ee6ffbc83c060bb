#include <QtTest>

#include "core/exec/runner.h"

namespace tst_runner {

using namespace sonde;
using exec::ExprState;
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

NodeId apply(InternalGraph& graph, std::string op, std::string output, std::vector<NodeId> inputs,
             BodyId body = BodyId(std::size_t{0}), std::string qualname = "") {
    Expr expr;
    expr.op = OpKey{"", op, 17};
    expr.target = op;
    expr.body = body;
    expr.qualname = std::move(qualname);
    for (NodeId input : inputs) expr.arguments.push_back(Argument::of(input));
    const ExprId id = graph.addExpr(std::move(expr), std::span<const std::string>(&output, 1));
    return graph.expr(id).outputs.front();
}

/// sum = x + x, product = sum * x, y = -product, and dead = -x that nothing reads.
struct Chain {
    std::shared_ptr<InternalGraph> graph = std::make_shared<InternalGraph>();
    NodeId x, sum, dead, product, y;

    Chain() {
        x = graph->addInput(graph->mainId(), "x", TypeInfo::tensor(DType::Float32));
        sum = apply(*graph, "Add", "sum", {x, x});
        dead = apply(*graph, "Neg", "dead", {x});
        product = apply(*graph, "Mul", "product", {sum, x}, graph->mainId(), "block.0");
        y = apply(*graph, "Neg", "y", {product});
        graph->setResult(graph->mainId(), Argument::of(y));
    }

    Recording run(PlanOptions options, const base::WorkContext& work = {}, const exec::RunOptions& runOptions = {}) {
        const auto plan = Plan::make(graph, std::move(options)).value();
        Runner runner(1);
        const std::vector<Value> inputs{Value(Tensor::of<float>({3}, {1, 2, 3}))};
        return runner.run(*plan, inputs, work, runOptions);
    }
};

std::vector<float> floats(const Value& value) {
    const auto span = value.tensor().span<float>();
    return {span.begin(), span.end()};
}

class Counter final : public exec::RunObserver {
  public:
    void exprFinished(ExprId, std::span<const Value> outputs, std::int64_t elapsedNs) override {
        ++finished;
        lastOutputs = outputs.size();
        negativeTime = negativeTime || elapsedNs < 0;
    }
    bool mayContinue(ExprId) override { return finished < limit; }

    int limit = 1000;
    int finished = 0;
    std::size_t lastOutputs = 0;
    bool negativeTime = false;
};

}  // namespace

class TestRunner : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void computesOnlyWhatTheOutputsNeed() {
        Chain chain;
        const Recording recording = chain.run({});
        QVERIFY(!recording.error);
        QCOMPARE(floats(recording.outputs.at(0)), (std::vector<float>{-2, -8, -18}));
        QVERIFY(recording.computed(chain.product));
        QVERIFY(!recording.computed(chain.dead));
        QVERIFY(!recording.value(chain.product));  // computed, but not kept
        QVERIFY(recording.elapsedNs(chain.graph->node(chain.sum).producer) > 0);
        QVERIFY(recording.totalNs > 0);
    }

    void watchPointsKeepValuesAndPullInDeadCode() {
        Chain chain;
        const Recording recording = chain.run({.watch = {chain.dead, chain.sum, chain.x}});
        QCOMPARE(floats(*recording.value(chain.dead)), (std::vector<float>{-1, -2, -3}));
        QCOMPARE(floats(*recording.value(chain.sum)), (std::vector<float>{2, 4, 6}));
        QCOMPARE(floats(*recording.value(chain.x)), (std::vector<float>{1, 2, 3}));
        QCOMPARE(recording.iterations(chain.sum), std::size_t{1});
    }

    void watchAllKeepsEverything() {
        Chain chain;
        const Recording recording = chain.run({.watchAll = true});
        for (NodeId node : {chain.x, chain.sum, chain.dead, chain.product, chain.y}) QVERIFY(recording.value(node));
    }

    void endPointsCutTheRunAndReturnTheirValuesInOrder() {
        Chain chain;
        const Recording recording = chain.run({.end = {chain.sum, chain.x}});
        QCOMPARE(recording.outputs.size(), std::size_t{2});
        QCOMPARE(floats(recording.outputs[0]), (std::vector<float>{2, 4, 6}));
        QCOMPARE(floats(recording.outputs[1]), (std::vector<float>{1, 2, 3}));
        QCOMPARE(recording.state(chain.graph->node(chain.product).producer), ExprState::NotReached);
    }

    void aWatchBeyondTheEndIsNotComputed() {
        Chain chain;
        const Recording recording = chain.run({.watch = {chain.product}, .end = {chain.sum}});
        QVERIFY(!recording.error);
        QVERIFY(!recording.computed(chain.product));
        QVERIFY(!recording.value(chain.product));
    }

    void anEndAtAnInputRunsNothing() {
        Chain chain;
        Counter counter;
        exec::RunOptions options;
        options.observer = &counter;
        const Recording recording = chain.run({.end = {chain.x}}, {}, options);
        QCOMPARE(counter.finished, 0);
        QCOMPARE(floats(recording.outputs.at(0)), (std::vector<float>{1, 2, 3}));
    }

    void theObserverSeesEveryStepAndMayStop() {
        Chain chain;
        Counter counter;
        exec::RunOptions options;
        options.observer = &counter;
        QVERIFY(!chain.run({}, {}, options).error);
        QCOMPARE(counter.finished, 3);
        QCOMPARE(counter.lastOutputs, std::size_t{1});
        QVERIFY(!counter.negativeTime);

        counter.finished = 0;
        counter.limit = 1;
        const Recording stopped = chain.run({.watch = {chain.sum}}, {}, options);
        QVERIFY(stopped.error.has_value());
        QCOMPARE(stopped.error->kind, base::ErrorKind::Cancelled);
        QCOMPARE(floats(*stopped.value(chain.sum)), (std::vector<float>{2, 4, 6}));  // what was computed stays
    }

    void cancels() {
        Chain chain;
        std::stop_source source;
        source.request_stop();
        base::WorkContext work;
        work.stop = source.get_token();
        const Recording recording = chain.run({}, work);
        QCOMPARE(recording.error->kind, base::ErrorKind::Cancelled);
        QCOMPARE(recording.error->exitStatus(), 5);
    }

    void anUnknownOperatorFailsOnlyWhenReached() {
        Chain chain;
        const NodeId odd = apply(*chain.graph, "Frobnicate", "odd", {chain.y}, chain.graph->mainId(), "head.odd");
        chain.graph->setResult(chain.graph->mainId(), Argument::of(odd));
        const auto plan = Plan::make(chain.graph, {.watch = {chain.y}}).value();
        QCOMPARE(plan->missingOperators(), std::vector<std::string>{"Frobnicate"});
        const Recording recording = chain.run({.watch = {chain.y}});
        QVERIFY(recording.error.has_value());
        QCOMPARE(recording.error->kind, base::ErrorKind::Run);
        QCOMPARE(
            QString::fromStdString(recording.error->text()),
            QString(
                "operator Frobnicate is not known (node 'odd', module 'head.odd', operator Frobnicate, inputs (float32[3]))"));
        QCOMPARE(recording.failedAt, chain.graph->node(odd).producer);
        QCOMPARE(floats(*recording.value(chain.y)), (std::vector<float>{-2, -8, -18}));
        QVERIFY(!chain.run({.end = {chain.y}}).error);
    }

    void anErrorNamesNodeModuleOperatorAndTypes() {
        Chain chain;
        const auto plan = Plan::make(chain.graph, {}).value();
        Runner runner(1);
        chain.graph->setType(chain.x, TypeInfo{});
        const std::vector<Value> inputs{Value(Tensor::ofStrings({1}, {"text"}))};
        const Recording recording = runner.run(*plan, inputs);
        QVERIFY(recording.error.has_value());
        const QString text = QString::fromStdString(recording.error->text());
        QVERIFY2(text.contains("node 'sum'") && text.contains("operator Add") && text.contains("string[1]"),
                 qPrintable(text));
    }

    void refusesAnInputOfAnotherDtype() {
        Chain chain;
        const auto plan = Plan::make(chain.graph, {}).value();
        Runner runner(1);
        const std::vector<Value> inputs{Value(Tensor::of<std::int64_t>({1}, {1}))};
        const Recording recording = runner.run(*plan, inputs);
        QCOMPARE(recording.error->kind, base::ErrorKind::Usage);
        QVERIFY(QString::fromStdString(recording.error->text()).contains("input 'x'"));
    }

    void refusesANodeThatIsNotThere() {
        Chain chain;
        const auto plan = Plan::make(chain.graph, {.watch = {NodeId(std::size_t{99})}});
        QVERIFY(!plan.has_value());
        QCOMPARE(plan.error().kind, base::ErrorKind::Usage);
    }

    void runsTheBodyOfACalledModule() {
        auto graph = std::make_shared<InternalGraph>();
        const NodeId x = graph->addInput(graph->mainId(), "x", TypeInfo::tensor(DType::Float32));
        Expr call;
        call.kind = graph::ExprKind::CallModule;
        call.target = "block";
        call.qualname = "block";
        call.arguments = {Argument::of(x)};
        const std::string name = "block";
        const ExprId owner = graph->addExpr(std::move(call), std::span<const std::string>(&name, 1));
        const BodyId body = graph->addBody(owner, "block");
        const NodeId inner = graph->addInput(body, "block_x", TypeInfo::tensor(DType::Float32));
        const NodeId doubled = apply(*graph, "Add", "doubled", {inner, inner}, body);
        const NodeId negated = apply(*graph, "Neg", "negated", {doubled}, body);
        graph->setResult(body, Argument::of(negated));
        graph->setResult(graph->mainId(), Argument::of(graph->expr(owner).outputs.front()));
        QVERIFY(graph->validate().has_value());

        Runner runner(1);
        const std::vector<Value> inputs{Value(Tensor::of<float>({2}, {1, 5}))};
        const auto watching = Plan::make(graph, {.watch = {doubled}}).value();
        const Recording recording = runner.run(*watching, inputs);
        QCOMPARE(floats(recording.outputs.at(0)), (std::vector<float>{-2, -10}));
        QCOMPARE(floats(*recording.value(doubled)), (std::vector<float>{2, 10}));

        // An end point inside stops the whole run there.
        const auto ending = Plan::make(graph, {.end = {doubled}}).value();
        const Recording cut = runner.run(*ending, inputs);
        QVERIFY(!cut.error);
        QCOMPARE(floats(cut.outputs.at(0)), (std::vector<float>{2, 10}));
        QVERIFY(!cut.computed(negated));
    }

    /// c = 1; three passes of: c = c + 1 in even ones, c = 2 c in odd ones. Worked by hand: 2, 4, 5.
    void everyPassOfALoopAndEveryBranchIsKept() {
        auto graph = std::make_shared<InternalGraph>();
        const auto constant = [&](const std::string& name, Tensor value) {
            Expr expr;
            expr.kind = graph::ExprKind::Constant;
            expr.body = graph->mainId();
            const NodeId node =
                graph->expr(graph->addExpr(std::move(expr), std::span<const std::string>(&name, 1))).outputs.front();
            graph->setConstant(node, Value(std::move(value)));
            return node;
        };
        const NodeId x = graph->addInput(graph->mainId(), "x", TypeInfo::tensor(DType::Float32));
        const NodeId trips = constant("trips", Tensor::scalar<std::int64_t>(3));
        const NodeId yes = constant("yes", Tensor::scalar<bool>(true));
        const NodeId two = constant("two", Tensor::scalar<std::int64_t>(2));
        const NodeId zero = constant("zero", Tensor::scalar<std::int64_t>(0));
        const NodeId one = constant("one", Tensor::of<float>({1}, {1}));
        const NodeId end = apply(*graph, "Loop", "end", {trips, yes, x});
        const ExprId loop = graph->node(end).producer;
        const BodyId body = graph->addBody(loop, "body");
        graph->mutableExpr(loop).attributes.set("body", tensor::BodyRef{0});
        const NodeId pass = graph->addInput(body, "pass", TypeInfo::tensor(DType::Int64));
        const NodeId condition = graph->addInput(body, "condition", TypeInfo::tensor(DType::Bool));
        const NodeId carried = graph->addInput(body, "carried", TypeInfo::tensor(DType::Float32));
        const NodeId odd = apply(*graph, "Mod", "odd", {pass, two}, body);
        const NodeId even = apply(*graph, "Equal", "even", {odd, zero}, body);
        const NodeId next = apply(*graph, "If", "next", {even}, body);
        const ExprId choice = graph->node(next).producer;
        const BodyId thenBody = graph->addBody(choice, "then_branch");
        const BodyId elseBody = graph->addBody(choice, "else_branch");
        graph->mutableExpr(choice).attributes.set("then_branch", tensor::BodyRef{0});
        graph->mutableExpr(choice).attributes.set("else_branch", tensor::BodyRef{1});
        const NodeId more = apply(*graph, "Add", "more", {carried, one}, thenBody);
        const NodeId twice = apply(*graph, "Add", "twice", {carried, carried}, elseBody);
        graph->setResult(thenBody, Argument::of(more));
        graph->setResult(elseBody, Argument::of(twice));
        graph->setResult(body,
                         Argument::container(Argument::Kind::Tuple, {Argument::of(condition), Argument::of(next)}));
        graph->setResult(graph->mainId(), Argument::of(end));
        QVERIFY(graph->validate().has_value());

        Runner runner(1);
        const std::vector<Value> inputs{Value(Tensor::of<float>({1}, {1}))};
        const Recording recording = runner.run(*Plan::make(graph, {.watchAll = true}).value(), inputs);
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        QCOMPARE(floats(recording.outputs.at(0)), std::vector<float>{5});
        QCOMPARE(recording.iterations(next), std::size_t{3});
        QCOMPARE(floats(*recording.value(next, 0)), std::vector<float>{2});
        QCOMPARE(floats(*recording.value(next, 1)), std::vector<float>{4});
        QCOMPARE(recording.passOf(next, 2), std::vector<std::int64_t>{2});
        QCOMPARE(recording.branches(choice), (std::vector<std::size_t>{0, 1, 0}));
        // What is in a branch has values of the passes that took it only.
        QCOMPARE(recording.iterations(more), std::size_t{2});
        QCOMPARE(recording.passText(more, 1), std::string("2"));
        QCOMPARE(recording.iterationOf(twice, "1"), std::optional<std::size_t>(0));
        QVERIFY(!recording.iterationOf(twice, "2"));
        QVERIFY(recording.passText(end, 0).empty() && recording.branches(loop).empty());
    }

    void recordingsStayValidWhenTheNextRunReusesMemory() {
        auto graph = std::make_shared<InternalGraph>();
        const NodeId x = graph->addInput(graph->mainId(), "x", TypeInfo::tensor(DType::Float32));
        const NodeId y = apply(*graph, "Neg", "y", {x});
        graph->setResult(graph->mainId(), Argument::of(y));
        const auto plan = Plan::make(graph, {}).value();
        Runner runner(2);
        const std::vector<float> ones(100'000, 1.0F);
        const std::vector<float> twos(100'000, 2.0F);
        const std::vector<Value> first{Value(Tensor::of<float>({100'000}, ones))};
        const std::vector<Value> second{Value(Tensor::of<float>({100'000}, twos))};
        const Recording kept = runner.run(*plan, first);
        for (int i = 0; i < 3; ++i) QCOMPARE(floats(runner.run(*plan, second).outputs.at(0)).back(), -2.0F);
        QCOMPARE(floats(kept.outputs.at(0)).front(), -1.0F);
        QCOMPARE(floats(kept.outputs.at(0)).back(), -1.0F);
    }
};

QTEST_APPLESS_MAIN(TestRunner)

}  // namespace tst_runner

#include "tst_runner.moc"
