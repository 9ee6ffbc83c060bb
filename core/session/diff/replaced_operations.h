#pragma once

#include <functional>

#include "core/base/progress.h"
#include "core/session/diff/graph_side.h"

namespace sonde::session::diff {

/// Finds operations of two graphs that are another operator between the same neighbours: what they are given and what
/// reads them are counterparts. `isFree` says whether two may be counterparts; `pair` makes them so, in the order of
/// the first graph, and may add to the matches of both sides.
void pairReplaced(const GraphSide& first, const GraphSide& second,
                  const std::function<bool(graph::ExprId, graph::ExprId)>& isFree,
                  const std::function<void(graph::ExprId, graph::ExprId)>& pair, const base::WorkContext& work);

}  // namespace sonde::session::diff
