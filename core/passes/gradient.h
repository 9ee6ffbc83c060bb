#pragma once

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

}  // namespace sonde::passes
