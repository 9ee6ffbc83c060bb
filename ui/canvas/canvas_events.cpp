// The part of GraphCanvas that hears events: mouse and keys are for its CanvasInteraction.

#include <QHelpEvent>
#include <QKeyEvent>
#include <QResizeEvent>

#include "ui/canvas/canvas_interaction.h"
#include "ui/canvas/canvas_overlays.h"
#include "ui/canvas/canvas_transition.h"
#include "ui/canvas/graph_canvas.h"

namespace sonde::canvas {

using layout::ItemId;

void GraphCanvas::mousePressEvent(QMouseEvent* event) {
    activate();
    m_interaction->press(event);
}
void GraphCanvas::mouseMoveEvent(QMouseEvent* event) { m_interaction->move(event); }
void GraphCanvas::mouseReleaseEvent(QMouseEvent* event) { m_interaction->release(event); }
void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event) { m_interaction->doubleClick(event); }
void GraphCanvas::wheelEvent(QWheelEvent* event) { m_interaction->wheel(event); }
void GraphCanvas::leaveEvent(QEvent*) { m_interaction->leave(); }
void GraphCanvas::contextMenuEvent(QContextMenuEvent* event) { m_interaction->openMenu(event); }

void GraphCanvas::keyPressEvent(QKeyEvent* event) {
    if (!m_interaction->key(event)) QWidget::keyPressEvent(event);
}

bool GraphCanvas::wheelZooms() const { return m_interaction->wheelZooms(); }
void GraphCanvas::setWheelZooms(bool zooms) { m_interaction->setWheelZooms(zooms); }

bool GraphCanvas::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || !m_painter) return QWidget::event(event);
    m_interaction->showToolTip(static_cast<QHelpEvent*>(event));
    return true;
}

ItemId GraphCanvas::itemAt(QPointF pixel) const {
    return m_painter && !m_transition ? m_painter->index().itemAt(scenePlace(pixel)) : ItemId();
}

void GraphCanvas::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    activate();
}

void GraphCanvas::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_tilesComplete = false;
    if (m_painter && event->oldSize().isValid() && !event->oldSize().isEmpty()) {
        // What was in the middle stays there.
        const ItemId current = currentItem();
        const bool seen =
            current && QRectF(QPointF(), QSizeF(event->oldSize())).intersects(itemRectIn(current, event->oldSize()));
        Q_EMIT cameraChanged();
        // But what is selected stays in view when the window gets smaller. Later, as sizes may come and go while panels
        // are laid out.
        if (seen && !m_keepInView.isActive()) m_keepInView.start();
    }
    m_overlays->arrange();
    placeAgain();
}

QRectF GraphCanvas::itemRectIn(ItemId item, QSize size) const {
    const QRectF rect = toQt(scene()->item(item).rect);
    return {m_camera.toPixel(rect.topLeft(), size), rect.size() * m_camera.scale};
}

/// Moves the camera as little as needed; what is too large to be seen whole shows a part.
void GraphCanvas::bringIntoView(const QRectF& rect) {
    const double margin = 12 / m_camera.scale;
    const QRectF view = m_camera.visible(size()).adjusted(margin, margin, -margin, -margin);
    const auto shift = [](double low, double high, double from, double to) {
        if (high - low > to - from) return low > to || high < from ? low - from : 0.0;
        return low < from ? low - from : high > to ? high - to : 0.0;
    };
    m_camera.centre += QPointF(shift(rect.left(), rect.right(), view.left(), view.right()),
                               shift(rect.top(), rect.bottom(), view.top(), view.bottom()));
}

}  // namespace sonde::canvas
