#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/exec/plan_impl.h"
#include "core/exec/recording.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/finite.h"

namespace sonde::exec {

/// What the runs of a graph have found out about its values.
class CensusMemory {
  public:
    void select(const std::shared_ptr<const graph::InternalGraph>& graph);
    /// Whether a weight is finite, found out once: what only passes it on need not be read in every run.
    bool isFinite(NodeId constant, base::ThreadPool& pool);
    /// Steps whose values were bad once: they are likely to be so again, and are counted at once.
    bool wasBad(ExprId expr) const { return m_bad.contains(expr); }
    void noteBad(ExprId expr) { m_bad.insert(expr); }

  private:
    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::unordered_map<NodeId, bool> m_finite;
    std::unordered_set<ExprId> m_bad;
};

/// Counts the NaN and infinite elements of everything that a run computes, right when it is made, and tells origins
/// from carriers. Kernels that run an epilogue count by themselves, piece by piece (ops::kernels::Epilogue); other
/// values are read once while they are in the cache, unless they share the memory of an input that is finite.
class Census {
  public:
    /// `values` is by source node: what the run has at the moment.
    Census(const PlanImpl& plan, const std::vector<Value>& values, CensusMemory& memory, base::ThreadPool& pool);

    /// How a step is to look at its values while it runs: one that is likely to have bad ones, because it had or
    /// because they come in, counts them; others only find out whether there are any, and then run again to count.
    ops::kernels::Epilogue::Census modeFor(const Step& step) const;
    void detectedIn(const Step& step) { m_memory.noteBad(step.expr); }
    /// A node has a new value; `counted` if its kernel has counted already.
    void made(NodeId node, const Value& value, const std::optional<ops::kernels::BadCount>& counted);
    std::unordered_map<NodeId, BadValues> take() { return std::move(m_found); }

  private:
    void note(NodeId node, const ops::kernels::BadCount& count, bool isOrigin, const Value& value);
    ops::kernels::BadCount countIn(const Value& value, NodeId node, std::size_t position = 0);
    bool sharesFinite(const tensor::Tensor& tensor, NodeId node, std::size_t position);
    bool isOrigin(NodeId node) const;
    NodeId sourceOf(NodeId node) const { return m_plan.source[node.index()]; }

    const PlanImpl& m_plan;
    const graph::InternalGraph& m_graph;
    const std::vector<Value>& m_values;
    CensusMemory& m_memory;
    base::ThreadPool& m_pool;
    std::vector<bool> m_isBad;                                 ///< by source node: its present value
    std::unordered_map<NodeId, ops::kernels::BadCount> m_now;  ///< of those
    std::unordered_map<NodeId, BadValues> m_found;
};

}  // namespace sonde::exec
