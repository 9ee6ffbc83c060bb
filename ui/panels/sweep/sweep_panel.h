#pragma once

#include "ui/context/sweeps.h"
#include "ui/models/node_table_model.h"
#include "ui/models/sweep_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QBoxLayout;
class QCheckBox;
class QProgressBar;
class QSplitter;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
class EmptyState;
class SearchField;
}  // namespace sonde::widgets

namespace sonde::panels {

class SweepPlot;

/// A sweep over many inputs: how far it is, a table with a row for each input, and how statistics are distributed. A
/// click on an input makes it the model's and runs it. Comes with the first sweep.
class SweepPanel : public Panel {
    Q_OBJECT
  public:
    explicit SweepPanel(context::InspectorContext& context, QWidget* parent = nullptr);
    void join(const PanelHost& host);

    QTableView* view() const { return m_view; }
    SweepPlot* plot() const { return m_plot; }
    QCheckBox* brokenBox() const { return m_broken; }
    QString summary() const;
    /// Asks for a file, and writes the table there.
    void save();

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void refresh();
    void filter();

    context::Sweeps& m_sweeps;
    models::SweepTableModel m_model;
    models::TableFilter m_proxy;
    QStackedWidget* m_stack;
    QTableView* m_view;
    QSplitter* m_splitter;
    SweepPlot* m_plot;
    widgets::SearchField* m_filter;
    QCheckBox* m_broken;
    QProgressBar* m_progress;
    QToolButton *m_cancel, *m_save;
    widgets::ElidedLabel* m_summary;
    widgets::EmptyState* m_empty;
    QBoxLayout* m_top;
};

PanelInfo sweepPanel();

}  // namespace sonde::panels
