#pragma once

#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// In a model that was written with edits (session::editedDocument()) a value has its name after them, and this behind
/// it before them.
inline constexpr std::string_view kBeforeEdits = "_before_edits";

/// Counterparts (matchNodes()), of which those that have edits in `to` are the values after them: so a comparison finds
/// the value that was edited, not what reads it.
std::vector<graph::NodeId> withEditedValues(std::vector<graph::NodeId> match, const graph::InternalGraph& to);

}  // namespace sonde::analysis
