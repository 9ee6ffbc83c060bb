#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/exec/runner.h"
#include "core/session/diff/graph_pairs.h"

namespace sonde::session::diff {

/// Tells whether the different operators of counterparts compute the same function: each is done alone on random
/// numbers in place of what it reads of the inputs, the same for values that were the same in a run. What is stored,
/// and what is no floating point number, stays. An operator that is the same on numbers of both signs and of very
/// different magnitudes is written in another form; on the values of a run alone many are the same, as relu and abs
/// behind a sigmoid.
class AloneRuns {
  public:
    /// `candidates`: operations of the first graph, each with a counterpart.
    AloneRuns(std::array<const graph::InternalGraph*, 2> graphs, const GraphPairs& pairs,
              std::vector<graph::ExprId> candidates);

    bool empty() const { return m_candidates.empty(); }
    /// What a run has to watch for compare(), of either graph.
    std::vector<graph::NodeId> watched(std::size_t side) const;
    /// By ExprId of the first graph: both compute the same. `recordings`: of runs of `plans` on the same inputs, with
    /// what is watched.
    std::vector<bool> compare(const std::array<std::shared_ptr<const exec::Plan>, 2>& plans,
                              const std::array<exec::Recording, 2>& recordings, exec::Runner& runner,
                              std::uint64_t seed, const base::WorkContext& work) const;

  private:
    /// The values that an operation reads, by their sources.
    struct Reads {
        std::unordered_map<graph::NodeId, tensor::Value> all;
        std::vector<std::pair<graph::NodeId, tensor::Tensor>> exchanged;  ///< floats that are computed of an input
    };

    graph::ExprId of(std::size_t side, graph::ExprId first) const {
        return side == 0 ? first : m_pairs.ofFirst[first.index()];
    }
    /// Nothing if it did not run, or in a loop.
    std::optional<Reads> readsOf(std::size_t side, graph::ExprId id, const exec::Recording& recording) const;

    std::array<const graph::InternalGraph*, 2> m_graphs;
    const GraphPairs& m_pairs;
    std::vector<graph::ExprId> m_candidates;
    std::array<std::vector<graph::NodeId>, 2> m_sources;  ///< by NodeId: see exec::valueSources()
    std::array<std::vector<bool>, 2> m_isOfInput;         ///< by NodeId: computed of an input
};

}  // namespace sonde::session::diff
