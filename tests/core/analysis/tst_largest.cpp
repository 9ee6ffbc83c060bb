#include <QTest>

#include <cmath>
#include <limits>

#include "core/analysis/largest.h"

namespace tst_largest {

using namespace sonde;
using tensor::Shape;
using tensor::Tensor;

using Places = std::vector<std::int64_t>;

class TestLargest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void largestComeFirstAndEqualOnesInOrder() {
        const Tensor x = Tensor::of<float>(Shape{2, 4}, {1, 7, -3, 7, 0, 9, 7, 2});
        QCOMPARE(analysis::largestElements(x, 4), (Places{5, 1, 3, 6}));
        QCOMPARE(analysis::largestElements(x, 1), Places{5});
        QCOMPARE(analysis::largestElements(x, 100).size(), size_t(8));
        QCOMPARE(analysis::largestElements(x, 0), Places{});
        // Transposed [4, 2]: 9 stood at row 1, column 1 and stands at 1 * 2 + 1.
        QCOMPARE(analysis::largestElements(x.transposed(0, 1), 1), Places{3});
    }

    void nanIsLeftOutAndInfinityIsLargest() {
        const float inf = std::numeric_limits<float>::infinity();
        QCOMPARE(analysis::largestElements(Tensor::of<float>(Shape{4}, {std::nanf(""), -inf, inf, 0}), 9),
                 (Places{2, 3, 1}));
    }

    void nothingGivesNothing() {
        QCOMPARE(analysis::largestElements(Tensor(), 3), Places{});
        QCOMPARE(analysis::largestElements(Tensor::ofStrings(Shape{1}, {"a"}), 3), Places{});
        QCOMPARE(analysis::largestElements(Tensor::zeros(tensor::DType::Float32, Shape{0}).value(), 3), Places{});
        std::stop_source source;
        source.request_stop();
        QCOMPARE(analysis::largestElements(Tensor::scalar(1.0f), 3, source.get_token()), Places{});
    }
};

QTEST_APPLESS_MAIN(TestLargest)

}  // namespace tst_largest

#include "tst_largest.moc"
