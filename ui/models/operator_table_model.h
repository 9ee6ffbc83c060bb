#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "ui/context/comparison.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/context/value_measures.h"
#include "ui/models/node_columns.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// The operators that the open model uses: how often, and what their nodes have together.
class OperatorTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { OperatorName, DomainName, CategoryName, Count, Parameters, Memory, Time, Share, ColumnCount };

    OperatorTableModel(context::OpenModel& opened, context::Runs& runs, context::ValueMeasures& statistics,
                       context::Comparison& comparison, QObject* parent = nullptr);

    /// The nodes of a row, in the order of the program: the first output of each operation.
    const std::vector<graph::NodeId>& nodes(int row) const { return m_rows[static_cast<std::size_t>(row)].nodes; }

    /// The memory of a row's results.
    const ColumnSum& memory(int row) const { return m_rows[static_cast<std::size_t>(row)].bytes; }

    /// Whether changes are followed at once, as at first. If not, the table stays as it is after a run, and empty after
    /// another model came, until refresh(): adding up a large model takes a while, and perhaps nobody looks.
    void setLive(bool live) { m_live = live; }
    /// Adds up again if something has changed since.
    void refresh();
    /// Why the times are not those of a run on the present inputs; empty if they are, or there are none.
    QString staleReason() const;
    /// To be called when inputs have changed, which may make times stale.
    void followStaleness();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  Q_SIGNALS:
    /// The rows are out of date: refresh() is called by who shows them.
    void wentStale();

  private:
    struct Row {
        QString name, domain, category;
        std::vector<graph::NodeId> nodes;
        double parameters = 0, time = 0;
        ColumnSum bytes;
    };

    void changed(bool otherModel);
    void take();
    double number(const Row& row, int column) const;

    context::OpenModel& m_opened;
    context::Runs& m_runs;
    context::ValueMeasures& m_statistics;
    context::Comparison& m_comparison;
    std::vector<Row> m_rows;
    double m_totalTime = 0;
    bool m_live = true, m_stale = false;
};

}  // namespace sonde::models
