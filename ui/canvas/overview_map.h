#pragma once

#include <QPixmap>
#include <QWidget>

#include "core/layout/scene.h"

namespace sonde::canvas {

class GraphCanvas;

/// The whole scene small, in a corner of the canvas: what part of it is seen, and where watch points, search matches
/// and errors are. A click or a drag moves the view there.
class OverviewMap : public QWidget {
    Q_OBJECT
  public:
    explicit OverviewMap(GraphCanvas& canvas);

    /// The size that suits the scene's proportions.
    QSize sizeHint() const override;
    /// Where the canvas's view lies on the map.
    QRectF viewRect() const;
    /// Where an item's mark lies on the map.
    QPointF markPlace(layout::ItemId item) const;

  public Q_SLOTS:
    void sceneChanged();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool event(QEvent* event) override;

  private:
    QTransform toMap() const;
    void renderScene();
    void renderMarks(QPainter& painter) const;
    void centreAt(QPointF pixel);
    layout::ItemId markAt(QPointF pixel) const;

    GraphCanvas& m_canvas;
    QPixmap m_picture;
};

}  // namespace sonde::canvas
