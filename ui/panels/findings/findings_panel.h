#pragma once

#include "ui/context/findings.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/models/finding_table_model.h"
#include "ui/models/node_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
class EmptyState;
class ProgressStrip;
}  // namespace sonde::widgets

namespace sonde::panels {

/// What an audit finds in the model: a row for each group of equal findings. A row selects its nodes; beside the list
/// is why it matters and what to do, and a line to accept it with a reason. Comes with the first finding.
class FindingsPanel : public Panel {
    Q_OBJECT
  public:
    FindingsPanel(context::OpenModel& opened, context::Navigation& navigation, context::Findings& findings,
                  QWidget* parent = nullptr);
    /// Binds the action, and comes to the front with what it finds.
    void join(const PanelHost& host);

    QTableView* view() const { return m_view; }
    const models::FindingTableModel& model() const { return m_model; }
    /// Why and what to do, of the row that is selected.
    QString details() const;
    QString countText() const;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    QWidget* makeList();
    QWidget* makeDetails();
    void connectParts();
    void refresh();
    void explainEmpty();
    void count();
    void showDetails();
    void choose(const QModelIndex& row);
    void acceptOrTakeBack();
    int groupAt(const QModelIndex& row) const;

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Findings& m_findings;
    models::FindingTableModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    widgets::EmptyState* m_empty;
    QSplitter* m_splitter;
    QTableView* m_view;
    widgets::ElidedLabel* m_count;
    widgets::ProgressStrip* m_progress;
    QToolButton* m_again;
    QLabel* m_details;
    QLineEdit* m_reason;
    QPushButton* m_accept;
    QString m_chosenId;  ///< what was selected, so that it is again after a change
};

PanelInfo findingsPanel();

}  // namespace sonde::panels
