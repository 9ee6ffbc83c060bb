#include <QtTest>

#include "core/nn/normalization.h"
#include "tests/core/nn/layer_run.h"

namespace tst_nn_normalization {

using namespace sonde;
using namespace sonde::test;

namespace {

template <typename L, typename... Args>
std::shared_ptr<nn::Module> make(Args&&... args) {
    return std::make_shared<L>(std::forward<Args>(args)...);
}

const float kUnit = 1 / std::sqrt(1 + 1e-5F);  // (x - mean) / sqrt(var + eps) of x = mean ± 1

}  // namespace

class TestNnNormalization : public QObject {
    Q_OBJECT

  private slots:
    void stateNames() {
        const std::string tracked = "running_mean [2], running_var [2], num_batches_tracked []";
        QCOMPARE(stateText(nn::BatchNorm1d(2)), "weight [2], bias [2], " + tracked);
        QCOMPARE(stateText(nn::SyncBatchNorm(2, 1e-5, 0.1, false)), tracked);
        QCOMPARE(stateText(nn::BatchNorm3d(2, 1e-5, 0.1, true, false)), std::string("weight [2], bias [2]"));
        QCOMPARE(stateText(nn::InstanceNorm2d(2)), std::string());
        QCOMPARE(stateText(nn::InstanceNorm1d(2, 1e-5, 0.1, true, true)), "weight [2], bias [2], " + tracked);
        QCOMPARE(stateText(nn::LayerNorm({2, 3}, 1e-5, true, false)), std::string("weight [2,3]"));
        QCOMPARE(stateText(nn::LayerNorm({2}, 1e-5, false)), std::string());
        QCOMPARE(stateText(nn::GroupNorm(2, 4)), std::string("weight [4], bias [4]"));
        QCOMPARE(stateText(nn::RMSNorm({3})), std::string("weight [3]"));
    }

    void batchStatisticsWhileTraining() {
        auto norm = make<nn::BatchNorm1d>(1);
        setTensor(*norm, "running_mean", floats({1}, {4}));
        setTensor(*norm, "running_var", floats({1}, {4}));
        setTensor(*norm, "bias", floats({1}, {10}));
        const Tensor x = floats({2, 1}, {1, 3});
        const float half = 1 / std::sqrt(4 + 1e-5F);
        COMPARE_FLOATS(runLayer(norm, {x}), 0, 10 - 3 * half, 10 - half);
        norm->setTraining(true);
        COMPARE_FLOATS(runLayer(norm, {x}), 0, 10 - kUnit, 10 + kUnit);
        COMPARE_FLOATS(runLayer(make<nn::BatchNorm1d>(1, 1e-5, 0.1, false, false), {x}), 0, -kUnit, kUnit);
    }

    void instances() {
        const Tensor x = floats({1, 2, 2}, {1, 3, 10, 12});
        COMPARE_FLOATS(runLayer(make<nn::InstanceNorm1d>(2), {x}), 0, -kUnit, kUnit, -kUnit, kUnit);
        auto tracked = make<nn::InstanceNorm1d>(2, 0.0, 0.1, true, true);
        setTensor(*tracked, "weight", floats({2}, {2, 3}));
        setTensor(*tracked, "running_mean", floats({2}, {1, 10}));
        COMPARE_FLOATS(runLayer(tracked, {x}), 0, 0, 4, 0, 6);
        COMPARE_FLOATS(runLayer(make<nn::InstanceNorm3d>(1), {floats({1, 1, 1, 1, 2}, {5, 7})}), 0, -kUnit, kUnit);
    }

    void layersAndGroups() {
        auto layer = make<nn::LayerNorm>(nn::Ints{2});
        setTensor(*layer, "weight", floats({2}, {1, 2}));
        COMPARE_FLOATS(runLayer(layer, {floats({2, 2}, {1, 3, 7, 5})}), 0, -kUnit, 2 * kUnit, kUnit, -2 * kUnit);
        COMPARE_FLOATS(runLayer(make<nn::LayerNorm>(nn::Ints{2}, 1e-5, false), {floats({2}, {1, 3})}), 0, -kUnit,
                       kUnit);
        COMPARE_FLOATS(runLayer(make<nn::GroupNorm>(2, 4, 1e-5, false), {floats({1, 4}, {1, 3, 20, 18})}), 0, -kUnit,
                       kUnit, kUnit, -kUnit);
    }

    void rootMeanSquare() {
        auto norm = make<nn::RMSNorm>(nn::Ints{2}, 0.5);
        setTensor(*norm, "weight", floats({2}, {1, 10}));
        const float root = std::sqrt((9 + 16) / 2.0F + 0.5F);
        COMPARE_FLOATS(runLayer(norm, {floats({1, 2}, {3, 4})}), 0, 3 / root, 40 / root);
        COMPARE_FLOATS(runLayer(make<nn::RMSNorm>(nn::Ints{2}, Var(), false), {floats({2}, {3, -3})}), 0, 1, -1);
    }

    /// Three channels of one number; the window of 3 hangs over at both ends.
    void localResponse() {
        const auto expected = [](double x, double squares) {
            return static_cast<float>(x / std::pow(2 + 0.3 * squares / 3, 0.5));
        };
        const std::vector<float> y{expected(1, 5), expected(2, 14), expected(3, 13)};
        COMPARE_FLOATS(runLayer(make<nn::LocalResponseNorm>(3, 0.3, 0.5, 2), {floats({1, 3, 1}, {1, 2, 3})}), 0, y);
        COMPARE_FLOATS(runLayer(make<nn::LocalResponseNorm>(3, 0.3, 0.5, 2), {floats({1, 3, 1, 1, 1}, {1, 2, 3})}), 0,
                       y);
        // An even window reaches further back.
        COMPARE_FLOATS(runLayer(make<nn::LocalResponseNorm>(2, 2, 1, 0), {floats({1, 2, 1}, {1, 2})}), 0, 1, 2 / 5.0F);
    }

    /// Values of PyTorch 1.13.
    void localResponseAcrossMaps() {
        const auto x = floats({1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
        const std::vector<float> odd{0.377395F, 0.569877F, 0.64071F,  0.647577F,
                                     0.625F,    0.590655F, 0.942046F, 0.867681F};
        const std::vector<float> even{0.413131F, 0.647322F, 0.747758F, 0.7698F,
                                      0.752121F, 0.716662F, 1.130146F, 1.049595F};
        COMPARE_FLOATS(runLayer(make<nn::CrossMapLRN2d>(3, 0.5, 0.75, 2), {x}), 0, odd);
        COMPARE_FLOATS(runLayer(make<nn::CrossMapLRN2d>(4, 0.5, 0.75, 2), {x}), 0, even);
    }
};

QTEST_GUILESS_MAIN(TestNnNormalization)

}  // namespace tst_nn_normalization

#include "tst_nn_normalization.moc"
