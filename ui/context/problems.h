#pragma once

#include <QObject>
#include <QString>

#include <memory>
#include <set>
#include <vector>

#include "core/analysis/problems.h"
#include "ui/context/job.h"

namespace sonde::context {

class InspectorContext;

/// What a run left behind that is wrong: failures, NaN and infinity, with origins before carriers. Also which bad
/// values the user accepted as meant.
struct RunProblems {
    std::vector<analysis::Problem> all;  ///< see analysis::findProblems
    analysis::BadSummary summary;

    static RunProblems of(const graph::InternalGraph& graph, const exec::Recording& recording,
                          const std::vector<graph::NodeId>& accepted);
};

/// The problems of the last run. Belongs to the UI thread.
class Problems : public QObject {
    Q_OBJECT
  public:
    explicit Problems(InspectorContext& context);
    ~Problems() override;

    const std::vector<analysis::Problem>& all() const { return m_found.all; }
    /// "NaN in 214 nodes, first made by features.3.1.bn (BatchNormalization)"; empty if there is nothing to say.
    QString summary() const;
    /// Whether the node's value is bad and neither accepted nor only carries what was accepted.
    const std::set<graph::NodeId>& bad() const { return m_bad; }
    bool isBad(graph::NodeId node) const { return m_bad.contains(node); }
    /// What the last run counted in the node's value; null if all of it is finite.
    const exec::BadValues* counted(graph::NodeId node) const;
    /// Null if the node is no problem.
    const analysis::Problem* of(graph::NodeId node) const;
    /// The nodes to go to one after the other: origins, failures, carriers, then modules that could not be traced.
    std::vector<graph::NodeId> nodes() const;

    /// In the order in which they were accepted; remembered with the model.
    const std::vector<graph::NodeId>& accepted() const { return m_accepted; }
    bool isAccepted(graph::NodeId node) const;
    bool isActive() const { return m_job.isActive(); }

    /// By the context: a model, a run.
    void setAccepted(std::vector<graph::NodeId> nodes) { m_accepted = std::move(nodes); }
    void adopt(RunProblems found);

  public Q_SLOTS:
    /// NaN and infinity of the node are meant (or not any more); what follows from it is found out in the background.
    void setAccepted(sonde::graph::NodeId node, bool accepted);

  Q_SIGNALS:
    void changed();

  private:
    void forget();

    InspectorContext& m_context;
    Job m_job;
    RunProblems m_found;
    std::set<graph::NodeId> m_bad;
    std::vector<graph::NodeId> m_accepted;
};

}  // namespace sonde::context
