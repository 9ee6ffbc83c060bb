#include "ui/canvas/canvas_view.h"

#include <QVariantAnimation>
#include <QWidget>

#include "ui/canvas/item_text.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using layout::ItemId;

std::shared_ptr<const layout::SceneLayout> CanvasView::scene() const {
    return m_painter ? m_painter->index().sharedScene() : nullptr;
}

void CanvasView::takeOver(const CanvasView& other) {
    stopFlight();
    m_painter = other.m_painter;
    m_camera = other.m_camera;
    m_current = other.m_current;
}

QRectF CanvasView::itemRect(ItemId item) const {
    if (!m_painter || !item) return {};
    const QRectF rect = toQt(scene()->item(item).rect);
    return {m_camera.toPixel(rect.topLeft(), size()), rect.size() * m_camera.scale};
}

QRectF CanvasView::rectOf(graph::ExprId expr) const { return m_painter ? itemRect(scene()->itemOf(expr)) : QRectF(); }
QRectF CanvasView::rectOf(graph::ScopeId scope) const {
    return m_painter ? itemRect(scene()->itemOf(scope)) : QRectF();
}

ItemId CanvasView::itemAt(QPointF pixel) const {
    return m_painter && !m_isChanging ? m_painter->index().itemAt(toScene(pixel)) : ItemId();
}

std::vector<ItemId> CanvasView::visibleItems() const {
    std::vector<ItemId> items;
    if (!m_painter) return items;
    std::vector<bool> seen(scene()->items.size(), false);
    for (const std::uint32_t id : m_painter->index().within(visible()).items) seen[id] = true;
    for (const auto& [item, depth] : itemsInOrder(*scene()))
        if (seen[item.index()]) items.push_back(item);
    return items;
}

ItemId CanvasView::currentItem() const { return m_painter && m_current ? scene()->find(*m_current) : ItemId(); }

void CanvasView::setCurrent(ItemId item) {
    if (item) m_current = scene()->item(item).key;
    else m_current.reset();
    Q_EMIT currentChanged();
}

QSizeF CanvasView::size() const { return m_widget.size(); }

std::vector<QRectF> CanvasView::covers() const {
    std::vector<QRectF> covers;
    const auto add = [&](const QObjectList& widgets, qsizetype from) {
        for (qsizetype i = from; i < widgets.size(); ++i) {
            const auto* widget = qobject_cast<const QWidget*>(widgets[i]);
            if (!widget || widget->isWindow() || !widget->isVisible()) continue;
            const QRect place(m_widget.mapFromGlobal(widget->mapToGlobal(QPoint())), widget->size());
            if (place.intersects(m_widget.rect())) covers.emplace_back(place);
        }
    };
    add(m_widget.children(), 0);
    for (const QWidget* widget = &m_widget; !widget->isWindow() && widget->parentWidget();
         widget = widget->parentWidget())
        add(widget->parentWidget()->children(), widget->parentWidget()->children().indexOf(widget) + 1);
    return covers;
}

bool CanvasView::isShown() const { return m_widget.isVisible(); }

void CanvasView::setCamera(const Camera& camera) {
    if (camera == m_camera) return;
    m_camera = camera;
    Q_EMIT cameraChanged();
}

void CanvasView::stopFlight() {
    if (m_flight) m_flight->stop();
}

void CanvasView::endFlight() {
    if (!m_flight || m_flight->state() != QAbstractAnimation::Running) return;
    m_flight->stop();
    m_camera = m_flightTarget;
}

void CanvasView::flyTo(const Camera& camera) {
    stopFlight();
    const int duration = theme::Theme::instance().animationMs(160);
    if (duration <= 0 || !isShown()) return setCamera(camera);
    m_flightTarget = camera;
    auto* flight = new QVariantAnimation(this);
    flight->setStartValue(0.0);
    flight->setEndValue(1.0);
    flight->setDuration(duration);
    flight->setEasingCurve(QEasingCurve::OutCubic);
    connect(flight, &QVariantAnimation::valueChanged, this, [this, from = m_camera, camera](const QVariant& t) {
        setCamera(t.toDouble() >= 1 ? camera : Camera::between(from, camera, t.toDouble()));
    });
    m_flight = flight;
    flight->start(QAbstractAnimation::DeleteWhenStopped);
}

void CanvasView::zoomBy(double factor) {
    if (!m_painter) return;
    Camera camera = m_camera;
    camera.zoomAbout(QPointF(size().width(), size().height()) / 2.0, size(), factor);
    setCamera(camera);
}

void CanvasView::zoomReset() {
    Camera camera = m_camera;
    camera.scale = 1;
    if (m_painter) flyTo(camera);
}

void CanvasView::centreOn(QPointF place) {
    Camera camera = m_camera;
    camera.centre = place;
    setCamera(camera);
}

}  // namespace sonde::canvas
