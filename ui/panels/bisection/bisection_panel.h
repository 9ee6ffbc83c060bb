#pragma once

#include "ui/context/bisection.h"
#include "ui/context/messages.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/models/bisection_table_model.h"
#include "ui/models/node_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QBoxLayout;
class QLabel;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace sonde::widgets {
class EmptyState;
class ProgressStrip;
class WrappedLabel;
}  // namespace sonde::widgets

namespace sonde::panels {

/// Where the model parts from another one: the part's operations, the steps that led there, both values; with buttons
/// to select the part, to write it as a model, and to look at both values. Comes with a search.
class BisectionPanel : public Panel {
    Q_OBJECT
  public:
    BisectionPanel(context::OpenModel& opened, context::Navigation& navigation, context::Bisection& bisection,
                   context::Messages& messages, QWidget* parent = nullptr);
    /// Says when the panel is raised.
    void join(const PanelHost& host);

    QTableView* view() const { return m_view; }
    context::Bisection& bisection() const { return m_bisection; }
    /// Above the table, and beside it.
    QString finding() const;
    QString steps() const;
    /// Asks for a file and writes the part there.
    void savePiece();
    void selectPart();

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void build();
    void connectParts();
    void refresh();
    void follow();
    QString stepsHtml() const;

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Bisection& m_bisection;
    context::Messages& m_messages;
    models::BisectionTableModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    widgets::EmptyState* m_empty;
    QTableView* m_view;
    QSplitter* m_splitter;
    QBoxLayout* m_head;  ///< what was found, and the buttons: below it where there is no width
    widgets::WrappedLabel* m_finding;
    widgets::ProgressStrip* m_progress;
    QLabel* m_steps;
    QPushButton *m_select, *m_values, *m_save;
    QToolButton* m_close;
    bool m_following = false;
};

PanelInfo bisectionPanel();

}  // namespace sonde::panels
