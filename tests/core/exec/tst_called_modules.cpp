// Steps inside called modules run in one row with those around them; what is watched, ended at, failed or counted stays
// with its own node and module.

#include <QtTest>

#include "core/exec/runner.h"

namespace tst_called_modules {

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
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

namespace {

NodeId apply(InternalGraph& graph, const std::string& op, const std::string& output, const std::vector<NodeId>& inputs,
             BodyId body, const std::string& qualname) {
    Expr expr;
    expr.op = graph::OpKey{"", op, 17};
    expr.target = op;
    expr.body = body;
    expr.qualname = qualname;
    for (NodeId input : inputs) expr.arguments.push_back(Argument::of(input));
    return graph.expr(graph.addExpr(std::move(expr), std::span<const std::string>(&output, 1))).outputs.front();
}

/// A call of a module with the given inputs; its body has inputs of its own.
struct Call {
    ExprId expr;
    BodyId body;
    std::vector<NodeId> inputs;
    std::vector<NodeId> outputs;

    Call(InternalGraph& graph, const std::string& name, const std::vector<NodeId>& arguments, BodyId where,
         std::vector<std::string> results = {}) {
        Expr call;
        call.kind = ExprKind::CallModule;
        call.target = name;
        call.body = where;
        call.qualname = name;
        for (NodeId argument : arguments) call.arguments.push_back(Argument::of(argument));
        if (results.empty()) results = {name + "_out"};
        expr = graph.addExpr(std::move(call), results);
        outputs = graph.expr(expr).outputs;
        body = graph.addBody(expr, name);
        for (std::size_t i = 0; i < arguments.size(); ++i)
            inputs.push_back(graph.addInput(body, name + "_in" + std::to_string(i), TypeInfo::tensor(DType::Float32)));
    }
    NodeId out() const { return outputs.front(); }
};

/// y = block(x, m) with, inside of the block: product = linear(x, m), relu = act(product), and after it y = relu − x.
struct Nested {
    std::shared_ptr<InternalGraph> graph = std::make_shared<InternalGraph>();
    NodeId x, m, product, relu, y;
    std::optional<Call> block, linear, act;

    explicit Nested(const std::string& activation = "Relu") {
        x = graph->addInput(graph->mainId(), "x", TypeInfo::tensor(DType::Float32));
        m = graph->addInput(graph->mainId(), "m", TypeInfo::tensor(DType::Float32));
        block.emplace(*graph, "block", std::vector{x, m}, graph->mainId());
        linear.emplace(*graph, "block.linear", block->inputs, block->body);
        product = apply(*graph, "MatMul", "product", linear->inputs, linear->body, "block.linear");
        graph->setResult(linear->body, Argument::of(product));
        act.emplace(*graph, "block.act", linear->outputs, block->body);
        relu = apply(*graph, activation, "relu", act->inputs, act->body, "block.act");
        graph->setResult(act->body, Argument::of(relu));
        graph->setResult(block->body, Argument::of(act->out()));
        y = apply(*graph, "Sub", "y", {block->out(), x}, graph->mainId(), "");
        graph->setResult(graph->mainId(), Argument::of(y));
    }

    Recording run(PlanOptions options, const base::WorkContext& work = {}) {
        const auto plan = Plan::make(graph, std::move(options)).value();
        Runner runner(1);
        // [1 2]·[[1 -2], [3 0]] = [7 -2]; relu [7 0]; − [1 2] = [6 -2].
        const std::vector<Value> inputs{Value(Tensor::of<float>({1, 2}, {1, 2})),
                                        Value(Tensor::of<float>({2, 2}, {1, -2, 3, 0}))};
        return runner.run(*plan, inputs, work);
    }
    ExprId producer(NodeId node) const { return graph->node(node).producer; }
};

std::vector<float> floats(const Value* value) {
    if (!value || !value->isTensor()) return {};
    const auto span = value->tensor().span<float>();
    return {span.begin(), span.end()};
}

}  // namespace

class TestCalledModules : public QObject {
    Q_OBJECT

  private slots:
    void elementWiseStepsFollowAcrossModules() {
        Nested nested;
        QVERIFY(nested.graph->validate().has_value());
        const Recording recording = nested.run({});
        QVERIFY(!recording.error);
        QCOMPARE(floats(&recording.outputs.at(0)), (std::vector<float>{6, -2}));
        const ExprId product = nested.producer(nested.product);
        for (NodeId node : {nested.relu, nested.y})
            QCOMPARE(recording.doneWith(*nested.graph, nested.producer(node)), product);
        QCOMPARE(recording.doneWith(*nested.graph, nested.act->expr), product);
        QVERIFY(!recording.doneWith(*nested.graph, nested.linear->expr).valid());
        QVERIFY(!recording.doneWith(*nested.graph, nested.block->expr).valid());
        for (ExprId call : {nested.block->expr, nested.linear->expr, nested.act->expr})
            QCOMPARE(recording.state(call), ExprState::Done);
        // A call contains its steps.
        QVERIFY(recording.elapsedNs(product) > 0);
        QVERIFY(recording.elapsedNs(nested.linear->expr) >= recording.elapsedNs(product));
        QVERIFY(recording.elapsedNs(nested.block->expr) >= recording.elapsedNs(nested.linear->expr));
        QVERIFY(recording.totalNs >= recording.elapsedNs(nested.block->expr));
    }

    /// The same value has a node on each side of a border; each is watched for itself.
    void everyNodeCanBeWatched_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<std::vector<float>>("expected");
        for (const char* name : {"block_in0", "block.linear_in0"})
            QTest::newRow(name) << name << std::vector<float>{1, 2};
        for (const char* name : {"product", "block.linear_out", "block.act_in0"})
            QTest::newRow(name) << name << std::vector<float>{7, -2};
        for (const char* name : {"relu", "block.act_out", "block_out"})
            QTest::newRow(name) << name << std::vector<float>{7, 0};
        QTest::newRow("y") << "y" << std::vector<float>{6, -2};
    }
    void everyNodeCanBeWatched() {
        QFETCH(QString, name);
        QFETCH(std::vector<float>, expected);
        Nested nested;
        const NodeId node = nested.graph->findNode(name.toStdString());
        QVERIFY(node.valid());
        const Recording watched = nested.run({.watch = {node}});
        QVERIFY(!watched.error);
        QCOMPARE(floats(watched.value(node)), expected);
        QCOMPARE(watched.kept.size(), std::size_t{1});
        QCOMPARE(floats(&watched.outputs.at(0)), (std::vector<float>{6, -2}));
        const Recording ended = nested.run({.end = {node}});
        QVERIFY(!ended.error);
        QCOMPARE(floats(&ended.outputs.at(0)), expected);
        const Recording every = nested.run({.watchAll = true});
        QCOMPARE(floats(every.value(node)), expected);
        QCOMPARE(every.kept.size(), nested.graph->nodeCount());
    }

    void nothingRunsBehindAnEndInsideOfAModule() {
        Nested nested;
        const Recording recording = nested.run({.end = {nested.linear->out()}});
        QVERIFY(!recording.error);
        QVERIFY(!recording.computed(nested.act->out()));
        QCOMPARE(recording.state(nested.producer(nested.y)), ExprState::NotReached);
    }

    void aFailureNamesNodeAndModule() {
        Nested nested("NoSuchOperator");
        const Recording recording = nested.run({.watch = {nested.linear->out()}});
        QVERIFY(recording.error.has_value());
        QVERIFY2(recording.error->text().find("node 'relu', module 'block.act'") != std::string::npos,
                 recording.error->text().c_str());
        QCOMPARE(recording.failedAt, nested.block->expr);
        QCOMPARE(recording.state(nested.producer(nested.relu)), ExprState::Failed);
        QCOMPARE(recording.state(nested.act->expr), ExprState::Failed);
        QCOMPARE(recording.state(nested.block->expr), ExprState::Failed);
        QCOMPARE(recording.state(nested.linear->expr), ExprState::Done);
        QCOMPARE(floats(recording.value(nested.linear->out())),
                 (std::vector<float>{7, -2}));  // what was computed stays
    }

    void progressNamesTheCallAndCancelStopsInside() {
        Nested nested;
        std::stop_source source;
        std::vector<std::string> told;
        base::WorkContext work;
        work.stop = source.get_token();
        work.progress = [&](const base::Progress& progress) {
            told.emplace_back(progress.what);
            if (told.size() == 4) source.request_stop();
        };
        const Recording recording = nested.run({}, work);
        QVERIFY(recording.error.has_value());
        QCOMPARE(recording.error->kind, base::ErrorKind::Cancelled);
        QCOMPARE(told, std::vector<std::string>(4, "block"));
        QVERIFY(recording.outputs.empty());
        QCOMPARE(recording.state(nested.block->expr), ExprState::Failed);
    }

    /// swap(a, b) = (b, a): outputs that only pass through; and a result that is put together when the call is left.
    void resultsThatPassThroughOrArePutTogether() {
        auto graph = std::make_shared<InternalGraph>();
        const NodeId a = graph->addInput(graph->mainId(), "a", TypeInfo::tensor(DType::Float32));
        const NodeId b = graph->addInput(graph->mainId(), "b", TypeInfo::tensor(DType::Float32));
        const Call swap(*graph, "swap", {a, b}, graph->mainId(), {"first", "second"});
        graph->setResult(swap.body, Argument::container(Argument::Kind::Tuple,
                                                        {Argument::of(swap.inputs[1]), Argument::of(swap.inputs[0])}));
        const Call pair(*graph, "pair", swap.outputs, graph->mainId());
        const NodeId sum = apply(*graph, "Add", "sum", pair.inputs, pair.body, "pair");
        const NodeId negative = apply(*graph, "Neg", "negative", {sum}, pair.body, "pair");
        graph->setResult(pair.body,
                         Argument::container(Argument::Kind::Tuple, {Argument::of(sum), Argument::of(negative)}));
        const NodeId difference = apply(*graph, "Sub", "difference", swap.outputs, graph->mainId(), "");
        graph->setResult(graph->mainId(), Argument::container(Argument::Kind::Tuple,
                                                              {Argument::of(pair.out()), Argument::of(difference)}));
        QVERIFY(graph->validate().has_value());
        Runner runner(1);
        const std::vector<Value> inputs{Value(Tensor::of<float>({1}, {3})), Value(Tensor::of<float>({1}, {10}))};
        for (bool watchAll : {false, true}) {
            const Recording recording = runner.run(*Plan::make(graph, {.watchAll = watchAll}).value(), inputs);
            QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
            QCOMPARE(floats(&recording.outputs.at(1)), std::vector<float>{7});
            const Value& tuple = recording.outputs.at(0);
            QVERIFY(tuple.kind() == tensor::ValueKind::Tuple);
            QCOMPARE(floats(&tuple.items().at(0)), std::vector<float>{13});
            QCOMPARE(floats(&tuple.items().at(1)), std::vector<float>{-13});
        }
    }
};

QTEST_APPLESS_MAIN(TestCalledModules)

}  // namespace tst_called_modules

#include "tst_called_modules.moc"
