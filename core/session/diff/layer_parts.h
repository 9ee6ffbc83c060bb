#pragma once

#include <utility>
#include <vector>

#include "core/session/diff/graph_side.h"

namespace sonde::session::diff {

/// The operations of both graphs that give the same value, of two that are counterparts: themselves, or what follows
/// the one of two layers whose weights hold less than those of the other (analysis::equalResults()).
std::pair<graph::ExprId, graph::ExprId> sameResults(const GraphSide& a, graph::ExprId ours, const GraphSide& b,
                                                    graph::ExprId theirs);

/// What is from `first` up to `whole` becomes a part of `whole`.
void markParts(GraphSide& side, graph::ExprId first, graph::ExprId whole);

/// If the one is a layer and the other a sum, product or normalisation with stored numbers: the layer that this follows
/// becomes a part of it.
void markFoldedParts(GraphSide& a, graph::ExprId ours, GraphSide& b, graph::ExprId theirs);

/// The computed tensors that an operation, with all of its parts, reads.
std::vector<graph::NodeId> readByLayer(const GraphSide& side, graph::ExprId id);

/// False of a sum of two values and one with a stored number, and the like.
bool haveAsManyOperands(const GraphSide& a, graph::ExprId ours, const GraphSide& b, graph::ExprId theirs);

}  // namespace sonde::session::diff
