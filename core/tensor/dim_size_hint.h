#pragma once

#include <cstdint>
#include <vector>

namespace sonde::tensor {

/// What an open dim size of an input should be in a first run. A guess: the model may take others.
struct DimSizeHint {
    std::int64_t likely = -1;  ///< -1: nothing tells
    std::int64_t least = 1;    ///< with fewer some layer has nothing to work on
    bool operator==(const DimSizeHint&) const = default;
};
using DimSizeHints = std::vector<DimSizeHint>;  ///< by axis; empty: not even the rank is told

}  // namespace sonde::tensor
