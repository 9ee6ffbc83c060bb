#pragma once

#include <QAbstractTableModel>

#include "ui/context/weights.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// Every parameter and buffer of the open model: a row each, a column for each of analysis::weightColumns(), and one
/// with a small histogram (HistoryRole: counts of its bins). Figures appear as they are read.
class WeightTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    explicit WeightTableModel(context::Weights& weights, QObject* parent = nullptr);

    static int histogramColumn();
    /// Of a column's id; -1 if there is none.
    static int columnOf(const QString& id);
    static QString columnId(int column);

    const analysis::WeightRow& weight(int row) const;
    /// The first row that the operation reads; of a weight's own node that weight's; -1: none.
    int rowOf(const graph::InternalGraph& graph, graph::NodeId node) const;
    /// The first row that the module owns; -1: none.
    int rowOfModule(const QString& qualname) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QVariant sortKey(int column, const analysis::WeightRow& row, const analysis::WeightFigures* figures) const;

    context::Weights& m_weights;
};

}  // namespace sonde::models
