#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/analysis/weights/weight_reader.h"
#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// Where the filters of a kernel are, one for each output channel of the operation that reads it; those of a group read
/// the same channels. Seen as
/// [groups, outer, filters, inner], the elements (g, :, f, :) are filter g·filters + f.
struct FilterLayout {
    std::int64_t groups = 1, outer = 1, filters = 1, inner = 1;
    std::int64_t count() const { return groups * filters; }
    std::int64_t fanIn() const { return outer * inner; }  ///< elements of a filter
    bool operator==(const FilterLayout&) const = default;
};

/// Of a kernel with elements that `expr` takes for its argument `index`: convolutions [filters, channels / groups, …],
/// transposed ones [channels, filters / groups, …], products [features, filters] or transposed. Nothing if the axis is
/// not known, or it is no kernel.
std::optional<FilterLayout> filterLayout(const graph::Expr& expr, std::size_t index, const tensor::Shape& shape);

struct FilterFigures {
    std::vector<float> largest;     ///< by filter: |element|
    std::vector<std::size_t> zero;  ///< all of whose elements are 0
    std::vector<std::pair<std::size_t, std::size_t>>
        duplicates;  ///< one that is not zero, and the first of its group equal to it
};

/// Collects them while elements go by in row-major order, piece by piece. Memory grows with the filters alone.
class FilterCollector {
  public:
    explicit FilterCollector(const FilterLayout& layout);
    /// Elements behind those before.
    void add(std::span<const double> piece);
    /// After all of them. Filters of one hash are compared element by element, which `reader` reads again.
    FilterFigures finish(const WeightReader& reader, const std::stop_token& stop = {}) const;

  private:
    bool areEqual(const WeightReader& reader, std::size_t a, std::size_t b) const;

    FilterLayout m_layout;
    std::vector<std::uint64_t> m_hashes;
    std::vector<float> m_largest;
    std::vector<bool> m_isZero;
    std::int64_t m_at = 0;  ///< index of the next element
};

}  // namespace sonde::analysis
