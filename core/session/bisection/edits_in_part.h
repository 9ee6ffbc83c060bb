#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/document/document_types.h"

namespace sonde::session::bisection {

/// The first edit, by its node, that a model has between `from` and `node`, itself and the bodies of loops and branches
/// included; empty: it has none there.
/// Errors: those of exec::Plan::make().
base::Result<std::string> editInPart(const std::shared_ptr<const graph::InternalGraph>& graph,
                                     const std::vector<graph::NodeId>& from, graph::NodeId node);

/// A weight that operations of the part read, with another value in the other model.
struct DifferingWeight {
    std::string name, otherName;
    std::optional<double> maxAbsolute;  ///< nothing: they have other shapes, or no numbers
    std::string edit;                   ///< the weight that either model has an edit of; empty: none of both
};
/// The weights of the operations, in their order, each once. `counterpart`: the node of the other model, or an invalid
/// id; weights without one are compared by their position if the operations are of one operator, or the shapes are
/// equal.
std::vector<DifferingWeight> differingWeights(const graph::InternalGraph& model,
                                              const std::vector<graph::ExprId>& operations,
                                              const graph::InternalGraph& other,
                                              const std::function<graph::NodeId(graph::NodeId)>& counterpart);
/// The first weight that a model has an edit of among those that its operations read; empty: none.
std::string editedWeightIn(const graph::InternalGraph& graph, const std::vector<graph::ExprId>& operations);

/// "the edit of 'x' in a.onnx is read by nothing" for each edit that no output depends on: a bisection cannot find it.
std::vector<std::string> notesOnUnreadEdits(const document::Document& document);

}  // namespace sonde::session::bisection
