// Losses, distances, tables. Numbers are worked by hand from the formulas.

#include <QtTest>

#include "core/nn/distance.h"
#include "core/nn/embedding.h"
#include "core/nn/linear.h"
#include "core/nn/loss.h"
#include "tests/core/nn/layer_run.h"

using namespace sonde;
using namespace sonde::test;
using nn::Reduction;

namespace {

template <typename L, typename... Args>
std::shared_ptr<nn::Module> make(Args&&... args) {
    return std::make_shared<L>(std::forward<Args>(args)...);
}

Tensor two(float a, float b) { return floats({2}, {a, b}); }
Tensor ids(tensor::Shape shape, std::initializer_list<std::int64_t> values) { return Tensor::of<std::int64_t>(std::move(shape), values); }
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
        COMPARE_FLOATS(runLayer(make<nn::BCEWithLogitsLoss>(Tensor(), Reduction::None), logits), 0, ln(2), 1 + ln(1 + std::exp(-1)));
        COMPARE_FLOATS(runLayer(make<nn::BCEWithLogitsLoss>(Tensor(), Reduction::Sum, two(2, 2)), logits), 0, 2 * ln(2) + 1 + ln(1 + std::exp(-1)));
        COMPARE_FLOATS(runLayer(make<nn::KLDivLoss>(Reduction::None), {two(ln(0.5), ln(0.25)), two(0.25F, 0.75F)}), 0, 0.25F * ln(0.5), 0.75F * ln(3));
        COMPARE_FLOATS(runLayer(make<nn::KLDivLoss>(Reduction::Sum, true), {two(ln(0.5), 0), two(0, 0)}), 0, ln(2));
        QCOMPARE(stateText(nn::BCEWithLogitsLoss(two(1, 1), Reduction::Mean, two(2, 2))), std::string("weight [2], pos_weight [2]"));
    }

    void classes() {
        const Tensor x = floats({2, 2}, {0, ln(3), 0, 0});  // probabilities 1/4, 3/4 and 1/2, 1/2
        const Tensor t = ids({2}, {1, 0});
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(), {x, t}), 0, (ln(4.0 / 3) + ln(2)) / 2);
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(two(1, 3)), {x, t}), 0, (3 * ln(4.0 / 3) + ln(2)) / 4);
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(Tensor(), 0), {x, t}), 0, ln(4.0 / 3));
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(Tensor(), -100, Reduction::None, 0.5), {x, t}), 0, 0.75F * ln(4.0 / 3) + 0.25F * ln(4), ln(2));
        // Weights of the classes count in both parts; the mean divides by those of the labels, 3 + 1.
        const float smoothed = 0.5F * (3 * ln(4.0 / 3)) + 0.25F * (3 * ln(4.0 / 3) + ln(4)) + 0.5F * ln(2) + 0.25F * (4 * ln(2));
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(two(1, 3), -100, Reduction::Mean, 0.5), {x, t}), 0, smoothed / 4);
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(Tensor(), 0, Reduction::Sum, 0.5), {x, t}), 0, 0.75F * ln(4.0 / 3) + 0.25F * ln(4));
        const Tensor shares = floats({2, 2}, {0.5F, 0.5F, 1, 0});
        COMPARE_FLOATS(runLayer(make<nn::CrossEntropyLoss>(two(1, 3), -100, Reduction::None), {x, shares}), 0, 0.5F * ln(4) + 1.5F * ln(4.0 / 3), ln(2));
        COMPARE_FLOATS(runLayer(make<nn::NLLLoss>(Tensor(), -100, Reduction::Sum), {floats({2, 2}, {-1, -2, -3, -4}), t}), 0, 5);
        COMPARE_FLOATS(runLayer(make<nn::MultiMarginLoss>(), {floats({1, 3}, {1, 0.5F, -1}), ids({1}, {0})}), 0, 0.5F / 3);
        COMPARE_FLOATS(runLayer(make<nn::MultiMarginLoss>(2, 1, floats({3}, {6, 1, 1})), {floats({1, 3}, {1, 0.5F, -1}), ids({1}, {0})}), 0, 0.5F);
        COMPARE_FLOATS(runLayer(make<nn::MultiLabelSoftMarginLoss>(), {floats({1, 2}, {0, 1}), floats({1, 2}, {1, 0})}), 0, (ln(2) + 1 + ln(1 + std::exp(-1))) / 2);
    }

    void margins() {
        const Tensor t = two(1, -1);
        COMPARE_FLOATS(runLayer(make<nn::SoftMarginLoss>(Reduction::None), {two(0, 2), t}), 0, ln(2), ln(1 + std::exp(2)));
        COMPARE_FLOATS(runLayer(make<nn::HingeEmbeddingLoss>(1, Reduction::None), {two(0.25F, 0.25F), t}), 0, 0.25F, 0.75F);
        COMPARE_FLOATS(runLayer(make<nn::MarginRankingLoss>(0.5, Reduction::None), {two(1, 1), two(2, 3), t}), 0, 1.5F, 0);
        COMPARE_FLOATS(runLayer(make<nn::CosineEmbeddingLoss>(0.5, Reduction::None), {floats({2, 2}, {1, 0, 1, 0}), floats({2, 2}, {0, 2, 3, 4}), t}), 0, 1, 0.1F);
        const Tensor anchor = floats({1, 2}, {0, 0}), near = floats({1, 2}, {0, 1}), far = floats({1, 2}, {0, 1.5F});
        COMPARE_FLOATS(runLayer(make<nn::TripletMarginLoss>(1, 2, 0), {anchor, near, far}), 0, 0.5F);
        COMPARE_FLOATS(runLayer(make<nn::TripletMarginLoss>(1, 2, 0, true), {anchor, near, far}), 0, 1.5F);
    }

    void counts() {
        const std::vector<Value> in{two(0, 1), two(2, 0.5F)};
        COMPARE_FLOATS(runLayer(make<nn::PoissonNLLLoss>(true, false, 1e-8, Reduction::None), in), 0, 1, e(1) - 0.5F);
        COMPARE_FLOATS(runLayer(make<nn::PoissonNLLLoss>(false, false, 1, Reduction::None), in), 0, 0, 1 - 0.5F * ln(2));
        const float stirling = 2 * ln(2) - 2 + 0.5F * ln(4 * 3.14159265358979);
        COMPARE_FLOATS(runLayer(make<nn::PoissonNLLLoss>(true, true, 1e-8, Reduction::None), in), 0, 1 + stirling, e(1) - 0.5F);
        COMPARE_FLOATS(runLayer(make<nn::GaussianNLLLoss>(false, 1, Reduction::None), {two(1, 3), two(0, 1), two(0.5F, 4)}), 0, 0.5F, (ln(4) + 1) / 2);
        COMPARE_FLOATS(runLayer(make<nn::GaussianNLLLoss>(true, 1, Reduction::Sum), {two(1, 1), two(0, 0), two(1, 1)}), 0, 1 + ln(2 * 3.14159265358979));
    }

    void distances() {
        const Tensor a = floats({2, 2}, {3, 4, 1, 0}), b = floats({2, 2}, {4, 3, 0, 5});
        COMPARE_FLOATS(runLayer(make<nn::CosineSimilarity>(), {a, b}), 0, 0.96F, 0);
        COMPARE_FLOATS(runLayer(make<nn::PairwiseDistance>(1, 0.0), {a, b}), 0, 2, 6);
        COMPARE_FLOATS(runLayer(make<nn::PairwiseDistance>(2, 0.0, true), {a, b}), 0, std::sqrt(2.0F), std::sqrt(26.0F));
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
        COMPARE_FLOATS(runLayer(bag({.mode = "sum", .includeLastOffset = true}), {flat, ids({3}, {0, 2, 3})}), 0, 3, 30, 4, 40);
        COMPARE_FLOATS(runLayer(bag({.mode = "mean", .paddingIndex = 1}), {rows}), 0, 1, 10, 4, 40);
        COMPARE_FLOATS(runLayer(bag({.mode = "sum"}), {rows, Value(), floats({2, 2}, {1, 2, 0.5F, 1})}), 0, 5, 50, 6, 60);
        QVERIFY_EXCEPTION_THROWN(nn::EmbeddingBag(4, 2, {.mode = "median"}), trace::TraceError);
    }
};

QTEST_GUILESS_MAIN(TestNnLoss)
#include "tst_nn_loss.moc"
