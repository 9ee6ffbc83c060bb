// What a model's own code throws, whatever its type, ends no tracer: it is an error that names the module, or makes a
// failed leaf of it. And models that nest or recurse deeply.

#include <QtTest>

#include <new>
#include <stdexcept>

#include "core/document/evaluator.h"
#include "core/exec/runner.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/robust_tracer.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/inline_graph.h"
#include "tests/core/trace/robust_models.h"

namespace tst_model_exceptions {

using namespace sonde;
using namespace robust_models;
using tensor::Tensor;
using tensor::Value;
using trace::Module;
using trace::Tracer;

namespace {

using Thrower = void (*)();

struct Kind {
    const char* name;
    Thrower raise;
    std::string message;  ///< as a robust tracer keeps it
};

/// A class of a model's own that has nothing to say.
struct Speechless : std::exception {
    const char* what() const noexcept override { return nullptr; }
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all{
        {"logic_error", [] { throw std::logic_error("not today"); }, "std::logic_error: not today"},
        {"out_of_range", [] { std::vector<int>().at(3) = 1; }, "std::out_of_range: "},
        {"no text", [] { throw std::runtime_error(""); }, "std::runtime_error"},
        {"null text", [] { throw Speechless(); }, "tst_model_exceptions::(anonymous namespace)::Speechless"},
        {"control characters", [] { throw std::runtime_error("one\ntwo \xff\x1b[31m"); },
         "std::runtime_error: one\\ntwo \\xff\\x1b[31m"},
        {"int", [] { throw 5; }, "int: thrown by the model's own code, not a std::exception"},
        {"text", [] { throw "a text"; }, "char const*: a text"},
        {"string", [] { throw std::string("a string"); }, "std::string: a string"},
        {"bad_alloc", [] { throw std::bad_alloc(); }, "MemoryError: out of memory"},
    };
    return all;
}

/// top: a (Linear), outer: chain of bad (Bad) and b (Linear).
struct Model {
    std::shared_ptr<Module> top, outer, bad;
};
Model model(Thrower raise, bool onValuesOnly = false) {
    Model made;
    made.bad = custom("Bad", [raise, onValuesOnly](Custom&, std::span<const Var> in) {
        if (!onValuesOnly || !in[0].isProxy()) raise();
        return in[0] + 1;
    });
    made.outer = chain("Outer", {{"bad", made.bad}, {"b", linear()}});
    made.top = chain("Top", {{"a", linear()}, {"outer", made.outer}});
    return made;
}

Value ones(const tensor::Shape& shape) {
    Tensor tensor = Tensor::allocate(tensor::DType::Float32, shape).value();
    std::ranges::fill(tensor.mutableSpan<float>(), 1.0F);
    return Value(std::move(tensor));
}

/// `depth` modules, each in the one before, each adds 1.
std::shared_ptr<Module> tower(std::size_t depth) {
    std::shared_ptr<Custom> module = custom("Level", [](Custom&, std::span<const Var> in) { return in[0] + 1; });
    for (std::size_t i = 1; i < depth; ++i) {
        auto above = custom("Level", [](Custom& self, std::span<const Var> in) { return self.at("m")(in[0]) + 1; });
        above->addChild("m", module);
        module = std::move(above);
    }
    return module;
}

double runOf(const std::shared_ptr<const graph::InternalGraph>& graph) {
    const auto plan = exec::Plan::make(graph, {});
    if (!plan) qFatal("%s", plan.error().text().c_str());
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**plan, std::vector<Value>{ones({1})});
    if (recording.error) qFatal("%s", recording.error->text().c_str());
    return recording.outputs.at(0).tensor().toDouble(0);
}

/// Levels that every tracer takes. AddressSanitizer makes each call several times as large, and the stack is no larger.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kDepth = 250;
#else
constexpr std::size_t kDepth = 2000;
#endif

}  // namespace

class TestModelExceptions : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { m_scope = std::make_unique<trace::EvaluatorScope>(document::kernelEvaluator()); }
    void cleanupTestCase() { m_scope.reset(); }
    void cleanup() { QVERIFY(Tracer::active() == nullptr); }

    void modulePathNamesTheModule_data() { rows(); }
    void modulePathNamesTheModule() {
        const Kind& kind = current();
        const Model made = model(kind.raise);
        trace::ModulePathTracer tracer;
        const auto result = tracer.trace(made.top);
        checkError(result, kind);
        QVERIFY(tracer.currentModuleQualifiedName().empty());
        const auto again = tracer.trace(made.outer->children()[1].module);
        QVERIFY2(again, again ? "" : again.error().text().c_str());
    }

    void customNamesTheModule_data() { rows(); }
    void customNamesTheModule() {
        const Kind& kind = current();
        const Model made = model(kind.raise);
        trace::CustomTracer tracer;
        checkError(tracer.traceCustom(made.top), kind);
        QVERIFY(!trace::FunctionSwap::isSwapped("cond"));
        QVERIFY(tracer.traceCustom(custom("Fine", [](Custom&, std::span<const Var> in) { return in[0] * 2; })));
    }

    void tracedModuleNamesTheModule_data() { rows(); }
    void tracedModuleNamesTheModule() {
        const Kind& kind = current();
        const Model made = model(kind.raise);
        checkError(trace::traceModule(made.top, {ones({2, 4})}), kind);
        QVERIFY(trace::traceModule(linear(), {ones({2, 4})}));
    }

    void robustMakesAFailedLeaf_data() { rows(); }
    void robustMakesAFailedLeaf() {
        const Kind& kind = current();
        const Model made = model(kind.raise);
        trace::GraphCollection collection;
        collection.recursiveTrace(made.top);
        const graph::InternalGraph* graph = collection.find(*made.top);
        QVERIFY(graph && graph->findNode("outer_bad").valid());
        QVERIFY(graph->findNode("outer_b").valid());
        QVERIFY(collection.isFailed(*made.bad));
        QVERIFY2(QString::fromStdString(*collection.failureMessage(*made.bad))
                     .startsWith(QString::fromStdString(kind.message)),
                 collection.failureMessage(*made.bad)->c_str());
        QVERIFY(!collection.isFailed(*made.outer) && !collection.isFailed(*made.top));
    }

    /// A caller that handles the exception sees it as it was thrown, in every tracer, and goes on as in eager mode.
    void callersHandleWhatModulesThrow() {
        const auto thrower = [](Thrower raise) {
            return custom("Bad", [raise](Custom&, std::span<const Var> in) {
                raise();
                return in[0];
            });
        };
        const auto handling = [&](Thrower raise) {
            const auto top = custom("Top", [](Custom& self, std::span<const Var> in) {
                try {
                    return self.at("outer")(in[0]) + 1000;
                } catch (int) {
                    return in[0] * 3;
                } catch (const std::out_of_range&) {
                    return in[0] * 4;
                } catch (const std::bad_alloc&) {
                    return in[0] * 5;
                } catch (...) {
                    return in[0] * 6;
                }
            });
            top->addChild("outer", chain("Outer", {{"bad", thrower(raise)}}));  // two levels up
            return top;
        };
        const std::vector<std::pair<Thrower, double>> rows{{[] { throw 5; }, 3},
                                                           {[] { throw std::out_of_range("far"); }, 4},
                                                           {[] { throw std::bad_alloc(); }, 5},
                                                           {[] { throw "text"; }, 6}};
        for (const auto& [raise, factor] : rows) {
            const auto symbolic = trace::ModulePathTracer().trace(handling(raise));
            QVERIFY2(symbolic, symbolic ? "" : symbolic.error().text().c_str());
            QCOMPARE(runOf(*symbolic), factor);
            const auto custom = trace::CustomTracer().traceCustom(handling(raise));
            QVERIFY2(custom, custom ? "" : custom.error().text().c_str());
            QCOMPARE(runOf(*custom), factor);
            const auto model = handling(raise);
            trace::GraphCollection collection;
            collection.recursiveTrace(model);
            QCOMPARE(collection.entries().size(), std::size_t{1});
            QCOMPARE(runOf(collection.entries()[0].graph), factor);
            QVERIFY(!collection.isFailed(*model->child("outer")));
            const auto traced = trace::traceModule(handling(raise), {ones({1})});
            QVERIFY2(traced, traced ? "" : traced.error().text().c_str());
            QCOMPARE((*traced)->run({ones({1})})->tensor().toDouble(0), factor);
        }
    }

    /// What a chain of numbers is made of is looked at without recursion, however long it is.
    void aLongChainOfNumbers() {
        constexpr int kLength = 20'000;
        const auto graph = trace::ModulePathTracer().trace(custom("Chain", [](Custom&, std::span<const Var> in) {
            Var size = in[0].method("size", {Var(0)}, {});
            for (int i = 0; i < kLength; ++i) size = trace::floordiv(size, Var(1));
            return in[0] * size;
        }));
        QVERIFY2(graph, graph ? "" : graph.error().text().c_str());
        QCOMPARE(runOf(*graph), 1.0);
    }

    /// A handler may catch what tracing cannot follow, too. The trace does not go on with what the handler does then.
    void handlersDoNotHideWhatCannotBeFollowed_data() {
        QTest::addColumn<int>("row");
        const char* names[] = {"branch", "number", "length", "iteration", "branch of a child"};
        for (int i = 0; i < 5; ++i) QTest::newRow(names[i]) << i;
    }
    void handlersDoNotHideWhatCannotBeFollowed() {
        QFETCH(int, row);
        const auto deciding = [row](Custom&, std::span<const Var> in) {
            const Var sum = in[0].method("sum");
            if (row == 1) return in[0] * Var(sum.toInt());
            if (row == 2) return in[0] * Var(static_cast<std::int64_t>(in[0].length()));
            if (row == 3) return in[0] * Var(static_cast<std::int64_t>(in[0].iterate().size()));
            if ((sum > 0).toBool()) throw std::logic_error("not today");
            return in[0] * 2;
        };
        const auto handling = [&] {
            const auto top = custom("Top", [=](Custom& self, std::span<const Var> in) {
                try {
                    return row == 4 ? self.at("child")(in[0]) : deciding(self, in);
                } catch (const std::exception&) {
                    return in[0] * 100;
                }
            });
            top->addChild("child", custom("Child", deciding));
            return top;
        };
        const auto symbolic = trace::ModulePathTracer().trace(handling());
        QVERIFY(!symbolic);
        QVERIFY2(symbolic.error().what.find("caught this and went on") != std::string::npos,
                 symbolic.error().what.c_str());
        QVERIFY(!trace::CustomTracer().traceCustom(handling()));
        // Without the value the whole module runs as one call, and its handler handles what it was written for.
        trace::RobustTracer robust;
        const auto model = handling();
        const auto graph = robust.traceRobust(model);
        QVERIFY(row == 4 ? !robust.isFailed(*model) && robust.isFailed(*model->child("child"))
                         : graph->nodeCount() == 0);
        // Where values are known, they are followed, if what the child decided needs no guard in a graph that it has
        // not got. [1] sums up to 1.
        trace::TraceModuleOptions options;
        options.guardsData = true;
        const auto traced = trace::traceModule(handling(), {ones({1})}, {}, options);
        if (row == 4) {
            QVERIFY(!traced);
            return;
        }
        QVERIFY2(traced, traced ? "" : traced.error().text().c_str());
        QCOMPARE((*traced)->run({ones({1})})->tensor().toDouble(0), row == 0 ? 100.0 : 1.0);
    }

    /// What a module has written before it threw is there for a caller that goes on.
    void writesOfAModuleThatThrew() {
        const auto handling = [] {
            const auto top = custom("Top", [](Custom& self, std::span<const Var> in) {
                const Var a = in[0].method("clone");
                try {
                    self.at("child")(a);
                } catch (const std::logic_error&) {
                }
                return a;
            });
            top->addChild("child", custom("Child", [](Custom&, std::span<const Var> in) -> Var {
                              in[0].method("add_", {Var(1)}, {});
                              throw std::logic_error("not today");
                          }));
            return top;
        };
        const auto symbolic = trace::ModulePathTracer().trace(handling());
        QVERIFY2(symbolic, symbolic ? "" : symbolic.error().text().c_str());
        QCOMPARE(runOf(*symbolic), 2.0);
        const auto traced = trace::traceModule(handling(), {ones({1})});
        QVERIFY(!traced);
        QVERIFY2(traced.error().what.find("not today, thrown in child, class Child") != std::string::npos,
                 traced.error().what.c_str());
    }

    /// That a tensor of the model is another one from here on no graph can show; the whole module runs on values.
    void aForwardThatAssignsATensor() {
        const auto assigning = [] {
            const auto top = custom("Top", [](Custom& self, std::span<const Var> in) {
                nn::Attribute w(self.ownTensors()[0].slot);
                const Var before = in[0] * w.read();
                w.setValue(Tensor::of<float>({1}, {10.0F}));
                return before + in[0] * w.read();
            });
            auto slot = std::make_shared<trace::Slot>();
            slot->value = Tensor::of<float>({1}, {2.0F});
            slot->kind = trace::Slot::Kind::Parameter;
            top->addSlot("w", std::move(slot));
            return top;
        };
        const auto symbolic = trace::ModulePathTracer().trace(assigning());
        QVERIFY(!symbolic);
        QVERIFY2(symbolic.error().what.find("assigns another tensor to 'w'") != std::string::npos,
                 symbolic.error().what.c_str());
        QVERIFY(!trace::CustomTracer().traceCustom(assigning()));
        trace::RobustTracer robust;
        const auto model = assigning();
        QCOMPARE(robust.traceRobust(model)->nodeCount(), std::size_t{0});
        const auto opaque = robust.traceOpaque(model);
        QVERIFY2(opaque, opaque ? "" : opaque.error().text().c_str());
        QCOMPARE(runOf(*opaque), 12.0);
    }

    /// A parameter that has to be named is named in the call of a module that runs on values.
    void namedParametersOfOpaqueModules() {
        class Flagged : public Module {
          public:
            std::string className() const override { return "Flagged"; }
            std::vector<trace::ForwardParameter> signature() const override {
                return {{"x", std::nullopt, false}, {"factor", Value::ofInt(3), true}};
            }
            Var forward(std::span<const Var> in) override {
                return in[0].method("sum").toFloat() > 0 ? in[0] * in[1] : in[0];
            }
        };
        const auto graph =
            trace::ModulePathTracer().traceOpaque(std::make_shared<Flagged>(), {{"factor", Value::ofInt(3)}});
        QVERIFY2(graph, graph ? "" : graph.error().text().c_str());
        QCOMPARE(runOf(*graph), 3.0);
    }

    /// What a method tells of a tensor's form is a number, and meets tensors as one.
    void numbersOfMethods() {
        const auto graph = trace::ModulePathTracer().trace(custom("Numbers", [](Custom&, std::span<const Var> in) {
            return in[0] * 2 + in[0].method("dim") - in[0].method("numel");
        }));
        QVERIFY2(graph, graph ? "" : graph.error().text().c_str());
        QCOMPARE(runOf(*graph), 2.0);
    }

    /// What a module collects is a tuple and a dict for it, also where it runs on values.
    void collectedArgumentsOnValues() {
        const Var tuple(Value::tuple({ones({1}), Value::ofInt(7)})),
            dict(Value::dict({{Value(std::string("z")), Value::ofInt(9)}}));
        QCOMPARE(tuple.items().size(), std::size_t{2});
        QCOMPARE(tuple.items()[1].toInt(), std::int64_t{7});
        QCOMPARE(dict.items().at(0).toInt(), std::int64_t{9});
        QCOMPARE(dict.keys().at(0).toString(), std::string("z"));
        QCOMPARE(dict.iterate().at(0).value().toString(), std::string("z"));
        QVERIFY_THROWS_EXCEPTION(trace::TraceError, Var(ones({1})).items());
        QVERIFY_THROWS_EXCEPTION(trace::TraceError, tuple.keys());
    }

    /// What a handler throws in place of what it handled is its own, and named so.
    void aHandlerThatThrowsSomethingElse() {
        const auto top = custom("Top", [](Custom& self, std::span<const Var> in) {
            try {
                return self.at("bad")(in[0]);
            } catch (const std::logic_error&) {
                throw std::runtime_error("the handler's");
            }
        });
        top->addChild(
            "bad", custom("Bad", [](Custom&, std::span<const Var>) -> Var { throw std::logic_error("the child's"); }));
        const auto result = trace::ModulePathTracer().trace(top);
        QVERIFY(!result);
        QCOMPARE(result.error().where, std::string("Top"));
        QCOMPARE(result.error().what, std::string("std::runtime_error: the handler's"));
        trace::RobustTracer robust;
        QCOMPARE(robust.traceRobust(top)->nodeCount(), std::size_t{0});
        QVERIFY(!robust.isFailed(*top->child("bad")));
    }

    void robustRootThatThrows_data() { rows(); }
    void robustRootThatThrows() {
        const Kind& kind = current();
        trace::RobustTracer tracer;
        const Model made = model(kind.raise);
        QCOMPARE(tracer.traceRobust(made.bad)->nodeCount(), std::size_t{0});
        QVERIFY(tracer.isFailed(*made.bad));
        QVERIFY(tracer.traceRobust(custom("Fine", [](Custom&, std::span<const Var> in) { return in[0] * 2; }))
                    ->nodeCount() > 0);
    }

    /// The leaf is called with values when its turn comes; the run ends at its node.
    void aLeafThatThrowsInTheRun_data() { rows(); }
    void aLeafThatThrowsInTheRun() {
        const Kind& kind = current();
        const Model made = model(kind.raise);
        trace::RobustTracer tracer;
        const auto graph = tracer.traceRobust(made.top);
        const auto plan = exec::Plan::make(graph, {});
        QVERIFY(plan);
        exec::Runner runner(1);
        const exec::Recording recording = runner.run(**plan, std::vector<Value>{ones({2, 4})});
        QVERIFY(recording.error);
        QCOMPARE(recording.error->kind, base::ErrorKind::Run);
        const QString text = QString::fromStdString(recording.error->text());
        QVERIFY2(text.contains("outer_bad") && text.contains(QString::fromStdString(kind.message)), qPrintable(text));
    }

    void classesAndSignaturesThatThrow() {
        struct NoClass : nn::Module {
            std::string className() const override { throw 5; }
        };
        struct NoSignature : nn::Module {
            std::string className() const override { return "NoSignature"; }
            std::vector<trace::ForwardParameter> signature() const override {
                throw std::runtime_error("no parameters");
            }
        };
        for (const std::shared_ptr<Module>& module : {std::shared_ptr<Module>(std::make_shared<NoClass>()),
                                                      std::shared_ptr<Module>(std::make_shared<NoSignature>())}) {
            QVERIFY(!trace::ModulePathTracer().trace(module));
            QVERIFY(!trace::CustomTracer().traceCustom(module));
            QVERIFY(!trace::traceModule(module, {ones({1})}));
            trace::GraphCollection collection;
            collection.recursiveTrace(module);
            QCOMPARE(collection.entries().size(), std::size_t{1});
            QVERIFY(!collection.entries()[0].failure.empty());
        }
        QVERIFY(!trace::ModulePathTracer().trace(std::shared_ptr<Module>()));
    }

    /// torch.nn.Module.add_module: KeyError for "", TypeError for what is no module.
    void namesOfChildren() {
        const auto module = chain("Top", {});
        QVERIFY_THROWS_EXCEPTION(trace::TraceError, module->addChild("", linear()));
        QVERIFY_THROWS_EXCEPTION(trace::TraceError, module->addChild("a", nullptr));
        QVERIFY(module->children().empty());
    }

    /// Symbolic tracers write such names as they are; a traced module reads its parts by path, and refuses.
    void namesWithDots() {
        const auto module = chain("Top", {{"a.b", linear()}});
        QVERIFY(trace::ModulePathTracer().trace(module));
        const auto traced = trace::traceModule(module, {ones({2, 4})});
        QVERIFY(!traced && QString::fromStdString(traced.error().what).contains("a.b"));
    }

    void twoThousandLevels() {
        const std::shared_ptr<Module> module = tower(kDepth);
        trace::ModulePathTracer modulePath;
        const auto symbolic = modulePath.trace(module);
        QVERIFY2(symbolic, symbolic ? "" : symbolic.error().text().c_str());
        QCOMPARE(runOf(*symbolic), 1.0 + kDepth);
        QCOMPARE(modulePath.tree().modules().size(), kDepth);
        trace::RobustTracer robust;
        QCOMPARE(runOf(robust.traceRobust(module)), 1.0 + kDepth);
        const auto custom = trace::CustomTracer().traceCustom(module);
        QVERIFY2(custom, custom ? "" : custom.error().text().c_str());
        QCOMPARE(runOf(*custom), 1.0 + kDepth);
    }

    void twoThousandLevelsAsTracedModule() {
        const auto traced = trace::traceModule(tower(kDepth), {ones({1})});
        QVERIFY2(traced, traced ? "" : traced.error().text().c_str());
        const auto inlined = trace::inlineTracedModule(*traced);
        QVERIFY2(inlined, inlined ? "" : inlined.error().text().c_str());
        QCOMPARE(runOf(inlined->graph), 1.0 + kDepth);
        const auto flat = (*traced)->flatten();
        QVERIFY2(flat, flat ? "" : flat.error().text().c_str());
        QCOMPARE((*flat)->run({ones({1})})->tensor().toDouble(0), 1.0 + kDepth);
    }

    /// Each level is a leaf inside of a leaf: beyond a bound the outermost is one opaque call, which runs all the same.
    void twoThousandLeavesInLeaves() {
        trace::ModulePathTracer tracer;
        tracer.addLeafClass("Level");
        const auto graph = tracer.trace(tower(kDepth));
        QVERIFY2(graph, graph ? "" : graph.error().text().c_str());
        QVERIFY(graph.value()->validate());
        QCOMPARE(runOf(*graph), 1.0 + kDepth);
    }

    void tooManyLevels() {
        const std::shared_ptr<Module> module = tower(100'000);
        const auto symbolic = trace::ModulePathTracer().trace(module);
        QVERIFY(!symbolic && !symbolic.error().hint.empty());
        QVERIFY(QString::fromStdString(symbolic.error().what).contains("100000 levels"));
        QVERIFY(!trace::traceModule(module, {ones({1})}));
        trace::RobustTracer robust;
        QCOMPARE(robust.traceRobust(module)->nodeCount(), std::size_t{0});
    }

    void aModuleInItself() {
        const auto module = custom("Circle", [](Custom&, std::span<const Var> in) { return in[0]; });
        const auto below = custom("Below", [](Custom&, std::span<const Var> in) { return in[0]; });
        module->addChild("below", below);
        below->addChild("above", module);
        const auto result = trace::ModulePathTracer().trace(module);
        QVERIFY(!result && QString::fromStdString(result.error().what).contains("part of itself"));
        QVERIFY(!trace::traceModule(module, {ones({1})}));
        trace::GraphCollection collection;
        collection.recursiveTrace(module);
        QVERIFY(!collection.entries().at(0).failure.empty());
        below->addChild("above", linear());  // lets go of each other
    }

    /// The same while it runs: no tracer follows it, and modules that are added may not nest without end either.
    void aForwardThatMakesACircle() {
        const auto circle = [] {
            return custom("Circle", [](Custom& self, std::span<const Var> in) {
                if (!self.child("me")) self.addChild("me", self.shared_from_this());
                return in[0] + 1;
            });
        };
        for (const auto& result :
             {trace::ModulePathTracer().trace(circle()), trace::CustomTracer().traceCustom(circle())}) {
            QVERIFY(!result && QString::fromStdString(result.error().what).contains("part of itself"));
        }
        QVERIFY(!trace::traceModule(circle(), {ones({1})}));
        trace::RobustTracer robust;
        const auto root = circle();
        QCOMPARE(robust.traceRobust(root)->nodeCount(), std::size_t{0});
        const auto grows = custom("Grows", [](Custom& self, std::span<const Var> in) {
            self.addChild("m", tower(5000));
            return in[0] + 1;
        });
        const auto result = trace::ModulePathTracer().trace(grows);
        QVERIFY(!result && QString::fromStdString(result.error().what).contains("levels"));
    }

    /// Calls itself without end: an error, and no overflow of the stack.
    void endlessRecursion() {
        const auto module = custom("Endless", [](Custom& self, std::span<const Var> in) { return self(in[0] + 1); });
        for (const auto& result :
             {trace::ModulePathTracer().trace(module), trace::CustomTracer().traceCustom(module)}) {
            QVERIFY(!result && QString::fromStdString(result.error().what).startsWith("RecursionError"));
            QVERIFY(!result.error().hint.empty());
        }
        QVERIFY(!trace::traceModule(module, {ones({1})}));
        trace::RobustTracer robust;
        QCOMPARE(robust.traceRobust(module)->nodeCount(), std::size_t{0});
        QVERIFY_THROWS_EXCEPTION(trace::TraceError, (*module)(ones({1})));
    }

  private:
    static void rows() {
        QTest::addColumn<int>("kind");
        for (std::size_t i = 0; i < kinds().size(); ++i) QTest::newRow(kinds()[i].name) << static_cast<int>(i);
    }
    static const Kind& current() {
        QFETCH(int, kind);
        return kinds()[static_cast<std::size_t>(kind)];
    }
    template <typename Result>
    static void checkError(const Result& result, const Kind& kind) {
        QVERIFY(!result);
        const base::Error& error = result.error();
        QCOMPARE(QString::fromStdString(error.where), QString("outer.bad, class Bad"));
        const QString expected = QString::fromStdString(kind.message).section(": ", 1);
        QVERIFY2(QString::fromStdString(error.what).contains(expected), error.what.c_str());
    }

    std::unique_ptr<trace::EvaluatorScope> m_scope;
};

QTEST_GUILESS_MAIN(TestModelExceptions)

}  // namespace tst_model_exceptions

#include "tst_model_exceptions.moc"
