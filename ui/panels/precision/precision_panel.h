#pragma once

#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/precision.h"
#include "ui/models/node_table_model.h"
#include "ui/models/precision_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QStackedWidget;
class QTableView;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
class EmptyState;
class ProgressStrip;
}  // namespace sonde::widgets

namespace sonde::panels {

/// What a lower precision costs each value, in order of execution: where the error begins and how it grows. A row leads
/// to its node. Comes when that is measured.
class PrecisionPanel : public Panel {
    Q_OBJECT
  public:
    PrecisionPanel(context::OpenModel& opened, context::Navigation& navigation, context::Precision& precision,
                   QWidget* parent = nullptr);
    /// Says when the panel is raised.
    void join(const PanelHost& host);

    QTableView* view() const { return m_view; }
    const models::PrecisionTableModel& model() const { return m_model; }
    context::Precision& precision() const { return m_precision; }
    /// Above the table.
    QString summary() const;

  private:
    void build();
    void refresh();
    void explainEmpty();
    void follow();

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Precision& m_precision;
    models::PrecisionTableModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    widgets::EmptyState* m_empty;
    QTableView* m_view;
    widgets::ElidedLabel* m_summary;
    widgets::ProgressStrip* m_progress;
    QToolButton *m_first, *m_close;
    bool m_following = false;
};

PanelInfo precisionPanel();

}  // namespace sonde::panels
