#include "ui/models/sweep_table_model.h"

#include <cmath>
#include <limits>

#include "ui/context/window_hint.h"
#include "ui/models/short_text.h"

namespace sonde::models {

using session::SweepRow;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct StatisticText {
    const char* name;
    const char* formula;
};
/// In the order of the columns of a node.
constexpr StatisticText kStatisticTexts[SweepTableModel::kStatistics] = {
    {"min", QT_TRANSLATE_NOOP("SweepTableModel", "Smallest finite element")},
    {"max", QT_TRANSLATE_NOOP("SweepTableModel", "Largest finite element")},
    {"mean", QT_TRANSLATE_NOOP("SweepTableModel", "\u03bc = \u03a3x / n of the finite elements")},
    {"std", QT_TRANSLATE_NOOP("SweepTableModel", "\u221a(\u03a3(x \u2212 \u03bc)\u00b2 / n) of the finite elements")},
    {"nan", QT_TRANSLATE_NOOP("SweepTableModel", "Count of elements that are NaN")},
    {"inf", QT_TRANSLATE_NOOP("SweepTableModel", "Count of elements that are infinite")}};

}  // namespace

QString sweepStatisticText(int which) { return QLatin1String(kStatisticTexts[which].name); }

SweepTableModel::SweepTableModel(context::Sweeps& sweeps, QObject* parent)
    : QAbstractTableModel(parent), m_sweeps(sweeps) {
    connect(&sweeps, &context::Sweeps::reset, this, &SweepTableModel::reset);
    connect(&sweeps, &context::Sweeps::rowsAdded, this, [this] {
        const int count = static_cast<int>(m_sweeps.rows().size());
        beginInsertRows({}, m_rows, count - 1);
        m_rows = count;
        endInsertRows();
    });
    reset();
}

void SweepTableModel::reset() {
    beginResetModel();
    m_rows = static_cast<int>(m_sweeps.rows().size());
    m_columns = m_nodes = 0;
    m_condition = m_label = m_predicted = -1;
    if (m_sweeps.isKnown()) {
        const session::Sweep& sweep = m_sweeps.sweep();
        m_nodes = static_cast<int>(sweep.nodes().size());
        m_columns = 1 + m_nodes * kStatistics;
        if (sweep.hasCondition()) m_condition = m_columns++;
        if (sweep.hasLabels()) m_label = m_columns++, m_predicted = m_columns++;
        ++m_columns;  // the error
    }
    endResetModel();
}

SweepTableModel::Statistic SweepTableModel::statisticOf(int column) const {
    if (column < 1 || column > m_nodes * kStatistics) return {};
    return {(column - 1) / kStatistics, (column - 1) % kStatistics};
}

double SweepTableModel::number(int index, const Statistic& statistic) const {
    if (index < 0 || index >= m_rows || statistic.node < 0 || statistic.node >= m_nodes) return kNone;
    const SweepRow& row = m_sweeps.rows()[static_cast<std::size_t>(index)];
    const auto node = static_cast<std::size_t>(statistic.node);
    if (row.error || node >= row.stats.size() || !row.stats[node]) return kNone;
    const analysis::TensorStats& stats = *row.stats[node];
    if (statistic.which == 4) return static_cast<double>(stats.nanCount);
    if (statistic.which == 5) return static_cast<double>(stats.infCount);
    if (stats.finiteCount() == 0) return kNone;
    switch (statistic.which) {
        case 0: return stats.minimum;
        case 1: return stats.maximum;
        case 2: return stats.mean;
        default: return stats.deviation;
    }
}

int SweepTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_rows; }
int SweepTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_columns; }

QString SweepTableModel::text(const SweepRow& row, int column) const {
    if (column == kInput) return shown(row.input);
    if (column == m_condition)
        return row.condition ? (*row.condition ? QStringLiteral("true") : QStringLiteral("false")) : QString();
    if (column == m_label) return shown(row.label);
    if (column == m_predicted) return QString::fromStdString(row.predictedText());
    if (row.error) return context::windowText(*row.error);
    return shown(row.labelError);
}

QVariant SweepTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= m_rows) return {};
    const SweepRow& row = m_sweeps.rows()[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    const Statistic statistic = statisticOf(column);
    const bool isNumber = statistic.node >= 0;
    if (role == Qt::TextAlignmentRole) return alignment(isNumber || column == m_predicted);
    if (role == SeverityRole && row.error) return static_cast<int>(base::Severity::Error);
    if (role == SeverityRole && (row.condition == false || !row.labelError.empty()))
        return static_cast<int>(base::Severity::Warning);
    if (role == SortRole && column == kInput) return index.row();
    if (role == SortRole && column == m_predicted && row.predicted.size() == 1 && row.predicted.front())
        return static_cast<qlonglong>(*row.predicted.front());
    // Whichever cell is pointed at: the column with the reason may be out of sight.
    if (role == Qt::ToolTipRole && row.error)
        return QString(shown(row.input) + u'\n' + context::windowText(*row.error));
    if (isNumber) {
        const double value = number(index.row(), statistic);
        if (role == SortRole) return std::isnan(value) ? QVariant() : QVariant(value);
        if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
        if (role == Qt::ToolTipRole)
            return QStringList{shown(row.input),
                               std::isnan(value) ? tr("no finite element") : QString::number(value, 'g', 17),
                               headerData(column, Qt::Horizontal, role).toString()}
                .join(u'\n');
        return std::isnan(value) ? QStringLiteral("\u2013") : QString::number(value, 'g', 6);
    }
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != SortRole) return {};
    const QString own = text(row, column);
    if (role != Qt::ToolTipRole || (column != m_condition && column != m_predicted) || own.isEmpty()) return own;
    return QString(own + u'\n' + headerData(column, Qt::Horizontal, role).toString());
}

QVariant SweepTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= m_columns) return {};
    const Statistic statistic = statisticOf(section);
    if (role == Qt::TextAlignmentRole) return alignment(statistic.node >= 0 || section == m_predicted);
    if (role == Qt::ToolTipRole) {
        if (section == m_condition) return shown(m_sweeps.choice().condition.toStdString());
        if (section == m_predicted) return tr("Index of the largest element of the first output");
        if (section == m_label) return tr("Index of the class, from the file of labels");
        if (statistic.node < 0) return {};
        // All of what a narrow column cuts.
        return QString(headerData(section, orientation, Qt::DisplayRole).toString() + u'\n' +
                       tr(kStatisticTexts[statistic.which].formula));
    }
    if (role != Qt::DisplayRole) return {};
    if (statistic.node >= 0)
        return shown(m_sweeps.sweep().nodes()[static_cast<std::size_t>(statistic.node)].first) + u'.' +
               sweepStatisticText(statistic.which);
    return section == kInput        ? tr("Input")
           : section == m_condition ? tr("Condition")
           : section == m_label     ? tr("Label")
           : section == m_predicted ? tr("Predicted")
                                    : tr("Error");
}

}  // namespace sonde::models
