#pragma once

#include "ui/context/comparison.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/context/value_measures.h"
#include "ui/models/node_table_model.h"
#include "ui/models/operator_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QTableView;

namespace sonde::widgets {
class ElidedLabel;
}

namespace sonde::panels {

/// The operators of the model with how often they are there; a row selects all their nodes and marks them.
class OperatorsPanel : public Panel {
    Q_OBJECT
  public:
    OperatorsPanel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                   context::Inputs& inputs, context::ValueMeasures& statistics, context::Comparison& comparison,
                   QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    const models::OperatorTableModel& model() const { return m_model; }

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    void choose(const QModelIndex& row);
    void count();

    context::Navigation& m_navigation;
    models::OperatorTableModel m_model;
    models::TableFilter m_proxy;
    QTableView* m_view;
    widgets::ElidedLabel* m_count;
};

PanelInfo operatorsPanel();

}  // namespace sonde::panels
