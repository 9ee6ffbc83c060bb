#pragma once

#include "ui/context/inputs.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/models/instance_table_model.h"
#include "ui/models/node_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QLabel;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace sonde::panels {

/// One value in all of the repeated blocks around it, side by side. A row leads to the value in its block.
class InstancesPanel : public Panel {
    Q_OBJECT
  public:
    InstancesPanel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                   context::Inputs& inputs, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    const models::InstanceTableModel& model() const { return m_model; }

  private:
    void follow();

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    models::InstanceTableModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    QTableView* m_view;
    QLabel* m_title;
    QPushButton* m_compute;
};

PanelInfo instancesPanel();

}  // namespace sonde::panels
