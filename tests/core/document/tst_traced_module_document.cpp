// `--tracer traced-module` on built-in models and archives: names, scopes, texts, and values of the engine.

#include <cmath>
#include <filesystem>

#include "core/document/document.h"
#include "core/document/model_passes.h"
#include "core/exec/runner.h"
#include "core/io/traced_module/traced_module_file.h"
#include "core/passes/pass.h"
#include "core/trace/traced_module/inline_graph.h"
#include "tests/support/reference_sets.h"
#include "tests/support/traced_models.h"

namespace tst_traced_module_document {

using namespace sonde;
using namespace sonde::test;
using Shared = std::shared_ptr<const graph::InternalGraph>;

namespace {

std::shared_ptr<const document::Document> opened(const std::string& model, document::OpenOptions options = {}) {
    options.tracer = "traced-module";
    auto document = document::open(model, options);
    if (!document) qWarning("%s", document.error().text().c_str());
    return document ? *document : nullptr;
}

Var neg(const Var& x) { return trace::callFunction(trace::Function{"neg", "neg", "torch.neg"}, {x}); }

Shared inlined(const std::shared_ptr<trace::Module>& module, const Value& input) {
    auto made = trace::inlineTracedModule(traced(module, {input}));
    if (!made) qFatal("%s", made.error().text().c_str());
    return made->graph;
}

/// The graph after a pass; ends the test if it cannot be made.
Shared after(const Shared& graph, const std::string& pass) {
    passes::PassContext context;
    context.evaluate = document::passEvaluator();
    auto result = passes::runPasses(*graph, std::vector<std::string>{pass}, context);
    if (!result) qFatal("%s", result.error().text().c_str());
    return result->graph;
}

std::vector<Value> outputsOf(const Shared& graph, const Value& input) {
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**exec::Plan::make(graph, {}), std::vector<Value>{input});
    if (recording.error) qFatal("%s", recording.error->text().c_str());
    return recording.outputs;
}

bool near(const Value& a, const Value& b) {
    if (a.isListLike()) {
        for (std::size_t i = 0; i < a.items().size(); ++i) {
            if (!near(a.items()[i], b.items()[i])) return false;
        }
        return true;
    }
    if (a.tensor().shape() != b.tensor().shape()) return false;
    for (std::int64_t i = 0; i < a.tensor().numel(); ++i) {
        if (!(std::abs(a.tensor().toDouble(i) - b.tensor().toDouble(i)) <= 1e-4)) return false;
    }
    return true;
}

bool sameValues(const Shared& a, const Shared& b, const Value& input) {
    const auto x = outputsOf(a, input);
    const auto y = outputsOf(b, input);
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!near(x[i], y[i])) return false;
    }
    return true;
}

/// Operators and called classes of the main body, without inputs, constants and the output.
std::string operations(const Shared& graph) {
    std::string result;
    for (graph::ExprId id : graph->main().order) {
        const graph::Expr& expr = graph->expr(id);
        if (expr.kind == graph::ExprKind::CallModule) result += (result.empty() ? "" : " ") + expr.moduleClass;
        else if (!expr.op.name.empty() && expr.kind != graph::ExprKind::Constant)
            result += (result.empty() ? "" : " ") + expr.op.name.substr(0, expr.op.name.find('.'));
    }
    return result;
}

/// x -> then(conv(x), bn).
std::shared_ptr<Lambda> convModel(std::function<Var(const Var&, trace::Module&)> then) {
    auto module = lambda("Conv", [then](Lambda& self, std::span<const Var> in) {
        const Var c = self.use("conv")(in[0]);
        return then(c, *self.child("bn"));
    });
    module->addChild("conv", std::make_shared<nn::Conv2d>(3, 4, 3));
    module->addChild("bn", std::make_shared<nn::BatchNorm2d>(4));
    nn::initialize(*module, 1);
    return module;
}

}  // namespace

class TestTracedModuleDocument : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { m_scope = std::make_unique<trace::EvaluatorScope>(document::kernelEvaluator()); }
    void cleanupTestCase() { m_scope.reset(); }

    /// The archive says of idx only that it is a tensor. The layers take two dimensions: an embedding, and a sum with
    /// one row for each position.
    void refusalsNameTheRankThatTheLayersTake() {
        const std::string model = SONDE_TEST_DATA "/models/gpt_mini.script.pt";
        document::OpenOptions options;
        options.tracer = "traced-module";
        const auto without = document::open(model, options);
        QVERIFY(!without);
        const QString hint = QString::fromStdString(without.error().hint);
        QVERIFY2(hint.startsWith("its layers take int64[idx.0,idx.1] (2 dimensions); provide an example: "),
                 qPrintable(hint));
        options.inputData = hint.section('\'', 1, 1).toStdString();
        QVERIFY2(options.inputData.starts_with("idx:#rand("), options.inputData.c_str());
        const auto advised = document::open(model, options);
        QVERIFY2(advised.has_value(), advised ? "" : advised.error().text().c_str());
        const std::string told =
            "the layers take int64[idx.0,idx.1] (2 dimensions) for input 'idx', the example is int64[3]";
        options.inputData = "[1,2,3]";
        const auto wrong = document::open(model, options);
        QVERIFY(!wrong);
        QVERIFY2(wrong.error().hint.ends_with(told), wrong.error().hint.c_str());
        options.tracer.clear();
        const auto followed = document::open(model, options);
        QVERIFY2(followed.has_value(), followed ? "" : followed.error().text().c_str());
        QCOMPARE((*followed)->diagnostics.front().what, told);
        options.inputData = "[[1,2,3]]";
        const auto right = document::open(model, options);
        QVERIFY(right.has_value());
        for (const base::Diagnostic& finding : (*right)->diagnostics) QVERIFY(finding.what != told);
    }

    /// Its first layer takes 8 features; what follows decides by their values.
    void refusalsNameTheSizesThatTheLayersTake() {
        document::OpenOptions options;
        options.tracer = "traced-module";
        options.inputData = "#rand(0,1,2,3)";
        const auto wrong = document::open(SONDE_TEST_DATA "/models/control_flow.script.pt", options);
        QVERIFY(!wrong);
        QVERIFY2(wrong.error().hint.find("the layers take float32[") != std::string::npos &&
                     wrong.error().hint.ends_with("for input 'x', the example is float32[2,3]"),
                 wrong.error().commandLineText().c_str());
        QVERIFY2(wrong.error().what.find("a value inside is unknown") == std::string::npos, wrong.error().what.c_str());
    }

    void namesOfABuiltInModel() {
        const auto document = opened("zoo:resnet18");
        QVERIFY(document);
        QVERIFY(document->graph->validate());
        QVERIFY(document->graph->findNode("conv1_out").valid());
        QVERIFY(document->graph->findNode("layer1__0_conv1_out").valid());
        QVERIFY(document->text.find("_layer1.Graph (self, input_1) {") != std::string::npos);
        document::OpenOptions flat;
        flat.flatten = true;
        const auto flattened = opened("zoo:resnet18", flat);
        QVERIFY(flattened);
        QCOMPARE(flattened->graph->scopeCount(), 1U);
        QCOMPARE(flattened->graph->exprCount() > 60U, true);
    }

    void case24_passes() {
        const Value x = vec({-2, 0, 5});
        const Shared arithmetic =
            inlined(lambda("A", [](Lambda&, std::span<const Var> in) { return (in[0] - 3) / 4; }), x);
        const Shared normal = after(arithmetic, "norm-elem-wise");
        COMPARE_TEXT(operations(normal), "add mul");
        const Shared reflected = inlined(lambda("B", [](Lambda&, std::span<const Var> in) { return 2 - in[0]; }), x);
        const Shared negative = after(reflected, "norm-elem-wise");
        QVERIFY(negative->findNode("neg_out").valid() && negative->findNode("add_out").valid());
        QVERIFY(sameValues(arithmetic, normal, x));
        const Shared twice = inlined(lambda("N", [](Lambda&, std::span<const Var> in) { return neg(neg(in[0])); }), x);
        COMPARE_TEXT(operations(after(twice, "fuse-add-mul")), "");
        const Shared negated = inlined(lambda("M", [](Lambda&, std::span<const Var> in) { return neg(in[0] * 3); }), x);
        COMPARE_TEXT(operations(after(negated, "fuse-add-mul")), "mul");
        QVERIFY(sameValues(negated, after(negated, "fuse-add-mul"), x));

        const Shared blocks = inlined(net(), netInput());
        const Shared fused = after(blocks, "fuse-conv-bn");
        QVERIFY(operations(blocks).find("BatchNorm2d") != std::string::npos);
        QVERIFY2(operations(fused).find("BatchNorm2d") == std::string::npos, operations(fused).c_str());
        QVERIFY(sameValues(blocks, fused, netInput()));
        // y = relu(conv); the factor behind it moves into the weight.
        const Shared scaled = inlined(convModel([](const Var& c, trace::Module&) {
                                          const Var r = nn::relu(c);
                                          return ((r + 3) + (r + 4)) * 3;
                                      }),
                                      netInput());
        const Shared folded = after(scaled, "backward-fold-scale");
        QVERIFY2(operations(folded).find("mul") == std::string::npos, operations(folded).c_str());
        QVERIFY(sameValues(scaled, folded, netInput()));
    }

    void case25_passesKeepValues() {
        const auto check = [](std::function<Var(const Var&, trace::Module&)> then, const std::string& pass) {
            const Shared before = inlined(convModel(std::move(then)), netInput());
            return sameValues(before, after(before, pass), netInput());
        };
        QVERIFY(check([](const Var& c, trace::Module&) { return c * 2 + c * 3; }, "backward-fold-scale"));
        QVERIFY(check([](const Var& c, trace::Module&) { return Var::tuple({c, c * 2}); }, "backward-fold-scale"));
        QVERIFY(check([](const Var& c, trace::Module& bn) { return Var::tuple({c, bn(c)}); }, "fuse-conv-bn"));
    }

    /// What --save writes opens as it was, with the same graphs and values, and can be traced in other ways.
    void savedModulesAreDocuments() {
        const QTemporaryDir folder;
        const std::string file = folder.filePath("unet.sondetm").toStdString();
        const auto original = opened("zoo:unet_small");
        QVERIFY(original && original->tracedModule);
        QVERIFY(io::saveTracedModule(*original->tracedModule, file));
        const auto saved = document::open(file);
        QVERIFY2(saved, saved ? "" : saved.error().text().c_str());
        QCOMPARE((*saved)->format, std::string("TracedModule"));
        QCOMPARE((*saved)->text, original->text);
        QCOMPARE(graph::printed(*(*saved)->graph), graph::printed(*original->graph));
        QCOMPARE((*saved)->inputs.size(), original->inputs.size());
        const Value x = ramp(*original->graph->node(original->inputs.front().node).type.staticShape());
        QVERIFY(sameValues(original->graph, (*saved)->graph, x));
        document::OpenOptions options;
        options.tracer = "module-path";
        const auto retraced = document::open(file, options);
        QVERIFY2(retraced, retraced ? "" : retraced.error().text().c_str());
        QVERIFY(!(*retraced)->tracedModule);
        QVERIFY(sameValues(original->graph, (*retraced)->graph, x));
        options.tracer.clear();
        options.flatten = true;
        const auto flat = document::open(file, options);
        QVERIFY2(flat, flat ? "" : flat.error().text().c_str());
        QCOMPARE((*flat)->graph->scopeCount(), 1U);
        QVERIFY(sameValues(original->graph, (*flat)->graph, x));
        QFile cut(QString::fromStdString(file));
        QVERIFY(cut.resize(cut.size() / 2));
        const auto damaged = document::open(file);
        QVERIFY(!damaged);
        QCOMPARE(damaged.error().exitStatus(), 3);
    }

    void withoutAnExampleAnArchiveIsAUsageError() {
        const std::filesystem::path models = test::referenceModels().toStdString();
        document::OpenOptions options;
        options.tracer = "traced-module";
        const auto document = document::open((models / "mlp_functional.trace.pt").string(), options);
        QVERIFY(!document);
        QCOMPARE(document.error().kind, base::ErrorKind::Usage);
        QVERIFY(document.error().hint.find("--example") != std::string::npos);
    }

  private:
    std::unique_ptr<trace::EvaluatorScope> m_scope;
};

QTEST_GUILESS_MAIN(TestTracedModuleDocument)

}  // namespace tst_traced_module_document

#include "tst_traced_module_document.moc"
