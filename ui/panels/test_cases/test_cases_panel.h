#pragma once

#include "ui/context/comparison.h"
#include "ui/context/navigation.h"
#include "ui/models/node_table_model.h"
#include "ui/models/test_case_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QStackedWidget;
class QTableView;

namespace sonde::widgets {
class ElidedLabel;
}  // namespace sonde::widgets

namespace sonde::panels {

/// The test cases of a dump: each output with its error. A row leads to what was checked, and brings its case's inputs.
/// Shown once they are run.
class TestCasesPanel : public Panel {
    Q_OBJECT
  public:
    TestCasesPanel(context::OpenModel& opened, context::Navigation& navigation, context::TestCases& cases,
                   context::Comparison& comparison, QWidget* parent = nullptr);
    /// Binds what the window does for the panel.
    void join(const PanelHost& host);
    QTableView* view() const { return m_view; }
    /// What is above the list.
    QString summary() const;

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void refresh();
    void follow();
    void choose(const QModelIndex& index);
    void fitColumns();

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::TestCases& m_cases;
    context::Comparison& m_comparison;
    bool m_rises = false;  ///< above the list of differences, which comes later
    models::TestCaseTableModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    QTableView* m_view;
    widgets::ElidedLabel* m_summary;
    bool m_following = false;
    int m_nameWidth = 0;  ///< of the columns of names, as fitted
};

PanelInfo testCasesPanel();

}  // namespace sonde::panels
