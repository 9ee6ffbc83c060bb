// Sizes in traced modules: questions for them are expressions of the graph, and where one became a plain number of the
// program a guard stands that ends a run with another size by name. Expected numbers are worked by hand.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/graph/guard.h"
#include "core/io/traced_module/traced_module_file.h"
#include "core/trace/traced_module/inline_graph.h"
#include "tests/support/traced_models.h"

namespace tst_traced_sizes {

using namespace sonde;
using namespace sonde::test;
using Ints = std::vector<std::int64_t>;

namespace {

using Body = std::function<Var(const Var&)>;

std::shared_ptr<Lambda> function(Body body) {
    return lambda("Net", [body = std::move(body)](Lambda&, std::span<const Var> in) { return body(in[0]); });
}

/// As `sonde run --tracer traced-module` does it: the graph in one piece, run by the engine.
exec::Recording engineRun(const std::shared_ptr<trace::TracedModule>& module, const Value& input) {
    auto inlined = trace::inlineTracedModule(module);
    if (!inlined) qFatal("%s", inlined.error().text().c_str());
    exec::Runner runner(1);
    return runner.run(**exec::Plan::make(inlined->graph, {}), std::vector<Value>{input});
}

Ints shapeOf(const Value& value) { return value.tensor().shape().dims(); }

}  // namespace

class TestTracedSizes : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { m_scope = std::make_unique<trace::EvaluatorScope>(document::kernelEvaluator()); }
    void cleanupTestCase() { m_scope.reset(); }

    /// Traced with float32[1,2,3], run with float32[4,2,3].
    void otherSizesWork_data() {
        QTest::addColumn<int>("program");
        QTest::addColumn<QList<qint64>>("expected");
        for (std::size_t i = 0; i < programs().size(); ++i) {
            QTest::newRow(programs()[i].name) << static_cast<int>(i) << programs()[i].expected;
        }
    }
    void otherSizesWork() {
        QFETCH(int, program);
        QFETCH(QList<qint64>, expected);
        const auto module = traced(function(programs()[static_cast<std::size_t>(program)].body), {ramp({1, 2, 3})});
        QVERIFY(graphOf(module).validate());
        const Ints wanted(expected.begin(), expected.end());
        const auto eager = module->run({ramp({4, 2, 3})});
        QVERIFY2(eager, eager ? "" : eager.error().text().c_str());
        QCOMPARE(shapeOf(*eager), wanted);
        const exec::Recording recording = engineRun(module, ramp({4, 2, 3}));
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        QCOMPARE(shapeOf(recording.outputs[0]), wanted);
        const auto flat = module->flatten();
        QVERIFY(flat);
        QCOMPARE(shapeOf(*(*flat)->run({ramp({4, 2, 3})})), wanted);
    }

    void queriesAreApplyNodes() {
        const auto module = traced(function([](const Var& x) {
                                       return nn::reshape(x, {nn::size(x, 0), -1});
                                   }),
                                   {ramp({1, 4, 6})});
        COMPARE_TEXT(
            graphOf(module).text(),
            "Net.Graph (self, x) {\n\t%2:\tsize_out = size(x, 0, )\n\t%3:\treshape_out = x.reshape([size_out, -1], )\n"
            "\treturn reshape_out\n}\n");
        COMPARE_TEXT(named(graphOf(module), "size_out")->qualname(), "Net.[def_size]");
        QCOMPARE(shapeOf(*module->run({ramp({4, 4, 6})})), (Ints{4, 24}));
    }

    /// Weights have the same shape in every run: their sizes are plain numbers, without a node and without a guard.
    void sizesOfWeightsAreNumbers() {
        auto net = lambda("Net", [](Lambda& self, std::span<const Var> in) {
            const Var w = self.own("w");
            return nn::size(w, 0).toInt() == 3 ? in[0] * nn::size(w, 1) : in[0];
        });
        net->parameter("w", ramp({3, 5}).tensor());
        const auto module = traced(net, {vec({1, 2})});
        COMPARE_TEXT(graphOf(module).text(),
                     "Net.Graph (self, x) {\n\t%2:\tmul_out = x.__mul__(5, )\n\treturn mul_out\n}\n");
    }

    void plainNumbersAreGuarded_data() {
        QTest::addColumn<int>("use");
        QTest::addColumn<QString>("message");
        for (std::size_t i = 0; i < uses().size(); ++i)
            QTest::newRow(uses()[i].name) << static_cast<int>(i) << QString(uses()[i].message);
    }
    void plainNumbersAreGuarded() {
        QFETCH(int, use);
        QFETCH(QString, message);
        const auto module = traced(function(uses()[static_cast<std::size_t>(use)].body), {ramp({1, 2, 3})});
        const Value same = ramp({1, 2, 3}), other = ramp({4, 2, 3});
        QVERIFY(module->run({same}));
        const auto eager = module->run({other});
        QVERIFY2(!eager && QString::fromStdString(eager.error().text()).contains(message),
                 eager ? "it ran" : eager.error().text().c_str());
        QVERIFY(!engineRun(module, same).error);
        const exec::Recording recording = engineRun(module, other);
        QVERIFY2(recording.error && QString::fromStdString(recording.error->text()).contains(message),
                 recording.error ? recording.error->text().c_str() : "it ran");
        QCOMPARE(recording.error->kind, base::ErrorKind::Run);
        const auto flat = module->flatten();
        QVERIFY(flat && !(*flat)->run({other}));
        QVERIFY(!module->clone()->run({other}));
    }

    /// A size that is an argument of a module is an input of its graph, and any will do.
    void sizesAsArguments() {
        auto inner = lambda("Inner",
                            [](Lambda&, std::span<const Var> in) {
                                return nn::reshape(in[0], {in[1], -1});
                            },
                            {{"x", std::nullopt, false, true}, {"n", std::nullopt, false}});
        auto net = lambda(
            "Net", [](Lambda& self, std::span<const Var> in) { return self.use("inner")(in[0], nn::size(in[0], 0)); });
        net->addChild("inner", inner);
        const auto module = traced(net, {ramp({1, 2, 3})});
        QCOMPARE(shapeOf(*module->run({ramp({4, 2, 3})})), (Ints{4, 6}));
        QCOMPARE(shapeOf(engineRun(module, ramp({4, 2, 3})).outputs[0]), (Ints{4, 6}));
        const auto* below = dynamic_cast<const trace::TracedModule*>(module->child("inner"));
        QVERIFY(below);
        COMPARE_TEXT(below->entries()[0].argDef.text(), "Module, Tensor, Number");
        // Traced once more, and through a symbolic tracer.
        const auto again = trace::traceModule(module, {ramp({2, 2, 3})});
        QVERIFY2(again, again ? "" : again.error().text().c_str());
        QCOMPARE(shapeOf(*(*again)->run({ramp({4, 2, 3})})), (Ints{4, 6}));
    }

    void filesKeepSizesAndGuards() {
        const auto module = traced(function([](const Var& x) {
                                       const Var wide = nn::reshape(x, {nn::size(x, 0), -1});
                                       return nn::size(x, 2).toInt() > 2 ? wide + nn::size(x, 0) : wide;
                                   }),
                                   {ramp({1, 2, 3})});
        QTemporaryDir folder;
        const std::string path = folder.filePath("net.tm").toStdString();
        QVERIFY(io::saveTracedModule(*module, path));
        const auto loaded = io::loadTracedModule(path);
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        COMPARE_TEXT(graphOf(*loaded).text(), graphOf(module).text());
        QCOMPARE(shapeOf(*(*loaded)->run({ramp({4, 2, 3})})), (Ints{4, 6}));
        const auto other = (*loaded)->run({ramp({4, 2, 2})});
        QVERIFY(!other && QString::fromStdString(other.error().text()).contains("traced with size(2) = 3 of x, got 2"));
    }

    void resultsAreTensors() {
        const auto result =
            trace::traceModule(function([](const Var& x) { return nn::size(x, 0); }), {ramp({1, 2, 3})});
        QVERIFY(!result && QString::fromStdString(result.error().what).contains("in return values"));
    }

  private:
    struct Program {
        const char* name;
        Body body;
        QList<qint64> expected;
    };
    static const std::vector<Program>& programs() {
        // clang-format off
        static const std::vector<Program> all{
            {"size in reshape", [](const Var& x) { return nn::reshape(x, {nn::size(x, 0), -1}); }, {4, 6}},
            {"arithmetic", [](const Var& x) { return nn::reshape(x, {nn::size(x, 0) * nn::size(x, 1), nn::size(x, 2)}); }, {8, 3}},
            {"floordiv", [](const Var& x) { return nn::reshape(x, {floordiv(x.method("numel"), 3), 3}); }, {8, 3}},
            {"shape attribute", [](const Var& x) { return nn::reshape(x, {x.attr("shape")[0], -1}); }, {4, 6}},
            {"whole shape", [](const Var& x) { return nn::reshapeTo(nn::reshape(x, {-1}), x.attr("shape")); }, {4, 2, 3}},
            {"last of a size", [](const Var& x) { return nn::reshape(x, {-1, nn::size(x)[-1]}); }, {8, 3}},
            {"unpacked size", [](const Var& x) {
                 const std::vector<Var> dims = nn::size(x).unpack(3);
                 return nn::reshape(x, {dims[1], dims[0] * dims[2]});
             }, {2, 12}},
            {"arange", [](const Var& x) { return nn::arange(0, nn::size(x, 0), 1); }, {4}},
            {"slice", [](const Var& x) { return x[Var::slice(nn::size(x, 0) - 1, Var())]; }, {1, 2, 3}},
            {"expand", [](const Var& x) { return nn::expand(x[Var::slice(0, 1)], {nn::size(x, 0), 2, 3}); }, {4, 2, 3}},
            {"narrow", [](const Var& x) { return nn::narrow(nn::cat({x, x}, 0), 0, nn::size(x, 0), nn::size(x, 0)); }, {4, 2, 3}},
            {"iterated shape", [](const Var& x) {
                 Var count = 1;
                 for (const Var& dim : nn::size(x).iterate()) count = count * dim;
                 return nn::reshape(x, {count});
             }, {24}},
        };
        // clang-format on
        return all;
    }
    struct Use {
        const char* name;
        Body body;
        const char* message;
    };
    static const std::vector<Use>& uses() {
        static const std::vector<Use> all{
            {"int", [](const Var& x) { return x * nn::size(x, 0).toInt(); }, "traced with size(0) = 1 of x, got 4"},
            {"array size",
             [](const Var& x) {
                 std::vector<Var> parts(static_cast<std::size_t>(nn::size(x, 0).toInt()), x);
                 return nn::cat(std::move(parts), 0);
             },
             "traced with size(0) = 1 of x, got 4"},
            {"branch", [](const Var& x) { return nn::size(x, 0) > 2 ? x + 1 : x - 1; },
             "traced with x.size(0) > 2 = false, got true"},
            {"loop",
             [](const Var& x) {
                 Var y = x;
                 for (std::int64_t i = 0; i < nn::size(x, 0).toInt(); ++i) y = y + 1;
                 return y;
             },
             "traced with size(0) = 1 of x, got 4"},
            {"float", [](const Var& x) { return x * (nn::size(x, 0) * 2).toFloat(); }, "traced with x.size(0) * 2 = 2"},
            {"length", [](const Var& x) { return x * static_cast<std::int64_t>(x.length()); },
             "traced with size(0) = 1 of x, got 4"},
            {"iteration",
             [](const Var& x) {
                 Var y = 0;
                 for (const Var& row : x.iterate()) y = y + row;
                 return y + 0 * x[0];
             },
             "traced with size(0) = 1 of x, got 4"},
            {"of a value inside",
             [](const Var& x) {
                 const Var y = nn::relu(x);
                 return y * nn::size(y, 0).toInt();
             },
             "traced with size(0) = 1 of relu_out, got 4"},
            {"numel", [](const Var& x) { return x * x.method("numel").toInt(); },
             "traced with numel() = 6 of x, got 24"},
        };
        return all;
    }
    std::unique_ptr<trace::EvaluatorScope> m_scope;
};

QTEST_GUILESS_MAIN(TestTracedSizes)

}  // namespace tst_traced_sizes

#include "tst_traced_sizes.moc"
