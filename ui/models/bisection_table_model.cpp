#include "ui/models/bisection_table_model.h"

#include <algorithm>

#include "core/base/diagnostics.h"
#include "ui/models/node_text.h"

namespace sonde::models {

using graph::NodeId;

BisectionTableModel::BisectionTableModel(context::OpenModel& opened, context::Bisection& bisection, QObject* parent)
    : QAbstractTableModel(parent), m_opened(opened), m_bisection(bisection) {
    connect(&bisection, &context::Bisection::changed, this, &BisectionTableModel::reset);
    reset();
}

void BisectionTableModel::reset() {
    if (m_outcome == m_bisection.shared() && m_outcome) return;
    beginResetModel();
    m_rows.clear();
    m_outcome = m_bisection.shared();
    if (m_outcome && m_outcome->found.differs) {
        const analysis::Bisection& found = m_outcome->found;
        const auto add = [&](NodeId node, Kind kind) { m_rows.push_back({node, m_bisection.nodeOf(node), kind}); };
        // Another result of an operation of the part, as what a loop stacks, may differ by itself as well.
        const auto differsToo = [&](NodeId node) {
            return node != found.node && std::ranges::find(found.all, node) != found.all.end();
        };
        for (const NodeId node : found.from) add(node, node == found.node ? Kind::Differs : Kind::Given);
        for (const graph::ExprId id : found.operations)
            for (const NodeId node : m_outcome->document->graph->expr(id).outputs)
                add(node, node == found.node ? Kind::Differs : differsToo(node) ? Kind::Too : Kind::Part);
        for (std::size_t i = 1; i < found.all.size(); ++i)
            if (std::ranges::find(m_rows, found.all[i], &Row::node) == m_rows.end()) add(found.all[i], Kind::Too);
    }
    endResetModel();
}

int BisectionTableModel::rowOf(NodeId node) const {
    const auto found = std::ranges::find(m_rows, node, &Row::here);
    return !node.valid() || found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

int BisectionTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int BisectionTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant BisectionTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_outcome) return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    const graph::InternalGraph& graph = *m_outcome->document->graph;
    const graph::Node& node = graph.node(row.node);
    const graph::Expr& expr = graph.expr(node.producer);
    if (role == NodeRole) return row.here.valid() ? QVariant(row.here.value) : QVariant();
    if (role == SeverityRole && row.kind == Kind::Differs) return static_cast<int>(base::Severity::Error);
    if (role == SeverityRole && row.kind == Kind::Too) return static_cast<int>(base::Severity::Warning);
    if (role == MutedRole) return row.kind == Kind::Given;
    if (role == SortRole) return index.row();
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
    switch (index.column()) {
        case Node: return shown(session::bisection::nodeText(*m_outcome, row.node));
        case Role:
            switch (row.kind) {
                case Kind::Given: return tr("given");
                case Kind::Part: return tr("in the part");
                case Kind::Differs: return tr("differs");
                case Kind::Too: return tr("differs too");
            }
            return {};
        case Module: return moduleText(expr);
        default: return operatorText(expr);
    }
}

QVariant BisectionTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[ColumnCount] = {QT_TR_NOOP("Node"), QT_TR_NOOP("Role"), QT_TR_NOOP("Module"),
                                                    QT_TR_NOOP("Operator")};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::ToolTipRole && section == Role)
        return tr(
            "given: both had the same values of it; differs: computed from them, it has another value; differs "
            "too: another result of the part, or a later operation, that differs by itself");
    return role == Qt::DisplayRole ? tr(titles[section]) : QVariant();
}

}  // namespace sonde::models
