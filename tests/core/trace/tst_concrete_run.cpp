// Concrete traces: decisions that depend on the data are followed, recorded as guards, and checked in every run.
// Expected values are worked by hand.

#include <QtTest>

#include "core/graph/guard.h"
#include "core/nn/activation.h"
#include "core/nn/containers.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/trace/concrete_run.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/robust_tracer.h"
#include "tests/core/trace/traced_text.h"

namespace tst_concrete_run {

using namespace sonde;
using namespace sonde::test;
using nn::Var;
using tensor::Value;

namespace {

using Numbers = std::vector<double>;
using In = std::span<const Var>;
using GraphPtr = trace::Tracer::GraphPtr;

/// Traces with example inputs.
template <typename Tracer>
base::Result<GraphPtr> followed(Tracer& tracer, const std::shared_ptr<nn::Module>& root,
                                std::map<std::string, Value> examples) {
    const auto run = std::make_shared<trace::ConcreteRun>(std::move(examples), document::kernelEvaluator());
    tracer.setValueOracle(run);
    auto graph = tracer.trace(root);
    if (graph) run->finish(**graph);
    return graph;
}

GraphPtr followed(const std::shared_ptr<nn::Module>& root, std::map<std::string, Value> examples) {
    const trace::EvaluatorScope evaluator(document::kernelEvaluator());
    trace::ModulePathTracer tracer;
    auto graph = followed(tracer, root, std::move(examples));
    if (!graph) qWarning("%s", graph.error().text().c_str());
    return graph ? *graph : std::make_shared<graph::InternalGraph>();
}

const graph::Expr& producer(const graph::InternalGraph& graph, const char* node) {
    return graph.expr(graph.node(graph.findNode(node)).producer);
}
std::string description(const graph::InternalGraph& graph, const char* guard) {
    return producer(graph, guard).attributes.getString(graph::kGuardDescription, "");
}
bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// CF: sum(x) > 0 ? x * 2 : x - 1, inside of Net{cf} with one more operation behind it.
std::shared_ptr<Custom> branching() {
    const auto cf = custom("CF", [](Custom&, In in) { return nn::sum(in[0]) > 0 ? in[0] * 2 : in[0] - 1; });
    const auto net = custom("Net", [](Custom& self, In in) { return self.at("cf")(in[0] + 1) + 100; });
    net->addChild("cf", cf);
    return net;
}

}  // namespace

class TestConcreteRun : public QObject {
    Q_OBJECT

  private slots:
    void aBranchIsFollowedAndGuarded() {
        const auto graph = followed(branching(), {{"x", floats({2}, {1, 1})}});
        QCOMPARE(names(*graph), std::string("x add sum_1 gt guard mul add_1 output"));
        const graph::Expr& guard = producer(*graph, "guard");
        QVERIFY(graph::isGuard(guard));
        QCOMPARE(guard.kind, graph::ExprKind::Apply);
        QCOMPARE(guard.target, std::string("guard"));
        QCOMPARE(guard.qualname.value(), std::string("cf"));
        QCOMPARE(guard.attributes.getString("kind", ""), std::string("bool"));
        QCOMPARE(guard.attributes.getInt("expected", -1), std::int64_t{1});
        QCOMPARE(guard.attributes.getString("source", ""), std::string("cf"));
        QCOMPARE(description(*graph, "guard"), std::string("took the branch because (x + 1).sum() > 0 was true"));
        QVERIFY(graph->validate().has_value());
        QCOMPARE(resultOf(graph, {floats({2}, {1, 2})}), (Numbers{104, 106}));
        // The other way.
        const auto other = followed(branching(), {{"x", floats({2}, {-5, 1})}});
        QCOMPARE(names(*other), std::string("x add sum_1 gt guard sub add_1 output"));
        QCOMPARE(resultOf(other, {floats({2}, {-5, 1})}), (Numbers{95, 101}));
    }

    void anInputThatTakesTheOtherBranchFailsAtTheGuard() {
        const auto graph = followed(branching(), {{"x", floats({2}, {1, 1})}});
        const exec::Recording recording = runGraph(graph, {floats({2}, {-5, 1})});
        QVERIFY(recording.error.has_value());
        QCOMPARE(recording.error->exitStatus(), 4);
        const std::string text = recording.error->text();
        for (const char* part : {"'guard'", "'cf'", "expected true", "got false", "(x + 1).sum() > 0"})
            QVERIFY2(holds(text, part), text.c_str());
        QVERIFY(!recording.error->hint.empty());
        QCOMPARE(recording.failedAt, producer(*graph, "guard").id);
    }

    void guardsStayInPlansOfWhatComesAfterThem() {
        const auto graph = followed(branching(), {{"x", floats({2}, {1, 1})}});
        const std::vector<Value> wrong{floats({2}, {-5, 1})};
        exec::PlanOptions before;
        before.end = {graph->findNode("gt")};
        QVERIFY(!runGraph(graph, wrong, before).error.has_value());
        // mul reads nothing of the guard, but it is right only behind it.
        exec::PlanOptions after;
        after.end = {graph->findNode("mul")};
        QVERIFY(runGraph(graph, wrong, after).error.has_value());
        exec::PlanOptions watching;
        watching.watch = {graph->findNode("guard")};
        const exec::Recording recording = runGraph(graph, {floats({2}, {1, 1})}, watching);
        QVERIFY(!recording.error.has_value());
        const Value* value = recording.value(graph->findNode("guard"));
        QVERIFY(value && value->kind() == tensor::ValueKind::Bool && value->toBool());
    }

    void sizesInLoopsAreGuarded() {
        const auto net = custom("Net", [](Custom&, In in) {
            Var y = in[0];
            for (std::int64_t i = 0; i < in[0].attr("shape")[Var(0)].toInt(); ++i) y = y + i;
            return y;
        });
        const auto graph = followed(net, {{"x", floats({3}, {0, 0, 0})}});
        QCOMPARE(description(*graph, "guard"), std::string("used x.shape[0] as the integer 3"));
        QCOMPARE(producer(*graph, "guard").attributes.getString("kind", ""), std::string("int"));
        QCOMPARE(resultOf(graph, {floats({3}, {1, 2, 3})}), (Numbers{4, 5, 6}));
        const exec::Recording recording = runGraph(graph, {floats({2}, {1, 2})});
        QVERIFY(recording.error && holds(recording.error->text(), "expected 3 but got 2"));
    }

    void oneGuardForOneQuestion() {
        const auto net = custom("Net", [](Custom&, In in) {
            const Var positive = nn::sum(in[0]) > 0;
            Var y = in[0];
            for (int i = 0; i < 3; ++i) {
                if (positive) y = y + 1;
            }
            return y;
        });
        QCOMPARE(names(*followed(net, {{"x", floats({1}, {1})}})),
                 std::string("x sum_1 gt guard add add_1 add_2 output"));
    }

    void lengthsAndIteration() {
        const auto net = custom("Net", [](Custom&, In in) {
            Var total(0);
            for (const Var& row : in[0].iterate()) total = total + row;
            total = total * Var(in[0].length());
            return total + Var(nn::sum(in[0]).toFloat());
        });
        const auto graph = followed(net, {{"x", floats({2, 2}, {1, 2, 3, 4})}});
        QCOMPARE(description(*graph, "guard"), std::string("iterated over x, which had 2 elements"));
        QCOMPARE(description(*graph, "guard_1"), std::string("queried the length of x, which was 2"));
        QCOMPARE(description(*graph, "guard_2"), std::string("used x.sum() as the number 10"));
        QCOMPARE(resultOf(graph, {floats({2, 2}, {1, 2, 3, 4})}), (Numbers{18, 22}));
        QVERIFY(runGraph(graph, {floats({3, 2}, {1, 2, 3, 4, 0, 0})}).error.has_value());
        QVERIFY(runGraph(graph, {floats({2, 2}, {1, 2, 3, 5})}).error.has_value());
    }

    void dataDependentLoop() {
        const auto net = custom("Net", [](Custom&, In in) {
            Var y = in[0];
            while (nn::sum(y) > 10) y = y / 2;
            return y;
        });
        const auto graph = followed(net, {{"x", floats({1}, {40})}});
        QCOMPARE(resultOf(graph, {floats({1}, {40})}), (Numbers{10}));
        QCOMPARE(description(*graph, "guard_2"),
                 std::string("took the branch because ((x / 2) / 2).sum() > 10 was false"));
        QVERIFY(runGraph(graph, {floats({1}, {80})}).error.has_value());
        QCOMPARE(resultOf(graph, {floats({1}, {36})}), (Numbers{9}));
    }

    void insideOfALeaf() {
        class Gate final : public nn::Module {
          public:
            std::string className() const override { return "Gate"; }
            bool isLibrary() const override { return true; }
            Var forward(In in) override { return nn::sum(in[0]) > 0 ? in[0] * 2 : in[0]; }
        };
        const auto net = custom("Net", [](Custom& self, In in) { return self.at("gate")(in[0]) + 1; });
        net->addChild("gate", std::make_shared<Gate>());
        const auto graph = followed(net, {{"x", floats({1}, {1})}});
        QCOMPARE(names(*graph), std::string("x gate add output"));
        QVERIFY(graph->findNode("gate/guard").valid());
        QCOMPARE(resultOf(graph, {floats({1}, {4})}), (Numbers{9}));
        const exec::Recording recording = runGraph(graph, {floats({1}, {-4})});
        QVERIFY(recording.error && holds(recording.error->text(), "gate/guard"));
    }

    void aGuardOfTheRootNamesItsClass() {
        const auto net = custom("Thermostat", [](Custom&, In in) { return nn::sum(in[0]) > 0 ? in[0] * 2 : in[0]; });
        const auto graph = followed(net, {{"x", floats({1}, {1})}});
        const exec::Recording recording = runGraph(graph, {floats({1}, {-4})});
        QVERIFY(recording.error && holds(recording.error->text(), "in the root module, class Thermostat"));
    }

    /// In-place operations are recorded by this tracer as they come; what is asked after them is asked of the new
    /// value.
    void customTracesFollowWhatWasWritten() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = custom("Net", [](Custom&, In in) {
            const Var c = in[0].method("clone");
            c.method("add_", {Var(10)}, {}, "add_.Scalar");
            const Var d = c + 1;
            return nn::sum(d) > 5 ? d * 2 : d;
        });
        trace::CustomTracer tracer;
        const auto run = std::make_shared<trace::ConcreteRun>(std::map<std::string, Value>{{"x", floats({1}, {-5})}},
                                                              document::kernelEvaluator());
        tracer.setValueOracle(run);
        const auto graph = tracer.traceCustom(net);
        QVERIFY2(graph.has_value(), graph ? "" : graph.error().text().c_str());
        run->finish(**graph);
        // -5 + 10 + 1 = 6: the branch with the product.
        QVERIFY((*graph)->findNode("mul").valid());
        QCOMPARE(producer(**graph, "guard").attributes.getInt("expected", -1), std::int64_t{1});
    }

    void whatAViewHasChangedIsNotGuessed() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = custom("Net", [](Custom&, In in) {
            const Var c = in[0].method("clone");
            c[Var(0)].method("add_", {Var(10)}, {}, "add_.Scalar");
            return nn::sum(c) > 5 ? c * 2 : c;
        });
        trace::CustomTracer tracer;
        const auto run = std::make_shared<trace::ConcreteRun>(std::map<std::string, Value>{{"x", floats({2}, {-5, 0})}},
                                                              document::kernelEvaluator());
        tracer.setValueOracle(run);
        const auto graph = tracer.traceCustom(net);
        QVERIFY(!graph.has_value());
        QVERIFY2(holds(graph.error().text(), "changed in place"), graph.error().text().c_str());
    }

    void typesAreThoseOfTheExample() {
        const auto graph = followed(branching(), {{"x", floats({2}, {1, 1})}});
        QCOMPARE(graph->node(graph->findNode("mul")).type.text(), std::string("float32[2]"));
        QCOMPARE(graph->node(graph->findNode("x")).type.text(), std::string("float32[2]"));
        QVERIFY(graph->node(graph->findNode("guard")).type.kind == tensor::ValueKind::Bool);
    }

    void questionsWithoutAnAnswerLeaveNoGuard() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        trace::ModulePathTracer tracer;
        const auto many = custom("Net", [](Custom&, In in) { return in[0] > 0 ? in[0] : in[0] + 1; });
        const auto ambiguous = followed(tracer, many, {{"x", floats({2}, {1, 1})}});
        QVERIFY(!ambiguous);
        QVERIFY2(holds(ambiguous.error().what, "ambiguous"), ambiguous.error().what.c_str());
        // Without an example for the parameter it is as symbolic as ever.
        const auto unknown = followed(tracer, branching(), {});
        QVERIFY(!unknown);
        QVERIFY2(holds(unknown.error().what, "cannot be computed") || holds(unknown.error().what, "control flow"),
                 unknown.error().what.c_str());
        // What cannot be computed is told when it is asked for, and only then.
        const auto broken = custom("Net", [](Custom&, In in) { return trace::matmul(in[0], in[0]) + 1; });
        QVERIFY(followed(tracer, broken, {{"x", floats({2, 3}, {1, 1, 1, 1, 1, 1})}}).has_value());
    }

    void followedBranchesOfTheCustomTracer() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const trace::NamedFunction plus{"plus", [](In in) { return in[0] + 10; }};
        const trace::NamedFunction minus{"minus", [](In in) { return in[0] - 10; }};
        const auto net = custom("Net", [&](Custom&, In in) {
            const Var y = trace::cond(nn::sum(in[0]) > 0, plus, minus, Var::list({in[0]}));
            return nn::sum(y) > 0 ? y * 2 : y;
        });
        trace::CustomTracer tracer;
        const auto run = std::make_shared<trace::ConcreteRun>(std::map<std::string, Value>{{"x", floats({1}, {-3})}},
                                                              document::kernelEvaluator());
        tracer.setValueOracle(run);
        const auto graph = tracer.traceCustom(net);
        QVERIFY2(graph.has_value(), graph ? "" : graph.error().text().c_str());
        run->finish(**graph);
        // The condition is recorded with both branches; only the question behind it is a guard.
        QCOMPARE(names(**graph),
                 std::string("x sum_1 gt _cb_cond_plus_0 _cb_cond_minus_0 condcc sum_2 gt_1 guard output"));
        QCOMPARE(resultOf(*graph, {floats({1}, {-3})}), (Numbers{-13}));
        QCOMPARE(resultOf(*graph, {floats({1}, {-4})}), (Numbers{-14}));
        QVERIFY(runGraph(*graph, {floats({1}, {4})}).error.has_value());
    }

    void theRobustTracerNeedsNoOpaqueCalls() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        trace::RobustTracer tracer;
        const auto run = std::make_shared<trace::ConcreteRun>(std::map<std::string, Value>{{"x", floats({2}, {1, 1})}},
                                                              document::kernelEvaluator());
        tracer.setValueOracle(run);
        const auto graph = tracer.traceRepeatedly(branching());
        QVERIFY(graph.has_value());
        QCOMPARE(names(**graph), std::string("x add sum_1 gt guard mul add_1 output"));
    }
};

QTEST_GUILESS_MAIN(TestConcreteRun)

}  // namespace tst_concrete_run

#include "tst_concrete_run.moc"
