#pragma once

#include <QAbstractTableModel>

#include "ui/context/second_model.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// How the two models of a window differ, a row for each difference in the order of session::differenceRows().
class ModelDifferenceTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Order, Kind, First, Second, What, MaxAbsolute, MaxRelative, ColumnCount };

    explicit ModelDifferenceTableModel(context::SecondModel& second, QObject* parent = nullptr);

    /// Null if there is no such row.
    const session::DifferenceRow* row(int index) const;
    /// The first of these nodes of either model; -1: none.
    int rowOf(graph::NodeId first, graph::NodeId second) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QString text(const session::DifferenceRow& row, int column) const;
    QString toolTip(const session::DifferenceRow& row, int column) const;

    context::SecondModel& m_second;
    std::vector<session::DifferenceRow> m_rows;
};

}  // namespace sonde::models
