#pragma once

#include <cstdint>
#include <vector>

namespace sonde::tensor {

/// What an open dim size of an input should be in a first run. A guess: the model may take others.
struct ExtentHint {
    std::int64_t likely = -1;  ///< -1: nothing tells
    std::int64_t least = 1;    ///< with fewer some layer has nothing to work on
    bool operator==(const ExtentHint&) const = default;
};
using ExtentHints = std::vector<ExtentHint>;  ///< by axis; empty: not even the rank is told

}  // namespace sonde::tensor
