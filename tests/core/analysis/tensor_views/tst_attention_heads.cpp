#include <QTest>

#include <cmath>

#include "core/analysis/tensor_views/attention_heads.h"
#include "core/analysis/tensor_views/distributions.h"

namespace tst_attention_heads {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

const float nan = std::nanf("");

/// Two heads of two queries and three keys.
Tensor twoHeads() {
    return Tensor::of<float>(Shape{1, 2, 2, 3}, {0.25F, 0.75F, 0, 1, 0, 0, 0.5F, 0.25F, 0.25F, 0, 0.5F, 0.5F});
}

}  // namespace

class TestAttentionHeads : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void probabilitiesAreFoundByTheirRows() {
        QVERIFY(analysis::isAttention(twoHeads()));
        QVERIFY(analysis::isAttention(twoHeads().selected(0, 0)));
        QVERIFY(analysis::isAttention(twoHeads().cast(DType::BFloat16).value()));
        // A matrix has no heads; columns are no rows; logits are none.
        QVERIFY(!analysis::isAttention(twoHeads().selected(0, 0).selected(0, 0)));
        QVERIFY(!analysis::isAttention(twoHeads().transposed(2, 3)));
        QVERIFY(!analysis::isAttention(Tensor::of<float>(Shape{1, 1, 1, 2}, {2, -1})));
        QVERIFY(!analysis::isAttention(Tensor::of<std::int64_t>(Shape{1, 1, 2}, {1, 0})));
    }

    void nothingAndNaNAreNoProbabilities() {
        QVERIFY(!analysis::hasDistributionRows(Tensor()));
        QVERIFY(!analysis::hasDistributionRows(Tensor::scalar(1.0F)));
        QVERIFY(!analysis::hasDistributionRows(Tensor::zeros(DType::Float32, Shape{0, 3}).value()));
        QVERIFY(!analysis::hasDistributionRows(Tensor::zeros(DType::Float32, Shape{3, 0}).value()));
        QVERIFY(!analysis::hasDistributionRows(Tensor::zeros(DType::Float32, Shape{3, 4}).value()));
        QVERIFY(!analysis::hasDistributionRows(Tensor::of<float>(Shape{1, 2}, {nan, nan})));
        // A query that is masked out counts for nothing.
        QVERIFY(analysis::hasDistributionRows(Tensor::of<float>(Shape{2, 2}, {nan, nan, 0.5F, 0.5F})));
        QVERIFY(!analysis::hasDistributionRows(Tensor::of<float>(Shape{2, 2}, {0.5F, 0.5F, 0.5F, 0.6F})));
    }

    /// Heads that an edit removed are zeros: one of twelve, and all but one.
    void removedHeadsLeaveAttention() {
        for (const bool areMostRemoved : {false, true}) {
            Tensor heads = Tensor::zeros(DType::Float32, Shape{1, 12, 5, 4}).value();
            for (std::int64_t head = 0; head < 12; ++head)
                for (std::int64_t i = 0; i < 20; ++i)
                    if ((head == 4) == areMostRemoved) heads.mutableData<float>()[head * 20 + i] = 0.25F;
            QVERIFY(analysis::isAttention(heads));
            heads.mutableData<float>()[(areMostRemoved ? 4 : 0) * 20] = 0.5F;
            QVERIFY(!analysis::isAttention(heads));
        }
    }

    void aHeadIsItsTwoLastAxes() {
        const std::int64_t index[] = {0, 1, 0, 0};
        const Tensor head = analysis::attentionHead(twoHeads(), index);
        QCOMPARE(head.shape(), (Shape{2, 3}));
        QCOMPARE(head.toDouble(0), 0.5);
        QCOMPARE(head.toDouble(4), 0.5);
    }

    void topKeysAreTheLargestOfTheRow() {
        const std::int64_t index[] = {0, 0, 0, 0};
        const auto keys = analysis::topKeys(analysis::attentionHead(twoHeads(), index), 0, 2);
        QCOMPARE(keys.size(), std::size_t(2));
        QCOMPARE(keys[0].key, std::int64_t(1));
        QCOMPARE(keys[0].share, 0.75);
        QCOMPARE(keys[1].key, std::int64_t(0));
    }

    void entropyIsInBits() {
        const std::int64_t first[] = {0, 0, 0, 0}, second[] = {0, 1, 0, 0};
        // -(0.25 log2 0.25 + 0.75 log2 0.75) = 0.5 + 0.311278124459; of one key 0.
        QCOMPARE(analysis::meanEntropy(analysis::attentionHead(twoHeads(), first)), 0.811278124459132 / 2);
        // 0.5 + 2 * 0.25 * 2 = 1.5, and 1 of two equal keys.
        QCOMPARE(analysis::meanEntropy(analysis::attentionHead(twoHeads(), second)), 1.25);
        QVERIFY(std::isnan(analysis::meanEntropy(Tensor::of<float>(Shape{1, 2}, {nan, 1}))));
        QCOMPARE(analysis::meanEntropy(Tensor::of<float>(Shape{2, 2}, {nan, 1, 0.5F, 0.5F})), 1.0);
    }
};

QTEST_APPLESS_MAIN(TestAttentionHeads)

}  // namespace tst_attention_heads

#include "tst_attention_heads.moc"
