#pragma once

#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// By NodeId: whether some operation writes to the memory that the value may be in, so that reading it twice may give
/// two results. Follows views, lists and calls, and errs towards written. Linear in the graph.
std::vector<bool> writtenValues(const graph::InternalGraph& graph);

}  // namespace sonde::analysis
