#include "ui/models/weight_table_model.h"

#include <algorithm>

#include "core/analysis/weights/weight_columns.h"
#include "core/base/diagnostics.h"
#include "core/base/number_text.h"
#include "ui/context/count_text.h"
#include "ui/models/short_text.h"

namespace sonde::models {

using analysis::WeightColumn;
using analysis::WeightFigures;
using analysis::WeightRow;

namespace {

QString fromView(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

const WeightColumn& columnAt(int column) { return analysis::weightColumns()[static_cast<std::size_t>(column)]; }

/// "filters 3, 17 and 4 more".
template <typename Items, typename Text>
QString listText(const Items& items, Text text) {
    constexpr std::size_t kMaxListed = 8;
    QStringList listed;
    for (std::size_t i = 0; i < std::min(items.size(), kMaxListed); ++i) listed << text(items[i]);
    QString all = listed.join(QStringLiteral(", "));
    if (items.size() > kMaxListed)
        all += QObject::tr(" and %1 more").arg(context::countText(static_cast<qint64>(items.size() - kMaxListed)));
    return all;
}

QString cellTip(const QString& id, const WeightRow& row, const WeightFigures* figures) {
    if (id == u"name" || id == u"dtype") return QString::fromStdString(row.note);
    if (!figures) return {};
    if (id == u"zero-filters" && !figures->filters.zero.empty())
        return QObject::tr("Filters %1 of %2")
            .arg(listText(figures->filters.zero, [](std::size_t filter) { return QString::number(filter); }),
                 context::countText(row.filters ? row.filters->count() : 0));
    if (id == u"duplicate-filters" && !figures->filters.duplicates.empty())
        return listText(figures->filters.duplicates,
                        [](const auto& pair) { return QObject::tr("%1 as %2").arg(pair.first).arg(pair.second); });
    if (id == u"outliers" && figures->hasQuartiles)
        return QObject::tr("Outside of %1 to %2; Q1 %3, median %4, Q3 %5")
            .arg(figures->lowFence, 0, 'g', 4)
            .arg(figures->highFence, 0, 'g', 4)
            .arg(figures->quartiles[0], 0, 'g', 4)
            .arg(figures->quartiles[1], 0, 'g', 4)
            .arg(figures->quartiles[2], 0, 'g', 4);
    return {};
}

}  // namespace

WeightTableModel::WeightTableModel(context::Weights& weights, QObject* parent)
    : QAbstractTableModel(parent), m_weights(weights) {
    connect(&weights, &context::Weights::listed, this, [this] {
        beginResetModel();
        endResetModel();
    });
    connect(&weights, &context::Weights::measured, this,
            [this](int first, int last) { Q_EMIT dataChanged(index(first, 0), index(last, columnCount() - 1)); });
}

int WeightTableModel::histogramColumn() { return static_cast<int>(analysis::weightColumns().size()); }

int WeightTableModel::columnOf(const QString& id) {
    if (id == u"histogram") return histogramColumn();
    const WeightColumn* const column = analysis::weightColumn(id.toStdString());
    return column ? static_cast<int>(column - analysis::weightColumns().data()) : -1;
}

QString WeightTableModel::columnId(int column) {
    return column == histogramColumn() ? QStringLiteral("histogram") : fromView(columnAt(column).id);
}

const WeightRow& WeightTableModel::weight(int row) const {
    return m_weights.report()->rows[static_cast<std::size_t>(row)];
}

int WeightTableModel::rowOf(const graph::InternalGraph& graph, graph::NodeId node) const {
    if (!m_weights.report() || !node.valid()) return -1;
    const auto& rows = m_weights.report()->rows;
    const graph::ExprId producer = graph.node(node).producer;
    const auto found = std::ranges::find_if(rows, [&](const WeightRow& row) {
        return row.node == node || std::ranges::find(row.users, producer) != row.users.end();
    });
    return found == rows.end() ? -1 : static_cast<int>(found - rows.begin());
}

int WeightTableModel::rowOfModule(const QString& qualname) const {
    if (!m_weights.report() || qualname.isEmpty()) return -1;
    const auto& rows = m_weights.report()->rows;
    const auto found = std::ranges::find(rows, qualname.toStdString(), &WeightRow::qualname);
    return found == rows.end() ? -1 : static_cast<int>(found - rows.begin());
}

int WeightTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_weights.report() ? 0 : static_cast<int>(m_weights.report()->rows.size());
}

int WeightTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : histogramColumn() + 1;
}

/// Numbers that are not known yet come last when the largest are first.
QVariant WeightTableModel::sortKey(int column, const WeightRow& row, const WeightFigures* figures) const {
    if (column == histogramColumn()) column = columnOf(QStringLiteral("std"));
    const WeightColumn& info = columnAt(column);
    if (info.text) return QString::fromStdString(info.text(*m_weights.report()->document->graph, row));
    return info.number(row, figures).value_or(-std::numeric_limits<double>::infinity());
}

QVariant WeightTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_weights.report() || index.row() >= rowCount()) return {};
    const WeightRow& row = weight(index.row());
    const WeightFigures* const figures = m_weights.figures(static_cast<std::size_t>(index.row()));
    const bool isHistogram = index.column() == histogramColumn();
    switch (role) {
        case Qt::DisplayRole:
            if (isHistogram) return {};
            return shown(
                analysis::weightText(columnAt(index.column()), *m_weights.report()->document->graph, row, figures));
        case Qt::TextAlignmentRole:
            return alignment(!isHistogram && columnAt(index.column()).form != WeightColumn::Form::Text);
        case Qt::ToolTipRole: {
            // Whose figure it is, how it is made, and what it is made of.
            QStringList lines{shown(row.name), headerData(index.column(), Qt::Horizontal, role).toString()};
            if (const QString tip = cellTip(columnId(index.column()), row, figures); !tip.isEmpty()) lines << tip;
            return lines.join(u'\n');
        }
        case HistoryRole: {
            if (!isHistogram || !figures || figures->finite() == 0) return {};
            QVariantList counts;
            for (const std::int64_t count : figures->histogram) counts << static_cast<qint64>(count);
            return counts;
        }
        case SortRole: return sortKey(index.column(), row, figures);
        case ExportRole:
            if (isHistogram || columnAt(index.column()).text) return {};
            if (const auto number = columnAt(index.column()).number(row, figures))
                return QString::fromStdString(base::shortestText(*number));
            return QString();
        case NodeRole: return row.node.valid() ? QVariant(row.node.value) : QVariant();
        case SeverityRole:
            return figures && figures->bad() > 0 ? QVariant(static_cast<int>(base::Severity::Warning)) : QVariant();
        case MutedRole: return row.users.empty();
        default: return {};
    }
}

QVariant WeightTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section > histogramColumn()) return {};
    const bool isHistogram = section == histogramColumn();
    switch (role) {
        case Qt::DisplayRole: return isHistogram ? tr("Histogram") : fromView(columnAt(section).title);
        case Qt::ToolTipRole:
            return isHistogram ? tr("%1 equal bins from the smallest to the largest finite element; sorted by Std")
                                     .arg(analysis::kWeightBins)
                               : fromView(columnAt(section).description);
        case Qt::TextAlignmentRole:
            return alignment(!isHistogram && columnAt(section).form != WeightColumn::Form::Text);
        default: return {};
    }
}

}  // namespace sonde::models
