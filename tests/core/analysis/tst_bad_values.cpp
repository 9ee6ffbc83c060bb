#include <QTest>

#include <cmath>
#include <limits>

#include "core/analysis/bad_values.h"

namespace tst_bad_values {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

using Places = std::vector<std::int64_t>;

class TestBadValues : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void findsNanAndBothInfinitiesInOrder() {
        const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
        const Tensor x = Tensor::of<float>(Shape{2, 4}, {1, nan, 0, inf, 5, -inf, 3e38f, nan});
        QCOMPARE(analysis::badElements(x, 100), (Places{1, 3, 5, 7}));
        QCOMPARE(analysis::badElements(x, 2), (Places{1, 3}));
        QCOMPARE(analysis::badElements(x, 0), Places{});
        // Transposed: [4, 2], so index = 2 * column + row of the original.
        QCOMPARE(analysis::badElements(x.transposed(0, 1), 100), (Places{2, 3, 6, 7}));
    }

    void everyFloatingTypeIsLookedAt() {
        const Tensor x = Tensor::of<float>(Shape{3}, {1, std::nanf(""), 2});
        for (DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64, DType::Float8E5M2,
                            DType::Float8E4M3FN, DType::Complex64, DType::Complex128})
            QCOMPARE(analysis::badElements(x.cast(dtype).value(), 100), Places{1});
    }

    void largeDoublesAreNotInfinite() {
        QCOMPARE(analysis::badElements(Tensor::of<double>(Shape{2}, {1e300, -1e300}), 100), Places{});
    }

    void otherTypesHaveNone() {
        QCOMPARE(analysis::badElements(Tensor::of<std::int64_t>(Shape{2}, {1, 2}), 100), Places{});
        QCOMPARE(analysis::badElements(Tensor::ofStrings(Shape{1}, {"nan"}), 100), Places{});
        QCOMPARE(analysis::badElements(Tensor::zeros(DType::Float32, Shape{0, 3}).value(), 100), Places{});
        QCOMPARE(analysis::badElements(Tensor(), 100), Places{});
    }

    void stopsWhenAsked() {
        std::stop_source source;
        source.request_stop();
        const Tensor x = Tensor::of<float>(Shape{1}, {std::nanf("")});
        QCOMPARE(analysis::badElements(x, 100, source.get_token()), Places{});
    }
};

QTEST_APPLESS_MAIN(TestBadValues)

}  // namespace tst_bad_values

#include "tst_bad_values.moc"
