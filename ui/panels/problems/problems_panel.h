#pragma once

#include "ui/context/comparison.h"
#include "ui/context/debugged_problems.h"
#include "ui/context/debugger.h"
#include "ui/context/messages.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/problems.h"
#include "ui/context/runs.h"
#include "ui/models/node_table_model.h"
#include "ui/models/problem_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QLabel;
class QScrollArea;
class QSplitter;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace sonde::context {
class Lessons;
}

namespace sonde::widgets {
class EmptyState;
class ElidedLabel;
class SearchField;
}  // namespace sonde::widgets

namespace sonde::panels {

/// What is wrong with the last run, or a debugged one so far, and where it departs from a reference. A row leads to its
/// node; beside the list is why it happens and what to try. Comes with the first row.
class ProblemsPanel : public Panel {
    Q_OBJECT
  public:
    ProblemsPanel(session::Session& session, context::OpenModel& opened, context::Navigation& navigation,
                  context::Problems& problems, context::Messages& messages, context::Debugger& debugger,
                  context::Runs& runs, context::Comparison& comparison, const context::Lessons& lessons,
                  QWidget* parent = nullptr);
    /// Binds what the window does for the panel.
    void join(const PanelHost& host);
    QTableView* view() const { return m_view; }
    const models::ProblemTableModel& model() const { return m_model; }
    /// Why, and what to try, of the row that is selected.
    QString details() const;
    /// Asks for a file, and saves the list there as JSON, JUnit XML or text.
    void save();
    /// The same without asking. Whether that could be done; the log tells in any case.
    bool saveTo(const QString& path);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void refresh();
    void explainEmpty();
    void count();
    void follow();
    void showDetails();
    void choose(const QModelIndex& row);
    bool isUrgent() const;

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Problems& m_problems;
    context::Messages& m_messages;
    context::Debugger& m_debugger;
    context::Runs& m_runs;
    context::Comparison& m_comparison;
    const context::Lessons& m_lessons;
    widgets::EmptyState* m_empty;
    context::DebuggedProblems m_debugged;
    models::ProblemTableModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    QTableView* m_view;
    QSplitter* m_splitter;
    QLabel* m_details;
    widgets::ElidedLabel* m_count;
    QToolButton* m_save;
    QToolButton* m_why;  ///< asks about the selected row's value
    bool m_following = false;
    bool m_wasUrgent = false;  ///< the rows that are there had something besides differences
};

PanelInfo problemsPanel();

}  // namespace sonde::panels
