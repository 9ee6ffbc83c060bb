#include "ui/models/node_table_model.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ui/context/comparison.h"
#include "ui/context/open_model.h"
#include "ui/context/precision.h"
#include "ui/context/runs.h"
#include "ui/context/value_measures.h"
#include "ui/models/short_text.h"

namespace sonde::models {

using graph::NodeId;

namespace {

bool holdsNumbers(int column) {
    return column == NumberColumn || nodeColumns()[static_cast<std::size_t>(column)].numeric;
}

}  // namespace

NodeTableModel::NodeTableModel(context::OpenModel& opened, context::Runs& runs, context::Inputs& inputs,
                               context::ValueMeasures& statistics, context::Comparison& comparison,
                               context::Notes& notes, context::Breakpoints& breakpoints, context::Precision* precision,
                               context::Engine* engine, QObject* parent)
    : QAbstractTableModel(parent), m_opened(opened), m_runs(runs), m_notes(notes), m_breakpoints(breakpoints),
      m_measures(opened, runs, statistics, comparison, precision, engine) {
    const auto take = [this] {
        beginResetModel();
        m_measures.reset();
        m_nodes.clear();
        m_rowOfNode.clear();
        if (m_opened.isOpen()) {
            const graph::InternalGraph& graph = m_opened.graph();
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
    connect(&opened, &context::OpenModel::documentOpened, this, take);
    connect(&opened, &context::OpenModel::documentClosed, this, take);
    connect(&inputs, &context::Inputs::inputsChanged, this, &NodeTableModel::followStaleness);
    connect(&runs, &context::Runs::runFinished, this, [this] {
        m_measures.reset();
        m_isStale = !m_runs.staleReason().isEmpty();
        if (m_nodes.empty()) return;
        for (const NodeId node : {std::exchange(m_current, m_runs.current()), m_current})
            if (const int row = rowOf(node); row >= 0) Q_EMIT dataChanged(index(row, 0), index(row, 0));
        Q_EMIT dataChanged(index(0, ShapeColumn), index(rowCount() - 1, NodeColumnCount - 1));
    });
    const auto measured = [this] {
        if (!m_nodes.empty()) Q_EMIT dataChanged(index(0, MeanColumn), index(rowCount() - 1, PrecisionColumn));
    };
    if (precision) connect(precision, &context::Precision::changed, this, measured);
    connect(&statistics, &context::ValueMeasures::changed, this, measured);
    connect(&comparison, &context::Comparison::changed, this, measured);
    connect(&notes, &context::Notes::changed, this, [this] {
        if (!m_nodes.empty()) Q_EMIT dataChanged(index(0, NoteColumn), index(rowCount() - 1, NoteColumn));
    });
    connect(&breakpoints, &context::Breakpoints::changed, this, &NodeTableModel::followPoints);
    take();
    followPoints();
}

/// Those of single operations: one on a module is at its row in the tree.
void NodeTableModel::followPoints() {
    using Kind = context::Breakpoints::Point::Kind;
    auto before = std::exchange(m_points, {});
    if (m_opened.isOpen())
        for (const context::Breakpoints::Point& point : m_breakpoints.all()) {
            if (point.kind == Kind::Module || point.kind == Kind::Operator) continue;
            const NodeId node = m_breakpoints.nodeOf(point);
            if (!node.valid()) continue;
            auto& [icon, tip] = m_points[node];
            if (icon.isEmpty() || icon.endsWith(QLatin1String("-off"))) icon = context::Breakpoints::iconOf(point);
            tip += (tip.isEmpty() ? QString() : QStringLiteral("\n")) + context::Breakpoints::tipOf(point);
        }
    if (before == m_points) return;
    before.insert(m_points.begin(), m_points.end());
    for (const auto& [node, mark] : before)
        if (const int row = rowOf(node); row >= 0) Q_EMIT dataChanged(index(row, NameColumn), index(row, NameColumn));
}

QString NodeTableModel::text(int column, NodeId node) const {
    return column == NoteColumn ? oneLine(m_notes.of(node)) : m_measures.text(column, node);
}

void NodeTableModel::refreshProfile() {
    if (!m_nodes.empty()) Q_EMIT dataChanged(index(0, ProfiledTimeColumn), index(rowCount() - 1, ByteRateColumn));
}

void NodeTableModel::followStaleness() {
    const bool isStale = !m_runs.staleReason().isEmpty();
    if (isStale == std::exchange(m_isStale, isStale) || m_nodes.empty()) return;
    Q_EMIT dataChanged(index(0, TimeColumn), index(rowCount() - 1, PrecisionColumn), {MutedRole, Qt::ToolTipRole});
}

QString NodeTableModel::staleReason(int column, NodeId node) const {
    if (column == NumberColumn) return {};
    const QString reason = m_measures.staleReason(column);
    return reason.isEmpty() || !m_measures.number(column, node) ? QString() : reason;
}

int NodeTableModel::rowOf(NodeId node) const {
    return node.valid() && node.index() < m_rowOfNode.size() ? m_rowOfNode[node.index()] : -1;
}

int NodeTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_nodes.size());
}
int NodeTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : NodeColumnCount; }

QVariant NodeTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_opened.isOpen()) return {};
    const NodeId id = node(index.row());
    const int column = index.column();
    const bool numeric = holdsNumbers(column);
    switch (role) {
        case Qt::DisplayRole: return column == NumberColumn ? QVariant(id.value) : QVariant(text(column, id));
        case Qt::ToolTipRole: {
            if (column == NoteColumn) return m_notes.of(id);
            const QString stale = staleReason(column, id);
            QString shown = data(index, Qt::DisplayRole).toString();
            if (const auto mark = m_points.find(id); column == NameColumn && mark != m_points.end())
                shown += QLatin1Char('\n') + mark->second.second;
            return stale.isEmpty() ? shown : tr("%1\nOf the last run: %2").arg(shown, stale);
        }
        case NodeRole: return id.value;
        case PointRole: {
            const auto mark = column == NameColumn ? m_points.find(id) : m_points.end();
            return mark == m_points.end() ? QVariant() : QVariant(mark->second.first);
        }
        case CurrentRole: return m_runs.current() == id ? QVariant(1) : QVariant();
        case ExportRole: {
            // Numbers without units or separators: they are for programs.
            const std::optional<double> number = numeric ? m_measures.number(column, id) : std::nullopt;
            if (!numeric) return {};
            return number ? QString::number(*number, 'g', 15) : QStringLiteral("");
        }
        case SeverityRole:
            return m_measures.isBad(column, id) ? QVariant(static_cast<int>(base::Severity::Error)) : QVariant();
        case MutedRole: return !m_runs.wasReached(id) || !staleReason(column, id).isEmpty();
        case SortRole:
            return numeric ? QVariant(m_measures.number(column, id).value_or(-std::numeric_limits<double>::infinity()))
                           : QVariant(text(column, id));
        case Qt::TextAlignmentRole: return alignment(numeric);
        default: return {};
    }
}

QVariant NodeTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= NodeColumnCount) return {};
    if (role == Qt::DisplayRole) return nodeColumns()[static_cast<std::size_t>(section)].title;
    if (role == Qt::TextAlignmentRole) return alignment(holdsNumbers(section));
    return {};
}

TableFilter::TableFilter(QObject* parent) : QSortFilterProxyModel(parent) { setSortRole(SortRole); }

void TableFilter::setFilter(const QString& text) {
    m_words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool TableFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    return std::all_of(m_words.begin(), m_words.end(), [&](const QString& word) { return holds(row, parent, word); });
}

bool TableFilter::holds(int row, const QModelIndex& parent, const QString& word) const {
    const auto text = [&](int column) { return sourceModel()->index(row, column, parent).data().toString(); };
    const int columns = sourceModel()->columnCount(parent);
    const qsizetype colon = word.indexOf(u':');
    for (int column = 0; column < columns && colon > 0; ++column) {
        const QString title = sourceModel()->headerData(column, Qt::Horizontal).toString();
        if (title.compare(word.left(colon), Qt::CaseInsensitive) != 0) continue;
        const QString cell = text(column);
        return colon + 1 == word.size() ? !cell.isEmpty() : cell.contains(word.mid(colon + 1), Qt::CaseInsensitive);
    }
    for (int column = 0; column < columns; ++column)
        if (text(column).contains(word, Qt::CaseInsensitive)) return true;
    return false;
}

QByteArray tableAsCsv(const QAbstractItemModel& model) {
    const auto quoted = [](const QString& text) {
        static const QString special = QStringLiteral(",\"\r\n");
        const bool plain = std::none_of(text.begin(), text.end(), [](QChar c) { return special.contains(c); });
        return plain ? text : u'"' + QString(text).replace(u'"', QStringLiteral("\"\"")) + u'"';
    };
    QString out;
    for (int row = -1; row < model.rowCount(); ++row) {
        for (int column = 0; column < model.columnCount(); ++column) {
            const QVariant cell =
                row < 0 ? model.headerData(column, Qt::Horizontal) : model.index(row, column).data(ExportRole);
            const QVariant shown = row >= 0 && !cell.isValid() ? model.index(row, column).data() : cell;
            out += (column > 0 ? QStringLiteral(",") : QString()) + quoted(shown.toString());
        }
        out += QStringLiteral("\r\n");
    }
    return out.toUtf8();
}

}  // namespace sonde::models
