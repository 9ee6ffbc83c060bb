#include "core/analysis/tensor_views/row_pca.h"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

namespace sonde::analysis {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Singular values below this part of the largest one are not told from 0.
constexpr double kRounding = 1e-13;

/// Position `i` of `taken` that are spread evenly over `count`.
std::int64_t spreadIndex(std::int64_t i, std::int64_t taken, std::int64_t count) {
    return taken == count || taken < 2 ? i : i * (count - 1) / (taken - 1);
}

/// Row-major index of an element by its row and column.
class RowIndex {
  public:
    RowIndex(const tensor::Tensor& tensor, int axis) : m_width(tensor.dim(tensor.rank() - 1)) {
        if (axis == kRowsOfLastAxis) return;
        m_isAxis = true;
        m_size = tensor.dim(static_cast<std::size_t>(axis));
        for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < tensor.rank(); ++i) m_inner *= tensor.dim(i);
    }
    std::int64_t of(std::int64_t row, std::int64_t column) const {
        if (!m_isAxis) return row * m_width + column;
        return (column / m_inner * m_size + row) * m_inner + column % m_inner;
    }

  private:
    bool m_isAxis = false;
    std::int64_t m_width, m_size = 1, m_inner = 1;
};

/// The finite ones of the rows that are taken; their positions go to `points`.
base::Result<MatrixXd> readRows(const tensor::Tensor& tensor, int axis, RowPca& found, const std::stop_token& stop) {
    const RowIndex index(tensor, axis);
    MatrixXd rows(static_cast<Index>(found.takenRows), static_cast<Index>(found.takenColumns));
    Index used = 0;
    for (std::int64_t i = 0; i < found.takenRows; ++i) {
        if (stop.stop_requested()) return base::cancelled();
        const std::int64_t row = spreadIndex(i, found.takenRows, found.rowCount);
        for (std::int64_t j = 0; j < found.takenColumns; ++j)
            rows(used, j) = tensor.toDouble(index.of(row, spreadIndex(j, found.takenColumns, found.columnCount)));
        if (!rows.row(used).allFinite()) {
            ++found.badRows;
            continue;
        }
        found.points.push_back({row, 0, 0});
        ++used;
    }
    rows.conservativeResize(used, Eigen::NoChange);
    return rows;
}

/// U·S and S. Of the longer dimension only its R of A = QR is decomposed: S and U of wide rows are those of Rᵀ.
void decomposeRows(const MatrixXd& rows, MatrixXd& scores, Eigen::VectorXd& values) {
    const bool isWide = rows.cols() > rows.rows();
    const Index small = std::min(rows.rows(), rows.cols());
    const Eigen::HouseholderQR<MatrixXd> qr(isWide ? MatrixXd(rows.transpose()) : rows);
    const MatrixXd r = qr.matrixQR().topRows(small).triangularView<Eigen::Upper>();
    const Eigen::BDCSVD<MatrixXd> svd(isWide ? MatrixXd(r.transpose()) : r,
                                      isWide ? Eigen::ComputeThinU : Eigen::ComputeThinV);
    values = svd.singularValues();
    const Index kept = std::min<Index>(2, small);
    if (isWide) scores = svd.matrixU().leftCols(kept) * values.head(kept).asDiagonal();
    else scores = rows * svd.matrixV().leftCols(kept);
}

}  // namespace

std::array<std::int64_t, 2> pcaShape(const tensor::Tensor& tensor, int axis) {
    if (tensor.rank() == 0 || tensor.numel() == 0) return {0, 0};
    const std::int64_t size = tensor.dim(axis == kRowsOfLastAxis ? tensor.rank() - 1 : static_cast<std::size_t>(axis));
    const std::int64_t others = tensor.numel() / size;
    return axis == kRowsOfLastAxis ? std::array{others, size} : std::array{size, others};
}

base::Result<RowPca> rowPca(const tensor::Tensor& tensor, int axis, const std::stop_token& stop) {
    if (!tensor.defined() || tensor.dtype() == tensor::DType::String || axis < kRowsOfLastAxis ||
        axis >= static_cast<int>(tensor.rank()) || tensor.rank() == 0)
        return base::usageError("principal components are those of numbers with an axis of rows");
    RowPca found;
    const auto shape = pcaShape(tensor, axis);
    found.rowCount = shape[0];
    found.columnCount = shape[1];
    found.takenRows = std::min(found.rowCount, RowPca::kMaxRows);
    found.takenColumns = std::min(found.columnCount, RowPca::kMaxColumns);
    MatrixXd rows;
    SONDE_ASSIGN(rows, readRows(tensor, axis, found, stop));
    if (rows.rows() < 2) return base::usageError("less than two rows are finite", {}, "principal components need two");
    rows.rowwise() -= rows.colwise().mean().eval();
    // Numbers near the largest double have no square.
    const double largest = rows.cwiseAbs().maxCoeff();
    if (!std::isfinite(largest)) return base::usageError("the elements are too large for their differences");
    if (largest == 0) return found;
    rows /= largest;
    MatrixXd scores;
    Eigen::VectorXd values;
    decomposeRows(rows, scores, values);
    if (stop.stop_requested()) return base::cancelled();
    const double all = values.squaredNorm();
    for (Index component = 0; component < scores.cols(); ++component) {
        // Rounding alone, as of rows on one line.
        if (values[component] <= values[0] * kRounding) break;
        found.explained[static_cast<std::size_t>(component)] = values[component] * values[component] / all;
        Index farthest = 0;
        // Equal but for rounding: the first.
        const double most = scores.col(component).cwiseAbs().maxCoeff() * (1 - 1e-9);
        while (std::abs(scores(farthest, component)) < most) ++farthest;
        if (scores(farthest, component) < 0) scores.col(component) *= -1;
        for (std::size_t i = 0; i < found.points.size(); ++i)
            (component == 0 ? found.points[i].x : found.points[i].y) =
                scores(static_cast<Index>(i), component) * largest;
    }
    return found;
}

}  // namespace sonde::analysis
