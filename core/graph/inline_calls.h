#pragma once

#include <span>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// A graph with the insides of some calls in place of them.
struct InlinedGraph {
    InternalGraph graph;
    /// By node of the former graph: the node with its value; none for those of erased exprs.
    std::vector<NodeId> nodes;
};

/// Puts what `calls` compute where they stand: exprs without an operator that run their first body in place (called
/// modules, functions). Exprs keep their names, scopes and sources; what a call was given stands for its inputs, what
/// its body returns for its outputs. Structures that a call returns as one value become an expr of kind Output.
InlinedGraph inlineCalls(const InternalGraph& graph, std::span<const ExprId> calls);

}  // namespace sonde::graph
