#pragma once

#include <QTimer>
#include <QWidget>

#include "ui/context/inputs.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/points.h"
#include "ui/context/runs.h"
#include "ui/models/node_table_model.h"
#include "ui/models/watch_list_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QStackedWidget;
class QTabWidget;
class QTableView;

namespace sonde::panels {

/// One list of nodes with their values: the watch points, or the end points.
class NodeValueTable : public QWidget {
    Q_OBJECT
  public:
    NodeValueTable(context::OpenModel& opened, context::Navigation& navigation, context::Points& points,
                   context::Runs& runs, context::Inputs& inputs, models::WatchListModel::Kind kind,
                   QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    models::WatchListModel& model() { return m_model; }

  private:
    void removeSelected();
    void follow(const context::Selection& selection);
    void widenToNumbers();

    context::Navigation& m_navigation;
    context::Points& m_points;
    models::WatchListModel::Kind m_kind;
    models::WatchListModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    QTableView* m_view;
    QTimer m_widen;  ///< of the columns
    bool m_following = false;
};

/// Watch points and end points, each with what the last run left in them.
class WatchListPanel : public Panel {
    Q_OBJECT
  public:
    WatchListPanel(context::OpenModel& opened, context::Navigation& navigation, context::Points& points,
                   context::Runs& runs, context::Inputs& inputs, QWidget* parent = nullptr);
    NodeValueTable* watches() const { return m_watches; }
    NodeValueTable* ends() const { return m_ends; }

  private:
    context::Points& m_points;
    QTabWidget* m_tabs;
    NodeValueTable* m_watches;
    NodeValueTable* m_ends;
};

PanelInfo watchListPanel();

}  // namespace sonde::panels
