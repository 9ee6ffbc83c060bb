// A derived tracer decides, the recorder builds: what a policy may override, and control flow that a program records by
// hand. Expected values are worked by hand.

#include <QtTest>

#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/trace/concrete_run.h"
#include "core/trace/control_recorder.h"
#include "core/trace/tracer.h"
#include "tests/core/trace/traced_text.h"

namespace tst_trace_policy {

using namespace sonde;
using namespace sonde::test;
using nn::Var;
using tensor::Value;
using trace::ControlRecorder;
using trace::Tracer;

namespace {

using In = std::span<const Var>;
using Numbers = std::vector<double>;

/// Takes the class Block for a leaf, and modules that fail for opaque calls.
class OwnTracer : public Tracer {
  public:
    std::vector<std::string> seen;
    bool absorbsAll = false;

  protected:
    bool isLeafModule(const trace::Module& module, std::string_view path) const override {
        return module.className() == "Block" || Tracer::isLeafModule(module, path);
    }
    bool absorbs(const trace::Module&, const trace::TraceError&) override { return absorbsAll; }
    void moduleSeen(const trace::Module& module) override { seen.push_back(module.className()); }
    std::string makeName(trace::FxNames& names, std::string_view candidate) override {
        return Tracer::makeName(names, "own_" + std::string(candidate));
    }
};

/// Net{block: Block, rest: Rest{linear}}.
std::shared_ptr<Custom> net() {
    const auto rest = custom("Rest", [](Custom& self, In in) { return self.at("linear")(in[0]); });
    rest->addChild("linear", std::make_shared<nn::Linear>(2, 2));
    const auto root = custom("Net", [](Custom& self, In in) { return self.at("rest")(self.at("block")(in[0])); });
    root->addChild("block", custom("Block", [](Custom&, In in) { return nn::relu(in[0]) + 1; }));
    root->addChild("rest", rest);
    return root;
}

const graph::Expr& producer(const graph::InternalGraph& graph, const char* node) {
    return graph.expr(graph.node(graph.findNode(node)).producer);
}

/// Of a function of one tensor.
std::vector<trace::ForwardParameter> oneTensor() { return {{"x", {}, false, true}}; }

/// x > 0 ? x + 10 : x - 10 of one number, recorded with both branches.
Var branched(const Var& x) {
    ControlRecorder control(Tracer::active()->recorder());
    const graph::ExprId owner = control.begin("If", {x > 0});
    control.enterBody(owner, "then");
    control.leaveBody({x + 10});
    control.enterBody(owner, "else");
    control.leaveBody({x - 10});
    return control.output(owner, 0, true);
}

}  // namespace

class TestTracePolicy : public QObject {
    Q_OBJECT

  private slots:
    void leavesAndNamesAreThoseOfThePolicy() {
        OwnTracer tracer;
        const auto graph = tracer.trace(net());
        QVERIFY2(graph, graph ? "" : graph.error().text().c_str());
        QVERIFY((*graph)->validate());
        QCOMPARE(names(**graph), std::string("x own_block own_rest_linear output"));
        const graph::Expr& block = producer(**graph, "own_block");
        QVERIFY(block.kind == graph::ExprKind::CallModule);
        // Inside of it the policy has no say: names are those of the call.
        QCOMPARE(block.bodies.size(), 1U);
        QCOMPARE((*graph)->node((*graph)->body(block.bodies.front()).inputs.front()).name, std::string("own_block/x"));
        QCOMPARE(tracer.seen, (std::vector<std::string>{"Block", "Rest", "Linear"}));
    }

    void failuresAreAbsorbedIfThePolicySaysSo() {
        const auto root = custom("Net", [](Custom& self, In in) { return self.at("part")(in[0]) + 1; });
        root->addChild("part", custom("Part", [](Custom&, In in) { return nn::sum(in[0]) > 0 ? in[0] : -in[0]; }));
        OwnTracer tracer;
        QVERIFY(!tracer.trace(root));
        QVERIFY(tracer.failures().empty());
        tracer.absorbsAll = true;
        const auto graph = tracer.trace(root);
        QVERIFY2(graph, graph ? "" : graph.error().text().c_str());
        QCOMPARE(names(**graph), std::string("x own_part own_add output"));
        QVERIFY(producer(**graph, "own_part").callable);
        QCOMPARE(tracer.failures().count("part"), 1U);
    }

    void theOracleIsSetAndTakenAway() {
        const std::shared_ptr<trace::ValueOracle> values =
            std::make_shared<trace::ConcreteRun>(std::map<std::string, Value>{}, nullptr);
        Tracer tracer;
        QVERIFY(!tracer.knowsValues());
        tracer.setValueOracle(values);
        QVERIFY(tracer.knowsValues());
        tracer.setValueOracle(nullptr);
        QVERIFY(!tracer.knowsValues());
    }

    void branchesAreRecordedByHand() {
        Tracer tracer;
        const auto graph = tracer.trace([](In in) { return branched(in[0]) * 2; }, oneTensor());
        QVERIFY2(graph, graph ? "" : graph.error().text().c_str());
        QVERIFY((*graph)->validate());
        QCOMPARE(names(**graph), std::string("x gt if_1 mul output"));
        QCOMPARE(producer(**graph, "if_1").bodies.size(), 2U);
        QCOMPARE(resultOf(*graph, {floats({1}, {3})}), (Numbers{26}));
        QCOMPARE(resultOf(*graph, {floats({1}, {-3})}), (Numbers{-26}));
    }

    /// What is taken back leaves no trace but its names, and what comes after it is recorded as ever.
    void controlFlowIsTakenBack() {
        Tracer tracer;
        const auto graph = tracer.trace(
            [](In in) {
                ControlRecorder control(Tracer::active()->recorder());
                const graph::ExprId owner = control.begin("If", {in[0] > 0});
                control.enterBody(owner, "then");
                in[0] + 10;
                control.leaveBody();
                control.abandon(owner);
                return in[0] + 1;
            },
            oneTensor());
        QVERIFY2(graph, graph ? "" : graph.error().text().c_str());
        QVERIFY((*graph)->validate());
        QCOMPARE(names(**graph), std::string("x gt add output"));
        QCOMPARE(resultOf(*graph, {floats({1}, {3})}), (Numbers{4}));
    }

    void onlyTheLastOperationIsAmended() {
        Tracer tracer;
        std::vector<bool> amended;
        const auto graph = tracer.trace(
            [&](In in) {
                trace::Recorder& recorder = Tracer::active()->recorder();
                const Var first = in[0] + 1;
                amended.push_back(recorder.amendLast(first.node(), {in[0], Var(5)}));
                const Var second = first * 2;
                amended.push_back(recorder.amendLast(first.node(), {in[0], Var(7)}));
                return second;
            },
            oneTensor());
        QVERIFY2(graph, graph ? "" : graph.error().text().c_str());
        QCOMPARE(amended, (std::vector<bool>{true, false}));
        QCOMPARE(resultOf(*graph, {floats({1}, {3})}), (Numbers{16}));
    }

    void aTracerRecordsOnlyDuringATrace() {
        Tracer tracer;
        QVERIFY(!tracer.recording().recordedGraph());
        const graph::InternalGraph* during = nullptr;
        const auto graph = tracer.trace(
            [&](In in) {
                during = tracer.recording().recordedGraph();
                return in[0] + 1;
            },
            oneTensor());
        QVERIFY(graph);
        QCOMPARE(during, graph->get());
        QVERIFY(!tracer.recording().recordedGraph());
        QVERIFY(!Tracer::active());
    }
};

QTEST_GUILESS_MAIN(TestTracePolicy)

}  // namespace tst_trace_policy

#include "tst_trace_policy.moc"
