#include "ui/models/difference_table_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/context/comparison.h"
#include "ui/context/open_model.h"
#include "ui/models/node_text.h"

namespace sonde::models {

using analysis::NodeDifference;
using context::Comparison;
using graph::NodeId;

namespace {

/// In order of execution, but that what comes out of control flow precedes what is in it: good enough to be read.
std::vector<NodeId> comparedNodes(const context::OpenModel& opened, const Comparison& comparison) {
    std::vector<NodeId> nodes;
    const graph::InternalGraph& graph = opened.graph();
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
        for (const NodeId node : graph.expr(id).outputs)
            if (comparison.lastOf(node)) nodes.push_back(node);
    return nodes;
}

}  // namespace

QString differenceText(int column, double number) {
    if (std::isnan(number)) return QStringLiteral("\u2013");
    switch (column) {
        case DifferenceTableModel::Cosine: return QString::number(number, 'f', 6);
        case DifferenceTableModel::Snr:
            // Of what should be 0 there is no signal: 10 log10(0).
            if (std::isinf(number)) return number > 0 ? QStringLiteral("\u221e dB") : QStringLiteral("\u2212\u221e dB");
            return QStringLiteral("%1 dB").arg(number, 0, 'f', 1);
        default: return std::isinf(number) ? QStringLiteral("\u221e") : QString::number(number, 'g', 3);
    }
}

DifferenceTableModel::DifferenceTableModel(context::OpenModel& opened, context::Comparison& comparison, QObject* parent)
    : QAbstractTableModel(parent), m_opened(opened), m_comparison(comparison) {
    connect(&comparison, &Comparison::changed, this, &DifferenceTableModel::reset);
    connect(&opened, &context::OpenModel::documentOpened, this, &DifferenceTableModel::reset);
    connect(&opened, &context::OpenModel::documentClosed, this, &DifferenceTableModel::reset);
    reset();
}

void DifferenceTableModel::reset() {
    beginResetModel();
    m_nodes.clear();
    const Comparison& comparison = m_comparison;
    if (m_opened.isOpen() && comparison.isKnown())
        m_nodes = m_showsAll ? comparedNodes(m_opened, m_comparison) : comparison.diverging();
    endResetModel();
}

void DifferenceTableModel::setShowsAll(bool all) {
    m_showsAll = all;
    reset();
}

int DifferenceTableModel::rowOf(NodeId node) const {
    const auto found = std::find(m_nodes.begin(), m_nodes.end(), node);
    return found == m_nodes.end() ? -1 : static_cast<int>(found - m_nodes.begin());
}

int DifferenceTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_nodes.size());
}
int DifferenceTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant DifferenceTableModel::number(int column, NodeId node) const {
    const NodeDifference* found = m_comparison.lastOf(node);
    if (!found) return {};
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    if (!found->isMeasured) return unknown;
    switch (column) {
        case MaxAbsolute: return found->maxAbsolute;
        case MaxRelative: return found->maxRelative;
        case Cosine: return found->cosine;
        default: return found->snr;
    }
}

QVariant DifferenceTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_opened.isOpen()) return {};
    const NodeId id = m_nodes[static_cast<std::size_t>(index.row())];
    const NodeDifference* found = m_comparison.lastOf(id);
    if (!found) return {};
    const graph::Node& node = m_opened.graph().node(id);
    const graph::Expr& expr = m_opened.graph().expr(node.producer);
    const int column = index.column();
    const bool isNumber = column >= MaxAbsolute && column <= Snr;
    if (role == NodeRole) return id.value;
    const bool isStale = m_comparison.isStale();
    if (role == MutedRole) return isStale;
    if (role == SeverityRole && !found->ok && !isStale)
        return static_cast<int>(found->isInherited ? base::Severity::Warning : base::Severity::Error);
    if (role == Qt::TextAlignmentRole) return alignment(isNumber || column == Order);
    if (role == SortRole && column == Order) return index.row();
    if (role == SortRole && isNumber) {
        const double value = number(column, id).toDouble();
        return std::isnan(value) ? QVariant() : QVariant(value);
    }
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != SortRole) return {};
    if (isNumber && role == Qt::ToolTipRole)
        return QStringList{shown(node.name), differenceText(column, number(column, id).toDouble()),
                           headerData(column, Qt::Horizontal, role).toString()}
            .join(u'\n');
    if (isNumber) return differenceText(column, number(column, id).toDouble());
    switch (column) {
        case Order: return QString::number(index.row() + 1);
        case Node: return shown(node.name);
        case Module: return moduleText(expr);
        case Operator: return operatorText(expr);
        case Result: return found->ok ? tr("agrees") : found->isInherited ? tr("inherited") : tr("first");
        default: return shown(found->remarks());
    }
}

QVariant DifferenceTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[ColumnCount] = {
        QT_TR_NOOP("#"),          QT_TR_NOOP("Node"),         QT_TR_NOOP("Module"),       QT_TR_NOOP("Operator"),
        QT_TR_NOOP("Difference"), QT_TR_NOOP("Max absolute"), QT_TR_NOOP("Max relative"), QT_TR_NOOP("Cosine"),
        QT_TR_NOOP("SNR"),        QT_TR_NOOP("Note")};
    static const char* const tips[ColumnCount] = {
        QT_TR_NOOP("Order of execution"),
        nullptr,
        nullptr,
        nullptr,
        QT_TR_NOOP("first: all inputs agree; inherited: an input already differs"),
        QT_TR_NOOP("Maximum of |a \u2212 r|: a in this run, r in the reference"),
        QT_TR_NOOP("Maximum of |a \u2212 r| / |r| where r is not 0"),
        QT_TR_NOOP("Cosine similarity of both values: 1 if they have the same direction"),
        QT_TR_NOOP("10 log10(\u2211 r\u00b2 / \u2211 (a \u2212 r)\u00b2): below about 40 dB the difference is visible"),
        QT_TR_NOOP("Why a value could not be compared element by element")};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::TextAlignmentRole) return alignment((section >= MaxAbsolute && section <= Snr) || section == Order);
    if (role == Qt::ToolTipRole && tips[section]) return tr(tips[section]);
    return role == Qt::DisplayRole ? tr(titles[section]) : QVariant();
}

}  // namespace sonde::models
