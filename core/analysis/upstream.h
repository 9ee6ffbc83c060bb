#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/exec/plan.h"
#include "core/exec/runner.h"

namespace sonde::analysis {

/// The operations between values that are known and one that was computed from them.
struct UpstreamPart {
    std::vector<graph::NodeId> known;    ///< the nearest values upstream that are known, by their sources
    std::vector<graph::ExprId> between;  ///< what computes unknown values from them, in execution order
    bool isOpen = false;                 ///< it leads into the body of a loop or branch, or to what is no operation
};

/// Goes upstream in a graph by values: calls are seen through, an operation with bodies is one.
class Upstream {
  public:
    /// Error: those of exec::Plan::make().
    static base::Result<Upstream> make(std::shared_ptr<const graph::InternalGraph> graph,
                                       std::shared_ptr<const exec::Edits> edits = {});

    graph::NodeId sourceOf(graph::NodeId node) const { return m_sources[node.index()]; }
    /// Whether a node is computed by an operation outside of loops and branches.
    bool isPlain(graph::NodeId node) const;
    /// Whether the operation that computes a node draws random numbers.
    bool isRandom(graph::NodeId node) const;
    /// From a node up to the values that are `known`, by source. Weights are none of them.
    UpstreamPart to(graph::NodeId node, const std::vector<bool>& known) const;
    /// What the operations give for other values of `known`: the value of `node`. Nothing if an operation cannot be
    /// done again (it is random, or has an effect), or fails.
    std::optional<tensor::Value> recompute(graph::NodeId node, const UpstreamPart& part,
                                           std::unordered_map<graph::NodeId, tensor::Value> values,
                                           exec::Runner& runner, const base::WorkContext& work) const;

  private:
    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::shared_ptr<const exec::Plan> m_plan;
    std::vector<graph::NodeId> m_sources;
    std::vector<bool> m_isReplayable;     ///< by expr
    std::vector<std::size_t> m_position;  ///< by expr: in execution order
};

}  // namespace sonde::analysis
