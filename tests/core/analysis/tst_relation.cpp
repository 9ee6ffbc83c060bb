// How a reference follows from other values: scale, offset, order of channels.

#include <QtTest>

#include "core/analysis/relation.h"

namespace tst_relation {

using namespace sonde;
using analysis::relationOf;
using tensor::Tensor;

namespace {

/// [1,3,2,2] by channel: numbers without a pattern.
const std::vector<float> kImage{0.1F, 0.9F, 0.4F, 0.3F, 0.8F, 0.2F, 0.25F, 0.7F, 0.5F, 0.6F, 0.05F, 0.95F};

std::vector<float> byChannel(const std::vector<std::size_t>& order, const std::vector<float>& scale,
                             const std::vector<float>& offset) {
    std::vector<float> values;
    for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t i = 0; i < 4; ++i) values.push_back(kImage[order[c] * 4 + i] * scale[c] + offset[c]);
    return values;
}

Tensor image(const std::vector<float>& values) { return Tensor::of<float>({1, 3, 2, 2}, values); }

}  // namespace

class TestRelation : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void scaleAndOffsetAreFound() {
        const auto found = relationOf(image(kImage), image(byChannel({0, 1, 2}, {2, 2, 2}, {-1, -1, -1})));
        QVERIFY(found);
        QCOMPARE(found->text, std::string("reference = 2 * x - 1"));
        QCOMPARE(found->convention, std::string("2 * x \u2212 1"));
        QVERIFY(found->isScaled && !found->isReordered);
    }
    void reversedChannelsAreFound() {
        const auto found = relationOf(image(kImage), image(byChannel({2, 1, 0}, {1, 1, 1}, {0, 0, 0})));
        QVERIFY(found);
        QCOMPARE(found->text, std::string("reference = x; channels are reversed"));
        QVERIFY(found->isReordered && !found->isScaled);
    }
    void bothAreFoundTogether() {
        const auto found = relationOf(image(kImage), image(byChannel({2, 1, 0}, {4, 4, 4}, {0.5F, 0.5F, 0.5F})));
        QVERIFY(found);
        QCOMPARE(found->text, std::string("reference = 4 * x + 0.5; channels are reversed"));
    }
    /// 1 / 0.229 = 4.3668, 0.485 / 0.229 = 2.1179; 1 / 0.224 = 4.4643, 0.456 / 0.224 = 2.0357; 1 / 0.225 = 4.4444,
    /// 0.406 / 0.225 = 1.8044.
    void aUsualNormalisationIsNamed() {
        const auto found = relationOf(image(kImage), image(byChannel({0, 1, 2}, {4.366812F, 4.464286F, 4.444444F},
                                                                     {-2.117904F, -2.035714F, -1.804444F})));
        QVERIFY(found);
        QCOMPARE(found->text, std::string("reference = 4.367 * x - 2.118 in channel 0, 4.464 * x - 2.036 in channel 1, "
                                          "4.444 * x - 1.804 in channel 2"));
        QCOMPARE(found->convention, std::string("(x \u2212 mean) / deviation of ImageNet"));
    }
    void channelsMayBeLast() {
        const std::vector<float> x{1, 10, 3, 2, 5, 8, 7, 4, 9, 6, 11, 12};  // [1,2,2,3]
        std::vector<float> r;
        for (std::size_t i = 0; i < 4; ++i)
            for (const std::size_t c : {2, 0, 1}) r.push_back(x[i * 3 + c]);
        const auto found = relationOf(Tensor::of<float>({1, 2, 2, 3}, x), Tensor::of<float>({1, 2, 2, 3}, r));
        QVERIFY(found);
        QCOMPARE(found->text,
                 std::string("reference = x; channels are reordered: those of the reference are 2, 0, 1 of x"));
    }
    void whatIsNotRelatedIsNot() {
        std::vector<float> other = kImage;
        std::ranges::reverse(other);
        QVERIFY(!relationOf(image(kImage), image(other)));
        QVERIFY(!relationOf(image(kImage), image(kImage)));  // equal
        QVERIFY(!relationOf(image(kImage), Tensor::of<float>({12}, kImage)));
        QVERIFY(!relationOf(image(kImage), image(std::vector<float>(12, 1))));  // of a constant nothing can be told
        other[3] = std::numeric_limits<float>::quiet_NaN();
        QVERIFY(!relationOf(image(other), image(kImage)));
        QVERIFY(!relationOf(Tensor(), Tensor()));
    }
};

QTEST_GUILESS_MAIN(TestRelation)

}  // namespace tst_relation

#include "tst_relation.moc"
