#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// The graph with further inputs, one for each of `nodes` in that order after those it has: whatever reads one of the
/// nodes reads its input instead. The nodes are still computed, from what they read. Ids of the graph stay valid in it.
/// The nodes are values of operations outside of loops and branches, by their sources (exec::valueSources).
std::shared_ptr<const graph::InternalGraph> withInjected(const std::shared_ptr<const graph::InternalGraph>& graph,
                                                         std::span<const graph::NodeId> nodes);

}  // namespace sonde::analysis
