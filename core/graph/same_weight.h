#pragma once

#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// All nodes that are one weight with a stored value, itself first: the same elements of the same memory, as a module
/// has that is called twice in a trace. Of what is no parameter the node alone.
std::vector<NodeId> sameWeight(const InternalGraph& graph, NodeId constant);

}  // namespace sonde::graph
