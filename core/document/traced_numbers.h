#pragma once

#include <string_view>

#include "core/graph/internal_graph.h"

namespace sonde::trace {
class TracedModule;
}

namespace sonde::document {

/// A node of the graph that a document has of a traced module, by its number in the text of the module's graphs ("%2"),
/// where modules and the inputs of graphs count, too; of a graph that is called several times the node of the last
/// call. Usage error: there is none, or it is a module.
base::Result<graph::NodeId> nodeOfTracedNumber(const graph::InternalGraph& graph, const trace::TracedModule& module,
                                               std::string_view text);

}  // namespace sonde::document
