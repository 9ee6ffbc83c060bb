#pragma once

#include <QAbstractTableModel>

#include <string>
#include <vector>

#include "ui/context/inputs.h"
#include "ui/context/open_model.h"
#include "ui/context/points.h"
#include "ui/context/runs.h"
#include "ui/context/watches.h"
#include "ui/models/node_stats.h"
#include "ui/models/roles.h"

namespace sonde::models {

/// The watch points or the end points in the order in which they were set, with what the last run left in them. Behind
/// them what the model has no node for, then watched groups (modules, queries), then expressions.
class WatchListModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum class Kind { Watches, Ends };
    // clang-format off
    enum Column {
        NameColumn, ModuleColumn, OperatorColumn, ShapeColumn, DTypeColumn, MinColumn, MaxColumn, MeanColumn,
        DeviationColumn, NanColumn, InfColumn, ZeroColumn, ValueColumn, HistoryColumn, KeptColumn, ChangeColumn,
        ColumnCount
    };
    // clang-format on

    /// What a row is of.
    struct Row {
        enum class Kind { Node, Missing, Group, Expression } kind = Kind::Node;
        graph::NodeId node;         ///< of Node
        std::string name;           ///< of Missing: the identity as a text
        session::WatchGroup group;  ///< of Group
        int expression = 0;         ///< of Expression: its id

        bool operator==(const Row&) const = default;
    };

    /// `watches`: null of a list of nodes alone.
    WatchListModel(context::OpenModel& opened, context::Points& points, context::Runs& runs, context::Inputs& inputs,
                   Kind kind, context::Watches* watches = nullptr, QObject* parent = nullptr);

    const Row& row(int row) const { return m_rows[static_cast<std::size_t>(row)]; }
    /// None of a row that is of no node.
    graph::NodeId node(int row) const { return this->row(row).node; }
    int rowOf(graph::NodeId node) const;
    /// Whether edits have moved any of the values, or may have.
    bool hasChanges() const;
    int rowOfExpression(int id) const;
    const NodeStats& stats() const { return m_stats; }
    /// What a row was in the last runs; empty if it has no history. Of a node the measure that it has a column of.
    std::vector<std::optional<double>> series(int row, session::Measure measure = session::Measure::Mean) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    std::vector<Row> rowsNow() const;
    void update();
    void refresh();
    QVariant text(const Row& row, int column) const;
    QVariant nodeText(graph::NodeId node, int column) const;
    QVariant groupText(const Row& row, int column) const;
    QVariant expressionText(const Row& row, int column) const;
    QVariant sortKey(const Row& row, int column) const;
    QVariant severity(const Row& row, int column) const;
    QString toolTip(const Row& row, int column) const;
    QString historyText(const Row& row) const;
    /// Of the value, or what is left of it.
    const analysis::TensorStats* statsOf(graph::NodeId node) const;

    context::OpenModel& m_opened;
    context::Points& m_points;
    context::Runs& m_runs;
    context::Watches* m_watches;
    Kind m_kind;
    std::vector<Row> m_rows;
    NodeStats m_stats;
};

}  // namespace sonde::models
