// Acceptance cases of TracedModule: tracing, ids, names, texts, watch and end points. Numbers are those of part (d) of
// its reference; expected ids, names and values are written there.

#include <QtTest>

#include "core/trace/traced_module/query.h"
#include "tests/support/traced_models.h"

namespace tst_traced_module {

using namespace sonde;
using namespace sonde::test;
using trace::ModuleGraph;
using trace::TracedModule;
using trace::TracedNode;
using trace::traceModule;

class TestTracedModule : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { m_scope = std::make_unique<trace::EvaluatorScope>(document::kernelEvaluator()); }
    void cleanupTestCase() { m_scope.reset(); }

    void case01_seed() {
        const auto module = traced(seed(), {vec({0})});
        ModuleGraph& graph = graphOf(module);
        COMPARE_TEXT(nodeList(graph), "0 self, 1 x, 2 add_out, 3 add_out_1");
        COMPARE_TEXT(
            graph.text(),
            "Seed.Graph (self, x) {\n\t%2:\tadd_out = x.__add__(1, )\n\t%3:\tadd_out_1 = add_out.__add__(2, )\n"
            "\treturn add_out_1\n}\n");
        TracedNode* add = *graph.nodeById({2}).asUnique();
        module->setWatchPoints({add});
        QCOMPARE(numbers(*module->run({vec({0})})), std::vector<double>{3});
        QCOMPARE(module->watchNodeValue().size(), 1U);
        QCOMPARE(numbers(*module->watchNodeValue()[0].value), std::vector<double>{1});
        module->clearWatchPoints();
        QVERIFY(module->watchNodeValue().empty());
        QVERIFY(module->setEndPoints({add}));
        const Value ended = *module->run({vec({0})});
        QCOMPARE(ended.kind(), tensor::ValueKind::List);
        QCOMPARE(ended.items().size(), 1U);
        QCOMPARE(numbers(ended.items()[0]), std::vector<double>{1});
        module->clearEndPoints();
        QCOMPARE(numbers(*module->run({vec({0})})), std::vector<double>{3});
    }

    void case02_w2() {
        const auto module = traced(myModule(), {ramp({3, 4})});
        COMPARE_TEXT(nodeList(graphOf(module)), "0 self, 1 x, 2 linear, 3 param, 4 add_out, 5 linear_out, 6 relu_out");
        COMPARE_TEXT(
            graphOf(module).text(),
            "MyModule.Graph (self, x) {\n\t%2:\tlinear = getattr(self, \"linear\") -> (Linear)\n"
            "\t%3:\tparam = getattr(self, \"param\") -> (Tensor)\n\t%4:\tadd_out = x.__add__(param, )\n"
            "\t%5:\tlinear_out = linear(add_out, )\n\t%6:\trelu_out = nn.relu(linear_out, )\n\treturn relu_out\n}\n");
    }

    void case02_w3() {
        const auto block = traced(myBlock(), {netInput()});
        COMPARE_TEXT(nodeList(graphOf(block)),
                     "0 self, 1 x, 2 conv1, 3 conv1_out, 4 bn1, 5 bn1_out, 6 relu_out, 7 add_out, 8 nothing, "
                     "9 nothing_out, 10 self, 11 x");
        COMPARE_TEXT(named(graphOf(block), "nothing_out")->expr().innerGraph()->name(), "MyBlock_nothing");
        const auto module = traced(net(), {netInput()});
        ModuleGraph& graph = graphOf(module);
        QCOMPARE(graph.nodes().asCount(), 34U);
        QCOMPARE(graph.exprs().asCount(), 34U);
        COMPARE_TEXT(nodeList(graph, false),
                     "0 self, 1 x, 2 block0, 3 block0_out, 16 block1, 17 block1_out, 30 nothing, 31 nothing_out");
        COMPARE_TEXT(
            nodeList(*named(graph, "block0_out")->expr().innerGraph()),
            "4 self, 5 x, 6 conv1, 7 conv1_out, 8 bn1, 9 bn1_out, 10 relu_out, 11 add_out, 12 nothing, 13 nothing_out, 14 self, 15 x");
        QCOMPARE(named(*named(graph, "block1_out")->expr().innerGraph(), "self")->id(), 18U);
        QCOMPARE(named(*named(graph, "nothing_out")->expr().innerGraph(), "x")->id(), 33U);
        QVERIFY(graph.validate());
    }

    void case02_w4() {
        const auto module = traced(sharedTwice(), {vec({1})});
        const auto calls = graphOf(module).methods("__call__", false).asList();
        QCOMPARE(calls.size(), 2U);
        COMPARE_TEXT(calls[0]->innerGraph()->name(), "Sh2_a");
        COMPARE_TEXT(calls[1]->innerGraph()->name(), "Sh2_a_1");
        const auto* a = dynamic_cast<const TracedModule*>(module->child("a"));
        QVERIFY(a);
        QCOMPARE(a->entries().size(), 2U);
        COMPARE_TEXT(a->entries()[0].argDef.text(), "Module, Tensor, 1");
        COMPARE_TEXT(a->entries()[1].argDef.text(), "Module, Tensor, 3");
        QVERIFY(!a->graph());
        COMPARE_TEXT(nodeList(graphOf(module), false), "0 self, 1 x, 2 a, 3 a_out, 9 a_out_1, 15 add_out");
        QCOMPARE(numbers(*module->run({vec({1})})), std::vector<double>{8});
    }

    void case02_w5() {
        auto b = lambda("B", [](Lambda&, std::span<const Var> in) {
            return Var::tuple({in[0], nn::cat({in[0], in[0]}, 0)});
        });
        auto module = lambda("M", [](Lambda& self, std::span<const Var> in) { return self.use("b")(in[0]); });
        module->addChild("b", b);
        const auto made = traced(module, {vec({1})});
        const trace::TracedExpr* call = *graphOf(made).methods("__call__").asUnique();
        QCOMPARE(call->id(), 3U);
        COMPARE_TEXT(ids(call->outputs()), "3 4");
        COMPARE_TEXT(ids(call->innerGraph()->nodes()), "5 6 7");
        COMPARE_TEXT(ids(call->innerGraph()->exprs()), "4 5 6");
    }

    void case02_w6() {
        const auto made = traced(lambda("Z",
                                        [](Lambda&, std::span<const Var> in) {
                                            Var z = in[0] * 2;
                                            z.withItem(0, 5.0);
                                            return z + 1;
                                        }),
                                 {vec({1, 2})});
        COMPARE_TEXT(names(graphOf(made).nodes()), "self x mul_out setitem_out add_out");
        const trace::TracedExpr* set = *graphOf(made).methods("__setitem__").asUnique();
        COMPARE_TEXT(set->text(), "%3:\tsetitem_out = mul_out.__setitem__(0, 5.0, )");
        COMPARE_TEXT(names((*graphOf(made).methods("__add__").asUnique())->inputs()), "setitem_out");
        QCOMPARE(numbers(*made->run({vec({1, 2})})), (std::vector<double>{6, 5}));
    }

    void case02_w7() {
        auto module = lambda("F",
                             [](Lambda&, std::span<const Var> in) {
                                 const Var d = in[0];
                                 const Var l = in[1];
                                 return d[Var("p")] + d[Var("q")] * l[0] - l[1][0] * in[2];
                             },
                             {{"d", std::nullopt, false}, {"l", std::nullopt, false}, {"k", Value::ofInt(2), true}});
        const Value d = Value::dict({{Value(std::string("q")), vec({1})}, {Value(std::string("p")), vec({2})}});
        const Value l = Value::list({vec({3}), Value::tuple({vec({4})})});
        const auto made = traced(module, {d, l}, {{"k", Value::ofInt(5)}});
        COMPARE_TEXT(names(graphOf(made).inputs()), "self d_0 d_1 l_0 l_1");
        QCOMPARE(numbers(*made->run({d, l}, {{"k", Value::ofInt(5)}})), std::vector<double>{-15});
        const auto wrong = made->run({d, l});
        QVERIFY(!wrong);
        QVERIFY2(QString::fromStdString(wrong.error().what)
                     .contains("forward(Module, {'p':Tensor, 'q':Tensor}, [Tensor, (Tensor)], k=5)"),
                 wrong.error().what.c_str());
        QVERIFY(QString::fromStdString(wrong.error().what).contains("support input args kwargs format:"));
    }

    void case03_queries() {
        const auto module = traced(net(), {netInput()});
        const ModuleGraph& graph = graphOf(module);
        QCOMPARE(graph.functions("relu").asCount(), 2U);
        QCOMPARE(graph.functions("relu", false).asCount(), 0U);
        QCOMPARE(graph.methods("__add__").asCount(), 2U);
        QCOMPARE(graph.methods("__call__").asCount(), 9U);
        QCOMPARE(graph.methods().asCount(), 11U);
        QCOMPARE(graph.modules<nn::Conv2d>().asCount(), 2U);
        QCOMPARE(graph.modules("Conv2d").asCount(), 2U);
        COMPARE_TEXT(names(graph.nodesByName("*conv1*")), "conv1 conv1_out conv1 conv1_out");
        COMPARE_TEXT(names(graph.nodesByName("net_block0")), "block0");
        COMPARE_TEXT(names(graph.nodesByName("net_block0", false)), "");
        COMPARE_TEXT(names(graph.nodesByName("Net_block?")), "block0 block1");
        COMPARE_TEXT(graph.functions("relu").asUnique().error().what, "2 elements found");
        COMPARE_TEXT(graph.nodeById({999}).asUnique().error().what, "0 elements found");
        COMPARE_TEXT(ids(graph.nodeById({17, 3})), "3 17");
        COMPARE_TEXT(ids(graph.exprs().asDict().at(3)->outputs()), "3");
        // Depth first, the last input first.
        const auto block = traced(myBlock(), {netInput()});
        COMPARE_TEXT(ids(*graphOf(block).dependencies({named(graphOf(block), "nothing_out")})), "9 7 6 5 3 1 2 0 4 8");
        // Text forms with ids and prefixes.
        COMPARE_TEXT(graph.methods("__add__").asList()[0]->text("ip"),
                     "%11:\t%11_Net_block0_add_out = %10_Net_block0_relu_out.__add__(1, )");
    }

    void case04_queriesAgain() {
        const auto module = traced(net(), {netInput()});
        const auto query = graphOf(module).exprs();
        QCOMPARE(query.callFunction("relu").asCount(), 2U);
        QCOMPARE(query.callFunction("relu").asCount(), 2U);
        QCOMPARE(std::vector(query.begin(), query.end()), std::vector(query.begin(), query.end()));
        const auto inner = graphOf(module).exprById({6});
        QVERIFY(inner.asUnique());
        QVERIFY(inner.asUnique());
        COMPARE_TEXT((*inner.asUnique())->graph().name(), "Net_block0");
    }

    void case05_flatten() {
        const auto module = traced(net(), {netInput()});
        const auto flat = *module->flatten();
        const ModuleGraph& graph = graphOf(flat);
        QCOMPARE(graph.body().size(), 12U);
        COMPARE_TEXT(graph.body()[0]->target(), "block0.conv1");
        COMPARE_TEXT(names(graph.nodes()),
                     "self x block0_conv1 block0_conv1_out block0_bn1 block0_bn1_out block0_relu_out block0_add_out "
                     "block1_conv1 block1_conv1_out block1_bn1 block1_bn1_out block1_relu_out block1_add_out");
        COMPARE_TEXT(ids(graph.nodes()), "0 1 2 3 4 5 6 7 8 9 10 11 12 13");
        QVERIFY(tensor::identical(*flat->run({netInput()}), *module->run({netInput()})));
        const auto again = *flat->flatten();
        QCOMPARE(graphOf(again).body().size(), 12U);
        COMPARE_TEXT(names(graphOf(again).nodes()), names(graph.nodes()).c_str());
        QVERIFY(graph.validate());
    }

    void case15_watch() {
        const auto module = traced(net(), {netInput()});
        const ModuleGraph& graph = graphOf(module);
        TracedNode* relu = graph.functions("relu").asList()[0]->outputs()[0];
        TracedNode* out = named(graph, "block0_out");
        TracedNode* block = named(graph, "block0");
        module->setWatchPoints({relu, out, block});
        QVERIFY(module->run({netInput()}));
        const auto watched = module->watchNodeValue();
        QCOMPARE(watched[0].value->tensor().shape(), (tensor::Shape{1, 3, 6, 6}));
        QCOMPARE(watched[1].value->tensor().shape(), (tensor::Shape{1, 3, 6, 6}));
        const auto* value = dynamic_cast<const trace::ModuleValue*>(watched[2].value->object().get());
        QVERIFY(value && value->module().get() == module->child("block0"));
        const auto unused = traced(lambda("U", [](Lambda&, std::span<const Var> in) { return in[0] + 1; },
                                          {{"x", std::nullopt, false, true}, {"y", std::nullopt, false, true}}),
                                   {vec({1}), vec({2})});
        unused->setWatchPoints({named(graphOf(unused), "y")});
        QVERIFY(unused->run({vec({1}), vec({7})}));
        QCOMPARE(numbers(*unused->watchNodeValue()[0].value), std::vector<double>{7});
        // New watch points unmark all graphs of the old ones.
        module->setWatchPoints({out});
        QVERIFY(relu->graph().watchPoints().empty());
    }

    void case16_end() {
        const auto module = traced(net(), {netInput()});
        const ModuleGraph& graph = graphOf(module);
        module->setWatchPoints({named(graph, "block1_out"), named(graph, "block0_out")});
        QVERIFY(module->run({netInput()}));
        const auto expected = module->watchNodeValue();
        QVERIFY(module->setEndPoints({named(graph, "block1_out"), named(graph, "block0_out")}));
        const Value ended = *module->run({netInput()});
        QCOMPARE(ended.items().size(), 2U);
        QVERIFY(tensor::identical(ended.items()[0], *expected[0].value));
        QVERIFY(tensor::identical(ended.items()[1], *expected[1].value));
        // The input alone: nothing is executed, so nothing is watched.
        QVERIFY(module->setEndPoints({named(graph, "x")}));
        QVERIFY(tensor::identical((*module->run({netInput()})).items()[0], netInput()));
        QVERIFY(!module->watchNodeValue()[0].value);
        // A node of another graph: an error, and the end points stay.
        QVERIFY(!module->setEndPoints({graph.functions("relu").asList()[0]->outputs()[0]}));
        COMPARE_TEXT(names(graph.endPoints()), "x");
        module->clearEndPoints();
        QVERIFY((*module->run({netInput()})).isTensor());
    }

    void case17_watchBeyondEnd() {
        const auto module = traced(seed(), {vec({0})});
        ModuleGraph& graph = graphOf(module);
        module->setWatchPoints({named(graph, "add_out_1")});
        QVERIFY(module->setEndPoints({named(graph, "add_out")}));
        QVERIFY(module->run({vec({0})}));
        QVERIFY(!module->watchNodeValue()[0].value.has_value());
    }

    void case18_calledTwice() {
        auto l = lambda("L", [](Lambda&, std::span<const Var> in) { return in[0][0] + in[0][1]; },
                        {{"v", std::nullopt, false}});
        auto module = lambda("Two", [](Lambda& self, std::span<const Var> in) {
            trace::Module& inner = self.use("l");
            const Var first = inner(Var::list({in[0], in[0] * 2}));
            return first + inner(Var::list({in[0], in[0] * 3}));
        });
        module->addChild("l", l);
        const auto made = traced(module, {vec({1})});
        const auto calls = graphOf(made).methods("__call__").asList();
        QCOMPARE(calls.size(), 2U);
        QCOMPARE(calls[0]->innerGraph().get(), calls[1]->innerGraph().get());
        const ModuleGraph& inner = *calls[0]->innerGraph();
        COMPARE_TEXT(names(inner.inputs()[2]->actualNodes()), "mul_out mul_out_1");
        made->setWatchPoints({inner.outputs()[0]});
        QCOMPARE(numbers(*made->run({vec({1})})), std::vector<double>{7});
        QCOMPARE(numbers(*made->watchNodeValue()[0].value), std::vector<double>{4});
        QVERIFY(graphOf(made).validate());
    }

    void case19_twoNames() {
        auto shared = lambda("P", [](Lambda& self, std::span<const Var> in) { return in[0] * self.own("w"); });
        shared->parameter("w", vec({3}).tensor());
        auto module =
            lambda("Names", [](Lambda& self, std::span<const Var> in) { return self.use("b")(self.use("a")(in[0])); });
        module->addChild("a", shared);
        module->addChild("b", shared);
        const auto made = traced(module, {vec({1})});
        QVERIFY(made->child("a") != made->child("b"));
        QVERIFY(made->child("a")->ownTensors()[0].slot == made->child("b")->ownTensors()[0].slot);
        const auto calls = graphOf(made).methods("__call__").asList();
        COMPARE_TEXT(names(graphOf(made).nodes(false)), "self x b a a_out b_out");
        COMPARE_TEXT(calls[0]->innerGraph()->name(), "Names_a");
        COMPARE_TEXT(calls[1]->innerGraph()->name(), "Names_b");
        QCOMPARE(numbers(*made->run({vec({2})})), std::vector<double>{18});
    }

    void case20_branch() {
        const auto made =
            traced(lambda("Branch", [](Lambda&, std::span<const Var> in) { return in[0] > 0 ? in[0] + 1 : in[0] - 1; }),
                   {vec({1})});
        QCOMPARE(numbers(*made->run({vec({-5})})), std::vector<double>{-4});
        COMPARE_TEXT(names(graphOf(made).nodes()), "self x add_out");
    }

    void case21_errors() {
        const auto failure = [](Lambda::Forward forward, std::vector<Value> args = {vec({1})}) {
            const auto result = traceModule(lambda("Bad", std::move(forward)), std::move(args));
            return result ? QString() : QString::fromStdString(result.error().what);
        };
        QVERIFY(failure([](Lambda&, std::span<const Var>) {
                    return Var();
                }).contains("doesn't support None in return values"));
        QVERIFY(failure([](Lambda&, std::span<const Var> in) {
                    return Var::tuple({in[0], Var(3)});
                }).contains("in return values"));
        const auto assigns = [](Lambda& self, std::span<const Var> in) {
            self.addSlot("w", std::make_shared<trace::Slot>());
            return in[0];
        };
        QVERIFY(failure(assigns).contains("do not support modify"));
        class Odd final : public tensor::ObjectBase {
            std::string typeName() const override { return "Odd"; }
        };
        QVERIFY(
            failure([](Lambda&, std::span<const Var> in) { return in[0]; }, {Value::object(std::make_shared<Odd>())})
                .contains("registerSupportedType"));
        QVERIFY(!traceModule(nullptr, {}));
    }

    void case22_deadCode() {
        const auto made = traced(lambda("Dead",
                                        [](Lambda&, std::span<const Var> in) {
                                            const Var unused = in[0] * 3;
                                            return in[0] + 1;
                                        }),
                                 {vec({1})});
        COMPARE_TEXT(names(graphOf(made).nodes()), "self x add_out");
    }

    void case23_capturedTensor() {
        const Value captured = vec({5});
        const auto made = traced(
            lambda("Captures",
                   [captured](Lambda&, std::span<const Var> in) { return in[0] * Var(captured) + Var(captured); }),
            {vec({1})});
        COMPARE_TEXT(names(graphOf(made).nodes()), "self x const_tensor mul_out add_out");
        COMPARE_TEXT(named(graphOf(made), "const_tensor")->qualname(), "Captures.[const_tensor]");
        QCOMPARE(numbers(*made->run({vec({2})})), std::vector<double>{15});
    }

    void case27_signature() {
        const std::vector<ForwardParameter> parameters{{"a", std::nullopt, false},    {"b", std::nullopt, false},
                                                       {"c", Value::ofInt(4), false}, {"d", std::nullopt, true},
                                                       {"e", Value::ofInt(3), true},  {"f", Value::ofInt(4), true}};
        auto module = lambda(
            "F", [](Lambda&, std::span<const Var> in) { return in[0] + in[1]; }, parameters);
        const Value one = vec({1});
        const auto made = traced(module, {one}, {{"b", one}, {"d", Value::ofInt(6)}});
        COMPARE_TEXT(made->entries()[0].argDef.text(), "Module, Tensor, Tensor, 4, d=6, e=3, f=4");
        const auto missing = traceModule(module, {one, one});
        QVERIFY(!missing && QString::fromStdString(missing.error().what).contains("TypeError") &&
                QString::fromStdString(missing.error().what).contains("'d'"));
        const auto twice = traceModule(module, {one, one}, {{"a", one}, {"d", Value::ofInt(1)}});
        QVERIFY(!twice && QString::fromStdString(twice.error().what).contains("multiple values for argument 'a'"));
        // One structure however the default is given.
        const auto k = traced(lambda("K", [](Lambda&, std::span<const Var> in) { return in[0] * in[1]; },
                                     {{"x", std::nullopt, false}, {"k", Value::ofInt(1), false}}),
                              {one});
        QVERIFY(k->run({one, Value::ofInt(1)}));
        QVERIFY(k->run({}, {{"k", Value::ofInt(1)}, {"x", one}}));
        QVERIFY(!k->run({one, Value::ofFloat(1)}));
        QVERIFY(!k->run({one, Value::ofBool(true)}));
    }

    void case29_parametersByName() {
        const auto original = net();
        const auto module = traced(original, {netInput()});
        const auto flat = *module->flatten();
        std::vector<std::string> expected;
        for (const auto& named : trace::namedTensors(*original)) expected.push_back(named.path);
        for (const auto& made : {module, flat}) {
            std::vector<std::string> paths;
            for (const auto& named : trace::namedTensors(*made)) paths.push_back(named.path);
            QCOMPARE(paths, expected);
        }
        // New values are the values of all three: parameters are shared.
        const auto take = [&](const std::string& path) {
            return path == "block0.bn1.bias" ? vec({1, 2, 3}).tensor() : tensor::Tensor();
        };
        QVERIFY(trace::loadTensors(*flat, take, false));
        QVERIFY(tensor::identical(*flat->run({netInput()}), *module->run({netInput()})));
        QCOMPARE(numbers(Value(original->find("block0.bn1")->ownTensors()[1].slot->value)),
                 (std::vector<double>{1, 2, 3}));
    }

    void case30_qualnames() {
        const auto original = net();
        const auto module = traced(original, {netInput()});
        const auto flat = *module->flatten();
        for (const auto& made : {module, flat}) {
            for (const TracedNode* node : graphOf(made).nodes()) {
                std::string path = node->qualname();
                if (const auto bracket = path.find(".["); bracket != std::string::npos) path = path.substr(0, bracket);
                const auto dot = path.find('.');
                path = dot == std::string::npos ? "" : path.substr(dot + 1);
                QVERIFY2(original->find(path) && module->find(path) && flat->find(path), node->qualname().c_str());
            }
        }
        COMPARE_TEXT(named(graphOf(module), "block0_out")->qualname(), "Net.block0.[out]");
        COMPARE_TEXT(named(graphOf(flat), "block0_add_out")->qualname(), "Net.block0.[method_add]");
    }

    void case33_tracedAgain() {
        const auto inner = traced(seed(), {vec({0})});
        auto outer =
            lambda("Outer", [](Lambda& self, std::span<const Var> in) { return self.use("inner")(in[0] - 1) + 1; });
        outer->addChild("inner", inner);
        const auto made = traced(outer, {vec({0})});
        ModuleGraph& graph = graphOf(made);
        const auto nodes = graph.nodes().asList();
        for (std::size_t i = 0; i < nodes.size(); ++i) QCOMPARE(nodes[i]->id(), i);
        QCOMPARE(graph.counters(), (std::pair<std::uint64_t, std::uint64_t>(nodes.size(), nodes.size())));
        const auto* child = dynamic_cast<const TracedModule*>(made->child("inner"));
        QVERIFY(child && !child->isTop() && !child->argspec());
        QVERIFY(inner->isTop() && inner->argspec());
        const auto flat = *made->flatten();
        COMPARE_TEXT(names(graphOf(flat).nodes()), "self x sub_out inner_add_out inner_out add_out");
        QCOMPARE(numbers(*flat->run({vec({5})})), std::vector<double>{8});
    }

    void case35_sequential() {
        auto module = lambda("Seq", [](Lambda& self, std::span<const Var> in) { return self.use("f")(in[0]); });
        module->addChild("f", std::make_shared<nn::Sequential>(std::vector<std::shared_ptr<nn::Module>>{
                                  std::make_shared<nn::ReLU>(), std::make_shared<nn::Linear>(4, 2)}));
        const auto made = traced(module, {ramp({1, 4})});
        const auto* call = *graphOf(made).methods("__call__", false).asUnique();
        COMPARE_TEXT(call->innerGraph()->name(), "Seq_f");
        const auto flat = *made->flatten();
        COMPARE_TEXT(names(graphOf(flat).nodes()), "self x f__0 f__0_out f__1 f_out");
        const auto inner = call->innerGraph()->nodes().asList();
        COMPARE_TEXT(names(std::vector<TracedNode*>(inner.begin() + 2, inner.end())), "_0 _0_out _1 _1_out");
    }

    void case36_multiOutputFlatten() {
        const auto b = [] {
            return lambda("B", [](Lambda&, std::span<const Var> in) {
                return Var::tuple({in[0], nn::cat({in[0], in[0]}, 0)});
            });
        };
        auto module = lambda("Multi", [](Lambda& self, std::span<const Var> in) {
            const auto first = self.use("b0")(in[0]).unpack(2);
            const Var next = first[0] + 1;
            const auto second = self.use("b1")(next).unpack(2);
            return first[1] + second[1];
        });
        module->addChild("b0", b());
        module->addChild("b1", b());
        const auto made = traced(module, {vec({1})});
        const auto flat = *made->flatten();
        QCOMPARE(graphOf(flat).body().size(), 4U);
        COMPARE_TEXT(names(graphOf(flat).nodes()), "self x b0_out_1 add_out b1_out_1 add_out_1");
        QVERIFY(tensor::identical(*flat->run({vec({4})}), *made->run({vec({4})})));
    }

  private:
    std::unique_ptr<trace::EvaluatorScope> m_scope;
};

QTEST_GUILESS_MAIN(TestTracedModule)

}  // namespace tst_traced_module

#include "tst_traced_module.moc"
