#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/session/runs.h"

namespace sonde::session {

/// The values that there are to see: those that the last run kept, and those of other nodes, computed again on the same
/// inputs when somebody asks for them. See Session for threads.
class Values {
  public:
    Values(Executor& executor, Observer& observer, const Inputs& inputs, Runs& runs)
        : m_executor(executor), m_observer(observer), m_inputs(inputs), m_runs(runs) {}

    /// The node's value: of the last run, computed again, a weight, or a given input; else null. Inside loops the last
    /// one. Valid until the next event.
    const tensor::Value* of(graph::NodeId node) const;
    /// How many values of a node there are from the last run: more than one inside loops.
    std::size_t iterations(graph::NodeId node) const;
    /// The value of one iteration of the loop that the node is in; null if there is none.
    const tensor::Value* of(graph::NodeId node, std::size_t iteration) const;
    /// The run that kept the node's values: the last one, or the one that computed them again. Null if neither did.
    const exec::Recording* recordingOf(graph::NodeId node) const;
    /// Whether a value of the node is one of the last run, which is stale: weights and what is given never are.
    bool isStale(graph::NodeId node) const;

    /// Computes the value of a node that the last run passed but did not keep, on the same inputs: valueArrived(). Work
    /// for the executor.
    void request(graph::NodeId node);
    /// From any thread: what is being computed again is not wanted any more.
    void stop() { m_stop.stop(); }

    /// By the session: nothing further is computed again for the last run, as another one begins.
    void abandon();
    /// By the session: what was computed again is of no run any more.
    void forget();
    void bind();

  private:
    struct Recomputed {
        std::vector<graph::NodeId> nodes;
        std::shared_ptr<const exec::Recording> recording;  ///< null: it could not be done
    };

    void start();
    void adopt(const Recomputed& again);

    Executor& m_executor;
    Observer& m_observer;
    const Inputs& m_inputs;
    Runs& m_runs;
    std::shared_ptr<exec::Runner> m_runner;  ///< used by this work alone
    std::size_t m_runnerThreads = 0;
    StopSwitch m_stop;
    std::map<graph::NodeId, std::shared_ptr<const exec::Recording>> m_recomputed;
    std::weak_ptr<const exec::Recording> m_recomputedOf;  ///< the run that they belong to
    std::vector<graph::NodeId> m_wanted;
};

}  // namespace sonde::session
