// Worked examples and acceptance cases of the robust tracer, one root at a time. Numbers are those of part (d) of its
// reference (tests of recursive tracing: tst_graph_collection).

#include <QtTest>

#include "core/nn/attention.h"
#include "core/nn/normalization.h"
#include "tests/core/trace/robust_models.h"

namespace tst_robust_tracer {

using namespace robust_models;
using std::string;
using trace::RobustTracer;

namespace {

/// My{l}: relu(l(x)); a class derived from it does the same.
class My : public nn::Module {
  public:
    My() { addChild("l", linear()); }
    string className() const override { return "My"; }
    std::vector<trace::ForwardParameter> signature() const override { return {{"x", std::nullopt, false}}; }
    Var forward(std::span<const Var> in) override { return nn::relu((*child("l"))(in[0])); }
};
class MySub : public My {
  public:
    string className() const override { return "MySub"; }
};

trace::ConcreteArguments given(const char* name, tensor::Value value) { return {{name, std::move(value)}}; }
tensor::Value ones() { return tensor::Value(nn::ones(tensor::Shape{4})); }

}  // namespace

class TestRobustTracer : public QObject {
    Q_OBJECT

  private slots:
    void case01_w1_flagIsSpecialised() {
        RobustTracer tracer;
        const auto graph = tracer.traceRobust(flag());
        QCOMPARE(names(*graph), string("x test_flag_1 eq _assert conv output"));
        QCOMPARE(call(*graph, "test_flag_1"), string("test_flag_1(False)"));
        QCOMPARE(call(*graph, "eq"), string("eq(test_flag_1, False)"));
        QCOMPARE(call(*graph, "conv"), string("conv(x)"));
        const auto set = tracer.traceRobust(flag(), given("test_flag", tensor::Value::ofBool(true)));
        QCOMPARE(names(*set), string("x test_flag_1 eq _assert add conv output"));
        QCOMPARE(call(*set, "eq"), string("eq(test_flag_1, True)"));
        QCOMPARE(call(*set, "add"), string("add(x, 1)"));
        QCOMPARE(call(*set, "conv"), string("conv(add)"));
        QVERIFY(QString::fromStdString(call(*set, "_assert"))
                    .contains("test_flag has been specialized to have value True but got another value"));
    }

    void case01_w2_iterationInASubmodule() {
        RobustTracer tracer;
        const auto root = sequential({err()});
        const auto graph = tracer.traceRobust(root);
        QCOMPARE(names(*graph), string("input_1 _0 output"));
        QCOMPARE(target(*graph, "input_1"), string("input"));
        QCOMPARE(target(*graph, "_0"), string("0"));
        QVERIFY(!tracer.isFailed(*root));
        QVERIFY(tracer.isFailed(*root->child("0")));
        QVERIFY(tracer.failureMessage(*root->child("0"))->starts_with("TraceError: Proxy object cannot be iterated."));
        QCOMPARE(tracer.failureMessage(*root), nullptr);
        QCOMPARE(tracer.lastGraph(), graph);
        QCOMPARE(tracer.root(), std::static_pointer_cast<nn::Module>(root));
        const auto alone = err();
        QCOMPARE(tracer.traceRobust(alone)->nodeCount(), 0U);
        QVERIFY(tracer.isFailed(*alone));
        QVERIFY(tracer.failureMessage(*alone)->starts_with("TraceError: Proxy object cannot be iterated."));
    }

    void case01_w4_keywordsAreSpecialised() {
        RobustTracer tracer;
        const auto graph = tracer.traceRobust(keywords());
        QCOMPARE(names(*graph),
                 string("x mask_1 _assert_is_none scale_1 eq _assert mode_1 eq_1 _assert_1 l mul output"));
        QCOMPARE(call(*graph, "l"), string("l(x)"));
        QCOMPARE(call(*graph, "mul"), string("mul(l, 2)"));
        QVERIFY(QString::fromStdString(call(*graph, "_assert"))
                    .contains("scale has been specialized to have value 2.0 but"));
        QVERIFY(QString::fromStdString(call(*graph, "_assert_is_none"))
                    .contains("mask has been specialized to have value None but got another value"));
    }

    void case05_moduleMadeInForward() {
        const auto net = custom("Net", [](Custom&, std::span<const Var> in) { return (*linear())(in[0]); });
        RobustTracer tracer(true);
        QCOMPARE(tracer.traceRobust(net)->nodeCount(), 0U);
        QCOMPARE(*tracer.failureMessage(*net), string("NameError: module is not installed as a submodule"));
    }

    void case07_registeredLeaf() {
        RobustTracer::registerLeaf<My>();
        RobustTracer::registerLeaf<My>();
        const auto a = std::make_shared<My>();
        const auto b = std::make_shared<MySub>();
        QVERIFY(RobustTracer::isRegisteredLeaf<My>());
        QVERIFY(RobustTracer::isRegisteredLeaf(*a));
        QVERIFY(!RobustTracer::isRegisteredLeaf<MySub>());
        QVERIFY(!RobustTracer::isRegisteredLeaf(*b));
        const auto net = chain("O6", {{"a", a}, {"b", b}});
        RobustTracer tracer;
        const auto graph = tracer.traceRobust(net);
        QCOMPARE(names(*graph), string("x a b_l relu output"));
        QCOMPARE(target(*graph, "b_l"), string("b.l"));
        QVERIFY(tracer.isUnvisited(*a->child("l")));
        QVERIFY(!tracer.isUnvisited(*b->child("l")));
        const auto alone = std::make_shared<My>();
        QCOMPARE(names(*tracer.traceRobust(alone)), string("x _unnamed output"));
        QVERIFY(tracer.isUnvisited(*alone->child("l")));
        QVERIFY(RobustTracer::unregisterLeaf<My>().has_value());
        QCOMPARE(names(*tracer.traceRobust(alone)), string("x l relu output"));
        const auto again = RobustTracer::unregisterLeaf<My>();
        QVERIFY(!again && again.error().what.starts_with("KeyError"));
    }

    void case08_leafAsRoot() {
        for (const std::shared_ptr<nn::Module>& root :
             {std::static_pointer_cast<nn::Module>(linear()),
              std::static_pointer_cast<nn::Module>(std::make_shared<nn::BatchNorm2d>(3))}) {
            RobustTracer tracer;
            const auto graph = tracer.traceRobust(root);
            QCOMPARE(names(*graph), string("input_1 _unnamed output"));
            QCOMPARE(target(*graph, "_unnamed"), string());
            QVERIFY(!tracer.isFailed(*root));
            QVERIFY(!tracer.isUnvisited(*root));
        }
    }

    void case09_attentionAsRoot() {
        RobustTracer tracer;
        const auto root = std::make_shared<nn::MultiheadAttention>(8, 2);
        const auto graph = tracer.traceRobust(root);
        QCOMPARE(names(*graph),
                 string("query key value key_padding_mask_1 _assert_is_none need_weights_1 eq _assert attn_mask_1 "
                        "_assert_is_none_1 average_attn_weights_1 eq_1 _assert_1 _unnamed output"));
        QCOMPARE(call(*graph, "_unnamed"), string("_unnamed(query, key, value, None, True, None, True)"));
        QVERIFY(!tracer.isFailed(*root));
        QVERIFY(tracer.isUnvisited(*root->child("out_proj")));
    }

    void case10_listAsRootFails() {
        RobustTracer tracer;
        const auto root = std::make_shared<nn::ModuleList>(std::vector<std::shared_ptr<nn::Module>>{linear()});
        QCOMPARE(tracer.traceRobust(root)->nodeCount(), 0U);
        QVERIFY(tracer.isFailed(*root));
        QCOMPARE(*tracer.failureMessage(*root),
                 string("NotImplementedError: Module [ModuleList] is missing the required \"forward\" function"));
    }

    void case12_unknownConcreteArgument() {
        RobustTracer tracer;
        QCOMPARE(names(*tracer.traceRobust(flag(), given("other", tensor::Value::ofInt(1)))),
                 string("x test_flag_1 eq _assert conv output"));
    }

    void case13_tensorsStaySymbolic() {
        RobustTracer tracer;
        QCOMPARE(names(*tracer.traceRobust(flag(), given("x", ones()))),
                 string("x test_flag_1 eq _assert conv output"));
        QCOMPARE(names(*tracer.traceRobust(sequential({err()}), given("x", ones()))), string("input_1 _0 output"));
        const auto graph = tracer.traceRobust(keywords(), given("mask", ones()));
        QCOMPARE(names(*graph), string("x mask scale_1 eq _assert mode_1 eq_1 _assert_1 l mul mul_1 output"));
        QCOMPARE(call(*graph, "mul"), string("mul(l, mask)"));
    }

    void c5_structuresAreTakenApart() {
        const auto net = custom("Pair", [](Custom&, std::span<const Var> in) {
            return Var::tuple({in[0].items()[0] + in[0].items()[1], Var::list({in[0].items()[1]})});
        });
        RobustTracer tracer;
        const auto graph = tracer.traceRobust(
            net, given("x", tensor::Value::list({tensor::Value::ofInt(1), tensor::Value::ofInt(2)})));
        QCOMPARE(names(*graph), string("x_1 x_2 add output"));
        QCOMPARE(call(*graph, "output"), string("output([add, x_2])"));
    }

    void case15_failureStays() {
        const auto failing = err();
        RobustTracer tracer;
        QCOMPARE(tracer.failureMessage(*failing), nullptr);
        tracer.traceRobust(sequential({failing}));
        QVERIFY(tracer.isFailed(*failing));
        const string message = *tracer.failureMessage(*failing);
        QCOMPARE(names(*tracer.traceRobust(linear())), string("input_1 _unnamed output"));
        QVERIFY(tracer.isFailed(*failing));
        tracer.recordCallModule(*failing);
        const trace::TraceError later(trace::TraceErrorKind::Value, "another");
        tracer.recordCallModule(*failing, &later);
        QCOMPARE(*tracer.failureMessage(*failing), message);
        const auto fresh = linear();
        QVERIFY(tracer.isUnvisited(*fresh));
        tracer.recordCallModule(*fresh, &later);
        QVERIFY(!tracer.isUnvisited(*fresh));
        QCOMPARE(*tracer.failureMessage(*fresh), string("ValueError: another"));
    }

    void case16_failedModuleAsRootIsALeaf() {
        const auto failing = err();
        RobustTracer tracer(true);
        tracer.traceRobust(sequential({failing}));
        const auto graph = tracer.traceRobust(failing);
        QCOMPARE(names(*graph), string("x _unnamed output"));
        QVERIFY(tracer.isFailed(*failing));
    }

    void case17_everyGraphIsValid() {
        RobustTracer tracer;
        for (const std::shared_ptr<nn::Module>& root :
             {std::static_pointer_cast<nn::Module>(flag()), std::static_pointer_cast<nn::Module>(keywords()),
              std::static_pointer_cast<nn::Module>(controlFlow()),
              std::static_pointer_cast<nn::Module>(sequential({err(), controlFlow()})),
              std::static_pointer_cast<nn::Module>(linear()),
              std::static_pointer_cast<nn::Module>(std::make_shared<nn::MultiheadAttention>(8, 2))}) {
            const auto valid = tracer.traceRobust(root)->validate();
            QVERIFY2(valid.has_value(), valid ? "" : valid.error().what.c_str());
        }
    }

    void case18_nothingIsComputed() {
        const auto net = sequential({linear(), std::make_shared<nn::Linear>(7, 2)});  // 4 values into a layer for 7
        RobustTracer tracer;
        QCOMPARE(names(*tracer.traceRobust(net)), string("input_1 _0 _1 output"));
        QVERIFY(!tracer.isFailed(*net));
    }

    void leafAsRootCanBeLookedInto() {
        RobustTracer tracer;
        const auto graph = tracer.traceRobust(linear());
        const graph::Expr& leaf = graph->expr(graph->node(graph->findNode("_unnamed")).producer);
        QCOMPARE(leaf.bodies.size(), 1U);
        QVERIFY(!leaf.callable);
    }
};

QTEST_GUILESS_MAIN(TestRobustTracer)

}  // namespace tst_robust_tracer

#include "tst_robust_tracer.moc"
