#pragma once

#include <QObject>
#include <QString>

#include <map>
#include <optional>
#include <vector>

#include "core/analysis/tensor_stats.h"
#include "ui/context/inputs.h"
#include "ui/context/job.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"

namespace sonde::models {

/// Statistics of the values of some nodes, computed in the background whenever values have changed.
class NodeStats : public QObject {
    Q_OBJECT
  public:
    NodeStats(context::OpenModel& opened, context::Runs& runs, context::Inputs& inputs, QObject* parent = nullptr);

    /// Which nodes are of interest; computes what is missing.
    void want(std::vector<graph::NodeId> nodes);
    /// Null as long as there is none: no value, not a tensor, not yet computed.
    const analysis::TensorStats* stats(graph::NodeId node) const;
    bool isActive() const { return m_job.isActive(); }

  Q_SIGNALS:
    /// The statistics of some nodes are there, or gone.
    void changed();

  private:
    void forget();
    void compute();

    context::OpenModel& m_opened;
    context::Runs& m_runs;
    context::Job m_job;
    std::vector<graph::NodeId> m_wanted;
    std::map<graph::NodeId, analysis::TensorStats> m_stats;
};

/// A number of a table: six significant digits, "NaN", "Inf".
QString numberText(double value);

}  // namespace sonde::models
