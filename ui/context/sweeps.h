#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/session/sweep/sweep.h"
#include "core/session/sweep/sweep_classes.h"
#include "ui/context/job.h"
#include "ui/context/used_edits.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

class Messages;

/// What a sweep is made of, as a person gives it.
struct SweepChoice {
    QString inputs;       ///< a folder, or an .npz with cases
    QStringList watched;  ///< nodes; empty: the outputs
    QString condition;    ///< may be empty
    QString labels;       ///< a file; may be empty
    QString preset = QStringLiteral("bgr");
    bool operator==(const SweepChoice&) const = default;
};

/// The open model on many inputs: session::Sweep on a worker, whose rows come while it goes on. Belongs to the UI
/// thread; no verb blocks.
class Sweeps : public QObject {
    Q_OBJECT
  public:
    Sweeps(session::Session& session, Messages& messages);
    ~Sweeps() override;

    /// What was or is being made; empty inputs: nothing.
    const SweepChoice& choice() const { return m_choice; }
    bool isActive() const { return m_job.isActive(); }
    bool isKnown() const { return m_sweep != nullptr; }
    /// With what the table is made: its nodes, whether there are conditions and labels. Only if it is known.
    const session::Sweep& sweep() const { return *m_sweep; }
    /// Those that are there so far, in the order of the inputs.
    const std::deque<session::SweepRow>& rows() const { return m_rows; }
    const std::vector<session::SweepInput>& inputs() const { return m_inputs; }
    /// Of the rows so far.
    const session::SweepSummary& summary() const { return m_summary; }
    /// Which classes are mistaken for which, the worst first; empty without labels.
    std::vector<session::SweepClass> classes() const { return m_classes.worst(); }
    /// "120 of 1000, 14.2 a second, 1 min left"; how it ended.
    QString text() const;
    /// Why it did not begin, or ended early; empty if nothing was in the way.
    QString failure() const { return m_failure; }
    /// The table as `sonde sweep` writes it.
    QByteArray csv() const;
    /// What one input is in the grammar of inputs: "photos/1.png", "cases.npz#case1".
    QString specOf(std::size_t row) const;

  public Q_SLOTS:
    /// By the context: they are others than those of the sweep, perhaps.
    void followEdits() {
        if (!m_choice.inputs.isEmpty()) Q_EMIT changed();
    }
    void start(const sonde::context::SweepChoice& choice);
    /// Ends with the rows that are there.
    void cancel() { m_job.cancel(); }
    void clear();
    /// Makes the input of a row the model's and runs it. One that failed can be given as well: the window says why.
    void use(std::size_t row);
    /// Writes the table as `sonde sweep` does. Whether that could be done; the log tells in any case.
    bool saveTo(const QString& path);

  Q_SIGNALS:
    /// Another sweep is there, with no rows yet; or none.
    void reset();
    /// Rows from `first` on are there.
    void rowsAdded(std::size_t first);
    void ended();
    /// It has begun or ended, or is farther.
    void changed();

  private:
    struct Shared;
    struct Outcome;

    void drain();
    void finish(base::Result<session::SweepSummary> outcome);

    session::Session& m_session;
    Messages& m_messages;
    Job m_job;
    QTimer m_timer;  ///< takes what rows there are
    QElapsedTimer m_clock;
    std::shared_ptr<Shared> m_shared;
    SweepChoice m_choice;
    UsedEdits m_edits;
    std::shared_ptr<const session::Sweep> m_sweep;
    std::vector<session::SweepInput> m_inputs;
    std::deque<session::SweepRow> m_rows;
    session::SweepSummary m_summary;
    session::SweepClasses m_classes;
    qint64 m_elapsedMs = 0;
    bool m_isDone = false;
    QString m_failure;
};

}  // namespace sonde::context
