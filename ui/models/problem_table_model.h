#pragma once

#include <QAbstractTableModel>

#include "ui/context/debugged_problems.h"
#include "ui/context/open_model.h"
#include "ui/context/problems.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// Everything wrong in the last run and against the reference of the last comparison, or in a debugged run so far: a
/// row for each, origins first in order of execution.
class ProblemTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Kind, Role, Node, Module, Message, ColumnCount };

    /// `debugged`: listed while a run is debugged.
    ProblemTableModel(context::OpenModel& opened, context::Problems& problems,
                      const context::DebuggedProblems& debugged, QObject* parent = nullptr);

    /// Null if there is no such row.
    const analysis::Problem* problem(int row) const;
    /// The first of a node; -1: it has none.
    int rowOf(graph::NodeId node) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    void reset();

    context::OpenModel& m_opened;
    std::vector<analysis::Problem> m_rows;
    context::Problems& m_problems;
    const context::DebuggedProblems& m_debugged;
};

}  // namespace sonde::models
