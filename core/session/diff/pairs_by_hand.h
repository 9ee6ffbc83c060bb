#pragma once

#include <utility>
#include <vector>

#include "core/graph/ids.h"

namespace sonde::session {

/// What a person says of two graphs. A node stands for the operation that makes it, a called module for the operation
/// inside that does.
struct PairsByHand {
    using Pair = std::pair<graph::NodeId, graph::NodeId>;  ///< of the first and of the second graph

    std::vector<Pair> same;   ///< counterparts, whatever they are; what was said later counts
    std::vector<Pair> apart;  ///< not each other's counterpart

    bool empty() const { return same.empty() && apart.empty(); }
    bool operator==(const PairsByHand&) const = default;
};

}  // namespace sonde::session
