// The C++ of the help page "Coming from torch.fx" and of the pages on symbolic tracers: each line of the pages stands
// here and is run (tst_help_snippets). Expected values are worked by hand.

#include <QtTest>

#include "core/analysis/infer.h"
#include "core/analysis/query/query.h"
#include "core/document/evaluator.h"
#include "core/exec/plan.h"
#include "core/exec/runner.h"
#include "core/nn/containers.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/passes/inplace.h"
#include "core/passes/pass.h"
#include "core/trace/listing.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/tracer.h"
#include "tests/core/trace/traced_text.h"

namespace tst_help_fx {

using namespace sonde;
using std::string;
using test::Custom;
using test::custom;
using test::floats;
using test::names;
using test::numbers;
using test::oneLine;

namespace {

using Numbers = std::vector<double>;
using In = std::span<const trace::Var>;

/// Block{weight}: relu(x * weight), with weight (2, -3).
std::shared_ptr<Custom> fxBlock() {
    auto block = custom("Block", [](Custom& self, In in) { return nn::relu(in[0] * self.tensor("weight")); });
    block->addParameter("weight", tensor::Tensor::of<float>({2}, {2, -3}));
    return block;
}
/// Net{a: Block}: a(x) + 1.
std::shared_ptr<Custom> fxNet() {
    auto net = custom("Net", [](Custom& self, In in) { return self.at("a")(in[0]) + 1; });
    net->addChild("a", fxBlock());
    return net;
}

// What follows is on the pages.

class StopAtBlocks : public trace::ModulePathTracer {
  protected:
    bool isLeafModule(const trace::Module& module, std::string_view path) const override {
        return module.className() == "Block" || trace::ModulePathTracer::isLeafModule(module, path);
    }
};

class CountCalls : public trace::ModulePathTracer {
  public:
    trace::Var moduleCalled(trace::Module& module, std::vector<trace::Var> arguments,
                            trace::Keywords keywords) override {
        ++calls;
        return trace::ModulePathTracer::moduleCalled(module, std::move(arguments), std::move(keywords));
    }
    int calls = 0;
};

class Steps : public exec::RunObserver {
  public:
    void exprFinished(graph::ExprId id, std::span<const tensor::Value> outputs, std::int64_t elapsedNs) override {
        if (elapsedNs >= 0 && !outputs.empty()) done.push_back(id);
    }
    std::vector<graph::ExprId> done;
};

}  // namespace

class TestHelpFx : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void traceAndRun() {
        const std::shared_ptr<nn::Module> model = fxNet();
        const tensor::Value x = floats({2}, {1, 1});
        trace::ModulePathTracer tracer;
        const auto graph = *tracer.trace(model);
        const auto plan = *exec::Plan::make(graph, {});
        exec::Runner runner;
        const exec::Recording recording = runner.run(*plan, std::vector<tensor::Value>{x});
        const tensor::Value& y = recording.outputs.front();
        // relu((2, -3)) + 1
        QCOMPARE(numbers(y), (Numbers{3, 1}));
        QVERIFY(!recording.error);
        QCOMPARE(tracer.root(), model);
        QCOMPARE(*tracer.pathOf(*model->find("a")), string("a"));
        QCOMPARE(trace::namedModules(*model).size(), 2U);
        QCOMPARE(tracer.currentModuleQualifiedName(), string());
    }

    void tracingOptions() {
        const auto model = custom("Flag", [](Custom&, In in) { return in[1].toBool() ? in[0] + 1 : in[0] * 2; },
                                  {{"x", std::nullopt, false, true}, {"test_flag", tensor::Value::ofBool(false)}});
        trace::ModulePathTracer tracer;
        const auto fixed = *tracer.trace(model, {{"test_flag", tensor::Value::ofBool(true)}});
        QCOMPARE(names(*fixed), string("x test_flag_1 eq _assert add output"));
        const auto function = *tracer.trace([](std::span<const trace::Var> in) { return in[0] + 1; }, {{"x", {}}});
        QCOMPARE(names(*function), string("x add output"));

        trace::ModulePathTracer stopping;
        stopping.addLeafClass("Block");
        QCOMPARE(names(**stopping.trace(fxNet())), string("x a add output"));
        trace::ModulePathTracer entering;
        entering.setTraceAll(true);
        QCOMPARE(names(**entering.trace(std::make_shared<nn::Sequential>(
                     std::vector<std::shared_ptr<nn::Module>>{std::make_shared<nn::Linear>(2, 2)}))),
                 string("input_1 _0_weight _0_bias linear output"));
        StopAtBlocks derived;
        QCOMPARE(names(**derived.trace(fxNet())), string("x a add output"));
        CountCalls counting;
        QVERIFY(counting.trace(fxNet()));
        QCOMPARE(counting.calls, 1);
    }

    void proxies() {
        trace::ModulePathTracer tracer;
        const auto graph = *tracer.trace(
            [](std::span<const trace::Var> in) {
                const trace::Var& x = in[0];
                const trace::Var& y = in[1];
                const trace::Var results[] = {
                    x + 1,       1 + x,           -x,         trace::matmul(x, y), x[0], x[trace::Var::slice(0, 2)],
                    x.attr("T"), x.method("sum"), nn::relu(x)};
                const std::vector<trace::Var> parts = x.unpack(2);
                return trace::Var::list({results[8], parts[1]});
            },
            {{"x", {}}, {"y", {}}});
        QCOMPARE(names(*graph), string("x y add add_1 neg matmul getitem getitem_1 getattr_1 sum_1 relu getitem_2 "
                                       "getitem_3 output"));
        QVERIFY(oneLine(*graph).find("add_1(1,x)") != string::npos);
        const auto condition = tracer.trace(
            [](std::span<const trace::Var> in) { return nn::sum(in[0]) > 0 ? in[0] : in[0] + 1; }, {{"x", {}}});
        QVERIFY(!condition);
        QVERIFY(condition.error().what.find("symbolically traced variables cannot be used as inputs to control flow") !=
                string::npos);
    }

    /// C++ leaves open which operand of + is computed first; names fix it.
    void orderOfOperands() {
        const auto graph = *trace::ModulePathTracer().trace(
            [](std::span<const trace::Var> in) {
                const trace::Var& x = in[0];
                const trace::Var left = nn::exp(x);
                const trace::Var right = nn::relu(x);
                return left + right;
            },
            {{"x", {}}});
        QCOMPARE(oneLine(*graph), string("x exp(x) relu(x) add(exp,relu) output(add)"));
        // A module is read before its arguments are computed, as in Python; only a traced module records the read.
        const auto model = custom("Net", [](Custom& self, In in) {
            const trace::Var& x = in[0];
            return self.use("a")(x + 1);
        });
        model->addChild("a", fxBlock());
        const auto called = *trace::ModulePathTracer().trace(model);
        QCOMPARE(names(*called), string("x add a_weight mul relu output"));
    }

    void readingAGraph() {
        const std::shared_ptr<nn::Module> model = fxNet();
        trace::ModulePathTracer tracer;
        const auto graph = *tracer.trace(model);
        std::vector<string> kinds;
        for (graph::ExprId id : graph->main().order) kinds.emplace_back(graph::name(graph->expr(id).kind));
        QCOMPARE(kinds,
                 (std::vector<string>{"Input", "GetAttr", "CallFunction", "CallFunction", "CallFunction", "Output"}));
        const graph::NodeId node = graph->findNode("mul");
        const graph::ExprId id = graph->node(node).producer;
        QCOMPARE(graph->node(node).name, string("mul"));
        QCOMPARE(graph->expr(id).target, string("operator.mul"));
        QCOMPARE(graph->expr(id).arguments.size(), 2U);
        QVERIFY(graph->expr(id).keywords.empty());
        QCOMPARE(graph->expr(id).inputs.size(), 2U);
        QCOMPARE(graph->expr(graph->node(node).users.front()).target, string("torch.nn.functional.relu"));
        QCOMPARE(graph->inputs().size(), 1U);
        QCOMPARE(graph->outputs().size(), 1U);
        QVERIFY(graph->validate());
        QCOMPARE(analysis::Query::parse("op:relu")->run(*graph).size(), 1U);
        QVERIFY(graph::printed(*graph).find("mul: ") != string::npos);
        QVERIFY(model->find("a") && !model->find("b"));

        QCOMPARE(*tracer.originOf(node), string("a"));
        QCOMPARE(*graph->expr(id).qualname, string("a"));
        QVERIFY(graph->expr(id).source.empty());
        QVERIFY(trace::originListing(*graph).find("Node mul is from module a\n") != string::npos);
        QVERIFY(trace::originTable(*graph).find("\tmul\t") != string::npos);
        QVERIFY(trace::clusteredDot(*graph).find("subgraph") != string::npos);
    }

    void shapes() {
        const auto graph = *trace::ModulePathTracer().trace(fxNet());
        const tensor::Value x = floats({2}, {1, 1});
        const auto typed = analysis::typedFor(*graph, std::vector<tensor::Value>{x});
        QCOMPARE(typed.node(graph->findNode("relu")).type.text(), string("float32[2]"));
        base::Diagnostics findings;
        analysis::inferTypes(*graph, findings);
        const graph::NodeId node = graph->findNode("a_weight");
        QCOMPARE(graph->node(node).type.text(), string("float32[2]"));
    }

    void changingAGraph() {
        const auto graph = *trace::ModulePathTracer().trace(fxNet());
        passes::Notes notes;
        passes::Rewrite rewrite(*graph, notes);
        const graph::ExprId relu = graph->node(graph->findNode("relu")).producer;
        graph::Expr expr;
        expr.kind = graph::ExprKind::CallFunction;
        expr.op = {"aten", "neg", 0};
        expr.target = "torch.neg";
        expr.arguments = {graph::Argument::of(graph->findNode("mul"))};
        const graph::ExprId neg = rewrite.insertAfter(relu, expr, "neg", "negative instead of ReLU");
        rewrite.replace(rewrite.output(relu), rewrite.output(neg), "negative instead of ReLU");
        rewrite.erase(relu, "negative instead of ReLU");
        QVERIFY(graph->validate());
        // -(1 * 2, 1 * -3) + 1
        QCOMPARE(test::resultOf(graph, {floats({2}, {1, 1})}), (Numbers{-1, 4}));
        const graph::ExprId unread = rewrite.insertBefore(neg, expr, "neg", "an example");
        QCOMPARE(graph->node(rewrite.output(unread)).name, string("neg_1"));
        rewrite.erase(unread, "an example");
        const graph::NodeId node = rewrite.output(neg);
        QVERIFY(graph->rename(node, "negative"));
        const graph::ExprId sum = graph->node(graph->findNode("add")).producer;
        graph->setArguments(sum, {graph::Argument::of(node), graph::Argument::of(tensor::Value::ofInt(5))});
        QVERIFY(graph->validate());
        QCOMPARE(test::resultOf(graph, {floats({2}, {1, 1})}), (Numbers{3, 8}));

        const auto unused = *trace::ModulePathTracer().trace(
            [](In in) {
                (void)(in[0] * 2);
                return in[0] + 0;
            },
            {{"x", {}}});
        const auto pure = *passes::runPasses(*unused, std::vector<std::string>{"remove-dead-code", "fuse-add-mul"});
        QVERIFY(names(*unused).find("mul") != string::npos);
        QVERIFY(names(*pure.graph).find("mul") == string::npos);
        QVERIFY(pure.reports.front().text().find("mul") != string::npos);
        const auto chain = *trace::ModulePathTracer().trace(
            [](In in) {
                (void)nn::relu(in[0] * 2);
                return in[0] + 0;
            },
            {{"x", {}}});
        // What is used is an error; relu goes, and mul, which only relu read.
        QVERIFY(!passes::graphEraseNode(*chain, chain->findNode("mul")));
        QCOMPARE(passes::graphEraseNode(*chain, chain->findNode("relu")).value(), std::size_t(2));
        QCOMPARE(names(*chain), string("x add output"));
        for (const char* id : {"fuse-conv-bn", "remove-identity", "fold-constant", "merge-duplicates"})
            QVERIFY(passes::findPass(id));
    }

    void running() {
        const auto graph = *trace::ModulePathTracer().trace(fxNet());
        const std::vector<tensor::Value> inputs{floats({2}, {1, 1})};
        const graph::NodeId node = graph->findNode("mul");
        exec::PlanOptions options;
        options.watch = {node};
        options.end = {graph->findNode("relu")};
        const auto plan = *exec::Plan::make(graph, options);
        exec::Runner runner;
        Steps steps;
        exec::RunOptions runOptions;
        runOptions.observer = &steps;
        const exec::Recording recording = runner.run(*plan, inputs, {}, runOptions);
        QCOMPARE(numbers(*recording.value(node)), (Numbers{2, -3}));
        QCOMPARE(numbers(recording.outputs.front()), (Numbers{2, 0}));
        QVERIFY(recording.elapsedNs(graph->node(node).producer) >= 0);
        QVERIFY(std::ranges::find(steps.done, graph->node(node).producer) != steps.done.end());
        QVERIFY(!recording.computed(graph->findNode("add")));
        options.end.clear();
        options.watchAll = true;
        const auto whole = *exec::Plan::make(graph, options);
        QCOMPARE(numbers(*runner.run(*whole, inputs).value(graph->findNode("relu"))), (Numbers{2, 0}));
    }
};

QTEST_GUILESS_MAIN(TestHelpFx)

}  // namespace tst_help_fx

#include "tst_help_fx.moc"
