#pragma once

#include "ui/context/breakpoints.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/models/breakpoint_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace sonde::panels {

/// The breakpoints and log points in one list, and a line to add one: where, and under which condition. A row leads to
/// its node. An error is shown below the list, its column underlined.
class BreakpointsPanel : public Panel {
    Q_OBJECT
  public:
    BreakpointsPanel(context::OpenModel& opened, context::Navigation& navigation, context::Breakpoints& breakpoints,
                     QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    const models::BreakpointTableModel& model() const { return m_model; }
    /// What is below the list; empty if nothing is.
    QString errorText() const;

    void join(const PanelHost& host);
    /// As if it was typed: "fc1 if max(fc1) > 3".
    base::Result<void> addLine(const QString& line, bool isLog);

  private:
    void add();
    void refresh();
    void removeSelected();
    void setEnabledSelected();
    void editCondition();
    void goTo(const QModelIndex& index);
    void showError(const base::Error* error);
    void showErrorOfRow();
    std::vector<int> selectedIds() const;
    void enterPlace(const QString& place, bool isLog);
    void bindEvents(const PanelHost& host);

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Breakpoints& m_breakpoints;
    models::BreakpointTableModel m_model;
    QStackedWidget* m_stack;
    QTableView* m_view;
    QLineEdit* m_where;
    QLineEdit* m_expression;
    QCheckBox* m_isLog;
    QPushButton* m_add;
    QLabel* m_error;
    bool m_isTypedError = false;  ///< of what was typed last, not of the row
};

PanelInfo breakpointsPanel();

}  // namespace sonde::panels
