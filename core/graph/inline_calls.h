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

/// The flattened view: the inside of every such call stands in its place, inside of branches and loops too, and all is
/// in the root's scope. What a call returned keeps the call's name, as where a traced module is flattened; the names of
/// the modules stay on the exprs. Calls without a body stay.
InlinedGraph withoutHierarchy(const InternalGraph& graph);

}  // namespace sonde::graph
