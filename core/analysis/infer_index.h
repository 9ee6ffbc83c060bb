#pragma once

#include <optional>
#include <vector>

#include "core/analysis/infer_types.h"
#include "core/tensor/symbolic.h"

namespace sonde::analysis {

/// One part of an index x[a, b:c, None, …] as far as it is known before a run.
struct IndexPart {
    enum class Kind : std::uint8_t { Select, Range, NewAxis, Ellipsis };
    Kind kind = Kind::Select;
    std::optional<tensor::Symbolic> start, stop, step;  ///< of a range; none: not given. May be unknown
};

/// The shape of x[parts], whose numbers may be symbols: of a range the dimension is open where it cannot be told.
/// Nothing if there are more parts than dimensions.
std::optional<Dims> indexedDims(const Dims& dims, const std::vector<IndexPart>& parts);

}  // namespace sonde::analysis
