#pragma once

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// Whether a stored tensor keeps elements out of a softmax on purpose: its elements are finite or −∞, none NaN or +∞,
/// and whatever reads it, through sums, views and casts, ends in a softmax or an attention.
bool isStoredMask(const graph::InternalGraph& graph, graph::NodeId node);

}  // namespace sonde::analysis
