#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <vector>

#include "core/session/bisection/bisection.h"
#include "ui/context/job.h"
#include "ui/context/used_edits.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

class OpenModel;

/// Where the open model parts from another one, for views: session::bisection::bisect() in the background, on the
/// session's inputs. What was found stays until the next search, or until the model goes. Belongs to the UI thread.
class Bisection : public QObject {
    Q_OBJECT
  public:
    using Outcome = session::bisection::Outcome;
    /// What the model is compared with, as a user says it.
    struct Wanted {
        enum class Kind { File, Precision, Engine } kind = Kind::File;
        QString path;         ///< a model or an .npz; of an engine the library
        QString type;         ///< "float16", "bfloat16", "int8"
        QStringList queries;  ///< which operations are rounded; empty: all
        /// The engine's code may run; else only a library that the user has agreed to before.
        bool allowNative = false;
    };

    Bisection(session::Session& session, OpenModel& model);
    ~Bisection() override;

    bool isActive() const { return m_job.isActive(); }
    /// Something is written, or searched for.
    bool isBusy() const { return m_job.isActive() || m_saveJob.isActive(); }
    /// How far the search is: "run 2 of at most 8".
    const base::Progress& progress() const { return m_progress; }
    /// Null: nothing was found, or it is being searched for.
    const Outcome* outcome() const { return m_outcome.get(); }
    std::shared_ptr<const Outcome> shared() const { return m_outcome; }
    /// Why there is none; empty if that was not asked for.
    const std::optional<base::Error>& error() const { return m_error; }
    /// What it was, or is, found on: "x: cat.png; with 1 edit".
    QString basis() const;
    /// Which edits it was found with; see UsedEdits::text().
    QString editsText() const;
    bool hasAny() const { return m_outcome || m_error || isActive(); }
    /// What a node of the outcome is in the open model; invalid: it has no such node.
    graph::NodeId nodeOf(graph::NodeId node) const;
    /// In the open model: what the part's operations compute, in order, before edits of it or after; only of what
    /// differs.
    const std::vector<graph::NodeId>& part() const { return m_part; }
    /// In the open model: what differs by itself.
    const std::vector<graph::NodeId>& differing() const { return m_differing; }

  public Q_SLOTS:
    void start(const sonde::context::Bisection::Wanted& wanted);
    void cancel() { m_job.cancel(); }
    void clear();
    /// By the context: what it was found with may be something else now.
    void followEdits() {
        if (hasAny()) Q_EMIT changed();
    }
    /// Writes the part as PIECE.onnx with its values beside it: saved(), or failed().
    void savePiece(const QString& path);
    /// Both values of the node that differs are to be seen: valuesRequested().
    void showValues();

  Q_SIGNALS:
    void changed();
    /// A user has asked for it.
    void started();
    void progressed(const sonde::base::Progress& progress);
    void valuesRequested(sonde::graph::NodeId node);
    void saved(const QString& path, double maxAbsolute);
    void failed(const sonde::base::Error& error);

  private:
    void take(std::shared_ptr<const Outcome> outcome);
    QString inputsText() const;

    session::Session& m_session;
    OpenModel& m_model;
    Job m_job, m_saveJob;
    base::Progress m_progress;
    std::shared_ptr<const Outcome> m_outcome;
    std::optional<base::Error> m_error;
    UsedEdits m_edits;
    QString m_inputs;            ///< where those of the search came from
    bool m_hasOwnInputs = true;  ///< they were the session's
    std::vector<graph::NodeId> m_part, m_differing;
};

}  // namespace sonde::context
