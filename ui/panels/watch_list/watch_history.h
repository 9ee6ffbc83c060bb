#pragma once

#include <QWidget>

#include "ui/models/watch_list_model.h"

class QComboBox;
class QLabel;

namespace sonde::widgets {
class LinePlot;
}

namespace sonde::panels {

/// The history of one row of the watch list, large: of a node the measure that is chosen.
class WatchHistory : public QWidget {
    Q_OBJECT
  public:
    explicit WatchHistory(models::WatchListModel& model, QWidget* parent = nullptr);

    /// -1: of none.
    void setRow(int row);
    widgets::LinePlot* plot() const { return m_plot; }
    QComboBox* measure() const { return m_measure; }

  private:
    void show();

    models::WatchListModel& m_model;
    int m_row = -1;
    QComboBox* m_measure;
    QLabel* m_title;
    QLabel* m_numbers;
    widgets::LinePlot* m_plot;
};

}  // namespace sonde::panels
