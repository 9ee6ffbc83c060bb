#pragma once

#include <array>
#include <vector>

#include "core/base/progress.h"
#include "core/graph/internal_graph.h"
#include "core/session/diff/pairs_by_hand.h"

namespace sonde::session {

/// Which operations of two graphs are the same one. Names play a part only where structure does not decide: two exports
/// of one network may name everything differently.
struct GraphPairs {
    std::vector<graph::ExprId> ofFirst;   ///< by ExprId of the first graph: its counterpart in the second, or none
    std::vector<graph::ExprId> ofSecond;  ///< the other way
    /// By ExprId of either graph: of an operation that is a part of what the other graph has as one or in other
    /// operators, the one that gives the result of all, and has the counterpart; itself where the result is not one
    /// value; else none.
    std::array<std::vector<graph::ExprId>, 2> partOf;
    /// Operations that have no counterpart of their own, but are a part of a layer (partOf), or of a called module of
    /// which the results are counterparts, and which the other file writes in other operators: a decomposed
    /// normalisation.
    std::array<std::vector<bool>, 2> isInPairedModule;
    /// By ExprId of the first graph: the counterpart is another operator between the same neighbours.
    std::vector<bool> isReplaced;
    /// Both graphs have operators of one vocabulary, and are written alike. Else (ONNX against ATen, a trace against a
    /// script with checks and branches) arithmetic on shapes and checks, which one of the files has, are no operations
    /// of the network.
    bool isOneVocabulary = true;

    graph::ExprId counterpart(graph::ExprId first) const { return ofFirst[first.index()]; }
};

/// Whether an expr takes part: no input, no stored value, no output.
bool isDiffOperation(const graph::Expr& expr);

/// First what was paired by hand. Then, in this order, each for what is left by then: the same module and operator,
/// where both graphs have a place for it; of parallel branches that do the same (GraphSide::place) those with the same
/// names of weights, or the same weights, and what is between them; the same operators with the same attributes
/// upstream and downstream, in the same order; the same without attributes; (with two vocabularies)
/// analysis::matchNodes(); the same weights, with two vocabularies in whatever layout; the same names of weights; the
/// same module and operator; the same upstream or downstream; neighbours of pairs with the same operator; (with two
/// vocabularies) layers that one of the graphs has in other operators (diff::layerGroups()); the longest common
/// sequence between pairs; all again with convolutions whose kernels have other sizes; what is between the same
/// neighbours, whatever its operator. Linear in the graphs but for the sequences, which are bounded. Between two
/// vocabularies counterparts give the same value: that of a product is the sum with its bias where the other graph has
/// both in one. Stops early, with what it has, if `work` is cancelled.
GraphPairs pairOperations(const graph::InternalGraph& first, const graph::InternalGraph& second,
                          const base::WorkContext& work = {});
GraphPairs pairOperations(const graph::InternalGraph& first, const graph::InternalGraph& second,
                          const PairsByHand& byHand, const base::WorkContext& work = {});

}  // namespace sonde::session
