#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/session/diff/folded_constants.h"
#include "core/session/diff/form_call.h"
#include "core/session/diff/parameter_diff.h"

namespace sonde::session::diff {

/// Values of two graphs as terms of what is known to be the same in both: inputs, stored values, and the results of
/// pairs.
class FormTerms {
  public:
    /// What a pair is known to be. Other: the two differ by more than their form.
    enum class Pair : std::uint8_t { Same, Open, Other };
    /// Of which pairs the results are taken to be the same: of those that are the same, or of all.
    enum class Given { SamePairs, AllPairs };

    FormTerms(const FlatGraph& first, const FlatGraph& second, const GraphPairs& pairs, const ParameterDiff& parameters,
              CanonicalTerms::Numbers numbers);

    void setPair(graph::ExprId first, Pair state) { m_states[first.index()] = state; }
    Pair pair(graph::ExprId first) const { return m_states[first.index()]; }

    TermId value(std::size_t side, graph::NodeId node, Given given);
    /// A result of an operation by what it reads, whether it has a counterpart or not.
    TermId result(std::size_t side, graph::ExprId id, std::size_t output, Given given);

  private:
    TermId storedTerm(const tensor::Value& value);
    TermId plainCall(std::size_t side, const graph::Expr& expr, std::size_t output, const FormCall::TermOf& termOf);
    /// Of a value that is given: an input of the model or of a body.
    std::string givenName(std::size_t side, graph::NodeId node) const;

    const FlatGraph* m_flats[2];
    const GraphPairs& m_pairs;
    FoldedConstants m_constants;
    CanonicalTerms m_terms;
    std::vector<Pair> m_states;                                         ///< by ExprId of the first graph
    std::unordered_map<graph::NodeId, graph::NodeId> m_storedOfSecond;  ///< to what it is paired with
    std::array<std::unordered_map<graph::NodeId, std::string>, 2> m_names;
    std::unordered_map<graph::NodeId, TermId> m_known[2][2];  ///< by side and by what is given
    std::size_t m_depth = 0;
};

}  // namespace sonde::session::diff
