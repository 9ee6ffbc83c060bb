#pragma once

#include <span>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/graph/internal_graph.h"

namespace sonde::passes {

/// Replaces every Gradient of domain ai.onnx.preview.training in the main body by operators that compute it: reverse
/// mode over the part of the graph between its xs and its y, so that derivatives are drawn, watched and saved like all
/// else. dy/dx is that of the sum of y's elements; it is zero where y does not depend on x. Inputs that are not the
/// tensors named in xs and zs stand for them: that part of the graph is then computed again. Shapes and dtypes should
/// be inferred before: ranks are needed by some rules. What has no rule (all such operators are named) or lacks a shape
/// leaves its Gradient as it is, with a finding. Returns the number of those replaced.
std::size_t expandGradients(graph::InternalGraph& graph, base::Diagnostics& findings);

/// A node, and the node that has its gradient.
struct NodeGradient {
    graph::NodeId node;
    graph::NodeId gradient;
};

/// Appends to the main body of a graph of ONNX operators what computes the gradients of `xs`, given those of some nodes
/// that depend on them; written in operators of version 18. Types of the graph's nodes must be known. Returns a node
/// for each of xs; an invalid id where the gradient is zero because nothing differentiable is in between. Errors
/// (Usage): an operator has no rule, or none for the call's attributes; the graph must not be used any more then.
base::Result<std::vector<graph::NodeId>> appendGradients(graph::InternalGraph& graph,
                                                         std::span<const NodeGradient> given,
                                                         std::span<const graph::NodeId> xs);
/// Whether there is a rule for an ONNX operator, by name.
bool hasGradientRule(const graph::Expr& expr);

}  // namespace sonde::passes
