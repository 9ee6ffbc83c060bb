#include "ui/models/edit_table_model.h"

#include "ui/models/short_text.h"

namespace sonde::models {

using Entry = context::Edits::Entry;

EditTableModel::EditTableModel(context::Edits& edits, QObject* parent) : QAbstractTableModel(parent), m_edits(edits) {
    connect(&edits, &context::Edits::changed, this, &EditTableModel::refresh);
    refresh();
}

/// Rows that stay keep their selection.
void EditTableModel::refresh() {
    const int now = static_cast<int>(m_edits.all().size());
    if (now < m_rows) {
        beginRemoveRows({}, now, m_rows - 1);
        m_rows = now;
        endRemoveRows();
    } else if (now > m_rows) {
        beginInsertRows({}, m_rows, now - 1);
        m_rows = now;
        endInsertRows();
    }
    if (m_rows > 0) Q_EMIT dataChanged(index(0, 0), index(m_rows - 1, ColumnCount - 1));
}

int EditTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_rows; }
int EditTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QString EditTableModel::text(const Entry& entry, int column) {
    using Target = session::ReadyEdit::Target;
    switch (column) {
        case Value: return oneLine(context::Edits::titleOf(entry));
        case Change: return oneLine(context::Edits::changeOf(entry));
        case Kind:
            if (!entry.ready) return tr("missing");
            return entry.ready->target() == Target::Weight  ? tr("weight")
                   : entry.ready->target() == Target::Input ? tr("input")
                                                            : tr("value");
        default: return shown(entry.problem);
    }
}

QVariant EditTableModel::data(const QModelIndex& index, int role) const {
    const auto row = static_cast<std::size_t>(index.row());
    if (!index.isValid() || row >= m_edits.all().size()) return {};
    const Entry& entry = m_edits.all()[row];
    if (role == Qt::CheckStateRole && index.column() == Value)
        return static_cast<int>(entry.edit.isEnabled ? Qt::Checked : Qt::Unchecked);
    if (role == NodeRole) return entry.ready ? QVariant(entry.ready->node().value) : QVariant();
    if (role == MutedRole) return !entry.counts();
    if (role == SeverityRole && !entry.problem.empty() && entry.edit.isEnabled)
        return static_cast<int>(base::Severity::Error);
    if (role == Qt::ToolTipRole && index.column() == Value && !entry.ready)
        return tr("The model has no such value; the edit is kept for a model that has one");
    return role == Qt::DisplayRole || role == Qt::ToolTipRole ? QVariant(text(entry, index.column())) : QVariant();
}

bool EditTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!index.isValid() || role != Qt::CheckStateRole || index.column() != Value) return false;
    m_edits.setEnabled(index.row(), value.toInt() == Qt::Checked);
    return true;
}

Qt::ItemFlags EditTableModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.isValid() && index.column() == Value) flags |= Qt::ItemIsUserCheckable;
    return flags;
}

QVariant EditTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[ColumnCount] = {QT_TR_NOOP("Value"), QT_TR_NOOP("Change"), QT_TR_NOOP("Kind"),
                                                    QT_TR_NOOP("Error")};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount || role != Qt::DisplayRole) return {};
    return tr(titles[section]);
}

}  // namespace sonde::models
