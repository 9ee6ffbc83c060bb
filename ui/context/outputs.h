#pragma once

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

#include "core/session/outputs/show_outputs.h"
#include "ui/context/job.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

class Messages;
class OpenModel;
class Runs;
class SessionFiles;

/// The outputs of the run that all views show, each in the form that suits it or that was chosen: made in the
/// background after every run, the newest wins. What is chosen is kept for the model, and in its session file. Belongs
/// to the UI thread; no verb blocks.
class Outputs : public QObject {
    Q_OBJECT
  public:
    using Choice = session::outputs::Choice;

    Outputs(session::Session& session, OpenModel& model, Runs& runs, SessionFiles& files, Messages& messages,
            QObject* parent);

    /// Those of the last run that left any; empty before it, and when the model or its file is another.
    const std::vector<session::outputs::ShownOutput>& all() const { return m_shown.outputs; }
    bool isActive() const { return m_job.isActive(); }
    /// What is chosen for an output.
    Choice choiceOf(const std::string& output) const;
    /// Why they are not those of the present inputs; empty if they are.
    QString staleReason() const;

  public Q_SLOTS:
    /// In place of what was chosen for its output.
    void choose(const sonde::session::outputs::Choice& choice);

  Q_SIGNALS:
    void changed();

  private:
    void recall();
    void keep();
    void follow();
    session::outputs::ShowRequest debuggedRequest() const;
    void take(session::outputs::ShowRequest request);
    void clear();

    session::Session& m_session;
    OpenModel& m_model;
    Runs& m_runs;
    SessionFiles& m_files;
    Messages& m_messages;
    Job m_job;
    std::vector<Choice> m_choices;
    session::outputs::ShownOutputs m_shown;
    std::optional<session::outputs::WeightOrigin> m_origin;  ///< once somebody had to know
};

/// Those of a window; `context` is its InspectorContext, which is their parent.
Outputs& outputsOf(const QObject& context);

}  // namespace sonde::context
