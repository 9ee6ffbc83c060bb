// Decisions on the data of tensors in traced modules: with `guardsData` (as the program traces) each is a guard, at
// which a run that decides otherwise ends. Expected numbers are worked by hand.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/io/traced_module/traced_module_file.h"
#include "core/trace/traced_module/inline_graph.h"
#include "tests/support/script_archive.h"
#include "tests/support/traced_models.h"

namespace tst_traced_decisions {

using namespace sonde;
using namespace sonde::test;

namespace {

using Body = std::function<Var(const Var&)>;

std::shared_ptr<Lambda> function(Body body) {
    return lambda("Net", [body = std::move(body)](Lambda&, std::span<const Var> in) { return body(in[0]); });
}

std::shared_ptr<trace::TracedModule> guarded(const std::shared_ptr<Lambda>& net, const Value& example) {
    trace::TraceModuleOptions options;
    options.guardsData = true;
    auto module = trace::traceModule(net, {example}, {}, options);
    if (!module) qFatal("%s", module.error().text().c_str());
    return *module;
}

Var call(std::string_view name, std::vector<Var> arguments, bool makesTensor = true) {
    return trace::callFunction(trace::Function{name, name, name, makesTensor}, std::move(arguments));
}

/// The error of a run by the engine, or nothing.
QString engineError(const std::shared_ptr<trace::TracedModule>& module, const Value& input) {
    auto inlined = trace::inlineTracedModule(module);
    if (!inlined) qFatal("%s", inlined.error().text().c_str());
    exec::Runner runner(1);
    const auto recording = runner.run(**exec::Plan::make(inlined->graph, {}), std::vector<Value>{input});
    return recording.error ? QString::fromStdString(recording.error->text()) : QString();
}

}  // namespace

class TestTracedDecisions : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { m_scope = std::make_unique<trace::EvaluatorScope>(document::kernelEvaluator()); }
    void cleanupTestCase() { m_scope.reset(); }

    /// Traced with [1, 2, 0], run with the other input.
    void decisionsAreGuards_data() {
        QTest::addColumn<int>("program");
        QTest::addColumn<QString>("message");
        for (std::size_t i = 0; i < programs().size(); ++i)
            QTest::newRow(programs()[i].name) << static_cast<int>(i) << QString(programs()[i].message);
    }
    void decisionsAreGuards() {
        QFETCH(int, program);
        QFETCH(QString, message);
        const Program& tried = programs()[static_cast<std::size_t>(program)];
        const Value same = vec({1, 2, 0}), other = vec(tried.other);
        const auto module = guarded(function(tried.body), same);
        QVERIFY(graphOf(module).validate());
        QVERIFY(module->run({same}));
        QCOMPARE(engineError(module, same), QString());
        const auto eager = module->run({other});
        QVERIFY2(!eager && QString::fromStdString(eager.error().text()).contains(message),
                 eager ? "it ran" : eager.error().text().c_str());
        QVERIFY2(engineError(module, other).contains(message), qPrintable(engineError(module, other)));
        const auto flat = module->flatten();
        QVERIFY(flat && (*flat)->run({same}) && !(*flat)->run({other}));
        QVERIFY(!module->clone()->run({other}));
        QTemporaryDir folder;
        const std::string path = folder.filePath("net.tm").toStdString();
        QVERIFY(io::saveTracedModule(*module, path));
        const auto loaded = io::loadTracedModule(path);
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        COMPARE_TEXT(graphOf(*loaded).text(), graphOf(module).text());
        QVERIFY((*loaded)->run({same}) && !(*loaded)->run({other}));
    }

    /// What asks for the type alone, and what never leaves tensors, is no decision.
    void otherwiseNothingChanges() {
        const auto body = [](const Var& x) {
            return call("is_floating_point", {x}, false).toBool() ? nn::relu(x) * nn::sum(x) : x;
        };
        const auto module = guarded(function(body), vec({1, 2, 0}));
        COMPARE_TEXT(graphOf(module).text(), graphOf(traced(function(body), {vec({1, 2, 0})})).text());
        QCOMPARE(numbers(*module->run({vec({-5, 1, 2})})), (std::vector<double>{0, -2, -4}));
    }

    /// A tensor that a child took from further out is a constant there.
    void capturedTensorsAreGuarded() {
        auto captured = std::make_shared<Var>();
        auto inner = lambda("Inner", [captured](Lambda&, std::span<const Var> in) { return in[0] + *captured; });
        auto net = lambda("Net", [captured](Lambda& self, std::span<const Var> in) {
            *captured = in[0] * 2;
            return self.use("inner")(in[0]);
        });
        net->addChild("inner", inner);
        const auto module = guarded(net, vec({1, 2}));
        *captured = Var();
        QCOMPARE(numbers(*module->run({vec({1, 2})})), (std::vector<double>{3, 6}));
        const auto other = module->run({vec({5, 2})});
        QVERIFY(!other && QString::fromStdString(other.error().text()).contains("kept 'mul_out'"));
        QVERIFY(engineError(module, vec({5, 2})).contains("kept 'mul_out'"));
    }

    /// How many parts there are is decided by the data (two elements of the example are not 0), or by the size.
    void numbersOfPartsAreGuarded() {
        const auto sumOfRows = [](const Var& x) {
            Var total = nn::sum(x) * 0;
            const Var rows = call("unbind.int", {call("nonzero", {x})});
            for (const Var& row : rows.items()) total = total + nn::sum(row);
            return total;
        };
        const auto module = guarded(function(sumOfRows), vec({1, 2, 0}));
        QCOMPARE(engineError(module, vec({0, 1, 7})), QString());
        QVERIFY(engineError(module, vec({1, 2, 3})).contains("traced with 2 parts of nonzero_out, got 3"));
        QVERIFY(!module->run({vec({1, 2, 3})}));
        const auto lastOf = [](std::string_view op, std::int64_t number) {
            return function([op, number](const Var& x) {
                const Var parts = call(op, {x, Var(number)});
                return parts.items().back();
            });
        };
        // Two elements have two parts of one; of three parts that are asked for there may be three.
        QVERIFY(engineError(guarded(lastOf("chunk", 3), vec({1, 2})), vec({1, 2, 3})).contains("got 3"));
        QCOMPARE(engineError(guarded(lastOf("chunk", 2), vec({1, 2})), vec({1, 2, 3})), QString());
        QVERIFY(engineError(guarded(lastOf("split.Tensor", 1), vec({1, 2})), vec({1, 2, 3})).contains("got 3"));
    }

    /// An element of a vector is a tensor, whatever takes numbers.
    void elementsAreTensors() {
        const auto body = [](const Var& x) {
            const Var y = x.method("clone");
            y[0].method("add_", {1}, {});
            return y;
        };
        QCOMPARE(numbers(*guarded(function(body), vec({1, 2}))->run({vec({5, 6})})), (std::vector<double>{6, 6}));
    }

    /// As the program opens an archive: the guard says where the decision is in its source.
    void archivesSayWhere() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("net.pt").toStdString();
        const std::string code =
            "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
            "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
            "    if bool(torch.gt(torch.sum(x), 0)):\n      pass\n    else:\n"
            "      ops.prim.RaiseException(\"AssertionError: sum must be positive\")\n"
            "    return torch.mul(x, 2)\n";
        const std::string state = pickle::text("training") + '\x89';
        writeRecords(path, {{"data.pkl", pickle::file(pickle::instance("__torch__", "M", state))},
                            {"code/__torch__.py", code},
                            {"constants.pkl", pickle::file(")")},
                            {"version", "3\n"}});
        document::OpenOptions options;
        options.tracer = "traced-module";
        options.inputData = "x:[1.,2.]";
        const auto document = document::open(path, options);
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        exec::Runner runner(1);
        const auto plan = exec::Plan::make((*document)->graph, {});
        QVERIFY(!runner.run(**plan, std::vector<Value>{vec({1, 2})}).error);
        const auto recording = runner.run(**plan, std::vector<Value>{vec({-1, -2})});
        QVERIFY(recording.error);
        const QString error = QString::fromStdString(recording.error->text());
        QVERIFY2(error.contains("took the branch because sum(x) > 0 was true (code/__torch__.py:7), expected true but "
                                "got false"),
                 qPrintable(error));
    }

  private:
    struct Program {
        const char* name;
        Body body;
        std::vector<float> other;
        const char* message;
    };
    static const std::vector<Program>& programs() {
        static const std::vector<Program> all{
            {"branch",
             [](const Var& x) { return nn::sum(x) > Var(0) ? x * 2 : x * 3; },
             {-1, -2, 0},
             "took the branch because sum(x) > 0 was true, expected true but got false"},
            {"loop count",
             [](const Var& x) {
                 Var y = x;
                 for (std::int64_t i = 0; i < x[1].toInt(); ++i) y = y + 1;
                 return y;
             },
             {1, 3, 0},
             "as the integer 2, expected 2 but got 3"},
            {"while",
             [](const Var& x) {
                 Var y = x;
                 while (nn::sum(y) > Var(1)) y = y - 1;
                 return y;
             },
             {5, 5, 5},
             "took the branch because"},
            {"float", [](const Var& x) { return x * nn::sum(x).toFloat(); }, {1, 2, 1}, "as the number 3"},
            {"item",
             [](const Var& x) { return x * call("item", {nn::sum(x)}, false).toFloat(); },
             {1, 2, 1},
             "used item(sum(x)) as the number 3, expected 3 but got 4"},
            {"equal",
             [](const Var& x) {
                 return call("equal", {x, nn::relu(x)}, false).toBool() ? x * 2 : x;
             },
             {1, -2, 0},
             "took the branch because equal(x, relu(x)) was true"},
            {"assertion",
             [](const Var& x) {
                 trace::callFunction(trace::Function{"_assert", "_assert", "torch._assert", false, "prim"},
                                     {nn::sum(x) > Var(0), Var("sum must be positive")});
                 return x * 2;
             },
             {-1, -2, 0},
             "sum must be positive"},
            {"length",
             [](const Var& x) { return x * static_cast<std::int64_t>(call("nonzero", {x}).length()); },
             {1, 2, 3},
             "traced with size(0) = 2 of nonzero_out, got 3"},
        };
        return all;
    }
    std::unique_ptr<trace::EvaluatorScope> m_scope;
};

QTEST_GUILESS_MAIN(TestTracedDecisions)

}  // namespace tst_traced_decisions

#include "tst_traced_decisions.moc"
