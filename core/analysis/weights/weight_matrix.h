#pragma once

#include <span>

#include "core/analysis/weights/filters.h"
#include "core/analysis/weights/weight_reader.h"
#include "core/base/result.h"

namespace sonde::analysis {

/// A weight as the matrix whose singular values are meant: [filters, elements of a filter], or transposed where that is
/// how it is stored, which has the same values. Blocks of it are read when they are needed.
class WeightMatrix {
  public:
    /// Usage error: fewer than two dimensions, or no element.
    static base::Result<WeightMatrix> make(const WeightReader& reader, const tensor::Shape& shape,
                                           const std::optional<FilterLayout>& layout);

    std::int64_t filters() const { return m_layout.count(); }
    std::int64_t fanIn() const { return m_layout.fanIn(); }
    /// As it is read.
    std::int64_t rows() const { return m_isStoredTransposed ? m_layout.outer : filters(); }
    std::int64_t cols() const { return m_isStoredTransposed ? m_layout.filters : fanIn(); }
    /// `out` has `count` elements of a row from column `col` on.
    void readRow(std::int64_t row, std::int64_t col, std::span<double> out) const;

  private:
    WeightMatrix(const WeightReader& reader, const FilterLayout& layout)
        : m_reader(&reader), m_layout(layout),
          m_isStoredTransposed(layout.groups == 1 && layout.inner == 1 && layout.outer > 1) {}

    const WeightReader* m_reader;
    FilterLayout m_layout;
    bool m_isStoredTransposed;
};

}  // namespace sonde::analysis
