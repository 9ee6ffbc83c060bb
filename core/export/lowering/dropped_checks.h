#pragma once

#include "core/base/diagnostics.h"
#include "core/graph/internal_graph.h"

namespace sonde::exporting {

/// One warning for each assertion and guard of a graph, in execution order, by node, position and module: ONNX has no
/// operator that ends a run, so a file in ONNX operators gives values where the model raises. The last warning counts
/// them.
base::Diagnostics droppedChecks(const graph::InternalGraph& graph);

}  // namespace sonde::exporting
