#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QVariantAnimation>

#include "ui/canvas/canvas_overlays.h"
#include "ui/canvas/canvas_transition.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/models/module_result.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using context::Selection;
using layout::ItemId;
using layout::ItemKind;

void GraphCanvas::setCamera(const Camera& camera) {
    if (camera == m_camera) return;
    m_camera = camera;
    m_tilesComplete = false;
    Q_EMIT cameraChanged();
    update();
}

void GraphCanvas::stopFlight() {
    if (m_flight) m_flight->stop();
}

void GraphCanvas::flyTo(const Camera& camera) {
    if (m_flight) m_flight->stop();
    const int duration = theme::Theme::instance().animationMs(160);
    if (duration <= 0 || !isVisible()) {
        setCamera(camera);
        return;
    }
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

void GraphCanvas::fit() {
    if (!m_painter) return;
    m_home = Home{m_overlays->fitted(toQt(scene()->bounds)), true};
    flyTo(m_home->camera);
}

void GraphCanvas::fitSelection() {
    if (!m_painter) return;
    QRectF area;
    for (const graph::NodeId node : m_context.navigation().selectedNodes())
        if (const ItemId item = scene()->itemOf(m_context.model().graph().node(node).producer))
            area |= toQt(scene()->item(item).rect);
    if (const ItemId item = currentItem()) area |= toQt(scene()->item(item).rect);
    if (!area.isEmpty()) flyTo(Camera::fitting(area, size(), 48, 2.0));
}

void GraphCanvas::zoomReset() {
    Camera camera = m_camera;
    camera.scale = 1;
    if (m_painter) flyTo(camera);
}

void GraphCanvas::zoomBy(double factor) {
    if (!m_painter) return;
    Camera camera = m_camera;
    camera.zoomAbout(QPointF(width(), height()) / 2.0, size(), factor);
    setCamera(camera);
}

void GraphCanvas::centreOn(QPointF place) {
    Camera camera = m_camera;
    camera.centre = place;
    setCamera(camera);
}

void GraphCanvas::showItem(ItemId id) {
    if (!m_painter || !id) return;
    constexpr double kReadable = 0.5;
    const QRectF rect = toQt(scene()->item(id).rect);
    Camera camera = m_camera;
    if (camera.scale < kReadable) {
        camera.scale = 0.9;
        camera.centre = rect.center();
    }
    const double margin = 30 / camera.scale;
    const QRectF view = camera.visible(size()).adjusted(margin, margin, -margin, -margin);
    if (rect.width() > view.width() || rect.height() > view.height()) {
        // Too large to be seen whole: its title, where it begins.
        if (!view.contains(rect.topLeft())) camera.centre += rect.topLeft() - view.topLeft();
    } else if (!view.contains(rect)) {
        // As little as needed; but what was far off the screen comes to its middle.
        if (!camera.visible(size()).intersects(rect)) {
            camera.centre = rect.center();
        } else {
            const QPointF before = camera.centre;
            camera.centre = {
                before.x() + std::max(0.0, rect.right() - view.right()) - std::max(0.0, view.left() - rect.left()),
                before.y() + std::max(0.0, rect.bottom() - view.bottom()) - std::max(0.0, view.top() - rect.top())};
        }
    }
    uncover(camera, rect);
    if (!(camera == m_camera)) flyTo(camera);
}

/// Where widgets lie over the canvas: the map and the overlays, the list of what was found.
std::vector<QRectF> GraphCanvas::covers() const {
    std::vector<QRectF> places;
    const auto add = [&](const QObjectList& widgets, qsizetype from) {
        for (qsizetype i = from; i < widgets.size(); ++i) {
            const auto* widget = qobject_cast<const QWidget*>(widgets[i]);
            if (!widget || widget->isWindow() || !widget->isVisible()) continue;
            const QRect place(mapFromGlobal(widget->mapToGlobal(QPoint())), widget->size());
            if (place.intersects(rect())) places.emplace_back(place);
        }
    };
    add(children(), 0);
    for (const QWidget* widget = this; !widget->isWindow() && widget->parentWidget(); widget = widget->parentWidget())
        add(widget->parentWidget()->children(), widget->parentWidget()->children().indexOf(widget) + 1);
    return places;
}

/// Moves the camera as little as needed to have a rectangle that is in view off what lies over the canvas, if it can
/// be.
void GraphCanvas::uncover(Camera& camera, const QRectF& area) const {
    constexpr double kGap = 8;
    const QRectF shown(camera.toPixel(area.topLeft(), size()), area.size() * camera.scale), whole(rect());
    const std::vector<QRectF> places = covers();
    const auto isFree = [&](const QRectF& at) {
        return whole.contains(at) &&
               std::none_of(places.begin(), places.end(), [&](const QRectF& place) { return place.intersects(at); });
    };
    if (isFree(shown) || !whole.contains(shown)) return;
    std::optional<QPointF> least;
    for (const QRectF& place : places) {
        if (!place.intersects(shown)) continue;
        for (const QPointF by :
             {QPointF(place.left() - kGap - shown.right(), 0), QPointF(place.right() + kGap - shown.left(), 0),
              QPointF(0, place.top() - kGap - shown.bottom()), QPointF(0, place.bottom() + kGap - shown.top())}) {
            if (isFree(shown.translated(by)) && (!least || by.manhattanLength() < least->manhattanLength())) least = by;
        }
    }
    if (least) camera.centre -= *least / camera.scale;
}

void GraphCanvas::ensureVisible(const Selection& selection) { showItem(itemOf(selection)); }

ItemId GraphCanvas::itemOf(const Selection& selection) const {
    if (!m_painter) return {};
    switch (selection.kind) {
        case Selection::Kind::Node:
        case Selection::Kind::Expr: return selection.expr.valid() ? scene()->itemOf(selection.expr) : ItemId();
        case Selection::Kind::Scope: return scene()->itemOf(selection.scope);
        case Selection::Kind::None:
        case Selection::Kind::Module: break;
    }
    return {};
}

Selection GraphCanvas::selectionOf(ItemId id) const {
    const layout::ItemDescription& what = scene()->item(id).what;
    switch (what.kind) {
        case ItemKind::Module: return m_context.navigation().selectionOf(what.scope);
        case ItemKind::Body: {
            const graph::ExprId owner = m_context.model().graph().body(what.body).owner;
            return owner.valid() ? m_context.navigation().selectionOf(owner) : Selection{};
        }
        case ItemKind::Stub:
            return what.values.empty() ? Selection{} : m_context.navigation().selectionOf(what.values.front());
        case ItemKind::Output:
            if (!what.expr.valid())
                return what.values.empty() ? Selection{} : m_context.navigation().selectionOf(what.values.front());
            break;
        case ItemKind::Expr:
        case ItemKind::Input: break;
    }
    return what.expr.valid() ? m_context.navigation().selectionOf(what.expr) : Selection{};
}

ItemId GraphCanvas::currentItem() const { return m_painter && m_current ? scene()->find(*m_current) : ItemId(); }

void GraphCanvas::setCurrent(ItemId item) {
    if (item) m_current = scene()->item(item).key;
    else m_current.reset();
    update();
}

void GraphCanvas::selectItem(ItemId item) {
    setCurrent(item);
    m_context.navigation().select(selectionOf(item));
    announce();
}

graph::NodeId GraphCanvas::currentNode() const {
    // A module stands for what it returns.
    if (const graph::NodeId node = models::resultOf(m_context.model(), m_context.navigation().selection());
        node.valid())
        return node;
    const ItemId item = currentItem();
    return item ? nodeOf(m_context.model().graph(), scene()->item(item).what) : graph::NodeId();
}

void GraphCanvas::walk(int dx, int dy) {
    if (!m_painter || scene()->items.empty()) return;
    ItemId current = currentItem();
    if (!current) {
        // The first step goes to where the graph begins.
        for (const ItemId id : scene()->top)
            if (!current || scene()->item(id).what.kind == ItemKind::Input) {
                current = id;
                if (scene()->item(id).what.kind == ItemKind::Input) break;
            }
        selectItem(current);
        showItem(current);
        return;
    }
    // The arrows are those of the picture; the flow is downwards or to the right.
    const bool down = scene()->direction == layout::Direction::TopDown;
    const int along = down ? dy : dx, across = down ? dx : dy;
    using layout::Move;
    const Move move = along > 0 ? Move::Forward : along < 0 ? Move::Backward : across > 0 ? Move::Next : Move::Previous;
    const ItemId next = layout::neighbour(*scene(), current, move);
    if (!next) return;
    selectItem(next);
    showItem(next);
}

void GraphCanvas::toggleItem(ItemId id) {
    if (!m_painter || !id) return;
    const layout::SceneItem& item = scene()->item(id);
    if (!item.what.expandable) return;
    activate();
    m_wantedAnchor = anchorOf(id);
    if (item.what.kind == ItemKind::Module) state().setExpanded(item.what.scope, !item.what.open);
    else if (item.what.expr.valid()) state().setExpanded(item.what.expr, !item.what.open);
}

void GraphCanvas::toggleCurrent() { toggleItem(currentItem()); }

void GraphCanvas::setAllInside(bool open) {
    activate();
    const ItemId id = currentItem();
    if (!id) {
        if (m_context.model().outline())
            state().expandToDepth(open ? static_cast<int>(layout::greatestDepth(*m_context.model().outline())) : 0);
        return;
    }
    const layout::ItemDescription& what = scene()->item(id).what;
    m_wantedAnchor = anchorOf(id);
    if (what.kind == ItemKind::Module) state().setExpandedRecursively(what.scope, open);
    else if (what.expandable) state().setExpanded(what.expr, open);
    else m_wantedAnchor.reset();
}

void GraphCanvas::leaveModule() {
    const ItemId id = currentItem();
    if (!id) return;
    ItemId parent = scene()->item(id).parent;
    while (parent && !scene()->item(parent).what.expandable) parent = scene()->item(parent).parent;
    if (!parent) return;
    selectItem(parent);
    toggleItem(parent);
}

void GraphCanvas::selectAll() {
    if (!m_painter) return;
    std::vector<graph::NodeId> nodes;
    for (const layout::SceneItem& item : scene()->items)
        if (item.what.kind == ItemKind::Expr || item.what.kind == ItemKind::Input)
            if (const graph::NodeId node = nodeOf(m_context.model().graph(), item.what)) nodes.push_back(node);
    m_context.navigation().selectMany(nodes);
}

void GraphCanvas::clearSelection() {
    m_current.reset();
    m_context.navigation().clearSelection();
    update();
}

void GraphCanvas::copyName() {
    if (!m_context.model().isOpen()) return;
    QStringList names;
    for (const graph::NodeId node : m_context.navigation().selectedNodes())
        names << QString::fromStdString(m_context.model().graph().node(node).name);
    if (names.isEmpty() && !m_context.navigation().selection().isNone())
        names << m_context.navigation().selection().qualname;
    if (!names.isEmpty()) QApplication::clipboard()->setText(names.join(u'\n'));
}

void GraphCanvas::toggleWatch() {
    if (const graph::NodeId node = currentNode()) {
        m_wantedAnchor = anchorOf(currentItem());
        m_context.points().toggleWatch(node);
    }
}

void GraphCanvas::toggleEnd() {
    if (const graph::NodeId node = currentNode()) m_context.points().toggleEnd(node);
}

void GraphCanvas::jump(ItemId stub) {
    const layout::SceneItem& item = scene()->item(stub);
    if (item.what.values.empty()) return;
    const graph::NodeId value = item.what.values.front();
    if (item.source) {
        selectItem(item.source);
        showItem(item.source);
    }
    // The source may be a closed box: the value inside it is what was meant.
    if (!item.source || scene()->item(item.source).what.kind == ItemKind::Module)
        m_context.navigation().navigateTo(value);
}

void GraphCanvas::followCurrent() {
    const ItemId id = currentItem();
    if (!id) return;
    const layout::SceneItem& item = scene()->item(id);
    if (item.what.kind == ItemKind::Stub) {
        jump(id);
        return;
    }
    for (std::size_t i = 0; i < scene()->items.size() && item.stubs > 0; ++i) {
        if (scene()->items[i].source != id) continue;
        selectItem(ItemId(i));
        showItem(ItemId(i));
        return;
    }
}

/// The innermost module that is looked at: that of the selection if it is on the screen, else of the open box around
/// the middle, unless that is a small part of what is shown. Two canvases on one model so each say where they are.
graph::ScopeId GraphCanvas::shownScope() const {
    if (!m_painter) return {};
    const QRectF view = m_camera.visible(size());
    const ItemId current = currentItem();
    const Selection& selection = m_context.navigation().selection();
    if (selection.scope.valid()) {
        const ItemId item = current ? current : itemOf(selection);
        if (m_context.canvases().activeNumber() == m_number ||
            (item && view.intersects(toQt(scene()->item(item).rect))))
            return selection.scope;
    }
    for (ItemId at = m_painter->index().itemAt(view.center()); at; at = scene()->item(at).parent) {
        const layout::ItemDescription& what = scene()->item(at).what;
        const QRectF box = toQt(scene()->item(at).rect);
        const bool small = view.contains(box) && box.width() < view.width() / 2 && box.height() < view.height() / 2;
        if (what.kind == ItemKind::Module && what.open && !small) return what.scope;
    }
    return {};
}

QStringList GraphCanvas::path() const {
    QStringList parts;
    if (!m_context.model().isOpen()) return parts;
    const graph::InternalGraph& graph = m_context.model().graph();
    for (graph::ScopeId scope = shownScope(); scope.valid(); scope = graph.scope(scope).parent)
        parts.prepend(QString::fromStdString(graph.scope(scope).qualname));
    return parts;
}

void GraphCanvas::setOverviewVisible(bool visible) { m_overlays->setOverviewVisible(visible); }
void GraphCanvas::setLegendVisible(bool visible) { m_overlays->setLegendVisible(visible); }
bool GraphCanvas::overviewVisible() const { return m_overlays->overviewVisible(); }
bool GraphCanvas::legendVisible() const { return m_overlays->legendVisible(); }

QString GraphCanvas::spokenItem(ItemId id) const {
    if (!m_painter || !id) return {};
    QString text = spokenText(m_context.model().graph(), scene()->item(id));
    const std::uint16_t flags = m_marks.of(id);
    if (flags & kWatched) text += tr(", watched");
    if (flags & kEnd) text += tr(", end point");
    if (flags & kFailed) text += tr(", failed");
    if (flags & kBadValue) text += tr(", has NaN or infinite elements");
    if (flags & kDiffers) text += tr(", differs");
    if (flags & kMatch) text += tr(", search match");
    if (flags & kBookmarked) text += tr(", bookmark");
    if (flags & kUntraced) text += tr(", not traced");
    if (flags & kDimmed) text += tr(", not reached");
    return text;
}

void GraphCanvas::announce() {
    setAccessibleDescription(spokenCurrent());
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
    if (!QAccessible::isActive() || !hasFocus() || !currentItem()) return;
    // The screen reader's own focus follows the keyboard.
    const std::vector<ItemId> shown = visibleItems();
    const auto at = std::find(shown.begin(), shown.end(), currentItem());
    QAccessibleEvent focus(this, QAccessible::Focus);
    if (at != shown.end()) focus.setChild(static_cast<int>(at - shown.begin()));
    QAccessible::updateAccessibility(&focus);
}

QString GraphCanvas::factsOf(ItemId item) const {
    return m_painter && item ? itemFacts(m_context.model().graph(), scene()->item(item)) : QString();
}

std::vector<ItemId> GraphCanvas::visibleItems() const {
    std::vector<ItemId> items;
    if (!m_painter) return items;
    std::vector<bool> seen(scene()->items.size(), false);
    for (const std::uint32_t id : m_painter->index().within(m_camera.visible(size())).items) seen[id] = true;
    for (const auto& [item, depth] : itemsInOrder(*scene()))
        if (seen[item.index()]) items.push_back(item);
    return items;
}

void GraphCanvas::setCurrentItem(ItemId item) {
    if (!m_painter || !item) return;
    activate();
    selectItem(item);
    showItem(item);
}

int GraphCanvas::currentLine() const {
    const ItemId current = currentItem();
    if (!current) return -1;
    int line = 0;
    for (const auto& [item, depth] : itemsInOrder(*scene())) {
        if (item == current) return line;
        ++line;
    }
    return -1;
}

void GraphCanvas::goToLine(int line) {
    if (!m_painter) return;
    const auto items = itemsInOrder(*scene());
    if (line >= 0 && line < static_cast<int>(items.size())) setCurrentItem(items[static_cast<std::size_t>(line)].first);
}

}  // namespace sonde::canvas
