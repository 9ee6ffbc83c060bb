#pragma once

#include <cstddef>

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// What is counted as an operation, wherever a number of them is told: what a run computes. Inputs, constants, reads of
/// attributes and the output are none; a called module is one unless it was traced into, then those inside are.
bool isOperation(const Expr& expr);

/// All operations of a graph, those in bodies too. Linear.
std::size_t operationCount(const InternalGraph& graph);

}  // namespace sonde::graph
