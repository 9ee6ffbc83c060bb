#pragma once

#include <QPointF>
#include <QString>
#include <QWidget>

#include <vector>

namespace sonde::widgets {

/// Points of two numbers each. The one nearest to the pointer stands out; Left and Right go from point to point in
/// their order.
class ScatterPlot : public QWidget {
    Q_OBJECT
  public:
    explicit ScatterPlot(QWidget* parent = nullptr);

    /// Finite numbers. At most 32 points have their names beside them, where those have room.
    void setPoints(std::vector<QPointF> points, std::vector<QString> names);
    void setAxes(const QString& x, const QString& y);
    /// Said in place of points.
    void setMessage(const QString& text);
    int current() const { return m_current; }
    void setCurrent(int index);
    /// Where a point is, in pixels.
    QPointF placeOf(int index) const;

    QSize sizeHint() const override { return {320, 240}; }
    QSize minimumSizeHint() const override { return {140, 120}; }

  Q_SIGNALS:
    /// -1: none.
    void currentChanged(int index);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    QRectF plotRect() const;
    QPointF mapped(QPointF point) const;
    void paintAxes(QPainter& painter, const QRectF& plot) const;
    void paintNames(QPainter& painter, const QRectF& plot) const;

    std::vector<QPointF> m_points;
    std::vector<QString> m_names;
    QRectF m_bounds;
    QString m_x, m_y, m_message;
    int m_current = -1;
};

}  // namespace sonde::widgets
