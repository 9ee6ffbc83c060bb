#pragma once

#include "core/base/diagnostics.h"
#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"

namespace sonde::document {

/// If nearly all operations of the graph are in one module, the file names none: groups found in the graph
/// (analysis::findGroups) become modules below it, marked as inferred, with the parameters that only they read, and a
/// finding says so. Does nothing for other files.
void addFoundModules(graph::InternalGraph& graph, graph::ModuleTree& modules, base::Diagnostics& findings);

}  // namespace sonde::document
