#include "core/analysis/weights/weight_matrix.h"

#include <algorithm>

namespace sonde::analysis {

base::Result<WeightMatrix> WeightMatrix::make(const WeightReader& reader, const tensor::Shape& shape,
                                              const std::optional<FilterLayout>& layout) {
    if (shape.rank() < 2)
        return base::usageError("singular values are of matrices: the weight has " + std::to_string(shape.rank()) +
                                    (shape.rank() == 1 ? " dimension" : " dimensions"),
                                {}, "choose a weight with two dimensions or more");
    if (reader.count() == 0 || reader.count() != shape.numel())
        return base::usageError("the weight has no elements to decompose");
    if (layout) return WeightMatrix(reader, *layout, "filters by their elements");
    // A dimension of 1 in front is of no rows: positions and tokens have one for the batch.
    std::size_t axis = 0;
    while (axis + 2 < shape.rank() && shape[axis] == 1) ++axis;
    std::string meaning =
        shape.rank() == 2 ? "rows by columns" : "dimension " + std::to_string(axis) + " by the others";
    return WeightMatrix(reader, {1, 1, shape[axis], reader.count() / shape[axis]}, std::move(meaning));
}

void WeightMatrix::readRow(std::int64_t row, std::int64_t col, std::span<double> out) const {
    if (m_isStoredTransposed) return m_reader->read(row * m_layout.filters + col, out);
    // Filter `row`: runs of `inner` elements, one for each index of `outer`.
    const std::int64_t group = row / m_layout.filters, filter = row % m_layout.filters;
    std::size_t at = 0;
    while (at < out.size()) {
        const std::int64_t outer = (col + static_cast<std::int64_t>(at)) / m_layout.inner;
        const std::int64_t inner = (col + static_cast<std::int64_t>(at)) % m_layout.inner;
        const auto run = std::min(static_cast<std::size_t>(m_layout.inner - inner), out.size() - at);
        const std::int64_t first =
            ((group * m_layout.outer + outer) * m_layout.filters + filter) * m_layout.inner + inner;
        m_reader->read(first, out.subspan(at, run));
        at += run;
    }
}

}  // namespace sonde::analysis
