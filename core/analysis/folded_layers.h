#pragma once

#include <utility>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// Which values of two graphs are equal, of two layers that stand for each other: their own, or, where the one layer
/// has in its weight and bias what follows the other (a batch normalisation, a scale or a shift by constants), its own
/// and what the last of these gives. That is so where the parameters differ and the one has more of such operations
/// behind it, the last of which are those of the other. Layers are convolutions and matrix products, by their traits;
/// of any other two operations it gives what it is given. First the value of `from`.
std::pair<graph::NodeId, graph::NodeId> equalResults(const graph::InternalGraph& from, graph::NodeId ours,
                                                     const graph::InternalGraph& to, graph::NodeId theirs);

}  // namespace sonde::analysis
