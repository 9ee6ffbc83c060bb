// The C++ of the help pages on the robust and the custom tracer, and of their tables on "Coming from torch.fx": each
// line of the pages stands here and is run (tst_help_snippets). Expected values are worked by hand.

#include <QtTest>

#include <cmath>

#include "core/document/evaluator.h"
#include "core/nn/containers.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/passes/pass.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/robust_tracer.h"
#include "tests/core/trace/traced_text.h"

namespace tst_help_tracers {

using namespace sonde;
using std::string;
using test::Custom;
using test::custom;
using test::floats;
using test::names;
using test::oneLine;
using test::resultOf;

namespace {

using Numbers = std::vector<double>;
using In = std::span<const trace::Var>;

/// Branch: x if its sum is positive, else -x. No symbolic trace can follow it.
class Branch : public nn::Module {
  public:
    Branch() { addChild("l", std::make_shared<nn::Linear>(2, 2)); }
    string className() const override { return "Branch"; }
    std::vector<trace::ForwardParameter> signature() const override { return {{"x", std::nullopt, false, true}}; }
    trace::Var forward(In in) override { return nn::sum(in[0]) > 0 ? (*child("l"))(in[0]) : -in[0]; }
};

/// Net{branch, unused}: branch(x) + 1.
std::shared_ptr<Custom> branchingNet() {
    auto net = custom("Net", [](Custom& self, In in) { return self.at("branch")(in[0]) + 1; });
    net->addChild("branch", std::make_shared<Branch>());
    net->addChild("unused", std::make_shared<nn::Linear>(2, 2));
    return net;
}

/// y = x.clone(); y[0] = 7; return y + 1
std::shared_ptr<Custom> writingNet() {
    return custom("Net", [](Custom&, In in) {
        const trace::Var y = in[0].method("clone");
        y.withItem(0, 7);
        return y + 1;
    });
}

}  // namespace

class TestHelpTracers : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void recursive() {
        const std::shared_ptr<nn::Module> model = branchingNet();
        const trace::GraphCollection collection = trace::recursiveTrace(model);
        for (const trace::GraphCollection::Entry& entry : collection.entries())
            QVERIFY2(entry.failure.empty(), entry.failure.c_str());
        QCOMPARE(collection.entries().size(), 2U);
        QCOMPARE(names(*collection.find(*model)), string("x branch add output"));
        const nn::Module& branch = *model->find("branch");
        QVERIFY(collection.isFailed(branch));
        QCOMPARE(*collection.failureMessage(branch),
                 string("TraceError: symbolically traced variables cannot be used as inputs to control flow"));
        QVERIFY(collection.isUnvisited(*model->find("unused")));
        trace::GraphCollection again;
        again.recursiveTrace(model);
        QCOMPARE(again.entries().size(), 2U);
    }

    void oneRoot() {
        const std::shared_ptr<nn::Module> model = branchingNet();
        const nn::Module& branch = *model->find("branch");
        trace::RobustTracer tracer;
        const auto graph = tracer.traceRobust(model);
        QCOMPARE(oneLine(*graph), string("x branch(x) add(branch,1) output(add)"));
        QVERIFY(tracer.isFailed(branch));
        QVERIFY(tracer.failureMessage(branch));
        QVERIFY(!tracer.isUnvisited(branch));
        QCOMPARE(tracer.lastGraph(), graph);
        QCOMPARE(tracer.root(), model);
        const auto flagged = custom("Flag", [](Custom&, In in) { return in[1].toBool() ? in[0] + 1 : in[0]; },
                                    {{"x", std::nullopt, false, true}, {"flag", tensor::Value::ofBool(false)}});
        const auto fixed = tracer.traceRobust(flagged, {{"flag", tensor::Value::ofBool(true)}});
        QCOMPARE(names(*fixed), string("x flag_1 eq _assert add output"));

        const nn::Module& unused = *model->find("unused");
        const trace::TraceError error(trace::TraceErrorKind::Runtime, "out of order");
        tracer.recordCallModule(unused, &error);
        QCOMPARE(*tracer.failureMessage(unused), string("RuntimeError: out of order"));
        // Errors that fx's robust tracer does not absorb reach the root.
        const auto length = custom("Length", [](Custom&, In in) { return trace::Var(in[0].length()); });
        const auto outer = custom("Outer", [](Custom& self, In in) { return self.at("length")(in[0]); });
        outer->addChild("length", length);
        trace::RobustTracer asReference(true);
        QCOMPARE(asReference.traceRobust(outer)->nodeCount(), 0U);
        QCOMPARE(names(*trace::RobustTracer().traceRobust(outer)), string("x length output"));
    }

    void leaves() {
        trace::RobustTracer::registerLeaf<Branch>();
        QVERIFY(trace::RobustTracer::isRegisteredLeaf<Branch>());
        QVERIFY(trace::RobustTracer::isRegisteredLeaf(*branchingNet()->find("branch")));
        const auto model = branchingNet();
        trace::RobustTracer tracer;
        QCOMPARE(names(*tracer.traceRobust(model)), string("x branch add output"));
        QVERIFY(!tracer.isFailed(*model->find("branch")));
        QVERIFY(trace::RobustTracer::unregisterLeaf<Branch>());
        QVERIFY(!trace::RobustTracer::unregisterLeaf<Branch>());
        tracer.addLeafClass("Branch");
        QCOMPARE(names(*tracer.traceRobust(branchingNet())), string("x branch add output"));
    }

    void writes() {
        const std::shared_ptr<nn::Module> model = writingNet();
        trace::CustomTracer tracer;
        const auto graph = *tracer.traceCustom(model);
        QCOMPARE(oneLine(*graph), string("x clone(x) setitem(clone,0,7) add(setitem,1) output(add)"));
        QCOMPARE(resultOf(graph, {floats({2}, {1, 2})}), (Numbers{8, 3}));
        trace::CustomTraceOptions options;
        options.removeInPlace = false;
        options.updateModel = false;
        const auto recorded = *tracer.traceCustom(model, options);
        QCOMPARE(oneLine(*recorded), string("x clone(x) setitem(clone,0,7) add(clone,1) output(add)"));
        const auto pure = *passes::runPasses(*recorded, std::vector<std::string>{"remove-inplace"});
        QCOMPARE(oneLine(*pure.graph), oneLine(*graph));
        const auto sliced = *passes::runPasses(*recorded, std::vector<std::string>{"remove-unnecessary-slices"});
        QCOMPARE(oneLine(*sliced.graph), oneLine(*recorded));
        QCOMPARE(tracer.tracedModel(), nullptr);
    }

    void annotatedPlaceholders() {
        trace::CustomTracer tracer;
        trace::CustomTraceOptions options;
        const tensor::Value x = floats({2}, {1, 2});
        options.concrete = trace::ConcreteArguments{{"x", x}};
        const auto graph = *tracer.traceCustom(writingNet(), options);
        QVERIFY(graph->expr(graph->main().order.front()).attributes.find("example_value"));
        options.concrete = trace::ConcreteArguments{};
        const auto missing = tracer.traceCustom(writingNet(), options);
        QVERIFY(!missing && missing.error().what.starts_with("AssertionError"));
        QCOMPARE(names(**tracer.traceCustom([](In in) { return in[0] + 1; }, {{"x", {}}})), string("x add output"));
    }

    void options() {
        trace::CustomTracerOptions options;
        options.paramShapesConstant = true;
        options.autowrapModules = {"math"};
        options.autowrapFunctions = {"clip"};
        options.moduleLeaves["Branch"] = [](const trace::Module&, const std::string& path) { return path == "branch"; };
        trace::CustomTracer tracer(options);
        QCOMPARE(names(**tracer.traceCustom(branchingNet())), string("x branch add output"));
        const trace::AutowrapFunction root("math", "sqrt",
                                           [](In in) { return trace::Var(std::sqrt(in[0].toFloat())); });
        const auto wrapped = *tracer.traceCustom([&](In in) { return root({in[0]}); }, {{"x", {}}});
        QCOMPARE(names(*wrapped), string("x sqrt output"));
        const auto sized = custom("Sized", [](Custom& self, In in) {
            const trace::Var w = self.tensor("w");
            const std::vector<std::int64_t> shape = trace::CustomParameterProxy(w).shape();
            return shape[0] == 3 ? in[0] * w : in[0];
        });
        sized->addParameter("w", tensor::Tensor::of<float>({3}, {1, 2, 3}));
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        QCOMPARE(names(**tracer.traceCustom(sized)), string("x w mul output"));
    }

    void symbolicValues() {
        trace::CustomTracer tracer;
        const auto graph = *tracer.traceCustom(
            [](std::span<const trace::Var> in) {
                const trace::Var& x = in[0];
                const trace::CustomProxyInt length = trace::CustomProxy(x).length();
                const trace::CustomAttribute shape = trace::CustomProxy(x).attribute("shape");
                const trace::Var joined = trace::CustomProxy::cat(trace::Var::list({x, x}), 0);
                QTEST_ASSERT(length.instanceOf(trace::InstanceKind::Int));
                QTEST_ASSERT(trace::isInstance(length, trace::InstanceKind::CustomProxyInt));
                QTEST_ASSERT(trace::CustomProxy(x).text() == "CustomProxy(x)");
                const trace::Var written = trace::setItemWithTransformation(joined, 0, {{"exp", {}}});
                const trace::Var first = shape[0];
                const trace::Var sum = first + trace::lengthOf(x);
                return trace::Var::list({written, sum * length});
            },
            {{"x", {}}});
        QCOMPARE(names(*graph),
                 string("x len_1 cat setitem_with_transformation getattr_1 getitem len_2 add mul output"));
        const tensor::Value spec = tensor::Value::list({tensor::Value::ofInt(0), tensor::Value::ofInt(0)});
        const std::vector<trace::Var> leaves{trace::Var(1), trace::Var(2)};
        QCOMPARE(trace::treeUnflattenWithProxy(spec, leaves).items().size(), 2U);
        QVERIFY_EXCEPTION_THROWN(trace::treeUnflattenWithProxy(spec, std::vector<trace::Var>{}), trace::TraceError);
    }

    void elementTypes() {
        trace::CustomTracer tracer;
        const auto graph = *tracer.traceCustom(
            [](std::span<const trace::Var> in) {
                return in[0].method("to", {trace::elementType(trace::InstanceKind::Float)}, {}, "to.dtype");
            },
            {{"x", {}}});
        // PyTorch's number of float32.
        QCOMPARE(oneLine(*graph), string("x to(x,6) output(to)"));
    }

    void conditions() {
        const trace::NamedFunction yes{"yes", [](std::span<const trace::Var> in) { return in[0] * 2; }};
        const trace::NamedFunction no{"no", [](std::span<const trace::Var> in) { return -in[0]; }};
        trace::CustomTracer tracer;
        const auto graph = *tracer.traceCustom(
            [&](std::span<const trace::Var> in) {
                const trace::Var& x = in[0];
                return trace::cond(nn::sum(x) > 0, yes, no, trace::Var::list({x}));
            },
            {{"x", {}}});
        QCOMPARE(names(*graph), string("x sum_1 gt _cb_cond_yes_0 _cb_cond_no_0 condcc output"));
        QCOMPARE(resultOf(graph, {floats({2}, {1, 2})}), (Numbers{2, 4}));
        QCOMPARE(resultOf(graph, {floats({2}, {-1, -2})}), (Numbers{1, 2}));
        QCOMPARE(tracer.root()->functions().size(), 2U);
        QCOMPARE(tracer.callables().size(), 2U);
        const auto kept = *tracer.traceCustom(
            [&](std::span<const trace::Var> in) {
                tracer.registerCallable("loop", yes);
                const trace::ReplacedFunctions replaced;
                return in[0] + 1;
            },
            {{"x", {}}});
        QVERIFY(tracer.callables().contains("_cb_loop_yes_0"));
        QVERIFY(kept->findNode("add").valid());
    }
};

QTEST_GUILESS_MAIN(TestHelpTracers)

}  // namespace tst_help_tracers

#include "tst_help_tracers.moc"
