#pragma once

#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::layout {

/// By ExprId: operations that do nothing but compute shapes, from one that asks for a shape (`Shape`, `size`) up to
/// where an operation on data reads the result (`Reshape`, `Expand`): everything they read is a shape, computed from
/// shapes, or constant, and what they make has at most one dimension. Operations on constants alone, and constants,
/// that nothing else reads are among them. Linear in the graph's size.
std::vector<bool> shapeMath(const graph::InternalGraph& graph);

}  // namespace sonde::layout
