#include <QTest>

#include "core/analysis/tensor_views/element_bits.h"

namespace tst_element_bits {

using namespace sonde;
using analysis::elementBits;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

class TestElementBits : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void integersAreInTwosComplement() {
        QCOMPARE(elementBits(Tensor::scalar<std::uint8_t>(5), 0), std::string("00000101"));
        QCOMPARE(elementBits(Tensor::scalar<std::int8_t>(-3), 0), std::string("11111101"));
        QCOMPARE(elementBits(Tensor::scalar<std::int16_t>(-3), 0), std::string("11111111 11111101"));
        QCOMPARE(elementBits(Tensor::scalar<std::uint16_t>(258), 0), std::string("00000001 00000010"));
        QCOMPARE(elementBits(Tensor::scalar<std::int32_t>(1 << 24), 0),
                 std::string("00000001 00000000 00000000 00000000"));
        QCOMPARE(elementBits(Tensor::scalar<std::int64_t>(std::int64_t{1} << 63), 0).substr(0, 17),
                 std::string("10000000 00000000"));
    }

    void narrowIntegersHaveTheirBitsAlone() {
        const Tensor four = Tensor::of<std::int8_t>(Shape{2}, {-3, 7}).cast(DType::Int4).value();
        QCOMPARE(elementBits(four, 0), std::string("1101"));
        QCOMPARE(elementBits(four, 1), std::string("0111"));
        QCOMPARE(elementBits(Tensor::of<std::int8_t>(Shape{1}, {2}).cast(DType::UInt2).value(), 0), std::string("10"));
        QCOMPARE(elementBits(Tensor::scalar(true), 0), std::string("1"));
        QCOMPARE(elementBits(Tensor::scalar(false), 0), std::string("0"));
    }

    void elementsAreFoundByTheirLogicalIndex() {
        const Tensor x = Tensor::of<std::uint8_t>(Shape{2, 3}, {1, 2, 3, 4, 5, 6}).transposed(0, 1);
        QCOMPARE(elementBits(x, 1), std::string("00000100"));
    }

    void onlyIntegersHaveThem() {
        QVERIFY(analysis::hasBits(Tensor::scalar(true)));
        QVERIFY(analysis::hasBits(Tensor::scalar<std::int64_t>(1)));
        QVERIFY(!analysis::hasBits(Tensor::scalar(1.0F)));
        QVERIFY(!analysis::hasBits(Tensor::ofStrings(Shape{1}, {"1"})));
        QVERIFY(!analysis::hasBits(Tensor()));
    }
};

QTEST_APPLESS_MAIN(TestElementBits)

}  // namespace tst_element_bits

#include "tst_element_bits.moc"
