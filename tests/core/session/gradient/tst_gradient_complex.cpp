// Gradients through complex numbers: against torch.autograd 1.13 (float64, 1e-8), and against central differences
// (difference_case.h). The gradient of a complex number is ∂L/∂re + i·∂L/∂im; the inputs here are real.

#include <QtTest>

#include <complex>

#include "tests/core/session/gradient/difference_case.h"

namespace tst_gradient_complex {

using namespace sonde;
using namespace sonde::test::gradients;
using namespace sonde::test::gradients::differences;
using graph::Argument;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<double>;

/// Operators of PyTorch, one behind the other.
struct Torch {
    SmallNet& net;

    NodeId operator()(const std::string& op, std::vector<Argument> arguments) const {
        return net.call({"aten", op, 0}, std::move(arguments)).front();
    }
    NodeId operator()(const std::string& op, NodeId x, std::vector<Argument> more = {}) const {
        more.insert(more.begin(), on(x));
        return (*this)(op, std::move(more));
    }
    /// x + i·y
    NodeId complex(NodeId x, NodeId y) const { return (*this)("complex", {on(x), on(y)}); }
    NodeId shaped(NodeId x, const Dims& shape) const { return (*this)("reshape", x, {integers(shape)}); }
};

Argument complexScalar(Complex value) { return Argument::of(Value(Tensor::scalar<Complex>(value))); }

const Numbers kX{0.5, -1.25, 2, 0.75, -0.5, 1.5, -2.25, 1}, kY{1, 0.25, -0.75, 0, 2, -1.5, 0.5, -1},
    kWindow{2.5, 1.75, 0.75, 1.5};

/// A result of two inputs and its gradients for a loss in which element i of the result counts (i + 1) / 4.
struct Known {
    const char* name;
    Numbers x, y;
    std::function<NodeId(const Torch&, NodeId, NodeId)> build;
    Numbers byX, byY;  ///< none: not differentiated by it
};

std::vector<Known> knownGradients() {
    const auto ofSpectrum = [](const char* op) {
        return [op](const Torch& torch, NodeId x, NodeId) { return torch(op, torch("fft_rfft", x)); };
    };
    return {
        {"rfft, abs",
         kX,
         {},
         ofSpectrum("abs"),
         {-0.6479037052, 0.04253818105, 0.2642377079, 2.325516488, -1.105497814, 1.477870933, -2.510836189,
          2.154074398},
         {}},
        {"rfft, angle",
         kX,
         {},
         ofSpectrum("angle"),
         {-0.4106742245, 0.1717050106, 0.6188108318, -0.1468030082, -0.5622987485, -0.3338671727, 0.3541621412,
          0.3089651703},
         {}},
        {"rfft, real",
         kX,
         {},
         ofSpectrum("real"),
         {3.75, -1.353553391, 0.75, -0.6464466094, 0.75, -0.6464466094, 0.75, -1.353553391},
         {}},
        {"rfft, imag",
         kX,
         {},
         ofSpectrum("imag"),
         {0, -1.810660172, 0.5, -0.3106601718, 0, 0.3106601718, -0.5, 1.810660172},
         {}},
        {"stft, abs",
         kX,
         kWindow,
         [](const Torch& torch, NodeId x, NodeId window) {
             return torch("abs", torch("stft", {on(x), integer(4), integer(2), none(), on(window), flag(false), none(),
                                                flag(true)}));
         },
         {4.811855826, -4.370037211, 10.88496689, -3.755120077, -1.439383611, 5.768683341, -1.532752044, 2.402989489},
         {8.903355377, 8.432380123, 8.114476197, -0.7029628389}},
        {"complex, abs",
         kX,
         kY,
         [](const Torch& torch, NodeId x, NodeId y) { return torch("abs", torch.complex(x, y)); },
         {0.1118033989, -0.4902903378, 0.7022468832, 1, -0.3031695313, 1.060660172, -1.708327355, 1.414213562},
         {0.2236067977, 0.09805806757, -0.2633425812, 0, 1.212678125, -1.060660172, 0.3796283012, -1.414213562}},
        {"abs of zero",
         {0, 3},
         {0, 4},
         [](const Torch& torch, NodeId x, NodeId y) { return torch("abs", torch.complex(x, y)); },
         {0, 0.3},
         {0, 0.4}},
        {"angle of zero",
         {0, 3},
         {0, 4},
         [](const Torch& torch, NodeId x, NodeId y) { return torch("angle", torch.complex(x, y)); },
         {0, -0.08},
         {0, 0.06}},
        {"exp of 1j x, real",
         kX,
         {},
         [](const Torch& torch, NodeId x, NodeId) {
             return torch("real", torch("exp", torch("mul.Tensor", {on(x), complexScalar({0, 1})})));
         },
         {-0.1198563847, 0.4744923097, -0.6819730701, -0.68163876, 0.5992819233, -1.49624248, 1.361628095, -1.68294197},
         {}},
        {"matmul, abs",
         kX,
         kY,
         [](const Torch& torch, NodeId x, NodeId y) {
             const NodeId a = torch.shaped(torch.complex(x, y), {2, 4}), b = torch.shaped(torch.complex(y, x), {4, 2});
             return torch("abs", torch("matmul", {on(a), on(b)}));
         },
         {0.0180687814, -1.751777826, 1.5357837, 2.167288373, -1.221668109, 1.691221852, -3.005294242, -1.036993532},
         {0.7871176289, -0.1111119364, -2.562664902, 1.792546273, 3.987138355, -2.998345058, -1.724861825,
          -1.158917013}},
        {"irfft2",
         kX,
         kY,
         [](const Torch& torch, NodeId x, NodeId y) {
             return torch("fft_irfft2", torch.shaped(torch.complex(x, y), {2, 4}),
                          {integers({3, 5}), integers({-2, -1}), Argument::of(Value(std::string("ortho")))});
         },
         {7.745966692, -0.9682458366, -0.9682458366, 0, -2.420614591, 0, 0, 0},
         {0, 1.332676064, 0.3146021431, 0, 1.397542486, 0, 0, 0}},
        {"div",
         kX,
         kY,
         [](const Torch& torch, NodeId x, NodeId y) {
             return torch("view_as_real", torch("div.Tensor", {on(torch.complex(x, y)), on(torch.complex(y, x))}));
         },
         {-0.4, -0.09467455621, -0.01463689248, 0, 2.975778547, -2, -0.2751557093, -4},
         {0.2, -0.4733727811, -0.03903171327, 4.666666667, 0.7439446367, -2, -1.238200692, -4}},
        {"conj, mul, imag",
         kX,
         kY,
         [](const Torch& torch, NodeId x, NodeId y) {
             const NodeId turned = torch("conj", torch.complex(x, y));
             return torch("imag", torch("mul.Tensor", {on(turned), on(torch.complex(y, x))}));
         },
         {0.25, -1.25, 3, 1.5, -1.25, 4.5, -7.875, 4},
         {-0.5, -0.25, 1.125, 0, -5, 4.5, -1.75, 4}},
        {"norm",
         kX,
         kY,
         [](const Torch& torch, NodeId x, NodeId y) { return torch("linalg_vector_norm", torch.complex(x, y)); },
         {0.02548235957, -0.06370589893, 0.1019294383, 0.03822353936, -0.02548235957, 0.07644707872, -0.1146706181,
          0.05096471914},
         {0.05096471914, 0.01274117979, -0.03822353936, 0, 0.1019294383, -0.07644707872, 0.02548235957,
          -0.05096471914}},
    };
}

Tensor vectorOf(const Numbers& numbers) { return Tensor::of<double>({std::int64_t(numbers.size())}, numbers); }

/// The loss of Known: its result flattened, times weights, summed.
NodeId weighedSum(const Torch& torch, NodeId result, std::size_t count) {
    Numbers weights;
    for (std::size_t i = 0; i < count; ++i) weights.push_back(static_cast<double>(i + 1) / 4);
    const NodeId flat = torch.shaped(result, {-1});
    return torch("sum", torch("mul.Tensor", {on(flat), Argument::of(Value(vectorOf(weights)))}));
}

}  // namespace

class TestGradientComplex : public QObject {
    Q_OBJECT

  private slots:
    void gradientsAreThoseOfPyTorch_data() {
        QTest::addColumn<int>("index");
        int index = 0;
        for (const Known& known : knownGradients()) QTest::newRow(known.name) << index++;
    }
    void gradientsAreThoseOfPyTorch() {
        QFETCH(int, index);
        const Known known = knownGradients()[static_cast<std::size_t>(index)];
        // How many elements the result has is found by a run of its own.
        std::size_t count = 0;
        for (const bool isMeasured : {true, false}) {
            SmallNet net;
            const Torch torch{net};
            const NodeId x = net.input("x", vectorOf(known.x)),
                         y = known.y.empty() ? NodeId() : net.input("y", vectorOf(known.y));
            const NodeId result = known.build(torch, x, y);
            const auto document = net.finish(isMeasured ? result : weighedSum(torch, result, count));
            if (isMeasured) {
                const auto plan = exec::Plan::make(document->graph, {});
                QVERIFY2(plan.has_value(), plan ? "" : plan.error().text().c_str());
                const exec::Recording recording = exec::Runner(1).run(**plan, net.inputs, {});
                QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
                count = static_cast<std::size_t>(recording.outputs[0].tensor().numel());
                continue;
            }
            const auto found = differentiate(document, net.inputs);
            QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
            for (std::size_t input = 0; input < net.inputs.size(); ++input) {
                const Numbers& due = input == 0 ? known.byX : known.byY;
                const Tensor& gradient = found->gradients[input].gradient;
                QVERIFY(found->gradients[input].isReached);
                QCOMPARE(gradient.numel(), std::int64_t(due.size()));
                for (std::int64_t i = 0; i < gradient.numel(); ++i)
                    QVERIFY2(std::abs(gradient.toDouble(i) - due[std::size_t(i)]) < 1e-8,
                             qPrintable(QString("input %1, element %2: %3 instead of %4")
                                            .arg(input)
                                            .arg(i)
                                            .arg(gradient.toDouble(i), 0, 'g', 12)
                                            .arg(due[std::size_t(i)], 0, 'g', 12)));
            }
        }
    }

    void agreesWithDifferences_data();
    void agreesWithDifferences();
    void refusesByName();
};

static std::map<std::string, Case> differenceCases() {
    std::map<std::string, Case> all;
    const auto one = [&all](const std::string& name, std::vector<Dims> shapes,
                            std::function<NodeId(const Torch&, const Nodes&)> build, double low = 0.3) {
        all[name] = {
            std::move(shapes),
            [build = std::move(build)](SmallNet& net, const Nodes& xs) { return Nodes{build(Torch{net}, xs)}; }, low,
            1.7};
    };
    // Functions of a complex number, by both parts.
    for (const char* op : {"exp", "sqrt", "square", "reciprocal", "tanh", "neg", "conj", "angle", "abs"})
        one(op, {{2, 3}, {2, 3}}, [op](const Torch& torch, const Nodes& xs) {
            const NodeId y = torch(op, torch.complex(xs[0], xs[1]));
            const bool isReal = std::string(op) == "abs" || std::string(op) == "angle";
            return isReal ? y : torch("view_as_real", y);
        });
    one("pow", {{3}, {3}}, [](const Torch& torch, const Nodes& xs) {
        return torch("view_as_real", torch("pow.Tensor_Scalar", torch.complex(xs[0], xs[1]), {number(2.5)}));
    });
    one("polar", {{3}, {3}}, [](const Torch& torch, const Nodes& xs) {
        return torch("view_as_real", torch("polar", {on(xs[0]), on(xs[1])}));
    });
    one("broadcast products and sums", {{2, 3}, {3}, {2, 1}}, [](const Torch& torch, const Nodes& xs) {
        const NodeId z = torch.complex(xs[0], xs[1]);
        const NodeId scaled = torch("div.Tensor", {on(z), on(xs[2])});
        const NodeId sum = torch("add.Tensor", {on(scaled), on(xs[1])});
        return torch("view_as_real", torch("mul.Tensor", {on(sum), on(z)}));
    });
    one("moved elements", {{2, 3}, {2, 3}}, [](const Torch& torch, const Nodes& xs) {
        const NodeId z = torch.complex(xs[0], xs[1]);
        const NodeId both = torch("cat", {Argument::container(Argument::Kind::List, {on(z), on(xs[0])}), integer(1)});
        const NodeId turned = torch("transpose.int", both, {integer(0), integer(1)});
        const NodeId part = torch("slice.Tensor", turned, {integer(0), integer(1), integer(5), integer(2)});
        return torch("abs", torch("sum.dim_IntList", part, {integers({1})}));
    });
    one("pairs as complex numbers", {{3, 2}},
        [](const Torch& torch, const Nodes& xs) { return torch("abs", torch("view_as_complex", xs[0])); });
    // Transforms: lengths that cut and fill, every normalisation, both ways.
    for (const char* norm : {"backward", "ortho", "forward"}) {
        const Argument text = Argument::of(Value(std::string(norm)));
        for (const std::int64_t n : {3, 5, 6})
            for (const char* op : {"fft_fft", "fft_ifft", "fft_irfft"})
                one(std::string(op) + " " + norm + " " + std::to_string(n), {{2, 5}, {2, 5}},
                    [=](const Torch& torch, const Nodes& xs) {
                        const NodeId y = torch(op, torch.complex(xs[0], xs[1]), {integer(n), integer(-1), text});
                        return std::string(op) == "fft_irfft" ? y : torch("view_as_real", y);
                    });
        one(std::string("rfft of rows ") + norm, {{4, 3}}, [=](const Torch& torch, const Nodes& xs) {
            return torch("view_as_real", torch("fft_rfft", xs[0], {integer(5), integer(0), text}));
        });
        one(std::string("rfftn and irfftn ") + norm, {{3, 4}}, [=](const Torch& torch, const Nodes& xs) {
            const NodeId spectrum = torch("fft_rfftn", xs[0], {none(), none(), text});
            const NodeId shifted = torch("fft_fftshift", torch("mul.Tensor", {on(spectrum), on(spectrum)}));
            return torch("fft_irfftn", shifted, {none(), integers({0, 1}), text});
        });
    }
    for (const bool isNormalized : {false, true})
        one(isNormalized ? "stft of a batch, normalized" : "stft of a batch", {{2, 11}, {3}},
            [=](const Torch& torch, const Nodes& xs) {
                const NodeId y = torch("stft", {on(xs[0]), integer(4), integer(3), integer(3), on(xs[1]),
                                                flag(isNormalized), flag(true), flag(true)});
                return torch("view_as_real", y);
            });
    for (const bool isOneSided : {false, true})
        one(isOneSided ? "istft" : "istft of both sides", {{isOneSided ? 3 : 4, 3}, {isOneSided ? 3 : 4, 3}, {4}},
            [=](const Torch& torch, const Nodes& xs) {
                return torch("istft", {on(torch.complex(xs[0], xs[1])), integer(4), integer(2), none(), on(xs[2]),
                                       flag(true), flag(false), flag(isOneSided), none(), flag(false)});
            });
    return all;
}

void TestGradientComplex::agreesWithDifferences_data() {
    QTest::addColumn<QByteArray>("name");
    for (const auto& [name, unused] : differenceCases()) QTest::newRow(name.c_str()) << QByteArray(name.c_str());
}
void TestGradientComplex::agreesWithDifferences() {
    QFETCH(QByteArray, name);
    const QString wrong = wrongDerivative(differenceCases().at(name.toStdString()));
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

// Not silently zero: a function of complex numbers without a rule, with its node and operator.
void TestGradientComplex::refusesByName() {
    SmallNet net;
    const Torch torch{net};
    const NodeId x = net.input("x", vectorOf({0.5, 1.5})), y = net.input("y", vectorOf({2, 1}));
    const NodeId loss = torch("sum", torch("abs", torch("sgn", torch.complex(x, y))));
    const auto found = differentiate(net.finish(loss), net.inputs);
    QVERIFY(!found.has_value());
    const QString text = QString::fromStdString(found.error().text());
    QVERIFY2(text.contains("(sgn) cannot be differentiated: there is no rule for its derivative on complex numbers"),
             qPrintable(text));
}

QTEST_GUILESS_MAIN(TestGradientComplex)

}  // namespace tst_gradient_complex

#include "tst_gradient_complex.moc"
