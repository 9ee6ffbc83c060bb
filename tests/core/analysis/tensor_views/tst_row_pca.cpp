#include <QTest>

#include <cmath>
#include <limits>

#include "core/analysis/tensor_views/row_pca.h"

namespace tst_row_pca {

using namespace sonde;
using analysis::kRowsOfLastAxis;
using analysis::RowPca;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// Four points about (5, 7): 3 before and behind along (0.6, 0.8), 1 along (-0.8, 0.6), which is at a right angle.
std::vector<double> cross() { return {5 + 1.8, 7 + 2.4, 5 - 1.8, 7 - 2.4, 5 - 0.8, 7 + 0.6, 5 + 0.8, 7 - 0.6}; }

bool isNear(double a, double b) { return std::abs(a - b) < 1e-12; }

void checkCross(const RowPca& found) {
    QCOMPARE(found.points.size(), std::size_t(4));
    // Squares along the axes: 2 * 9 and 2 * 1 of 20.
    QVERIFY(isNear(found.explained[0], 0.9));
    QVERIFY(isNear(found.explained[1], 0.1));
    // The first of the points that are farthest is positive.
    const double x[] = {3, -3, 0, 0}, y[] = {0, 0, 1, -1};
    for (std::size_t i = 0; i < 4; ++i) {
        QVERIFY2(isNear(found.points[i].x, x[i]), qPrintable(QString::number(found.points[i].x)));
        QVERIFY2(isNear(found.points[i].y, y[i]), qPrintable(QString::number(found.points[i].y)));
        QCOMPARE(found.points[i].row, std::int64_t(i));
    }
}

}  // namespace

class TestRowPca : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void componentsAreTheAxesOfLargestVariance() {
        const Tensor rows = Tensor::of<double>(Shape{4, 2}, cross());
        checkCross(analysis::rowPca(rows, 0).value());
        checkCross(analysis::rowPca(rows, kRowsOfLastAxis).value());
        checkCross(analysis::rowPca(rows.transposed(0, 1), 1).value());
    }

    void rowsMayBeLongerThanTheyAreMany() {
        // Columns without variance change nothing: [4, 8].
        std::vector<double> wide;
        for (std::size_t row = 0; row < 4; ++row) {
            wide.insert(wide.end(), {2, 2, 2});
            wide.insert(wide.end(), {cross()[2 * row], 4, cross()[2 * row + 1]});
            wide.insert(wide.end(), {0, -1});
        }
        checkCross(analysis::rowPca(Tensor::of<double>(Shape{4, 8}, wide), 0).value());
    }

    void aRowMayBeAPositionOfAnyAxis() {
        // [2, 4, 1]: row i of axis 1 has elements (0, i, 0) and (1, i, 0).
        const std::vector<double> c = cross();
        const Tensor tensor = Tensor::of<double>(Shape{2, 4, 1}, {c[0], c[2], c[4], c[6], c[1], c[3], c[5], c[7]});
        checkCross(analysis::rowPca(tensor, 1).value());
        QCOMPARE(analysis::pcaShape(tensor, 1), (std::array<std::int64_t, 2>{4, 2}));
        QCOMPARE(analysis::pcaShape(tensor, kRowsOfLastAxis), (std::array<std::int64_t, 2>{8, 1}));
    }

    void rowsOnOneLineHaveOneComponent() {
        const RowPca found = analysis::rowPca(Tensor::of<float>(Shape{3, 2}, {0, 0, 3, 4, 6, 8}), 0).value();
        QCOMPARE(found.explained[0], 1.0);
        QCOMPARE(found.explained[1], 0.0);
        QVERIFY(isNear(found.points[0].x, 5) && isNear(found.points[1].x, 0) && isNear(found.points[2].x, -5));
        for (const RowPca::Point& point : found.points) QCOMPARE(point.y, 0.0);
    }

    void equalRowsHaveNoVariance() {
        const RowPca found = analysis::rowPca(Tensor::of<float>(Shape{3, 2}, {1, 2, 1, 2, 1, 2}), 0).value();
        QCOMPARE(found.explained[0], 0.0);
        QCOMPARE(found.points.size(), std::size_t(3));
    }

    void badRowsAreLeftOut() {
        std::vector<double> rows = cross();
        rows.insert(rows.begin() + 2, {std::nan(""), 1});
        rows.insert(rows.end(), {1, std::numeric_limits<double>::infinity()});
        const RowPca found = analysis::rowPca(Tensor::of<double>(Shape{6, 2}, rows), 0).value();
        QCOMPARE(found.badRows, std::int64_t(2));
        QCOMPARE(found.points.size(), std::size_t(4));
        QCOMPARE(found.points[1].row, std::int64_t(2));
        QVERIFY(isNear(found.explained[0], 0.9));
    }

    void manyRowsAreTakenEvenly() {
        std::vector<float> line(3000);
        for (std::size_t i = 0; i < line.size(); ++i) line[i] = static_cast<float>(i / 2);
        const RowPca found = analysis::rowPca(Tensor::of<float>(Shape{1500, 2}, line), 0).value();
        QCOMPARE(found.rowCount, std::int64_t(1500));
        QCOMPARE(found.takenRows, RowPca::kMaxRows);
        QCOMPARE(std::int64_t(found.points.size()), RowPca::kMaxRows);
        QCOMPARE(found.points.front().row, std::int64_t(0));
        QCOMPARE(found.points.back().row, std::int64_t(1499));
        const RowPca wide =
            analysis::rowPca(Tensor::of<float>(Shape{2, 5000}, std::vector<float>(10000, 1)), 0).value();
        QCOMPARE(wide.takenColumns, RowPca::kMaxColumns);
        QCOMPARE(wide.columnCount, std::int64_t(5000));
    }

    void whatHasNoRowsIsRefused() {
        QVERIFY(!analysis::rowPca(Tensor(), 0));
        QVERIFY(!analysis::rowPca(Tensor::scalar(1.0F), 0));
        QVERIFY(!analysis::rowPca(Tensor::ofStrings(Shape{2, 2}, {"a", "b", "c", "d"}), 0));
        QVERIFY(!analysis::rowPca(Tensor::of<float>(Shape{2, 2}, {1, 2, 3, 4}), 2));
        QCOMPARE(analysis::rowPca(Tensor::of<float>(Shape{1, 2}, {1, 2}), 0).error().what,
                 std::string("less than two rows are finite"));
        QVERIFY(!analysis::rowPca(Tensor::zeros(DType::Float32, Shape{0, 2}).value(), 0));
        const double most = std::numeric_limits<double>::max();
        QVERIFY(!analysis::rowPca(Tensor::of<double>(Shape{3, 2}, {most, 0, most, 0, -most, 0}), 0));
    }
};

QTEST_APPLESS_MAIN(TestRowPca)

}  // namespace tst_row_pca

#include "tst_row_pca.moc"
