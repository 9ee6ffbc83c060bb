#pragma once

#include <string>

#include "core/graph/internal_graph.h"

namespace sonde::session {

/// A node as it is known beyond one graph: by its name, and by the module that it came from.
struct NodeRef {
    std::string name;
    std::string qualname;  ///< empty: of the root, or of no module

    bool operator==(const NodeRef&) const = default;
};

NodeRef refOf(const graph::InternalGraph& graph, graph::NodeId node);

/// The node by its name; else, if another trace or export gave it another one, the last node of its module. None if
/// there is neither.
graph::NodeId findNode(const graph::InternalGraph& graph, const NodeRef& ref);

}  // namespace sonde::session
