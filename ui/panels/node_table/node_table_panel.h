#pragma once

#include <QTimer>

#include "ui/context/comparison.h"
#include "ui/context/inputs.h"
#include "ui/context/messages.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/profile.h"
#include "ui/context/runs.h"
#include "ui/context/value_measures.h"
#include "ui/models/node_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QTableView;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
}

namespace sonde::panels {

/// Every node of the model as a table that can be sorted and filtered, in step with the canvas.
class NodeTablePanel : public Panel {
    Q_OBJECT
  public:
    NodeTablePanel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                   context::Inputs& inputs, context::Messages& messages, context::ValueMeasures& statistics,
                   context::Comparison& comparison, context::Notes& notes, context::Breakpoints& breakpoints,
                   context::Precision& precision, context::Engine& engine, context::Profile& profile,
                   QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    /// Writes the rows that are shown, in their order, with all columns.
    base::Result<void> writeCsv(const QString& path) const;
    void askForCsv();

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    void follow(const context::Selection& selection);
    /// Brings the sums up to date soon, once for all changes up to then, and only when the panel is painted: of 100,000
    /// nodes they take some hundredths of a second, and docks that are tabs of one place all count as visible.
    void countSoon();
    void count();

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Runs& m_runs;
    context::Messages& m_messages;
    context::ValueMeasures& m_statistics;
    models::NodeTableModel m_model;
    models::TableFilter m_proxy;
    QTableView* m_view;
    widgets::ElidedLabel* m_count;
    QToolButton* m_measure;
    QTimer m_soon;
    bool m_following = false;
    bool m_uncounted = false;  ///< the rows have changed while nobody saw the sums
};

PanelInfo nodeTablePanel();

}  // namespace sonde::panels
