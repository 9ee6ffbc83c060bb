#include "ui/models/problem_table_model.h"

#include <algorithm>

#include "ui/models/node_text.h"

namespace sonde::models {

using analysis::Problem;

ProblemTableModel::ProblemTableModel(context::OpenModel& opened, context::Problems& problems,
                                     const context::DebuggedProblems& debugged, QObject* parent)
    : QAbstractTableModel(parent), m_opened(opened), m_problems(problems), m_debugged(debugged) {
    connect(&debugged, &context::DebuggedProblems::changed, this, &ProblemTableModel::reset);
    connect(&problems, &context::Problems::changed, this, &ProblemTableModel::reset);
    connect(&opened, &context::OpenModel::documentOpened, this, &ProblemTableModel::reset);
    connect(&opened, &context::OpenModel::documentClosed, this, &ProblemTableModel::reset);
    reset();
}

void ProblemTableModel::reset() {
    const std::vector<Problem>& rows = m_debugged.areShown() ? m_debugged.rows() : m_problems.rows();
    const bool isEmpty = !m_opened.isOpen() || rows.empty();
    if (isEmpty && m_rows.empty()) return;
    beginResetModel();
    m_rows = isEmpty ? std::vector<Problem>() : rows;
    endResetModel();
}

const Problem* ProblemTableModel::problem(int row) const {
    return row >= 0 && row < rowCount() ? &m_rows[static_cast<std::size_t>(row)] : nullptr;
}

int ProblemTableModel::rowOf(graph::NodeId node) const {
    const auto found = std::ranges::find(m_rows, node, &Problem::node);
    return !node.valid() || found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

int ProblemTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int ProblemTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant ProblemTableModel::data(const QModelIndex& index, int role) const {
    const Problem* const row = index.isValid() && m_opened.isOpen() ? problem(index.row()) : nullptr;
    if (!row) return {};
    const bool hasNode = row->node.valid();
    if (role == NodeRole) return hasNode ? QVariant(row->node.value) : QVariant();
    if (role == SeverityRole && row->severity != base::Severity::Info) return static_cast<int>(row->severity);
    if (role == SortRole && (index.column() == Kind || index.column() == Role)) return index.row();
    if (role == Qt::ToolTipRole && index.column() == Message)
        return shown(row->message) + (row->advice.empty() ? QString() : u'\n' + shown(row->advice));
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != SortRole) return {};
    switch (index.column()) {
        case Kind: return QString::fromUtf8(name(row->kind).data(), static_cast<qsizetype>(name(row->kind).size()));
        case Role: return row->role == analysis::ProblemRole::Origin ? tr("origin") : tr("carrier");
        case Node: return hasNode ? shown(m_opened.graph().node(row->node).name) : QString();
        case Module:
            return hasNode ? moduleText(m_opened.graph().expr(m_opened.graph().node(row->node).producer)) : QString();
        default: return shown(row->message);
    }
}

QVariant ProblemTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[ColumnCount] = {QT_TR_NOOP("Kind"), QT_TR_NOOP("Role"), QT_TR_NOOP("Node"),
                                                    QT_TR_NOOP("Module"), QT_TR_NOOP("Message")};
    static const char* const tips[ColumnCount] = {
        QT_TR_NOOP("NaN, infinity, overflow, divergence from a reference, failure, guard or shape"),
        QT_TR_NOOP("origin: it begins in this node; carrier: inherited from an input"), nullptr, nullptr, nullptr};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::ToolTipRole && tips[section]) return tr(tips[section]);
    return role == Qt::DisplayRole ? tr(titles[section]) : QVariant();
}

}  // namespace sonde::models
