#pragma once

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// Another value in place of a constant's. No operator produces it from now on: one with the former value among its
/// attributes (ONNX's Constant) would still tell that one, to a writer for example. The type of the node stays:
/// setType() where it changes.
void replaceConstant(InternalGraph& graph, NodeId node, tensor::Value value);

}  // namespace sonde::graph
