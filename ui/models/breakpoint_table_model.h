#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "ui/context/breakpoints.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// Breakpoints and log points, a row for each in the order of their numbers. Its first column switches them on and off;
/// conditions and hits to let pass are edited in place.
class BreakpointTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Place, Expression, Hits, Ignored, Written, Problem, ColumnCount };
    /// QString: the icon of the row's kind.
    static constexpr int kIconRole = Qt::UserRole + 100;

    explicit BreakpointTableModel(context::Breakpoints& breakpoints, QObject* parent = nullptr);

    /// 0: there is no such row.
    int idOf(int row) const;
    int rowOf(int id) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  Q_SIGNALS:
    /// A text that was typed could not be taken; the row has kept the one before.
    void refused(const sonde::base::Error& error);
    void accepted();

  private:
    void refresh();
    QString text(const context::Breakpoints::Point& point, int column) const;

    context::Breakpoints& m_breakpoints;
    std::vector<int> m_ids;
};

}  // namespace sonde::models
