// In-place operators and what shares memory: each program at once and under every tracer, run plain and with every node
// watched. Expected numbers are worked by hand after PyTorch's semantics. A tracer may refuse; it may not give other
// numbers.

#include <QtTest>

#include "core/nn/functional.h"
#include "core/passes/inplace.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/robust_tracer.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/inline_graph.h"
#include "tests/core/trace/in_place_programs.h"

namespace tst_in_place {

using namespace sonde;
using namespace sonde::test;
using namespace sonde::test::in_place;
using nn::Var;
using tensor::Value;

namespace {

Value copyOf(const Value& value) { return Value(*value.tensor().clone()); }

/// Numbers of the first output, run plain and with everything watched; empty (and `why`) if it fails.
Numbers ran(const std::shared_ptr<const graph::InternalGraph>& graph, const Value& input, std::string& why) {
    Numbers result;
    for (const bool watchAll : {false, true}) {
        exec::PlanOptions options;
        options.watchAll = watchAll;
        const exec::Recording recording = runGraph(graph, {copyOf(input)}, options);
        if (recording.error) {
            why = recording.error->text();
            return {};
        }
        const Numbers now = numbers(recording.outputs.at(0));
        if (watchAll && now != result) {
            why = "watching changes the result";
            return {-1};
        }
        result = now;
    }
    return result;
}

std::string textOf(const Numbers& numbers) {
    std::string text;
    for (const double number : numbers) text += (text.empty() ? "" : " ") + QString::number(number).toStdString();
    return text;
}

base::Result<trace::Tracer::GraphPtr> purified(const graph::InternalGraph& recorded, bool removeInPlace) {
    auto graph = std::make_shared<graph::InternalGraph>(recorded);
    passes::removeUnnecessarySlices(*graph);
    if (removeInPlace) {
        if (auto count = passes::removeInplace(*graph); !count) return count.error();
    }
    return graph;
}

/// Right numbers, or (if it need not) a refusal with a reason.
void check(const Program& program, unsigned tracer, const Numbers& numbers, const std::string& why) {
    if (numbers == program.expected) return;
    if ((program.must & tracer) == 0 && numbers.empty() && !why.empty()) return;
    const std::string text = "got [" + textOf(numbers) + "], expected [" + textOf(program.expected) + "] " + why;
    QVERIFY2(false, text.c_str());
}

}  // namespace

class TestInPlace : public QObject {
    Q_OBJECT

  private:
    static void rows() {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < programs().size(); ++i) QTest::newRow(programs()[i].name) << static_cast<int>(i);
    }
    static const Program& program() {
        QFETCH(int, index);
        return programs()[static_cast<std::size_t>(index)];
    }

    template <typename Trace>
    void traced(unsigned tracer, Trace&& trace) {
        const Program& program = TestInPlace::program();
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        std::string why;
        const auto graph = trace(moduleOf(program), program.input, why);
        Numbers result;
        if (graph) {
            const auto valid = graph->validate();
            QVERIFY2(valid.has_value(), valid ? "" : valid.error().text().c_str());
            result = ran(graph, program.input, why);
            // Read as PyTorch runs it, it means the same.
            auto pure = std::make_shared<graph::InternalGraph>(*graph);
            std::string refusal;
            if (!result.empty() && passes::removeInplace(*pure))
                check(program, tracer, ran(pure, program.input, refusal), refusal + " after remove-inplace");
        }
        check(program, tracer, result, why);
    }

  private slots:
    void atOnce_data() { rows(); }
    void atOnce() {
        const Program& program = TestInPlace::program();
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = moduleOf(program);
        Numbers result;
        std::string why;
        try {
            result = numbers(net->call({Var(copyOf(program.input))}, {}).toValue());
        } catch (const trace::TraceError& error) {
            why = error.message();
        }
        check(program, kEager, result, why);
    }

    void modulePath_data() { rows(); }
    void modulePath() {
        traced(kModulePath, [](const auto& net, const Value&, std::string& why) {
            trace::ModulePathTracer tracer;
            auto graph = tracer.trace(net);
            if (!graph) why = graph.error().text();
            return graph ? *graph : nullptr;
        });
    }

    /// The child as a leaf: its inside is a body of the call.
    void leaves_data() { rows(); }
    void leaves() {
        traced(kModulePath, [](const auto& net, const Value&, std::string& why) {
            trace::ModulePathTracer tracer;
            tracer.addLeafClass("Child");
            tracer.addLeafClass("Same");
            tracer.addLeafClass("Turning");
            auto graph = tracer.trace(net);
            if (!graph) why = graph.error().text();
            return graph ? *graph : nullptr;
        });
    }

    void robust_data() { rows(); }
    void robust() {
        traced(kRobust, [](const auto& net, const Value&, std::string& why) -> trace::Tracer::GraphPtr {
            trace::RobustTracer tracer;
            auto graph = tracer.traceRobust(net);
            if (graph->nodeCount() > 0) return graph;
            why = *tracer.failureMessage(*net);
            return nullptr;
        });
    }

    void tracedModule_data() { rows(); }
    void tracedModule() {
        traced(
            kTracedModule,
            [](const auto& net, const Value& input, std::string& why) -> std::shared_ptr<const graph::InternalGraph> {
                auto made = trace::traceModule(net, {copyOf(input)});
                if (!made) {
                    why = made.error().text();
                    return nullptr;
                }
                // The traced module itself, and flattened.
                const Value first = *(*made)->run({copyOf(input)});
                const Value second = *(*(*made)->flatten())->run({copyOf(input)});
                if (numbers(first) != numbers(second)) qWarning("flatten changes the result");
                auto inlined = trace::inlineTracedModule(*made);
                if (!inlined) why = inlined.error().text();
                return inlined ? inlined->graph : nullptr;
            });
    }

    void custom_data() { rows(); }
    void custom() {
        traced(kCustom, [](const auto& net, const Value&, std::string& why) {
            trace::CustomTracerOptions options;
            options.purify = purified;
            trace::CustomTracer tracer(std::move(options));
            auto graph = tracer.traceCustom(net);
            if (!graph) why = graph.error().text();
            return graph ? *graph : nullptr;
        });
    }

    /// Whether parts meet where the sizes decide it holds for the sizes of the trace; x[-1] and x[0] do so for all.
    void partsThatOnlySizesTellApart() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto ends = test::custom("Ends", [](Custom&, In in) {
            const Var c = clone(in[0]);
            c.withItem(Var::slice(-2, Var()), c[Var::slice(0, 2)]);
            return c;
        });
        const auto made = trace::traceModule(ends, {tensor4()});
        QVERIFY2(made, made ? "" : made.error().text().c_str());
        QCOMPARE(numbers(*(*made)->run({floats({4}, {5, 6, 7, 8})})), (Numbers{5, 6, 5, 6}));
        // Of three numbers PyTorch would raise: the parts meet in the second one.
        const auto shorter = (*made)->run({floats({3}, {1, 2, 3})});
        QVERIFY(!shorter);
        QVERIFY2(shorter.error().text().find("size(0) = 4 of clone_out, got 3") != std::string::npos,
                 shorter.error().text().c_str());
        const auto rows = test::custom("Rows", [](Custom&, In in) {
            const Var c = clone(in[0]);
            c.withItem(-1, c[0]);
            return c;
        });
        const auto any = trace::traceModule(rows, {matrix()});
        QVERIFY2(any, any ? "" : any.error().text().c_str());
        QCOMPARE(numbers(*(*any)->run({floats({3, 1}, {1, 2, 3})})), (Numbers{1, 2, 1}));
        QCOMPARE(numbers(*(*any)->run({floats({1, 2}, {1, 2})})), (Numbers{1, 2}));
    }

    void expandedTensorsAreNotWritten() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = test::custom("Net", [](Custom&, In in) {
            const Var c = clone(in[0]);
            add_(nn::expand(nn::unsqueeze(c, 0), {3, 4}), 1);
            return c;
        });
        const auto holds = [](const std::string& text) {
            return text.find("more than one element of the written-to tensor refers to a single memory location") !=
                   std::string::npos;
        };
        try {
            net->call({Var(tensor4())}, {});
            QVERIFY2(false, "written");
        } catch (const trace::TraceError& error) {
            QVERIFY2(holds(error.what()), error.what());
        }
        trace::ModulePathTracer tracer;
        const auto graph = tracer.trace(net);
        QVERIFY(!graph && holds(graph.error().text()));
        QVERIFY2(graph.error().text().find("node 'expand' (operation 3)") != std::string::npos,
                 graph.error().text().c_str());
        const auto made = trace::traceModule(net, {tensor4()});
        QVERIFY(!made && holds(made.error().text()));
    }

    /// Memory of a base that is read through an expanded view shows what was written to the base.
    void expandedTensorsAreRead() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = test::custom("Net", [](Custom&, In in) {
            const Var c = clone(in[0]);
            const Var wide = nn::expand(nn::unsqueeze(c, 0), {2, 4});
            add_(c, 1);
            return wide;
        });
        const Numbers expected{2, 3, 4, 5, 2, 3, 4, 5};
        QCOMPARE(numbers(net->call({Var(tensor4())}, {}).toValue()), expected);
        trace::ModulePathTracer tracer;
        QCOMPARE(resultOf(*tracer.trace(net), {tensor4()}), expected);
        QCOMPARE(numbers(*(*trace::traceModule(net, {tensor4()}))->run({tensor4()})), expected);
    }

    void atOnceChangesTheCallersTensor() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const Var x(tensor4());
        const std::vector<Var> held{x};
        add_(x[Var::slice(0, 2)], 1);
        QCOMPARE(numbers(held.front().toValue()), (Numbers{2, 3, 3, 4}));
        QCOMPARE(numbers((x + 1).toValue()), (Numbers{3, 4, 4, 5}));
        QCOMPARE(numbers(nn::abs(x).toValue()), (Numbers{2, 3, 3, 4}));
    }

    /// flatten of one dimension is the tensor itself, with a new shape too: also where the stride of its only element
    /// is another one.
    void flattenOfAPartIsThePart() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const Var part = Var(tensor4())[Var::slice(3, 4, 2)];
        const Var flat = nn::flatten(part);
        part.method("unsqueeze_", {0}, {});
        QCOMPARE(flat.toValue().tensor().shape(), (tensor::Shape{1, 1}));
    }

    void shapesAndTypesOfWritesAreChecked() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const Var x(tensor4());
        QVERIFY_EXCEPTION_THROWN(add_(x, Var(floats({2, 4}, {1, 1, 1, 1, 1, 1, 1, 1}))), trace::TraceError);
        const Var whole(tensor::Tensor::of<std::int64_t>({2}, {1, 2}));
        QVERIFY_EXCEPTION_THROWN(add_(whole, Var(1.5)), trace::TraceError);
        QCOMPARE(numbers(x.toValue()), (Numbers{1, 2, 3, 4}));
    }

    /// A trace leaves the module and its input as they are.
    void tracingChangesNothing() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = test::custom("Net", [](Custom& self, In in) {
            add_(self.tensor("buffer"), 1);
            add_(in[0], 1);
            return in[0] + self.tensor("buffer");
        });
        const trace::Attribute buffer = net->addBuffer("buffer", tensor::Tensor::of<float>({4}, {0, 0, 0, 0}));
        const Value x = tensor4();
        trace::ModulePathTracer tracer;
        const auto graph = tracer.trace(net);
        QVERIFY2(graph.has_value(), graph ? "" : graph.error().text().c_str());
        QVERIFY(trace::traceModule(net, {x}).has_value());
        QCOMPARE(numbers(Value(buffer.value())), (Numbers{0, 0, 0, 0}));
        QCOMPARE(numbers(x), (Numbers{1, 2, 3, 4}));
        for (int run = 0; run < 2; ++run) QCOMPARE(resultOf(*graph, {x}), (Numbers{3, 4, 5, 6}));
        QCOMPARE(numbers(x), (Numbers{1, 2, 3, 4}));
    }

    /// A module that depends on the data runs on values: it may write to what it makes, not to what it is given.
    void opaqueModulesDoNotWriteToTheirInputs() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto own = test::custom("Own", [](Custom&, In in) {
            const Var c = clone(in[0]);
            if (nn::sum(c) > 0) add_(c[Var::slice(0, 2)], 1);
            return c;
        });
        trace::ModulePathTracer tracer;
        const auto fine = tracer.traceOpaque(own);
        QVERIFY(fine.has_value());
        QCOMPARE(resultOf(*fine, {tensor4()}), (Numbers{2, 3, 3, 4}));
        const auto writes = test::custom("Writes", [](Custom&, In in) {
            if (nn::sum(in[0]) > 0) add_(in[0], 1);
            return in[0] * 2;
        });
        const Value x = tensor4();
        // As the whole program it writes to a copy that nobody else reads.
        const auto whole = tracer.traceOpaque(writes);
        QVERIFY(whole.has_value());
        QCOMPARE(resultOf(*whole, {x}), (Numbers{4, 6, 8, 10}));
        const auto net = test::custom("Net", [](Custom& self, In in) { return self.at("writes")(in[0]) + in[0]; });
        net->addChild("writes", writes);
        trace::RobustTracer robust;
        const auto graph = robust.traceRobust(net);
        const exec::Recording recording = runGraph(graph, {x});
        QVERIFY(recording.error && recording.error->text().find("in place") != std::string::npos);
        QCOMPARE(numbers(x), (Numbers{1, 2, 3, 4}));
    }

    /// Whether reshape shows the memory or copies it is not known of a transposed tensor: refused when it matters, by
    /// name.
    void unknownSharingIsRefused() {
        const auto net = [](bool readsView) {
            return test::custom("Net", [readsView](Custom&, In in) {
                const Var c = clone(in[0]);
                const Var r = nn::reshape(nn::transpose(c, 0, 1), {6});
                add_(c, 1);
                return readsView ? r : c;
            });
        };
        trace::ModulePathTracer tracer;
        QCOMPARE(resultOf(*tracer.trace(net(false)), {matrix()}), (Numbers{2, 3, 4, 5, 6, 7}));
        const auto refused = tracer.trace(net(true));
        QVERIFY(!refused);
        QVERIFY2(refused.error().text().find("node 'reshape' (operation 3) shares memory") != std::string::npos,
                 refused.error().text().c_str());
    }
};

QTEST_GUILESS_MAIN(TestInPlace)

}  // namespace tst_in_place

#include "tst_in_place.moc"
