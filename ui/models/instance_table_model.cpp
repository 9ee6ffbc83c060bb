#include "ui/models/instance_table_model.h"

#include <algorithm>

#include "ui/context/count_text.h"
#include "ui/context/inputs.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/models/node_text.h"

namespace sonde::models {

using graph::NodeId;

InstanceTableModel::InstanceTableModel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                                       context::Inputs& inputs, QObject* parent)
    : QAbstractTableModel(parent), m_opened(opened), m_navigation(navigation), m_runs(runs),
      m_stats(opened, runs, inputs) {
    connect(&navigation, &context::Navigation::selectionChanged, this, &InstanceTableModel::follow);
    connect(&opened, &context::OpenModel::documentOpened, this, &InstanceTableModel::follow);
    connect(&opened, &context::OpenModel::documentClosed, this, &InstanceTableModel::follow);
    connect(&runs, &context::Runs::runFinished, this, &InstanceTableModel::refresh);
    connect(&runs, &context::Runs::valueArrived, this, &InstanceTableModel::refresh);
    connect(&m_stats, &NodeStats::changed, this, &InstanceTableModel::refresh);
    follow();
}

void InstanceTableModel::follow() {
    std::vector<NodeId> nodes;
    const NodeId selected = m_navigation.selection().node;
    if (m_opened.outline() && selected.valid()) nodes = m_opened.outline()->counterparts(selected);
    if (nodes == m_nodes) return;
    beginResetModel();
    m_nodes = std::move(nodes);
    endResetModel();
    m_stats.want(m_nodes);
}

void InstanceTableModel::refresh() {
    if (!m_nodes.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int InstanceTableModel::rowOf(NodeId node) const {
    const auto found = std::find(m_nodes.begin(), m_nodes.end(), node);
    return found == m_nodes.end() ? -1 : static_cast<int>(found - m_nodes.begin());
}

void InstanceTableModel::requestValues() {
    for (const NodeId node : m_nodes) m_runs.requestValue(node);
}

bool InstanceTableModel::lacksValues() const {
    return std::any_of(m_nodes.begin(), m_nodes.end(), [this](NodeId node) {
        return !m_runs.value(node) && m_runs.recording() && m_runs.recording()->computed(node);
    });
}

int InstanceTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_nodes.size());
}
int InstanceTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

double InstanceTableModel::number(const analysis::TensorStats& stats, int column) {
    switch (column) {
        case Bad: return static_cast<double>(stats.nanCount + stats.infCount);
        case Minimum: return stats.minimum;
        case Maximum: return stats.maximum;
        case Mean: return stats.mean;
        default: return stats.deviation;
    }
}

QVariant InstanceTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_opened.isOpen()) return {};
    const NodeId id = m_nodes[static_cast<std::size_t>(index.row())];
    const graph::Node& node = m_opened.graph().node(id);
    const analysis::TensorStats* stats = m_stats.stats(id);
    if (role == NodeRole) return id.value;
    if (role == MutedRole) return !m_runs.wasReached(id) || m_runs.isStale(id);
    if (role == SeverityRole && stats && stats->nanCount + stats->infCount > 0)
        return static_cast<int>(base::Severity::Warning);
    if (role == Qt::TextAlignmentRole) return alignment(index.column() >= Minimum);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != SortRole) return {};
    switch (index.column()) {
        case Instance:
            return role == SortRole ? QVariant(index.row())
                                    : QVariant(moduleText(m_opened.graph().expr(node.producer)));
        case Node: return shown(node.name);
        case Shape: return shapeText(node, m_runs.value(id));
        default: break;
    }
    if (!stats || (index.column() != Bad && stats->finiteCount() == 0))
        return role == SortRole ? QVariant() : QVariant(QString());
    const double value = number(*stats, index.column());
    if (role == SortRole) return value;
    if (index.column() == Bad) return value == 0 ? QString() : context::countText(static_cast<qint64>(value));
    return numberText(value);
}

QVariant InstanceTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[ColumnCount] = {QT_TR_NOOP("Module"), QT_TR_NOOP("Node"),    QT_TR_NOOP("Shape"),
                                                    QT_TR_NOOP("Min"),    QT_TR_NOOP("Max"),     QT_TR_NOOP("Mean"),
                                                    QT_TR_NOOP("Std"),    QT_TR_NOOP("NaN, Inf")};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section >= Minimum);
    return role == Qt::DisplayRole ? tr(titles[section]) : QVariant();
}

}  // namespace sonde::models
