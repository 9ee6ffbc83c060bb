#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "ui/context/bisection.h"
#include "ui/context/open_model.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// What a bisection found: the values that the part begins with, its operations in order of execution, and what else
/// differs by itself. Nodes are those of the open model; one that it lacks has its name and leads nowhere.
class BisectionTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Node, Role, Module, Operator, ColumnCount };

    BisectionTableModel(context::OpenModel& opened, context::Bisection& bisection, QObject* parent = nullptr);

    int rowOf(graph::NodeId node) const;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    enum class Kind { Given, Part, Differs, Too };
    struct Row {
        graph::NodeId node;  ///< of the outcome
        graph::NodeId here;  ///< of the open model
        Kind kind = Kind::Part;
    };
    void reset();

    context::OpenModel& m_opened;
    context::Bisection& m_bisection;
    std::shared_ptr<const context::Bisection::Outcome> m_outcome;  ///< that the rows are of
    std::vector<Row> m_rows;
};

}  // namespace sonde::models
