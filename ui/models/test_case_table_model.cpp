#include "ui/models/test_case_table_model.h"

#include <cmath>
#include <utility>

#include "ui/models/node_text.h"

namespace sonde::models {

using session::CaseResult;
using session::CheckedOutput;

TestCaseTableModel::TestCaseTableModel(context::OpenModel& opened, context::TestCases& cases, QObject* parent)
    : QAbstractTableModel(parent), m_opened(opened), m_cases(cases) {
    connect(&cases, &context::TestCases::changed, this, &TestCaseTableModel::reset);
    connect(&opened, &context::OpenModel::documentOpened, this, &TestCaseTableModel::reset);
    connect(&opened, &context::OpenModel::documentClosed, this, &TestCaseTableModel::reset);
    reset();
}

int TestCaseTableModel::rowOf(std::size_t index) const {
    int found = -1;
    for (std::size_t row = 0; row < m_rows.size(); ++row) {
        if (m_rows[row].index != index) continue;
        const CheckedOutput* const check = checkOf(m_rows[row]);
        if (found < 0) found = static_cast<int>(row);
        if (check && !check->ok()) return static_cast<int>(row);
    }
    return found;
}

/// Another case that is shown changes no row.
void TestCaseTableModel::reset() {
    std::vector<Row> rows;
    const std::vector<CaseResult>& results = m_cases.results();
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].checks.empty()) rows.push_back({i, std::nullopt});
        for (std::size_t check = 0; check < results[i].checks.size(); ++check) rows.push_back({i, check});
    }
    const bool isSame = rows.size() == m_rows.size() &&
                        std::equal(rows.begin(), rows.end(), m_rows.begin(),
                                   [](const Row& a, const Row& b) { return a.index == b.index && a.check == b.check; });
    if (isSame && !rows.empty()) {
        Q_EMIT dataChanged(index(0, 0), index(static_cast<int>(rows.size()) - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

const CheckedOutput* TestCaseTableModel::checkOf(const Row& row) const {
    return row.check ? &resultOf(row).checks[*row.check] : nullptr;
}

int TestCaseTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int TestCaseTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant TestCaseTableModel::text(const Row& row, int column) const {
    const CheckedOutput* const check = checkOf(row);
    const CaseResult& result = resultOf(row);
    switch (column) {
        case Case: return QString::number(row.index);
        case Output: return check ? shown(check->name) : QString();
        case Node: return check ? shown(m_opened.graph().node(check->node).name) : QString();
        case Error: return check ? QString::number(check->difference, 'g', 6) : QString();
        case Allowed: return check ? QString::number(check->maxError, 'g', 6) : QString();
        default:
            if (check) return check->ok() ? tr("agrees") : tr("differs");
            return result.error ? shown(result.error->what) : tr("ran; no expected values");
    }
}

QVariant TestCaseTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !m_opened.isOpen()) return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    if (row.index >= m_cases.results().size()) return {};
    const CheckedOutput* const check = checkOf(row);
    const int column = index.column();
    const bool isNumber = column == Case || column == Error || column == Allowed;
    if (role == NodeRole) return check ? QVariant(check->node.value) : QVariant();
    if (role == SeverityRole && (check ? !check->ok() : resultOf(row).error.has_value()))
        return static_cast<int>(base::Severity::Error);
    if (role == Qt::TextAlignmentRole) return alignment(isNumber);
    if (role == SortRole && column == Case) return static_cast<qulonglong>(row.index);
    if (role == SortRole && check && (column == Error || column == Allowed)) {
        const double number = column == Error ? check->difference : check->maxError;
        return std::isnan(number) ? QVariant() : QVariant(number);
    }
    if (role == Qt::ToolTipRole && m_cases.shown() == row.index)
        return QString(text(row, column).toString() + u'\n' + tr("The window has the inputs of this case"));
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole || role == SortRole) return text(row, column);
    return {};
}

QVariant TestCaseTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[ColumnCount] = {QT_TR_NOOP("Case"),  QT_TR_NOOP("Output"),  QT_TR_NOOP("Node"),
                                                    QT_TR_NOOP("Error"), QT_TR_NOOP("Allowed"), QT_TR_NOOP("Result")};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section == Case || section == Error || section == Allowed);
    if (role == Qt::ToolTipRole && section == Case) return tr("Counted from 0");
    if (role == Qt::ToolTipRole && section == Error)
        return tr("Maximum of |e \u2212 g| / max(min(|e|, |g|), 1): e in the test case, g in this run");
    return role == Qt::DisplayRole ? tr(titles[section]) : QVariant();
}

}  // namespace sonde::models
