#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "ui/context/inputs.h"
#include "ui/context/open_model.h"
#include "ui/context/points.h"
#include "ui/context/runs.h"
#include "ui/models/node_stats.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// The watch points or the end points in the order in which they were set, with what the last run left in them.
class WatchListModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum class Kind { Watches, Ends };
    // clang-format off
    enum Column {
        NameColumn, ModuleColumn, OperatorColumn, ShapeColumn, DTypeColumn, MinColumn, MaxColumn, MeanColumn,
        DeviationColumn, NanColumn, InfColumn, ZeroColumn, ValueColumn, ColumnCount
    };
    // clang-format on

    WatchListModel(context::OpenModel& opened, context::Points& points, context::Runs& runs, context::Inputs& inputs,
                   Kind kind, QObject* parent = nullptr);

    graph::NodeId node(int row) const { return m_nodes[static_cast<std::size_t>(row)]; }
    int rowOf(graph::NodeId node) const;
    const NodeStats& stats() const { return m_stats; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    void update();
    void refresh();
    QVariant text(graph::NodeId node, int column) const;
    QVariant sortKey(graph::NodeId node, int column) const;

    context::OpenModel& m_opened;
    context::Points& m_points;
    context::Runs& m_runs;
    Kind m_kind;
    std::vector<graph::NodeId> m_nodes;
    NodeStats m_stats;
};

}  // namespace sonde::models
