#pragma once

#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// What the layers want of inputs whose file says nothing about them: a convolution's weight tells how many dimensions
/// and channels it takes, a linear layer its last extent, an embedding whole numbers. Follows them back through operators that
/// keep shapes and through called modules; what a branch or a loop wants is left out, since it may never run. A layer that
/// also takes a single sample (Conv2d: [C,H,W]) is taken to be given a batch. Sets the type of such inputs and gives them
/// back; extents that nothing demands stay open.
std::vector<graph::NodeId> demandInputTypes(graph::InternalGraph& graph);

}  // namespace sonde::analysis
