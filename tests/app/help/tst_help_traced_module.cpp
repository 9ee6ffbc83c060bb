// The C++ of the help pages "Coming from MegEngine" and "Traced module": each line of the pages stands here and is run
// (tst_help_snippets). Expected values are worked by hand.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/optimize.h"
#include "core/io/traced_module/traced_module_file.h"
#include "core/passes/pass.h"
#include "tests/support/traced_models.h"

namespace tst_help_traced_module {

using namespace sonde;
using test::graphOf;
using test::ids;
using test::names;
using test::numbers;
using test::vec;

namespace {

using Numbers = std::vector<double>;

/// Net{block: Block}: block(x) + 1, where Block is relu(x) * 3.
std::shared_ptr<test::Lambda> helpNet() {
    auto block = test::lambda("Block", [](test::Lambda&, std::span<const trace::Var> in) {
        const trace::Var positive = nn::relu(in[0]);
        return positive * 3;
    });
    auto net = test::lambda(
        "Net", [](test::Lambda& self, std::span<const trace::Var> in) { return self.use("block")(in[0]) + 1; });
    net->addChild("block", block);
    return net;
}

struct Size final : tensor::ObjectBase {
    std::string typeName() const override { return "Size"; }
};

}  // namespace

class TestHelpTracedModule : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { m_scope = std::make_unique<trace::EvaluatorScope>(document::kernelEvaluator()); }
    void cleanupTestCase() { m_scope.reset(); }

    void traceAndWatch() {
        const std::shared_ptr<nn::Module> model = helpNet();
        const tensor::Value x = vec({-1, 2});
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto traced = *trace::traceModule(model, {x});
        trace::ModuleGraph& graph = **traced->graph();
        trace::TracedNode* relu = *graph.nodesByName("*relu_out").asUnique();
        traced->setWatchPoints({relu});
        const tensor::Value y = *traced->run({x});
        const auto watched = traced->watchNodeValue();
        // relu((-1, 2)) is (0, 2); * 3 + 1
        QCOMPARE(numbers(y), (Numbers{1, 7}));
        QCOMPARE(numbers(*watched.front().value), (Numbers{0, 2}));
        traced->clearWatchPoints();
        QVERIFY(traced->watchNodeValue().empty());
        trace::TracedNode* out = *graph.nodesByName("Net_block_out").asUnique();
        QVERIFY(traced->setEndPoints({out}));
        QCOMPARE(numbers(traced->run({x})->items().front()), (Numbers{0, 6}));
        traced->clearEndPoints();
        QCOMPARE(numbers(*traced->run({x})), (Numbers{1, 7}));
        QVERIFY(traced->isTop());
        QCOMPARE(traced->argspec()->front().name, std::string("x"));
        QCOMPARE(traced->entries().front().argDef.text(), std::string("Module, Tensor"));
        const auto copy = traced->clone();
        QCOMPARE(numbers(*copy->run({x})), (Numbers{1, 7}));
        const auto flat = *traced->flatten();
        QCOMPARE(names(graphOf(flat).nodes()), std::string("self x block_relu_out block_out add_out"));
    }

    void options() {
        const std::shared_ptr<nn::Module> model = helpNet();
        const tensor::Value x = vec({1});
        trace::TraceModuleOptions options;
        options.checkExprs = true;
        options.checkResult = false;
        options.guardsData = true;
        options.builtins = {"Block"};
        const auto traced = *trace::traceModule(model, {x}, {}, options);
        QCOMPARE(graphOf(traced).methods("__call__").asCount(), 1U);
        QVERIFY(!graphOf(traced).methods("__call__").asList().front()->innerGraph());
        trace::registerAsBuiltin("HelpOpaque");
        QVERIFY(trace::isRegisteredBuiltin("HelpOpaque"));
        trace::registerAsQat("HelpQat");
        QVERIFY(trace::isRegisteredQat("HelpQat"));
        trace::registerSupportedType("Size");
        QVERIFY(trace::supportedType(Size().typeName()));
        static const trace::WrappedFunction twice =
            trace::wrap("help_twice", [](std::span<const trace::Var> in) { return in[0] * 2; });
        const auto wrapped = *trace::traceModule(
            test::lambda("W", [](test::Lambda&, std::span<const trace::Var> in) { return twice(in[0]); }), {x});
        QCOMPARE(graphOf(wrapped).functions("help_twice").asCount(), 1U);
        QCOMPARE(numbers(*wrapped->run({vec({4})})), Numbers{8});
    }

    void queries() {
        const auto traced = *trace::traceModule(test::net(), {test::netInput()});
        trace::ModuleGraph& graph = **traced->graph();
        QCOMPARE(graph.name(), std::string("Net"));
        QCOMPARE(graph.qualname(), std::string("Net"));
        QCOMPARE(graph.inputs().size(), 2U);
        QCOMPARE(graph.outputs().size(), 1U);
        QVERIFY(!graph.parent());
        QCOMPARE(graph.exprs().asCount(), 34U);
        QCOMPARE(graph.nodes(false).asCount(), 8U);
        QCOMPARE(graph.functions("relu").asCount(), 2U);
        QCOMPARE(graph.methods("__add__").asCount(), 2U);
        QCOMPARE((*graph.exprById({6}).asUnique())->id(), 6U);
        QCOMPARE((*graph.nodeById({2}).asUnique())->name(), std::string("block0"));
        QCOMPARE(graph.modules<nn::Conv2d>().asCount(), 2U);
        QCOMPARE(graph.modules("Conv2d").asCount(), 2U);
        QCOMPARE(names(graph.nodesByName("*conv1*")), std::string("conv1 conv1_out conv1 conv1_out"));
        QCOMPARE(ids((*graph.dependencies({graph.outputs()[0]})).callMethod("__call__")), std::string("31 17 3"));
        QCOMPARE(graph.exprs().asList().size(), 34U);
        QCOMPARE(graph.exprs().asDict().at(3)->outputs().front()->name(), std::string("block0_out"));
        QCOMPARE(graph.exprs().callFunction("relu").asUnique().error().what, std::string("2 elements found"));
        QCOMPARE(graph.exprs().exprId({6, 7}).asCount(), 2U);
        QCOMPARE(graph.nodes().type("Conv2d").asCount(), 2U);
        QCOMPARE(graph.nodes().name("Net_block?").nodeId({2}).asCount(), 1U);
        QVERIFY(graph.text("ip").starts_with("Net.Graph ("));
    }

    void exprsAndNodes() {
        const auto traced = *trace::traceModule(test::seed(), {vec({0})});
        trace::ModuleGraph& graph = **traced->graph();
        trace::TracedNode* node = *graph.nodesByName("Seed_add_out").asUnique();
        trace::TracedExpr& expr = node->expr();
        QVERIFY(expr.kind() == trace::TracedExpr::Kind::CallMethod);
        QCOMPARE(expr.id(), 2U);
        QCOMPARE(expr.target(), std::string("__add__"));
        QCOMPARE(expr.inputs().size(), 1U);
        QCOMPARE(expr.outputs().front(), node);
        QCOMPARE(expr.args().size(), 2U);
        QVERIFY(expr.keywords().empty());
        QCOMPARE(expr.namedArgs().size(), 2U);
        QCOMPARE(expr.constants().front().second.number(), 1.0);
        QCOMPARE(expr.argDef().text(), std::string("Tensor, 1"));
        QCOMPARE(expr.outDef().text(), std::string("Tensor"));
        QCOMPARE(expr.returnValue().node, node);
        QCOMPARE(&expr.graph(), &graph);
        QVERIFY(!expr.innerGraph());
        QCOMPARE(expr.text(), std::string("%2:\tadd_out = x.__add__(1, )"));
        QCOMPARE(node->id(), 2U);
        QCOMPARE(node->name(), std::string("add_out"));
        QCOMPARE(node->fullName(), std::string("Seed_add_out"));
        QCOMPARE(node->qualname(), std::string("Seed.[method_add]"));
        QCOMPARE(node->users().size(), 1U);
        QCOMPARE(&node->graph(), &graph);
        QVERIFY(node->actualNodes().empty());
        QCOMPARE(node->type().text(), std::string("float32[1]"));
        QCOMPARE(node->device(), std::string("cpu"));
        QVERIFY(!node->quantParams());
        QVERIFY(!node->value());
        QVERIFY(node->setName("first_sum"));
        QVERIFY(graph.setName("Top"));
        QCOMPARE(node->fullName(), std::string("Top_first_sum"));
        QVERIFY(expr.setArgument("b", std::int64_t{10}));
        QCOMPARE(numbers(*traced->run({vec({0})})), Numbers{12});
        QVERIFY(expr.setArguments({node->expr().inputs().front(), std::int64_t{20}}));
        QCOMPARE(numbers(*traced->run({vec({0})})), Numbers{22});
        trace::TracedExpr& last = graph.outputs().front()->expr();
        QVERIFY(last.replaceInputs({{node, graph.inputs()[1]}}));
        QCOMPARE(numbers(*traced->run({vec({0})})), Numbers{2});
        expr.disableRemove();
        graph.compile();
        QCOMPARE(graph.body().size(), 2U);
        expr.enableRemove();
        graph.compile();
        QCOMPARE(graph.body().size(), 1U);

        const auto holder = *trace::traceModule(helpNet(), {vec({1})});
        const trace::TracedNode* block = *graphOf(holder).nodesByName("Net_block").asUnique();
        QVERIFY(block->isModule());
        QCOMPARE(block->moduleType(), std::string("Module"));
        QCOMPARE(block->owner().get(), holder->child("block"));
    }

    void edits() {
        const tensor::Value x = vec({-1, 2});
        const auto traced = *trace::traceModule(helpNet(), {x});
        trace::ModuleGraph& graph = **traced->graph();
        trace::TracedNode* sum = graph.outputs().front();
        trace::TracedNode* changed = nullptr;
        {
            trace::GraphEditor editor = *graph.edit();
            changed = editor.node(editor[sum] * 10);
        }
        const auto replaced = graph.replaceNode({{sum, changed}});
        graph.compile();
        QVERIFY(replaced);
        // ((0, 6) + 1) * 10
        QCOMPARE(numbers(*traced->run({x})), (Numbers{10, 70}));
        QVERIFY(graph.validate());
        QCOMPARE(numbers(graph.eval({x})->front()), (Numbers{10, 70}));
        const std::vector<trace::Var> inputs{trace::Var(x)};
        QCOMPARE(numbers(graph.interpret(*traced, inputs).front().value()), (Numbers{10, 70}));
        trace::TracedNode* data = *graph.addInputNode(tensor::DType::Float32, {2}, "data");
        QVERIFY(graph.addOutputNode(data));
        QCOMPARE(numbers(traced->run({x, vec({5, 6})})->items()[1]), (Numbers{5, 6}));
        QVERIFY(graph.resetOutputs(trace::Operand::dict({{"sum", changed}})));
        QCOMPARE(traced->run({x, vec({5, 6})})->dictItems().size(), 1U);
        const auto fresh = *graph.resetInputs({vec({0, 0})});
        QCOMPARE(fresh.front()->name(), std::string("args"));
    }

    /// A call reads its module after its arguments; use() reads it first, as Python does.
    void orderOfReads() {
        const auto order = [](const test::Lambda::Forward& forward) {
            auto net = test::lambda("Net", forward);
            net->addChild("block", helpNet()->children().front().module);
            return names(graphOf(*trace::traceModule(net, {vec({1})})).nodes(false));
        };
        QCOMPARE(order([](test::Lambda& self, std::span<const trace::Var> in) {
                     trace::Module& block = *self.child("block");
                     return block(in[0] + 1);
                 }),
                 std::string("self x add_out block block_out"));
        QCOMPARE(order([](test::Lambda& self, std::span<const trace::Var> in) { return self.use("block")(in[0] + 1); }),
                 std::string("self x block add_out block_out"));
    }

    void passesAndFiles() {
        const auto traced = *trace::traceModule(test::net(), {test::netInput()});
        const auto optimised = *document::optimize(*traced);
        QCOMPARE(graphOf(traced).modules("BatchNorm2d").asCount(), 2U);
        QCOMPARE(graphOf(optimised).modules("BatchNorm2d").asCount(), 0U);
        QCOMPARE(graphOf(optimised).modules("Conv2d").asCount(), 2U);
        QCOMPARE((*passes::findPass("FlodConstant"))->id, std::string_view("fold-constant"));
        QVERIFY(!passes::findPass("Nope"));
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("net.sondetm").toStdString();
        QVERIFY(io::saveTracedModule(*traced, path));
        const auto loaded = *io::loadTracedModule(path);
        QVERIFY(tensor::identical(*loaded->run({test::netInput()}), *traced->run({test::netInput()})));
        QCOMPARE(names(graphOf(loaded).nodes()), names(graphOf(traced).nodes()));
    }

  private:
    std::unique_ptr<trace::EvaluatorScope> m_scope;
};

QTEST_GUILESS_MAIN(TestHelpTracedModule)

}  // namespace tst_help_traced_module

#include "tst_help_traced_module.moc"
