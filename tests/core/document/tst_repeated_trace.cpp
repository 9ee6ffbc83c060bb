// Traces that later calls are held against. Numbers in names are those of the acceptance cases of the reference page on
// dumps.

#include <QtTest>

#include "core/document/repeated_trace.h"
#include "core/nn/functional.h"
#include "core/trace/tracer.h"

namespace tst_repeated_trace {

using namespace sonde;
using document::RepeatedTrace;
using tensor::Tensor;
using tensor::Value;
using trace::Var;

namespace {

using In = std::span<const Var>;
using Step = Var (*)(In);

Value floats(std::vector<float> values) {
    return Value(Tensor::of<float>(tensor::Shape{static_cast<std::int64_t>(values.size())}, values));
}
std::vector<Value> threeInputs() { return {floats({1, 2}), floats({10, 20}), floats({100, 200})}; }
std::vector<trace::ForwardParameter> parameters(int count) {
    std::vector<trace::ForwardParameter> result;
    for (int i = 0; i < count; ++i)
        result.push_back({std::string(1, static_cast<char>('a' + i)), std::nullopt, false, true});
    return result;
}

/// (a + b, b + c), of which one is taken.
template <int index>
Var oneOfTwo(In in) {
    const Var sums[] = {in[0] + in[1], in[1] + in[2]};
    return sums[index];
}
Var sum(In in) { return in[0] + in[1]; }
Var sumOfAll(In in) { return in[0] + in[1] + in[2]; }

Var bothSums(In in) {
    const Var first = in[0] + in[1], second = in[1] + in[2];
    return Var::tuple({first, second});
}

QList<QList<double>> numbersOf(const std::vector<Value>& values) {
    QList<QList<double>> all;
    for (const Value& value : values) {
        QList<double> numbers;
        if (!value.isTensor()) numbers.push_back(static_cast<double>(value.toInt()));
        else
            for (std::int64_t i = 0; i < value.tensor().numel(); ++i) numbers.push_back(value.tensor().toDouble(i));
        all.push_back(numbers);
    }
    return all;
}

struct OwnError {
    int number;
};

}  // namespace

class TestRepeatedTrace : public QObject {
    Q_OBJECT

  private slots:
    void case8WhatIsNotRepeated_data() {
        QTest::addColumn<Step>("normal");
        QTest::addColumn<Step>("other");
        QTest::addColumn<QByteArray>("reason");
        const auto row = [](const char* name, Step normal, Step other, const char* reason) {
            QTest::newRow(name) << normal << other << QByteArray(reason);
        };
        row(
            "another operator", sumOfAll, [](In in) { return in[0] + in[1] - in[2]; }, "operator mismatch");
        row(
            "another number", [](In in) { return sum(in) + 1; }, [](In in) { return sum(in) + 2; },
            "tensors not equals");
        row("too few", oneOfTwo<0>, sum, "mismature end");
        row(
            "operands swapped", sumOfAll, [](In in) { return in[2] + (in[0] + in[1]); },
            "expect internal node, got external");
        row(
            "operands swapped, the other way", [](In in) { return in[2] + (in[0] + in[1]); }, sumOfAll,
            "expect external node, got internal");
        row(
            "too many", sumOfAll, [](In in) { return sumOfAll(in) + in[2]; }, "too many instructions");
        row("another result", oneOfTwo<1>, oneOfTwo<0>, "data unreadable");
        row(
            "another operand", [](In in) { return oneOfTwo<1>(in) + in[0]; },
            [](In in) { return oneOfTwo<0>(in) + in[0]; }, "input id mismatch");
        row(
            "another input", sum, [](In in) { return in[0] + in[2]; }, "input id mismatch");
        row(
            "another decision", sumOfAll, [](In in) { return nn::sum(in[0]) > 0 ? sumOfAll(in) : in[0]; },
            "operator mismatch");
    }
    void case8WhatIsNotRepeated() {
        QFETCH(Step, normal);
        QFETCH(Step, other);
        QFETCH(QByteArray, reason);
        Step now = normal;
        RepeatedTrace trace([&now](In in) { return now(in); }, parameters(3));
        const std::vector<Value> inputs = threeInputs();
        const auto first = trace.call(inputs);
        QVERIFY2(first, first ? "" : first.error().text().c_str());
        now = other;
        const auto second = trace.call(inputs);
        QVERIFY(!second);
        QCOMPARE(second.error().what, "trace error because " + reason.toStdString());
        now = normal;
        const auto third = trace.call(inputs);
        QVERIFY2(third, third ? "" : third.error().text().c_str());
        QVERIFY(tensor::identical(first->front(), third->front()));
    }

    void laterCallsReturnWhatTheFunctionReturns_data() {
        QTest::addColumn<Step>("other");
        QTest::addColumn<QList<QList<double>>>("expected");
        const auto row = [](const char* name, Step other, QList<QList<double>> expected) {
            QTest::newRow(name) << other << expected;
        };
        row("the same", bothSums, {{11, 22}, {110, 220}});
        row("swapped",
            [](In in) {
                const Var first = in[0] + in[1], second = in[1] + in[2];
                return Var::tuple({second, first});
            },
            {{110, 220}, {11, 22}});
        row("one value less",
            [](In in) {
                const Var first = in[0] + in[1], second = in[1] + in[2];
                return Var::tuple({second});
            },
            {{110, 220}});
        row("one value twice",
            [](In in) {
                const Var first = in[0] + in[1], second = in[1] + in[2];
                return Var::list({second, second, first});
            },
            {{110, 220}, {110, 220}, {11, 22}});
        row("an input",
            [](In in) {
                const Var first = in[0] + in[1], second = in[1] + in[2];
                return Var::tuple({in[2], second});
            },
            {{100, 200}, {110, 220}});
        row("a number",
            [](In in) {
                const Var first = in[0] + in[1], second = in[1] + in[2];
                return Var::tuple({first, 7});
            },
            {{11, 22}, {7}});
        row("only a number",
            [](In in) {
                (void)bothSums(in);
                return Var(7);
            },
            {{7}});
        row("nothing",
            [](In in) {
                (void)bothSums(in);
                return Var();
            },
            {});
    }
    /// What is returned may change with each call, whichever form was compiled last.
    void laterCallsReturnWhatTheFunctionReturns() {
        QFETCH(Step, other);
        QFETCH(QList<QList<double>>, expected);
        for (const bool isSymbolic : {false, true}) {
            Step now = bothSums;
            document::TraceOptions options;
            options.symbolic = isSymbolic;
            RepeatedTrace trace([&now](In in) { return now(in); }, parameters(3), options);
            const std::vector<Value> inputs = threeInputs();
            const QList<QList<double>> usual{{11, 22}, {110, 220}};
            for (const bool isOther : {false, true, true, false, false, true}) {
                now = isOther ? other : bothSums;
                const auto result = trace.call(inputs);
                QVERIFY2(result, result ? "" : result.error().text().c_str());
                QCOMPARE(numbersOf(*result), isOther ? expected : usual);
            }
        }
    }

    /// A form is compiled once for each thing that the function returns, and the last eight are kept.
    void alternatingResultsAreCompiledOnce() {
        int number = 0;
        RepeatedTrace trace([&number](In in) { return Var::tuple({sum(in), number}); }, parameters(2));
        const std::vector<Value> inputs{floats({1, 2}), floats({10, 20})};
        const auto formOf = [&](int now) {
            number = now;
            const auto result = trace.call(inputs);
            const bool isRight = result && numbersOf(*result) == QList<QList<double>>{{11, 22}, {double(now)}};
            return isRight ? trace.compiled() : nullptr;
        };
        QVERIFY(trace.call(inputs));
        const auto first = formOf(1), second = formOf(2);
        QVERIFY(first && second && first != second);
        QVERIFY(formOf(1) == first);
        QVERIFY(formOf(2) == second);
        for (int i = 3; i <= 8; ++i) QVERIFY(formOf(i));
        QVERIFY(formOf(1) == first);  // the eighth
        QVERIFY(formOf(9));           // takes the place of the one that was not used for the longest time
        QVERIFY(formOf(1) == first);
        QVERIFY(formOf(2) != second);
    }

    /// The function is called again and decides for itself: what the first call decided stops nothing. Only without the
    /// host there is nobody to ask.
    void laterCallsMayDecideOtherwise() {
        int positive = 0;
        const auto function = [&positive](In in) {
            if (in[0].method("sum", {}, {}).toBool()) ++positive;
            return in[0] + in[1];
        };
        const std::vector<Value> yes{floats({1, 2}), floats({10, 20})}, no{floats({1, -1}), floats({10, 20})};
        RepeatedTrace trace(function, parameters(2));
        for (const auto* inputs : {&yes, &yes, &no, &yes, &no}) {
            const auto result = trace.call(*inputs);
            QVERIFY2(result, result ? "" : result.error().text().c_str());
            QCOMPARE(result->front().tensor().toDouble(1), inputs == &yes ? 22.0 : 19.0);
        }
        QCOMPARE(positive, 3);
        document::TraceOptions alone;
        alone.withoutHost = true;
        RepeatedTrace replayed(function, parameters(2), alone);
        QVERIFY(replayed.call(yes) && replayed.call(yes));
        QVERIFY(!replayed.call(no));
    }

    void otherInputsRunAndOtherTypesDoNot() {
        RepeatedTrace trace(sumOfAll, parameters(3));
        QVERIFY(trace.call(threeInputs()));
        const auto other =
            trace.call(std::vector<Value>{floats({1, 2, 3}), floats({10, 20, 30}), floats({100, 200, 300})});
        QVERIFY(other && other->front().tensor().toDouble(2) == 333);
        std::vector<Value> doubles;
        for (const Value& value : threeInputs()) doubles.emplace_back(*value.tensor().cast(tensor::DType::Float64));
        const auto wrong = trace.call(doubles);
        QVERIFY(!wrong);
        QCOMPARE(wrong.error().what, std::string("trace error because dtype mismatch: float32 vs float64"));
        QCOMPARE(trace.call(std::vector<Value>{floats({1})}).error().exitStatus(), 2);
    }

    void case9WhatTheFunctionThrowsReachesTheCaller() {
        bool fails = false;
        const OwnError* thrown = nullptr;
        RepeatedTrace trace(
            [&](In in) {
                if (!fails) return sum(in);
                (void)(in[0] - in[1]);  // not what was recorded: the exception wins
                static const OwnError error{42};
                thrown = &error;
                throw thrown;
            },
            parameters(2));
        const std::vector<Value> inputs{floats({1}), floats({2})};
        QVERIFY(trace.call(inputs));
        fails = true;
        try {
            (void)trace.call(inputs);
            QFAIL("nothing was thrown");
        } catch (const OwnError* caught) {
            QCOMPARE(caught, thrown);
            QCOMPARE(caught->number, 42);
        }
        QVERIFY(!trace::Tracer::active());
        fails = false;
        const auto again = trace.call(inputs);
        QVERIFY(again && again->front().tensor().toDouble(0) == 3);
    }

    void case10WhatIsExcludedMayDiffer() {
        int calls = 0;
        double outside = 0;
        RepeatedTrace trace(
            [&](In in) {
                {
                    const trace::PausedTracing paused;
                    const Var x(floats({3}));
                    const Var y = ++calls % 2 == 1 ? x + 1 : (x * x) - 1;
                    outside = y.value().tensor().toDouble(0);
                }
                return sum(in);
            },
            parameters(2));
        const std::vector<Value> inputs{floats({1}), floats({2})};
        for (const double expected : {4.0, 8.0, 4.0}) {
            const auto result = trace.call(inputs);
            QVERIFY2(result, result ? "" : result.error().text().c_str());
            QCOMPARE(result->front().tensor().toDouble(0), 3.0);
            QCOMPARE(outside, expected);
        }
        QCOMPARE(trace.recorded()->main().outputs.size(), 1U);
    }
};

QTEST_GUILESS_MAIN(TestRepeatedTrace)

}  // namespace tst_repeated_trace

#include "tst_repeated_trace.moc"
