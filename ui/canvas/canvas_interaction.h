#pragma once

#include <QObject>
#include <QRect>

#include <optional>

#include "ui/canvas/canvas_parts.h"

class QContextMenuEvent;
class QHelpEvent;
class QKeyEvent;
class QMenu;
class QMouseEvent;
class QWheelEvent;

namespace sonde::canvas {

/// What mouse and keys do on a canvas: pointing, clicking, dragging, boxes, the wheel, tool tips and the context menu.
/// Its canvas hands on the events.
class CanvasInteraction : public QObject {
    Q_OBJECT
  public:
    explicit CanvasInteraction(const CanvasParts& parts) : m_parts(parts) {}

    void press(QMouseEvent* event);
    void move(QMouseEvent* event);
    void release(QMouseEvent* event);
    void doubleClick(QMouseEvent* event);
    void wheel(QWheelEvent* event);
    void leave();
    /// Whether the key was the canvas's.
    bool key(const QKeyEvent* event);
    void showToolTip(const QHelpEvent* help);
    void openMenu(const QContextMenuEvent* event);

    bool isDragging() const { return m_drag != Drag::None; }
    /// The box that is being drawn, in pixels.
    struct Box {
        QRect rect;
        bool zooms = false;  ///< else it selects
    };
    std::optional<Box> box() const;
    /// What the mouse is over.
    layout::ItemId hoverItem() const { return m_hoverItem; }
    int hoverEdge() const { return m_hoverEdge; }  ///< -1: none
    /// Another scene is shown: numbers of the former mean nothing.
    void forgetHover();

    bool wheelZooms() const { return m_wheelZooms; }
    void setWheelZooms(bool zooms) { m_wheelZooms = zooms; }

  Q_SIGNALS:
    /// The context menu is about to open: the window may add to it.
    void menuAboutToShow(QMenu* menu);

  private:
    enum class Drag { None, Pressed, Pan, SelectBox, ZoomBox };

    /// Empty background or the inside of an open box: what is pointed at there may be an edge.
    bool isBackground(layout::ItemId item) const;
    int edgeAtPixel(QPointF pixel) const;
    const JumpName* nameAtPixel(QPointF pixel) const;
    bool onToggle(layout::ItemId item, QPointF pixel) const;
    void hoverAt(QPointF pixel);
    void clickAt(QPointF pixel, Qt::KeyboardModifiers modifiers);
    void finishBox(const QRectF& pixels, Drag drag);
    QString failureText(graph::ExprId expr) const;

    CanvasParts m_parts;
    Drag m_drag = Drag::None;
    QPointF m_pressPixel, m_lastPixel;
    QPointF m_dragCentre;
    Qt::MouseButton m_pressButton = Qt::NoButton;
    layout::ItemId m_hoverItem;
    int m_hoverEdge = -1;
    bool m_wheelZooms = true;
};

}  // namespace sonde::canvas
