#pragma once

#include <set>

#include "core/base/diagnostics.h"
#include "core/graph/internal_graph.h"

namespace sonde::exporting {

/// One warning for each assertion and guard of a graph, in execution order, by node, position and module: ONNX has no
/// operator that ends a run, so a file in ONNX operators gives values where the model raises. The last warning counts
/// them.
base::Diagnostics droppedChecks(const graph::InternalGraph& graph);

/// The checks in front of writes that remove-inplace has put into the graph (`sonde::overlap_guard`), and what is
/// computed for them alone: the views that cut tensors of positions.
std::set<graph::ExprId> overlapChecks(const graph::InternalGraph& graph);

}  // namespace sonde::exporting
