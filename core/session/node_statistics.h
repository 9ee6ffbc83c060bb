#pragma once

#include <memory>

#include "core/analysis/measured_runs.h"
#include "core/session/executor.h"
#include "core/session/observer.h"
#include "core/session/runs.h"

namespace sonde::session {

/// Statistics of the value of every node in the last run, from a run of its own on the same inputs: the last run itself
/// keeps the values that somebody looks at only. Known until the next run, which brings them again if they were asked
/// for. See Session for threads.
class NodeStatistics {
  public:
    NodeStatistics(Executor& executor, Observer& observer, const Runs& runs)
        : m_executor(executor), m_observer(observer), m_runs(runs) {}

    bool isKnown() const { return m_known != nullptr; }
    bool isActive() const { return m_executor.isActive(Activity::Statistics); }
    /// Null if nothing is known of the node: it has no tensor, is a weight, or was not computed.
    const analysis::TensorStats* of(graph::NodeId node) const;
    /// Why that run ended early, if it did; what it computed before is known.
    std::optional<base::Error> error() const { return m_known ? m_known->error : std::nullopt; }

    /// Computes them, unless they are known: statisticsChanged(), or failed(). Work for the executor. Without a run
    /// before, nothing happens until there is one.
    void compute();
    void cancel() { m_stop.stop(); }
    /// The same from any thread.
    void stop() { m_stop.stop(); }

    /// By the session: another document, or none; nobody has asked for its statistics yet.
    void bind(std::shared_ptr<const document::Document> document);
    /// By the session: a run begins, or its values are gone.
    void forget();
    /// By the session: the document goes.
    void documentLeft();
    /// By the session.
    void runFinished();

  private:
    Executor& m_executor;
    Observer& m_observer;
    const Runs& m_runs;
    StopSwitch m_stop;
    std::shared_ptr<const document::Document> m_document;
    std::shared_ptr<const analysis::RunStats> m_known;
    bool m_isWanted = false;
};

}  // namespace sonde::session
