#pragma once

#include <cstdint>
#include <map>

#include "core/graph/module_tree.h"
#include "core/trace/traced_module.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

/// A traced module as the window and the engine see programs: one flat graph with a scope for each call of a module.
/// Nodes have the names that flatten() gives them; built-in modules are calls with their inside, as other tracers make
/// them.
struct InlinedGraph {
    Tracer::GraphPtr graph;
    graph::ModuleTree tree;
    /// By the number of a node in the text of the module's graphs (%2): the node with its value, of an inner graph that
    /// is called several times that of the last call. Modules have none.
    std::map<std::uint64_t, graph::NodeId> numbered = {};
};
base::Result<InlinedGraph> inlineTracedModule(const std::shared_ptr<TracedModule>& module);

/// Texts of the module's graph and of every graph inside it, in canonical order.
std::string allGraphsText(const TracedModule& module, std::string_view format = {});

}  // namespace sonde::trace
