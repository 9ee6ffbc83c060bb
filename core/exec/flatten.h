#pragma once

#include <vector>

#include "core/exec/plan_impl.h"

namespace sonde::exec {

/// A called module or model-local function: an expr that runs its first body in place.
bool isCall(const graph::Expr& expr);

/// By node: the node that it always has the value of. Inputs of called bodies are what the call was given, the call's
/// outputs are the body's results; everything else is itself. A run keeps one value for all of them.
std::vector<NodeId> valueSources(const InternalGraph& graph);

/// The body in whose row of steps a body's steps run: itself, or, of a called one, the body that the call is in, and so
/// on.
graph::BodyId rowOf(const InternalGraph& graph, graph::BodyId body);

/// The steps of a body with those of called bodies (given by body) between an Enter and a Leave in their place, so that
/// element-wise steps can be fused to others across the borders of modules. `keepsReleases`: each body releases its own
/// values, as in the plan; else nothing is released.
std::vector<Step> flattened(const std::vector<BodyPlan>& bodies, graph::BodyId body, const InternalGraph& graph,
                            bool keepsReleases);

}  // namespace sonde::exec
