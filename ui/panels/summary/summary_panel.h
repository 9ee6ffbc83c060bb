#pragma once

#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/summary.h"
#include "ui/models/summary_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QFontMetrics;
class QStackedWidget;
class QTableView;

namespace sonde::widgets {
class ElidedLabel;
class EmptyState;
}  // namespace sonde::widgets

namespace sonde::panels {

/// What the open model is, as `sonde info` says it: file, inputs and outputs, parameters, cost, operators. There while
/// a model is open. A double click on a figure, or Return, selects the nodes that it is the figure of.
class SummaryPanel : public Panel {
    Q_OBJECT
  public:
    SummaryPanel(context::OpenModel& opened, context::Navigation& navigation, context::Summary& summary,
                 QWidget* parent = nullptr);
    /// Binds what the window does for the panel.
    void join(const PanelHost& host);
    QTableView* view() const { return m_view; }
    const models::SummaryModel& model() const { return m_model; }

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void refresh();
    /// One column in a narrow panel: titles and texts share lines.
    void arrangeColumns();
    void choose(const QModelIndex& row);

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Summary& m_summary;
    models::SummaryModel m_model;
    QStackedWidget* m_stack;
    widgets::EmptyState* m_empty;
    QTableView* m_view;
    widgets::ElidedLabel* m_state;  ///< that files are still being read
};

/// A line of the summary in `room` pixels: "opset: ai.onnx 16"; without a title the text alone. A rounded number comes
/// without the exact one behind it rather than as a part of that: "1.814 G" of "1.814 G (1,814,073,344)"; and a part of
/// the title rather than no number at all.
QString summaryLine(QString title, QString text, int room, const QFontMetrics& metrics);

PanelInfo summaryPanel();

}  // namespace sonde::panels
