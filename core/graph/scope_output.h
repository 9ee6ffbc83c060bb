#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// What leaves a call of a module: the last node made in it that something outside reads, or that the model returns;
/// else the last one that is no constant. `order`: exprs in the order of execution, at least those inside. Invalid if
/// nothing is.
NodeId outputOfScope(const InternalGraph& graph, ScopeId scope, const std::vector<ExprId>& order);
/// All of these: each node made in it that something outside reads, or that the model returns.
std::vector<NodeId> outputsOfScope(const InternalGraph& graph, ScopeId scope, const std::vector<ExprId>& order);

/// All that the first call of a module gives; of the root ("") the outputs of the model, each once. What a module
/// returns as it was given is no value of its own. Empty: there is no such module, or it is never called.
std::vector<NodeId> outputsOfModule(const InternalGraph& graph, std::string_view qualname);

/// What the first call of each module gives whose qualname fits, in the order of the program: of a leaf, whose call is
/// one operation, and of one whose operations are recorded. The root, and modules that are never called, give nothing.
/// Takes time by the size of the graph for each that is no leaf; ends with `most`.
std::vector<NodeId> moduleOutputs(const InternalGraph& graph, const std::function<bool(std::string_view)>& fits,
                                  std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace sonde::graph
