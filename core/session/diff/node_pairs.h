#pragma once

#include <vector>

#include "core/session/diff/graph_pairs.h"
#include "core/session/diff/parameter_diff.h"

namespace sonde::session {

/// Which value of the other graph a value is. By NodeId; none where there is no such value.
struct NodePairs {
    std::vector<graph::NodeId> ofFirst, ofSecond;
};

/// Results of operations that are counterparts, by position; inputs of the graphs, by position; parameters. What a
/// called module gives is what the other graph's call gives, if that has one around the counterpart, else that.
NodePairs nodePairs(const graph::InternalGraph& first, const graph::InternalGraph& second, const GraphPairs& pairs,
                    const ParameterDiff& parameters);

}  // namespace sonde::session
