// In-place operators and what shares memory: each program at once and under every tracer, run plain and with every node
// watched. Expected numbers are worked by hand after PyTorch's semantics. A tracer may refuse; it may not give other numbers.

#include <QtTest>

#include "core/nn/containers.h"
#include "core/nn/functional.h"
#include "core/passes/inplace.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/robust_tracer.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/inline_graph.h"
#include "tests/core/trace/traced_text.h"

using namespace sonde;
using namespace sonde::test;
using nn::Var;
using tensor::Value;

namespace {

using Numbers = std::vector<double>;
using In = std::span<const Var>;
using Forward = std::function<Var(Custom&, In)>;

Var all() { return Var::slice(Var(), Var()); }
Var clone(const Var& x) { return x.method("clone"); }
Var add_(const Var& x, const Var& y) { return x.method("add_", {y}, {}, y.kind() == Var::Kind::Value && y.value().isNumber() ? "add_.Scalar" : "add_.Tensor"); }
Var mul_(const Var& x, double y) { return x.method("mul_", {y}, {}, "mul_.Scalar"); }
Var method(const Var& x, const char* name, std::vector<Var> arguments, const char* op) { return x.method(name, std::move(arguments), {}, op); }
Value tensor4() { return floats({4}, {1, 2, 3, 4}); }
Value matrix() { return floats({2, 3}, {1, 2, 3, 4, 5, 6}); }

enum Tracer : unsigned { kModulePath = 1, kRobust = 2, kTracedModule = 4, kCustom = 8, kEager = 16 };
/// All but custom, whose in-place operations are made values by a pass: it has tests of its own, and may refuse.
constexpr unsigned kAll = kEager | kModulePath | kRobust | kTracedModule;
/// fx has no item assignment.
constexpr unsigned kWithItems = kEager | kTracedModule;

struct Program {
    const char* name;
    Value input;
    Forward forward;
    Numbers expected;
    unsigned must = kAll;  ///< these give the numbers, others may refuse
};

const std::vector<Program>& programs() {
    static const std::vector<Program> list{
        {"slice written, base read", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c[Var::slice(0, 2)], 1);
             return c;
         }, {2, 3, 3, 4}},
        {"whole written, read by its old name", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c, 1);
             return c + 0;
         }, {2, 3, 4, 5}},
        {"base written, view read", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(1, 3)];
             mul_(c, 10);
             return v;
         }, {20, 30}},
        {"sibling views", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var a = c[Var::slice(0, 3)], b = c[Var::slice(1, 4)];
             add_(a, 10);
             return b;
         }, {12, 13, 4}},
        {"the result of add_ is its receiver", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var d = add_(c, 1);
             mul_(d, 2);
             return c;
         }, {4, 6, 8, 10}},
        {"a value from before stays", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var before = c * 1;
             add_(c, 1);
             return before + c;
         }, {3, 5, 7, 9}},
        {"view of a view", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             mul_(c[Var::slice(1, 2)][Var::tuple({all(), Var::slice(0, 2)})], 10);
             return c;
         }, {1, 2, 3, 40, 50, 6}},
        {"transpose written", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::transpose(c, 0, 1)[Var(0)], 100);
             return c;
         }, {101, 2, 3, 104, 5, 6}},
        {"transpose read after its base was written", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var t = nn::permute(c, {1, 0});
             add_(c[Var(0)], 10);
             return t;
         }, {11, 4, 12, 5, 13, 6}},
        {"permute written", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             mul_(nn::permute(nn::unsqueeze(c, 0), {2, 0, 1})[Var(1)], 10);
             return c;
         }, {1, 20, 3, 4, 50, 6}},
        {"view written", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::view(c, {2, 2})[Var(1)], 5);
             return c;
         }, {1, 2, 8, 9}},
        {"reshape of a packed tensor is a view", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::reshape(c, {2, 2}), 5);
             return c;
         }, {6, 7, 8, 9}},
        {"reshape of a transposed tensor is a copy", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var r = nn::reshape(nn::transpose(c, 0, 1), {6});
             add_(r, 100);
             return c;
         }, {1, 2, 3, 4, 5, 6}, kEager},
        {"reshape of columns is a view where strides can say it", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::reshape(c[Var::tuple({all(), Var::slice(0, 2)})], {2, 2, 1}), 10);
             return c;
         }, {11, 12, 3, 14, 15, 6}, kEager},
        {"flatten", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::flatten(c)[Var::slice(4, 6)], 1);
             return c;
         }, {1, 2, 3, 4, 6, 7}},
        {"unsqueeze and squeeze", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var u = nn::unsqueeze(c, 0);
             add_(u, 1);
             mul_(nn::squeeze(u, 0), 2);
             return c;
         }, {4, 6, 8, 10}},
        {"detach", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var d = method(c, "detach", {}, "detach");
             add_(d, 1);
             mul_(c, 2);
             return d + c;
         }, {8, 12, 16, 20}},
        {"contiguous of a packed tensor is it", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::contiguous(c), 1);
             return c;
         }, {2, 3, 4, 5}},
        {"clone is a copy", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(clone(c), 1);
             return c;
         }, {1, 2, 3, 4}},
        {"chunk written", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var parts = nn::chunk(c, 2, 0);
             add_(parts[Var(1)], 10);
             return c;
         }, {1, 2, 13, 14}},
        {"chunk read after its base was written", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const std::vector<Var> parts = nn::chunk(c, 2, 0).unpack(2);
             add_(c, 1);
             mul_(parts[0], 10);
             return nn::cat({parts[1], parts[0], c}, 0);
         }, {4, 5, 20, 30, 20, 30, 4, 5}},
        {"split and unbind", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var rows = method(c, "unbind", {0}, "unbind.int");
             add_(rows[Var(1)], 10);
             const Var columns = method(c, "split", {1, 1}, "split.Tensor");
             mul_(columns[Var(0)], 2);
             return c;
         }, {2, 2, 3, 28, 15, 16}},
        {"select and narrow", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(method(c, "select", {1, 2}, "select.int"), 1);
             add_(nn::narrow(c, 1, 0, 2), 10);
             return c;
         }, {11, 12, 4, 14, 15, 7}},
        {"a step in a slice", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             mul_(c[Var::slice(Var(), Var(), 2)], 10);
             return c;
         }, {10, 2, 30, 4}},
        {"diagonal", floats({2, 2}, {1, 2, 3, 4}), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(method(c, "diagonal", {}, "diagonal"), 10);
             return c;
         }, {11, 2, 3, 14}},
        {"an index with a tensor is a copy", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var index(tensor::Tensor::of<std::int64_t>({2}, {0, 1}));
             add_(c[index], 100);
             return c;
         }, {1, 2, 3, 4}},
        {"a mask reads a copy", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c[c > 2], 100);
             return c;
         }, {1, 2, 3, 4}},
        {"fill_, zero_, copy_", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             method(c[Var::slice(0, 1)], "fill_", {9}, "fill_.Scalar");
             method(c[Var::slice(1, 2)], "zero_", {}, "zero_");
             method(c[Var::slice(2, 4)], "copy_", {in[0][Var::slice(0, 2)]}, "copy_");
             return c;
         }, {9, 0, 1, 2}},
        {"relu_ through a view", floats({4}, {-1, 2, -3, 4}), [](Custom&, In in) {
             const Var c = clone(in[0]);
             method(c[Var::slice(2, 4)], "relu_", {}, "relu_");
             return c;
         }, {-1, 2, 0, 4}},
        {"unsqueeze_ keeps the memory", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(0, 2)];
             method(c, "unsqueeze_", {0}, "unsqueeze_");
             add_(c, 1);
             return nn::cat({v, c[Var(0)]}, 0);
         }, {2, 3, 2, 3, 4, 5}},
        {"out=", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(0, 2)];
             trace::callFunction({"add.Tensor", "add", "torch.add"}, {in[0], in[0]}, {{"out", c}});
             return nn::cat({c, v}, 0);
         }, {2, 4, 6, 8, 2, 4}},
        {"out= of a view", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             trace::callFunction({"exp.out", "exp", "torch.exp"}, {in[0][Var::slice(0, 2)] * 0}, {{"out", c[Var::slice(2, 4)]}});
             return c;
         }, {1, 2, 1, 1}},
        {"x.data", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c.attr("data"), 1);
             return c;
         }, {2, 3, 4, 5}},
        {"x.T", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c.attr("T")[Var(1)], 10);
             return c;
         }, {1, 12, 3, 4, 15, 6}},
        {"in a loop", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             for (std::int64_t i = 0; i < 3; ++i) add_(c[Var::slice(i, i + 2)], i + 1);
             return c;
         }, {2, 5, 8, 7}},
        {"the input itself", tensor4(), [](Custom&, In in) {
             add_(in[0], 1);
             return in[0] * 2;
         }, {4, 6, 8, 10}},
        {"a child writes to its input", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             const Var y = self.at("child")(c);
             return nn::cat({c, y}, 0);
         }, {11, 12, 13, 14, 22, 24, 26, 28}},
        {"a tensor that was written goes to a child", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(0, 2)];
             add_(c, 1);
             const Var y = self.at("child")(v);
             return nn::cat({c, y}, 0);
         }, {12, 13, 4, 5, 24, 26}},
        {"a child writes to a view", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             self.at("child")(c[Var::slice(1, 3)]);
             return c;
         }, {1, 12, 13, 4}},
        {"a child is called twice", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             const Var y = self.at("child")(c) + self.at("child")(c);
             return nn::cat({c, y}, 0);
         }, {21, 22, 23, 24, 64, 68, 72, 76}},
        {"a child gives its input back", tensor4(), [](Custom& self, In in) {
             const Var c = clone(in[0]);
             add_(self.at("identity")(c), 1);
             return c;
         }, {2, 3, 4, 5}},
        {"a buffer counts", tensor4(), [](Custom& self, In in) {
             const Var b = self.tensor("buffer");
             add_(b, in[0]);
             return in[0] + self.tensor("buffer");
         }, {102, 104, 106, 108}},
        {"a part of a buffer", tensor4(), [](Custom& self, In in) {
             add_(self.tensor("buffer")[Var::slice(0, 2)], 1);
             return in[0] + self.tensor("buffer");
         }, {102, 103, 103, 104}},
        {"a constant takes proxies", tensor4(), [](Custom&, In in) {
             const Var z(floats({4}, {0, 0, 0, 0}));
             const Var v = z[Var::slice(2, 4)];
             add_(z, in[0]);
             return nn::cat({z, v}, 0);
         }, {1, 2, 3, 4, 3, 4}},
        {"item assignment", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var row = c[Var(0)];
             c.withItem(Var::tuple({all(), Var(1)}), 0);
             return nn::cat({row, c[Var(1)]}, 0);
         }, {1, 0, 3, 4, 0, 6}, kWithItems},
        {"item assignment through a view", matrix(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             c[Var(1)].withItem(Var::slice(0, 2), 7);
             return c;
         }, {1, 2, 3, 7, 7, 6}, kWithItems},
        {"assignment with a mask", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var v = c[Var::slice(2, 4)];
             c.withItem(c > 2, 0);
             return nn::cat({c, v}, 0);
         }, {1, 2, 0, 0, 0, 0}, kWithItems},
        {"assignment with a tensor of indices", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             c.withItem(Var(tensor::Tensor::of<std::int64_t>({2}, {3, 0})), in[0][Var::slice(1, 3)]);
             return c;
         }, {3, 2, 3, 2}, kWithItems},
        {"an assignment is not a new value", tensor4(), [](Custom&, In in) {
             const Var c = clone(in[0]);
             c.withItem(0, 5.0);
             return c;
         }, {5, 2, 3, 4}, kWithItems},
        {"an assignment to a constant", tensor4(), [](Custom&, In in) {
             const Var z(floats({4}, {0, 0, 0, 0}));
             z.withItem(Var::slice(1, 3), in[0][Var::slice(0, 2)]);
             return z;
         }, {0, 1, 2, 0}},
    };
    return list;
}

std::shared_ptr<Custom> moduleOf(const Program& program) {
    const auto net = custom("Net", program.forward);
    net->addChild("child", custom("Child", [](Custom&, In in) {
        add_(in[0], 10);
        return in[0] * 2;
    }));
    net->addChild("identity", custom("Same", [](Custom&, In in) { return in[0]; }));
    net->addBuffer("buffer", tensor::Tensor::of<float>({4}, {100, 100, 100, 100}));
    return net;
}

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
        traced(kTracedModule, [](const auto& net, const Value& input, std::string& why) -> std::shared_ptr<const graph::InternalGraph> {
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

    void expandedTensorsAreNotWritten() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = test::custom("Net", [](Custom&, In in) {
            const Var c = clone(in[0]);
            add_(nn::expand(nn::unsqueeze(c, 0), {3, 4}), 1);
            return c;
        });
        const auto holds = [](const std::string& text) { return text.find("more than one element of the written-to tensor refers to a single memory location") != std::string::npos; };
        try {
            net->call({Var(tensor4())}, {});
            QVERIFY2(false, "written");
        } catch (const trace::TraceError& error) {
            QVERIFY2(holds(error.what()), error.what());
        }
        trace::ModulePathTracer tracer;
        const auto graph = tracer.trace(net);
        QVERIFY(!graph && holds(graph.error().text()));
        QVERIFY2(graph.error().text().find("node 'expand' (operation 3)") != std::string::npos, graph.error().text().c_str());
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
        const Var same = x;
        add_(x[Var::slice(0, 2)], 1);
        QCOMPARE(numbers(same.toValue()), (Numbers{2, 3, 3, 4}));
        QCOMPARE(numbers((x + 1).toValue()), (Numbers{3, 4, 4, 5}));
        QCOMPARE(numbers(nn::abs(x).toValue()), (Numbers{2, 3, 3, 4}));
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

    /// Whether reshape shows the memory or copies it is not known of a transposed tensor: refused when it matters, by name.
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
        QVERIFY2(refused.error().text().find("node 'reshape' (operation 3) shares memory") != std::string::npos, refused.error().text().c_str());
    }
};

QTEST_GUILESS_MAIN(TestInPlace)
#include "tst_in_place.moc"
