#pragma once

#include <QAbstractTableModel>

#include "ui/context/sweeps.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// A sweep, a row for each input so far: its name, six statistics of each watched node, condition, label, prediction,
/// and why there is nothing. Columns are those of `sonde sweep`.
class SweepTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    explicit SweepTableModel(context::Sweeps& sweeps, QObject* parent = nullptr);

    static constexpr int kInput = 0;
    static constexpr int kStatistics = 6;  ///< of a node: min, max, mean, std, nan, inf
    /// -1: there is no such column.
    int errorColumn() const { return m_columns - 1; }
    /// The node and the statistic of a column; none of another column.
    struct Statistic {
        int node = -1, which = -1;
    };
    Statistic statisticOf(int column) const;
    /// NaN: there is none.
    double number(int row, const Statistic& statistic) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    void reset();
    QString text(const session::SweepRow& row, int column) const;

    context::Sweeps& m_sweeps;
    int m_rows = 0, m_columns = 0, m_nodes = 0;
    int m_condition = -1, m_label = -1, m_predicted = -1;  ///< columns; -1: none
};

/// "min", "max", "mean", "std", "nan", "inf".
QString sweepStatisticText(int which);

}  // namespace sonde::models
