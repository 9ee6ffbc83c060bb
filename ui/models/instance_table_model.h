#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "ui/context/inputs.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/models/node_stats.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// The values that are in the same place of every one of a row of repeated blocks, as the selected one does: a row
/// each.
class InstanceTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Instance, Node, Shape, Minimum, Maximum, Mean, Deviation, Bad, ColumnCount };

    InstanceTableModel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                       context::Inputs& inputs, QObject* parent = nullptr);

    const std::vector<graph::NodeId>& nodes() const { return m_nodes; }
    int rowOf(graph::NodeId node) const;
    /// Computes what the last run passed but did not keep.
    void requestValues();
    /// Whether some value could be had but is not there.
    bool lacksValues() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    void follow();
    void refresh();
    static double number(const analysis::TensorStats& stats, int column);

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Runs& m_runs;
    NodeStats m_stats;
    std::vector<graph::NodeId> m_nodes;
};

}  // namespace sonde::models
