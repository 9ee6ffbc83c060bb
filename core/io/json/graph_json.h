#pragma once

#include <string>

#include "core/graph/internal_graph.h"

namespace sonde::io {

/// The graph as one JSON object: {"format":"sonde-graph","version":1,"inputs","outputs","nodes","scopes"}. Nodes are listed
/// in execution order, those of inner bodies behind their owner. Unknown extents are their symbol or null. Text that is
/// not UTF-8 has its bad bytes replaced.
std::string graphJson(const graph::InternalGraph& graph);

}  // namespace sonde::io
