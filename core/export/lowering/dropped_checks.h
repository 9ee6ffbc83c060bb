#pragma once

#include <functional>
#include <set>
#include <string_view>

#include "core/base/diagnostics.h"
#include "core/document/document.h"

namespace sonde::exporting {

/// One warning for each assertion and guard of a graph, in execution order, by node, position and module: ONNX has no
/// operator that ends a run, so a file in ONNX operators gives values where the model raises. The last warning counts
/// them.
base::Diagnostics droppedChecks(const graph::InternalGraph& graph);

/// The checks in front of writes that remove-inplace has put into the graph (`sonde::overlap_guard`), and what is
/// computed for them alone: the views that cut tensors of positions.
std::set<graph::ExprId> overlapChecks(const graph::InternalGraph& graph);

/// Usage error if the model has modules or functions that run on values, as calls of the model's own code: only the
/// process that has that code can run them. Names them, and says why they could not be traced. `place`: what cannot
/// hold them, "an ONNX file". `counts`: of an expr, whether it does.
base::Result<void> checkOpaqueCalls(const document::Document& document, std::string_view place,
                                    const std::function<bool(graph::ExprId)>& counts = {});

}  // namespace sonde::exporting
