// The acceptance cases of the module-path tracer. Numbers are those of part (d) of its reference.

#include <QFile>
#include <QtTest>

#include "core/nn/activation.h"
#include "core/nn/containers.h"
#include "core/nn/dropout.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/trace/listing.h"
#include "core/trace/module_path_tracer.h"
#include "core/zoo/zoo.h"

namespace tst_module_path_tracer {

using namespace sonde;
using nn::Var;
using tensor::Tensor;
using trace::ModulePathTracer;
using trace::TraceErrorKind;

namespace {

using Rows = std::vector<std::pair<std::string, std::optional<std::string>>>;
const std::optional<std::string> kNone;

/// A module whose forward is a function; `setUp` registers its parts.
class Custom : public nn::Module {
  public:
    using Forward = std::function<Var(Custom&, std::span<const Var>)>;
    Custom(std::string className, Forward forward, std::vector<std::string> parameters = {"x"})
        : m_className(std::move(className)), m_forward(std::move(forward)), m_parameters(std::move(parameters)) {}
    std::string className() const override { return m_className; }
    std::vector<trace::ForwardParameter> signature() const override {
        std::vector<trace::ForwardParameter> result;
        for (const std::string& name : m_parameters) result.push_back({name, fallback(name), false});
        return result;
    }
    std::optional<tensor::Value> fallback(const std::string& name) const {
        const auto found = defaults.find(name);
        return found == defaults.end() ? std::nullopt : std::optional(found->second);
    }
    Var forward(std::span<const Var> in) override { return m_forward(*this, in); }

    using Module::addBuffer;
    using Module::addParameter;
    using Module::addPlain;
    nn::Module& at(const char* name) { return *child(name); }
    std::map<std::string, nn::Attribute> attributes;
    std::map<std::string, tensor::Value> defaults;

  private:
    std::string m_className;
    Forward m_forward;
    std::vector<std::string> m_parameters;
};

std::shared_ptr<Custom> custom(std::string name, Custom::Forward forward, std::vector<std::string> parameters = {"x"}) {
    return std::make_shared<Custom>(std::move(name), std::move(forward), std::move(parameters));
}

Tensor four() { return Tensor::of<float>({4}, {1, 1, 1, 1}); }
std::shared_ptr<nn::Linear> linear(std::int64_t n = 4) { return std::make_shared<nn::Linear>(n, n); }

/// A leaf whose forward returns (y, (h, c)).
class Recurrent : public nn::Layer {
  public:
    Recurrent() : Layer("LSTM") {}
    bool makesTensor() const override { return false; }
    Var forward(std::span<const Var> in) override {
        return Var::tuple({nn::relu(in[0]), Var::tuple({nn::tanh(in[0]), nn::sigmoid(in[0])})});
    }
};

Rows rows(const ModulePathTracer& tracer, const graph::InternalGraph& graph) {
    Rows result;
    for (graph::ExprId id : graph.main().order) {
        for (graph::NodeId node : graph.expr(id).outputs)
            result.emplace_back(graph.node(node).name, tracer.originOf(node));
    }
    return result;
}

std::string text(const Rows& rows) {
    std::string result;
    for (const auto& [name, origin] : rows) result += name + " <- " + (origin ? "'" + *origin + "'" : "none") + "\n";
    return result;
}

std::string names(const graph::InternalGraph& graph) {
    std::string result;
    for (graph::ExprId id : graph.main().order) {
        for (graph::NodeId node : graph.expr(id).outputs) result += (result.empty() ? "" : " ") + graph.node(node).name;
    }
    return result;
}

std::string fileText(const std::string& path) {
    QFile file(QString::fromStdString(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

/// Traces, checks the graph's rules and that every origin is a module.
std::shared_ptr<graph::InternalGraph> traced(ModulePathTracer& tracer, const std::shared_ptr<nn::Module>& root) {
    auto graph = tracer.trace(root);
    if (!graph) {
        qWarning("%s", graph.error().text().c_str());
        return nullptr;
    }
    const auto valid = (*graph)->validate();
    if (!valid) qWarning("%s", valid.error().text().c_str());
    for (std::size_t i = 0; i < (*graph)->nodeCount(); ++i) {
        const auto& origin = tracer.originOf(graph::NodeId(i));
        if (origin && !root->find(*origin)) qWarning("no module '%s'", origin->c_str());
        if (origin && !root->find(*origin)) return nullptr;
    }
    return valid ? *graph : nullptr;
}

#define COMPARE_ROWS(actual, ...) \
    QCOMPARE(QString::fromStdString(text(actual)), QString::fromStdString(text(Rows{__VA_ARGS__})))

}  // namespace

class TestModulePathTracer : public QObject {
    Q_OBJECT

  private slots:
    void case01_resnet18_data() {
        QTest::addColumn<QString>("model");
        QTest::newRow("resnet18") << "resnet18";
    }
    void case01_resnet18() {
        QFETCH(QString, model);
        auto module = zoo::makeModel(model.toStdString());
        QVERIFY(module);
        ModulePathTracer tracer;
        const auto graph = traced(tracer, *module);
        QVERIFY(graph);
        const std::string expected = fileText(SONDE_TEST_DATA "/models/" + model.toStdString() + ".fx.txt");
        QVERIFY(!expected.empty());
        QCOMPARE(QString::fromStdString(trace::originListing(*graph)), QString::fromStdString(expected));
        if (model == "resnet18") QCOMPARE(graph->main().order.size(), 71U);
    }

    void case02_parametersBuffersAndAlias() {
        const auto makeBlock = [] {
            auto block = custom("Block", [](Custom& self, std::span<const Var> in) {
                const Var y = self.at("lin")(in[0]);
                const Var scaled = y * Var(self.attributes["w"]);
                return nn::relu(scaled + Var(self.attributes["b"])) + Var(self.attributes["plain"]);
            });
            block->addChild("lin", linear());
            block->attributes = {{"w", block->addParameter("w", four())},
                                 {"b", block->addBuffer("b", four())},
                                 {"plain", block->addPlain("plain", four())}};
            return block;
        };
        auto net = custom("Net", [](Custom& self, std::span<const Var> in) {
            const Var y = self.at("a")(in[0]);
            const Var z = self.at("alias")(self.at("seq")(y));
            return nn::flatten(z, 1) + four();
        });
        const auto a = makeBlock();
        net->addChild("a", a);
        net->addChild(
            "seq", std::make_shared<nn::Sequential>(std::vector<std::shared_ptr<nn::Module>>{linear(), makeBlock()}));
        net->addChild("alias", a);
        ModulePathTracer tracer;
        const auto graph = traced(tracer, net);
        QVERIFY(graph);
        COMPARE_ROWS(rows(tracer, *graph), {"x", ""}, {"a_lin", "a.lin"}, {"a_w", "a"}, {"mul", "a"}, {"a_b", kNone},
                     {"add", "a"}, {"relu", "a"}, {"a_plain", kNone}, {"add_1", "a"}, {"seq_0", "seq.0"},
                     {"seq_1_lin", "seq.1.lin"}, {"seq_1_w", "seq.1"}, {"mul_1", "seq.1"}, {"seq_1_b", kNone},
                     {"add_2", "seq.1"}, {"relu_1", "seq.1"}, {"seq_1_plain", kNone}, {"add_3", "seq.1"},
                     {"a_lin_1", "a.lin"}, {"mul_2", "a"}, {"a_b_1", kNone}, {"add_4", "a"}, {"relu_2", "a"},
                     {"a_plain_1", kNone}, {"add_5", "a"}, {"flatten", ""}, {"_tensor_constant0", kNone}, {"add_6", ""},
                     {"output", kNone});
    }

    void case04_namesInOneModel() {
        auto net = custom("Net", [](Custom& self, std::span<const Var> in) {
            Var x = self.at("relu")(self.at("relu")(in[0]));
            const Var z = self.at("b")(x);
            (void)(z + 1);
            (void)(1 + z);
            (void)-z;
            (void)trace::matmul(z, z);
            (void)z[0];
            (void)nn::sum(z);
            (void)nn::relu(z);
            (void)z.attr("T");
            const auto parts = z.method("split", {2}, {}).unpack(2);
            return parts[0] + parts[1];
        });
        net->addChild("relu", std::make_shared<nn::ReLU>());
        auto inner =
            std::make_shared<nn::Sequential>(std::vector<std::shared_ptr<nn::Module>>{std::make_shared<nn::ReLU>()});
        net->addChild("b", std::make_shared<nn::Sequential>(
                               std::vector<std::shared_ptr<nn::Module>>{std::make_shared<nn::Sequential>(), inner}));
        ModulePathTracer tracer;
        const auto graph = traced(tracer, net);
        QVERIFY(graph);
        QCOMPARE(names(*graph),
                 std::string("x relu relu_1 b_1_0 add add_1 neg matmul getitem sum_1 relu_2 getattr_1 split "
                             "getitem_1 getitem_2 add_2 output"));
    }

    void case05_functionAsRoot() {
        ModulePathTracer tracer;
        auto graph =
            tracer.trace([](std::span<const Var> in) { return in[0].method("sin") + 1; }, {{"x", std::nullopt, false}});
        QVERIFY(graph);
        COMPARE_ROWS(rows(tracer, **graph), {"x", ""}, {"sin", ""}, {"add", ""}, {"output", kNone});
    }

    void case06_leafAsRootIsEntered() {
        ModulePathTracer tracer;
        const auto graph = traced(tracer, linear());
        QVERIFY(graph);
        COMPARE_ROWS(rows(tracer, *graph), {"input_1", ""}, {"weight", ""}, {"bias", ""}, {"linear", ""},
                     {"output", kNone});
    }

    void case07_containersAreParts() {
        const auto makeBlock = [] {
            auto block = custom("Block", [](Custom& self, std::span<const Var> in) {
                const Var y = self.at("drop")(in[0]);
                return y * Var(self.attributes["p"]);
            });
            block->addChild("drop", std::make_shared<nn::Dropout>());
            block->attributes = {{"p", block->addParameter("p", four())}};
            return block;
        };
        auto net = custom("Net", [](Custom& self, std::span<const Var> in) {
            Var x = in[0];
            for (const auto& child : self.at("blocks").children()) x = (*child.module)(x);
            return (*self.at("d").child("k-1"))(x);
        });
        net->addChild("blocks", std::make_shared<nn::ModuleList>(
                                    std::vector<std::shared_ptr<nn::Module>>{makeBlock(), makeBlock()}));
        net->addChild("d", std::make_shared<nn::ModuleDict>(
                               std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>{{"k-1", makeBlock()}}));
        ModulePathTracer tracer;
        const auto graph = traced(tracer, net);
        QVERIFY(graph);
        COMPARE_ROWS(rows(tracer, *graph), {"x", ""}, {"blocks_0_drop", "blocks.0.drop"}, {"blocks_0_p", "blocks.0"},
                     {"mul", "blocks.0"}, {"blocks_1_drop", "blocks.1.drop"}, {"blocks_1_p", "blocks.1"},
                     {"mul_1", "blocks.1"}, {"d_k_1_drop", "d.k-1.drop"}, {"d_k_1_p", "d.k-1"}, {"mul_2", "d.k-1"},
                     {"output", kNone});
    }

    void case08_directForwardHasTheCallersOrigin() {
        auto inner =
            custom("Inner", [](Custom& self, std::span<const Var> in) { return nn::relu(self.at("lin")(in[0])); });
        inner->addChild("lin", linear());
        auto net = custom("Net", [](Custom& self, std::span<const Var> in) { return self.at("inner").forward(in); });
        net->addChild("inner", inner);
        ModulePathTracer tracer;
        const auto graph = traced(tracer, net);
        QVERIFY(graph);
        COMPARE_ROWS(rows(tracer, *graph), {"x", ""}, {"inner_lin", "inner.lin"}, {"relu", ""}, {"output", kNone});
    }

    void case09_moduleMadeInForward() {
        auto inner = custom("Inner", [](Custom&, std::span<const Var> in) { return (*linear())(in[0]); });
        auto net = custom("Net", [](Custom& self, std::span<const Var> in) { return self.at("inner")(in[0]); });
        net->addChild("inner", inner);
        ModulePathTracer tracer;
        const auto graph = tracer.trace(net);
        QVERIFY(!graph);
        QCOMPARE(graph.error().what, std::string("NameError: module is not installed as a submodule"));
        QCOMPARE(tracer.currentModuleQualifiedName(), std::string());
    }

    void case10_controlFlowAndANewTrace() {
        auto inner =
            custom("Inner", [](Custom&, std::span<const Var> in) { return nn::sum(in[0]) > 0 ? in[0] : -in[0]; });
        auto net = custom("Net", [](Custom& self, std::span<const Var> in) { return self.at("inner")(in[0]); });
        net->addChild("inner", inner);
        ModulePathTracer tracer;
        const auto failed = tracer.trace(net);
        QVERIFY(!failed);
        QCOMPARE(failed.error().what,
                 std::string("TraceError: symbolically traced variables cannot be used as inputs to control flow"));
        QCOMPARE(tracer.currentModuleQualifiedName(), std::string());
        const auto graph = traced(tracer, linear());
        QVERIFY(graph);
        QCOMPARE(graph->nodeCount(), 5U);
        QVERIFY(tracer.visited().empty());
    }

    void case11_tracersShareNothing() {
        ModulePathTracer first;
        ModulePathTracer second;
        const auto a = traced(first, linear());
        const auto b =
            traced(second, std::make_shared<nn::Sequential>(std::vector<std::shared_ptr<nn::Module>>{linear()}));
        QVERIFY(a && b);
        COMPARE_ROWS(rows(first, *a), {"input_1", ""}, {"weight", ""}, {"bias", ""}, {"linear", ""}, {"output", kNone});
        COMPARE_ROWS(rows(second, *b), {"input_1", ""}, {"_0", "0"}, {"output", kNone});
    }

    void case12_recurrentLeaf() {
        auto net = custom("Net", [](Custom& self, std::span<const Var> in) {
            const auto out = self.at("l")(in[0]).unpack(2);
            const auto state = out[1].unpack(2);
            return state[0] + state[1];
        });
        net->addChild("l", std::make_shared<Recurrent>());
        ModulePathTracer tracer;
        const auto graph = traced(tracer, net);
        QVERIFY(graph);
        COMPARE_ROWS(rows(tracer, *graph), {"x", ""}, {"l", "l"}, {"getitem", ""}, {"getitem_1", ""}, {"getitem_2", ""},
                     {"getitem_3", ""}, {"add", ""}, {"output", kNone});
    }

    void case13_sharedParameterIsReadOnce() {
        auto net =
            custom("Net", [](Custom& self, std::span<const Var> in) { return self.at("b")(self.at("a")(in[0])); });
        const auto reader = [](Custom& self, std::span<const Var> in) { return in[0] * Var(self.attributes["w"]); };
        auto a = custom("Reader", reader);
        auto b = custom("Reader", reader);
        a->attributes["w"] = a->addParameter("w", four());
        b->addSlot("w", a->attributes["w"].slot());
        b->attributes["w"] = a->attributes["w"];
        net->addChild("a", a);
        net->addChild("b", b);
        ModulePathTracer tracer;
        const auto graph = traced(tracer, net);
        QVERIFY(graph);
        COMPARE_ROWS(rows(tracer, *graph), {"x", ""}, {"a_w", "a"}, {"mul", "a"}, {"mul_1", "b"}, {"output", kNone});
    }

    void case14_customLeafRule() {
        auto block =
            custom("Block", [](Custom& self, std::span<const Var> in) { return self.at("r")(self.at("lin")(in[0])); });
        block->addChild("lin", linear());
        block->addChild("r", std::make_shared<nn::ReLU>());
        auto net = custom("Net", [](Custom& self, std::span<const Var> in) { return self.at("b")(in[0]); });
        net->addChild("b", block);
        ModulePathTracer tracer;
        tracer.addTransparentClass("ReLU");
        const auto graph = traced(tracer, net);
        QVERIFY(graph);
        COMPARE_ROWS(rows(tracer, *graph), {"x", ""}, {"b_lin", "b.lin"}, {"relu", "b.r"}, {"output", kNone});
        QCOMPARE(graph->expr(graph->node(graph->findNode("relu")).producer).kind, graph::ExprKind::CallFunction);
    }

    void case15_outputStructureIsKept() {
        auto net = custom("Net", [](Custom&, std::span<const Var> in) {
            return Var::tuple({in[0] + 1, Var::dict({{tensor::Value(std::string("k")), in[0]}})});
        });
        ModulePathTracer tracer;
        const auto graph = traced(tracer, net);
        QVERIFY(graph);
        const graph::Expr& output = graph->expr(graph->main().order.back());
        QCOMPARE(output.arguments.size(), 1U);
        const graph::Argument& structure = output.arguments.front();
        QCOMPARE(structure.kind, graph::Argument::Kind::Tuple);
        QCOMPARE(structure.items[0].node, graph->findNode("add"));
        QCOMPARE(structure.items[1].kind, graph::Argument::Kind::Dict);
        QCOMPARE(structure.items[1].keys[0].toString(), std::string("k"));
        QCOMPARE(structure.items[1].items[0].node, graph->findNode("x"));
    }

    void case16_defaultStandsInThePlaceholder() {
        auto net = custom("Net", [](Custom&, std::span<const Var> in) { return in[0] * in[1]; }, {"x", "scale"});
        net->defaults["scale"] = tensor::Value::ofFloat(2.5);
        ModulePathTracer tracer;
        const auto graph = traced(tracer, net);
        QVERIFY(graph);
        const graph::Expr& scale = graph->expr(graph->node(graph->findNode("scale")).producer);
        QCOMPARE(scale.arguments.size(), 1U);
        QCOMPARE(scale.arguments[0].constant.toFloat(), 2.5);
    }

    void case18_clustersInDot() {
        auto net = custom("Net", [](Custom& self, std::span<const Var> in) {
            return (*self.at("d").child("k-1.\"q\""))(self.at("s")(in[0]));
        });
        net->addChild("s", std::make_shared<nn::Sequential>(std::vector<std::shared_ptr<nn::Module>>{linear()}));
        net->addChild("d",
                      std::make_shared<nn::ModuleDict>(
                          std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>{{"k-1.\"q\"", linear()}}));
        ModulePathTracer tracer;
        auto graph = tracer.trace(net);
        QVERIFY(graph);
        const QString dot = QString::fromStdString(trace::clusteredDot(**graph));
        QVERIFY(dot.contains("subgraph \"cluster_s\" {\n    label=\"s\";\n    subgraph \"cluster_s.0\" {"));
        QVERIFY(dot.contains("label=\"d.k-1.\\\"q\\\"\""));
        QCOMPARE(dot.count(QRegularExpression("^ +\"[^\"]+\";$", QRegularExpression::MultilineOption)),
                 static_cast<int>((*graph)->main().order.size()));
    }

    void leavesOwnTheirInside() {
        ModulePathTracer tracer;
        const auto graph =
            traced(tracer, std::make_shared<nn::Sequential>(std::vector<std::shared_ptr<nn::Module>>{linear()}));
        QVERIFY(graph);
        const graph::Expr& call = graph->expr(graph->node(graph->findNode("_0")).producer);
        QCOMPARE(call.bodies.size(), 1U);
        std::string inside;
        for (graph::ExprId id : graph->body(call.bodies[0]).order)
            inside += graph->node(graph->expr(id).outputs[0]).name + ' ';
        QCOMPARE(inside, std::string("_0/input_1 _0/weight _0/bias _0/linear "));
        const graph::Expr& inner = graph->expr(graph->node(graph->findNode("_0/linear")).producer);
        QCOMPARE(inner.op.domain + "::" + inner.op.name, std::string("aten::linear"));
        QCOMPARE(inner.qualname, std::optional<std::string>("0"));
    }

    void itemAssignmentIsRefused() {
        ModulePathTracer tracer;
        const auto graph =
            tracer.trace(custom("Net", [](Custom&, std::span<const Var> in) { return in[0].withItem(0, 1); }));
        QVERIFY(!graph);
        QVERIFY(graph.error().what.starts_with("TypeError: 'Proxy' object does not support item assignment"));
    }

    void tracingResNet50IsQuick() {
        auto module = zoo::makeModel("resnet50");
        QVERIFY(module);
        ModulePathTracer tracer;
        std::int64_t best = std::numeric_limits<std::int64_t>::max();
        for (int i = 0; i < 5; ++i) {
            QElapsedTimer timer;
            timer.start();
            QVERIFY(tracer.trace(*module));
            best = std::min<std::int64_t>(best, timer.nsecsElapsed());
        }
        qInfo("symbolic trace of ResNet-50: %.2f ms", static_cast<double>(best) * 1e-6);
    }
};

QTEST_GUILESS_MAIN(TestModulePathTracer)

}  // namespace tst_module_path_tracer

#include "tst_module_path_tracer.moc"
