#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// Operations that belong together, though the file does not say so.
struct FoundGroup {
    std::string name;                   ///< within its parent: "layers", "3", "attention"; unique there
    std::string title;                  ///< what it is: "12 layers", "layer", "block"
    std::optional<std::size_t> parent;  ///< index of a group before it; none: at the top
    std::vector<graph::ExprId> exprs;   ///< those that are in no group inside it
};

/// Groups in a list of operations of one body, for files that name no modules. Two things make a group: operations
/// between two points where a single value carries everything on (a residual block, an inception module), and sequences
/// that repeat (layers of a transformer, stages of blocks). Deterministic; time grows with the number of operations,
/// not with its square. Parents come before their children.
std::vector<FoundGroup> findGroups(const graph::InternalGraph& graph, const std::vector<graph::ExprId>& exprs);

}  // namespace sonde::analysis
