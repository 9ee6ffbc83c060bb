#include <QtTest>

#include "core/nn/activation.h"
#include "core/nn/dropout.h"
#include "tests/core/nn/layer_run.h"

namespace tst_nn_activation {

using namespace sonde;
using namespace sonde::test;

namespace {

template <typename L, typename... Args>
std::shared_ptr<nn::Module> make(Args&&... args) {
    return std::make_shared<L>(std::forward<Args>(args)...);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Row {
    std::shared_ptr<nn::Module> layer;
    double (*formula)(double);
};

const std::vector<Row>& rows() {
    static const std::vector<Row> table{
        {make<nn::ReLU>(), [](double x) { return std::max(x, 0.0); }},
        {make<nn::ReLU6>(), [](double x) { return std::min(std::max(x, 0.0), 6.0); }},
        {make<nn::Hardtanh>(-2, 0.5), [](double x) { return std::min(std::max(x, -2.0), 0.5); }},
        {make<nn::LeakyReLU>(0.2), [](double x) { return x > 0 ? x : 0.2 * x; }},
        {make<nn::RReLU>(0.1, 0.3), [](double x) { return x > 0 ? x : 0.2 * x; }},
        {make<nn::PReLU>(1, 0.3), [](double x) { return x > 0 ? x : 0.3 * x; }},
        {make<nn::ELU>(1.5), [](double x) { return x > 0 ? x : 1.5 * (std::exp(x) - 1); }},
        {make<nn::CELU>(2), [](double x) { return std::max(x, 0.0) + std::min(0.0, 2 * (std::exp(x / 2) - 1)); }},
        {make<nn::SELU>(),
         [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (std::exp(x) - 1)); }},
        {make<nn::GELU>(), [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }},
        {make<nn::GELU>("tanh"),
         [](double x) {
             return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979324) * (x + 0.044715 * x * x * x)));
         }},
        {make<nn::SiLU>(), [](double x) { return x * sigmoid(x); }},
        {make<nn::Mish>(), [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
        {make<nn::Sigmoid>(), sigmoid},
        {make<nn::LogSigmoid>(), [](double x) { return std::log(sigmoid(x)); }},
        {make<nn::Tanh>(), [](double x) { return std::tanh(x); }},
        {make<nn::Tanhshrink>(), [](double x) { return x - std::tanh(x); }},
        {make<nn::Softplus>(2, 20), [](double x) { return std::log1p(std::exp(2 * x)) / 2; }},
        {make<nn::Softsign>(), [](double x) { return x / (1 + std::fabs(x)); }},
        {make<nn::Softshrink>(0.5), [](double x) { return x > 0.5    ? x - 0.5
                                                          : x < -0.5 ? x + 0.5
                                                                     : 0; }},
        {make<nn::Hardshrink>(0.5), [](double x) { return std::fabs(x) > 0.5 ? x : 0; }},
        {make<nn::Hardswish>(), [](double x) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }},
        {make<nn::Hardsigmoid>(), [](double x) { return std::min(std::max(x + 3, 0.0), 6.0) / 6; }},
        {make<nn::Threshold>(0.1, 20), [](double x) { return x > 0.1 ? x : 20; }},
    };
    return table;
}

}  // namespace

class TestNnActivation : public QObject {
    Q_OBJECT

  private slots:
    void formula_data() {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < rows().size(); ++i) {
            QTest::addRow("%s(%s)", rows()[i].layer->className().c_str(), rows()[i].layer->extraText().c_str())
                << static_cast<int>(i);
        }
    }
    void formula() {
        QFETCH(int, index);
        const Row& row = rows()[static_cast<std::size_t>(index)];
        const std::vector<float> x{-7, -3, -1.25F, -0.5F, -0.2F, 0, 0.1F, 0.4F, 0.5F, 1, 2.75F, 5, 8};
        std::vector<float> expected;
        for (float value : x) expected.push_back(static_cast<float>(row.formula(value)));
        COMPARE_FLOATS(runLayer(row.layer, {floats({static_cast<std::int64_t>(x.size())}, x)}), 0, expected);
    }

    void alongAnAxis() {
        const Tensor x = floats({2, 2}, {1, 2, 3, 5});
        const auto e = [](double v) { return static_cast<float>(std::exp(v)); };
        COMPARE_FLOATS(runLayer(make<nn::Softmax>(1), {x}), 0, 1 / (1 + e(1)), e(1) / (1 + e(1)), 1 / (1 + e(2)),
                       e(2) / (1 + e(2)));
        COMPARE_FLOATS(runLayer(make<nn::Softmin>(1), {x}), 0, e(1) / (1 + e(1)), 1 / (1 + e(1)), e(2) / (1 + e(2)),
                       1 / (1 + e(2)));
        COMPARE_FLOATS(runLayer(make<nn::LogSoftmax>(0), {x}), 0, -std::log(1 + e(2)), -std::log(1 + e(3)),
                       2 - std::log(1 + e(2)), 3 - std::log(1 + e(3)));
        COMPARE_FLOATS(runLayer(make<nn::GLU>(), {x}), 0, static_cast<float>(sigmoid(2)),
                       static_cast<float>(3 * sigmoid(5)));
        // Channels are the third axis from the end, with and without a batch.
        const std::vector<float> half(8, 0.5F);
        COMPARE_FLOATS(runLayer(make<nn::Softmax2d>(), {floats({1, 2, 2, 2}, {1, 2, 3, 4, 1, 2, 3, 4})}), 0, half);
        COMPARE_FLOATS(runLayer(make<nn::Softmax2d>(), {floats({2, 2, 2}, {1, 2, 3, 4, 1, 2, 3, 4})}), 0, half);
    }

    void dropoutIsTheInputUnlessTraining() {
        const Tensor x = ramp({2, 3, 4});
        for (const auto& layer : {make<nn::Dropout>(), make<nn::Dropout1d>(), make<nn::Dropout2d>(),
                                  make<nn::Dropout3d>(), make<nn::AlphaDropout>(), make<nn::FeatureAlphaDropout>()}) {
            COMPARE_FLOATS(runLayer(layer, {x}), 0, std::vector<float>(x.span<float>().begin(), x.span<float>().end()));
        }
    }

    /// Kept numbers are scaled by 1 / (1 - p); about p of them go; whole channels go together.
    void dropoutWhileTraining() {
        const Tensor x = floats({100, 20, 5}, std::vector<float>(10000, 1));
        const auto count = [](const std::vector<float>& values, float value) {
            return std::count(values.begin(), values.end(), value);
        };
        auto single = make<nn::Dropout>(0.25);
        single->setTraining(true);
        const LayerResult a = runLayer(single, {x}, true);
        QVERIFY2(a.problem.empty(), a.problem.c_str());
        const std::vector<float> y = a.floats();
        QCOMPARE(count(y, 0) + count(y, 1 / 0.75F), 10000);
        QVERIFY(std::abs(count(y, 0) - 2500) < 200);
        auto channels = make<nn::Dropout1d>(0.5);
        channels->setTraining(true);
        const std::vector<float> z = runLayer(channels, {x}, true).floats();
        QVERIFY(std::abs(count(z, 0) - 5000) < 500);
        for (std::size_t i = 0; i < z.size(); ++i) QCOMPARE(z[i], z[i / 5 * 5]);
        // Numbers of mean 0 and variance 1 keep both.
        std::vector<float> normal(10000);
        for (std::size_t i = 0; i < normal.size(); ++i) normal[i] = i % 2 ? 1.0F : -1.0F;
        auto alpha = make<nn::AlphaDropout>(0.3);
        alpha->setTraining(true);
        double sum = 0, squares = 0;
        for (float value : runLayer(alpha, {floats({10000}, normal)}).floats()) {
            sum += value;
            squares += static_cast<double>(value) * value;
        }
        QVERIFY(std::fabs(sum / 10000) < 0.05);
        QVERIFY(std::fabs(squares / 10000 - 1) < 0.05);
    }
};

QTEST_GUILESS_MAIN(TestNnActivation)

}  // namespace tst_nn_activation

#include "tst_nn_activation.moc"
