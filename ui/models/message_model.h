#pragma once

#include <QAbstractTableModel>

#include "ui/context/messages.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// The log: what was reported, oldest first. Columns: message, place, hint.
class MessageModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { TextColumn, WhereColumn, HintColumn, ColumnCount };
    explicit MessageModel(context::Messages& messages, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    context::Messages& m_messages;
    std::vector<context::Message> m_rows;
};

}  // namespace sonde::models
