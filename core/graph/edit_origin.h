#pragma once

#include <string>
#include <string_view>

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// Origin::op of operations that do what an edit of a value does (session::editedDocument()): no operator has this
/// name. Origin::name is the edited node. ONNX files keep it as metadata of the node.
inline constexpr std::string_view kEditOrigin = "edit";

/// Origin::op of a constant that has another value by an edit; Origin::name is what it is called in the model without
/// edits. ONNX files keep it as metadata of the tensor.
inline constexpr std::string_view kWeightEditOrigin = "edited weight";

/// The name of a weight that an edit gave another value; empty: it has its own.
std::string editedWeightOf(const Expr& expr);

/// The node that an operation does an edit of, by its name in the model without edits; empty: it is the model's own.
std::string editedNodeOf(const Expr& expr);

}  // namespace sonde::graph
