#pragma once

#include <QAbstractTableModel>

#include <optional>
#include <vector>

#include "ui/context/open_model.h"
#include "ui/context/test_cases.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// What running the test cases of a dump gave: a row for each output of each case, and one for a case that has nothing
/// to check or failed.
class TestCaseTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Case, Output, Node, Error, Allowed, Result, ColumnCount };

    TestCaseTableModel(context::OpenModel& opened, context::TestCases& cases, QObject* parent = nullptr);

    std::size_t caseOf(int row) const { return m_rows[static_cast<std::size_t>(row)].index; }
    /// The first row of a case that differs, else its first; -1: it has none.
    int rowOf(std::size_t index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct Row {
        std::size_t index = 0;             ///< of the case
        std::optional<std::size_t> check;  ///< of the case's checks; none: the row is about the case
    };
    void reset();
    const session::CaseResult& resultOf(const Row& row) const { return m_cases.results()[row.index]; }
    const session::CheckedOutput* checkOf(const Row& row) const;
    QVariant text(const Row& row, int column) const;

    context::OpenModel& m_opened;
    context::TestCases& m_cases;
    std::vector<Row> m_rows;
};

}  // namespace sonde::models
