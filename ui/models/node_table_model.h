#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include <unordered_map>
#include <utility>
#include <vector>

#include "ui/context/breakpoints.h"
#include "ui/context/comparison.h"
#include "ui/context/inputs.h"
#include "ui/context/notes.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/context/value_measures.h"
#include "ui/models/node_columns.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// All nodes of the open model in the order of the program, those of inner bodies after their owner; a column for each
/// of nodeColumns().
class NodeTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    NodeTableModel(context::OpenModel& opened, context::Runs& runs, context::Inputs& inputs,
                   context::ValueMeasures& statistics, context::Comparison& comparison, context::Notes& notes,
                   context::Breakpoints& breakpoints, context::Precision* precision = nullptr,
                   context::Engine* engine = nullptr, QObject* parent = nullptr);

    graph::NodeId node(int row) const { return m_nodes[static_cast<std::size_t>(row)]; }
    int rowOf(graph::NodeId node) const;
    const NodeMeasures& measures() const { return m_measures; }
    /// The numbers of a profile have changed.
    void refreshProfile();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    void followStaleness();
    /// See NodeMeasures::staleReason(); empty of a cell without a number.
    QString staleReason(int column, graph::NodeId node) const;
    QString text(int column, graph::NodeId node) const;
    void followPoints();

    context::OpenModel& m_opened;
    context::Runs& m_runs;
    context::Notes& m_notes;
    context::Breakpoints& m_breakpoints;
    std::unordered_map<graph::NodeId, std::pair<QString, QString>> m_points;  ///< icon and tool tip of breakpoints
    graph::NodeId m_current;                                                  ///< as it was told last
    NodeMeasures m_measures;
    std::vector<graph::NodeId> m_nodes;
    std::vector<int> m_rowOfNode;
    bool m_isStale = false;  ///< the last run, as the views know
};

/// Sorts by SortRole and keeps the rows that hold every word of the filter in any column; of "note:word" in the column
/// with that title, and of "note:" those that have something in it.
class TableFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    explicit TableFilter(QObject* parent = nullptr);
    void setFilter(const QString& text);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

  private:
    bool holds(int row, const QModelIndex& parent, const QString& word) const;

    QStringList m_words;
};

/// A table as comma-separated values with a heading (RFC 4180): what the view shows, in its order.
QByteArray tableAsCsv(const QAbstractItemModel& model);

}  // namespace sonde::models
