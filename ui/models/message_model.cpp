#include "ui/models/message_model.h"

#include "ui/context/messages.h"

namespace sonde::models {

using context::Message;

MessageModel::MessageModel(context::Messages& messages, QObject* parent)
    : QAbstractTableModel(parent), m_messages(messages), m_rows(messages.all()) {
    connect(&messages, &context::Messages::messageReported, this, [this](const Message& message) {
        if (m_rows.size() >= context::Messages::kMaxCount) {
            beginRemoveRows({}, 0, 0);
            m_rows.erase(m_rows.begin());
            endRemoveRows();
        }
        const int row = rowCount();
        beginInsertRows({}, row, row);
        m_rows.push_back(message);
        endInsertRows();
    });
}

int MessageModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int MessageModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant MessageModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Message& message = m_rows[static_cast<std::size_t>(index.row())];
    if (role == SeverityRole) return static_cast<int>(message.severity);
    if (role == NodeRole) {
        const graph::NodeId node = m_messages.nodeOf(message);
        return node.valid() ? QVariant(node.value) : QVariant();
    }
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
    switch (index.column()) {
        case TextColumn: return message.text;
        case WhereColumn: return message.where;
        case HintColumn: return message.hint;
        default: return {};
    }
}

QVariant MessageModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= ColumnCount) return {};
    static const char* const titles[ColumnCount] = {"Message", "Where", "Hint"};
    return tr(titles[section]);
}

}  // namespace sonde::models
