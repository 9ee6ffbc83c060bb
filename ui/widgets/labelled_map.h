#pragma once

#include <QString>

#include <functional>
#include <utility>

#include "ui/widgets/heat_map_view.h"

namespace sonde::widgets {

/// A heat map with a name for each row, at its left, and for each column, above it. The row and the column of the cell
/// under the pointer stand out; a click keeps them until another one on the same cell, or Escape.
class LabelledMap : public HeatMapView {
    Q_OBJECT
  public:
    using Label = std::function<QString(qint64 index)>;

    explicit LabelledMap(QWidget* parent = nullptr);

    /// Names of all rows and columns; what there is no room for is left out. Titles say what the axes are.
    void setLabels(const QString& rowTitle, Label row, const QString& columnTitle, Label column);
    /// The cell whose row and column stand out; (-1, -1): none.
    std::pair<qint64, qint64> cross() const { return m_locked.first >= 0 ? m_locked : m_hovered; }
    bool isLocked() const { return m_locked.first >= 0; }
    void setLocked(std::pair<qint64, qint64> cell);

  Q_SIGNALS:
    /// cross() is another one.
    void crossChanged();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    class Strip;
    void measure();
    void paintStrip(QPainter& painter, const Strip& strip) const;
    QString labelOf(bool isRow, qint64 index) const;

    QString m_rowTitle, m_columnTitle;
    int m_widestColumn = 0;  ///< pixels of its name
    Label m_row, m_column;
    Strip *m_left, *m_top;
    std::pair<qint64, qint64> m_hovered{-1, -1}, m_locked{-1, -1};
};

}  // namespace sonde::widgets
