// Losses, distances, tables. Numbers are worked by hand from the formulas.

#include <QtTest>

#include "core/nn/activation.h"
#include "core/nn/adaptive_softmax.h"
#include "core/nn/distance.h"
#include "core/nn/embedding.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/nn/loss.h"
#include "tests/core/nn/layer_run.h"

namespace tst_nn_loss {

using namespace sonde;
using namespace sonde::test;
using nn::Reduction;

namespace {

template <typename L, typename... Args>
std::shared_ptr<nn::Module> make(Args&&... args) {
    return std::make_shared<L>(std::forward<Args>(args)...);
}

Tensor two(float a, float b) { return floats({2}, {a, b}); }
Tensor ids(tensor::Shape shape, std::initializer_list<std::int64_t> values) {
    return Tensor::of<std::int64_t>(std::move(shape), values);
}
float ln(double x) { return static_cast<float>(std::log(x)); }
float e(double x) { return static_cast<float>(std::exp(x)); }

}  // namespace

class TestNnLoss : public QObject {
    Q_OBJECT

  private slots:
    void differences() {
        const std::vector<Value> in{two(1, 2), two(1.5F, 5)};  // differences 1/2 and 3
        COMPARE_FLOATS(runLayer(make<nn::L1Loss>(), in), 0, 1.75F);
        COMPARE_FLOATS(runLayer(make<nn::L1Loss>(Reduction::Sum), in), 0, 3.5F);
        COMPARE_FLOATS(runLayer(make<nn::MSELoss>(Reduction::None), in), 0, 0.25F, 9);
        COMPARE_FLOATS(runLayer(make<nn::SmoothL1Loss>(Reduction::None, 2), in), 0, 0.0625F, 2);
        COMPARE_FLOATS(runLayer(make<nn::HuberLoss>(Reduction::None, 2), in), 0, 0.125F, 4);
    }

    void probabilities() {
        const std::vector<Value> in{two(0.25F, 0.5F), two(1, 0)};
        COMPARE_FLOATS(runLayer(make<nn::BCELoss>(Tensor(), Reduction::None), in), 0, ln(4), ln(2));
        COMPARE_FLOATS(runLayer(make<nn::BCELoss>(two(1, 3)), in), 0, (ln(4) + 3 * ln(2)) / 2);
        const std::vector<Value> logits{two(0, 1), two(1, 0)};
        COMPARE_FLOATS(runLayer(make<nn::BCEWithLogitsLoss>(Tensor(), Reduction::None), logits), 0, ln(2),
                       1 + ln(1 + std::exp(-1)));
        COMPARE_FLOATS(runLayer(make<nn::BCEWithLogitsLoss>(Tensor(), Reduction::Sum, two(2, 2)), logits), 0,
                       2 * ln(2) + 1 + ln(1 + std::exp(-1)));
        COMPARE_FLOATS(runLayer(make<nn::KLDivLoss>(Reduction::None), {two(ln(0.5), ln(0.25)), two(0.25F, 0.75F)}), 0,
                       0.25F * ln(0.5), 0.75F * ln(3));
        COMPARE_FLOATS(runLayer(make<nn::KLDivLoss>(Reduction::Sum, true), {two(ln(0.5), 0), two(0, 0)}), 0, ln(2));
        QCOMPARE(stateText(nn::BCEWithLogitsLoss(two(1, 1), Reduction::Mean, two(2, 2))),
                 std::string("weight [2], pos_weight [2]"));
    }

    void classes() {
        const Tensor x = floats({2, 2}, {0, ln(3), 0, 0});  // probabilities 1/4, 3/4 and 1/2, 1/2
        const Tensor t = ids({2}, {1, 0});
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(), {x, t}), 0, (ln(4.0 / 3) + ln(2)) / 2);
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(two(1, 3)), {x, t}), 0, (3 * ln(4.0 / 3) + ln(2)) / 4);
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(Tensor(), 0), {x, t}), 0, ln(4.0 / 3));
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(Tensor(), -100, Reduction::None, 0.5), {x, t}), 0,
                       0.75F * ln(4.0 / 3) + 0.25F * ln(4), ln(2));
        // Weights of the classes count in both parts; the mean divides by those of the labels, 3 + 1.
        const float smoothed =
            0.5F * (3 * ln(4.0 / 3)) + 0.25F * (3 * ln(4.0 / 3) + ln(4)) + 0.5F * ln(2) + 0.25F * (4 * ln(2));
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(two(1, 3), -100, Reduction::Mean, 0.5), {x, t}), 0,
                       smoothed / 4);
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(Tensor(), 0, Reduction::Sum, 0.5), {x, t}), 0,
                       0.75F * ln(4.0 / 3) + 0.25F * ln(4));
        const Tensor shares = floats({2, 2}, {0.5F, 0.5F, 1, 0});
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(two(1, 3), -100, Reduction::None), {x, shares}), 0,
                       0.5F * ln(4) + 1.5F * ln(4.0 / 3), ln(2));
        COMPARE_FLOATS(
            runLayer(make<nn::NLLLoss>(Tensor(), -100, Reduction::Sum), {floats({2, 2}, {-1, -2, -3, -4}), t}), 0, 5);
        COMPARE_FLOATS(runLayer(make<nn::MultiMarginLoss>(), {floats({1, 3}, {1, 0.5F, -1}), ids({1}, {0})}), 0,
                       0.5F / 3);
        COMPARE_FLOATS(runLayer(make<nn::MultiMarginLoss>(2, 1, floats({3}, {6, 1, 1})),
                                {floats({1, 3}, {1, 0.5F, -1}), ids({1}, {0})}),
                       0, 0.5F);
        COMPARE_FLOATS(runLayer(make<nn::MultiLabelSoftMarginLoss>(), {floats({1, 2}, {0, 1}), floats({1, 2}, {1, 0})}),
                       0, (ln(2) + 1 + ln(1 + std::exp(-1))) / 2);
    }

    void margins() {
        const Tensor t = two(1, -1);
        COMPARE_FLOATS(runLayer(make<nn::SoftMarginLoss>(Reduction::None), {two(0, 2), t}), 0, ln(2),
                       ln(1 + std::exp(2)));
        COMPARE_FLOATS(runLayer(make<nn::HingeEmbeddingLoss>(1, Reduction::None), {two(0.25F, 0.25F), t}), 0, 0.25F,
                       0.75F);
        COMPARE_FLOATS(runLayer(make<nn::MarginRankingLoss>(0.5, Reduction::None), {two(1, 1), two(2, 3), t}), 0, 1.5F,
                       0);
        COMPARE_FLOATS(runLayer(make<nn::CosineEmbeddingLoss>(0.5, Reduction::None),
                                {floats({2, 2}, {1, 0, 1, 0}), floats({2, 2}, {0, 2, 3, 4}), t}),
                       0, 1, 0.1F);
        const Tensor anchor = floats({1, 2}, {0, 0}), near = floats({1, 2}, {0, 1}), far = floats({1, 2}, {0, 1.5F});
        COMPARE_FLOATS(runLayer(make<nn::TripletMarginLoss>(1, 2, 0), {anchor, near, far}), 0, 0.5F);
        COMPARE_FLOATS(runLayer(make<nn::TripletMarginLoss>(1, 2, 0, true), {anchor, near, far}), 0, 1.5F);
    }

    /// Values of torch 1.13.
    void alignments() {
        const Tensor x =
            floats({5, 2, 4}, {-0.08F, 0.36F,  -0.78F, 0.07F,  0.66F,  -0.29F, 1.62F, -1.6F,  -0.05F, -0.31F,
                               0.25F,  -0.22F, 0.91F,  0.2F,   0.57F,  0.42F,  0.26F, 0.93F,  -0.51F, -1.65F,
                               1.05F,  0.52F,  -0.17F, 0.05F,  -1.2F,  1.03F,  0.07F, -0.18F, -1.52F, 0.91F,
                               0.25F,  -0.69F, 0.56F,  -0.25F, -1.08F, 0.59F,  0.72F, -0.35F, -0.53F, -0.69F});
        const Tensor logarithms = runLayer(make<nn::LogSoftmax>(2), {x}).outputs.at(0);
        const Tensor t = ids({2, 3}, {1, 2, 2, 3, 1, 0}), steps = ids({2}, {5, 4}), labels = ids({2}, {3, 2});
        const auto loss = [&](Reduction reduction, bool zeroInfinity = false) {
            return make<nn::CTCLoss>(0, reduction, zeroInfinity);
        };
        COMPARE_FLOATS(runLayer(loss(Reduction::None), {logarithms, t, steps, labels}), 0, 5.595007F, 3.190051F);
        COMPARE_FLOATS(runLayer(loss(Reduction::Mean), {logarithms, t, steps, labels}), 0, 1.730014F);
        COMPARE_FLOATS(runLayer(loss(Reduction::Sum), {logarithms, t, steps, labels}), 0, 8.785059F);
        COMPARE_FLOATS(runLayer(loss(Reduction::None, true), {logarithms, t, ids({2}, {2, 4}), labels}), 0, 0,
                       3.190051F);
        const Value fives = Value::tuple({Value::ofInt(5), Value::ofInt(5)}),
                    lengths = Value::tuple({Value::ofInt(3), Value::ofInt(1)});
        COMPARE_FLOATS(
            runLayer(make<nn::CTCLoss>(3, Reduction::None), {logarithms, ids({4}, {1, 2, 0, 1}), fives, lengths}), 0,
            3.850492F, 6.454962F);
        const LayerResult tooLong = runLayer(loss(Reduction::None), {logarithms, t, ids({2}, {5, 6}), labels});
        QVERIFY2(tooLong.problem.find("a length is larger than what is given") != std::string::npos,
                 tooLong.problem.c_str());
    }

    /// Values of torch 1.13.
    void labelSetsAndOtherDistances() {
        const Tensor x = floats({2, 4}, {0.1F, 0.2F, 0.4F, 0.8F, 0.5F, -0.3F, 0.2F, 0.9F}),
                     t = ids({2, 4}, {3, 0, -1, 1, 1, 2, 3, -1});
        COMPARE_FLOATS(runLayer(make<nn::MultiLabelMarginLoss>(Reduction::None), {x, t}), 0, 0.85F, 0.925F);
        COMPARE_FLOATS(runLayer(make<nn::MultiLabelMarginLoss>(), {x, t}), 0, 0.8875F);
        COMPARE_FLOATS(runLayer(make<nn::MultiLabelMarginLoss>(Reduction::Sum), {x, t}), 0, 1.775F);
        const Tensor a = floats({2, 2}, {0, 0, 1, 2}), b = floats({2, 2}, {0, 1, 2, 2}),
                     c = floats({2, 2}, {0, 1.5F, 0.5F, 2.5F});
        const auto cityBlock = [](const Var& u, const Var& v) { return nn::pairwiseDistance(u, v, 1, 0); };
        COMPARE_FLOATS(
            runLayer(make<nn::TripletMarginWithDistanceLoss>(cityBlock, 1, false, Reduction::None), {a, b, c}), 0, 0.5F,
            1);
        COMPARE_FLOATS(
            runLayer(make<nn::TripletMarginWithDistanceLoss>(cityBlock, 0.5, true, Reduction::None), {a, b, c}), 0, 1,
            0.5F);
        COMPARE_FLOATS(runLayer(make<nn::TripletMarginWithDistanceLoss>(), {a, b, c}), 0, 0.8964461F);
    }

    /// Values of torch 1.13.
    void manyClasses() {
        auto layer = std::make_shared<nn::AdaptiveLogSoftmaxWithLoss>(
            4, 6, nn::Ints{2, 4}, nn::AdaptiveSoftmaxOptions{.divisor = 2, .headBias = true});
        QCOMPARE(
            stateText(*layer),
            std::string(
                "head.weight [4,4], head.bias [4], tail.0.0.weight [2,4], tail.0.1.weight [2,2], tail.1.0.weight [1,4], tail.1.1.weight [2,1]"));
        setTensor(*layer, "head.weight",
                  floats({4, 4}, {-1.23F, -0.68F, -0.5F, -0.6F, -0.48F, -0.3F, 0.39F, 0.92F, -0.43F, 1.33F, -0.33F,
                                  1.62F, 0.86F, 0.7F, -1.27F, 1.27F}));
        setTensor(*layer, "head.bias", floats({4}, {-0.08F, -0.91F, -0.49F, 0.81F}));
        setTensor(*layer, "tail.0.0.weight",
                  floats({2, 4}, {-0.5F, 0.19F, -0.08F, 0.12F, 0.67F, 0.38F, -0.08F, -0.13F}));
        setTensor(*layer, "tail.0.1.weight", floats({2, 2}, {1.92F, -0.01F, 0.05F, 0.56F}));
        setTensor(*layer, "tail.1.0.weight", floats({1, 4}, {0.63F, 1.26F, 2.6F, -0.3F}));
        setTensor(*layer, "tail.1.1.weight", floats({2, 1}, {0.78F, 1.12F}));
        const Tensor x = floats({3, 4}, {0.5F, -1, 0.25F, 2, 1, 0, -0.5F, 0.75F, -1, 1, 0.5F, 0});
        const LayerResult both = runLayer(layer, {x, ids({3}, {0, 3, 5})});
        COMPARE_FLOATS(both, 0, -4.437414F, -3.181647F, -2.17212F);
        COMPARE_FLOATS(both, 1, 3.263727F);
        COMPARE_FLOATS(runLayer(layer, {floats({4}, {1, 0, -0.5F, 0.75F}), ids({}, {3})}), 0, -3.181647F);
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const tensor::Value best = layer->predict(Var(Value(x))).toValue();
        QCOMPARE(best.tensor().toInt64(0), 4);
        QCOMPARE(best.tensor().toInt64(1), 4);
        QCOMPARE(best.tensor().toInt64(2), 2);
        QVERIFY_EXCEPTION_THROWN(nn::AdaptiveLogSoftmaxWithLoss(4, 6, nn::Ints{4, 2}), trace::TraceError);
    }

    void counts() {
        const std::vector<Value> in{two(0, 1), two(2, 0.5F)};
        COMPARE_FLOATS(runLayer(make<nn::PoissonNLLLoss>(true, false, 1e-8, Reduction::None), in), 0, 1, e(1) - 0.5F);
        COMPARE_FLOATS(runLayer(make<nn::PoissonNLLLoss>(false, false, 1, Reduction::None), in), 0, 0,
                       1 - 0.5F * ln(2));
        const float stirling = 2 * ln(2) - 2 + 0.5F * ln(4 * 3.14159265358979);
        COMPARE_FLOATS(runLayer(make<nn::PoissonNLLLoss>(true, true, 1e-8, Reduction::None), in), 0, 1 + stirling,
                       e(1) - 0.5F);
        COMPARE_FLOATS(
            runLayer(make<nn::GaussianNLLLoss>(false, 1, Reduction::None), {two(1, 3), two(0, 1), two(0.5F, 4)}), 0,
            0.5F, (ln(4) + 1) / 2);
        COMPARE_FLOATS(runLayer(make<nn::GaussianNLLLoss>(true, 1, Reduction::Sum), {two(1, 1), two(0, 0), two(1, 1)}),
                       0, 1 + ln(2 * 3.14159265358979));
    }

    void distances() {
        const Tensor a = floats({2, 2}, {3, 4, 1, 0}), b = floats({2, 2}, {4, 3, 0, 5});
        COMPARE_FLOATS(runLayer(make<nn::CosineSimilarity>(), {a, b}), 0, 0.96F, 0);
        COMPARE_FLOATS(runLayer(make<nn::PairwiseDistance>(1, 0.0), {a, b}), 0, 2, 6);
        COMPARE_FLOATS(runLayer(make<nn::PairwiseDistance>(2, 0.0, true), {a, b}), 0, std::sqrt(2.0F),
                       std::sqrt(26.0F));
    }

    void products() {
        auto bilinear = make<nn::Bilinear>(2, 1, 2);
        setTensor(*bilinear, "weight", floats({2, 2, 1}, {1, 2, 3, 4}));
        setTensor(*bilinear, "bias", floats({2}, {0.5F, -0.5F}));
        COMPARE_FLOATS(runLayer(bilinear, {floats({1, 2}, {1, 10}), floats({1, 1}, {2})}), 0, 42.5F, 85.5F);
        QCOMPARE(stateText(*bilinear), std::string("weight [2,2,1], bias [2]"));
    }

    void bags() {
        const Tensor table = floats({4, 2}, {1, 10, 2, 20, 3, 30, 4, 40});
        const auto bag = [&](nn::EmbeddingBagOptions options) {
            auto layer = make<nn::EmbeddingBag>(4, 2, options);
            setTensor(*layer, "weight", table);
            return layer;
        };
        const Tensor rows = ids({2, 2}, {0, 1, 3, 3}), flat = ids({3}, {0, 1, 3});
        COMPARE_FLOATS(runLayer(bag({}), {rows}), 0, 1.5F, 15, 4, 40);
        COMPARE_FLOATS(runLayer(bag({.mode = "sum"}), {flat, ids({2}, {0, 1})}), 0, 1, 10, 6, 60);
        COMPARE_FLOATS(runLayer(bag({.mode = "max"}), {flat, ids({2}, {0, 1})}), 0, 1, 10, 4, 40);
        COMPARE_FLOATS(runLayer(bag({.mode = "sum", .includeLastOffset = true}), {flat, ids({3}, {0, 2, 3})}), 0, 3, 30,
                       4, 40);
        COMPARE_FLOATS(runLayer(bag({.mode = "mean", .paddingIndex = 1}), {rows}), 0, 1, 10, 4, 40);
        COMPARE_FLOATS(runLayer(bag({.mode = "sum"}), {rows, Value(), floats({2, 2}, {1, 2, 0.5F, 1})}), 0, 5, 50, 6,
                       60);
        QVERIFY_EXCEPTION_THROWN(nn::EmbeddingBag(4, 2, {.mode = "median"}), trace::TraceError);
    }
};

QTEST_GUILESS_MAIN(TestNnLoss)

}  // namespace tst_nn_loss

#include "tst_nn_loss.moc"
