// Values in place of computed ones. What is expected comes from a run of another graph: the same one with operations of
// ONNX behind the edited nodes, without any edit.

#include <QtTest>

#include <random>

#include "core/exec/dependants.h"
#include "core/exec/differing_values.h"
#include "core/exec/flatten.h"
#include "core/exec/rerun.h"
#include "core/exec/runner.h"
#include "tests/support/random_graph.h"

namespace tst_edits {

using namespace sonde;
using exec::Edits;
using exec::ExprState;
using exec::Plan;
using exec::PlanOptions;
using exec::Recording;
using exec::Runner;
using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;
using test::RandomGraph;

namespace {

class Watcher final : public exec::RunObserver {};

/// x * factor, or x + other of the same shape, element by element as IEEE 754 has it.
struct Change {
    NodeId node;
    std::optional<float> factor;
    NodeId other;

    exec::ValueEdit edit() const {
        exec::ValueEdit edit;
        edit.node = node;
        if (!factor) edit.operands = {other};
        edit.apply = [factor = factor](const Value& value, std::span<const Value> operands) -> base::Result<Value> {
            SONDE_ASSIGN(Tensor copy, value.tensor().clone());
            const std::span<float> x = copy.mutableSpan<float>();
            for (std::size_t i = 0; i < x.size(); ++i)
                x[i] = factor ? x[i] * *factor : x[i] + operands[0].tensor().data<float>()[i];
            return Value(std::move(copy));
        };
        return edit;
    }
};

/// The same as an operation behind the node. The node that has the other value.
NodeId insertInto(InternalGraph& graph, const Change& change, int number) {
    const graph::BodyId body = graph.expr(graph.node(change.node).producer).body;
    const auto nodeOf = [&](Expr expr, const std::string& name, std::size_t position) {
        expr.body = body;
        const ExprId id = graph.addExpr(std::move(expr), std::span(&name, 1), position);
        return graph.expr(id).outputs.front();
    };
    const auto& order = graph.body(body).order;
    auto behind =
        static_cast<std::size_t>(std::ranges::find(order, graph.node(change.node).producer) - order.begin()) + 1;
    while (behind < order.size() && graph.expr(order[behind]).kind == graph::ExprKind::Input) ++behind;
    NodeId operand = change.other;
    if (change.factor) {
        Expr expr;
        expr.kind = graph::ExprKind::Constant;
        operand = nodeOf(std::move(expr), "factor_of_edit_" + std::to_string(number), behind++);
        graph.setConstant(operand, Value(Tensor::scalar<float>(*change.factor)));
    }
    Expr expr;
    expr.op = graph::OpKey{"", change.factor ? "Mul" : "Add", 17};
    expr.target = expr.op.name;
    expr.arguments = {Argument::of(change.node), Argument::of(operand)};
    const NodeId made = nodeOf(std::move(expr), "edit_" + std::to_string(number), behind);
    graph.replaceUses(change.node, made);
    graph.setArguments(graph.node(made).producer, {Argument::of(change.node), Argument::of(operand)});
    return made;
}

/// Two or three changes of nodes that are tensors of float32 in the run.
std::vector<Change> changesOf(const InternalGraph& graph, const Recording& run, std::mt19937& engine) {
    const std::vector<NodeId> sources = exec::valueSources(graph);
    std::vector<NodeId> candidates;
    std::unordered_map<ExprId, std::size_t> position;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        position.emplace(id, position.size());
        for (const NodeId node : graph.expr(id).outputs)
            if (sources[node.index()] == node && !graph.node(node).constant && run.iterations(node) > 0 &&
                run.value(node)->isTensor() && run.value(node)->tensor().dtype() == tensor::DType::Float32)
                candidates.push_back(node);
    }
    const auto any = [&] { return candidates[engine() % candidates.size()]; };
    const auto isOfMain = [&](NodeId node) { return graph.expr(graph.node(node).producer).body == graph.mainId(); };
    const float factors[] = {0.5F, 2, 0, -1.25F};
    std::vector<Change> changes;
    for (std::size_t i = 0; i < 1 + engine() % 3; ++i) {
        Change change{any(), factors[engine() % 4], {}};
        if (std::ranges::find(changes, change.node, &Change::node) != changes.end()) continue;
        const NodeId other = any();
        bool isBefore = position[graph.node(other).producer] < position[graph.node(change.node).producer];
        // Results of what the node is inside of come after it.
        for (ExprId id = graph.node(change.node).producer; id.valid(); id = graph.body(graph.expr(id).body).owner)
            isBefore = isBefore && id != graph.node(other).producer;
        if (isBefore && isOfMain(other) &&
            run.value(other)->tensor().shape() == run.value(change.node)->tensor().shape())
            change.factor.reset(), change.other = other;
        changes.push_back(change);
    }
    // In the order of the program an edit reads what those before it have made.
    std::ranges::sort(changes, {}, [&](const Change& change) { return position[graph.node(change.node).producer]; });
    return changes;
}

std::string place(int seed, const InternalGraph& graph, NodeId node) {
    return "seed " + std::to_string(seed) + ", " + graph.node(node).name;
}

}  // namespace

class TestEdits : public QObject {
    Q_OBJECT

  private slots:
    /// Everything that a run with edits computes, and everything that depends on the edits done again from a run
    /// without them, has the bits that the edited graph gives; nothing else is done again.
    void valuesAreThoseOfTheEditedGraph_data() {
        QTest::addColumn<int>("first");
        for (int first = 0; first < 400; first += 40) QTest::addRow("seeds from %d", first) << first;
    }
    void valuesAreThoseOfTheEditedGraph() {
        QFETCH(int, first);
        int spared = 0;
        for (int seed = first; seed < first + 40; ++seed) {
            RandomGraph random(static_cast<unsigned>(seed), seed % 2 == 1);
            const InternalGraph& graph = *random.graph;
            Runner one(1), two(2);
            Watcher watcher;
            const Recording plain = one.run(*Plan::make(random.graph, {.watchAll = true}).value(), random.inputs, {},
                                            {.seed = 7, .observer = &watcher});
            QVERIFY2(!plain.error, qPrintable(QString::number(seed)));
            std::mt19937 engine(static_cast<unsigned>(seed));
            const std::vector<Change> changes = changesOf(graph, plain, engine);
            auto edits = std::make_shared<Edits>();
            auto other = std::make_shared<InternalGraph>(graph);
            std::unordered_map<NodeId, NodeId> now;
            for (const Change& change : changes) {
                edits->values.push_back(change.edit());
                now[change.node] = insertInto(*other, change, static_cast<int>(now.size()));
            }
            const auto valid = other->validate();
            QVERIFY2(valid.has_value(), valid ? "" : valid.error().text().c_str());
            const Recording expected = one.run(*Plan::make(other, {.watchAll = true}).value(), random.inputs, {},
                                               {.seed = 7, .observer = &watcher});
            QVERIFY2(!expected.error, expected.error ? expected.error->text().c_str() : "");
            const std::vector<NodeId> sources = exec::valueSources(graph);
            const auto compare = [&](const Recording& recording, std::span<const NodeId> nodes) {
                for (const NodeId node : nodes) {
                    const auto edited = now.find(node);
                    const NodeId same = edited == now.end() ? node : edited->second;
                    QVERIFY2(recording.iterations(node) == expected.iterations(same), place(seed, graph, node).c_str());
                    for (std::size_t i = 0; i < recording.iterations(node); ++i)
                        QVERIFY2(tensor::identical(*recording.value(node, i), *expected.value(same, i)),
                                 place(seed, graph, node).c_str());
                }
            };
            std::vector<NodeId> all;
            for (std::size_t i = 0; i < graph.nodeCount(); ++i) all.emplace_back(i);
            // Fused, and step by step.
            PlanOptions options;
            options.edits = edits;
            options.watchAll = seed % 3 == 0;
            options.watch = random.ends;
            const auto plan = Plan::make(random.graph, options).value();
            const Recording whole = two.run(*plan, random.inputs, {}, {.seed = 7});
            QVERIFY2(!whole.error, whole.error ? whole.error->text().c_str() : "");
            compare(whole, options.watchAll ? all : random.ends);
            for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
                const auto edited = now.find(sources[graph.outputs()[i].index()]);
                const NodeId same = edited == now.end() ? graph.outputs()[i] : edited->second;
                QVERIFY2(tensor::identical(whole.outputs[i], *expected.value(same)), qPrintable(QString::number(seed)));
            }
            if (QTest::currentTestFailed()) return;
            checkUnreached(seed, random, *edits, plain, expected, spared);
            if (QTest::currentTestFailed()) return;
            const exec::Dependants reached = exec::dependantsOf(graph, *edits);
            options.watchAll = false;
            options.watch.clear();
            for (const NodeId node : all)
                if (sources[node.index()] == node && reached.nodes[node.index()] && plain.iterations(node) > 0)
                    options.watch.push_back(node);
            const exec::Rerun rerun = exec::planRerun(random.graph, options, plain).value();
            const Recording again = two.run(*rerun.plan, random.inputs, {}, {.seed = 7, .given = rerun.given});
            QVERIFY2(!again.error, again.error ? again.error->text().c_str() : "");
            compare(again, options.watch);
            if (QTest::currentTestFailed()) return;
            for (const ExprId id : graph.main().order) {
                const Expr& expr = graph.expr(id);
                if (expr.kind == graph::ExprKind::Input || exec::isCall(expr) || expr.outputs.empty()) continue;
                if (graph.node(expr.outputs.front()).constant) continue;
                // An edit that reads what has changed waits for it, behind its own node.
                const auto change = std::ranges::find(changes, expr.outputs.front(), &Change::node);
                if (change != changes.end() && !change->factor) continue;
                if (!reached.exprs[id.index()])
                    QVERIFY2(again.state(id) == ExprState::NotReached,
                             place(seed, graph, expr.outputs.front()).c_str());
            }
        }
        QVERIFY(spared > 0);
    }

    /// Values that edits are said not to reach are the same in all iterations; some of them are inside of
    /// what runs again as a whole.
    void checkUnreached(int seed, const RandomGraph& random, const Edits& edits, const Recording& plain,
                        const Recording& expected, int& spared) {
        const InternalGraph& graph = *random.graph;
        const std::vector<bool> differs = exec::differingValues(graph, edits);
        const exec::Dependants reached = exec::dependantsOf(graph, edits);
        for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
            const NodeId node(i);
            if (differs[i]) {
                QVERIFY2(reached.nodes[i], place(seed, graph, node).c_str());
                continue;
            }
            QVERIFY2(plain.iterations(node) == expected.iterations(node), place(seed, graph, node).c_str());
            for (std::size_t k = 0; k < plain.iterations(node); ++k)
                QVERIFY2(tensor::identical(*plain.value(node, k), *expected.value(node, k)),
                         place(seed, graph, node).c_str());
            spared += reached.nodes[i] ? 1 : 0;
        }
    }

    /// y = x · w, z = y · y: w is 2, and 3 after the edit, also of what a runner has prepared for w.
    void weightsAreOthers() {
        auto graph = std::make_shared<InternalGraph>();
        const NodeId x = graph->addInput(graph->mainId(), "x", tensor::TypeInfo::tensor(tensor::DType::Float32));
        const auto add = [&](Expr expr, const std::string& name) {
            expr.body = graph->mainId();
            return graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
        };
        Expr weight;
        weight.kind = graph::ExprKind::Constant;
        const NodeId w = add(std::move(weight), "w");
        graph->setConstant(w, Value(Tensor::of<float>({1, 1}, {2})));
        Expr product;
        product.op = graph::OpKey{"", "MatMul", 13};
        product.target = "MatMul";
        product.arguments = {Argument::of(x), Argument::of(w)};
        const NodeId y = add(std::move(product), "y");
        graph->setResult(graph->mainId(), Argument::of(y));
        const std::vector<Value> inputs{Tensor::of<float>({2, 1}, {1, 10})};
        Runner runner(1);
        const auto outputOf = [&](std::optional<float> other) {
            PlanOptions options;
            if (other) {
                auto edits = std::make_shared<Edits>();
                edits->constants.emplace(w, Value(Tensor::of<float>({1, 1}, {*other})));
                options.edits = std::move(edits);
            }
            return runner.run(*Plan::make(graph, options).value(), inputs).outputs[0];
        };
        for (int round = 0; round < 2; ++round) {
            QVERIFY(tensor::identical(outputOf({}), Value(Tensor::of<float>({2, 1}, {2, 20}))));
            QVERIFY(tensor::identical(outputOf(3), Value(Tensor::of<float>({2, 1}, {3, 30}))));
            QVERIFY(tensor::identical(outputOf(-1), Value(Tensor::of<float>({2, 1}, {-1, -10}))));
        }
    }

    /// y = x · w with w = q · scale, 4 · 0.5: other numbers of q, of the scale and of w itself.
    void dequantisedWeightsAreOthers() {
        auto graph = std::make_shared<InternalGraph>();
        const NodeId x = graph->addInput(graph->mainId(), "x", tensor::TypeInfo::tensor(tensor::DType::Float32));
        const auto add = [&](Expr expr, const std::string& name) {
            expr.body = graph->mainId();
            return graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
        };
        const auto constant = [&](const std::string& name, Tensor value) {
            Expr expr;
            expr.kind = graph::ExprKind::Constant;
            const NodeId node = add(std::move(expr), name);
            graph->setConstant(node, Value(std::move(value)));
            return node;
        };
        const auto apply = [&](const std::string& name, const std::string& op, std::vector<Argument> arguments) {
            Expr expr;
            expr.op = graph::OpKey{"", op, 13};
            expr.target = op;
            expr.arguments = std::move(arguments);
            return add(std::move(expr), name);
        };
        const NodeId q = constant("q", Tensor::of<std::int8_t>({2, 1}, {4, 4})),
                     scale = constant("scale", Tensor::of<float>({}, {0.5F})),
                     w = apply("w", "DequantizeLinear", {Argument::of(q), Argument::of(scale)}),
                     y = apply("y", "MatMul", {Argument::of(x), Argument::of(w)});
        graph->setResult(graph->mainId(), Argument::of(y));
        const std::vector<Value> inputs{Tensor::of<float>({2, 2}, {1, 1, 10, 10})};
        Runner runner(1);
        const auto outputOf = [&](std::shared_ptr<Edits> edits, bool watches = false) {
            PlanOptions options;
            options.edits = std::move(edits);
            options.watchAll = watches;
            return runner.run(*Plan::make(graph, options).value(), inputs).outputs[0];
        };
        const auto expected = [](float a, float b) { return Value(Tensor::of<float>({2, 1}, {a, b})); };
        auto otherQ = std::make_shared<Edits>(), otherScale = std::make_shared<Edits>(),
             otherW = std::make_shared<Edits>();
        otherQ->constants.emplace(q, Value(Tensor::of<std::int8_t>({2, 1}, {6, 6})));
        otherScale->constants.emplace(scale, Value(Tensor::of<float>({}, {2.0F})));
        otherW->values.push_back({w, {}, [](const Value&, std::span<const Value>) -> base::Result<Value> {
                                      return Value(Tensor::of<float>({2, 1}, {-1, 0}));
                                  }});
        for (int round = 0; round < 2; ++round) {
            QVERIFY(tensor::identical(outputOf({}, round == 1), expected(4, 40)));
            QVERIFY(tensor::identical(outputOf(otherQ), expected(6, 60)));
            QVERIFY(tensor::identical(outputOf(otherScale), expected(16, 160)));
            QVERIFY(tensor::identical(outputOf(otherW), expected(-1, -10)));
        }
    }

    void whatAnEditSaysEndsTheRun() {
        RandomGraph random(3);
        const NodeId node = random.ends.front();
        auto edits = std::make_shared<Edits>();
        edits->values.push_back({node, {}, [](const Value&, std::span<const Value>) -> base::Result<Value> {
                                     return base::runError("no");
                                 }});
        PlanOptions options;
        options.edits = edits;
        options.end = {node};
        Runner runner(1);
        const Recording recording = runner.run(*Plan::make(random.graph, options).value(), random.inputs);
        QVERIFY(recording.error);
        QCOMPARE(QString::fromStdString(recording.error->what), QStringLiteral("no"));
        QVERIFY(recording.failure(random.graph->node(node).producer));
    }
};

QTEST_GUILESS_MAIN(TestEdits)

}  // namespace tst_edits

#include "tst_edits.moc"
