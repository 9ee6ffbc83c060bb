// The part of GraphCanvas that knows where a picture is shown from: at first, again after it was read again, and in the
// next session.

#include <QVariantAnimation>

#include <algorithm>

#include "ui/canvas/canvas_overlays.h"
#include "ui/canvas/canvas_transition.h"
#include "ui/canvas/graph_canvas.h"

namespace sonde::canvas {

using context::Place;
using layout::ItemId;

namespace {

/// While the camera moves its place is written so often at most.
constexpr int kPlaceMs = 300;

}  // namespace

void GraphCanvas::placeFirst() {
    const QRectF all = toQt(scene()->bounds);
    Camera whole = m_overlays->fitted(all);
    // A picture too large to be read as a whole is shown from where it begins.
    constexpr double kReadable = 0.5;
    if (whole.scale < kReadable) {
        QPointF begin = all.topLeft();
        for (const ItemId id : scene()->top)
            if (scene()->item(id).what.kind == layout::ItemKind::Input) {
                begin = toQt(scene()->item(id).rect).center();
                break;
            }
        whole.scale = 0.7;
        const QSizeF half = QSizeF(size()) / whole.scale / 2;
        const double margin = 24 / whole.scale;
        if (scene()->direction == layout::Direction::TopDown)
            whole.centre = {begin.x(), all.top() + half.height() - margin};
        else whole.centre = {all.left() + half.width() - margin, begin.y()};
        if (all.width() < 2 * half.width()) whole.centre.setX(all.center().x());
        if (all.height() < 2 * half.height()) whole.centre.setY(all.center().y());
    }
    m_camera = whole;
    m_home = Home{whole, false};
}

/// A picture that nobody has moved since it was placed or fitted is placed or fitted into the new size.
void GraphCanvas::placeAgain() {
    if (!m_painter || !m_home || !(m_home->camera == m_camera)) return;
    if (m_home->fitted) m_camera = m_overlays->fitted(toQt(scene()->bounds));
    else placeFirst();
    m_home = Home{m_camera, m_home->fitted};
    Q_EMIT cameraChanged();
}

/// Opening to a depth points at no place, as opening a box does: a picture that was fitted is fitted again. It may come
/// in parts; from the first one that opens or closes something on, each is fitted.
void GraphCanvas::fitWhatOpened(const layout::SceneLayout& before) {
    const auto turned = [&](const layout::SceneItem& item) {
        const ItemId then = item.what.expandable ? before.find(item.key) : ItemId();
        return then && before.item(then).what.open != item.what.open;
    };
    m_refits = m_refits || std::any_of(scene()->items.begin(), scene()->items.end(), turned);
    if (!m_refits) return;
    if (m_flight) m_flight->stop();
    m_camera = m_overlays->fitted(toQt(scene()->bounds));
    m_home = Home{m_camera, true};
}

/// What stood somewhere is there again.
void GraphCanvas::putAt(ItemId item, QPointF offset, double scale) {
    m_camera.scale = scale;
    m_camera.centre = toQt(scene()->item(item).rect).topLeft() - offset / scale;
}

/// The first picture of a document: where it was looked at before it was read again, where the last session left it, or
/// from its beginning.
void GraphCanvas::placeNew() {
    placeFirst();
    if (m_keptPlace && m_keptPlace->location == m_context.loader().location()) {
        const graph::NodeId node =
            m_keptPlace->node.empty() ? graph::NodeId() : m_context.model().graph().findNode(m_keptPlace->node);
        const context::Selection at =
            node.valid() ? m_context.navigation().selectionOf(node)
                         : m_context.navigation().selectionOf(QString::fromStdString(m_keptPlace->qualname));
        if (const ItemId item = itemOf(at))
            putAt(item, m_keptPlace->corner - QPointF(width(), height()) / 2.0, m_keptPlace->scale);
        return;
    }
    const Place& last = state().place();
    if (last.kind == Place::Kind::Fitted) {
        m_camera = m_overlays->fitted(toQt(scene()->bounds));
        m_home = Home{m_camera, true};
    } else if (last.kind == Place::Kind::Moved) {
        const context::Selection at = last.scope.valid() ? m_context.navigation().selectionOf(last.scope)
                                                         : m_context.navigation().selectionOf(last.node);
        if (const ItemId item = itemOf(at)) putAt(item, last.offset, last.scale);
    }
}

void GraphCanvas::followPlace() {
    m_placeTimer.setSingleShot(true);
    m_placeTimer.setInterval(kPlaceMs);
    connect(&m_placeTimer, &QTimer::timeout, this, &GraphCanvas::rememberPlace);
    const auto later = [this] {
        if (!m_placeTimer.isActive()) m_placeTimer.start();
    };
    connect(this, &GraphCanvas::cameraChanged, this, later);
    connect(this, &GraphCanvas::layoutFinished, this, later);
}

void GraphCanvas::rememberPlace() {
    if (!m_painter || m_firstLayout || !m_context.model().isOpen()) return;
    if (m_flight) return m_placeTimer.start();  // on its way
    Place place;
    if (!m_home || !(m_home->camera == m_camera)) {
        const std::optional<Anchor> anchor = chooseAnchor();
        if (!anchor) return;
        place.kind = Place::Kind::Moved;
        place.scope = anchor->scope;
        if (!anchor->scope.valid() && anchor->expr.valid())
            if (const auto& outputs = m_context.model().graph().expr(anchor->expr).outputs; !outputs.empty())
                place.node = outputs.front();
        place.offset = anchor->corner - QPointF(width(), height()) / 2.0;
        place.scale = anchor->scale;
        if (!place.scope.valid() && !place.node.valid()) return;
    } else if (m_home->fitted) {
        place.kind = Place::Kind::Fitted;
    }
    state().keepPlace(place);
}

/// For the same document when it has been read again.
void GraphCanvas::keepPlace() {
    m_keptPlace.reset();
    if (!m_painter || m_firstLayout) return;
    const std::optional<Anchor> anchor = chooseAnchor();
    if (!anchor) return;
    const graph::InternalGraph& graph = m_painter->items().graph();
    KeptPlace place{m_shownLocation, {}, {}, anchor->corner, anchor->scale};
    if (anchor->scope.valid()) place.qualname = graph.scope(anchor->scope).qualname;
    else if (anchor->expr.valid() && !graph.expr(anchor->expr).outputs.empty())
        place.node = graph.node(graph.expr(anchor->expr).outputs.front()).name;
    m_keptPlace = std::move(place);
}

}  // namespace sonde::canvas
