#pragma once

#include <QWidget>

#include "ui/models/node_table_model.h"
#include "ui/models/operator_table_model.h"
#include "ui/panels/panel_info.h"

class QTableView;

namespace sonde::widgets {
class ElidedLabel;
}

namespace sonde::panels {

/// The operators of the model with how often they are there; a row selects all their nodes and marks them.
class OperatorsPanel : public QWidget {
    Q_OBJECT
  public:
    explicit OperatorsPanel(context::InspectorContext& context, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    const models::OperatorTableModel& model() const { return m_model; }

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    void choose(const QModelIndex& row);
    void count();

    context::InspectorContext& m_context;
    models::OperatorTableModel m_model;
    models::TableFilter m_proxy;
    QTableView* m_view;
    widgets::ElidedLabel* m_count;
};

PanelInfo operatorsPanel();

}  // namespace sonde::panels
