#pragma once

#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/exec/runner.h"

namespace sonde::exporting {

/// What every expr of a run gave, each time that it ran, in order.
class RunLog final : public exec::RunObserver {
  public:
    explicit RunLog(const graph::InternalGraph& graph) : m_graph(graph) {}

    /// How much has run, and how much is kept of it.
    struct Extent {
        std::size_t operations = 0, bytes = 0;
    };
    const Extent& extent() const { return m_extent; }

    /// The run may end as soon as this body was run once, and does end beyond the extent.
    void stopAfter(graph::BodyId body, const Extent& most, std::stop_source stop);
    /// Whether that body was run.
    bool isReached() const { return m_isReached; }

    void exprStarted(graph::ExprId id) override;
    void exprFinished(graph::ExprId id, std::span<const tensor::Value> outputs, std::int64_t) override;

    std::size_t count(graph::ExprId id) const;
    /// Of the n-th time.
    const std::vector<tensor::Value>& outputs(graph::ExprId id, std::size_t n) const { return m_outputs.at(id)[n]; }
    /// Passes of the n-th run of a loop.
    std::int64_t passes(graph::ExprId loop, std::size_t n) const;
    /// How often each expr inside had run when the n-th run of a loop was over.
    const std::map<graph::ExprId, std::size_t>& countsAfter(graph::ExprId loop, std::size_t n) const {
        return m_after.at(loop)[n];
    }

  private:
    std::optional<graph::ExprId> firstOf(graph::BodyId body) const;

    const graph::InternalGraph& m_graph;
    std::map<graph::ExprId, std::vector<std::vector<tensor::Value>>> m_outputs;
    std::map<graph::ExprId, std::int64_t> m_running;  ///< loops: passes so far
    std::map<graph::ExprId, std::vector<std::int64_t>> m_passes;
    std::map<graph::ExprId, std::vector<std::map<graph::ExprId, std::size_t>>> m_after;
    graph::ExprId m_last;  ///< after which the run may end
    Extent m_extent, m_most;
    bool m_isReached = false;
    std::stop_source m_stop{std::nostopstate};
};

}  // namespace sonde::exporting
