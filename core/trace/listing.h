#pragma once

#include <string>

#include "core/graph/internal_graph.h"

namespace sonde::trace {

/// "Node NAME is from module ORIGIN", one line for each node of the main body in order (reference 4, W1). The root's name
/// is empty and so is the blank before it; a node without an origin prints "None".
std::string originListing(const graph::InternalGraph& graph);

/// The same as a table with a heading: index, name, op, target, module; cells are separated by tabs.
std::string originTable(const graph::InternalGraph& graph);

/// The main body in the DOT language, a cluster for each module nested by the parts of its path. Every node stands in
/// exactly one cluster or at top level.
std::string clusteredDot(const graph::InternalGraph& graph);

}  // namespace sonde::trace
