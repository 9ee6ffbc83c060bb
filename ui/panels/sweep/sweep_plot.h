#pragma once

#include <QWidget>

#include <vector>

class QComboBox;
class QLabel;
class QStackedWidget;

namespace sonde::widgets {
class HistogramPlot;
class LinePlot;
}  // namespace sonde::widgets

namespace sonde::models {
class SweepTableModel;
}
namespace sonde::context {
class Sweeps;
}

namespace sonde::panels {

/// How a statistic of a node is distributed over the inputs of a sweep: as a line in the order of the inputs and as a
/// histogram; or which classes are mistaken for which.
class SweepPlot : public QWidget {
    Q_OBJECT
  public:
    SweepPlot(context::Sweeps& sweeps, const models::SweepTableModel& model, QWidget* parent = nullptr);

    /// The node and the statistic of a column of the table, if it is of one.
    void showColumn(int column);
    /// Of the input whose row is current; -1: none.
    void setCurrentInput(int row);
    widgets::LinePlot* line() const { return m_line; }
    widgets::HistogramPlot* histogram() const { return m_histogram; }
    QString classText() const;
    /// "line", "histogram" or "classes"; false: there is none.
    bool showView(const QString& view);

  Q_SIGNALS:
    /// A point of the line was clicked.
    void inputChosen(int row);

  private:
    void fill();
    void refresh();
    void refreshClasses();

    context::Sweeps& m_sweeps;
    const models::SweepTableModel& m_model;
    QComboBox *m_node, *m_statistic, *m_view;
    QStackedWidget* m_stack;
    widgets::LinePlot* m_line;
    widgets::HistogramPlot* m_histogram;
    QLabel* m_classes;
    QLabel* m_range;
    std::vector<double> m_numbers;  ///< by input; NaN: none
};

}  // namespace sonde::panels
