#include "ui/models/model_difference_table_model.h"

#include <algorithm>

#include "core/session/info_formulas.h"
#include "ui/models/difference_table_model.h"
#include "ui/models/short_text.h"

namespace sonde::models {

using session::DifferenceRow;
using Kinds = session::DifferenceRow::Kind;

namespace {

struct KindText {
    const char* text;
    const char* tip;
};
/// In the order of DifferenceRow::Kind; the sign is the one on the canvases.
constexpr KindText kKinds[] = {
    {QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "+ added"),
     QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "Only the second model has this operation")},
    {QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "\u2212 removed"),
     QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "Only the first model has this operation")},
    {QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "~ changed"),
     QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "Another operator, attribute, constant or input")},
    {QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "\u2192 moved"),
     QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "In another module, or behind other operations")},
    {QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "parameter"),
     QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "The weights or buffers of both models differ")},
    {QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "value"),
     QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "On one input the values differ by more than the tolerance")},
    {QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "cost"),
     QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "Another figure of the whole model")},
    {QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "metadata"),
     QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "The files say something else of themselves")},
    {QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "not compared"),
     QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "No difference: operations that were not compared one by one")},
    {QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "other form"),
     QT_TRANSLATE_NOOP("ModelDifferenceTableModel", "No difference: other operators that compute the same")},
};

}  // namespace

ModelDifferenceTableModel::ModelDifferenceTableModel(context::SecondModel& second, QObject* parent)
    : QAbstractTableModel(parent), m_second(second), m_rows(second.rows()) {
    connect(&second, &context::SecondModel::rowsChanged, this, [this] {
        beginResetModel();
        m_rows = m_second.rows();
        endResetModel();
    });
}

const DifferenceRow* ModelDifferenceTableModel::row(int index) const {
    return index < 0 || index >= static_cast<int>(m_rows.size()) ? nullptr : &m_rows[static_cast<std::size_t>(index)];
}

int ModelDifferenceTableModel::rowOf(graph::NodeId first, graph::NodeId second) const {
    const auto found = std::ranges::find_if(m_rows, [&](const DifferenceRow& row) {
        return (row.a.valid() && row.a == first) || (row.b.valid() && row.b == second);
    });
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

int ModelDifferenceTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int ModelDifferenceTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QString ModelDifferenceTableModel::text(const DifferenceRow& row, int column) const {
    const auto number = [column](const std::optional<double>& value) {
        return value ? differenceText(column == MaxAbsolute ? DifferenceTableModel::MaxAbsolute
                                                            : DifferenceTableModel::MaxRelative,
                                      *value)
                     : QString();
    };
    switch (column) {
        case Kind: return tr(kKinds[static_cast<std::size_t>(row.kind)].text);
        case First: return shown(row.first);
        case Second: return shown(row.second);
        case What: return shown(row.note.empty() ? row.what : row.what + " (" + row.note + ")");
        case MaxAbsolute: return number(row.maxAbs);
        case MaxRelative: return number(row.maxRel);
        default: return {};
    }
}

/// The cell, how its figure is made, and what the row leads to.
QString ModelDifferenceTableModel::toolTip(const DifferenceRow& row, int column) const {
    QStringList lines;
    if (const QString own = text(row, column); !own.isEmpty()) lines << own;
    if (column == Kind) lines << tr(kKinds[static_cast<std::size_t>(row.kind)].tip);
    else if (row.kind == Kinds::Cost) lines << QString::fromStdString(session::infoFormula(row.what));
    else if (!lines.isEmpty()) lines << headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString();
    const auto count = static_cast<int>(row.nodesA.size() + row.nodesB.size());
    const bool isNoDifference = row.kind == Kinds::NotCompared || row.kind == Kinds::OtherForm;
    if (count > 0 && isNoDifference) lines << tr("Click to select the %1 nodes").arg(count);
    else if (count > 0)
        lines << (count == 1 ? tr("Click to select the node that makes the difference")
                             : tr("Click to select the %1 nodes that make the difference").arg(count));
    lines.removeAll(QString());
    return lines.join(u'\n');
}

QVariant ModelDifferenceTableModel::data(const QModelIndex& index, int role) const {
    const DifferenceRow* found = index.isValid() ? row(index.row()) : nullptr;
    if (!found) return {};
    const int column = index.column();
    const bool isNumber = column >= MaxAbsolute;
    if (role == NodeRole && found->a.valid()) return found->a.value;
    if (role == MutedRole) return !found->a.valid() && !found->b.valid();
    if (role == Qt::TextAlignmentRole) return alignment(isNumber || column == Order);
    if (column == Order && (role == SortRole || role == Qt::DisplayRole))
        return role == SortRole ? QVariant(index.row()) : QVariant(QString::number(index.row() + 1));
    if (role == SortRole && isNumber) {
        const std::optional<double>& value = column == MaxAbsolute ? found->maxAbs : found->maxRel;
        return value ? QVariant(*value) : QVariant();
    }
    if (role == Qt::ToolTipRole) return toolTip(*found, column);
    if (role != Qt::DisplayRole && role != SortRole) return {};
    return text(*found, column);
}

QVariant ModelDifferenceTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[ColumnCount] = {
        QT_TR_NOOP("#"),    QT_TR_NOOP("Kind"),         QT_TR_NOOP("First"),       QT_TR_NOOP("Second"),
        QT_TR_NOOP("What"), QT_TR_NOOP("Max absolute"), QT_TR_NOOP("Max relative")};
    static const char* const tips[ColumnCount] = {
        QT_TR_NOOP("Structure in order of execution, then parameters, values, cost and metadata"),
        QT_TR_NOOP("What differs: operations, parameters, values, a figure of the cost, or metadata"),
        QT_TR_NOOP("The node or figure of the first model"),
        QT_TR_NOOP("The node or figure of the second model"),
        nullptr,
        QT_TR_NOOP("Maximum of |b \u2212 a|: a in the first model, b in the second"),
        QT_TR_NOOP("Maximum of |b \u2212 a| / |a| where a is not 0")};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section >= MaxAbsolute || section == Order);
    if (role == Qt::ToolTipRole && tips[section]) return tr(tips[section]);
    return role == Qt::DisplayRole ? tr(titles[section]) : QVariant();
}

}  // namespace sonde::models
