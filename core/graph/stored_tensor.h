#pragma once

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// The tensor that a node has stored; null: it has none. Valid as long as the graph has it.
inline const tensor::Tensor* storedTensor(const InternalGraph& graph, NodeId node) {
    const auto& constant = graph.node(node).constant;
    return constant && constant->isTensor() && constant->tensor().defined() ? &constant->tensor() : nullptr;
}

}  // namespace sonde::graph
