#pragma once

#include <QPixmap>
#include <QWidget>

#include "core/layout/scene.h"

namespace sonde::canvas {

class CanvasMarks;
class CanvasText;
class CanvasView;

/// The whole scene small, in a corner of the canvas: what part of it is seen, and where watch points, search matches
/// and errors are. A click or a drag moves the view there.
class OverviewMap : public QWidget {
    Q_OBJECT
  public:
    /// `parent` is the widget that shows `view`; both, `marks` and `text` must outlive it.
    OverviewMap(QWidget& parent, CanvasView& view, const CanvasMarks& marks, const CanvasText& text);

    /// The size that suits the scene's proportions.
    QSize sizeHint() const override;
    /// Where the canvas's view lies on the map.
    QRectF viewRect() const;
    /// Where an item's mark lies on the map.
    QPointF markPlace(layout::ItemId item) const;

  public Q_SLOTS:
    void sceneChanged();

  Q_SIGNALS:
    /// The mark of an item was clicked.
    void itemChosen(sonde::layout::ItemId item);

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

    CanvasView& m_view;
    const CanvasMarks& m_marks;
    const CanvasText& m_text;
    QPixmap m_picture;
};

}  // namespace sonde::canvas
