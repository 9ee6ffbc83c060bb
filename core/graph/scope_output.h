#pragma once

#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// What leaves a call of a module: the last node made in it that something outside reads, or that the model returns;
/// else the last one that is no constant. `order`: exprs in the order of execution, at least those inside. Invalid if
/// nothing is.
NodeId outputOfScope(const InternalGraph& graph, ScopeId scope, const std::vector<ExprId>& order);

}  // namespace sonde::graph
