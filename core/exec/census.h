#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/exec/plan_impl.h"
#include "core/ops/kernels/finite.h"

namespace sonde::exec {

/// Which weights of a graph are finite, found out once: what only passes them on need not be read in every run.
class FiniteConstants {
  public:
    void select(const std::shared_ptr<const graph::InternalGraph>& graph);
    bool isFinite(NodeId constant, base::ThreadPool& pool);

  private:
    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::unordered_map<NodeId, bool> m_known;
};

/// Counts the NaN and infinite elements of everything that a run computes, right when it is made, and tells origins from
/// carriers. Kernels that let others follow count by themselves, piece by piece (ops::kernels::Followers); other values are
/// read once while they are in the cache, unless they share the memory of an input that is finite.
class Census {
  public:
    /// `values` is by source node: what the run has at the moment.
    Census(const Plan::Impl& plan, const std::vector<Value>& values, FiniteConstants& constants, base::ThreadPool& pool);

    /// A node has a new value; `counted` if its kernel has counted already.
    void made(NodeId node, const Value& value, const std::optional<ops::kernels::BadCount>& counted);
    std::unordered_map<NodeId, BadValues> take() { return std::move(m_found); }

  private:
    void note(NodeId node, const ops::kernels::BadCount& count, bool isOrigin);
    ops::kernels::BadCount countIn(const Value& value, NodeId node, std::size_t position = 0);
    bool sharesFinite(const tensor::Tensor& tensor, NodeId node, std::size_t position);
    bool isOrigin(NodeId node) const;
    NodeId sourceOf(NodeId node) const { return m_plan.source[node.index()]; }

    const Plan::Impl& m_plan;
    const graph::InternalGraph& m_graph;
    const std::vector<Value>& m_values;
    FiniteConstants& m_constants;
    base::ThreadPool& m_pool;
    std::vector<bool> m_isBad;  ///< by source node: its present value
    std::unordered_map<NodeId, ops::kernels::BadCount> m_now;  ///< of those
    std::unordered_map<NodeId, BadValues> m_found;
};

}  // namespace sonde::exec
