#include <QTest>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/analysis/tensor_views/filter_pictures.h"

namespace tst_filter_pictures {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

class TestFilterPictures : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void banksHaveSeveralSmallKernels() {
        const auto is = [](const Shape& shape) {
            return analysis::isFilterBank(Tensor::zeros(DType::Float32, shape).value());
        };
        QVERIFY(is(Shape{64, 3, 7, 7}));
        QVERIFY(is(Shape{8, 1, 1, 3}));
        QVERIFY(!is(Shape{64, 3, 1, 1}));
        QVERIFY(!is(Shape{1, 64, 56, 56}));
        QVERIFY(!is(Shape{2, 3, 224, 224}));
        QVERIFY(!is(Shape{2, 0, 3, 3}));
        QVERIFY(!is(Shape{64, 3, 7}));
        QVERIFY(!analysis::isFilterBank(Tensor()));
        QVERIFY(analysis::readsColours(Tensor::zeros(DType::Float32, Shape{2, 3, 2, 2}).value()));
        QVERIFY(!analysis::readsColours(Tensor::zeros(DType::Float32, Shape{3, 2, 2, 2}).value()));
    }

    void picturesAreTheElementsOfTheFilter() {
        std::vector<float> numbers(36);
        std::iota(numbers.begin(), numbers.end(), 0.0F);
        const Tensor bank = Tensor::of<float>(Shape{2, 3, 2, 3}, numbers);
        const auto colour = analysis::filterPicture(bank, 1, std::nullopt);
        QCOMPARE(colour.channels, std::int64_t(3));
        QCOMPARE(colour.at(0, 0, 0), 18.0);
        QCOMPARE(colour.at(2, 1, 2), 35.0);
        QCOMPARE(colour.low, 18.0);
        QCOMPARE(colour.high, 35.0);
        // One input: elements (1, 2, :, :) are 18 + 12 and what follows.
        const auto one = analysis::filterPicture(bank, 1, 2);
        QCOMPARE(one.channels, std::int64_t(1));
        QCOMPARE(one.values, (std::vector<double>{30, 31, 32, 33, 34, 35}));
        QCOMPARE(one.low, 30.0);
        // Any strides: [3, 2] kernels of the same numbers.
        QCOMPARE(analysis::filterPicture(bank.transposed(2, 3), 1, 2).values,
                 (std::vector<double>{30, 33, 31, 34, 32, 35}));
    }

    void rangesAreThoseOfFiniteElements() {
        const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
        const auto picture =
            analysis::filterPicture(Tensor::of<float>(Shape{2, 1, 1, 3}, {nan, -2, inf, nan, nan, nan}), 0, 0);
        QCOMPARE(picture.low, -2.0);
        QCOMPARE(picture.high, -2.0);
        QVERIFY(std::isnan(picture.at(0, 0, 0)));
        QVERIFY(std::isinf(picture.at(0, 0, 2)));
    }
};

QTEST_APPLESS_MAIN(TestFilterPictures)

}  // namespace tst_filter_pictures

#include "tst_filter_pictures.moc"
