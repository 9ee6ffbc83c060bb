#include "ui/models/node_table_model.h"

#include "ui/models/node_text.h"

namespace sonde::models {

using context::InspectorContext;
using graph::NodeId;

NodeTableModel::NodeTableModel(InspectorContext& context, QObject* parent) : QAbstractTableModel(parent), m_context(context) {
    const auto take = [this] {
        beginResetModel();
        m_nodes.clear();
        m_rowOfNode.clear();
        if (m_context.hasModel()) {
            const graph::InternalGraph& graph = m_context.graph();
            m_rowOfNode.assign(graph.nodeCount(), -1);
            for (const graph::ExprId expr : graph.recursiveOrder(graph.mainId())) {
                for (const NodeId output : graph.expr(expr).outputs) {
                    m_rowOfNode[output.index()] = static_cast<int>(m_nodes.size());
                    m_nodes.push_back(output);
                }
            }
        }
        endResetModel();
    };
    connect(&context, &InspectorContext::documentOpened, this, take);
    connect(&context, &InspectorContext::documentClosed, this, take);
    connect(&context, &InspectorContext::runFinished, this, [this] {
        if (!m_nodes.empty()) Q_EMIT dataChanged(index(0, ShapeColumn), index(rowCount() - 1, TimeColumn));
    });
    take();
}

int NodeTableModel::rowOf(NodeId node) const {
    return node.valid() && node.index() < m_rowOfNode.size() ? m_rowOfNode[node.index()] : -1;
}

int NodeTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_nodes.size()); }
int NodeTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant NodeTableModel::text(NodeId id, int column) const {
    const graph::Node& node = m_context.graph().node(id);
    const graph::Expr& producer = m_context.graph().expr(node.producer);
    switch (column) {
        case NumberColumn: return id.value;
        case NameColumn: return shown(node.name);
        case ModuleColumn: return moduleText(producer);
        case ClassColumn: return shortClass(producer.moduleClass);
        case OperatorColumn: return operatorText(producer);
        case ShapeColumn: return shapeText(node, m_context.value(id));
        case DTypeColumn: return dtypeText(node, m_context.value(id));
        case TimeColumn: {
            if (!m_context.recording()) return {};
            const std::int64_t ns = m_context.recording()->elapsedNs(node.producer);
            return ns == 0 ? QString() : QStringLiteral("%1 ms").arg(static_cast<double>(ns) / 1e6, 0, 'f', 3);
        }
        default: return {};
    }
}

QVariant NodeTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_context.hasModel()) return {};
    const NodeId id = node(index.row());
    switch (role) {
        case Qt::DisplayRole: case Qt::ToolTipRole: return text(id, index.column());
        case NodeRole: return id.value;
        case MutedRole: return !m_context.wasReached(id);
        case SortRole:
            if (index.column() == TimeColumn)
                return m_context.recording() ? QVariant(static_cast<qlonglong>(m_context.recording()->elapsedNs(
                                                   m_context.graph().node(id).producer)))
                                             : QVariant(0);
            return text(id, index.column());
        case Qt::TextAlignmentRole:
            return index.column() == NumberColumn || index.column() == TimeColumn ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                                                                                  : QVariant();
        default: return {};
    }
}

QVariant NodeTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= ColumnCount) return {};
    static const char* const titles[ColumnCount] = {"#", "Node", "Module", "Class", "Operator", "Shape", "Type", "Time"};
    return tr(titles[section]);
}

TableFilter::TableFilter(QObject* parent) : QSortFilterProxyModel(parent) { setSortRole(SortRole); }

void TableFilter::setFilter(const QString& text) {
    m_words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool TableFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    return std::all_of(m_words.begin(), m_words.end(), [&](const QString& word) {
        for (int column = 0; column < sourceModel()->columnCount(parent); ++column)
            if (sourceModel()->index(row, column, parent).data().toString().contains(word, Qt::CaseInsensitive)) return true;
        return false;
    });
}

}  // namespace sonde::models
