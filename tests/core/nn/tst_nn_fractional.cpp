// Poolings at random places. Values of torch 1.13.

#include <QtTest>

#include "core/nn/fractional_pooling.h"
#include "tests/core/nn/layer_run.h"

namespace tst_nn_fractional {

using namespace sonde;
using namespace sonde::test;

namespace {

/// 0, 7, 14, 21, 5 …: 0, 1, 2 … times `factor` modulo `modulus`.
Tensor pattern(tensor::Shape shape, int factor, int modulus) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(static_cast<float>(i * factor % modulus));
    return Tensor::of<float>(std::move(shape), values);
}

std::vector<std::int64_t> places(const LayerResult& result, std::size_t output) {
    std::vector<std::int64_t> all;
    if (output >= result.outputs.size()) return all;
    for (std::int64_t i = 0; i < result.outputs[output].numel(); ++i) all.push_back(result.outputs[output].toInt64(i));
    return all;
}

}  // namespace

class TestNnFractional : public QObject {
    Q_OBJECT

  private slots:
    void planes() {
        const Tensor samples = floats({1, 2, 2}, {0.3F, 0.8F, 0.05F, 0.6F}), x = pattern({1, 2, 5, 5}, 7, 23);
        const auto pool = std::make_shared<nn::FractionalMaxPool2d>(
            2, nn::FractionalPoolOptions{.outputSize = {3, 2}, .returnIndices = true, .samples = samples});
        const LayerResult both = runLayer(pool, {x});
        COMPARE_FLOATS(both, 0, 19, 21, 19, 22, 20, 18, 21, 19, 22, 20, 16, 21);
        QCOMPARE(places(both, 1), (std::vector<std::int64_t>{6, 3, 6, 13, 16, 19, 1, 4, 11, 14, 20, 24}));
        const auto byShare = std::make_shared<nn::FractionalMaxPool2d>(
            nn::Sizes{2, 3}, nn::FractionalPoolOptions{.outputRatio = {0.6}, .samples = samples});
        COMPARE_FLOATS(runLayer(byShare, {x}), 0, 19, 21, 21, 19, 22, 22, 20, 20, 18, 21, 21, 19, 22, 22, 20, 18, 18,
                       21);
    }

    void volumes() {
        const nn::FractionalPoolOptions options{
            .outputSize = {2, 2, 1}, .returnIndices = true, .samples = floats({1, 1, 3}, {0.2F, 0.5F, 0.9F})};
        const LayerResult both =
            runLayer(std::make_shared<nn::FractionalMaxPool3d>(2, options), {pattern({1, 1, 4, 4, 4}, 11, 37)});
        COMPARE_FLOATS(both, 0, 33, 36, 32, 36);
        QCOMPARE(places(both, 1), (std::vector<std::int64_t>{3, 10, 50, 47}));
    }

    /// Wherever they begin, windows of 2 that make 4 out of 5 numbers are all of them.
    void randomPlaces() {
        const auto pool = std::make_shared<nn::FractionalMaxPool2d>(2, nn::FractionalPoolOptions{.outputSize = {4}});
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const Value y = (*pool)(Var(Value(pattern({1, 2, 5, 5}, 1, 100)))).toValue();
        QCOMPARE(QString::fromStdString(y.tensor().typeText()), QStringLiteral("float32[1,2,4,4]"));
        QCOMPARE(y.tensor().toDouble(0), 6.0);
        QCOMPARE(y.tensor().toDouble(15), 24.0);
    }

    void wrongSizes() {
        QVERIFY_EXCEPTION_THROWN(nn::FractionalMaxPool2d(2, {}), trace::TraceError);
        QVERIFY_EXCEPTION_THROWN(nn::FractionalMaxPool2d(2, {.outputRatio = {1.5}}), trace::TraceError);
        const auto pool = std::make_shared<nn::FractionalMaxPool2d>(
            3, nn::FractionalPoolOptions{.outputSize = {4}, .samples = floats({1, 1, 2}, {0, 0})});
        const LayerResult result = runLayer(pool, {pattern({1, 1, 5, 5}, 1, 100)});
        QVERIFY2(result.problem.find("do not fit") != std::string::npos, result.problem.c_str());
    }
};

QTEST_GUILESS_MAIN(TestNnFractional)

}  // namespace tst_nn_fractional

#include "tst_nn_fractional.moc"
