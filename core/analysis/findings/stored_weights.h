#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/analysis/weight_positions.h"
#include "core/base/progress.h"
#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// A weight or statistic of floating point that the model stores, with the figures that checkers look at.
struct StoredWeight {
    graph::NodeId node;
    graph::ExprId reader;   ///< the first operation that takes it for a weight
    std::size_t index = 0;  ///< which of its arguments
    WeightPosition position = WeightPosition::None;
    tensor::DType dtype = tensor::DType::Undefined;
    tensor::Shape shape;
    std::int64_t count = 0, nan = 0, inf = 0, zero = 0, denormal = 0;
    double minimum = 0, maximum = 0, rms = 0;  ///< of the finite elements
    double magnitude() const;                  ///< of the largest element

    // Of kernels: of convolutions [filters, channels / groups, …], of products [filters, features] or transposed.
    bool isKernel = false;
    std::int64_t fanIn = 0;           ///< elements of a filter
    std::vector<float> largest = {};  ///< by filter: |element|
    std::vector<std::size_t> zeroFilters = {};
    std::vector<std::pair<std::size_t, std::size_t>> duplicates = {};  ///< a filter, and the first one equal to it
};

/// In the order of their first readers; each piece of memory once. Reads every weight: time grows with their bytes,
/// memory by the largest of them. Stops early when asked to.
std::vector<StoredWeight> storedWeights(const graph::InternalGraph& graph, const base::WorkContext& work = {});

}  // namespace sonde::analysis
