#include "ui/canvas/scene_transition.h"

#include <algorithm>
#include <utility>

#include "ui/context/background.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using layout::ItemId;

namespace {

/// More than this moving at once is neither smooth nor legible.
constexpr std::size_t kMaxMoving = 400;
constexpr int kTransitionMs = 180;

/// An item of two scenes.
struct Both {
    layout::ItemKey key;
    ItemId now, was;
};

/// Looks up all of `items`, which are sorted by key, in a scene.
void find(std::vector<Both>& items, const layout::SceneLayout& scene, ItemId Both::*place) {
    for (std::size_t i = 0; i < scene.items.size(); ++i) {
        const layout::ItemKey& key = scene.items[i].key;
        const auto found = std::ranges::lower_bound(items, key, {}, &Both::key);
        if (found != items.end() && found->key == key && !((*found).*place)) (*found).*place = ItemId(i);
    }
}

}  // namespace

/// Only what is in view before or after moves. Empty if nothing does, or too much.
std::vector<SceneTransition::Move> SceneTransition::movesFrom(const ScenePainter& before, const Camera& camera) const {
    const layout::SceneLayout &scene = *m_view.scene(), &old = before.index().scene();
    const QRectF view = m_view.visible();
    const std::vector<std::uint32_t> inView = m_view.painter()->index().itemsWithin(view);
    if (inView.size() > kMaxMoving) return {};
    std::vector<Both> moving;
    for (const std::uint32_t id : inView) moving.push_back({scene.items[id].key, {}, {}});
    for (const std::uint32_t id : before.index().itemsWithin(camera.visible(m_view.size())))
        moving.push_back({old.items[id].key, {}, {}});
    std::ranges::sort(moving, {}, &Both::key);
    const auto isSame = [](const Both& a, const Both& b) { return a.key == b.key; };
    moving.erase(std::unique(moving.begin(), moving.end(), isSame), moving.end());
    find(moving, scene, &Both::now);
    find(moving, old, &Both::was);
    std::erase_if(moving, [](const Both& both) { return !both.now; });
    std::ranges::sort(moving, {}, &Both::now);
    if (moving.size() > kMaxMoving) return {};
    const auto place = [&](const QRectF& rect) {
        const QPointF corner = m_view.toScene(camera.toPixel(rect.topLeft(), m_view.size()));
        return QRectF(corner, rect.size() * (camera.scale / m_view.camera().scale));
    };
    bool isAnyMoved = false;
    std::vector<Move> moves;
    for (const Both& both : moving) {
        const QRectF to = toQt(scene.item(both.now).rect);
        const QRectF from = both.was ? place(toQt(old.item(both.was).rect)) : QRectF();
        if (!to.intersects(view) && !from.intersects(view)) continue;
        isAnyMoved |= from.isNull() || (from.topLeft() - to.topLeft()).manhattanLength() > 1;
        moves.push_back({both.now.value, from});
    }
    return isAnyMoved ? moves : std::vector<Move>();
}

bool SceneTransition::start(std::shared_ptr<ScenePainter> before, const Camera& camera) {
    stop();
    const int duration = theme::Theme::instance().animationMs(kTransitionMs);
    if (duration <= 0 || !m_view.isShown()) return false;
    m_moves = movesFrom(*before, camera);
    if (m_moves.empty()) return false;
    m_before = std::move(before);
    m_cameraBefore = camera;
    m_done = 0;
    m_view.setChanging(true);
    m_animation = std::make_unique<QVariantAnimation>();
    m_animation->setStartValue(0.0);
    m_animation->setEndValue(1.0);
    m_animation->setDuration(duration);
    m_animation->setEasingCurve(QEasingCurve::InOutCubic);
    connect(m_animation.get(), &QVariantAnimation::valueChanged, this, [this](const QVariant& value) {
        m_done = value.toDouble();
        Q_EMIT advanced();
    });
    // Queued: the animation must not be destroyed while it tells that it ended.
    connect(
        m_animation.get(), &QVariantAnimation::finished, this,
        [this, ended = m_animation.get()] {
            if (ended == m_animation.get()) stop();
            Q_EMIT advanced();
        },
        Qt::QueuedConnection);
    m_animation->start();
    return true;
}

void SceneTransition::stop() {
    if (!m_before) return;
    m_animation.reset();
    m_moves.clear();
    context::freeLater(std::exchange(m_before, nullptr));
    m_view.setChanging(false);
}

void SceneTransition::paintItems(QPainter& painter, const SceneMarks& marks, bool open) const {
    const auto scene = m_view.scene();
    const ScenePainter& drawn = *m_view.painter();
    const auto mix = [this](double a, double b) { return a + (b - a) * m_done; };
    for (const Move& move : m_moves) {
        layout::SceneItem item = scene->items[move.item];
        if (item.what.open != open) continue;
        if (!move.from.isNull())
            item.rect = {mix(move.from.x(), item.rect.x), mix(move.from.y(), item.rect.y),
                         mix(move.from.width(), item.rect.width), mix(move.from.height(), item.rect.height)};
        painter.setOpacity(move.from.isNull() ? m_done : 1.0);
        const ItemId id(std::size_t{move.item});
        drawn.items().paint(painter, item, drawn.index().depth(id), id, marks, m_view.camera().scale);
    }
    painter.setOpacity(1);
}

void SceneTransition::paint(QPainter& painter, const SceneMarks& marks) const {
    const double scale = m_view.camera().scale;
    const QTransform now = m_view.camera().transform(m_view.size());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setTransform(now);
    paintItems(painter, marks, true);
    if (m_done < 0.5) {
        painter.setOpacity(1 - 2 * m_done);
        painter.setTransform(m_cameraBefore.transform(m_view.size()));
        m_before->paintEdges(painter, m_cameraBefore.visible(m_view.size()), scale);
    } else {
        painter.setOpacity(2 * m_done - 1);
        m_view.painter()->paintEdges(painter, m_view.visible(), scale);
    }
    painter.setTransform(now);
    paintItems(painter, marks, false);
    painter.resetTransform();
}

}  // namespace sonde::canvas
