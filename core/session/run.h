#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/analysis/problems/contradictions.h"
#include "core/analysis/seen_types.h"
#include "core/document/own_code.h"
#include "core/exec/runner.h"
#include "core/session/problems.h"
#include "core/session/watch/watch_policy.h"

namespace sonde::session {

enum class RunState : std::uint8_t { NotRun, Running, Finished, Failed, Cancelled };

/// How runs are done, besides what they compute.
struct RunSettings {
    std::size_t threads = 0;  ///< 0: one per processor
    std::uint64_t seed = 0;   ///< of random operators
    std::size_t repeat = 1;   ///< so many times; the last one is kept
    bool watchAll = false;    ///< keep every node's value
    bool exact = false;       ///< no shortcuts that round differently from the definition
    /// Tells progress, and finds the types that only a run shows. Costs time: each operation is done by itself.
    bool isObserved = true;
};

/// How far a run is.
struct RunProgress {
    graph::ExprId current;  ///< computed now
    std::size_t done = 0;
    std::size_t total = 0;
};

/// What the running thread tells and other threads look at: one byte for each expr, written once by one thread.
class LiveRun : public exec::RunObserver {
  public:
    explicit LiveRun(const std::shared_ptr<const graph::InternalGraph>& graph)
        : m_states(graph->exprCount()), m_seen(graph), m_contradictions(graph) {}

    /// On any thread.
    RunProgress progress() const;
    exec::ExprState state(graph::ExprId expr) const;
    void setTotal(std::size_t total) { m_total = total; }

    /// On the running thread, as what follows.
    const analysis::SeenTypes& seen() const { return m_seen; }
    /// Types that the graph tells otherwise.
    analysis::Contradictions& contradictions() { return m_contradictions; }
    void exprStarted(graph::ExprId expr) override { m_current.store(expr.value, std::memory_order_relaxed); }
    void exprFinished(graph::ExprId expr, std::span<const tensor::Value> outputs, std::int64_t elapsedNs) override;

  private:
    std::vector<std::atomic<std::uint8_t>> m_states;
    std::atomic<std::uint32_t> m_current{graph::ExprId::kNone};
    std::atomic<std::size_t> m_done{0};
    std::atomic<std::size_t> m_total{0};
    analysis::SeenTypes m_seen;
    analysis::Contradictions m_contradictions;
};

/// The types of a graph's values for certain inputs.
struct RunTypes {
    std::shared_ptr<const graph::InternalGraph> graph;  ///< null: the types of the document's graph are all there is
    std::vector<tensor::TypeInfo> inputs;               ///< what they are for
};

/// A finished, failed or cancelled run: what it was asked for and what it left.
struct Run {
    std::shared_ptr<const exec::Plan> plan;            ///< null: none could be made, see `error`
    std::vector<tensor::Value> inputs;                 ///< in the order of the graph's inputs
    std::shared_ptr<const exec::Recording> recording;  ///< null: it did not begin, or its values were dropped
    std::optional<base::Error> error;                  ///< why it did not come to its end
    std::size_t threads = 0;                           ///< that it was done on
    /// Why the outputs could not be compared with those of the model's own code, though they should have been. Empty
    /// otherwise.
    std::string doubt;
    /// Of watched nodes whose values the recording has not: what was kept instead.
    std::unordered_map<graph::NodeId, WatchSummary> summaries = {};

    /// The nodes that the recording's outputs are of: the end points, or the graph's outputs.
    const std::vector<graph::NodeId>& outputNodes() const;
    RunState state() const;
    std::size_t ranCount() const;  ///< of the plan's steps: those that were done
};

/// What a run is made from: everything that the work needs, so that it touches nothing of the session.
struct RunTask {
    std::shared_ptr<const graph::InternalGraph> graph;
    std::shared_ptr<const exec::Plan> plan;  ///< of an earlier run for the same points; null: make one
    exec::PlanOptions points;
    RunSettings settings;
    std::vector<tensor::Value> inputs;
    std::shared_ptr<exec::Runner> runner;
    std::shared_ptr<LiveRun> live;  ///< null: not observed
    RunTypes known;                 ///< types that were found before
    std::vector<graph::NodeId> accepted;
    document::OwnCode ownCode;  ///< that the outputs are to be compared with; may be empty
    WatchPolicy policy;
    WatchKeeper::Nodes keeps;  ///< what is kept besides what the policy says
};

struct RunResult {
    Run run;
    RunTypes types;
    RunProblems problems;
    WatchedValues watched;  ///< without summaries: those are the run's
};

/// Runs, on any thread; one at a time with one runner.
RunResult doRun(const RunTask& task, const base::WorkContext& work);

}  // namespace sonde::session
