#pragma once

#include <limits>
#include <optional>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// What the results of an operator are bounded by.
struct ValueLimits {
    double low = -std::numeric_limits<double>::infinity();  ///< elements at or below count as saturated
    double high = std::numeric_limits<double>::infinity();  ///< at or above
    bool isQuantized = false;                               ///< the ends of an integer dtype
    bool isRectifier = false;                               ///< zero for all negative inputs
    bool isChannelLast = false;                             ///< of a rectifier of rank 3: behind a matrix product
};

/// Nothing for operators without bounds. Of sigmoid and tanh the limits are within 0.001 of their bounds, where
/// gradients and differences vanish; of clipping operators they are the bounds, but for a lower one of 0, which makes
/// it a rectifier.
std::optional<ValueLimits> limitsOf(const graph::InternalGraph& graph, const graph::Expr& expr);

}  // namespace sonde::analysis
