#include "ui/models/watch_list_model.h"

#include <algorithm>

#include "core/tensor/mapped_source.h"
#include "ui/context/count_text.h"
#include "ui/context/window_hint.h"
#include "ui/models/node_text.h"

namespace sonde::models {

using graph::NodeId;
using RowKind = WatchListModel::Row::Kind;
using session::Measure;

WatchListModel::WatchListModel(context::OpenModel& opened, context::Points& points, context::Runs& runs,
                               context::Inputs& inputs, Kind kind, context::Watches* watches, QObject* parent)
    : QAbstractTableModel(parent), m_opened(opened), m_points(points), m_runs(runs), m_watches(watches), m_kind(kind),
      m_stats(opened, runs, inputs) {
    const auto signal = kind == Kind::Watches ? &context::Points::watchChanged : &context::Points::endChanged;
    connect(&points, signal, this, &WatchListModel::update);
    const auto reset = [this] {
        beginResetModel();
        m_rows = rowsNow();
        endResetModel();
        m_stats.want(m_kind == Kind::Watches ? m_points.watched() : m_points.ends());
    };
    connect(&opened, &context::OpenModel::documentOpened, this, reset);
    connect(&opened, &context::OpenModel::documentClosed, this, reset);
    connect(&runs, &context::Runs::runFinished, this, &WatchListModel::refresh);
    connect(&runs, &context::Runs::valueArrived, this, &WatchListModel::refresh);
    connect(&inputs, &context::Inputs::inputsChanged, this, &WatchListModel::refresh);
    connect(&m_stats, &NodeStats::changed, this, &WatchListModel::refresh);
    if (watches) connect(watches, &context::Watches::changed, this, &WatchListModel::update);
    reset();
}

std::vector<WatchListModel::Row> WatchListModel::rowsNow() const {
    std::vector<Row> rows;
    if (!m_opened.isOpen()) return rows;
    const session::PointSet& points = m_kind == Kind::Watches ? m_points.watchedSet() : m_points.endSet();
    for (const NodeId node : points.nodes()) rows.push_back({RowKind::Node, node, {}, {}, 0});
    for (const session::NodeIdentity& missing : points.missing())
        rows.push_back({RowKind::Missing, {}, missing.text(), {}, 0});
    if (!m_watches) return rows;
    for (const context::Watches::Group& group : m_watches->groups())
        rows.push_back({RowKind::Group, {}, {}, group.group, 0});
    for (const context::Watches::Entry& entry : m_watches->expressions())
        rows.push_back({RowKind::Expression, {}, {}, {}, entry.id});
    return rows;
}

int WatchListModel::rowOf(NodeId node) const {
    const auto found =
        std::ranges::find_if(m_rows, [node](const Row& row) { return row.kind == RowKind::Node && row.node == node; });
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

bool WatchListModel::hasChanges() const {
    return std::ranges::any_of(m_rows, [this](const Row& row) { return row.node.valid() && m_runs.change(row.node); });
}

int WatchListModel::rowOfExpression(int id) const {
    const auto found = std::ranges::find_if(
        m_rows, [id](const Row& row) { return row.kind == RowKind::Expression && row.expression == id; });
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

/// Row by row, so that views keep selection and place: each kind is only ever appended to or taken from.
void WatchListModel::update() {
    const std::vector<Row> now = rowsNow();
    for (std::size_t row = m_rows.size(); row-- > 0;) {
        if (std::ranges::find(now, m_rows[row]) != now.end()) continue;
        beginRemoveRows({}, static_cast<int>(row), static_cast<int>(row));
        m_rows.erase(m_rows.begin() + static_cast<std::ptrdiff_t>(row));
        endRemoveRows();
    }
    for (std::size_t row = 0; row < now.size(); ++row) {
        if (row < m_rows.size() && m_rows[row] == now[row]) continue;
        beginInsertRows({}, static_cast<int>(row), static_cast<int>(row));
        m_rows.insert(m_rows.begin() + static_cast<std::ptrdiff_t>(row), now[row]);
        endInsertRows();
    }
    m_stats.want(m_kind == Kind::Watches ? m_points.watched() : m_points.ends());
    refresh();
}

void WatchListModel::refresh() {
    if (!m_rows.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int WatchListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int WatchListModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

Qt::ItemFlags WatchListModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.isValid() && index.column() == NameColumn && row(index.row()).kind == RowKind::Expression)
        flags |= Qt::ItemIsEditable | Qt::ItemIsUserCheckable;
    return flags;
}

const analysis::TensorStats* WatchListModel::statsOf(NodeId node) const {
    if (const analysis::TensorStats* const stats = m_stats.stats(node)) return stats;
    const bool isReduced = m_watches && !m_watches->keptText(node).isEmpty();
    const session::WatchSummary* const left = isReduced ? m_watches->summary(node) : nullptr;
    return left && left->stats ? &*left->stats : nullptr;
}

std::vector<std::optional<double>> WatchListModel::series(int number, Measure measure) const {
    const Row& row = this->row(number);
    if (!m_watches) return {};
    if (row.kind == RowKind::Node) return m_watches->history().of(row.node, measure);
    return row.kind == RowKind::Expression ? m_watches->history().of(row.expression)
                                           : std::vector<std::optional<double>>();
}

namespace {

/// "\u0394 0.5 (3 of 64)": how far the edits have moved a value.
QString changeText(const session::debug::ValueChange* change) {
    if (!change) return {};
    if (change->changed == 0) return QStringLiteral("\u0394 0");
    return QStringLiteral("\u0394 %1 (%2 of %3)")
        .arg(numberText(change->maxAbsolute), context::countText(change->changed),
             context::countText(change->elements));
}

}  // namespace

QVariant WatchListModel::text(const Row& row, int column) const {
    switch (row.kind) {
        case RowKind::Node: return nodeText(row.node, column);
        case RowKind::Group: return groupText(row, column);
        case RowKind::Expression: return expressionText(row, column);
        case RowKind::Missing: break;
    }
    const session::NodeIdentity identity = session::NodeIdentity::of(row.name);
    if (column == NameColumn) return shown(identity.name);
    if (column == ModuleColumn) return shown(identity.qualname);
    return column == ValueColumn ? tr("not in this model") : QString();
}

QVariant WatchListModel::nodeText(NodeId id, int column) const {
    const graph::Node& node = m_opened.graph().node(id);
    const graph::Expr& producer = m_opened.graph().expr(node.producer);
    const tensor::Value* value = m_runs.value(id);
    const analysis::TensorStats* stats = statsOf(id);
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
        case KeptColumn: {
            if (!m_watches) return {};
            QString kept = m_watches->keptText(id);
            const QString found = m_watches->foundText(id);
            if (kept.isEmpty() || found.isEmpty()) return kept + found;
            return QStringLiteral("%1, %2").arg(kept, found);
        }
        case ChangeColumn: return changeText(m_runs.change(id));
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
            if (!m_runs.isDebugged() && m_watches && m_watches->summary(id))
                return tr("%1 only").arg(m_watches->keptText(id));
            if (m_runs.wasReached(id)) return tr("…");
            return m_runs.isDebugged() ? tr("not computed yet") : tr("not reached");
        default: return {};
    }
}

QVariant WatchListModel::groupText(const Row& row, int column) const {
    if (column == NameColumn) return shown(row.group.title());
    if (column == OperatorColumn)
        return row.group.kind == session::WatchGroup::Kind::Query ? tr("query") : tr("module");
    const auto& groups = m_watches->groups();
    const auto found = std::ranges::find(groups, row.group, &context::Watches::Group::group);
    if (column != ValueColumn || found == groups.end()) return {};
    if (found->error) return shown(found->error->what);
    return found->nodes.size() == 1 ? tr("1 node") : tr("%1 nodes").arg(context::countText(found->nodes.size()));
}

QVariant WatchListModel::expressionText(const Row& row, int column) const {
    const context::Watches::Entry* const entry = m_watches->expression(row.expression);
    if (!entry) return {};
    if (column == NameColumn) return shown(entry->text);
    if (column == OperatorColumn) return tr("expression");
    if (column == ModuleColumn && entry->pin.valid())
        return tr("on %1").arg(shown(m_opened.graph().node(entry->pin).name));
    const session::ExpressionResult* const result = m_watches->result(row.expression);
    if (column == ValueColumn) {
        if (!entry->isEnabled && !(result && result->error)) return tr("off");
        if (result) return shown(result->text());
        return m_runs.recording() ? tr("…") : tr("not run yet");
    }
    if (!result || result->error) return {};
    if (column == DTypeColumn) return shown(result->type);
    const analysis::TensorStats* const stats = result->stats ? &*result->stats : nullptr;
    if (!stats) return {};
    if (column == NanColumn) return context::countText(stats->nanCount);
    if (column == InfColumn) return context::countText(stats->infCount);
    if (column == ZeroColumn) return context::countText(stats->zeroCount);
    if (stats->finiteCount() == 0) return {};
    if (column == MinColumn) return numberText(stats->minimum);
    if (column == MaxColumn) return numberText(stats->maximum);
    if (column == MeanColumn) return numberText(stats->mean);
    return column == DeviationColumn ? numberText(stats->deviation) : QString();
}

QVariant WatchListModel::sortKey(const Row& row, int column) const {
    const bool isNumber = column >= MinColumn && column <= ZeroColumn;
    if (isNumber && row.kind == RowKind::Node) {
        const analysis::TensorStats* const stats = statsOf(row.node);
        if (!stats) return {};
        static constexpr Measure kMeasures[] = {Measure::Minimum, Measure::Maximum, Measure::Mean, Measure::Deviation,
                                                Measure::Nan,     Measure::Inf,     Measure::Zero};
        const auto value = session::valueOf(*stats, kMeasures[column - MinColumn]);
        return value ? QVariant(*value) : QVariant(0.0);
    }
    return text(row, column);
}

QVariant WatchListModel::severity(const Row& row, int column) const {
    const auto error = QVariant(static_cast<int>(base::Severity::Error));
    if (row.kind == RowKind::Node) {
        const analysis::TensorStats* const stats = statsOf(row.node);
        const bool isBad =
            stats && ((column == NanColumn && stats->nanCount > 0) || (column == InfColumn && stats->infCount > 0));
        return isBad ? error : QVariant();
    }
    if (row.kind == RowKind::Expression && (column == NameColumn || column == ValueColumn)) {
        const session::ExpressionResult* const result = m_watches->result(row.expression);
        return result && result->error ? error : QVariant();
    }
    return {};
}

/// "min 0 … 3 mean 1, of 5 runs": what the small plot shows, in numbers.
QString WatchListModel::historyText(const Row& row) const {
    const int number = static_cast<int>(std::ranges::find(m_rows, row) - m_rows.begin());
    QStringList numbers;
    for (const std::optional<double>& value : series(number)) numbers << (value ? numberText(*value) : tr("none"));
    if (numbers.isEmpty()) return {};
    const qsizetype kMaxShown = 8;
    if (numbers.size() > kMaxShown) {
        numbers = numbers.mid(numbers.size() - kMaxShown);
        numbers.prepend(QStringLiteral("…"));
    }
    return row.kind == RowKind::Node ? tr("mean of the last runs: %1").arg(numbers.join(QStringLiteral(", ")))
                                     : tr("of the last runs: %1").arg(numbers.join(QStringLiteral(", ")));
}

QString WatchListModel::toolTip(const Row& row, int column) const {
    if (column == HistoryColumn) return historyText(row);
    QString text = this->text(row, column).toString();
    if (row.kind == RowKind::Node && m_runs.isStale(row.node))
        return tr("%1\nOf the last run: %2").arg(text, m_runs.staleReason());
    if (row.kind == RowKind::Expression)
        if (const session::ExpressionResult* const result = m_watches->result(row.expression);
            result && result->error) {
            text = shown(result->error->what);
            if (result->column) text += tr("\nColumn %1").arg(*result->column);
            if (const QString hint = context::windowHint(result->error->hint); !hint.isEmpty())
                text += QLatin1Char(0x0A) + hint;
        }
    return text;
}

QVariant WatchListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_opened.isOpen()) return {};
    const Row& row = this->row(index.row());
    const int column = index.column();
    const context::Watches::Entry* const entry =
        row.kind == RowKind::Expression ? m_watches->expression(row.expression) : nullptr;
    switch (role) {
        case Qt::DisplayRole: return text(row, column);
        case Qt::EditRole: return entry ? QVariant(QString::fromStdString(entry->text)) : text(row, column);
        case Qt::CheckStateRole:
            return entry && column == NameColumn ? QVariant(entry->isEnabled ? Qt::Checked : Qt::Unchecked)
                                                 : QVariant();
        case SortRole: return sortKey(row, column);
        case NodeRole:
            if (entry) return entry->pin.valid() ? QVariant(entry->pin.value) : QVariant();
            return row.kind == RowKind::Node ? QVariant(row.node.value) : QVariant();
        case MutedRole:
            if (row.kind == RowKind::Node) return !m_runs.wasReached(row.node) || m_runs.isStale(row.node);
            return row.kind == RowKind::Missing || (entry && !entry->isEnabled);
        case Qt::TextAlignmentRole: return alignment(column >= MinColumn && column <= ZeroColumn);
        case SeverityRole: return severity(row, column);
        case ErrorColumnRole: {
            const session::ExpressionResult* const result =
                entry && column == NameColumn ? m_watches->result(row.expression) : nullptr;
            return result && result->column ? QVariant(static_cast<int>(*result->column)) : QVariant();
        }
        case HistoryRole: {
            if (column != HistoryColumn) return {};
            QVariantList numbers;
            for (const std::optional<double>& value : series(index.row()))
                numbers << (value ? QVariant(*value) : QVariant());
            return numbers;
        }
        case Qt::ToolTipRole: return toolTip(row, column);
        default: return {};
    }
}

bool WatchListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!index.isValid() || index.column() != NameColumn || row(index.row()).kind != RowKind::Expression) return false;
    const int id = row(index.row()).expression;
    if (role == Qt::CheckStateRole) m_watches->setEnabled(id, value.toInt() == Qt::Checked);
    else if (role == Qt::EditRole && !value.toString().trimmed().isEmpty())
        m_watches->setExpression(id, value.toString().trimmed());
    else if (role == Qt::EditRole) m_watches->removeExpression(id);
    return role == Qt::CheckStateRole || role == Qt::EditRole;
}

QVariant WatchListModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    static const QStringList titles =
        tr("Node,Module,Operator,Shape,Type,Min,Max,Mean,Std,NaN,Inf,Zero,Value,History,Kept,Change").split(u',');
    if (role == Qt::DisplayRole) return titles.value(section);
    if (role == Qt::TextAlignmentRole) return alignment(section >= MinColumn && section <= ZeroColumn);
    return {};
}

}  // namespace sonde::models
