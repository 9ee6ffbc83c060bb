#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "ui/context/comparison.h"
#include "ui/context/open_model.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// What a comparison found, a row for each value in order of execution: those that differ, or all that were compared.
class DifferenceTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Order, Node, Module, Operator, Result, MaxAbsolute, MaxRelative, Cosine, Snr, Note, ColumnCount };

    DifferenceTableModel(context::OpenModel& opened, context::Comparison& comparison, QObject* parent = nullptr);

    bool showsAll() const { return m_showsAll; }
    void setShowsAll(bool all);
    int rowOf(graph::NodeId node) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    void reset();
    QVariant number(int column, graph::NodeId node) const;

    context::OpenModel& m_opened;
    context::Comparison& m_comparison;
    std::vector<graph::NodeId> m_nodes;
    bool m_showsAll = false;
};

/// "1.2e-05", "identical"; empty if it is not known.
QString differenceText(int column, double number);

}  // namespace sonde::models
