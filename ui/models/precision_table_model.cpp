#include "ui/models/precision_table_model.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ui/models/node_text.h"

namespace sonde::models {

using context::Precision;
using graph::NodeId;

namespace {

bool isErrorNumber(int column) {
    return column == PrecisionTableModel::Order ||
           (column >= PrecisionTableModel::Sqnr && column <= PrecisionTableModel::MaxRelative);
}

/// NaN: nothing to say.
double errorNumberOf(int column, const Precision::NodeError& row) {
    switch (column) {
        case PrecisionTableModel::Sqnr: return row.error.sqnr;
        case PrecisionTableModel::Before: return row.inputSqnr;
        case PrecisionTableModel::Lost:
            return std::isfinite(row.inputSqnr) ? row.inputSqnr - row.error.sqnr : std::nan("");
        case PrecisionTableModel::MaxAbsolute: return row.error.maxAbs;
        default: return row.error.maxRel;
    }
}

QString errorNumberText(double number) {
    return std::isinf(number) ? QStringLiteral("\u221e") : QString::number(number, 'g', 3);
}

}  // namespace

PrecisionTableModel::PrecisionTableModel(context::OpenModel& opened, context::Precision& precision, QObject* parent)
    : QAbstractTableModel(parent), m_opened(opened), m_precision(precision) {
    connect(&precision, &Precision::changed, this, [this] {
        beginResetModel();
        endResetModel();
    });
}

int PrecisionTableModel::rowOf(NodeId node) const {
    const Precision::NodeError* const row = m_precision.of(node);
    return row ? static_cast<int>(row - m_precision.report()->nodes.data()) : -1;
}

int PrecisionTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_precision.report() ? 0 : static_cast<int>(m_precision.report()->nodes.size());
}
int PrecisionTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QString PrecisionTableModel::text(int column, const Precision::NodeError& row, int number) const {
    const graph::Node& node = m_opened.graph().node(row.node);
    const graph::Expr& expr = m_opened.graph().expr(node.producer);
    const Precision::Stage stage = m_precision.stageOf(static_cast<std::size_t>(number));
    switch (column) {
        case Order: return QString::number(number + 1);
        case Node:
            return stage == Precision::Stage::BeforeEdits ? tr("%1 before its edit").arg(shown(node.name))
                                                          : shown(node.name);
        case Module: return moduleText(expr);
        case Operator: return stage == Precision::Stage::Edit ? tr("edit") : operatorText(expr);
        case Rounded: return row.isRounded ? tr("rounded") : QString();
        default: break;
    }
    if (!row.note.empty())
        return column == Sqnr ? QStringLiteral("\u2013") : column == Channels ? shown(row.note) : QString();
    switch (column) {
        case Sqnr:
        case Before: return context::decibelText(errorNumberOf(column, row));
        case Lost: {
            const double lost = errorNumberOf(column, row);
            return std::isfinite(lost) && lost != 0 ? tr("%1 dB").arg(lost, 0, 'f', 1) : QString();
        }
        case MaxAbsolute:
        case MaxRelative: return errorNumberText(errorNumberOf(column, row));
        default: break;
    }
    QStringList channels;
    for (const session::precision::ChannelError& one : row.channels)
        channels << tr("%1: %2").arg(QString::number(one.channel), context::decibelText(one.error.sqnr));
    return channels.join(QStringLiteral(", "));
}

QVariant PrecisionTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_opened.isOpen() || index.row() >= rowCount()) return {};
    const Precision::Report& report = *m_precision.report();
    const Precision::NodeError& row = report.nodes[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    if (role == NodeRole) return row.node.value;
    if (role == SeverityRole && static_cast<std::size_t>(index.row()) == m_precision.beginsRow())
        return static_cast<int>(base::Severity::Error);
    if (role == MutedRole) return !row.note.empty() || row.error.maxAbs == 0;
    if (role == Qt::TextAlignmentRole) return alignment(isErrorNumber(column));
    if (role == SortRole && column == Order) return index.row();
    if (role == SortRole && isErrorNumber(column)) {
        const double number = row.note.empty() ? errorNumberOf(column, row) : std::nan("");
        return std::isnan(number) ? QVariant() : QVariant(number);
    }
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != SortRole) return {};
    return text(column, row, index.row());
}

QVariant PrecisionTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[ColumnCount] = {QT_TR_NOOP("#"),
                                                    QT_TR_NOOP("Node"),
                                                    QT_TR_NOOP("Module"),
                                                    QT_TR_NOOP("Operator"),
                                                    QT_TR_NOOP("Rounded"),
                                                    QT_TR_NOOP("SQNR"),
                                                    QT_TR_NOOP("Inputs"),
                                                    QT_TR_NOOP("Lost here"),
                                                    QT_TR_NOOP("Max absolute"),
                                                    QT_TR_NOOP("Max relative"),
                                                    QT_TR_NOOP("Worst channels")};
    static const char* const tips[ColumnCount] = {
        QT_TR_NOOP("Order of execution"),
        nullptr,
        nullptr,
        nullptr,
        QT_TR_NOOP("The operation was chosen: what it reads and gives is rounded"),
        QT_TR_NOOP("10 log10(\u2211 r\u00b2 / \u2211 (a \u2212 r)\u00b2): a with rounding, r without"),
        QT_TR_NOOP("The same of what it was computed from, the worst"),
        QT_TR_NOOP("How much less that is than of the inputs: the error grows here"),
        QT_TR_NOOP("Maximum of |a \u2212 r|"),
        QT_TR_NOOP("Maximum of |a \u2212 r| / |r| where r is not 0"),
        QT_TR_NOOP("Of the nodes that are worst or lose most: the channels with the largest error")};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::TextAlignmentRole) return alignment(isErrorNumber(section));
    if (role == Qt::ToolTipRole && tips[section]) return tr(tips[section]);
    return role == Qt::DisplayRole ? tr(titles[section]) : QVariant();
}

}  // namespace sonde::models
