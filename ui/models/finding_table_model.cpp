#include "ui/models/finding_table_model.h"

#include "core/analysis/problem.h"
#include "ui/context/text.h"
#include "ui/models/node_text.h"

namespace sonde::models {

using session::FindingGroup;

FindingTableModel::FindingTableModel(context::OpenModel& opened, context::Findings& findings, QObject* parent)
    : QAbstractTableModel(parent), m_opened(opened), m_findings(findings) {
    connect(&findings, &context::Findings::changed, this, &FindingTableModel::reset);
    reset();
}

void FindingTableModel::reset() {
    const int count = m_opened.isOpen() ? static_cast<int>(m_findings.groups().size()) : 0;
    if (count == 0 && m_count == 0) return;
    beginResetModel();
    m_count = count;
    endResetModel();
}

const FindingGroup* FindingTableModel::group(int row) const {
    const auto& groups = m_findings.groups();
    return row >= 0 && row < m_count && row < static_cast<int>(groups.size()) ? &groups[static_cast<std::size_t>(row)]
                                                                              : nullptr;
}

int FindingTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_count; }
int FindingTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QString FindingTableModel::text(const FindingGroup& group, int column) const {
    switch (column) {
        case Severity: return group.accepted ? tr("accepted") : context::text(analysis::severityName(group.severity));
        case Confidence: return context::text(analysis::name(group.confidence));
        case Finding: return shown(group.id);
        case Count: return QString::number(group.count());
        case Nodes: return shown(session::namedText(group.names));
        default: return shown(group.message);
    }
}

/// The cell, and what its column is; of the finding itself what all of its kind are, and what to do.
QString FindingTableModel::toolTip(const FindingGroup& group, int column) const {
    QStringList lines{text(group, column)};
    if (column == Finding || column == Count || column == Message) lines << shown(group.description);
    if (column == Message) lines << shown(group.advice);
    if (const QString meaning = headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString(); !meaning.isEmpty())
        lines << meaning;
    return lines.join(u'\n');
}

QVariant FindingTableModel::data(const QModelIndex& index, int role) const {
    const FindingGroup* const row = index.isValid() ? group(index.row()) : nullptr;
    if (!row) return {};
    switch (role) {
        case SeverityRole:
            if (row->accepted || row->severity == base::Severity::Info) return {};
            return static_cast<int>(row->severity);
        case MutedRole: return row->accepted.has_value();
        case Qt::TextAlignmentRole: return alignment(index.column() == Count);
        case SortRole:
            if (index.column() == Count) return static_cast<int>(row->count());
            if (index.column() == Severity) return index.row();
            if (index.column() == Confidence) return -static_cast<int>(row->confidence);
            return text(*row, index.column());
        case Qt::ToolTipRole: return toolTip(*row, index.column());
        case Qt::DisplayRole: return text(*row, index.column());
        default: return {};
    }
}

QVariant FindingTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[ColumnCount] = {QT_TR_NOOP("Severity"), QT_TR_NOOP("Confidence"),
                                                    QT_TR_NOOP("Finding"),  QT_TR_NOOP("Count"),
                                                    QT_TR_NOOP("Nodes"),    QT_TR_NOOP("Message")};
    static const char* const tips[ColumnCount] = {
        QT_TR_NOOP("error: results are wrong or not reproducible; warning: likely a fault; info: to be known"),
        QT_TR_NOOP("high: follows from the file or was measured; medium: likely; low: may be meant, or chance"),
        QT_TR_NOOP("The kind of the finding, as reports and accepted findings name it"),
        QT_TR_NOOP("Findings of one id, severity, confidence and advice are one row"),
        QT_TR_NOOP("Click to select all of them"),
        nullptr};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section == Count);
    if (role == Qt::ToolTipRole && tips[section]) return tr(tips[section]);
    return role == Qt::DisplayRole ? tr(titles[section]) : QVariant();
}

}  // namespace sonde::models
