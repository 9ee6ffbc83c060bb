#pragma once

#include <QObject>
#include <QString>

#include <memory>
#include <optional>
#include <vector>

#include "core/session/findings/find_findings.h"
#include "core/session/input_spec.h"
#include "ui/context/job.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

class Messages;
class SessionFiles;

/// What there is to know of the open model, as `sonde findings` lists it: looked for in the background when somebody
/// asks. What is accepted is kept in the session file. Belongs to the UI thread; no verb blocks.
class Findings : public QObject {
    Q_OBJECT
  public:
    Findings(session::Session& session, SessionFiles& files, Messages& messages);

    bool isActive() const { return m_job.isActive(); }
    bool isKnown() const { return m_report.has_value(); }
    /// Inputs are others since it was looked.
    bool isStale() const { return m_isStale && m_report; }
    const std::optional<session::FindingReport>& report() const { return m_report; }
    /// Of the report: equal findings together.
    const std::vector<session::FindingGroup>& groups() const { return m_groups; }
    /// "3 findings: 1 error, 2 warnings"; of those that nobody accepted. Empty if there are none, or nobody looked.
    QString countText() const;
    /// Nodes of findings that nobody accepted.
    const std::vector<graph::NodeId>& nodes() const { return m_nodes; }
    /// Nodes of a group.
    std::vector<graph::NodeId> nodesOf(const session::FindingGroup& group) const;

    /// What is accepted in the session.
    std::vector<session::Acceptance> acceptances() const;

  public Q_SLOTS:
    /// Looks on the values that the inputs have now.
    void look();
    void cancel() { m_job.cancel(); }
    /// The findings of a group may stay. An empty reason changes nothing.
    void accept(int group, const QString& reason);
    void takeBack(int group);
    /// By the context: another model, or none.
    void reset();
    /// By the context: inputs have changed.
    void noteInputs();

  Q_SIGNALS:
    void started();
    void progressed(const sonde::base::Progress& progress);
    /// It has ended, with findings or without, or was cancelled.
    void finished();
    void changed();

  private:
    void take(base::Result<session::FindingReport> report);
    void store(const std::vector<session::Acceptance>& acceptances);
    void regroup();

    session::Session& m_session;
    SessionFiles& m_files;
    Messages& m_messages;
    Job m_job;
    std::optional<session::FindingReport> m_report;
    std::vector<session::FindingGroup> m_groups;
    std::vector<graph::NodeId> m_nodes;
    bool m_isStale = false;
};

/// The values that the session's inputs have now, read if they must be: what a worker makes a request of.
struct FindingInputs {
    std::shared_ptr<const document::Document> document;
    std::vector<session::Input> rows;
    std::vector<session::Acceptance> acceptances;
    std::vector<graph::NodeId> acceptedValues;
    std::uint64_t seed = 0;
    std::size_t threads = 0;

    /// Blocks. Without values for all inputs it is a request without a run, which says why.
    session::FindingRequest request(const base::WorkContext& work) const;
};
/// Of the session as it is now; with a document only.
FindingInputs findingInputs(const session::Session& session);

}  // namespace sonde::context
