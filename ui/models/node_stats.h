#pragma once

#include <QObject>
#include <QString>

#include <map>
#include <optional>
#include <vector>

#include "core/analysis/tensor_stats.h"
#include "ui/context/inspector_context.h"

namespace sonde::models {

/// Statistics of the values of some nodes, computed in the background whenever values have changed.
class NodeStats : public QObject {
    Q_OBJECT
  public:
    explicit NodeStats(context::InspectorContext& context, QObject* parent = nullptr);

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

    context::InspectorContext& m_context;
    context::Job m_job;
    std::vector<graph::NodeId> m_wanted;
    std::map<graph::NodeId, analysis::TensorStats> m_stats;
};

/// A number of a table: six significant digits, "NaN", "Inf".
QString numberText(double value);

}  // namespace sonde::models
