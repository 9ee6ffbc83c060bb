#include <QTest>

#include <cmath>
#include <numeric>

#include "core/tensor/plane.h"

namespace tst_plane {

using namespace sonde::tensor;

namespace {

/// [2, 3, 4] holding 100 * i + 10 * j + k.
Tensor digits() {
    std::vector<float> values;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 4; ++k) values.push_back(float(100 * i + 10 * j + k));
    return Tensor::of<float>(Shape{2, 3, 4}, values);
}

}  // namespace

class TestPlane : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyPairOfAxesGivesItsPlane() {
        const Tensor x = digits();
        const std::vector<std::int64_t> at{1, 2, 3};
        for (int row = 0; row < 3; ++row)
            for (int column = 0; column < 3; ++column) {
                if (row == column) continue;
                const Tensor view = plane(x, row, column, at);
                QCOMPARE(view.shape(), (Shape{x.dim(size_t(row)), x.dim(size_t(column))}));
                const auto read = planeReader(view);
                for (std::int64_t r = 0; r < view.dim(0); ++r)
                    for (std::int64_t c = 0; c < view.dim(1); ++c) {
                        std::int64_t place[3] = {1, 2, 3};
                        place[row] = r;
                        place[column] = c;
                        QCOMPARE(read(r, c), double(100 * place[0] + 10 * place[1] + place[2]));
                        QCOMPARE(view.toDouble(r * view.dim(1) + c), read(r, c));
                    }
            }
    }

    void oneAxisOrNoneStillGivesAPlane() {
        const Tensor x = digits();
        const std::vector<std::int64_t> at{1, 2, 3};
        QCOMPARE(plane(x, -1, 2, at).shape(), (Shape{1, 4}));
        QCOMPARE(planeReader(plane(x, -1, 2, at))(0, 1), 121.0);
        QCOMPARE(plane(x, 0, -1, at).shape(), (Shape{2, 1}));
        QCOMPARE(planeReader(plane(x, 0, -1, at))(0, 0), 23.0);
        QCOMPARE(plane(x, -1, -1, at).shape(), (Shape{1, 1}));
        QCOMPARE(planeReader(plane(Tensor::scalar(2.5), -1, -1, {}))(0, 0), 2.5);
    }

    void anEmptyAxisGivesAnEmptyPlane() {
        const Tensor x = Tensor::zeros(DType::Float32, Shape{0, 3, 4}).value();
        const std::vector<std::int64_t> at{0, 0, 0};
        QCOMPARE(plane(x, 1, 2, at).shape(), (Shape{0, 0}));
        QCOMPARE(plane(x, 0, 1, at).shape(), (Shape{0, 3}));
    }

    void everyDtypeIsRead() {
        for (int i = 1; i < kDTypeCount; ++i) {
            const DType dtype = static_cast<DType>(i);
            if (dtype == DType::String) continue;
            const auto one = Tensor::of<float>(Shape{1, 2}, {1.0f, 0.5f}).cast(dtype);
            QVERIFY2(one.has_value(), std::string(name(dtype)).c_str());
            const auto read = planeReader(one.value());
            QCOMPARE(read(0, 0), 1.0);
            QCOMPARE(read(0, 1), one.value().toDouble(1));
        }
        QVERIFY(std::isnan(planeReader(Tensor::ofStrings(Shape{1, 1}, {"a"}))(0, 0)));
    }
};

QTEST_APPLESS_MAIN(TestPlane)

}  // namespace tst_plane

#include "tst_plane.moc"
