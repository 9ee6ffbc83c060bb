// Acceptance cases of the robust tracer and the graph collection. Numbers are those of part (d) of its reference.

#include <QtTest>

#include "core/nn/activation.h"
#include "core/nn/containers.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/trace/robust_tracer.h"

using namespace sonde;
using nn::Var;
using trace::GraphCollection;
using trace::RobustTracer;

namespace {

class Custom : public nn::Module {
  public:
    using Forward = std::function<Var(Custom&, std::span<const Var>)>;
    Custom(std::string className, Forward forward, std::vector<trace::ForwardParameter> parameters)
        : m_className(std::move(className)), m_forward(std::move(forward)), m_parameters(std::move(parameters)) {}
    std::string className() const override { return m_className; }
    std::vector<trace::ForwardParameter> signature() const override { return m_parameters; }
    Var forward(std::span<const Var> in) override { return m_forward(*this, in); }
    nn::Module& at(const char* name) { return *child(name); }

  private:
    std::string m_className;
    Forward m_forward;
    std::vector<trace::ForwardParameter> m_parameters;
};

std::shared_ptr<Custom> custom(std::string name, Custom::Forward forward,
                               std::vector<trace::ForwardParameter> parameters = {{"x", std::nullopt, false}}) {
    return std::make_shared<Custom>(std::move(name), std::move(forward), std::move(parameters));
}

std::shared_ptr<nn::Linear> linear() { return std::make_shared<nn::Linear>(4, 4); }
std::shared_ptr<nn::Sequential> sequential(std::vector<std::shared_ptr<nn::Module>> modules) { return std::make_shared<nn::Sequential>(std::move(modules)); }

std::string names(const graph::InternalGraph& graph) {
    std::string result;
    for (graph::ExprId id : graph.main().order) {
        const graph::Expr& expr = graph.expr(id);
        result += result.empty() ? "" : " ";
        for (graph::NodeId node : expr.outputs) result += graph.node(node).name;
    }
    return result;
}

/// Flag{conv}: forward(x, test_flag=false): test_flag ? conv(x + 1) : conv(x)
std::shared_ptr<Custom> flag() {
    auto module = custom("Flag", [](Custom& self, std::span<const Var> in) { return self.at("conv")(in[1] ? in[0] + 1 : in[0]); },
                         {{"x", std::nullopt, false}, {"test_flag", tensor::Value::ofBool(false), false}});
    module->addChild("conv", linear());
    return module;
}

/// CF{a: linear, b: Sequential(linear, relu)}: x = a(x); if sum(x) > 0 return b(x); return x
std::shared_ptr<Custom> controlFlow() {
    auto module = custom("CF", [](Custom& self, std::span<const Var> in) {
        const Var x = self.at("a")(in[0]);
        return nn::sum(x) > 0 ? self.at("b")(x) : x;
    });
    module->addChild("a", linear());
    module->addChild("b", sequential({linear(), std::make_shared<nn::ReLU>()}));
    return module;
}

std::shared_ptr<Custom> err() {
    return custom("Err", [](Custom&, std::span<const Var> in) { return in[0].iterate().front(); });
}

}  // namespace

class TestRobustTracer : public QObject {
    Q_OBJECT

  private slots:
    void case01_flagIsSpecialised() {
        RobustTracer tracer;
        QCOMPARE(names(*tracer.traceRobust(flag())), std::string("x test_flag_1 eq _assert conv output"));
        QCOMPARE(names(*tracer.traceRobust(flag(), {{"test_flag", tensor::Value::ofBool(true)}})),
                 std::string("x test_flag_1 eq _assert add conv output"));
    }

    void case01_iterationInASubmodule() {
        RobustTracer tracer;
        const auto root = sequential({err()});
        const auto graph = tracer.traceRobust(root);
        QCOMPARE(names(*graph), std::string("input_1 _0 output"));
        QVERIFY(!tracer.isFailed(*root));
        QVERIFY(tracer.isFailed(*root->child("0")));
        QVERIFY(tracer.failureMessage(*root->child("0"))->starts_with("TraceError: Proxy object cannot be iterated."));
        QCOMPARE(tracer.failureMessage(*root), nullptr);
        const auto alone = err();
        QCOMPARE(tracer.traceRobust(alone)->nodeCount(), 0U);
        QVERIFY(tracer.isFailed(*alone));
    }

    void case01_controlFlowInTheMiddle() {
        auto net = custom("Net", [](Custom& self, std::span<const Var> in) { return self.at("head")(self.at("cf")(self.at("stem")(in[0]))); });
        const auto cf = controlFlow();
        net->addChild("stem", linear());
        net->addChild("cf", cf);
        net->addChild("head", linear());
        net->addChild("unused", linear());
        GraphCollection collection;
        collection.recursiveTrace(net, {}, true);
        QCOMPARE(collection.entries().size(), 3U);
        QCOMPARE(names(*collection.entries()[0].graph), std::string("x stem cf head output"));
        QCOMPARE(names(*collection.find(*cf->child("a"))), std::string("input_1 _unnamed output"));
        QCOMPARE(names(*collection.find(*cf->child("b"))), std::string("input_1 _0 _1 output"));
        QCOMPARE(*collection.failureMessage(*cf), std::string("TraceError: symbolically traced variables cannot be used as inputs to control flow"));
        QVERIFY(collection.isUnvisited(*net->child("unused")));
        QVERIFY(!collection.isUnvisited(*cf));
    }

    void case03_conversionToInt() {
        auto inner = custom("I", [](Custom& self, std::span<const Var> in) { return self.at("l")(in[0] + nn::sum(in[0]).toInt()); });
        inner->addChild("l", linear());
        auto net = custom("O", [](Custom& self, std::span<const Var> in) { return self.at("i")(in[0]); });
        net->addChild("i", inner);
        GraphCollection collection;
        collection.recursiveTrace(net, {}, true);
        QCOMPARE(names(*collection.entries()[0].graph), std::string("x i output"));
        QVERIFY(collection.failureMessage(*inner)->starts_with("TypeError: "));
        QVERIFY(collection.find(*inner->child("l")));
    }

    void case04_lengthReachesTheRoot() {
        auto inner = custom("I", [](Custom& self, std::span<const Var> in) { return self.at("l")(in[0] + Var(in[0].length())); });
        inner->addChild("l", linear());
        auto net = custom("O2", [](Custom& self, std::span<const Var> in) { return self.at("b")(self.at("i")(self.at("a")(in[0]))); });
        net->addChild("a", linear());
        net->addChild("i", inner);
        net->addChild("b", linear());
        GraphCollection collection;
        collection.recursiveTrace(net, {}, true);
        QCOMPARE(collection.entries().size(), 5U);
        QCOMPARE(collection.entries()[0].graph->nodeCount(), 0U);
        QVERIFY(collection.failureMessage(*net)->starts_with("RuntimeError: "));
        QVERIFY(collection.isFailed(*inner));
        QCOMPARE(names(*collection.find(*inner->child("l"))), std::string("input_1 _unnamed output"));
        // The friendlier mode keeps the root.
        RobustTracer tracer;
        QCOMPARE(names(*tracer.traceRobust(net)), std::string("x a i b output"));
    }

    void case05_moduleMadeInForward() {
        const auto net = custom("Net", [](Custom&, std::span<const Var> in) { return (*linear())(in[0]); });
        RobustTracer tracer(true);
        QCOMPARE(tracer.traceRobust(net)->nodeCount(), 0U);
        QCOMPARE(*tracer.failureMessage(*net), std::string("NameError: module is not installed as a submodule"));
    }

    void case08_leafAsRoot() {
        RobustTracer tracer;
        const auto root = linear();
        const auto graph = tracer.traceRobust(root);
        QCOMPARE(names(*graph), std::string("input_1 _unnamed output"));
        QVERIFY(!tracer.isFailed(*root));
        QVERIFY(!tracer.isUnvisited(*root));
    }

    void case10_listAsRootFails() {
        RobustTracer tracer;
        const auto root = std::make_shared<nn::ModuleList>(std::vector<std::shared_ptr<nn::Module>>{linear()});
        QCOMPARE(tracer.traceRobust(root)->nodeCount(), 0U);
        QCOMPARE(*tracer.failureMessage(*root), std::string("NotImplementedError: Module [ModuleList] is missing the required \"forward\" function"));
    }

    void case11_sharedFailingModule() {
        const auto shared = controlFlow();
        auto net = custom("Net", [](Custom& self, std::span<const Var> in) { return self.at("c")(self.at("b")(self.at("a")(in[0]))); });
        net->addChild("a", shared);
        net->addChild("b", shared);
        net->addChild("c", linear());
        GraphCollection collection;
        collection.recursiveTrace(net, {}, true);
        QCOMPARE(names(*collection.entries()[0].graph), std::string("x a a_1 c output"));
        QCOMPARE(collection.entries().size(), 3U);
    }

    void case12_unknownConcreteArgument() {
        RobustTracer tracer;
        QCOMPARE(names(*tracer.traceRobust(flag(), {{"other", tensor::Value::ofInt(1)}})), std::string("x test_flag_1 eq _assert conv output"));
    }

    void case14_freshCollection() {
        GraphCollection collection;
        const auto net = linear();
        QVERIFY(collection.entries().empty());
        QVERIFY(collection.isUnvisited(*net));
        QVERIFY(!collection.isFailed(*net));
        QCOMPARE(collection.find(*net), nullptr);
        collection.recursiveTrace(net);
        const auto second = linear();
        collection.recursiveTrace(second);
        QCOMPARE(collection.find(*net), nullptr);
        QVERIFY(collection.find(*second));
    }
};

QTEST_GUILESS_MAIN(TestRobustTracer)
#include "tst_robust_tracer.moc"
