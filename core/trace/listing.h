#pragma once

#include <functional>
#include <string>

#include "core/graph/internal_graph.h"

namespace sonde::trace {

/// "Node NAME is from module ORIGIN", one line per node of the main body (symbolic-trace.md, "Listing"). The root's
/// name is empty and so is the blank before it; a node without an origin prints "None". A file's weights are left out;
/// `shown`, if given, says of every node instead whether it is listed, and inner bodies are listed after their owner.
std::string originListing(const graph::InternalGraph& graph, const std::function<bool(graph::NodeId)>& shown = {});

/// The same as a table with a heading: index, name, op, target, module; cells are separated by tabs.
std::string originTable(const graph::InternalGraph& graph);

/// The main body in the DOT language, a cluster for each module nested by the parts of its path. Every node is in
/// exactly one cluster or at top level.
std::string clusteredDot(const graph::InternalGraph& graph);

}  // namespace sonde::trace
