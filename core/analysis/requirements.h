#pragma once

#include <vector>

#include "core/graph/internal_graph.h"
#include "core/tensor/dim_size_hint.h"

namespace sonde::analysis {

/// What the layers want of inputs whose file says nothing about them: a convolution's weight tells how many dimensions
/// and channels it takes, a linear layer its last dimension, an embedding whole numbers. Follows them back through
/// operators and called modules; what a branch or a loop wants is left out, since it may never run. A layer that also
/// takes a single sample (Conv2d: [C,H,W]) is taken to be given a batch. Sets what must be as the type of such inputs;
/// dimensions that nothing requires stay open. Gives back the inputs whose type it has set.
std::vector<graph::NodeId> requireInputTypes(graph::InternalGraph& graph);

/// What the layers cannot do without, of every input in the order of graph.inputs(), whatever the file says of it: the
/// type that requireInputTypes() would give. Recorded shapes of values between (of a trace by example) take no part.
std::vector<tensor::TypeInfo> requiredByLayers(const graph::InternalGraph& graph);

/// What a first run should give the inputs, in the order of graph.inputs(): what must be, and what is only likely: the
/// length of a position table, the height and width that a linear layer behind flattened feature maps adds up to (taken
/// to be equal), the least that windows need. Empty for those of which nothing tells the rank.
std::vector<tensor::DimSizeHints> usualDimSizes(const graph::InternalGraph& graph);

}  // namespace sonde::analysis
