#pragma once

#include <cstdint>
#include <optional>

#include "core/graph/internal_graph.h"
#include "core/trace/var.h"

namespace sonde::io::script {

/// The number of dimensions that a tensor has by the operators that make it (a conv2d gives four, a relu what it gets);
/// nothing if they do not say. Batches are taken to be there: whoever builds on it has to assert it.
std::optional<std::int64_t> likelyRank(const graph::InternalGraph& graph, graph::NodeId node);

/// A proxy that stands for a list of dim sizes (x.size(), x.shape), whole or a part of it.
bool isSizeList(const trace::Var& var);

/// What is recorded now is the inside of a leaf.
bool insideLeaf();

}  // namespace sonde::io::script
