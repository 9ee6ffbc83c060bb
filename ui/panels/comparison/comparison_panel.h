#pragma once

#include "ui/context/comparison.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/models/difference_table_model.h"
#include "ui/models/node_table_model.h"
#include "ui/panels/panel.h"
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
class ComparisonPanel : public Panel {
    Q_OBJECT
  public:
    ComparisonPanel(context::OpenModel& opened, context::Navigation& navigation, context::Comparison& comparison,
                    QWidget* parent = nullptr);
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
    void giveTyped();
    void showTolerance();

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Comparison& m_comparison;
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
