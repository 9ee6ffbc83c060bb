// Options of recorded functions. Numbers in names are those of the acceptance cases of the reference page on dumps;
// expected values are worked by hand.

#include <QTest>

#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/document/repeated_trace.h"
#include "core/export/dump.h"
#include "core/nn/functional.h"
#include "core/operators/traits.h"
#include "tests/core/trace/traced_text.h"

namespace tst_trace_options {

using namespace sonde;
using document::OptSwitch;
using document::RepeatedTrace;
using document::TraceOptions;
using tensor::Value;
using test::floats;
using test::numbers;
using trace::Var;

namespace {

using In = std::span<const Var>;
using Numbers = std::vector<double>;

std::vector<trace::ForwardParameter> oneTensor() { return {{"x", std::nullopt, false, true}}; }
RepeatedTrace traceOf(RepeatedTrace::Function function, const TraceOptions& options) {
    return {std::move(function), oneTensor(), options};
}
std::vector<Value> vec(const Numbers& values) {
    return {floats({static_cast<std::int64_t>(values.size())}, std::vector<float>(values.begin(), values.end()))};
}
std::string errorOf(const base::Result<std::vector<Value>>& result) { return result ? "" : result.error().what; }

/// y = 2x; y / y
Var quotient(In in) {
    const Var y = in[0] * 2;
    return y / y;
}
Var logOfExp(In in) { return nn::log(nn::exp(in[0])); }

std::size_t operations(const graph::InternalGraph& graph) {
    std::size_t count = 0;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) count += !graph.expr(id).op.name.empty();
    return count;
}
bool asksForShape(const graph::InternalGraph& graph) {
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const auto& op = graph.expr(id).op;
        if (operators::traitsOf(op.domain, op.name).query != operators::ShapeQuery::None) return true;
    }
    return false;
}

}  // namespace

class TestTraceOptions : public QObject {
    Q_OBJECT

  private slots:
    void defaultsAreThoseOfTheReference() {
        const TraceOptions options;
        QVERIFY(!options.symbolic && !options.captureAsConst && !options.recordOnly && !options.profiling);
        QVERIFY(!options.withoutHost && !options.imperative && options.symbolicShape);
        QCOMPARE(options.optLevel, 2);
        TraceOptions recording;
        recording.recordOnly = true;
        QVERIFY(recording.isSymbolic() && recording.capturesConstants());
        document::GraphOptConfig config;
        QCOMPARE(config.text(), std::string("jit_fuse_dimshuffle=UNSET, jit_fuse_reduce=UNSET"));
        config = {OptSwitch::Off, OptSwitch::On};
        QCOMPARE(config.text(), std::string("jit_fuse_dimshuffle=OFF, jit_fuse_reduce=ON"));
        QCOMPARE(static_cast<int>(config.jitFuseReduce), 2);
    }

    void case4OnlyTensorsWithConstants() {
        TraceOptions options;
        options.captureAsConst = true;
        RepeatedTrace constant([](In in) { return in[0]; }, {{"f"}}, options);
        QCOMPARE(errorOf(constant.call(std::vector<Value>{Value::ofInt(1)})),
                 std::string("Only support tensor type args when capture_as_const is enabled"));
        RepeatedTrace free([](In in) { return in[0] + in[1]; }, {{"x", std::nullopt, false, true}, {"n"}});
        const auto sum = free.call(std::vector<Value>{floats({2}, {1, 2}), Value::ofInt(5)});
        QCOMPARE(numbers(sum->front()), (Numbers{6, 7}));
        // The number is part of the program.
        QCOMPARE(errorOf(free.call(std::vector<Value>{floats({2}, {1, 2}), Value::ofInt(6)})),
                 std::string("trace error because tensors not equals"));
    }

    void case5KeywordArgumentsAreNoInputs() {
        TraceOptions options;
        options.captureAsConst = true;
        RepeatedTrace trace([](In in) { return in[0] * in[1]; },
                            {{"data", std::nullopt, false, true}, {"net", std::nullopt, true, false}}, options);
        const auto product = trace.call(std::vector<Value>{floats({2}, {1, 2}), Value::ofFloat(3)});
        QCOMPARE(numbers(product->front()), (Numbers{3, 6}));
        QCOMPARE(trace.recorded()->inputs().size(), 1U);
        QCOMPARE(trace.recorded()->node(trace.recorded()->inputs().front()).name, std::string("data"));
    }

    void outputsMustBeTensorsWithConstants() {
        TraceOptions options;
        options.captureAsConst = true;
        RepeatedTrace number([](In in) { return Var::list({in[0] + 1, Var(3)}); }, oneTensor(), options);
        QVERIFY(errorOf(number.call(vec({1}))).starts_with("TypeError: with capture_as_const"));
        RepeatedTrace nested([](In in) { return Var::list({Var::list({in[0] + 1})}); }, oneTensor(), options);
        QVERIFY(errorOf(nested.call(vec({1}))).starts_with("TypeError: with capture_as_const"));
        RepeatedTrace named(
            [](In in) {
                return Var::dict({{Value(std::string("sum")), in[0] + 1}});
            },
            oneTensor(), options);
        QCOMPARE(numbers(named.call(vec({1}))->front()), (Numbers{2}));
        RepeatedTrace free([](In in) { return Var::list({in[0] + 1, Var(3)}); }, oneTensor());
        QVERIFY(free.call(vec({1})));
    }

    void symbolicKnowsShapesAndNoData() {
        TraceOptions options;
        options.symbolic = true;
        const auto decides = [](In in) { return nn::sum(in[0]) > 0 ? in[0] * 2 : in[0]; };
        QVERIFY(errorOf(traceOf(decides, options).call(vec({1, 2}))).find("control flow") != std::string::npos);
        QCOMPARE(numbers(traceOf(decides, {}).call(vec({1, 2}))->front()), (Numbers{2, 4}));

        RepeatedTrace sized = traceOf(
            [](In in) {
                const Var twice = nn::cat({in[0], in[0]}, 0);
                return twice.method("size", {Var(0)}, {}).toInt() > 4 ? twice + 1 : twice;
            },
            options);
        QCOMPARE(numbers(sized.call(vec({1, 2}))->front()), (Numbers{1, 2, 1, 2}));
        // Six elements: the function goes another way.
        QCOMPARE(errorOf(sized.call(vec({1, 2, 3}))), std::string("trace error because too many instructions"));
        RepeatedTrace rows = traceOf([](In in) { return in[0].iterate().back(); }, options);
        QCOMPARE(numbers(rows.call(vec({1, 2, 7}))->front()), (Numbers{7}));
    }

    void recordOnlyRunsNothing() {
        TraceOptions options;
        options.recordOnly = true;
        // The kernel refuses the shapes.
        const auto fails = [](In in) { return nn::linear(in[0], Var(floats({1, 3}, {1, 1, 1})), Var::none()); };
        RepeatedTrace recording = traceOf(fails, options);
        const auto none = recording.call(vec({1, 2}));
        QVERIFY2(none && none->empty(), errorOf(none).c_str());
        QVERIFY(recording.recorded() && operations(*recording.recorded()) > 0);
        QVERIFY(!recording.compiled());
        QVERIFY(!traceOf(fails, {}).call(vec({1, 2})));
        QVERIFY(recording.call(vec({1, 2})));  // compared
    }

    void captures() {
        Value outside = floats({2}, {10, 20});
        const auto function = [&outside](In in) { return in[0] + Var(outside); };
        TraceOptions options;
        options.captureAsConst = true;
        RepeatedTrace constant = traceOf(function, options), free = traceOf(function, {});
        for (RepeatedTrace* trace : {&constant, &free}) {
            QCOMPARE(numbers(trace->call(vec({1, 2}))->front()), (Numbers{11, 22}));
            QCOMPARE(numbers(trace->call(vec({2, 3}))->front()), (Numbers{12, 23}));
        }
        outside = floats({2}, {100, 200});
        QCOMPARE(errorOf(constant.call(vec({1, 2}))), std::string("trace error because tensors not equals"));
        QCOMPARE(numbers(free.call(vec({1, 2}))->front()), (Numbers{101, 202}));
        outside = Value(*outside.tensor().cast(tensor::DType::Float64));
        QCOMPARE(errorOf(free.call(vec({1, 2}))),
                 std::string("trace error because dtype mismatch: float32 vs float64"));
        outside = floats({2}, {10, 20});
        QCOMPARE(numbers(constant.call(vec({1, 2}))->front()), (Numbers{11, 22}));
    }

    void case7Levels() {
        const auto quotientAt = [](int level) {
            TraceOptions options;
            options.optLevel = level;
            options.symbolic = true;  // the first call runs the compiled form, too
            return traceOf(quotient, options).call(vec({0}));
        };
        QVERIFY(std::isnan(numbers(quotientAt(0)->front()).front()));
        for (const int level : {1, 2, 3}) QCOMPARE(numbers(quotientAt(level)->front()), (Numbers{1}));

        std::vector<std::size_t> counts;
        for (const int level : {0, 1}) {
            TraceOptions options;
            options.optLevel = level;
            RepeatedTrace trace = traceOf(logOfExp, options);
            QVERIFY(trace.call(vec({1})) && trace.call(vec({1})));
            counts.push_back(operations(*trace.compiled()));
        }
        QCOMPARE(counts[1] + 2, counts[0]);

        TraceOptions options;
        options.optLevel = 1;
        options.symbolic = true;
        RepeatedTrace sum = traceOf([](In in) { return nn::log(nn::exp(in[0]) + nn::exp(in[0] * 0)); }, options);
        QCOMPARE(numbers(sum.call(vec({1e4}))->front()), (Numbers{1e4}));
    }

    void negativeLevelsCompare() {
        TraceOptions options;
        options.optLevel = -1;
        RepeatedTrace changed = traceOf(quotient, options);
        QCOMPARE(numbers(changed.call(vec({2}))->front()), (Numbers{1}));
        QCOMPARE(numbers(changed.call(vec({3}))->front()), (Numbers{1}));
        // 0 / 0 was recorded, 1 is what the level makes of it.
        const auto wrong = changed.call(vec({0}));
        QVERIFY(!wrong);
        QVERIFY2(wrong.error().what.starts_with("an output changed by"), wrong.error().text().c_str());
        QCOMPARE(wrong.error().notes.back(), std::string("opt_level -1"));
        QVERIFY(changed.call(vec({3})));
    }

    void fromLevelThreeOperatorsAreFused() {
        const auto fusedAt = [](int level) {
            TraceOptions options;
            options.optLevel = level;
            options.profiling = true;
            RepeatedTrace trace = traceOf(
                [](In in) {
                    return nn::relu(nn::linear(in[0], Var(floats({2, 2}, {1, 2, 3, 4})), Var::none()));
                },
                options);
            const std::vector<Value> input{floats({1, 2}, {1, -1})};
            for (int i = 0; i < 3; ++i) {
                const auto result = trace.call(input);
                if (!result || numbers(result->front()) != Numbers{0, 0}) return std::string("wrong value");
            }
            return *trace.getProfile();
        };
        const auto timed = [](const std::string& profile) { return nlohmann::json::parse(profile)["profiler"]; };
        QVERIFY(timed(fusedAt(2)).contains("linear") && timed(fusedAt(2)).contains("relu"));
        QVERIFY(timed(fusedAt(3)).contains("linear") && !timed(fusedAt(3)).contains("relu"));
    }

    void symbolicShape() {
        const auto padded = [](In in) { return in[0] + in[0].method("size", {Var(0)}, {}); };
        for (const bool symbolic : {false, true}) {
            TraceOptions options;
            options.symbolic = symbolic;
            RepeatedTrace nodes = traceOf(padded, options);
            QCOMPARE(numbers(nodes.call(vec({1, 2}))->front()), (Numbers{3, 4}));
            QCOMPARE(numbers(nodes.call(vec({1, 2, 3}))->front()), (Numbers{4, 5, 6}));
            QVERIFY(asksForShape(*nodes.recorded()));
            options.symbolicShape = false;
            RepeatedTrace integers = traceOf(padded, options);
            QCOMPARE(numbers(integers.call(vec({1, 2}))->front()), (Numbers{3, 4}));
            QVERIFY(!asksForShape(*integers.recorded()));
            QCOMPARE(errorOf(integers.call(vec({1, 2, 3}))), std::string("trace error because tensors not equals"));
            options.withoutHost = true;
            RepeatedTrace fixed = traceOf(padded, options);
            QVERIFY(fixed.call(vec({1, 2})));
            QVERIFY(errorOf(fixed.call(vec({1, 2, 3}))).starts_with("the recording has the integers of another shape"));
            QCOMPARE(numbers(fixed.call(vec({5, 6}))->front()), (Numbers{7, 8}));
        }
    }

    void case30Profiling() {
        TraceOptions options;
        options.profiling = true;
        RepeatedTrace trace = traceOf([](In in) { return nn::exp(in[0] * 2); }, options);
        QVERIFY(!trace.getProfile());
        QVERIFY(trace.call(vec({1})) && trace.call(vec({1})));
        QVERIFY(trace.getProfile().error().what.find("needs 2 calls") != std::string::npos);
        QVERIFY(trace.call(vec({1})));
        const auto profile = nlohmann::json::parse(*trace.getProfile())["profiler"];
        QCOMPARE(profile["exp"]["count"].get<int>(), 1);
        QVERIFY(profile["mul"]["elapsedNs"].get<std::int64_t>() > 0 || profile.contains("mul.Tensor"));
        RepeatedTrace silent = traceOf(quotient, {});
        QVERIFY(silent.getProfile().error().what.find("profiling was off") != std::string::npos);
    }

    void withoutHostTheFunctionIsCalledOnce() {
        TraceOptions options;
        options.withoutHost = true;
        int calls = 0;
        RepeatedTrace trace(
            [&calls](In in) {
                ++calls;
                return nn::sum(in[0]) > 0 ? in[0] * in[1] : in[0] - in[1];
            },
            {{"x", std::nullopt, false, true}, {"n"}}, options);
        const auto call = [&trace](Value x, std::int64_t n) {
            return trace.call(std::vector<Value>{std::move(x), Value::ofInt(n)});
        };
        QCOMPARE(numbers(call(floats({2}, {1, 2}), 3)->front()), (Numbers{3, 6}));
        QCOMPARE(numbers(call(floats({3}, {1, 2, 4}), 3)->front()), (Numbers{3, 6, 12}));
        QCOMPARE(calls, 1);
        // The function would decide otherwise: the guard stops the run.
        const auto other = call(floats({2}, {-1, -2}), 3);
        QVERIFY(!other && other.error().exitStatus() == 4);
        QVERIFY2(other.error().text().find("took the branch because") != std::string::npos,
                 other.error().text().c_str());
        QCOMPARE(errorOf(call(floats({2}, {1, 2}), 4)), std::string("trace error because tensors not equals"));
        const Value doubles(*floats({2}, {1, 2}).tensor().cast(tensor::DType::Float64));
        QCOMPARE(errorOf(call(doubles, 3)), std::string("trace error because dtype mismatch: float32 vs float64"));
        QCOMPARE(numbers(call(floats({2}, {5, 6}), 3)->front()), (Numbers{15, 18}));
        QCOMPARE(calls, 1);
    }

    void imperativeReplaysWhatWasRecorded() {
        TraceOptions options;
        options.imperative = true;
        RepeatedTrace trace = traceOf(quotient, options);
        QVERIFY(trace.call(vec({0})));
        QVERIFY(std::isnan(numbers(trace.call(vec({0}))->front()).front()));  // not 1, as level 2 would have it
        QCOMPARE(operations(*trace.compiled()), operations(*trace.recorded()));
        QVERIFY(trace.passReports().empty());
    }

    void lessMemory() {
        // The first value waits while the middle takes three rows.
        const auto waits = [](In in) {
            const Var first = in[0] + 1, second = first * 2;
            const Var wide = nn::cat({second, second, second}, 0);
            return wide.method("sum", {Var(std::vector<std::int64_t>{0}), Var(true)}, {}) + first;
        };
        const std::vector<Value> input{floats({1, 1024}, std::vector<float>(1024, 0.5F))};
        TraceOptions plain, sublinear, dtr;
        sublinear.sublinearMemoryConfig.emplace();
        dtr.dtrConfig = exec::DtrOptions{4 * 4096, 0};
        std::vector<std::size_t> counts;
        for (const TraceOptions& options : {plain, sublinear, dtr}) {
            RepeatedTrace trace = traceOf(waits, options);
            for (int i = 0; i < 3; ++i) {
                const auto result = trace.call(input);
                QVERIFY2(result, errorOf(result).c_str());
                QCOMPARE(numbers(result->front()), Numbers(1024, 10.5));
            }
            counts.push_back(operations(*trace.compiled()));
        }
        QCOMPARE(counts[1], counts[0] + 1);
        QCOMPARE(counts[2], counts[0] + 1);

        dtr.sublinearMemoryConfig.emplace();
        QVERIFY(errorOf(traceOf(waits, dtr).call(input)).find("cannot be combined") != std::string::npos);
        sublinear.sublinearMemoryConfig->geneticPoolSize = -1;
        QCOMPARE(errorOf(traceOf(waits, sublinear).call(input)), std::string("genetic_pool_size must be 0 or more"));
        TraceOptions imperative;
        imperative.imperative = true;
        imperative.sublinearMemoryConfig.emplace();
        QVERIFY(errorOf(traceOf(waits, imperative).call(input)).starts_with("an imperative trace"));
    }

    void recordingsAreModels() {
        TraceOptions options;
        RepeatedTrace free = traceOf(quotient, options);
        QVERIFY(free.call(vec({1})));
        QVERIFY(free.document().error().what.find("you must specify capture_as_const=True") != std::string::npos);
        options.captureAsConst = true;
        RepeatedTrace constant = traceOf(quotient, options);
        QVERIFY(constant.document().error().what.starts_with("nothing is recorded"));
        QVERIFY(constant.call(vec({1})));
        const auto document = constant.document();
        QVERIFY(document);
        QCOMPARE((*document)->inputs.size(), 1U);
        QCOMPARE((*document)->inputs.front().name, std::string("x"));
        QCOMPARE((*document)->outputs.size(), 1U);
        // y / y of y = 2 x at 0: nothing by the arithmetic of floating-point numbers, 1 once it is simplified.
        for (const auto& [traced, dumped, expected] : {std::tuple(0, 2, std::nan("")), std::tuple(0, 1, 1.0),
                                                       std::tuple(0, 0, std::nan("")), std::tuple(2, 2, 1.0)}) {
            document::TraceOptions level = options;
            level.optLevel = traced;
            RepeatedTrace trace = traceOf(quotient, level);
            QVERIFY(trace.call(vec({0})));
            exporting::DumpOptions how;
            how.optLevel = dumped;
            const auto dump = exporting::makeDump(**trace.document(), {}, how);
            QVERIFY2(dump, dump ? "" : dump.error().text().c_str());
            const double value = test::resultOf(dump->graph, vec({0})).front();
            QVERIFY2(value == expected || (std::isnan(value) && std::isnan(expected)),
                     qPrintable(QString("%1 %2 %3").arg(traced).arg(dumped).arg(value)));
        }
        RepeatedTrace nothing = traceOf([](In) { return Var::none(); }, options);
        QVERIFY(nothing.call(vec({1})));
        QVERIFY(
            nothing.document().error().what.starts_with("the traced function without return values cannot be dumped"));
    }
};

QTEST_GUILESS_MAIN(TestTraceOptions)

}  // namespace tst_trace_options

#include "tst_trace_options.moc"
