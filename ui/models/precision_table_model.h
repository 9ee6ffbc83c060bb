#pragma once

#include <QAbstractTableModel>

#include <memory>

#include "ui/context/open_model.h"
#include "ui/context/precision.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// What a lower precision costs: a row for each value in order of execution.
class PrecisionTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column {
        Order,
        Node,
        Module,
        Operator,
        Rounded,
        Sqnr,
        Before,
        Lost,
        MaxAbsolute,
        MaxRelative,
        Channels,
        ColumnCount
    };

    PrecisionTableModel(context::OpenModel& opened, context::Precision& precision, QObject* parent = nullptr);

    int rowOf(graph::NodeId node) const;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QString text(int column, const context::Precision::NodeError& row, int number) const;

    context::OpenModel& m_opened;
    context::Precision& m_precision;
};

}  // namespace sonde::models
