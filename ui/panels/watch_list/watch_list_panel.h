#pragma once

#include <QWidget>

#include "ui/models/node_table_model.h"
#include "ui/models/watch_list_model.h"
#include "ui/panels/panel_info.h"

class QStackedWidget;
class QTabWidget;
class QTableView;

namespace sonde::panels {

/// One list of nodes with their values: the watch points, or the end points.
class NodeValueTable : public QWidget {
    Q_OBJECT
  public:
    NodeValueTable(context::InspectorContext& context, models::WatchListModel::Kind kind, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    models::WatchListModel& model() { return m_model; }

  private:
    void removeSelected();
    void follow(const context::Selection& selection);

    context::InspectorContext& m_context;
    models::WatchListModel::Kind m_kind;
    models::WatchListModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    QTableView* m_view;
    bool m_following = false;
};

/// Watch points and end points, each with what the last run left in them.
class WatchListPanel : public QWidget {
    Q_OBJECT
  public:
    explicit WatchListPanel(context::InspectorContext& context, QWidget* parent = nullptr);
    NodeValueTable* watches() const { return m_watches; }
    NodeValueTable* ends() const { return m_ends; }

  private:
    context::InspectorContext& m_context;
    QTabWidget* m_tabs;
    NodeValueTable* m_watches;
    NodeValueTable* m_ends;
};

PanelInfo watchListPanel();

}  // namespace sonde::panels
