#pragma once

#include <QPolygonF>
#include <QWidget>

#include <functional>

#include "ui/widgets/value_scale.h"

namespace sonde::widgets {

/// One or several rows of numbers as lines over their place; one row is current and strong, the others are faint. Left
/// and Right move a cursor along the row, Up and Down change the row.
class LinePlot : public QWidget {
    Q_OBJECT
  public:
    using Field = std::function<double(qint64 row, qint64 column)>;

    explicit LinePlot(QWidget* parent = nullptr);

    /// At most 32 rows are drawn, of long ones 8: the current one and those nearest to it.
    void setField(qint64 rows, qint64 columns, Field at);
    void setScale(const ValueScale& scale);
    std::pair<qint64, qint64> cursor() const { return {m_row, m_column}; }
    void setCursorCell(qint64 row, qint64 column);
    /// Where a number stands, in pixels from the top.
    double yOf(double value) const;

    QSize sizeHint() const override { return {320, 180}; }
    QSize minimumSizeHint() const override { return {140, 90}; }

  Q_SIGNALS:
    /// (-1, -1) for none.
    void cellHovered(qint64 row, qint64 column, double value);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    QRectF plotRect() const;
    QPolygonF lineOf(qint64 row, const QRectF& plot) const;
    void paintAxes(QPainter& painter, const QRectF& plot) const;
    bool hasFinite(qint64 row) const;

    qint64 m_rows = 0, m_columns = 0;
    Field m_at;
    ValueScale m_scale;
    qint64 m_row = 0, m_column = -1;
};

}  // namespace sonde::widgets
