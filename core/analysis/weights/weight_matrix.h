#pragma once

#include <span>
#include <string>
#include <utility>

#include "core/analysis/weights/filters.h"
#include "core/analysis/weights/weight_reader.h"
#include "core/base/result.h"

namespace sonde::analysis {

/// A weight as the matrix whose singular values are meant: [filters, elements of a filter], or transposed where that is
/// how it is stored, which has the same values. Of a weight that has no filters the first dimension of more than one
/// element is that of the rows, and the others are the columns: [1, 17, 64] is 17 x 64. Blocks of it are read when they
/// are needed.
class WeightMatrix {
  public:
    /// Usage error: fewer than two dimensions, or no element.
    static base::Result<WeightMatrix> make(const WeightReader& reader, const tensor::Shape& shape,
                                           const std::optional<FilterLayout>& layout);

    /// Which dimensions are its rows and columns: "filters by their elements", "dimension 1 by the others" (from 0).
    const std::string& meaning() const { return m_meaning; }
    std::int64_t filters() const { return m_layout.count(); }
    std::int64_t fanIn() const { return m_layout.fanIn(); }
    /// As it is read.
    std::int64_t rows() const { return m_isStoredTransposed ? m_layout.outer : filters(); }
    std::int64_t cols() const { return m_isStoredTransposed ? m_layout.filters : fanIn(); }
    /// `out` has `count` elements of a row from column `col` on.
    void readRow(std::int64_t row, std::int64_t col, std::span<double> out) const;

  private:
    WeightMatrix(const WeightReader& reader, const FilterLayout& layout, std::string meaning)
        : m_reader(&reader), m_layout(layout), m_meaning(std::move(meaning)),
          m_isStoredTransposed(layout.groups == 1 && layout.inner == 1 && layout.outer > 1) {}

    const WeightReader* m_reader;
    FilterLayout m_layout;
    std::string m_meaning;
    bool m_isStoredTransposed;
};

}  // namespace sonde::analysis
