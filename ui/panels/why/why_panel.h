#pragma once

#include "ui/context/open_model.h"
#include "ui/context/why.h"
#include "ui/models/why_term_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QGridLayout;
class QLabel;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace sonde::widgets {
class CappedArea;
class EmptyState;
class ProgressStrip;
}  // namespace sonde::widgets

namespace sonde::panels {

/// What an element is made of: the formula with the present numbers, its terms, and the hops that led there. A term is
/// gone on from by a double-click or Return. Comes when something is asked.
class WhyPanel : public Panel {
    Q_OBJECT
  public:
    WhyPanel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs, context::Why& why,
             QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    const models::WhyTermModel& model() const { return m_model; }
    context::Why& why() const { return m_why; }
    /// The hops, without marks: "y[0, 0] › f[0, 3]".
    QString trailText() const;
    /// What stands above the terms, without marks.
    QString formulaText() const;
    /// What stands below: the check, the note, what reaches the element.
    QString noteText() const;

    void join(const PanelHost& host);
    /// Asks about an element as it is written: "y[0, 3]". Errors: there is no such node, or it is no place.
    base::Result<void> askAt(const QString& text);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void buildTop();
    void arrange();
    int textWidth() const;
    QString fitted(const QString& name, int room) const;
    void buildTable();
    void refresh();
    void refreshTrail();
    void refreshFormula();
    void refreshNote();
    void showProgress();
    void explainEmpty();
    void askSelected();
    void hopTo(const QModelIndex& index);
    void hopToWeight();
    QString shareText(int room) const;

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Runs& m_runs;
    context::Why& m_why;
    models::WhyTermModel m_model;
    QStackedWidget* m_stack;
    widgets::EmptyState* m_empty;
    QWidget* m_page;
    QGridLayout* m_grid;  ///< of the page
    QWidget* m_top;       ///< buttons and hops
    bool m_isBeside = false;
    QToolButton* m_back;
    QToolButton* m_forward;
    QToolButton* m_end;
    QToolButton* m_close;
    QLabel* m_trail;
    QLabel* m_formula;
    widgets::CappedArea* m_formulaArea;
    QTableView* m_view;
    QLabel* m_note;
    widgets::ProgressStrip* m_progress;
};

PanelInfo whyPanel();

}  // namespace sonde::panels
