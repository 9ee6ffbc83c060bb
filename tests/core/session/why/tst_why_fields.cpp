// The receptive field of recurrent layers: the steps that come before in the layer's direction, and no others. Expected
// boxes are worked by hand, and are those of the elements of x that change the result when they are changed.

#include <QtTest>

#include <optional>

#include "core/base/thread_pool.h"
#include "tests/core/session/gradient/difference_case.h"
#include "tests/core/session/why/debugged_net.h"

namespace tst_why_fields {

using namespace sonde;
using namespace sonde::test::gradients;
using namespace sonde::test::gradients::differences;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using Index = std::vector<std::int64_t>;
using test::why::DebuggedNet;

namespace {

struct Found {
    Index begin, end;
    bool isExact = false;
};

Index indexIn(const QJsonValue& value) {
    Index index;
    for (const QJsonValue& one : value.toArray()) index.push_back(one.toInt());
    return index;
}

/// What the command says of an input.
std::optional<Found> fieldOf(DebuggedNet& run, const std::string& element, const QString& input) {
    for (const QJsonValue& one : run.answer("field " + element).value("field").toArray()) {
        const QJsonObject box = one.toObject();
        if (box.value("node").toString() == input)
            return Found{indexIn(box.value("begin")), indexIn(box.value("end")), box.value("exact").toBool()};
    }
    return std::nullopt;
}

std::string elementText(const Index& at) {
    std::string text = "loss[";
    for (const std::int64_t i : at) text += (text.back() == '[' ? "" : ",") + std::to_string(i);
    return text + "]";
}

/// The box of the elements of the first input whose change changes an element of the result.
std::optional<Found> changing(const std::function<double(const Tensor&)>& result, const Tensor& x) {
    std::optional<Found> found;
    const double before = result(x);
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        Tensor other = x.clone().value();
        other.mutableData<double>()[i] += 0.25;
        if (result(other) == before) continue;
        std::int64_t rest = i;
        Index at(x.rank());
        for (std::size_t d = x.rank(); d-- > 0; rest /= x.dim(d)) at[d] = rest % x.dim(d);
        if (!found) found = Found{at, at};
        for (std::size_t d = 0; d < at.size(); ++d) {
            found->begin[d] = std::min(found->begin[d], at[d]);
            found->end[d] = std::max(found->end[d], at[d] + 1);
        }
    }
    return found;
}

Value called(const ops::OpDef& op, std::vector<Value> inputs, const Attributes& attributes, std::size_t output) {
    base::ThreadPool pool(1);
    ops::RunEnvironment environment;
    environment.pool = &pool;
    auto results = ops::call(op, inputs, attributes, op.outputs.size(), environment, 14);
    return results ? (*results)[output] : Value();
}

std::int64_t elementAt(const Index& at, const Shape& shape) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < shape.rank(); ++d) element = element * shape[d] + at[d];
    return element;
}

constexpr std::int64_t kSteps = 5, kInputs = 3, kUnits = 2;

}  // namespace

class TestWhyFields : public QObject {
    Q_OBJECT

  private slots:
    void stepsOfRecurrentLayers_data() {
        QTest::addColumn<QString>("direction");
        QTest::addColumn<QString>("lengths");
        QTest::addColumn<int>("output");
        QTest::addColumn<QList<int>>("at");        // [step, direction, batch, unit], or without the step
        QTest::addColumn<QList<int>>("expected");  // first step, last step + 1, batch; nothing: none
        using Ints = QList<int>;
        QTest::newRow("forward") << "forward"
                                 << "" << 0 << Ints{2, 0, 1, 0} << Ints{0, 3, 1};
        QTest::newRow("forward, first") << "forward"
                                        << "" << 0 << Ints{0, 0, 0, 1} << Ints{0, 1, 0};
        QTest::newRow("reverse") << "reverse"
                                 << "" << 0 << Ints{2, 0, 1, 0} << Ints{2, 5, 1};
        QTest::newRow("reverse, last") << "reverse"
                                       << "" << 0 << Ints{4, 0, 1, 0} << Ints{4, 5, 1};
        QTest::newRow("forward half") << "bidirectional"
                                      << "" << 0 << Ints{3, 0, 0, 1} << Ints{0, 4, 0};
        QTest::newRow("reverse half") << "bidirectional"
                                      << "" << 0 << Ints{3, 1, 0, 1} << Ints{3, 5, 0};
        QTest::newRow("last state") << "forward"
                                    << "" << 1 << Ints{0, 1, 1} << Ints{0, 5, 1};
        QTest::newRow("last states") << "bidirectional"
                                     << "" << 1 << Ints{1, 0, 1} << Ints{0, 5, 0};
        QTest::newRow("short, reverse") << "reverse"
                                        << "3,4" << 0 << Ints{1, 0, 0, 1} << Ints{1, 3, 0};
        QTest::newRow("short, forward") << "forward"
                                        << "3,4" << 0 << Ints{3, 0, 1, 1} << Ints{0, 4, 1};
        QTest::newRow("short, last state") << "forward"
                                           << "3,4" << 1 << Ints{0, 0, 1} << Ints{0, 3, 0};
        QTest::newRow("behind the end") << "bidirectional"
                                        << "3,4" << 0 << Ints{3, 1, 0, 1} << Ints{};
    }

    void stepsOfRecurrentLayers() {
        QFETCH(QString, direction);
        QFETCH(QString, lengths);
        QFETCH(int, output);
        QFETCH(QList<int>, at);
        QFETCH(QList<int>, expected);
        for (const auto& [name, gates, outputs] :
             {std::tuple("RNN", 1, 2), std::tuple("GRU", 3, 2), std::tuple("LSTM", 4, 3)}) {
            const std::int64_t d = direction == "bidirectional" ? 2 : 1;
            SmallNet net;
            const graph::NodeId x = net.input("x", spread({kSteps, 2, kInputs}, 1, -1, 1)),
                                w = net.input("w", spread({d, gates * kUnits, kInputs}, 2, -1, 1)),
                                r = net.input("r", spread({d, gates * kUnits, kUnits}, 3, -1, 1));
            std::vector<Argument> arguments{on(x), on(w), on(r), Argument::omitted()};
            Value ends;
            if (!lengths.isEmpty()) {
                ends = Value(Tensor::of<std::int32_t>({2}, {3, 4}));
                arguments.push_back(Argument::of(ends));
            }
            const Attributes attributes{{"hidden_size", kUnits}, {"direction", direction.toStdString()}};
            const Nodes results = onnx(net, name, 14, arguments, attributes, outputs);
            const std::vector<Value> inputs = net.inputs;
            DebuggedNet run(net.finish(results[static_cast<std::size_t>(output)]), inputs);
            const Index index(at.begin(), at.end());
            const auto found = fieldOf(run, elementText(index), "x");
            const auto changes = changing(
                [&, op = std::string(name)](const Tensor& given) {
                    const Value result = called(*ops::Registry::all().find("", op, 14),
                                                {Value(given), inputs[1], inputs[2], Value(), ends}, attributes,
                                                static_cast<std::size_t>(output));
                    return result.tensor().toDouble(elementAt(index, result.tensor().shape()));
                },
                inputs[0].tensor());
            QCOMPARE(found.has_value(), !expected.isEmpty());
            QCOMPARE(changes.has_value(), !expected.isEmpty());
            if (!found) continue;
            QVERIFY2(found->isExact, name);
            QCOMPARE(found->begin, (Index{expected[0], expected[2], 0}));
            QCOMPARE(found->end, (Index{expected[1], expected[2] + 1, kInputs}));
            QCOMPARE(changes->begin, found->begin);
            QCOMPARE(changes->end, found->end);
        }
    }

    /// Of the layers below, all that each of their steps is made of.
    void stepsOfLayersAboveEachOther() {
        for (const auto& [name, gates, states] :
             {std::tuple("rnn_tanh.input", 1, 1), std::tuple("gru.input", 3, 1), std::tuple("lstm.input", 4, 2)}) {
            for (const bool isBoth : {false, true}) {
                const std::int64_t d = isBoth ? 2 : 1;
                const auto floats = [](const Dims& shape, int seed) {
                    return spread(shape, seed, -1, 1).cast(tensor::DType::Float32).value();
                };
                const Value x(floats({2, kSteps, kInputs}, 1));
                tensor::ValueList parameters, hidden;
                int seed = 2;
                for (std::int64_t layer = 0; layer < 2; ++layer)
                    for (std::int64_t direction = 0; direction < d; ++direction) {
                        parameters.emplace_back(floats({gates * kUnits, layer == 0 ? kInputs : d * kUnits}, seed++));
                        parameters.emplace_back(floats({gates * kUnits, kUnits}, seed++));
                    }
                for (int s = 0; s < states; ++s)
                    hidden.emplace_back(Tensor::zeros(tensor::DType::Float32, {2 * d, 2, kUnits}).value());
                SmallNet net;
                const graph::NodeId input = net.input("x", x.tensor());
                const Value hx = states == 2 ? Value::list(hidden) : hidden.front();
                const std::vector<Argument> arguments{
                    on(input),   Argument::of(hx), Argument::of(Value::list(parameters)),
                    flag(false), integer(2),       number(0),
                    flag(false), flag(isBoth),     flag(true)};
                const Nodes results = net.call({"aten", name, 0}, arguments, {}, static_cast<std::size_t>(states) + 1);
                DebuggedNet run(net.finish(results[0]), net.inputs);
                const auto found = fieldOf(run, elementText({1, 2, 0}), "x");
                QVERIFY2(found && found->isExact,
                         (name + test::why::text(run.answer("field " + elementText({1, 2, 0})))).constData());
                QCOMPARE(found->begin, (Index{1, 0, 0}));
                QCOMPARE(found->end, (Index{2, isBoth ? kSteps : 3, kInputs}));
            }
        }
    }

    /// The weights of all units take part, once there is a state before.
    void weightsOfUnits() {
        SmallNet net;
        const graph::NodeId x = net.input("x", spread({kSteps, 1, kInputs}, 1, -1, 1)),
                            w = net.input("w", spread({1, 4 * kUnits, kInputs}, 2, -1, 1)),
                            r = net.input("r", spread({1, 4 * kUnits, kUnits}, 3, -1, 1));
        const Nodes results = onnx(net, "LSTM", 14, {on(x), on(w), on(r)}, {{"hidden_size", kUnits}}, 3);
        DebuggedNet run(net.finish(results[0]), net.inputs);
        const auto whole = fieldOf(run, "loss[3,0,0,0]", "w");
        QVERIFY(whole);
        QCOMPARE(whole->begin, (Index{0, 0, 0}));
        QCOMPARE(whole->end, (Index{1, 4 * kUnits, kInputs}));
        QVERIFY(fieldOf(run, "loss[3,0,0,0]", "r").has_value());
    }
};

QTEST_GUILESS_MAIN(TestWhyFields)

}  // namespace tst_why_fields

#include "tst_why_fields.moc"
