// Acceptance cases of TracedModule: what is opaque, checks, quantisation-aware modules. Numbers are those of part (d)
// of its reference.

#include <QTemporaryDir>

#include "core/io/traced_module/traced_module_file.h"
#include "core/trace/traced_module/inline_graph.h"
#include "core/trace/traced_module/ordered_dict.h"
#include "core/trace/traced_module/quantizer.h"
#include "tests/support/traced_models.h"

namespace tst_traced_module_options {

using namespace sonde;
using namespace sonde::test;
using trace::Module;
using trace::ModuleGraph;
using trace::QuantParams;
using trace::TracedModule;
using trace::TracedNode;

namespace {

/// A fake quantiser of the user's own: the same parameters, found in another way.
class OwnQuantizer : public nn::Module, public trace::Quantizer {
  public:
    explicit OwnQuantizer(QuantParams params, bool isStandard = false)
        : m_params(std::move(params)), m_isStandard(isStandard) {}
    std::string className() const override { return "OwnQuantizer"; }
    Var forward(std::span<const Var> in) override { return trace::FixedFakeQuantize(m_params).forward(in); }
    QuantParams quantParams() const override { return m_params; }
    bool isStandard() const override { return m_isStandard; }

  private:
    QuantParams m_params;
    bool m_isStandard;
};

const QuantParams kWeight{0.25, 0, "symmetric", "qint8"};
const QuantParams kOutput{0.5, 3, "asymmetric", "quint8"};

/// A convolution that is trained with quantisation in mind: quantised weight, quantised output.
std::shared_ptr<Lambda> qatConv() {
    auto module = lambda("QatConv", [](Lambda& self, std::span<const Var> in) {
        const Var weight = self.use("weight_quant")(self.own("weight"));
        return self.use("out_quant")(in[0] * weight);
    });
    module->parameter("weight", vec({0.6F}).tensor());
    module->addChild("weight_quant", std::make_shared<OwnQuantizer>(kWeight));
    module->addChild("out_quant", std::make_shared<OwnQuantizer>(kOutput, true));
    return module;
}

std::shared_ptr<Lambda> qatModel() {
    auto block = lambda("Block", [](Lambda& self, std::span<const Var> in) { return self.use("conv0")(in[0]) + 1; });
    block->addChild("conv0", qatConv());
    auto module = lambda("MyModule", [](Lambda& self, std::span<const Var> in) { return self.use("block0")(in[0]); });
    module->addChild("block0", block);
    return module;
}

}  // namespace

class TestTracedModuleOptions : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { m_scope = std::make_unique<trace::EvaluatorScope>(document::kernelEvaluator()); }
    void cleanupTestCase() { m_scope.reset(); }

    void case28_quantisationAware() {
        trace::registerAsQat("QatConv");
        const auto original = qatModel();
        const auto made = traced(original, {vec({1})});
        const auto* conv = dynamic_cast<const TracedModule*>(made->find("block0.conv0"));
        QVERIFY(conv && conv->isQat());
        // By hand: 0.6 is 2 steps of 0.25; 1 * 0.5 is 1 step of 0.5; and 1 is added.
        QCOMPARE(numbers(*made->run({vec({1})})), std::vector<double>{1.5});
        const auto flat = *made->flatten();
        const ModuleGraph& graph = graphOf(flat);
        const auto module = graph.nodesByName("MyModule_block0_conv0", false, false).asUnique();
        QVERIFY(module && (*module)->isModule());
        QVERIFY(std::dynamic_pointer_cast<TracedModule>((*module)->owner()));
        const auto out = graph.nodesByName("MyModule_block0_conv0_out", false, false).asUnique();
        QVERIFY(out && (*out)->expr().isModuleCall() && (*out)->expr().inputs()[0] == *module);
        QCOMPARE(numbers(*flat->run({vec({1})})), std::vector<double>{1.5});
        QVERIFY(graph.validate());
        // Quantisers of one's own are fixed, standard ones stay; parameters are the same everywhere.
        for (const auto& root : {made, flat}) {
            QCOMPARE(root->find("block0.conv0.weight_quant")->className(), std::string("FixedFakeQuantize"));
            QCOMPARE(root->find("block0.conv0.out_quant"), original->find("block0.conv0.out_quant"));
            for (const char* path : {"block0.conv0.weight_quant", "block0.conv0.out_quant"}) {
                const auto* before = dynamic_cast<const trace::Quantizer*>(original->find(path));
                const auto* after = dynamic_cast<const trace::Quantizer*>(root->find(path));
                QVERIFY(before && after && before->quantParams() == after->quantParams());
            }
        }
        const TracedNode* quantised = (*conv->graph())->nodesByName("*out_quant_out").asList()[0];
        QVERIFY(quantised->quantParams() == kOutput);
    }

    void registeredClassesAreOpaque() {
        trace::registerAsBuiltin("OpaqueOne");
        auto module =
            lambda("Holds", [](Lambda& self, std::span<const Var> in) { return self.use("a")(self.use("b")(in[0])); });
        module->addChild("a", lambda("OpaqueOne", [](Lambda&, std::span<const Var> in) { return in[0] + 1; }));
        module->addChild("b", lambda("NotOpaque", [](Lambda&, std::span<const Var> in) { return in[0] * 2; }));
        const auto made = traced(module, {vec({1})});
        const auto calls = graphOf(made).methods("__call__").asList();
        QVERIFY(calls[0]->innerGraph());
        QVERIFY(!calls[1]->innerGraph());
        QCOMPARE(made->child("a"), module->child("a"));
        QCOMPARE(numbers(*made->run({vec({3})})), std::vector<double>{7});
    }

    /// f(x, *args, k=2, **kw): x + args[0] * k - args[1] + kw['a'] * kw['b'], as Python binds it (traced-module.md,
    /// "Structure of arguments").
    static std::shared_ptr<Lambda> collecting() {
        return lambda("F",
                      [](Lambda&, std::span<const Var> in) {
                          return in[0] + in[1][Var(0)] * in[2] - in[1][Var(1)] + in[3][Var("a")] * in[3][Var("b")];
                      },
                      {{"x", std::nullopt, false, true},
                       {"args", std::nullopt, false, false, true},
                       {"k", Value::ofInt(2), true},
                       {"kw", std::nullopt, true, false, true}});
    }
    void collectedArguments() {
        const auto module = collecting();
        const auto made = traced(module, {vec({1}), vec({10}), vec({3})}, {{"b", vec({5})}, {"a", vec({7})}});
        COMPARE_TEXT(names(graphOf(made).nodes()).substr(0, 30), "self x args_0 args_1 kw_0 kw_1");
        COMPARE_TEXT(made->entries().front().argDef.text(), "Module, Tensor, Tensor, Tensor, k=2, a=Tensor, b=Tensor");
        // 2 + 20 * 2 - 4 + 6 * 8
        QCOMPARE(numbers(*made->run({vec({2}), vec({20}), vec({4})}, {{"a", vec({6})}, {"b", vec({8})}})),
                 std::vector<double>{86});
        QCOMPARE(numbers(*made->run({vec({2}), vec({20}), vec({4})},
                                    {{"b", vec({8})}, {"k", Value::ofInt(2)}, {"a", vec({6})}})),
                 std::vector<double>{86});
        const auto fewer = made->run({vec({2}), vec({20})}, {{"a", vec({6})}, {"b", vec({8})}});
        QVERIFY(!fewer);
        QVERIFY2(fewer.error().what.find("forward(Module, Tensor, Tensor, Tensor, k=2, a=Tensor, b=Tensor)") !=
                     std::string::npos,
                 fewer.error().what.c_str());
        QVERIFY(!made->run({vec({2}), vec({20}), vec({4})}, {{"a", vec({6})}, {"c", vec({8})}}));
        const auto flat = *made->flatten();
        QCOMPARE(numbers(*flat->run({vec({2}), vec({20}), vec({4})}, {{"a", vec({6})}, {"b", vec({8})}})),
                 std::vector<double>{86});
        // As a document's graph each parameter is one input.
        const auto graph = trace::inlineTracedModule(made);
        QVERIFY2(graph, graph ? "" : graph.error().text().c_str());
        QCOMPARE(graph->graph->inputs().size(), 4U);
    }
    void collectedArgumentsOfInnerModules() {
        auto outer = lambda("G", [](Lambda& self, std::span<const Var> in) {
            Module& f = self.use("f");
            return f.call({in[0], in[0], in[0]}, {{"b", in[0]}, {"a", in[0]}}) +
                   f.call({in[0], in[0] * 3, in[0]}, {{"a", in[0]}, {"b", in[0]}});
        });
        outer->addChild("f", collecting());
        const auto made = traced(outer, {vec({1})});
        // One structure, one graph. At 2: (2 + 4 - 2 + 4) + (2 + 12 - 2 + 4).
        QCOMPARE(dynamic_cast<const TracedModule&>(*made->find("f")).entries().size(), 1U);
        QCOMPARE(numbers(*made->run({vec({2})})), std::vector<double>{24});
        QCOMPARE(numbers(*(*made->flatten())->run({vec({2})})), std::vector<double>{24});
    }
    void whatNobodyCollectsIsAnError() {
        const auto module = collecting();
        QVERIFY_EXCEPTION_THROWN(module->bound({}, {}), trace::TraceError);
        QVERIFY_EXCEPTION_THROWN(module->bound({vec({1})}, {{"x", vec({1})}}), trace::TraceError);
        const std::vector<Var> bound = module->bound({vec({1})}, {});
        QCOMPARE(bound.size(), 4U);
        QVERIFY(bound[1].kind() == Var::Kind::Tuple && bound[1].items().empty());
        QVERIFY(bound[3].kind() == Var::Kind::Dict && bound[3].items().empty());
    }

    /// Two orders of one ordered dict are two structures; of a plain dict they are one.
    void orderOfOrderedDictsCounts() {
        using trace::OrderedDict;
        const auto module = lambda("O",
                                   [](Lambda&, std::span<const Var> in) {
                                       const OrderedDict& d = OrderedDict::of(in[0]);
                                       return d.at(Value(std::string("p"))) - d.at(Value(std::string("q")));
                                   },
                                   {{"d", std::nullopt, false}});
        const auto dict = [](std::string first, float a, std::string second, float b) {
            return OrderedDict::make(
                {{Value(std::move(first)), Var(vec({a}))}, {Value(std::move(second)), Var(vec({b}))}});
        };
        const auto made = traced(module, {dict("q", 1, "p", 5)});
        COMPARE_TEXT(made->entries()[0].argDef.text(), "Module, OrderedDict('q', Tensor, 'p', Tensor)");
        COMPARE_TEXT(names(graphOf(made).inputs()), "self d_0 d_1");
        QCOMPARE(numbers(*made->run({dict("q", 2, "p", 9)})), std::vector<double>{7});
        const auto other = made->run({dict("p", 9, "q", 2)});
        QVERIFY(!other);
        QVERIFY2(other.error().what.find("OrderedDict('p', Tensor, 'q', Tensor)") != std::string::npos,
                 other.error().what.c_str());
        const QTemporaryDir folder;
        const std::string path = folder.filePath("ordered.sonde").toStdString();
        QVERIFY(io::saveTracedModule(*made, path).has_value());
        const auto again = io::loadTracedModule(path);
        QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
        QCOMPARE(numbers(*(*again)->run({dict("q", 2, "p", 9)})), std::vector<double>{7});
    }

    void wrappedFunctionsAreOneExpr() {
        static const trace::WrappedFunction twice =
            trace::wrap("my_twice", [](std::span<const Var> in) { return in[0] * 2 + 0; });
        const auto made =
            traced(lambda("W", [](Lambda&, std::span<const Var> in) { return twice(in[0]) + 1; }), {vec({1})});
        COMPARE_TEXT(names(graphOf(made).nodes()), "self x my_twice_out add_out");
        COMPARE_TEXT(named(graphOf(made), "my_twice_out")->qualname(), "W.[func_my_twice]");
        QCOMPARE(graphOf(made).functions("my_twice").asCount(), 1U);
        QCOMPARE(numbers(*made->run({vec({4})})), std::vector<double>{9});
        const auto late =
            trace::traceModule(lambda("Late",
                                      [](Lambda&, std::span<const Var> in) {
                                          trace::wrap("too_late", [](std::span<const Var> x) { return x[0]; });
                                          return in[0];
                                      }),
                               {vec({1})});
        QVERIFY(!late && late.error().what.find("wrap must be called before") != std::string::npos);
    }

    void resultsAreChecked() {
        // Gives another number at each call: what was recorded is not what happens again.
        int calls = 0;
        trace::wrap("counts", [&calls](std::span<const Var> in) { return in[0] + ++calls; });
        const auto module =
            lambda("Counts", [](Lambda&, std::span<const Var> in) { return trace::WrappedFunction("counts")(in[0]); });
        const auto checked = trace::traceModule(module, {vec({1})});
        QVERIFY(!checked && checked.error().what.find("another result") != std::string::npos);
        // 1e-9 and then 2e-9: the difference is in relation to the numbers, however small.
        trace::wrap("small", [&calls](std::span<const Var> in) { return in[0] * (++calls * 1e-9); });
        const auto tiny =
            lambda("Tiny", [](Lambda&, std::span<const Var> in) { return trace::WrappedFunction("small")(in[0]); });
        calls = 0;
        const auto small = trace::traceModule(tiny, {vec({1})});
        QVERIFY(!small && small.error().what.find("another result") != std::string::npos);
        trace::TraceModuleOptions options;
        options.checkResult = false;
        QVERIFY(trace::traceModule(module, {vec({1})}, {}, options));
        options.checkExprs = true;
        QVERIFY(trace::traceModule(seed(), {vec({1})}, {}, options));
    }

    void onlyOneTraceAtATime() {
        const auto nested = trace::traceModule(lambda("Outer",
                                                      [](Lambda&, std::span<const Var> in) {
                                                          const auto inner = trace::traceModule(seed(), {vec({1})});
                                                          if (inner) return in[0] + 100;
                                                          return in[0] + 1;
                                                      }),
                                               {vec({1})});
        QVERIFY(nested);
        QCOMPARE(numbers(*(*nested)->run({vec({1})})), std::vector<double>{2});
    }

    void registeredTypesAreContainers() {
        struct Pair final : tensor::ObjectBase {
            std::vector<Var> parts;
            std::string typeName() const override { return "Pair"; }
        };
        const auto pair = [](Var a, Var b) {
            auto object = std::make_shared<Pair>();
            object->parts = {std::move(a), std::move(b)};
            return Value::object(object);
        };
        trace::registerSupportedType(
            "Pair", {[](const tensor::ObjectBase& object) { return static_cast<const Pair&>(object).parts; },
                     [pair](std::vector<Var> parts) { return Var(pair(parts[0], parts[1])); },
                     {},
                     {}});
        const auto module = lambda("P",
                                   [](Lambda&, std::span<const Var> in) {
                                       const auto& parts = static_cast<const Pair&>(*in[0].value().object()).parts;
                                       return parts[0] - parts[1];
                                   },
                                   {{"p", std::nullopt, false}});
        const auto made = traced(module, {pair(Var(vec({5})), Var(vec({3})))});
        COMPARE_TEXT(names(graphOf(made).inputs()), "self p_0 p_1");
        COMPARE_TEXT(made->entries()[0].argDef.text(), "Module, Pair(Tensor, Tensor)");
        QCOMPARE(numbers(*made->run({pair(Var(vec({9})), Var(vec({2})))})), std::vector<double>{7});
    }

    void asOneGraph() {
        const auto made = traced(net(), {netInput()});
        const auto inlined = trace::inlineTracedModule(made);
        QVERIFY2(inlined, inlined ? "" : inlined.error().text().c_str());
        const graph::InternalGraph& graph = *inlined->graph;
        QVERIFY(graph.validate());
        std::string all;
        for (graph::ExprId id : graph.main().order) all += graph.node(graph.expr(id).outputs.front()).name + ' ';
        COMPARE_TEXT(all,
                     "x block0_conv1_out block0_bn1_out block0_relu_out block0_add_out block1_conv1_out block1_bn1_out "
                     "block1_relu_out block1_add_out output ");
        COMPARE_TEXT(*graph.expr(graph.node(graph.findNode("block1_relu_out")).producer).qualname, "block1");
        // The root, two blocks, and three calls of the identity.
        QCOMPARE(graph.scopeCount(), 6U);
        QCOMPARE(trace::allGraphsText(*made).find("Net_block0_nothing.Graph (self, x) {") != std::string::npos, true);
    }

  private:
    std::unique_ptr<trace::EvaluatorScope> m_scope;
};

QTEST_GUILESS_MAIN(TestTracedModuleOptions)

}  // namespace tst_traced_module_options

#include "tst_traced_module_options.moc"
