#pragma once

#include <functional>

#include "ui/context/edits.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/models/edit_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QStackedWidget;
class QTableView;

namespace sonde::context {
class Debugger;
class Lessons;
}  // namespace sonde::context

namespace sonde::widgets {
class ElidedLabel;
}  // namespace sonde::widgets

namespace sonde::panels {

class EditForm;

/// What if: the edits of values in one list, and a line to make one. A row leads to its node.
class EditsPanel : public Panel {
    Q_OBJECT
  public:
    EditsPanel(context::OpenModel& opened, context::Navigation& navigation, context::Edits& edits,
               context::Debugger& debugger, const context::Lessons& lessons, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    const models::EditTableModel& model() const { return m_model; }
    EditForm* form() const { return m_form; }
    /// Whether what is shown has the edits.
    QString stateText() const;

    void join(const PanelHost& host);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void buildTools();
    void arrange();
    void refresh();
    void goTo(const QModelIndex& index);
    void removeSelected();
    void switchSelected();
    void saveModel();
    void raiseFirst();

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Edits& m_edits;
    context::Debugger& m_debugger;
    const context::Lessons& m_lessons;
    models::EditTableModel m_model;
    EditForm* m_form;
    QStackedWidget* m_stack;
    QTableView* m_view;
    QWidget* m_tools;
    widgets::ElidedLabel* m_state;
    bool m_isNarrow = false;  ///< and low: columns fit the width
    int m_rows = 0;           ///< that were in the list
    bool m_isFirst = false;   ///< an edit was made, the first of the list, and its run is not through
    std::function<void()> m_raise;
};

PanelInfo editsPanel();

}  // namespace sonde::panels
