#include "ui/models/message_model.h"

namespace sonde::models {

using context::InspectorContext;
using context::Message;

MessageModel::MessageModel(InspectorContext& context, QObject* parent)
    : QAbstractTableModel(parent), m_context(context), m_messages(context.messages()) {
    connect(&context, &InspectorContext::messageReported, this, [this](const Message& message) {
        if (m_messages.size() >= InspectorContext::kMaxMessages) {
            beginRemoveRows({}, 0, 0);
            m_messages.erase(m_messages.begin());
            endRemoveRows();
        }
        const int row = rowCount();
        beginInsertRows({}, row, row);
        m_messages.push_back(message);
        endInsertRows();
    });
}

int MessageModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_messages.size());
}
int MessageModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant MessageModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Message& message = m_messages[static_cast<std::size_t>(index.row())];
    if (role == SeverityRole) return static_cast<int>(message.severity);
    if (role == NodeRole) {
        const graph::NodeId node = m_context.nodeOf(message);
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
