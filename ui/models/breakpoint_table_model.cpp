#include "ui/models/breakpoint_table_model.h"

#include "ui/models/short_text.h"

namespace sonde::models {

using Point = context::Breakpoints::Point;

BreakpointTableModel::BreakpointTableModel(context::Breakpoints& breakpoints, QObject* parent)
    : QAbstractTableModel(parent), m_breakpoints(breakpoints) {
    connect(&breakpoints, &context::Breakpoints::changed, this, &BreakpointTableModel::refresh);
    refresh();
}

/// Rows that stay keep their selection, and an editor that is open.
void BreakpointTableModel::refresh() {
    for (int row = rowCount() - 1; row >= 0; --row) {
        if (m_breakpoints.find(m_ids[static_cast<std::size_t>(row)])) continue;
        beginRemoveRows({}, row, row);
        m_ids.erase(m_ids.begin() + row);
        endRemoveRows();
    }
    for (const Point& point : m_breakpoints.all()) {
        if (rowOf(point.id) >= 0) continue;
        beginInsertRows({}, rowCount(), rowCount());
        m_ids.push_back(point.id);
        endInsertRows();
    }
    if (!m_ids.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int BreakpointTableModel::idOf(int row) const {
    return row < 0 || row >= rowCount() ? 0 : m_ids[static_cast<std::size_t>(row)];
}

int BreakpointTableModel::rowOf(int id) const {
    for (std::size_t row = 0; row < m_ids.size(); ++row)
        if (m_ids[row] == id) return static_cast<int>(row);
    return -1;
}

int BreakpointTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_ids.size());
}
int BreakpointTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QString BreakpointTableModel::text(const Point& point, int column) const {
    switch (column) {
        case Place: {
            const QString title = oneLine(context::Breakpoints::titleOf(point));
            return point.isMissing ? tr("%1 (missing)").arg(title) : title;
        }
        case Expression: return oneLine(QString::fromStdString(point.expression.text()));
        case Hits: return QString::number(point.hits.size());
        case Ignored: return point.isLog ? QString() : QString::number(point.ignored);
        case Written: return point.isLog ? oneLine(m_breakpoints.lastLog(point.id)) : QString();
        default: return point.error ? shown(point.error->what) : QString();
    }
}

QVariant BreakpointTableModel::data(const QModelIndex& index, int role) const {
    const Point* const point = index.isValid() ? m_breakpoints.find(idOf(index.row())) : nullptr;
    if (!point) return {};
    const int column = index.column();
    if (role == Qt::CheckStateRole && column == Place)
        return static_cast<int>(point->isEnabled ? Qt::Checked : Qt::Unchecked);
    if (role == NodeRole) {
        const graph::NodeId node = m_breakpoints.nodeOf(*point);
        return node.valid() ? QVariant(node.value) : QVariant();
    }
    if (role == kIconRole) return context::Breakpoints::iconOf(*point);
    if (role == SeverityRole && (point->error || m_breakpoints.isStoppedAt(point->id)))
        return static_cast<int>(point->error ? base::Severity::Error : base::Severity::Warning);
    if (role == MutedRole) return !point->isEnabled || point->isMissing;
    if (role == Qt::TextAlignmentRole) return alignment(column == Hits || column == Ignored);
    if (role == Qt::EditRole)
        return column == Ignored ? QVariant(static_cast<int>(point->ignored))
                                 : QVariant(QString::fromStdString(point->expression.text()));
    if (role == Qt::ToolTipRole && column == Place && point->isMissing)
        return tr("The model has no such place; it is kept for a model that has one");
    if (role == Qt::ToolTipRole && column == Place && m_breakpoints.isStoppedAt(point->id))
        return tr("The run has stopped here");
    return role == Qt::DisplayRole || role == Qt::ToolTipRole ? QVariant(text(*point, column)) : QVariant();
}

bool BreakpointTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    const int id = idOf(index.row());
    if (id == 0) return false;
    if (role == Qt::CheckStateRole && index.column() == Place) {
        m_breakpoints.setEnabled(id, value.toInt() == Qt::Checked);
        return true;
    }
    if (role != Qt::EditRole) return false;
    const auto done = index.column() == Ignored ? m_breakpoints.setIgnored(id, value.toInt())
                                                : m_breakpoints.setExpression(id, value.toString());
    if (done) Q_EMIT accepted();
    else Q_EMIT refused(done.error());
    return done.has_value();
}

Qt::ItemFlags BreakpointTableModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    const Point* const point = index.isValid() ? m_breakpoints.find(idOf(index.row())) : nullptr;
    if (!point) return flags;
    if (index.column() == Place) flags |= Qt::ItemIsUserCheckable;
    if (index.column() == Expression || (index.column() == Ignored && !point->isLog)) flags |= Qt::ItemIsEditable;
    return flags;
}

QVariant BreakpointTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[ColumnCount] = {QT_TR_NOOP("Breakpoint"), QT_TR_NOOP("Condition or value"),
                                                    QT_TR_NOOP("Hits"),       QT_TR_NOOP("Ignore"),
                                                    QT_TR_NOOP("Last value"), QT_TR_NOOP("Error")};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section == Hits || section == Ignored);
    if (role == Qt::ToolTipRole && section == Ignored) return tr("So many hits of a run do not stop it");
    if (role == Qt::ToolTipRole && section == Hits) return tr("Where it was met, or written, in this run");
    return role == Qt::DisplayRole ? tr(titles[section]) : QVariant();
}

}  // namespace sonde::models
