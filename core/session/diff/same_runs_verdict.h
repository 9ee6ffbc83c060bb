#pragma once

#include "core/session/diff/parameter_diff.h"
#include "core/session/diff/same_runs.h"
#include "core/session/diff/structure_diff.h"

namespace sonde::session::diff {

/// Holds what the structure says against what both models compute on the same numbers. Operations between values that
/// are the same in both are one group with those of the other model between these.
///
/// Operators that compute the same function, each done alone, are no difference (SameRuns::isSameAlone).
///
/// If the results of the models are the same: operations without a counterpart, of a group that both models have
/// operations of, are written in other operators and neither removed nor added (StructureDiff::matchedByValues); of two
/// models in one vocabulary only if one of them has the layer as one operator. What was told of a pair by what it
/// reads, or by the operators of its layer, is taken back. Stored tensors that only one model has are notes where the
/// other has others in their place.
///
/// Else, where a value differs though all that it is made of is the same, the pair has changed: so is what one model
/// fails at alone. Nothing is said behind what is listed already, nor behind branches and loops that only one has.
void judgeByRuns(StructureDiff& diff, const graph::InternalGraph& first, const graph::InternalGraph& second,
                 const GraphPairs& pairs, const PairsByHand& byHand, ParameterDiff& parameters, const SameRuns& runs);

/// Whether the runs could say more than the structure does.
bool requiresRuns(const StructureDiff& diff, const graph::InternalGraph& first, const graph::InternalGraph& second,
                  const GraphPairs& pairs);

/// Operations of the first graph that are listed for their operator alone, between two vocabularies.
std::vector<graph::ExprId> comparedAlone(const StructureDiff& diff, const graph::InternalGraph& first,
                                         const GraphPairs& pairs);

}  // namespace sonde::session::diff
