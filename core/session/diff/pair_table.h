#pragma once

#include <array>
#include <unordered_set>
#include <vector>

#include "core/session/diff/graph_side.h"
#include "core/session/diff/pairs_by_hand.h"

namespace sonde::session::diff {

/// Whether both files name operators alike. Of two archives also: either both or neither have steps that a trace has
/// only the results of (branches, loops, checks, arithmetic on numbers that are no sizes), have named parameters (a
/// frozen one has none), and have attention as one operator.
bool areInOneVocabulary(const graph::InternalGraph& first, const graph::InternalGraph& second);

/// Two graphs whose operations are being paired: which two may be a pair, and which are. What was paired by hand is so
/// from the beginning.
class PairTable {
  protected:
    PairTable(const graph::InternalGraph& first, const graph::InternalGraph& second, const PairsByHand& byHand);

    /// Between two vocabularies counterparts give the same value: of a layer that has taken in what follows the other
    /// one, the counterpart is what follows.
    void pair(graph::ExprId a, graph::ExprId b);
    void setPair(graph::ExprId a, graph::ExprId b);
    /// If both are operations, free, and the same operator.
    void tryPair(graph::ExprId a, graph::ExprId b);

    /// Neither has a counterpart, nobody took them apart, and they may be the same.
    bool isFree(graph::ExprId a, graph::ExprId b);
    bool areOperations(graph::ExprId a, graph::ExprId b) const;
    bool isSameOperator(graph::ExprId a, graph::ExprId b) const;
    /// Moves elements only: between two vocabularies nothing says which one it is but what it is between.
    bool isWeak(const GraphSide& side, graph::ExprId id) const;
    /// One of the first and one of the second that a person took apart.
    bool areApart(const std::vector<graph::ExprId>& first, const std::vector<graph::ExprId>& second) const;

    const bool m_isOneVocabulary;
    GraphSide m_a, m_b;
    const std::array<std::vector<bool>, 2> m_copies;  ///< by ExprId: Identity of stored values, which have no pairs
    bool m_areSizesEqual = true;                      ///< convolutions with kernels of other sizes are no counterparts
    bool m_areSizesOther = false;                     ///< there were some that would have been otherwise
    std::unordered_set<Hash> m_apart;                 ///< both ids in one, of operations that are no counterparts
    std::vector<graph::ExprId> m_new;                 ///< of the first graph, paired since the list was cleared

  private:
    bool mayBeSame(graph::ExprId a, graph::ExprId b);
};

}  // namespace sonde::session::diff
