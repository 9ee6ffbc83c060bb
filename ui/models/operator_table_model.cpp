#include "ui/models/operator_table_model.h"

#include <map>

#include "core/graph/operation_count.h"
#include "ui/context/comparison.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/context/value_measures.h"
#include "ui/models/node_text.h"

namespace sonde::models {

OperatorTableModel::OperatorTableModel(context::OpenModel& opened, context::Runs& runs,
                                       context::ValueMeasures& statistics, context::Comparison& comparison,
                                       QObject* parent)
    : QAbstractTableModel(parent), m_opened(opened), m_runs(runs), m_statistics(statistics), m_comparison(comparison) {
    connect(&opened, &context::OpenModel::documentOpened, this, [this] { changed(true); });
    connect(&opened, &context::OpenModel::documentClosed, this, [this] { changed(true); });
    connect(&runs, &context::Runs::runFinished, this, [this] { changed(false); });
    take();
}

void OperatorTableModel::refresh() {
    if (m_stale) take();
}

QString OperatorTableModel::staleReason() const { return m_totalTime > 0 ? m_runs.staleReason() : QString(); }

void OperatorTableModel::followStaleness() {
    if (!m_rows.empty()) Q_EMIT dataChanged(index(0, Time), index(rowCount() - 1, Share), {MutedRole, Qt::ToolTipRole});
}

void OperatorTableModel::changed(bool otherModel) {
    if (m_live) return take();
    m_stale = true;
    if (otherModel) {
        beginResetModel();
        m_rows.clear();
        m_totalTime = 0;
        endResetModel();
    }
    Q_EMIT wentStale();
}

void OperatorTableModel::take() {
    m_stale = false;
    beginResetModel();
    m_rows.clear();
    m_totalTime = 0;
    if (m_opened.isOpen()) {
        const graph::InternalGraph& graph = m_opened.graph();
        const NodeMeasures measures(m_opened, m_runs, m_statistics, m_comparison);
        std::map<std::pair<QString, QString>, std::size_t> rowOf;
        for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
            const graph::Expr& expr = graph.expr(id);
            if (!graph::isOperation(expr) || expr.outputs.empty()) continue;
            // The call of a module is no operator of a domain.
            const QString domain = expr.op.name.empty()     ? QString()
                                   : expr.op.domain.empty() ? QStringLiteral("ai.onnx")
                                                            : shown(expr.op.domain);
            const auto [at, isNew] = rowOf.try_emplace({operatorText(expr), domain}, m_rows.size());
            if (isNew)
                m_rows.push_back(
                    {operatorText(expr), domain, measures.text(CategoryColumn, expr.outputs.front()), {}, 0, 0, {}});
            Row& row = m_rows[at->second];
            row.nodes.push_back(expr.outputs.front());
            row.parameters += measures.number(ParametersColumn, expr.outputs.front()).value_or(0);
            row.time += measures.number(TimeColumn, expr.outputs.front()).value_or(0);
            for (const graph::NodeId output : expr.outputs) measures.addTo(row.bytes, BytesColumn, output);
        }
        for (const Row& row : m_rows) m_totalTime += row.time;
    }
    endResetModel();
}

int OperatorTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int OperatorTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

double OperatorTableModel::number(const Row& row, int column) const {
    switch (column) {
        case Count: return static_cast<double>(row.nodes.size());
        case Parameters: return row.parameters;
        case Memory: return row.bytes.known;
        case Share: return m_totalTime > 0 ? 100 * row.time / m_totalTime : 0;
        default: return row.time;
    }
}

QVariant OperatorTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    if (role == NodeRole) return row.nodes.front().value;
    if (column <= CategoryName) {
        const QString text = column == OperatorName ? row.name : column == DomainName ? row.domain : row.category;
        return role == Qt::DisplayRole || role == Qt::ToolTipRole || role == SortRole ? QVariant(text) : QVariant();
    }
    if (role == Qt::TextAlignmentRole) return alignment(true);
    const double value = number(row, column);
    const bool isStale = (column == Time || column == Share) && value > 0 && !staleReason().isEmpty();
    if (role == MutedRole) return isStale;
    if (role == Qt::ToolTipRole && isStale)
        return tr("%1\nOf the last run: %2").arg(data(index, Qt::DisplayRole).toString(), staleReason());
    if (role == SortRole) return value;
    if (role == ExportRole) return QString::number(value, 'g', 15);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
    if (column == Count) return nodeColumnText(ReadersColumn, value);
    if (column == Memory && row.bytes.unknown > 0) {
        if (role == Qt::ToolTipRole) return row.bytes.text(BytesColumn);
        return value == 0 ? QStringLiteral("?") : QStringLiteral("\u2265 ") + nodeColumnText(BytesColumn, value);
    }
    if (value == 0) return QString();
    if (column == Share) return QStringLiteral("%1 %").arg(value, 0, 'f', 1);
    return nodeColumnText(column == Parameters ? ParametersColumn : column == Memory ? BytesColumn : TimeColumn, value);
}

QVariant OperatorTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[ColumnCount] = {
        QT_TR_NOOP("Operator"),   QT_TR_NOOP("Domain"), QT_TR_NOOP("Category"), QT_TR_NOOP("Count"),
        QT_TR_NOOP("Parameters"), QT_TR_NOOP("Memory"), QT_TR_NOOP("Time"),     QT_TR_NOOP("Share of time")};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section > CategoryName);
    return role == Qt::DisplayRole ? tr(titles[section]) : QVariant();
}

}  // namespace sonde::models
