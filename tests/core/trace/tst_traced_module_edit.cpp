// Acceptance cases of TracedModule: edits of graphs. Numbers are those of part (d) of its reference.

#include "tests/support/traced_models.h"

namespace tst_traced_module_edit {

using namespace sonde;
using namespace sonde::test;
using trace::ModuleGraph;
using trace::Operand;
using trace::TracedExpr;
using trace::TracedModule;
using trace::TracedNode;

namespace {

Var neg(const Var& x) { return trace::callFunction(trace::Function{"neg", "neg", "torch.neg"}, {x}); }

/// identity; 2 identities of a dict; 2 of a list; neg(x) + param.
std::shared_ptr<Lambda> negModule() {
    auto module = lambda("Neg", [](Lambda& self, std::span<const Var> in) {
        Var x = self.use("identity")(in[0]);
        for (const char* key : {"0", "1"}) x = self.use("identity_dict").use(key)(x);
        for (const char* key : {"0", "1"}) x = self.use("identity_list").use(key)(x);
        return neg(x) + self.own("param");
    });
    const auto identity = [] { return std::make_shared<nn::Identity>(); };
    module->addChild("identity", identity());
    module->addChild("identity_list", std::make_shared<nn::ModuleList>(
                                          std::vector<std::shared_ptr<nn::Module>>{identity(), identity()}));
    module->addChild("identity_dict",
                     std::make_shared<nn::ModuleDict>(std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>{
                         {"0", identity()}, {"1", identity()}}));
    module->parameter("param", vec({0}).tensor());
    return module;
}

}  // namespace

class TestTracedModuleEdit : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { m_scope = std::make_unique<trace::EvaluatorScope>(document::kernelEvaluator()); }
    void cleanupTestCase() { m_scope.reset(); }

    void case06_resetOutputs() {
        const auto made = traced(lambda("My", [](Lambda&, std::span<const Var> in) { return in[0] + 1; }), {vec({0})});
        ModuleGraph& graph = graphOf(made);
        TracedNode* x = named(graph, "x");
        QVERIFY(graph.resetOutputs(Operand::tuple({named(graph, "add_out"), Operand::dict({{"input", x}})})));
        const Value result = *made->run({vec({0})});
        QCOMPARE(result.kind(), tensor::ValueKind::Tuple);
        QCOMPARE(numbers(result.items()[0]), std::vector<double>{1});
        QCOMPARE(result.items()[1].dictItems()[0].first.toString(), std::string("input"));
        QCOMPARE(numbers(result.items()[1].dictItems()[0].second), std::vector<double>{0});
        QVERIFY(graph.text().find("return add_out, x\n") != std::string::npos);
    }

    void case07_addOutputNode() {
        const auto made = traced(lambda("My", [](Lambda&, std::span<const Var> in) { return in[0] + 1; }), {vec({0})});
        ModuleGraph& graph = graphOf(made);
        QVERIFY(graph.addOutputNode(named(graph, "x")));
        QVERIFY(graph.addOutputNode(named(graph, "add_out")));
        const Value result = *made->run({vec({0})});
        QCOMPARE(result.items().size(), 2U);
        QCOMPARE(numbers(result.items()[0].items()[0]), std::vector<double>{1});
        QCOMPARE(numbers(result.items()[0].items()[1]), std::vector<double>{0});
        QCOMPARE(numbers(result.items()[1]), std::vector<double>{1});
    }

    void case08_addInputNode() {
        const auto made = traced(net(), {netInput()});
        ModuleGraph& graph = graphOf(made);
        const Value before = *made->run({netInput()});
        TracedNode* data = *graph.addInputNode(tensor::DType::Float32, {1, 3, 6, 6}, "data");
        COMPARE_TEXT(data->name(), "data");
        QCOMPARE(graph.inputs().size(), 3U);
        QVERIFY(graph.addOutputNode(data));
        const Value other = ramp({1, 3, 2, 2});
        const Value result = *made->run({netInput(), other});
        QVERIFY(tensor::identical(result.items()[0], before));
        QVERIFY(tensor::identical(result.items()[1], other));
        // The old call form is refused.
        const auto old = made->run({netInput()});
        QVERIFY(!old);
        COMPARE_TEXT(
            old.error().what,
            "AssertionError: support input args kwargs format:\n    forward(Module, Tensor, Tensor)\nbut get:\n"
            "    forward(Module, Tensor)");
        const auto none = made->run({});
        QVERIFY(!none && none.error().what.find("missing required argument 'x'") != std::string::npos);
        // Inner graphs refuse, and inputs can be made anew.
        QVERIFY(!named(graph, "block0_out")->expr().innerGraph()->addInputNode(tensor::DType::Float32, {1}));
        const auto reset = traced(lambda("My", [](Lambda&, std::span<const Var> in) { return in[0] + 1; }), {vec({0})});
        ModuleGraph& small = graphOf(reset);
        TracedNode* x = named(small, "x");
        const auto inputs = *small.resetInputs({vec({1}), vec({2})}, {{"scale", vec({3})}});
        COMPARE_TEXT(names(small.inputs()), "self args args_1 scale");
        QVERIFY(small.replaceNode({{x, inputs[1]}}));
        QCOMPARE(numbers(*reset->run({vec({1}), vec({20})}, {{"scale", vec({3})}})), std::vector<double>{21});
        COMPARE_TEXT(reset->entries()[0].argDef.text(), "Module, Tensor, Tensor, scale=Tensor");
    }

    void case09_insert() {
        const auto made = traced(myBlock(), {netInput()});
        ModuleGraph& graph = graphOf(made);
        const Value before = *made->run({netInput()});
        TracedNode* relu = (*graph.functions("relu").asUnique())->outputs()[0];
        TracedNode* negated = nullptr;
        {
            auto editor = *graph.edit();
            negated = editor.node(neg(editor[relu]));
        }
        QVERIFY(graph.replaceNode({{relu, negated}}));
        graph.compile();
        COMPARE_TEXT(ids(graph.exprs(false)), "0 1 2 3 4 5 6 12 7 8 9");
        COMPARE_TEXT(names(named(graph, "add_out")->expr().inputs()), "neg_out");
        const Value after = *made->run({netInput()});
        for (std::int64_t i = 0; i < before.tensor().numel(); ++i) {
            QVERIFY(qAbs((before.tensor().toDouble(i) - 1) - (1 - after.tensor().toDouble(i))) < 1e-6);
        }
        QCOMPARE(graph.counters(), (std::pair<std::uint64_t, std::uint64_t>(13, 13)));
        QVERIFY(graph.validate());
        // A place in another graph is refused.
        TracedExpr* inner = &named(graph, "nothing_out")->expr().innerGraph()->inputs()[1]->expr();
        COMPARE_TEXT(graph.edit(inner).error().what, "Expr to insert after is not in graph.");
    }

    void case10_insertAtTheEnd() {
        const auto made = traced(myBlock(), {netInput()});
        ModuleGraph& graph = graphOf(made);
        TracedNode* relu = named(graph, "relu_out");
        const Value before = *made->run({netInput()});
        TracedNode* negated = nullptr;
        {
            auto editor = *graph.edit(graph.body().back());
            negated = editor.node(neg(editor[relu]));
        }
        QCOMPARE(graph.body().back(), &negated->expr());
        QVERIFY(graph.replaceNode({{relu, negated}}));
        COMPARE_TEXT(names(named(graph, "add_out")->expr().inputs()), "relu_out");
        graph.compile();
        QCOMPARE(graph.nodesByName("*neg*").asCount(), 0U);
        QVERIFY(tensor::identical(*made->run({netInput()}), before));
    }

    void case11_delete() {
        const auto made = traced(myBlock(), {netInput()});
        ModuleGraph& graph = graphOf(made);
        QVERIFY(graph.replaceNode({{named(graph, "relu_out"), named(graph, "bn1_out")}}));
        graph.compile();
        QCOMPARE(graph.functions().asCount(), 0U);
        QVERIFY(graph.replaceNode({{graph.outputs()[0], graph.inputs()[1]}}));
        graph.compile();
        QCOMPARE(graph.body().size(), 0U);
        QVERIFY(tensor::identical(*made->run({netInput()}), netInput()));
        // A module does not replace a tensor.
        const auto other = traced(myBlock(), {netInput()});
        QVERIFY(!graphOf(other).replaceNode({{named(graphOf(other), "x"), named(graphOf(other), "conv1")}}));
    }

    void case12_disableRemove() {
        const auto made = traced(myBlock(), {netInput()});
        ModuleGraph& graph = graphOf(made);
        TracedExpr* relu = *graph.functions("relu").asUnique();
        QVERIFY(graph.replaceNode({{named(graph, "relu_out"), named(graph, "bn1_out")}}));
        relu->disableRemove();
        graph.compile();
        QCOMPARE(graph.functions("relu").asCount(), 1U);
        relu->enableRemove();
        graph.compile();
        QCOMPARE(graph.functions("relu").asCount(), 0U);
    }

    void case13_insertModule() {
        const auto made = traced(myBlock(), {netInput()});
        ModuleGraph& graph = graphOf(made);
        const Value before = *made->run({netInput()});
        made->addChild("neg", negModule());
        TracedNode* relu = named(graph, "relu_out");
        TracedNode* negated = nullptr;
        {
            auto editor = *graph.edit();
            const Var x = editor[relu];
            QVERIFY(relu->value().has_value());
            negated = editor.node(editor.module("neg")(x));
        }
        QVERIFY(graph.replaceNode({{relu, negated}}));
        graph.compile();
        QVERIFY(dynamic_cast<const TracedModule*>(made->child("neg")));
        const ModuleGraph& inner = *negated->expr().innerGraph();
        COMPARE_TEXT(negated->name(), "neg_out");
        COMPARE_TEXT(inner.name(), "MyBlock_neg");
        for (const TracedNode* node : graph.nodes()) QVERIFY(!node->value().has_value());
        const Value after = *made->run({netInput()});
        for (std::int64_t k = 0; k < before.tensor().numel(); ++k) {
            QVERIFY(qAbs((before.tensor().toDouble(k) - 1) - (1 - after.tensor().toDouble(k))) < 1e-6);
        }
        QVERIFY(graph.validate());
    }

    void case14_rename() {
        const auto made = traced(net(), {netInput()});
        ModuleGraph& graph = graphOf(made);
        TracedNode* out = graph.outputs()[0];
        const auto taken = out->setName("block1_out");
        QVERIFY(!taken && QString::fromStdString(taken.error().what).contains("already in use"));
        COMPARE_TEXT(out->name(), "nothing_out");
        QVERIFY(out->setName("output"));
        COMPARE_TEXT(out->name(), "output");
        QVERIFY(out->setName("1 bad-name"));
        COMPARE_TEXT(out->name(), "_1_bad_name");
        QVERIFY(out->setName("max"));
        COMPARE_TEXT(out->name(), "max_1");
        QVERIFY(graph.setName("Top"));
        COMPARE_TEXT(out->fullName(), "Top_max_1");
        // Inner graphs need a name that is free in the graph around.
        ModuleGraph& inner = *named(graph, "block0_out")->expr().innerGraph();
        QVERIFY(!inner.setName("block1_out"));
        QVERIFY(inner.setName("First"));
        COMPARE_TEXT(inner.inputs()[1]->fullName(), "First_x");
        QVERIFY(graph.validate());
    }

    void case31_insertedModules() {
        const auto made = traced(myBlock(), {netInput()});
        ModuleGraph& graph = graphOf(made);
        made->addChild("neg", negModule());
        made->addChild("neg2", negModule());
        TracedNode* relu = named(graph, "relu_out");
        TracedNode* last = nullptr;
        {
            auto editor = *graph.edit();
            editor.module("neg")(editor[relu]);
            const Var second = editor.module("neg2")(editor[relu]);
            last = editor.node(editor.module("neg")(second));
        }
        QVERIFY(graph.replaceNode({{relu, last}}));
        graph.compile();
        const auto* first = dynamic_cast<const TracedModule*>(made->child("neg"));
        const auto* second = dynamic_cast<const TracedModule*>(made->child("neg2"));
        QVERIFY(first && second && first != second);
        QVERIFY(first->graph() && second->graph());
        QCOMPARE((*first->graph())->body().size(), 13U);
        QCOMPARE(second->ownTensors().size(), 1U);
        QVERIFY(made->run({netInput()}));
        QVERIFY(graph.validate());

        // Through a path: the call is in the parent graph and reads a dotted attribute.
        const auto whole = traced(net(), {netInput()});
        whole->child("block0")->addChild("neg", negModule());
        ModuleGraph& top = graphOf(whole);
        TracedNode* out = named(top, "block0_out");
        TracedNode* negated = nullptr;
        {
            auto editor = *top.edit();
            negated = editor.node(editor.module("block0.neg")(editor[out]));
        }
        QVERIFY(top.replaceNode({{out, negated}}));
        top.compile();
        QCOMPARE(&negated->graph(), &top);
        COMPARE_TEXT(negated->expr().inputs()[0]->expr().target(), "block0.neg");
        COMPARE_TEXT(negated->expr().inputs()[0]->qualname(), "Net.block0.neg");
        QVERIFY(whole->run({netInput()}));
        QVERIFY(top.validate());
    }

    void case32_namesWhileEditing() {
        const auto made = traced(myBlock(), {netInput()});
        ModuleGraph& graph = graphOf(made);
        TracedNode* out = graph.outputs()[0];
        made->addChild("named", lambda("Named", [](Lambda&, std::span<const Var> in) { return in[0] + 1; }));
        {
            auto editor = *graph.edit();
            const auto helper = [&](const Var& x) {
                const Var y = x + 1;
                QVERIFY(editor.node(y)->setName("_add_2"));
                return;
            };
            const Var x = editor[out] + 1;
            QVERIFY(editor.node(x)->setName("_add_1"));
            helper(x);
            TracedNode* inner = editor.node(editor.module("named")(x))->expr().innerGraph()->outputs()[0];
            QVERIFY(inner->setName("_add_1"));  // another graph: the name is free there
            QVERIFY(!editor.node(x)->setName("_add_2"));
            COMPARE_TEXT(inner->fullName(), "MyBlock_named__add_1");
        }
        QCOMPARE(graph.nodesByName("MyBlock__add_1").asCount(), 1U);
        QCOMPARE(graph.nodesByName("MyBlock__add_2").asCount(), 1U);
        QVERIFY(graph.validate());
    }

    void case34_useLists() {
        const auto made = traced(net(), {netInput()});
        ModuleGraph& graph = graphOf(made);
        QVERIFY(graph.validate());
        ModuleGraph& inner = *named(graph, "block0_out")->expr().innerGraph();
        TracedNode* relu = named(inner, "relu_out");
        {
            auto editor = *inner.edit();
            TracedNode* added = editor.node(neg(editor[relu]) + editor[relu]);
            editor.commit();
            QVERIFY(inner.replaceNode({{relu, added}}));
        }
        inner.compile();
        QVERIFY2(graph.validate(), "after an edit");
        QVERIFY2(graphOf(*made->flatten()).validate(), "after flatten");
        QVERIFY2(graphOf(made->clone()).validate(), "after a copy");
    }

    void argumentsCanBeSet() {
        const auto made = traced(seed(), {vec({0})});
        ModuleGraph& graph = graphOf(made);
        TracedExpr& add = named(graph, "add_out_1")->expr();
        QVERIFY(add.setArgument("b", Operand(std::int64_t{10})));
        QCOMPARE(numbers(*made->run({vec({0})})), std::vector<double>{11});
        QVERIFY(!add.setArgument("nope", Operand(std::int64_t{1})));
        // The same node twice counts twice.
        TracedNode* first = named(graph, "add_out");
        QVERIFY(add.setArguments({Operand(first), Operand(first)}));
        QCOMPARE(first->users().size(), 2U);
        QCOMPARE(numbers(*made->run({vec({0})})), std::vector<double>{2});
        QVERIFY(add.replaceInputs({{first, named(graph, "x")}}));
        QCOMPARE(numbers(*made->run({vec({3})})), std::vector<double>{6});
        QVERIFY(!named(graph, "add_out")->expr().replaceInputs({{named(graph, "x"), named(graph, "add_out_1")}}));
        QVERIFY(graph.validate());
        const auto nested = traced(net(), {netInput()});
        QVERIFY(!named(graphOf(nested), "block0_out")->expr().setArguments({}));
    }

    /// What an operation cannot take is an error when it is set, and leaves the expr as it was.
    void kindsOfArgumentsAreChecked() {
        const auto made = traced(net(), {netInput()});
        ModuleGraph& block = *named(graphOf(made), "block0_out")->expr().innerGraph();
        TracedExpr& add = named(block, "add_out")->expr();
        TracedNode *conv = named(block, "conv1"), *convOut = named(block, "conv1_out");
        const std::string before = add.text();
        const auto refused = [&](TracedExpr& expr, std::string_view name, const Operand& value) {
            const auto set = expr.setArgument(name, value);
            return set ? std::string("was set") : set.error().what;
        };
        QCOMPARE(refused(add, "b", Operand(conv)), std::string("argument 'b' is a number and cannot become a module"));
        QCOMPARE(refused(add, "b", Operand(Value(std::string("one")))),
                 std::string("argument 'b' is a number and cannot become a text"));
        QCOMPARE(refused(add, "a", Operand(conv)), std::string("argument 'a' is a tensor and cannot become a module"));
        QVERIFY(!add.setArgument("a", Operand(std::int64_t{1})));  // a method of a number
        QCOMPARE(add.text(), before);
        TracedExpr& call = convOut->expr();
        QCOMPARE(refused(call, "self", Operand(convOut)),
                 std::string("the first argument of a module call is the module"));
        QVERIFY(block.validate());
        QVERIFY(add.setArgument("b", Operand(convOut)));  // a tensor for a number
        QVERIFY(add.setArgument("b", Operand(2.0)));
    }

    void anExceptionDiscardsTheEdit() {
        const auto made = traced(seed(), {vec({0})});
        ModuleGraph& graph = graphOf(made);
        const std::string before = graph.text();
        try {
            auto editor = *graph.edit();
            (void)(editor[named(graph, "x")] * 2);
            throw std::runtime_error("stop");
        } catch (const std::runtime_error&) {
        }
        COMPARE_TEXT(graph.text(), before.c_str());
        QVERIFY(graph.validate());
    }

  private:
    std::unique_ptr<trace::EvaluatorScope> m_scope;
};

QTEST_GUILESS_MAIN(TestTracedModuleEdit)

}  // namespace tst_traced_module_edit

#include "tst_traced_module_edit.moc"
