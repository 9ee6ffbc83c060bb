#pragma once

#include "core/graph/internal_graph.h"
#include "core/operators/cost.h"
#include "core/ops/registry/registry.h"

namespace sonde::analysis {

/// FLOPs and bytes of one expr from the types of its nodes (inferTypes, typedFor), in the symbols of their shapes. A
/// called module or function takes what its body takes. Unknown for what runs several times or perhaps (If, Loop), and
/// for exprs without a formula.
operators::Cost costOf(const graph::InternalGraph& graph, const graph::Expr& expr,
                       const ops::Registry& registry = ops::Registry::all());

}  // namespace sonde::analysis
