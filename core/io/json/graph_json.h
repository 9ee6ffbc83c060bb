#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::io {

/// A further graph of the model, that of a module on its own.
struct JsonPart {
    std::string_view qualname;
    std::string_view moduleClass;
    std::string_view failure;
    std::string_view note;
    const graph::InternalGraph* graph = nullptr;  ///< null if it failed
};
/// A module that could not be traced.
struct JsonFailure {
    std::string_view qualname;
    std::string_view moduleClass;
    std::string_view message;
    std::vector<std::string_view> tried = {};  ///< one line for each attempt, in order
};
/// A module that the trace never called.
struct JsonUnvisited {
    std::string_view qualname;
    std::string_view moduleClass;
    std::string_view reason;
};

/// The graph as one JSON object: {"format":"sonde-graph","version":1,"inputs","outputs","nodes","scopes"}. Nodes are
/// listed in execution order, those of inner bodies after their owner. Unknown dim sizes are their symbol or null. Text
/// that is not UTF-8 has its bad bytes replaced. If there are any, "parts" (qualname, module_class, failure, note,
/// graph), "failures" (qualname, module_class, message, tried), "unvisited" (qualname, module_class, reason) and
/// "demanded_inputs" (names of inputs whose types only the layers tell) follow. `hasAllLists`: the first three also if
/// they are empty.
std::string graphJson(const graph::InternalGraph& graph, const std::vector<JsonPart>& parts = {},
                      const std::vector<JsonFailure>& failures = {}, const std::vector<graph::NodeId>& required = {},
                      const std::vector<JsonUnvisited>& unvisited = {}, bool hasAllLists = false);

}  // namespace sonde::io
