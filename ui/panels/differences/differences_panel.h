#pragma once

#include <QTimer>

#include "ui/context/second_model.h"
#include "ui/models/model_difference_table_model.h"
#include "ui/models/node_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QBoxLayout;
class QHBoxLayout;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
class EmptyState;
class SearchField;
}  // namespace sonde::widgets

namespace sonde::panels {

/// How the second model differs from the first. A row selects its nodes on both canvases. Shown together with the
/// other model.
class DifferencesPanel : public Panel {
    Q_OBJECT
  public:
    explicit DifferencesPanel(context::InspectorContext& context, QWidget* parent = nullptr);
    /// Binds what the menus do with differences.
    void join(const PanelHost& host);

    QTableView* view() const { return m_view; }
    widgets::SearchField* filter() const { return m_filter; }
    const models::ModelDifferenceTableModel& model() const { return m_model; }
    QString summary() const;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void refresh();
    void follow();
    void choose(const QModelIndex& row);
    void step(int by);

    context::InspectorContext& m_context;
    context::SecondModel& m_second;
    models::ModelDifferenceTableModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    QTableView* m_view;
    widgets::SearchField* m_filter;
    widgets::ElidedLabel* m_summary;
    widgets::EmptyState* m_empty;
    QBoxLayout* m_top = nullptr;
    QHBoxLayout* m_buttons = nullptr;
    bool m_isFollowing = false;
};

PanelInfo differencesPanel();

}  // namespace sonde::panels
