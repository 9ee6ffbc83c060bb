#include "ui/models/watch_list_model.h"

#include <algorithm>

#include "core/tensor/mapped_source.h"
#include "ui/context/count_text.h"
#include "ui/context/inputs.h"
#include "ui/context/open_model.h"
#include "ui/context/points.h"
#include "ui/context/runs.h"
#include "ui/models/node_text.h"

namespace sonde::models {

using graph::NodeId;

WatchListModel::WatchListModel(context::OpenModel& opened, context::Points& points, context::Runs& runs,
                               context::Inputs& inputs, Kind kind, QObject* parent)
    : QAbstractTableModel(parent), m_opened(opened), m_points(points), m_runs(runs), m_kind(kind),
      m_stats(opened, runs, inputs) {
    const auto signal = kind == Kind::Watches ? &context::Points::watchChanged : &context::Points::endChanged;
    connect(&points, signal, this, &WatchListModel::update);
    const auto reset = [this] {
        beginResetModel();
        m_nodes = m_kind == Kind::Watches ? m_points.watched() : m_points.ends();
        endResetModel();
        m_stats.want(m_nodes);
    };
    connect(&opened, &context::OpenModel::documentOpened, this, reset);
    connect(&opened, &context::OpenModel::documentClosed, this, reset);
    connect(&runs, &context::Runs::runFinished, this, &WatchListModel::refresh);
    connect(&runs, &context::Runs::valueArrived, this, &WatchListModel::refresh);
    connect(&inputs, &context::Inputs::inputsChanged, this, &WatchListModel::refresh);
    connect(&m_stats, &NodeStats::changed, this, &WatchListModel::refresh);
    reset();
}

int WatchListModel::rowOf(NodeId node) const {
    const auto found = std::find(m_nodes.begin(), m_nodes.end(), node);
    return found == m_nodes.end() ? -1 : static_cast<int>(found - m_nodes.begin());
}

/// Row by row, so that views keep selection and place: nodes are only ever appended or taken out.
void WatchListModel::update() {
    const std::vector<NodeId>& now = m_kind == Kind::Watches ? m_points.watched() : m_points.ends();
    for (std::size_t row = m_nodes.size(); row-- > 0;) {
        if (std::find(now.begin(), now.end(), m_nodes[row]) != now.end()) continue;
        beginRemoveRows({}, static_cast<int>(row), static_cast<int>(row));
        m_nodes.erase(m_nodes.begin() + static_cast<std::ptrdiff_t>(row));
        endRemoveRows();
    }
    for (const NodeId node : now) {
        if (rowOf(node) >= 0) continue;
        const int row = static_cast<int>(m_nodes.size());
        beginInsertRows({}, row, row);
        m_nodes.push_back(node);
        endInsertRows();
    }
    m_stats.want(m_nodes);
}

void WatchListModel::refresh() {
    if (!m_nodes.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int WatchListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_nodes.size());
}

int WatchListModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant WatchListModel::text(NodeId id, int column) const {
    const graph::Node& node = m_opened.graph().node(id);
    const graph::Expr& producer = m_opened.graph().expr(node.producer);
    const tensor::Value* value = m_runs.value(id);
    const analysis::TensorStats* stats = m_stats.stats(id);
    const bool finite = stats && stats->finiteCount() > 0;
    switch (column) {
        case NameColumn: return shown(node.name);
        case ModuleColumn: return moduleText(producer);
        case OperatorColumn: return operatorText(producer);
        case ShapeColumn: return shapeText(node, value);
        case DTypeColumn: return dtypeText(node, value);
        case MinColumn: return finite ? numberText(stats->minimum) : QString();
        case MaxColumn: return finite ? numberText(stats->maximum) : QString();
        case MeanColumn: return finite ? numberText(stats->mean) : QString();
        case DeviationColumn: return finite ? numberText(stats->deviation) : QString();
        case NanColumn: return stats ? context::countText(stats->nanCount) : QString();
        case InfColumn: return stats ? context::countText(stats->infCount) : QString();
        case ZeroColumn: return stats ? context::countText(stats->zeroCount) : QString();
        case ValueColumn:
            if (value) {
                QString text = shown(value->text(120));
                if (tensor::isSourceChanged(*value)) return {};
                if (const QString which = m_runs.iterationText(id); !which.isEmpty())
                    text = QStringLiteral("%1: %2").arg(which, text);
                return m_runs.isStale(id) ? tr("stale: %1").arg(text) : text;
            }
            if (!m_runs.recording()) return tr("not run yet");
            if (m_runs.failure(node.producer)) return tr("failed");
            return m_runs.wasReached(id) ? tr("…") : tr("not reached");
        default: return {};
    }
}

QVariant WatchListModel::sortKey(NodeId id, int column) const {
    const analysis::TensorStats* stats = m_stats.stats(id);
    switch (column) {
        case MinColumn: return stats ? QVariant(stats->minimum) : QVariant();
        case MaxColumn: return stats ? QVariant(stats->maximum) : QVariant();
        case MeanColumn: return stats ? QVariant(stats->mean) : QVariant();
        case DeviationColumn: return stats ? QVariant(stats->deviation) : QVariant();
        case NanColumn: return stats ? QVariant(static_cast<qlonglong>(stats->nanCount)) : QVariant();
        case InfColumn: return stats ? QVariant(static_cast<qlonglong>(stats->infCount)) : QVariant();
        case ZeroColumn: return stats ? QVariant(static_cast<qlonglong>(stats->zeroCount)) : QVariant();
        default: return text(id, column);
    }
}

QVariant WatchListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_opened.isOpen()) return {};
    const NodeId id = node(index.row());
    switch (role) {
        case Qt::DisplayRole: return text(id, index.column());
        case SortRole: return sortKey(id, index.column());
        case NodeRole: return id.value;
        case MutedRole: return !m_runs.wasReached(id) || m_runs.isStale(id);
        case Qt::TextAlignmentRole: return alignment(index.column() >= MinColumn && index.column() <= ZeroColumn);
        case SeverityRole: {
            const analysis::TensorStats* stats = m_stats.stats(id);
            const bool bad = stats && ((index.column() == NanColumn && stats->nanCount > 0) ||
                                       (index.column() == InfColumn && stats->infCount > 0));
            return bad ? QVariant(static_cast<int>(base::Severity::Error)) : QVariant();
        }
        case Qt::ToolTipRole:
            return m_runs.isStale(id)
                       ? tr("%1\nOf the last run: %2").arg(text(id, index.column()).toString(), m_runs.staleReason())
                       : QVariant(text(id, index.column()));
        default: return {};
    }
}

QVariant WatchListModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    static const char* const titles[ColumnCount] = {"Node", "Module", "Operator", "Shape", "Type", "Min",  "Max",
                                                    "Mean", "Std",    "NaN",      "Inf",   "Zero", "Value"};
    if (role == Qt::DisplayRole) return tr(titles[section]);
    if (role == Qt::TextAlignmentRole) return alignment(section >= MinColumn && section <= ZeroColumn);
    return {};
}

}  // namespace sonde::models
