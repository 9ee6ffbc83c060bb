#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "ui/context/summary.h"

namespace sonde::models {

/// The lines of `sonde info`: title and text. A line that is the figure of some nodes has them.
class SummaryModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Title, Text, ColumnCount };

    explicit SummaryModel(context::Summary& summary, QObject* parent = nullptr);

    /// What a row is the figure of; empty if it is of none, or there is no such row.
    const std::vector<graph::NodeId>& nodes(int row) const;
    /// The module that has what the row speaks of, its qualname; empty where nodes() tell, or there is none.
    QString module(int row) const;
    /// Whether there is anything to select.
    bool leads(int row) const { return !nodes(row).empty() || !module(row).isEmpty(); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

  private:
    context::Summary& m_summary;
    std::vector<session::InfoLine> m_lines;
};

}  // namespace sonde::models
