#include "ui/models/message_model.h"

namespace sonde::models {

using context::InspectorContext;
using context::Message;

MessageModel::MessageModel(InspectorContext& context, QObject* parent)
    : QAbstractTableModel(parent), m_context(context), m_messages(context.messages()) {
    connect(&context, &InspectorContext::messageReported, this, [this](const Message& message) {
        const int row = rowCount();
        beginInsertRows({}, row, row);
        m_messages.push_back(message);
        endInsertRows();
    });
    // Nodes of an older model are not to be found any more.
    const auto forget = [this] {
        for (Message& message : m_messages) message.node = {};
    };
    connect(&context, &InspectorContext::documentClosed, this, forget);
    connect(&context, &InspectorContext::loadStarted, this, forget);
}

int MessageModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_messages.size()); }
int MessageModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant MessageModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Message& message = m_messages[static_cast<std::size_t>(index.row())];
    if (role == SeverityRole) return static_cast<int>(message.severity);
    if (role == NodeRole) return message.node.valid() ? QVariant(message.node.value) : QVariant();
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
