#include "ui/window/linked_cameras.h"

#include <QScopedValueRollback>

#include "ui/context/second_model.h"

namespace sonde::window {

using canvas::GraphCanvas;

LinkedCameras::LinkedCameras(context::InspectorContext& context, GraphCanvas& first, GraphCanvas& compared)
    : m_context(context), m_first(first), m_compared(compared) {
    connect(&first.view(), &canvas::CanvasView::cameraChanged, this, [this] { follow(m_first, m_compared); });
    connect(&compared.view(), &canvas::CanvasView::cameraChanged, this, [this] { follow(m_compared, m_first); });
}

/// Where the selected node, or the closed box that holds it, is drawn; empty if it is not, or is far out of view.
QRectF LinkedCameras::selected(const GraphCanvas& canvas, const context::InspectorContext& context) const {
    const context::Selection& selection = context.navigation().selection();
    const QRectF place = selection.expr.valid()    ? canvas.view().rectOf(selection.expr)
                         : selection.scope.valid() ? canvas.view().rectOf(selection.scope)
                                                   : QRectF();
    return place.intersects(QRectF(canvas.rect())) ? place : QRectF();
}

/// A camera that flies to what was just selected is left alone, and so is one that has nothing of the pair in view.
void LinkedCameras::follow(GraphCanvas& from, GraphCanvas& to) {
    const context::InspectorContext* other = m_context.second().context();
    if (m_isFollowing || !other || !m_context.second().areCamerasLinked()) return;
    if (from.view().isFlying() || to.view().isFlying()) return;
    const bool isFirst = &from == &m_first;
    const QRectF here = selected(from, isFirst ? m_context : *other),
                 there = selected(to, isFirst ? *other : m_context);
    if (here.isEmpty() || there.isEmpty()) return;
    const QScopedValueRollback guard(m_isFollowing, true);
    const QSizeF size = to.view().size();
    const QPointF place = to.view().toScene(there.center());
    const QPointF pixel = here.center() - QPointF(from.width(), from.height()) / 2;  // from the middle
    canvas::Camera camera = to.view().camera();
    camera.scale = from.view().camera().scale;
    camera.centre = place - pixel / camera.scale;
    if (size.isEmpty() || camera == to.view().camera()) return;
    to.view().setCamera(camera);
}

}  // namespace sonde::window
