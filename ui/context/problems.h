#pragma once

#include <QObject>
#include <QString>

#include <set>
#include <vector>

#include "core/session/problems.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

/// The session's problems of the last run, for views: see session::Problems. Belongs to the UI thread.
class Problems : public QObject {
    Q_OBJECT
  public:
    explicit Problems(session::Session& session);

    /// Of the last run alone.
    const std::vector<analysis::Problem>& all() const;
    /// Those, and where values depart from the reference of the last comparison: origins first, in execution order.
    const std::vector<analysis::Problem>& rows() const;
    /// "2 origins, 14 carriers"; empty if there are no rows.
    QString countText() const;
    /// What summary() names first: the first origin of NaN or infinity; none if nothing is bad.
    graph::NodeId firstBad() const;
    /// "NaN in 214 nodes, first made by features.3.1.bn (BatchNormalization)"; empty if there is nothing to say.
    QString summary() const;
    /// Whether the node's value is bad and neither accepted nor only carries what was accepted.
    const std::set<graph::NodeId>& bad() const;
    bool isBad(graph::NodeId node) const { return bad().contains(node); }
    /// What the last run counted in the node's value; null if all of it is finite.
    const exec::BadValues* counted(graph::NodeId node) const;
    /// Null if the node is no problem.
    const analysis::Problem* of(graph::NodeId node) const;
    /// The nodes to go to one after the other: origins, failures, carriers, then modules that could not be traced.
    std::vector<graph::NodeId> nodes() const;

    /// Writes rows() as `sonde problems` prints them: see session::ProblemReport::write().
    base::Result<void> save(const QString& path) const;

    /// In the order in which they were accepted; remembered with the model.
    const std::vector<graph::NodeId>& accepted() const;
    bool isAccepted(graph::NodeId node) const;

  public Q_SLOTS:
    /// NaN and infinity of the node are meant (or not any more); what follows from it is found out in the background.
    void setAccepted(sonde::graph::NodeId node, bool accepted);

  Q_SIGNALS:
    void changed();
    void acceptedChanged();

  private:
    session::Session& m_session;
};

}  // namespace sonde::context
