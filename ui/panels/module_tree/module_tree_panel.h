#pragma once

#include "ui/context/breakpoints.h"
#include "ui/context/canvases.h"
#include "ui/context/debugger.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/models/module_tree_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QTreeView;

namespace sonde::widgets {
class SearchField;
}

namespace sonde::panels {

/// The model's own modules as a tree, in step with the canvas: selecting shows the module there, double-click and
/// Return open or close its box.
class ModuleTreePanel : public Panel {
    Q_OBJECT
  public:
    ModuleTreePanel(context::OpenModel& opened, context::Navigation& navigation, context::Canvases& canvases,
                    context::Debugger& debugger, context::Breakpoints& breakpoints, QWidget* parent = nullptr);
    QTreeView* view() const { return m_view; }
    widgets::SearchField* filter() const { return m_filter; }

    /// Binds what the window does for the panel, and the menu of the tree.
    void join(const PanelHost& host);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void fitColumns();
    void showMenu(const QPoint& at, actions::ActionRegistry& actions);
    void follow(const context::Selection& selection);
    void followPoints();
    void choose(const QModelIndex& index);
    void toggleInCanvas(const QModelIndex& index);

    context::Navigation& m_navigation;
    context::Canvases& m_canvases;
    context::Breakpoints& m_breakpoints;
    models::ModuleTreeModel m_model;
    models::ModuleFilter m_proxy;
    widgets::SearchField* m_filter;
    QTreeView* m_view;
    bool m_following = false;  ///< the selection comes from elsewhere: do not send it back
};

PanelInfo moduleTreePanel();

}  // namespace sonde::panels
