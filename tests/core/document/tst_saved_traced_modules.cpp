// Traced modules that are made of archives, saved, opened and optimised: values are those of the archives' reference
// files, which PyTorch has written.

#include <QTemporaryDir>

#include <algorithm>
#include <cmath>

#include "core/analysis/measured_runs.h"
#include "core/document/document.h"
#include "core/document/input_infos.h"
#include "core/document/optimize.h"
#include "core/exec/runner.h"
#include "core/io/inputs/inputs.h"
#include "core/io/npz/npz.h"
#include "core/io/traced_module/traced_module_file.h"
#include "core/nn/dropout.h"
#include "tests/support/traced_models.h"

namespace tst_saved_traced_modules {

using namespace sonde;
using namespace sonde::test;
using trace::TracedModule;
using SharedDocument = std::shared_ptr<const document::Document>;

namespace {

std::string model(const std::string& name) { return SONDE_TEST_DATA "/models/" + name; }

SharedDocument openedWith(const std::string& file, const std::string& inputs, const std::string& tracer = {}) {
    document::OpenOptions options;
    options.tracer = tracer;
    options.inputData = inputs;
    auto document = document::open(file, options);
    if (!document) qFatal("%s", document.error().text().c_str());
    return *document;
}

std::vector<Value> inputsFor(const document::Document& document, const std::string& spec) {
    const auto cases = io::makeInputs(spec, document::inputInfos(document));
    if (!cases) qFatal("%s", cases.error().text().c_str());
    return cases->front().values;
}

/// The first output of the document's graph; an empty value and the message if it cannot be run.
std::pair<Value, std::string> resultOf(const document::Document& document, const std::vector<Value>& inputs) {
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**exec::Plan::make(document.graph, {}), inputs);
    if (recording.error) return {Value(), recording.error->text()};
    return {recording.outputs.front(), {}};
}

/// Of the nodes that are in no called module, in their order.
std::vector<std::string> namesIn(const document::Document& document) {
    std::vector<std::string> names;
    for (const graph::ExprId id : document.graph->main().order)
        for (const graph::NodeId node : document.graph->expr(id).outputs)
            names.push_back(document.graph->node(node).name);
    return names;
}

Tensor firstTensor(const Value& value) {
    return value.isTensor() ? value.tensor() : firstTensor(value.items().front());
}

bool near(const Tensor& a, const Tensor& b) {
    if (a.shape() != b.shape()) return false;
    for (std::int64_t i = 0; i < a.numel(); ++i) {
        if (!(std::abs(a.toDouble(i) - b.toDouble(i)) <= 1e-4 * std::max(1.0, std::abs(b.toDouble(i))))) return false;
    }
    return true;
}

/// conv (no bias) -> norm twice, the first conv once more: c(x) + n2(d(n1(c(x)))) has a convolution that is read
/// twice, n1(c(x)) + n1(c(y)) one that is called twice.
std::shared_ptr<Lambda> convNorm(bool readTwice) {
    auto module = lambda("ConvNorm", [readTwice](Lambda& self, std::span<const Var> in) {
        const Var c = self.use("c")(in[0]);
        const Var n = self.use("n")(c);
        return readTwice ? c + n : n + self.use("m")(self.use("c")(in[0] + 1));
    });
    module->addChild("c", std::make_shared<nn::Conv2d>(3, 3, 3));
    module->addChild("n", std::make_shared<nn::BatchNorm2d>(3));
    module->addChild("m", std::make_shared<nn::BatchNorm2d>(3));
    return module;
}

void setTensor(const trace::Module& module, const std::string& path, const tensor::Tensor& value) {
    for (const trace::NamedTensor& tensor : trace::namedTensors(module))
        if (tensor.path == path) tensor.slot->value = value;
}

std::size_t norms(const TracedModule& module) { return (*module.graph())->modules("BatchNorm2d").asCount(); }

}  // namespace

class TestSavedTracedModules : public QObject {
    Q_OBJECT

  private slots:
    void archivesAreSaved_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("file");
        // Scripted: norms that ask for the rank, an LSTM that compares sizes, an attention that returns None, a group
        // norm that takes sizes apart.
        for (const char* name : {"unet_small", "lstm_classifier", "vit_small", "nested_containers", "robust_nested"})
            QTest::newRow(qPrintable(QString(name) + ".script")) << QString(name) << QString(name) + ".script.pt";
        for (const char* name : {"lstm_classifier", "vit_small", "gpt_mini"})
            QTest::newRow(qPrintable(QString(name) + ".trace")) << QString(name) << QString(name) + ".trace.pt";
    }
    void archivesAreSaved() {
        QFETCH(QString, name);
        QFETCH(QString, file);
        const std::string values = model(name.toStdString() + ".npz"), saved = path("saved.sondetm");
        const auto original = openedWith(model(file.toStdString()), values, "traced-module");
        QVERIFY(original->tracedModule);
        // Nobody lends kernels here: they are those of the trace.
        QVERIFY(!trace::EvaluatorScope::current());
        const auto done = io::saveTracedModule(*original->tracedModule, saved);
        QVERIFY2(done, done ? "" : done.error().text().c_str());
        const auto loaded = openedWith(saved, {});
        QCOMPARE(loaded->text, original->text);
        QCOMPARE(namesIn(*loaded), namesIn(*original));
        const auto [result, error] = resultOf(*loaded, inputsFor(*loaded, values));
        QVERIFY2(error.empty(), error.c_str());
        const auto npz = io::NpzFile::open(values);
        QVERIFY(npz);
        const auto key = std::ranges::find_if(npz->keys(), [](const auto& each) { return each.starts_with("out."); });
        QVERIFY(key != npz->keys().end());
        const auto expected = npz->read(*key);
        QVERIFY(near(firstTensor(result), *expected));
    }

    /// Its convolutions keep their names, and give what the norms behind them gave.
    void optimisedModulesAgreeWithTheOriginal() {
        const std::string values = model("unet_small.npz"), saved = path("fused.sondetm");
        const auto original = openedWith(model("unet_small.script.pt"), values, "traced-module");
        const auto fused = document::optimize(*original->tracedModule);
        QVERIFY2(fused.has_value(), fused ? "" : fused.error().text().c_str());
        QVERIFY(norms(**fused) < norms(*original->tracedModule));
        QVERIFY(io::saveTracedModule(**fused, saved));
        const auto loaded = openedWith(saved, {});
        exec::Runner runner(1);
        const analysis::MeasuredRun plain{original->graph, inputsFor(*original, values)};
        const analysis::MeasuredRun other{loaded->graph, inputsFor(*loaded, values)};
        for (const auto& [one, two] : {std::pair(plain, other), std::pair(other, plain)}) {
            const auto found = analysis::compareRuns(one, two, {}, runner);
            QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
            QVERIFY(!found->error);
            QVERIFY(found->compared > 30);
            // The file has more checks of sizes, and so its "eq" is another comparison than the archive's.
            QStringList differing;
            for (const graph::NodeId node : found->diverging)
                differing << QString::fromStdString(one.graph->node(node).name);
            QCOMPARE(differing, QStringList());
        }
    }

    void loadedModulesTakeOtherSizes_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("inputs");
        QTest::newRow("LSTM, another batch") << "lstm_classifier"
                                             << "tokens:#rand(0,9,3,15)";
        QTest::newRow("LSTM, another length") << "lstm_classifier"
                                              << "tokens:#rand(0,9,2,6)";
        QTest::newRow("attention, another batch") << "vit_small"
                                                  << "x:#rand(-1,1,3,3,32,32)";
    }
    void loadedModulesTakeOtherSizes() {
        QFETCH(QString, name);
        QFETCH(QString, inputs);
        for (const char* kind : {".script.pt", ".trace.pt"}) {
            const std::string file = model(name.toStdString() + kind), saved = path("sizes.sondetm");
            const auto original = openedWith(file, model(name.toStdString() + ".npz"), "traced-module");
            QVERIFY(io::saveTracedModule(*original->tracedModule, saved));
            const auto loaded = openedWith(saved, {}), archive = openedWith(file, {});
            const std::vector<Value> given = inputsFor(*loaded, inputs.toStdString());
            const auto [result, error] = resultOf(*loaded, given);
            QVERIFY2(error.empty(), (kind + (' ' + error)).c_str());
            const auto [expected, refused] = resultOf(*archive, given);
            QVERIFY2(refused.empty(), refused.c_str());
            QVERIFY(near(firstTensor(result), firstTensor(expected)));
        }
    }

    void optimizeKeepsTheHierarchy() {
        const trace::EvaluatorScope kernels(document::kernelEvaluator());
        const auto module = net();
        // Statistics that a trained model may have; fresh ones change nothing.
        for (const trace::NamedTensor& tensor : trace::namedTensors(*module)) {
            if (!tensor.path.ends_with("running_mean")) continue;
            tensor.slot->value = vec({0.5F, -0.25F, 1.0F}).tensor();
        }
        const auto made = traced(module, {netInput()});
        QCOMPARE(norms(*made), 2U);
        const auto optimised = document::optimize(*made);
        QVERIFY2(optimised, optimised ? "" : optimised.error().text().c_str());
        QCOMPARE(norms(*made), 2U);
        QCOMPARE(norms(**optimised), 0U);
        trace::ModuleGraph& graph = graphOf(*optimised);
        QVERIFY(graph.validate());
        QCOMPARE(graph.modules("Conv2d").asCount(), 2U);
        QCOMPARE(graph.modules<nn::Conv2d>().asCount(), 2U);
        QVERIFY(named(graph, "block0_out")->expr().innerGraph());
        QVERIFY(named(*named(graph, "block0_out")->expr().innerGraph(), "conv1_out"));
        QVERIFY(near((*optimised)->run({netInput()})->tensor(), made->run({netInput()})->tensor()));
        QVERIFY(io::saveTracedModule(**optimised, path("fused.sondetm")));
        const auto loaded = io::loadTracedModule(path("fused.sondetm"));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE(norms(**loaded), 0U);
        for (const trace::NamedTensor& tensor : trace::namedTensors(**loaded))
            QVERIFY2(!tensor.path.ends_with("running_mean"), tensor.path.c_str());
        QVERIFY(near((*loaded)->run({netInput()})->tensor(), made->run({netInput()})->tensor()));
        // Unknown passes are errors, and so is what would have to change in more than one graph.
        QVERIFY(!document::optimize(*made, {"nope"}));
        // x · 2 in the block and · 3 around it are · 6 in the whole graph, which no graph of a module can hold.
        auto block = lambda("Block", [](Lambda&, std::span<const Var> in) { return in[0] * 2; });
        auto net = lambda("Net", [](Lambda& self, std::span<const Var> in) { return self.use("block")(in[0]) * 3; });
        net->addChild("block", block);
        const auto refused = document::optimize(*traced(net, {vec({1, 2})}), {"fuse-add-mul"});
        QVERIFY(!refused && refused.error().hint.find("sonde save") != std::string::npos);
    }

    /// Weights become constants in the graphs that read them, those of built-in modules too; the hierarchy stays.
    void weightsBecomeConstants_data() {
        QTest::addColumn<QString>("pass");
        QTest::newRow("attr-to-constant") << "attr-to-constant";
        QTest::newRow("fold-constant") << "fold-constant";
    }
    void weightsBecomeConstants() {
        QFETCH(QString, pass);
        const trace::EvaluatorScope kernels(document::kernelEvaluator());
        const auto made = traced(net(), {netInput()});
        const auto optimised = document::optimize(*made, {pass.toStdString()});
        QVERIFY2(optimised, optimised ? "" : optimised.error().text().c_str());
        QVERIFY(graphOf(*optimised).validate());
        QCOMPARE(graphOf(*optimised).modules("Conv2d").asCount(), graphOf(made).modules("Conv2d").asCount());
        QVERIFY(near((*optimised)->run({netInput()})->tensor(), made->run({netInput()})->tensor()));
        const auto done = io::saveTracedModule(**optimised, path("constants.sondetm"));
        QVERIFY2(done, done ? "" : done.error().text().c_str());
        const auto loaded = io::loadTracedModule(path("constants.sondetm"));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QVERIFY(near((*loaded)->run({netInput()})->tensor(), made->run({netInput()})->tensor()));
        // There is nothing left to do.
        const auto document = openedWith(path("constants.sondetm"), {});
        std::size_t attributes = 0;
        for (const graph::ExprId id : document->graph->recursiveOrder(document->graph->mainId())) {
            const graph::Expr& expr = document->graph->expr(id);
            attributes += expr.kind == graph::ExprKind::GetAttr && !expr.target.starts_with("_tensor_constant");
        }
        if (pass == "attr-to-constant") QCOMPARE(attributes, std::size_t(0));
    }

    /// p(w, x) = x - w of a module that is built in, with the weight of another module (weight tying): known weights
    /// keep the other arguments where they are.
    void constantsBeforeInputs() {
        const trace::EvaluatorScope kernels(document::kernelEvaluator());
        auto difference = lambda("Difference", [](Lambda&, std::span<const Var> in) { return in[1] - in[0]; },
                                 {{"w", std::nullopt, false, true}, {"x", std::nullopt, false, true}});
        auto net =
            lambda("Net", [](Lambda& self, std::span<const Var> in) { return self.use("p")(self.own("w"), in[0]); });
        net->parameter("w", vec({1, 2}).tensor());
        net->addChild("p", difference);
        trace::TraceModuleOptions options;
        options.builtins.insert("Difference");
        const auto made = trace::traceModule(net, {vec({5, 9})}, {}, options);
        QVERIFY2(made, made ? "" : made.error().text().c_str());
        const auto optimised = document::optimize(**made, {"attr-to-constant"});
        QVERIFY2(optimised, optimised ? "" : optimised.error().text().c_str());
        QVERIFY(io::saveTracedModule(**optimised, path("tied.sondetm")));
        const auto [result, error] = resultOf(*openedWith(path("tied.sondetm"), {}), {vec({5, 9})});
        QVERIFY2(error.empty(), error.c_str());
        QCOMPARE(numbers(result), (std::vector<double>{4, 7}));
    }

    /// Two blocks with one convolution between them: it is one in the file, too.
    void sharedModulesStayShared() {
        const trace::EvaluatorScope kernels(document::kernelEvaluator());
        const auto conv = std::make_shared<nn::Conv2d>(3, 3, 1);
        const auto block = [&conv] {
            auto made = lambda("Block", [](Lambda& self, std::span<const Var> in) { return self.use("c")(in[0]); });
            made->addChild("c", conv);
            return made;
        };
        auto net =
            lambda("Net", [](Lambda& self, std::span<const Var> in) { return self.use("b")(self.use("a")(in[0])); });
        net->addChild("a", block());
        net->addChild("b", block());
        const auto made = traced(net, {netInput()});
        const auto optimised = document::optimize(*made, {"attr-to-constant"});
        QVERIFY2(optimised, optimised ? "" : optimised.error().text().c_str());
        QVERIFY(io::saveTracedModule(**optimised, path("shared.sondetm")));
        const auto loaded = io::loadTracedModule(path("shared.sondetm"));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QVERIFY((*loaded)->find("a.c") && (*loaded)->find("a.c") == (*loaded)->find("b.c"));
        QVERIFY(near((*loaded)->run({netInput()})->tensor(), made->run({netInput()})->tensor()));
    }

    /// Net{block: Block{d: Dropout}}: (d(x) · 2 · 4 of block) + 1 + 2 is 8 x + 3.
    void otherPassesRunInEachGraph() {
        const trace::EvaluatorScope kernels(document::kernelEvaluator());
        auto block = lambda("Block", [](Lambda& self, std::span<const Var> in) {
            const Var kept = self.use("d")(in[0]);
            return kept * 2 * 4;
        });
        block->addChild("d", std::make_shared<nn::Dropout>(0.5));
        auto net = lambda("Net", [](Lambda& self, std::span<const Var> in) {
            const Var y = self.use("block")(in[0]);
            return y + 1 + 2;
        });
        net->addChild("block", block);
        net->setTraining(false);
        const auto made = traced(net, {vec({1, 2})});
        QCOMPARE(graphOf(made).methods("__add__").asCount() + graphOf(made).methods("__mul__").asCount(), 4U);
        const auto optimised = document::optimize(*made, {"fuse-add-mul", "remove-identity"});
        QVERIFY2(optimised, optimised ? "" : optimised.error().text().c_str());
        trace::ModuleGraph& graph = graphOf(*optimised);
        QVERIFY(graph.validate());
        QCOMPARE(graph.methods("__add__", false).asCount(), 1U);
        QCOMPARE(graph.methods("__mul__").asCount(), 1U);
        QCOMPARE(graph.modules("Dropout").asCount(), 0U);
        QVERIFY(named(graph, "block_out")->expr().innerGraph());
        QCOMPARE(numbers(*(*optimised)->run({vec({1, 2})})), (std::vector<double>{11, 19}));
        QVERIFY(io::saveTracedModule(**optimised, path("graphs.sondetm")));
        const auto loaded = io::loadTracedModule(path("graphs.sondetm"));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE(numbers(*(*loaded)->run({vec({1, 2})})), (std::vector<double>{11, 19}));
        // The module that was given is what it was.
        QCOMPARE(graphOf(made).methods("__mul__").asCount(), 2U);
    }

    /// "<method>_out", as a trace names operations, and not "<method>" of fx.
    void newOperationsAreNamedAsByATrace() {
        const trace::EvaluatorScope kernels(document::kernelEvaluator());
        const auto summed = traced(
            lambda("P", [](Lambda&, std::span<const Var> in) { return (2 + (in[0] + 1)) * 4 * 0.25; }), {vec({0})});
        const auto sum = document::optimize(*summed, {"FuseAddMul"});
        QVERIFY2(sum, sum ? "" : sum.error().text().c_str());
        // 2 + (x + 1) has been "radd_out"; the name of x + 1 is not free before the pass is through.
        COMPARE_TEXT(names(graphOf(*sum).outputs()), "add_out_1");
        COMPARE_TEXT(graphOf(*sum).outputs().front()->qualname(), "P.[method_add]");
        const auto reversed = traced(lambda("R",
                                            [](Lambda&, std::span<const Var> in) {
                                                const Var quarter = (10 - in[0]) / 4;
                                                const Var inverse = 1 / in[0];
                                                return quarter + inverse;
                                            }),
                                     {vec({1})});
        const auto normal = document::optimize(*reversed, {"NormElemWise"});
        QVERIFY2(normal, normal ? "" : normal.error().text().c_str());
        QStringList made;
        for (const trace::TracedExpr* expr : graphOf(*normal).body())
            made << QString::fromStdString(expr->outputs().front()->name());
        QCOMPARE(made.join(' '), QStringLiteral("neg_out add_out_1 mul_out pow_out mul_out_1 add_out"));
        QCOMPARE(numbers(*(*normal)->run({vec({2})})), (std::vector<double>{2.5}));
        // Whatever name the operation had that it stands for.
        const auto renamed =
            traced(lambda("N", [](Lambda&, std::span<const Var> in) { return 2 - in[0]; }), {vec({0})});
        QVERIFY(graphOf(renamed).outputs().front()->setName("total"));
        const auto added = document::optimize(*renamed, {"NormElemWise"});
        QVERIFY2(added, added ? "" : added.error().text().c_str());
        COMPARE_TEXT(names(graphOf(*added).outputs()), "add_out");
    }

    /// relu(x) + relu(x), p − p of a parameter, and what nobody needs.
    void duplicatesAndConstants() {
        const trace::EvaluatorScope kernels(document::kernelEvaluator());
        auto net = lambda("Net", [](Lambda& self, std::span<const Var> in) {
            const Var p = self.own("p");
            const Var a = nn::relu(in[0]);
            const Var b = nn::relu(in[0]);
            return a + b + (p + p);
        });
        net->parameter("p", vec({3, 4}).tensor());
        const auto made = traced(net, {vec({1, -2})});
        const auto merged = document::optimize(*made, {"merge-duplicates"});
        QVERIFY2(merged, merged ? "" : merged.error().text().c_str());
        QCOMPARE(graphOf(*merged).functions("relu").asCount(), 1U);
        const auto folded = document::optimize(**merged, {"fold-constant"});
        QVERIFY2(folded, folded ? "" : folded.error().text().c_str());
        QCOMPARE(graphOf(*folded).methods("__add__").asCount(), 2U);
        for (const auto& module : {*merged, *folded}) {
            QVERIFY(graphOf(module).validate());
            QCOMPARE(numbers(*module->run({vec({1, -2})})), (std::vector<double>{8, 8}));
        }
    }

    /// conv(x) = 2 x + 1, norm(y) = (y - 3) / 2 · 4 + 5 with a variance of 4: 4 x + 1, as modules and as functions.
    void normsJoinFunctionsToo_data() {
        QTest::addColumn<bool>("isConvModule");
        QTest::addColumn<bool>("isNormModule");
        QTest::newRow("functions") << false << false;
        QTest::newRow("a module and a function") << true << false;
        QTest::newRow("a function and a module") << false << true;
        QTest::newRow("modules") << true << true;
    }
    void normsJoinFunctionsToo() {
        QFETCH(bool, isConvModule);
        QFETCH(bool, isNormModule);
        const trace::EvaluatorScope kernels(document::kernelEvaluator());
        auto block = lambda("Block", [=](Lambda& self, std::span<const Var> in) {
            const Var y = isConvModule ? self.use("c")(in[0]) : nn::conv2d(in[0], self.own("w"), self.own("b"));
            if (isNormModule) return self.use("n")(y);
            return nn::batchNorm(y, self.own("mean"), self.own("var"), self.own("gamma"), self.own("beta"), false, 0.1,
                                 0.0);
        });
        const auto one = [](float value) { return vec({value}).tensor(); };
        const auto weight = *one(2).reshaped(tensor::Shape{1, 1, 1, 1});
        if (isConvModule) {
            auto conv = std::make_shared<nn::Conv2d>(1, 1, 1);
            setTensor(*conv, "weight", weight);
            setTensor(*conv, "bias", one(1));
            block->addChild("c", conv);
        } else {
            block->parameter("w", weight);
            block->parameter("b", one(1));
        }
        if (isNormModule) {
            auto norm = std::make_shared<nn::BatchNorm2d>(1, 0.0);
            setTensor(*norm, "running_mean", one(3));
            setTensor(*norm, "running_var", one(4));
            setTensor(*norm, "weight", one(4));
            setTensor(*norm, "bias", one(5));
            block->addChild("n", norm);
        } else {
            block->parameter("mean", one(3));
            block->parameter("var", one(4));
            block->parameter("gamma", one(4));
            block->parameter("beta", one(5));
        }
        auto net = lambda("Net", [](Lambda& self, std::span<const Var> in) { return self.use("block")(in[0]); });
        net->addChild("block", block);
        net->setTraining(false);
        const Value input(*one(10).reshaped(tensor::Shape{1, 1, 1, 1}));
        const auto made = traced(net, {input});
        const auto optimised = document::optimize(*made);
        QVERIFY2(optimised, optimised ? "" : optimised.error().text().c_str());
        trace::ModuleGraph& graph = graphOf(*optimised);
        QVERIFY(graph.validate());
        QCOMPARE(norms(**optimised), 0U);
        QCOMPARE(graph.functions("batch_norm").asCount(), 0U);
        QCOMPARE(graph.functions("conv2d").asCount(), isConvModule ? 0U : 1U);
        QCOMPARE(graph.modules("Conv2d").asCount(), isConvModule ? 1U : 0U);
        QVERIFY(named(graph, "block_out")->expr().innerGraph());
        QCOMPARE(numbers(*(*optimised)->run({input})), (std::vector<double>{41}));
        QVERIFY(io::saveTracedModule(**optimised, path("functions.sondetm")));
        const auto loaded = io::loadTracedModule(path("functions.sondetm"));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE(numbers(*(*loaded)->run({input})), (std::vector<double>{41}));
    }

    /// relu(norm(conv(x)) · 3 + 1), conv(x) = 2 x + 1, norm(y) = y: relu(6 x + 3 + 1), with 6 and 3 in the module.
    void factorsGoIntoModules() {
        const trace::EvaluatorScope kernels(document::kernelEvaluator());
        const auto one = [](float value) { return vec({value}).tensor(); };
        auto block = lambda("Block", [](Lambda& self, std::span<const Var> in) {
            return nn::relu((nn::relu(self.use("n")(self.use("c")(in[0]))) * 3) + 1);
        });
        auto conv = std::make_shared<nn::Conv2d>(1, 1, 1);
        setTensor(*conv, "weight", *one(2).reshaped(tensor::Shape{1, 1, 1, 1}));
        setTensor(*conv, "bias", one(1));
        block->addChild("c", conv);
        block->addChild("n", std::make_shared<nn::BatchNorm2d>(1, 0.0));
        auto net = lambda("Net", [](Lambda& self, std::span<const Var> in) { return self.use("block")(in[0]); });
        net->addChild("block", block);
        net->setTraining(false);
        const Value input(*one(10).reshaped(tensor::Shape{1, 1, 1, 1}));
        const auto made = traced(net, {input});
        QCOMPARE(numbers(*made->run({input})), (std::vector<double>{64}));
        // FuseConvBn comes first, whatever the order, and is told.
        base::Diagnostics findings;
        const auto optimised = document::optimize(*made, {"BackwardFoldScale"}, {}, &findings);
        QVERIFY2(optimised, optimised ? "" : optimised.error().text().c_str());
        QCOMPARE(findings.size(), 1U);
        QVERIFY(findings.front().what.find("fuse-conv-bn") != std::string::npos);
        trace::ModuleGraph& graph = graphOf(*optimised);
        QVERIFY(graph.validate());
        QCOMPARE(norms(**optimised), 0U);
        QCOMPARE(graph.methods("__mul__").asCount(), 0U);
        QCOMPARE(graph.modules("Conv2d").asCount(), 1U);
        QVERIFY(named(graph, "block_out")->expr().innerGraph());
        for (const trace::NamedTensor& tensor : trace::namedTensors(**optimised)) {
            if (tensor.path == "block.c.weight") QCOMPARE(tensor.slot->value.toDouble(0), 6.0);
            if (tensor.path == "block.c.bias") QCOMPARE(tensor.slot->value.toDouble(0), 3.0);
        }
        QCOMPARE(numbers(*(*optimised)->run({input})), (std::vector<double>{64}));
        findings.clear();
        const auto both = document::optimize(*made, {"BackwardFoldScale", "FuseConvBn"}, {}, &findings);
        QVERIFY2(both, both ? "" : both.error().text().c_str());
        QVERIFY(findings.empty());
        QCOMPARE(graphOf(*both).methods("__mul__").asCount(), 0U);
        // The module that was given is what it was.
        QCOMPARE(graphOf(made).methods("__mul__").asCount(), 1U);
    }

    void convolutionsThatAreUsedElsewhere() {
        const trace::EvaluatorScope kernels(document::kernelEvaluator());
        const auto readTwice = traced(convNorm(true), {netInput()});
        const auto kept = document::optimize(*readTwice);
        QVERIFY2(kept, kept ? "" : kept.error().text().c_str());
        QCOMPARE(norms(**kept), 1U);
        // Called twice, with a norm each: the first call gets a convolution of its own, `c_1`.
        const auto calledTwice = traced(convNorm(false), {netInput()});
        const auto split = document::optimize(*calledTwice);
        QVERIFY2(split, split ? "" : split.error().text().c_str());
        QCOMPARE(norms(**split), 0U);
        QVERIFY((*split)->find("c_1") && (*split)->find("c"));
        QVERIFY(graphOf(*split).validate());
        QVERIFY(near((*split)->run({netInput()})->tensor(), calledTwice->run({netInput()})->tensor()));
    }

  private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestSavedTracedModules)

}  // namespace tst_saved_traced_modules

#include "tst_saved_traced_modules.moc"
