#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// In a model that was written with edits (session::editedDocument()) a value has its name after them, and this behind
/// it before them. An input keeps its name before its edits.
inline constexpr std::string_view kBeforeEdits = "_before_edits";

/// A value that a model was written with edits of.
struct EditedValue {
    std::string name;  ///< in the model without them
    graph::NodeId before, after;
};
/// By what the operations say that they are (graph::editedNodeOf()); where they say nothing, as in other formats than
/// ONNX, by the names. In execution order. Linear in the graph.
std::vector<EditedValue> editedValues(const graph::InternalGraph& graph);

/// A node as who made the edits knows it: "x", of what an edit of it was written as "the edit of x", "y before its
/// edit".
std::string nameWithoutEdits(const graph::InternalGraph& graph, graph::NodeId node);

/// Counterparts (matchNodes()), of which those that have edits in one of both models are the values after them: so a
/// comparison finds the value that was edited, not what reads it. What has edits in `from` alone has the same
/// counterpart before them, too.
std::vector<graph::NodeId> withEditedValues(std::vector<graph::NodeId> match, const graph::InternalGraph& from,
                                            const graph::InternalGraph& to);

}  // namespace sonde::analysis
