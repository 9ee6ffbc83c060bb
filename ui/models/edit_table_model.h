#pragma once

#include <QAbstractTableModel>

#include "ui/context/edits.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// The edits of values in the order in which they are made. The first column switches them on and off.
class EditTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Value, Change, Kind, Problem, ColumnCount };

    explicit EditTableModel(context::Edits& edits, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    void refresh();
    static QString text(const context::Edits::Entry& entry, int column);

    context::Edits& m_edits;
    int m_rows = 0;
};

}  // namespace sonde::models
