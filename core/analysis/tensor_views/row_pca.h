#pragma once

#include <array>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/base/result.h"
#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// Rows of a tensor by their first two principal components.
struct RowPca {
    static constexpr std::int64_t kMaxRows = 1000, kMaxColumns = 4096;

    struct Point {
        std::int64_t row = 0;
        double x = 0, y = 0;  ///< in the unit of the elements
    };
    std::vector<Point> points;                     ///< of the rows that were taken and are finite
    std::array<double, 2> explained = {};          ///< share of the variance, 0 to 1; both 0 if all rows are equal
    std::int64_t rowCount = 0, columnCount = 0;    ///< of the tensor
    std::int64_t takenRows = 0, takenColumns = 0;  ///< evenly spread where there are more than kMaxRows, kMaxColumns
    std::int64_t badRows = 0;                      ///< left out: NaN or infinite elements
};

/// What is a row: all axes but the last, or the positions along one axis.
inline constexpr int kRowsOfLastAxis = -1;

/// Principal components by a singular value decomposition of the rows less their mean, in double precision. The sign of
/// a component is such that the point farthest along it, of equally far ones the first, is positive. `axis`: the
/// position along it is the row, and all other axes are its columns; kRowsOfLastAxis: a row is a run of the last axis.
/// Complex elements count by their real part. Blocks, on any thread; takes memory for kMaxRows × kMaxColumns numbers.
/// Errors: Usage, strings, no such axis, less than two finite rows; Cancelled.
base::Result<RowPca> rowPca(const tensor::Tensor& tensor, int axis, const std::stop_token& stop = {});

/// The shape [rows, columns] that it has then.
std::array<std::int64_t, 2> pcaShape(const tensor::Tensor& tensor, int axis);

}  // namespace sonde::analysis
