#pragma once

#include <QWidget>

#include "ui/models/difference_table_model.h"
#include "ui/models/node_table_model.h"
#include "ui/panels/panel_info.h"

class QBoxLayout;
class QCheckBox;
class QLineEdit;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace sonde::widgets {
class ElidedLabel;
class EmptyState;
}  // namespace sonde::widgets

namespace sonde::panels {

/// What a comparison found: how many values differ from what, and each with its errors. A row leads to its node. Shown
/// when there is something to show.
class ComparisonPanel : public QWidget {
    Q_OBJECT
  public:
    explicit ComparisonPanel(context::InspectorContext& context, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    const models::DifferenceTableModel& model() const { return m_model; }
    /// What is above the list.
    QString summary() const;
    /// The line below it, empty if there is none.
    QString remarks() const;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void refresh();
    void follow();
    void takeTolerance();
    void showTolerance();

    context::InspectorContext& m_context;
    models::DifferenceTableModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    QTableView* m_view;
    widgets::ElidedLabel* m_summary;
    widgets::ElidedLabel* m_remarks;
    widgets::EmptyState* m_empty;
    QCheckBox* m_all;
    QLineEdit* m_tolerance;
    QPushButton* m_reset;
    QPushButton* m_again;
    QBoxLayout* m_top = nullptr;
    bool m_following = false;
};

PanelInfo comparisonPanel();

}  // namespace sonde::panels
