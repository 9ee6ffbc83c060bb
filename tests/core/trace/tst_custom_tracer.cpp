// Worked examples and acceptance cases of the custom tracer. Numbers are those of its reference; cases 11 to 23, which
// are about the passes alone, are in tests/core/passes. Expected values are worked by hand.

#include <QtTest>

#include <cmath>

#include "core/nn/activation.h"
#include "core/nn/containers.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/passes/inplace.h"
#include "core/trace/custom_tracer.h"
#include "tests/core/trace/traced_text.h"

namespace tst_custom_tracer {

using namespace sonde;
using namespace sonde::test;
using nn::Var;
using tensor::Value;
using trace::cond;
using trace::CustomAttribute;
using trace::CustomProxy;
using trace::CustomTracer;
using trace::CustomTracerOptions;
using trace::Function;
using trace::InstanceKind;
using trace::NamedFunction;

namespace {

using Numbers = std::vector<double>;
using In = std::span<const Var>;
using GraphPtr = trace::Tracer::GraphPtr;

CustomTracerOptions pure(CustomTracerOptions options = {}) {
    options.purify = [](const graph::InternalGraph& recorded, bool removeInPlace) -> base::Result<GraphPtr> {
        auto graph = std::make_shared<graph::InternalGraph>(recorded);
        passes::removeUnnecessarySlices(*graph);
        if (removeInPlace) SONDE_TRY(passes::removeInplace(*graph));
        return graph;
    };
    return options;
}

/// Traces, or gives a graph named after the error.
GraphPtr traced(const std::shared_ptr<nn::Module>& module, CustomTracerOptions options = {},
                const trace::CustomTraceOptions& how = {}) {
    CustomTracer tracer(pure(std::move(options)));
    auto graph = tracer.traceCustom(module, how);
    if (graph) return *graph;
    auto failed = std::make_shared<graph::InternalGraph>();
    failed->name = graph.error().text();
    return failed;
}
GraphPtr traced(Custom::Forward forward, std::vector<trace::ForwardParameter> parameters = {{"x", {}, false, true}},
                bool removeInPlace = true) {
    trace::CustomTraceOptions how;
    how.removeInPlace = removeInPlace;
    return traced(custom("Net", std::move(forward), std::move(parameters)), {}, how);
}
std::string failure(Custom::Forward forward,
                    std::vector<trace::ForwardParameter> parameters = {{"x", {}, false, true}}) {
    return traced(std::move(forward), std::move(parameters))->name;
}

bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

Var cloned(const Var& x) { return x.method("clone"); }
void addInPlace(const Var& x, const Var& number) { x.method("add_", {number}, {}, "add_.Scalar"); }
Var all() { return Var::slice(Var(), Var()); }
Var inner() { return Var::slice(2, -2); }
Var absolute(const Var& x) { return trace::callFunction(Function{"abs", "abs", "torch.abs"}, {x}); }

/// 36 elements in 6 x 6 x 1 … counted up from 0.
Value counted(tensor::Shape shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return floats(std::move(shape), values);
}

const NamedFunction kPlus{"true_fn", [](In in) { return in[0] + 10; }};
const NamedFunction kMinus{"false_fn", [](In in) { return in[0] - 10; }};

}  // namespace

class TestCustomTracer : public QObject {
    Q_OBJECT

  private slots:
    void w01_abs() {
        const auto graph = traced([](Custom&, In in) { return absolute(in[0]); });
        QCOMPARE(oneLine(*graph), std::string("x abs_1(x) output(abs_1)"));
        QCOMPARE(resultOf(graph, {floats({2}, {-1, 2})}), (Numbers{1, 2}));
    }

    void w02_inPlaceTwice() {
        const auto forward = [](Custom&, In in) {
            const Var c = cloned(in[0]);
            addInPlace(c, 2);
            addInPlace(c, 5);
            return c + 3;
        };
        QCOMPARE(oneLine(*traced(forward, {{"x", {}, false, true}}, false)),
                 std::string("x clone(x) add_(clone,2) add__1(clone,5) add(clone,3) output(add)"));
        const auto graph = traced(forward);
        QCOMPARE(oneLine(*graph), std::string("x clone(x) add_(clone,2) add__1(add_,5) add(add__1,3) output(add)"));
        QCOMPARE(resultOf(graph, {floats({2}, {0, 1})}), (Numbers{10, 11}));
    }

    void w03_assignmentToASlice() {
        const auto graph = traced([](Custom&, In in) {
            const Var c = cloned(in[0]);
            const Var index = Var::tuple({all(), Var::slice(Var(), 2)});
            const Var y = c[index] * 2;
            c.withItem(index, y);
            return c + 3;
        });
        QCOMPARE(
            oneLine(*graph),
            std::string(
                "x clone(x) getitem(clone,(:,:2)) mul(getitem,2) setitem(clone,(:,:2),mul) add(setitem,3) output(add)"));
        QCOMPARE(resultOf(graph, {floats({1, 3}, {1, 2, 3})}), (Numbers{5, 7, 6}));
    }

    void w04_assignmentToAMask() {
        const auto graph = traced([](Custom&, In in) {
            const Var m = in[0].method("to", {trace::elementType(InstanceKind::Bool)}, {}, "to.dtype");
            in[0].withItem(m, 2);
            return in[0];
        });
        QCOMPARE(names(*graph), std::string("x to setitem output"));
        QVERIFY(oneLine(*graph).ends_with("setitem(x,to,2) output(setitem)"));
        QCOMPARE(resultOf(graph, {floats({2, 2}, {0, 1, 5, 0})}), (Numbers{0, 2, 2, 0}));
    }

    void w05_twoAssignments() {
        const auto graph = traced(
            [](Custom&, In in) {
                const Var k = cloned(in[0]);
                k.withItem(Var::tuple({inner(), inner(), Var::slice(Var(), -1)}),
                           in[1][Var::tuple({Var(), all(), Var()})]);
                k.withItem(Var::tuple({inner(), inner(), -1}), 0.0);
                return k;
            },
            {{"x", {}, false, true}, {"sumx", {}, false, true}});
        QCOMPARE(oneLine(*graph),
                 std::string("x sumx clone(x) getitem(sumx,(None,:,None)) setitem(clone,(2:-2,2:-2,:-1),getitem) "
                             "setitem_1(setitem,(2:-2,2:-2,-1),0) output(setitem_1)"));
        Numbers expected(5 * 5 * 2);
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<double>(i);
        expected[(2 * 5 + 2) * 2] = 70;
        expected[(2 * 5 + 2) * 2 + 1] = 0;
        QCOMPARE(resultOf(graph, {counted({5, 5, 2}), floats({1}, {70})}), expected);
    }

    void w06_readBetweenAssignments() {
        const auto graph = traced(
            [](Custom&, In in) {
                const Var k = cloned(in[0]);
                k.withItem(Var::tuple({inner(), inner(), Var::slice(Var(), -1)}),
                           in[1][Var::tuple({Var(), all(), Var()})]);
                const Var e = absolute(k);
                k.withItem(Var::tuple({inner(), inner(), -1}), 0.0);
                return k + e;
            },
            {{"x", {}, false, true}, {"sumx", {}, false, true}});
        QCOMPARE(names(*graph), std::string("x sumx clone getitem setitem abs_1 setitem_1 add output"));
        QVERIFY(holds(oneLine(*graph), "abs_1(setitem) setitem_1(setitem,"));
        QVERIFY(holds(oneLine(*graph), "add(setitem_1,abs_1)"));
        // Only the middle element pair is written: 12 -> -3, 13 -> 0 in one of 25 pairs.
        Numbers expected(50);
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 2.0 * static_cast<double>(i);
        expected[24] = -3 + 3;
        expected[25] = 0 + 25;
        QCOMPARE(resultOf(graph, {counted({5, 5, 2}), floats({1}, {-3})}), expected);
    }

    void w07_functionInPlaceOfAPart() {
        const auto graph = traced([](Custom&, In in) {
            const Var k = cloned(in[0]);
            trace::callFunction(Function{"exp_", "exp_", "torch.exp_"},
                                {k[Var::tuple({inner(), inner(), Var::slice(Var(), -1)})]});
            return k;
        });
        QCOMPARE(names(*graph), std::string("x clone setitem_with_transformation output"));
        QVERIFY2(holds(oneLine(*graph), "(clone,(2:-2,2:-2,:-1),((") && holds(oneLine(*graph), "exp"),
                 oneLine(*graph).c_str());
        const Numbers result = resultOf(graph, {counted({5, 5, 2})});
        QCOMPARE(result.size(), std::size_t{50});
        QVERIFY(std::abs(result[24] / std::exp(24.0) - 1) < 1e-5);
        QCOMPARE(result[25], 25.0);
        QCOMPARE(result[0], 0.0);
    }

    void w08_condition() {
        const auto root =
            custom("Net", [](Custom&, In in) { return cond(nn::sum(in[0]) > 0, kPlus, kMinus, Var::list({in[0]})); });
        const auto graph = traced(root);
        QCOMPARE(oneLine(*graph), std::string("x sum_1(x) gt(sum_1,0) _cb_cond_true_fn_0 _cb_cond_false_fn_0 "
                                              "condcc(gt,_cb_cond_true_fn_0,_cb_cond_false_fn_0,[x]) output(condcc)"));
        QCOMPARE(root->functions().size(), std::size_t{2});
        QVERIFY(root->functions().contains("_cb_cond_true_fn_0") && root->functions().contains("_cb_cond_false_fn_0"));
        // Both branches are bodies that can be opened.
        const graph::Expr& expr = graph->expr(graph->node(graph->findNode("condcc")).producer);
        QCOMPARE(expr.bodies.size(), std::size_t{2});
        QCOMPARE(graph->body(expr.bodies[0]).label, std::string("true_branch"));
        QVERIFY(graph->findNode("condcc/true_branch/add").valid());
        QVERIFY(graph->findNode("condcc/false_branch/sub").valid());
        QCOMPARE(resultOf(graph, {floats({2}, {1, 2})}), (Numbers{11, 12}));
        QCOMPARE(resultOf(graph, {floats({2}, {-1, -2})}), (Numbers{-11, -12}));
    }

    void w09_secondCondition() {
        const auto graph = traced([](Custom&, In in) {
            const Var a = cond(nn::sum(in[0]) > 0, kPlus, kMinus, Var::list({in[0]}));
            return cond(nn::sum(a) > 0, kPlus, kPlus, Var::tuple({a}));
        });
        QCOMPARE(names(*graph),
                 std::string("x sum_1 gt _cb_cond_true_fn_0 _cb_cond_false_fn_0 condcc sum_2 gt_1 _cb_cond_true_fn_1 "
                             "_cb_cond_true_fn_2 condcc_1 output"));
        QCOMPARE(resultOf(graph, {floats({1}, {-1})}), (Numbers{-1}));
    }

    void w10_lengthOfASymbolicList() {
        const auto graph = traced(
            [](Custom&, In in) {
                const Var first = in[1][Var(0)];
                return first * trace::lengthOf(in[1]) + in[0];
            },
            {{"x", {}, false, true}, {"lst", {}, false, false}});
        QCOMPARE(oneLine(*graph),
                 std::string("x lst getitem(lst,0) len_1(lst) mul(getitem,len_1) add(mul,x) output(add)"));
        QCOMPARE(resultOf(graph, {floats({1}, {1}), Value::list({floats({1}, {4}), floats({1}, {5})})}), (Numbers{9}));
    }

    void w11_catOfASymbolicList() {
        const auto graph = traced(
            [](Custom&, In in) {
                const Var joined = trace::callFunction(Function{"cat", "cat", "torch.cat"}, {in[1]}, {{"axis", 1}});
                return joined.method("sum", {}, {{"dim", Var(std::vector<std::int64_t>{1})}, {"keepdim", true}},
                                     "sum.dim_IntList") +
                       in[0];
            },
            {{"x", {}, false, true}, {"lst", {}, false, false}});
        QCOMPARE(names(*graph), std::string("x lst cat sum_1 add output"));
        QVERIFY(holds(oneLine(*graph), "cat(lst,1)"));
        QCOMPARE(resultOf(graph, {floats({1, 1}, {1}), Value::list({floats({1, 2}, {4, 5}), floats({1, 1}, {6})})}),
                 (Numbers{16}));
    }

    void w12_attributes() {
        const auto graph = traced([](Custom&, In in) {
            const CustomProxy x(in[0]);
            const CustomAttribute shape = x.attribute("shape");
            const CustomAttribute rank = x.attribute("ndim");
            const Var first = shape[Var(0)];
            const Var sum = first + rank;
            return Var::tuple({sum, x.attribute("dtype")});
        });
        QCOMPARE(
            oneLine(*graph),
            std::string(
                "x getattr_1(x,'shape') getitem(getattr_1,0) getattr_2(x,'ndim') add(getitem,getattr_2) getattr_3(x,'dtype') "
                "output((add,getattr_3))"));
        QCOMPARE(resultOf(graph, {floats({3, 2}, {0, 0, 0, 0, 0, 0})}).front(), 5.0);
    }

    void case02_augmentedAssignmentIsRebinding() {
        const auto graph = traced([](Custom&, In in) {
            Var x = cloned(in[0]);
            x = x + 2;
            return x + 3;
        });
        QCOMPARE(oneLine(*graph), std::string("x clone(x) add(clone,2) add_1(add,3) output(add_1)"));
        QCOMPARE(resultOf(graph, {floats({1}, {1})}), (Numbers{6}));
    }

    void case03_sizesOfParametersInControlFlow() {
        const auto root = custom("Net", [](Custom& self, In in) {
            const Var w = self.tensor("w");
            if ((w.attr("shape")[Var(0)] == Var(3)).toBool() && (w.method("dim") == Var(2)).toBool() &&
                (w.method("numel") == Var(15)).toBool()) {
                const Var product = trace::matmul(in[0], w);
                const Var sum = product + self.tensor("b");
                return sum + self.tensor("c");
            }
            return in[0];
        });
        root->addParameter("w", tensor::Tensor::of<float>({3, 5}, std::vector<float>(15, 1)));
        root->addParameter("b", tensor::Tensor::of<float>({5}, std::vector<float>(5, 2)));
        root->addParameter("c", tensor::Tensor::of<float>({5}, std::vector<float>(5, 3)));
        QVERIFY(traced(root)->name.starts_with(
            "TraceError: symbolically traced variables cannot be used as inputs to control flow"));
        CustomTracerOptions options;
        options.paramShapesConstant = true;
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto graph = traced(root, options);
        QCOMPARE(names(*graph), std::string("x w matmul b add c add_1 output"));
        QCOMPARE(resultOf(graph, {floats({1, 3}, {1, 2, 3})}), (Numbers{11, 11, 11, 11, 11}));
    }

    void case04_sizesOfParametersInArithmetic() {
        const auto root = custom("Net", [](Custom& self, In in) {
            const Var product = trace::matmul(in[0], self.tensor("w").method("t"));
            return product + self.tensor("w").attr("shape")[Var(0)];
        });
        root->addParameter("w", tensor::Tensor::of<float>({3, 2}, std::vector<float>{1, 1, 1, 1, 1, 1}));
        QCOMPARE(names(*traced(root)), std::string("x w t matmul getattr_1 getitem add output"));
        CustomTracerOptions options;
        options.paramShapesConstant = true;
        const auto graph = traced(root, options);
        QCOMPARE(oneLine(*graph), std::string("x w t(w) matmul(x,t) add(matmul,3) output(add)"));
        QCOMPARE(resultOf(graph, {floats({1, 2}, {1, 2})}), (Numbers{6, 6, 6}));
    }

    void case05_questionsThatHaveNoAnswer() {
        QVERIFY(failure([](Custom&, In in) {
                    return Var(trace::isInstance(in[0], InstanceKind::Int));
                }).starts_with("RuntimeError: Unable to know if cls is from type"));
        QVERIFY(failure([](Custom&, In in) { return Var(in[0].length()); })
                    .starts_with(
                        "RuntimeError: len(.) expects an integer, len needs to be replaced. You should use _len. In "
                        "C++: CustomProxy(x).length()"));
        QVERIFY(failure([](Custom&, In in) {
                    return nn::sum(in[0]) > 0 ? in[0] : in[0] + 1;
                }).starts_with("TraceError: symbolically traced variables cannot be used as inputs to control flow"));
    }

    void case06_kindsOfNumbers() {
        const auto graph = traced([](Custom&, In in) {
            const trace::CustomProxyInt n = CustomProxy(in[0]).length();
            bool good = n.instanceOf(InstanceKind::Int) && n.instanceOf(InstanceKind::CustomProxy) &&
                        n.instanceOf(InstanceKind::CustomProxyInt) && !n.instanceOf(InstanceKind::Float) &&
                        trace::isInstance(n, InstanceKind::Int) && !trace::isInstance(n, InstanceKind::Float);
            const trace::CustomProxyFloat f(in[0] / 2);
            good = good && f.instanceOf(InstanceKind::Float) && f.instanceOf(InstanceKind::CustomProxyFloat) &&
                   !f.instanceOf(InstanceKind::Int);
            // Ordinary values are of the class that was asked for, not just lists or not.
            good = good && trace::isInstance(Var(1), InstanceKind::Int) &&
                   !trace::isInstance(Var(1), InstanceKind::List) &&
                   trace::isInstance(Var::list({in[0]}), InstanceKind::List) &&
                   !trace::isInstance(Var::list({in[0]}), InstanceKind::Int);
            return Var(good);
        });
        const auto& result = graph->main().result;
        QVERIFY(result.kind == graph::Argument::Kind::Constant && result.constant.toBool());
    }

    void case07_attributesAreLazy() {
        const auto graph = traced([](Custom&, In in) {
            const CustomAttribute unused = CustomProxy(in[0]).attribute("shape");
            const CustomAttribute rank = CustomProxy(in[0]).attribute("ndim");
            const CustomAttribute method = CustomProxy(in[0]).attribute("abs");
            const Var twice = Var(rank) + rank;
            return twice + method.call();
        });
        QCOMPARE(names(*graph), std::string("x getattr_1 add abs_1 add_1 output"));
        QCOMPARE(resultOf(graph, {floats({1}, {-4})}), (Numbers{6}));
    }

    void case08_registeredNames() {
        for (int round = 0; round < 2; ++round) {
            CustomTracer tracer;
            std::string targets;
            const auto graph = tracer.traceCustom(
                [&](In in) {
                    for (const char* name : {"cond", "cond", "loop"}) {
                        const Var node = tracer.registerCallable(name, kPlus);
                        targets += tracer.nameOf(node.node()) + ' ';
                    }
                    targets += tracer.nameOf(tracer.registerCallable("cond", {"<lambda>", kPlus.call}).node());
                    return in[0];
                },
                {{"x", {}, false, true}});
            QVERIFY(graph.has_value());
            QCOMPARE(targets,
                     std::string("_cb_cond_true_fn_0 _cb_cond_true_fn_1 _cb_loop_true_fn_0 _cb_cond__lambda__0"));
            QVERIFY(tracer.callables().contains("_cb_cond_<lambda>_0"));
        }
    }

    void case09_modelIsLeftAlone() {
        const auto root =
            custom("Net", [](Custom&, In in) { return cond(nn::sum(in[0]) > 0, kPlus, kMinus, Var::list({in[0]})); });
        trace::CustomTraceOptions how;
        how.updateModel = false;
        QCOMPARE(resultOf(traced(root, {}, how), {floats({1}, {1})}), (Numbers{11}));
        QVERIFY(root->functions().empty());
    }

    void case10_functionsComeBackAfterAnError() {
        QVERIFY(failure([](Custom&, In) -> Var {
                    if (trace::FunctionSwap::isSwapped("cat") && trace::FunctionSwap::isSwapped("cond"))
                        throw trace::TraceError(trace::TraceErrorKind::Value, "on purpose");
                    return {};
                }).starts_with("ValueError: on purpose"));
        QVERIFY(!trace::FunctionSwap::isSwapped("cat"));
        QVERIFY(!trace::FunctionSwap::isSwapped("cond"));
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        QCOMPARE(numbers(nn::cat({Var(floats({1}, {1})), Var(floats({1}, {2}))}, 0).toValue()), (Numbers{1, 2}));
        QCOMPARE(numbers(cond(true, kPlus, kMinus, Var::list({Var(floats({1}, {1}))})).toValue()), (Numbers{11}));
    }

    void case24_leavesByARule() {
        class Sub final : public nn::Module {
          public:
            explicit Sub(int kind) : kind(kind) { add("linear", std::make_shared<nn::Linear>(2, 2)); }
            std::string className() const override { return "Sub"; }
            Var forward(In in) override { return (*child("linear"))(in[0]); }
            int kind;
        };
        const auto root = custom("Net", [](Custom& self, In in) {
            const Var a = self.at("suba")(in[0]);
            return a + self.at("subb")(in[0]);
        });
        root->addChild("suba", std::make_shared<Sub>(1));
        root->addChild("subb", std::make_shared<Sub>(2));
        std::string asked;
        CustomTracerOptions options;
        options.moduleLeaves["Sub"] = [&asked](const nn::Module& module, const std::string& path) {
            asked += path + ' ';
            return static_cast<const Sub&>(module).kind == 1;
        };
        const auto graph = traced(root, options);
        QCOMPARE(names(*graph), std::string("x suba subb_linear add output"));
        QCOMPARE(graph->expr(graph->node(graph->findNode("subb_linear")).producer).target, std::string("subb.linear"));
        QCOMPARE(asked, std::string("suba subb "));
    }

    void case25_concreteValuesAnnotate() {
        const auto root = custom("Net", [](Custom&, In in) { return in[0] + in[1]; },
                                 {{"x", {}, false, true}, {"y", {}, false, true}});
        trace::CustomTraceOptions how;
        how.concrete = trace::ConcreteArguments{{"x", floats({2, 3}, std::vector<float>(6))}};
        QVERIFY(traced(root, {}, how)->name.starts_with("AssertionError: Mismatch between"));
        (*how.concrete)["y"] = floats({3}, {1, 2, 3});
        const auto graph = traced(root, {}, how);
        QCOMPARE(oneLine(*graph), oneLine(*traced(root)));
        const graph::Expr& x = graph->expr(graph->node(graph->findNode("x")).producer);
        QVERIFY(x.attributes.getTensor("example_value").has_value());
        QCOMPARE(tensor::text(*x.attributes.find("val")), std::string("float32[s0,s1]"));
        (*how.concrete)["z"] = Value::ofInt(1);
        QVERIFY(holds(traced(root, {}, how)->name, "unknown: z"));
        how = {.fixed = {{"y", Value::ofInt(2)}}};
        QCOMPARE(names(*traced(root, {}, how)), std::string("x y_1 eq _assert add output"));
    }

    void case25_containersAreTakenApart() {
        const auto root = custom(
            "Net", [](Custom& self, In in) { return self.at("l")(in[0] + in[1][Var(0)] + in[1][Var(1)][Var("k")]); },
            {{"x", {}, false, true}, {"lst", {}, false, false}});
        root->addChild("l", std::make_shared<nn::ReLU>());
        trace::CustomTraceOptions how;
        how.concrete = trace::ConcreteArguments{
            {"x", floats({1}, {1})},
            {"lst", Value::list({floats({1}, {2}), Value::dict({{Value("k"), floats({1}, {3})}})})}};
        CustomTracer tracer(pure());
        const auto graph = tracer.traceCustom(root, how);
        QVERIFY(graph.has_value());
        QCOMPARE(names(**graph), std::string("x lst_0 lst_1 add add_1 l output"));
        QVERIFY(tracer.tracedModel() != nullptr);
        QCOMPARE(resultOf(*graph, {floats({1}, {1}), floats({1}, {2}), floats({1}, {3})}), (Numbers{6}));
    }

    void case26_functionAsRoot() {
        CustomTracer tracer(pure());
        const Var ones(tensor::Tensor::of<float>({3}, std::vector<float>{1, 1, 1}));
        const auto graph = tracer.traceCustom(
            [&](In in) {
                return trace::callFunction(Function{"sin", "sin", "torch.sin"}, {in[0]}) + ones;
            },
            {{"x", {}, false, true}});
        QVERIFY(graph.has_value());
        QCOMPARE(oneLine(**graph), std::string("x sin(x) _tensor_constant0 add(sin,_tensor_constant0) output(add)"));
        const auto held = trace::namedTensors(*tracer.root());
        QCOMPARE(held.size(), 1U);
        QCOMPARE(held.front().path, std::string("_tensor_constant0"));
        QVERIFY(held.front().slot->value.storage() == ones.value().tensor().storage());
        QCOMPARE(resultOf(*graph, {floats({3}, {0, 0, 0})}), (Numbers{1, 1, 1}));
    }

    void case27_branchInASubmodule() {
        const auto sub = custom("Sub", [](Custom&, In in) { return nn::sum(in[0]) > 0 ? in[0] + 1 : in[0]; });
        const auto root = custom("Net", [](Custom& self, In in) { return self.at("sub")(in[0]); });
        root->addChild("sub", sub);
        QVERIFY(traced(root)->name.starts_with("TraceError: "));
        CustomTracerOptions options;
        options.moduleLeaves["Sub"] = [](const nn::Module&, const std::string&) { return true; };
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto graph = traced(root, options);
        QCOMPARE(names(*graph), std::string("x sub output"));
        QCOMPARE(resultOf(graph, {floats({1}, {4})}), (Numbers{5}));
        QCOMPARE(resultOf(graph, {floats({1}, {-4})}), (Numbers{-4}));
    }

    void case01And28_everyGraphIsValid() {
        // W1 to W12 are validated by the trace itself; a broken one would have no nodes.
        const auto graph = traced([](Custom&, In in) {
            const Var a = cond(nn::sum(in[0]) > 0, kPlus, kMinus, Var::list({in[0]}));
            const Var c = cloned(a);
            addInPlace(c, 1);
            return c + a;
        });
        QVERIFY2(graph->validate().has_value(), graph->name.c_str());
        QCOMPARE(resultOf(graph, {floats({1}, {1})}), (Numbers{23}));
    }

    void inPlaceOnTheInputIsSeenLater() {
        const auto graph = traced([](Custom&, In in) {
            addInPlace(in[0], 1);
            return in[0] * 2;
        });
        QCOMPARE(oneLine(*graph), std::string("x add_(x,1) mul(add_,2) output(mul)"));
        QCOMPARE(resultOf(graph, {floats({1}, {3})}), (Numbers{8}));
    }

    void buffersAreReadAtEveryUse() {
        const auto root =
            custom("Net", [](Custom& self, In in) { return in[0] + self.tensor("b") + self.tensor("b"); });
        root->addBuffer("b", tensor::Tensor::of<float>({1}, std::vector<float>{5}));
        CustomTracer raw;
        const auto graph = raw.traceCustom(root);
        QCOMPARE(names(**graph), std::string("x b add b_1 add_1 output"));
        QCOMPARE(resultOf(*graph, {floats({1}, {3})}), (Numbers{13}));
    }

    void aBranchThatCannotBeFollowedStillRuns() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const NamedFunction stubborn{"stubborn", [](In in) { return nn::sum(in[0]) > 5 ? in[0] * 2 : in[0] * 3; }};
        const NamedFunction pair{"pair", [](In in) { return Var::tuple({in[0], in[0] + 1}); }};
        const auto one =
            traced([&](Custom&, In in) { return cond(nn::sum(in[0]) > 0, stubborn, kMinus, Var::list({in[0]})); });
        QCOMPARE(resultOf(one, {floats({1}, {10})}), (Numbers{20}));
        QCOMPARE(resultOf(one, {floats({1}, {1})}), (Numbers{3}));
        const auto two = traced(
            [&](Custom&, In in) { return cond(nn::sum(in[0]) > 0, pair, pair, Var::list({in[0]})).unpack(2)[1]; });
        QCOMPARE(resultOf(two, {floats({1}, {1})}), (Numbers{2}));
    }

    void condWantsAList() {
        QVERIFY(failure([](Custom&, In in) {
                    return cond(nn::sum(in[0]) > 0, kPlus, kMinus, in[0]);
                }).starts_with("AssertionError: "));
    }

    void catTakesTuplesAndSynonyms() {
        const auto graph = traced([](Custom&, In in) {
            return CustomProxy::cat(Var::tuple({in[0], in[0]}), {}, {}, 1);
        });
        QCOMPARE(oneLine(*graph), std::string("x cat([x,x],1) output(cat)"));
        QVERIFY(failure([](Custom&, In in) {
                    return CustomProxy::cat(Var::list({in[0]}), 0, {}, 1);
                }).starts_with("AssertionError: "));
        QVERIFY(failure([](Custom&, In in) {
                    return CustomProxy::cat(Var::list({in[0]}), 0, in[0]);
                }).starts_with("AssertionError: "));
    }

    void functionsOfNumbersAreWrapped() {
        const trace::AutowrapFunction half("mymath", "half", [](In in) { return Var(in[0].toFloat() / 2); });
        const auto forward = [&](Custom&, In in) { return in[0] * half({in[0].attr("shape")[Var(0)]}); };
        QVERIFY(failure(forward).starts_with("TypeError: "));
        CustomTracerOptions options;
        options.autowrapModules.insert("mymath");
        const auto graph = traced(custom("Net", forward), options);
        QCOMPARE(names(*graph), std::string("x getattr_1 getitem half mul output"));
        QCOMPARE(resultOf(graph, {floats({4}, {1, 2, 3, 4})}), (Numbers{2, 4, 6, 8}));
    }

    void containersAreRebuilt() {
        const Value spec = Value::tuple({Value(), Value::dict({{Value("a"), Value::list({Value(), Value()})}})});
        const std::vector<Var> leaves{1, 2, 3};
        const Var whole = trace::treeUnflattenWithProxy(spec, leaves);
        QCOMPARE(whole[Var(1)][Var("a")][Var(1)].toInt(), std::int64_t{3});
        QVERIFY_EXCEPTION_THROWN(trace::treeUnflattenWithProxy(spec, std::vector<Var>{1, 2}), trace::TraceError);
        QVERIFY_EXCEPTION_THROWN(trace::treeUnflattenWithProxy(spec, std::vector<Var>{1, 2, 3, 4}), trace::TraceError);
    }

    void transformationsAreChecked() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const Var x(floats({2, 2}, {0, 0, 0, 0}));
        const Var row = trace::setItemWithTransformation(x, Var(0), {{"exp", {}}, {"sigmoid", {}}});
        const Numbers result = numbers(row.toValue());
        QVERIFY(std::abs(result[0] - 1 / (1 + std::exp(-1.0))) < 1e-6);
        QCOMPARE(result[2], 0.0);
        QVERIFY_EXCEPTION_THROWN(trace::setItemWithTransformation(x, Var(0), {}), trace::TraceError);
        QVERIFY_EXCEPTION_THROWN(trace::setItemWithTransformation(x, Var(0), {{"tan", {}}}), trace::TraceError);
        QVERIFY_EXCEPTION_THROWN(trace::setItemWithTransformation(x, Var(0), {{"exp", {Var(1)}}}), trace::TraceError);
    }
};

QTEST_GUILESS_MAIN(TestCustomTracer)

}  // namespace tst_custom_tracer

#include "tst_custom_tracer.moc"
