#include "ui/canvas/scene_placement.h"

#include <algorithm>
#include <utility>

#include "ui/canvas/camera_moves.h"
#include "ui/canvas/scene_selection.h"

namespace sonde::canvas {

using context::Place;
using layout::ItemId;
using layout::SceneLayout;

namespace {

/// While the camera moves its place is written so often at most.
constexpr int kRememberMs = 300;
/// Sizes come and go while panels are laid out: the camera follows once they have settled.
constexpr int kResizeMs = 60;
/// In a window of another size panels get theirs one after the other, on a busy machine late.
constexpr int kWindowResizeMs = 250;
/// Of an open box, from its corner on, in pixels.
constexpr QSizeF kOpenTitle(140, 28);

/// The camera moved as little as needed to show all of an area; as it is if that is larger than the view.
Camera shifted(Camera camera, const QRectF& area, QSizeF size) {
    const QRectF view = camera.visible(size);
    const auto shift = [](double low, double high, double from, double to) {
        return high - low > to - from ? 0.0 : low < from ? low - from : high > to ? high - to : 0.0;
    };
    camera.centre += QPointF(shift(area.left(), area.right(), view.left(), view.right()),
                             shift(area.top(), area.bottom(), view.top(), view.bottom()));
    return camera;
}

}  // namespace

ScenePlacement::ScenePlacement(CanvasView& view, const CanvasOverlays& overlays, context::CanvasState& state,
                               const context::InspectorContext& context)
    : m_view(view), m_overlays(overlays), m_state(state), m_context(context) {
    m_rememberTimer.setSingleShot(true);
    m_rememberTimer.setInterval(kRememberMs);
    connect(&m_rememberTimer, &QTimer::timeout, this, &ScenePlacement::remember);
    m_keepInView.setSingleShot(true);
    m_keepInView.setInterval(kResizeMs);
    connect(&m_keepInView, &QTimer::timeout, this, &ScenePlacement::keepInView);
    m_settles.setSingleShot(true);
    m_settles.setInterval(kWindowResizeMs);
    connect(&view, &CanvasView::cameraChanged, this, &ScenePlacement::rememberSoon);
    connect(&overlays, &CanvasOverlays::roomChanged, this, &ScenePlacement::placeAgain);
    connect(&context.navigation(), &context::Navigation::selectionChanged, this, [this] { m_isUsed = true; });
    connect(&context.runs(), &context::Runs::runStarted, this, [this] { m_isUsed = true; });
    connect(&context.debugger(), &context::Debugger::changed, this, [this] { m_isUsed = true; });
}

ShownScene ScenePlacement::shown() const { return {m_view.painter()->sharedIndex(), m_view.camera(), m_view.size()}; }

Camera ScenePlacement::fitted() const { return m_overlays.fitted(toQt(m_view.scene()->bounds)); }

void ScenePlacement::fit() {
    if (!m_view.painter()) return;
    m_home = Home{fitted(), true};
    m_view.flyTo(m_home->camera);
    Q_EMIT fitAsked();
}

void ScenePlacement::hold(ItemId item) {
    m_held = m_view.painter() && item ? cornerAnchor(shown(), item) : std::nullopt;
}

std::optional<SceneAnchor> ScenePlacement::chooseAnchor(const SceneLayout* next) const {
    if (!m_view.painter()) return std::nullopt;
    // What is selected is what one looks at, if it is on the screen. Of a box that opens or is open only the corner
    // stays.
    if (const ItemId current = m_view.currentItem()) {
        const layout::SceneItem& item = m_view.scene()->item(current);
        if (!staysClosed(item, next)) {
            if (auto corner = cornerAnchor(shown(), current)) return corner;
        } else if (m_view.visible().intersects(toQt(item.rect))) {
            return anchorOf(shown(), current);
        }
    }
    // Parts of the next layout came first: what was in the middle before them stays, unless the view was moved since.
    const bool isPartial = m_beforeParts && m_view.camera() == m_partsCamera;
    ShownScene picture = isPartial ? *m_beforeParts : shown();
    picture.size = m_view.size();
    return middleAnchor(picture, next);
}

ScenePlacement::Before ScenePlacement::before(const SceneLayout& next) const {
    Before before;
    before.anchor = m_held ? m_held : chooseAnchor(&next);
    before.isFitted = isHome() && m_home->fitted;
    before.shown = {m_view.painter() ? m_view.painter()->sharedIndex() : nullptr, m_view.camera(), m_view.size()};
    return before;
}

void ScenePlacement::place(const Before& before, bool final, bool mayFit) {
    const bool isOther = before.shown.index && !m_isFirst;
    if (!isOther) {
        placeNew();
    } else if (before.anchor) {
        if (const ItemId item = findAnchor(*m_view.scene(), *before.anchor))
            putAt(item, before.anchor->corner - middle(), m_view.camera().scale);
    }
    if (isOther && before.isFitted && !m_held && mayFit) fitWhatOpened(before.shown.index->scene());
    if (isOther) keepParts(before.shown, final);
    if (!final) return;
    m_isFirst = false;
    m_kept.reset();
    m_shownLocation = m_context.loader().location();
    m_held.reset();
    m_refits = false;
}

/// Until the layout is complete, the view before its first part says what stays in place.
void ScenePlacement::keepParts(const ShownScene& before, bool final) {
    if (final) return m_beforeParts.reset();
    if (!m_beforeParts || before.camera != m_partsCamera) m_beforeParts = before;
    m_partsCamera = m_view.camera();
}

void ScenePlacement::placeFirst() {
    const auto scene = m_view.scene();
    const QRectF all = toQt(scene->bounds);
    Camera whole = fitted();
    // A graph too large to be read as a whole is shown from where it begins.
    constexpr double kReadable = 0.5, kReadableInColumns = 0.4;
    if (whole.scale < (scene->jumps.empty() ? kReadable : kReadableInColumns)) {
        QPointF begin = all.topLeft();
        for (const ItemId id : scene->top)
            if (scene->item(id).what.kind == layout::ItemKind::Input) {
                begin = toQt(scene->item(id).rect).center();
                break;
            }
        whole.scale = 0.7;
        const QSizeF half = m_view.size() / whole.scale / 2;
        const double margin = 24 / whole.scale;
        if (scene->direction == layout::Direction::TopDown)
            whole.centre = {begin.x(), all.top() + half.height() - margin};
        else whole.centre = {all.left() + half.width() - margin, begin.y()};
        // The first column is at the border of a picture in columns.
        if (!scene->jumps.empty()) {
            whole.centre = all.topLeft() + QPointF(half.width() - margin, half.height() - margin);
        }
        if (all.width() < 2 * half.width()) whole.centre.setX(all.center().x());
        if (all.height() < 2 * half.height()) whole.centre.setY(all.center().y());
    }
    m_view.placeCamera(whole);
    m_home = Home{whole, false};
}

/// A scene that nobody has moved since it was placed or fitted is placed or fitted into the new size.
void ScenePlacement::placeAgain() {
    if (!m_view.painter() || !isHome()) return;
    const bool isFitted = m_home->fitted;
    m_aside.reset();
    if (isFitted) m_view.placeCamera(fitted());
    else placeFirst();
    m_home = Home{m_view.camera(), isFitted};
    Q_EMIT m_view.cameraChanged();
}

/// Opening to a depth points at no place, as opening a box does: a scene that was fitted is fitted again. It may come
/// in parts; from the first one that opens or closes something on, each is fitted.
void ScenePlacement::fitWhatOpened(const SceneLayout& before) {
    const auto scene = m_view.scene();
    const auto turned = [&](const layout::SceneItem& item) {
        const ItemId then = item.what.expandable ? before.find(item.key) : ItemId();
        return then && before.item(then).what.open != item.what.open;
    };
    // Columns that come or go move everything.
    m_refits = m_refits || before.jumps.size() != scene->jumps.size() ||
               std::any_of(scene->items.begin(), scene->items.end(), turned);
    if (!m_refits) return;
    m_view.stopFlight();
    m_view.placeCamera(fitted());
    m_home = Home{m_view.camera(), true};
}

/// An item is where it was: its corner `offset` pixels from the middle.
void ScenePlacement::putAt(ItemId item, QPointF offset, double scale) {
    m_view.placeCamera({toQt(m_view.scene()->item(item).rect).topLeft() - offset / scale, scale});
}

/// The first scene of a document: where it was looked at before it was read again, where the last session left it, or
/// from its beginning.
void ScenePlacement::placeNew() {
    placeFirst();
    const context::Navigation& navigation = m_context.navigation();
    const auto put = [this](const context::Selection& at, QPointF offset, double scale) {
        if (const ItemId item = itemOf(*m_view.scene(), at)) putAt(item, offset, scale);
    };
    if (m_kept && m_kept->location == m_context.loader().location()) {
        const graph::NodeId node =
            m_kept->node.empty() ? graph::NodeId() : m_context.model().graph().findNode(m_kept->node);
        put(node.valid() ? navigation.selectionOf(node)
                         : navigation.selectionOf(QString::fromStdString(m_kept->qualname)),
            m_kept->corner - middle(), m_kept->scale);
        return;
    }
    const Place& last = m_state.place();
    if (last.kind == Place::Kind::Fitted) {
        m_view.placeCamera(fitted());
        m_home = Home{m_view.camera(), true};
    } else if (last.kind == Place::Kind::Moved) {
        put(last.scope.valid() ? navigation.selectionOf(last.scope) : navigation.selectionOf(last.node), last.offset,
            last.scale);
    }
}

void ScenePlacement::rememberSoon() {
    if (!m_rememberTimer.isActive()) m_rememberTimer.start();
}

void ScenePlacement::remember() {
    if (!m_view.painter() || m_isFirst || !m_context.model().isOpen()) return;
    if (m_view.isFlying()) return m_rememberTimer.start();  // on its way
    Place place;
    if (!isHome()) {
        const std::optional<SceneAnchor> anchor = chooseAnchor();
        if (!anchor) return;
        place.kind = Place::Kind::Moved;
        place.scope = anchor->scope;
        if (!anchor->scope.valid() && anchor->expr.valid())
            if (const auto& outputs = m_context.model().graph().expr(anchor->expr).outputs; !outputs.empty())
                place.node = outputs.front();
        place.offset = anchor->corner - middle();
        place.scale = anchor->scale;
        if (!place.scope.valid() && !place.node.valid()) return;
    } else if (m_home->fitted) {
        place.kind = Place::Kind::Fitted;
    }
    m_state.keepPlace(place);
}

void ScenePlacement::keepForReload() {
    m_kept.reset();
    if (!m_view.painter() || m_isFirst) return;
    const std::optional<SceneAnchor> anchor = chooseAnchor();
    if (!anchor) return;
    const graph::InternalGraph& graph = m_view.painter()->items().graph();
    Kept kept{m_shownLocation, {}, {}, anchor->corner, anchor->scale};
    if (anchor->scope.valid()) kept.qualname = graph.scope(anchor->scope).qualname;
    else if (anchor->expr.valid() && !graph.expr(anchor->expr).outputs.empty())
        kept.node = graph.node(graph.expr(anchor->expr).outputs.front()).name;
    m_kept = std::move(kept);
}

void ScenePlacement::reset() {
    m_held.reset();
    m_beforeParts.reset();
    m_aside.reset();
    m_refits = false;
    m_isUsed = false;
    m_isFirst = true;
}

void ScenePlacement::takeOver(const ScenePlacement& other) {
    m_held.reset();
    m_shownLocation = other.m_shownLocation;
    m_home = other.m_home;
    m_aside.reset();
    m_isUsed = true;
    m_isFirst = false;
}

void ScenePlacement::windowResized(QSize before) {
    if (!m_view.painter() || !before.isValid() || before.isEmpty()) return;
    m_settles.start();
    m_view.endFlight();  // where it leads is what is to be seen
    keepSoon(before);
    Q_EMIT m_view.cameraChanged();
    placeAgain();
}

/// What is selected stays in view when the canvas gets smaller: later, as sizes may come and go while panels are laid
/// out.
void ScenePlacement::keepSoon(QSize before) {
    const ItemId current = m_view.currentItem();
    if (!current) return;
    const QRectF rect = toQt(m_view.scene()->item(current).rect);
    const bool wasSeen =
        QRectF(QPointF(), QSizeF(before))
            .intersects({m_view.camera().toPixel(rect.topLeft(), before), rect.size() * m_view.camera().scale});
    if (wasSeen && !m_keepInView.isActive()) m_keepInView.start();
}

void ScenePlacement::neighboursResized(QSize before, QPointF moved) {
    if (!m_view.painter() || !before.isValid() || before.isEmpty()) return;
    // Panels are still coming with the model, or are being laid out in a window of another size.
    if (!m_isUsed || m_settles.isActive()) return windowResized(before);
    const bool isFlying = m_view.isFlying();
    const Camera seen = m_view.camera();
    m_view.endFlight();
    keepSoon(before);
    const QPointF grown(m_view.size().width() - before.width(), m_view.size().height() - before.height());
    const auto kept = [&](Camera camera) {
        camera.centre += (grown / 2 + moved) / camera.scale;
        return camera;
    };
    Camera camera = m_view.camera();
    const bool goesOn = m_aside && m_aside->now == camera;
    if (!goesOn) m_aside = Aside{camera, before, {}, {}};
    m_aside->moved += moved;
    if (goesOn && m_view.size() == QSizeF(m_aside->size) && m_aside->moved.isNull()) camera = m_aside->before;
    else if (const Camera same = kept(camera); showsCurrent(same)) camera = same;
    else camera = shifted(same, camera.visible(before).intersected(toQt(m_view.scene()->bounds)), m_view.size());
    m_aside->now = camera;
    m_view.placeCamera(isFlying ? kept(seen) : camera);
    Q_EMIT m_view.cameraChanged();
    if (isFlying) m_view.flyTo(camera);
}

/// What is to be seen of the current item: all of it, of an open box where its title is. It opens from there, and what
/// is inside may reach out of any view.
QRectF ScenePlacement::placeOfCurrent(double scale) const {
    const layout::SceneItem& item = m_view.scene()->item(m_view.currentItem());
    QRectF rect = toQt(item.rect);
    if (item.what.open) rect.setSize(rect.size().boundedTo(kOpenTitle / scale));
    return rect;
}

/// What was clicked stays under the mouse, whatever else a panel covers.
bool ScenePlacement::showsCurrent(const Camera& camera) const {
    return m_view.currentItem() && camera.visible(m_view.size()).contains(placeOfCurrent(camera.scale));
}

/// Moves the camera as little as needed to show the current item; what is too large to be seen whole shows a part.
void ScenePlacement::keepInView() {
    const ItemId current = m_view.currentItem();
    if (!current) return;
    Camera camera = m_view.camera();
    const QRectF rect = placeOfCurrent(camera.scale);
    const double margin = 12 / camera.scale;
    const QRectF view = m_view.visible().adjusted(margin, margin, -margin, -margin);
    const auto shift = [](double low, double high, double from, double to) {
        if (high - low > to - from) return low > to || high < from ? low - from : 0.0;
        return low < from ? low - from : high > to ? high - to : 0.0;
    };
    camera.centre += QPointF(shift(rect.left(), rect.right(), view.left(), view.right()),
                             shift(rect.top(), rect.bottom(), view.top(), view.bottom()));
    camera = uncovering(camera, rect, m_view.size(), m_view.covers());
    if (m_aside && m_aside->now == m_view.camera()) m_aside->now = camera;
    m_view.placeCamera(camera);
    Q_EMIT m_view.cameraChanged();
}

}  // namespace sonde::canvas
