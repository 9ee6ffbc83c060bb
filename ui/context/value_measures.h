#pragma once

#include <QObject>

#include "core/analysis/measured_runs.h"
#include "ui/context/job.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

/// Statistics of the value of every node in the last run, from a run of its own on the same inputs: a run for people
/// keeps the values that they watch only. Known until the next run; a run that follows brings them again if they were
/// asked for.
class ValueMeasures : public QObject {
    Q_OBJECT
  public:
    explicit ValueMeasures(session::Session& session);
    ~ValueMeasures() override;

    bool isKnown() const { return m_known != nullptr; }
    bool isActive() const { return m_job.isActive(); }
    /// Null if nothing is known of the node.
    const analysis::TensorStats* of(graph::NodeId node) const;

  public Q_SLOTS:
    /// Computes them in the background, unless they are known. Needs a run before, for its inputs.
    void compute();
    void cancel() { m_job.cancel(); }
    /// By the context: a run begins, or its values are gone.
    void forget();
    /// By the context: a run has ended; they are computed if they were asked for before.
    void followRun();
    /// By the context: the document goes.
    void leave();

  Q_SIGNALS:
    /// They are there, or gone.
    void changed();
    void failed(const sonde::base::Error& error);

  private:
    session::Session& m_session;
    Job m_job;
    std::shared_ptr<const analysis::RunStats> m_known;
    bool m_wanted = false;
};

}  // namespace sonde::context
