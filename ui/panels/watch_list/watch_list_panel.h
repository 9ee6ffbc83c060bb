#pragma once

#include <QTimer>
#include <QWidget>

#include "ui/context/inputs.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/points.h"
#include "ui/context/runs.h"
#include "ui/context/watches.h"
#include "ui/models/node_table_model.h"
#include "ui/models/watch_list_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QLabel;
class QSplitter;
class QStackedWidget;
class QTabWidget;
class QTableView;
class QToolButton;

namespace sonde::panels {

class WatchHistory;

/// One list of nodes with their values: the watch points with groups and expressions, or the end points.
class NodeValueTable : public QWidget {
    Q_OBJECT
  public:
    NodeValueTable(context::OpenModel& opened, context::Navigation& navigation, context::Points& points,
                   context::Runs& runs, context::Inputs& inputs, models::WatchListModel::Kind kind,
                   context::Watches* watches = nullptr, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    models::WatchListModel& model() { return m_model; }
    /// The history of the current row, beside the table; null of a list without.
    QWidget* history() const;
    /// A new expression, which is being typed.
    void addExpression();
    void setHistoryVisible(bool visible);
    /// Of the current row, if that is an expression: types it anew; shows its result on the selected node, or no
    /// longer.
    void editCurrent();
    void pinCurrent();

  private:
    void addActions();
    void removeSelected();
    int sourceRow(const QModelIndex& index) const { return m_proxy.mapToSource(index).row(); }
    void follow(const context::Selection& selection);
    void widenToNumbers();

    const context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Points& m_points;
    context::Watches* m_watches;
    models::WatchListModel::Kind m_kind;
    models::WatchListModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    QTableView* m_view;
    QSplitter* m_splitter = nullptr;
    WatchHistory* m_history = nullptr;
    QTimer m_widen;  ///< of the columns
    bool m_following = false;
};

/// Watch points and end points, each with what the last run left in them.
class WatchListPanel : public Panel {
    Q_OBJECT
  public:
    WatchListPanel(context::OpenModel& opened, context::Navigation& navigation, context::Points& points,
                   context::Runs& runs, context::Inputs& inputs, context::Watches& watches, QWidget* parent = nullptr);
    NodeValueTable* watches() const { return m_watches; }
    NodeValueTable* ends() const { return m_ends; }

    /// What is kept of values, the memory budget, and the count of runs.
    QToolButton* options() const { return m_options; }
    void addExpression();

  private:
    QWidget* makeCorner();
    void fillOptions();

    context::Points& m_points;
    context::Watches& m_context;
    QToolButton* m_options = nullptr;
    QToolButton* m_clear = nullptr;
    QLabel* m_budget = nullptr;  ///< what did not fit
    QTabWidget* m_tabs;
    NodeValueTable* m_watches;
    NodeValueTable* m_ends;
};

PanelInfo watchListPanel();

}  // namespace sonde::panels
