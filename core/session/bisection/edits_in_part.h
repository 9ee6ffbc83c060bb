#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/document/document_types.h"

namespace sonde::session::bisection {

/// The first edit, by its node, that a model has between `from` and `node`, itself and the bodies of loops and branches
/// included; empty: it has none there.
/// Errors: those of exec::Plan::make().
base::Result<std::string> editInPart(const std::shared_ptr<const graph::InternalGraph>& graph,
                                     const std::vector<graph::NodeId>& from, graph::NodeId node);

/// "the edit of 'x' in a.onnx is read by nothing" for each edit that no output depends on: a bisection cannot find it.
std::vector<std::string> notesOnUnreadEdits(const document::Document& document);

}  // namespace sonde::session::bisection
