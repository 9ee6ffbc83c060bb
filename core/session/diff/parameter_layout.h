#pragma once

#include <optional>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::session::diff {

/// An operation that reads a stored tensor, perhaps through transpositions of it.
struct ParameterReader {
    graph::ExprId id;
    bool isTransposed = false;
};
std::vector<ParameterReader> readersOf(const graph::InternalGraph& graph, graph::NodeId node);

/// The stored tensors that an operation reads, also those that it reads transposed, in the order of its inputs.
std::vector<graph::NodeId> storedInputs(const graph::InternalGraph& graph, graph::ExprId id);

/// Whether the products that read a stored matrix take it as [out, in], as torch.nn.Linear stores it; else as [in,
/// out]. None: no product reads it, or several do in different ways. With `only` that one operation counts.
std::optional<bool> isOutputFirst(const graph::InternalGraph& graph, graph::NodeId node, graph::ExprId only = {});

/// Whether all that reads a stored tensor is operations that give it dimensions of 1, and so that shape.
bool isReadAs(const graph::InternalGraph& graph, graph::NodeId node, const tensor::Shape& shape);

}  // namespace sonde::session::diff
