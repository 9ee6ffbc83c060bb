#include <QPaintEvent>

#include <algorithm>

#include "ui/canvas/canvas_interaction.h"
#include "ui/canvas/canvas_overlays.h"
#include "ui/canvas/canvas_transition.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/theme/serial_paint.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using layout::ItemId;
using theme::ColorRole;

namespace {

/// Of the 16.7 ms of a frame, what painting tiles may take; the rest is for copying them and for the window.
constexpr std::chrono::microseconds kTileBudget{7000};
/// More than this moving at once is neither smooth nor legible.
constexpr std::size_t kMaxMoving = 400;
/// Of so many selected items the lines are set off.
constexpr std::size_t kMaxFollowed = 64;

}  // namespace

void GraphCanvas::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    if (!m_painter) {
        painter.fillRect(rect(), style().color(ColorRole::Canvas));
    } else if (m_transition) {
        paintTransition(painter);
    } else {
        paintScene(painter, event->region());
    }
    if (m_painter && !m_transition) paintOverlay(painter);
    paintNotice(painter);
    if (m_beside && m_context.canvases().activeNumber() == m_number) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(QPen(style().color(ColorRole::Accent), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

void GraphCanvas::paintScene(QPainter& painter, const QRegion& exposed) {
    const auto render = [this](QPainter& p, const QRectF& area, double scale) {
        m_painter->paint(p, m_marks, area, scale);
    };
    m_tilesComplete = m_tiles.paint(painter, exposed, m_camera, size(), devicePixelRatioF(),
                                    style().color(ColorRole::Canvas), render, kTileBudget);
    if (!m_tilesComplete) update();
    else m_idleTimer.start();
}

/// The items that show selected nodes, each once. A node that is out of sight may have lines that are not: few of them
/// are all taken.
std::vector<ItemId> GraphCanvas::selectedWithin(const QRectF& area) const {
    std::vector<ItemId> items;
    for (const graph::NodeId node : m_context.navigation().selectedNodes())
        if (const ItemId item = scene()->itemOf(m_context.model().graph().node(node).producer)) items.push_back(item);
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
    if (items.size() > kMaxFollowed)
        std::erase_if(items, [&](ItemId item) { return !area.intersects(toQt(scene()->item(item).rect)); });
    return items;
}

void GraphCanvas::paintOverlay(QPainter& painter) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setTransform(m_camera.transform(size()), true);
    const double scale = m_camera.scale;
    const QRectF seen = m_camera.visible(size()).adjusted(-20, -20, 20, 20);
    const ItemId current = currentItem();
    if (m_interaction->hoverEdge() >= 0)
        m_painter->paintEdgeHighlight(painter, m_interaction->hoverEdge(), seen, scale);
    if (m_interaction->hoverItem() && m_interaction->hoverItem() != current &&
        !scene()->item(m_interaction->hoverItem()).what.open)
        m_painter->paintHighlight(painter, m_interaction->hoverItem(), seen, scale, false);
    if (m_context.navigation().selectedNodes().size() > 1) {
        const std::vector<ItemId> selected = selectedWithin(seen);
        for (const ItemId item : selected) {
            // Lines of very many are no longer followed by anyone, and looking for each takes time.
            if (item == current) continue;
            if (selected.size() <= kMaxFollowed) m_painter->paintHighlight(painter, item, seen, scale, true);
            else m_painter->paintOutline(painter, item, scale, true);
        }
    }
    if (current) m_painter->paintHighlight(painter, current, seen, scale, true);
    painter.restore();
    if (const auto box = m_interaction->box()) {
        const QColor line = style().color(ColorRole::SelectionOutline);
        QColor fill = line;
        fill.setAlphaF(0.12F);
        theme::fillVeil(painter, box->rect.intersected(rect()), fill);
        painter.setPen(QPen(line, 1, box->zooms ? Qt::DashLine : Qt::SolidLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box->rect);
    }
}

void GraphCanvas::paintNotice(QPainter& painter) {
    if (!m_noticeShown) return;
    const QString text = m_painter ? tr("Computing layout… the previous one stays visible") : tr("Computing layout…");
    const CanvasStyle look = style();
    const QFont font = theme::Theme::instance().uiFont();
    painter.setFont(font);
    const QFontMetrics metrics(font);
    QRect notice(width() / 2 - metrics.horizontalAdvance(text) / 2 - 12, 12, metrics.horizontalAdvance(text) + 24,
                 metrics.height() + 12);
    // In a narrow canvas below the path of modules.
    if (const QRect path = m_overlays->pathPlace(); notice.intersects(path)) notice.moveTop(path.bottom() + 8);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(look.color(ColorRole::Border));
    painter.setBrush(look.color(ColorRole::Raised));
    painter.drawRoundedRect(notice, theme::kCornerRadius, theme::kCornerRadius);
    painter.setPen(look.color(ColorRole::Text));
    painter.drawText(notice, Qt::AlignCenter, text);
}

void GraphCanvas::startTransition(std::shared_ptr<ScenePainter> before, const Camera& cameraBefore) {
    m_transition.reset();
    const int duration = theme::Theme::instance().animationMs(180);
    if (duration <= 0 || !isVisible()) return;
    auto transition = std::make_unique<Transition>();
    const layout::SceneLayout& old = before->index().scene();
    const QRectF view = m_camera.visible(size());
    const std::vector<std::uint32_t> inView = m_painter->index().itemsWithin(view);
    if (inView.size() > kMaxMoving) return;
    // Only what is in view before or after moves: what it is called, and where it is in both pictures.
    struct Both {
        layout::ItemKey key;
        ItemId now, was;
    };
    std::vector<Both> moving;
    for (const std::uint32_t id : inView) moving.push_back({scene()->items[id].key, {}, {}});
    for (const std::uint32_t id : before->index().itemsWithin(cameraBefore.visible(size())))
        moving.push_back({old.items[id].key, {}, {}});
    std::sort(moving.begin(), moving.end(), [](const Both& a, const Both& b) { return a.key < b.key; });
    moving.erase(std::unique(moving.begin(), moving.end(), [](const Both& a, const Both& b) { return a.key == b.key; }),
                 moving.end());
    const auto find = [&](const layout::SceneLayout& in, ItemId Both::*place) {
        for (std::size_t i = 0; i < in.items.size(); ++i) {
            const auto found =
                std::lower_bound(moving.begin(), moving.end(), in.items[i].key,
                                 [](const Both& both, const layout::ItemKey& key) { return both.key < key; });
            if (found != moving.end() && found->key == in.items[i].key && !((*found).*place))
                (*found).*place = ItemId(i);
        }
    };
    find(*scene(), &Both::now);
    find(old, &Both::was);
    std::erase_if(moving, [](const Both& both) { return !both.now; });
    std::sort(moving.begin(), moving.end(), [](const Both& a, const Both& b) { return a.now < b.now; });
    if (moving.size() > kMaxMoving) return;
    const auto place = [&](const QRectF& rect) {
        const QPointF corner = m_camera.toScene(cameraBefore.toPixel(rect.topLeft(), size()), size());
        return QRectF(corner, rect.size() * (cameraBefore.scale / m_camera.scale));
    };
    bool moves = false;
    for (const Both& both : moving) {
        const layout::SceneItem& item = scene()->item(both.now);
        const QRectF from = both.was ? place(toQt(old.item(both.was).rect)) : QRectF();
        if (!toQt(item.rect).intersects(view) && !from.intersects(view)) continue;
        moves |= from.isNull() || (from.topLeft() - toQt(item.rect).topLeft()).manhattanLength() > 1;
        transition->moves.push_back({both.now.value, from});
    }
    if (!moves) return;
    transition->before = std::move(before);
    transition->cameraBefore = cameraBefore;
    transition->animation.setStartValue(0.0);
    transition->animation.setEndValue(1.0);
    transition->animation.setDuration(duration);
    transition->animation.setEasingCurve(QEasingCurve::InOutCubic);
    m_transition = std::move(transition);
    connect(&m_transition->animation, &QVariantAnimation::valueChanged, this, [this](const QVariant& value) {
        if (m_transition) m_transition->t = value.toDouble();
        update();
    });
    // Queued: the animation must not be destroyed while it tells that it ended.
    connect(
        &m_transition->animation, &QVariantAnimation::finished, this,
        [this] {
            m_transition.reset();
            update();
        },
        Qt::QueuedConnection);
    m_transition->animation.start();
}

void GraphCanvas::paintTransition(QPainter& painter) {
    const double t = m_transition->t, scale = m_camera.scale;
    painter.fillRect(rect(), style().color(ColorRole::Canvas));
    painter.setRenderHint(QPainter::Antialiasing);
    const ItemPainter& items = m_painter->items();
    const auto paintItems = [&](bool open) {
        for (const Transition::Move& move : m_transition->moves) {
            layout::SceneItem item = scene()->items[move.item];
            if (item.what.open != open) continue;
            if (!move.from.isNull()) {
                const auto mix = [t](double a, double b) { return a + (b - a) * t; };
                item.rect = {mix(move.from.x(), item.rect.x), mix(move.from.y(), item.rect.y),
                             mix(move.from.width(), item.rect.width), mix(move.from.height(), item.rect.height)};
            }
            painter.setOpacity(move.from.isNull() ? t : 1.0);
            const ItemId id(std::size_t{move.item});
            items.paint(painter, item, m_painter->index().depth(id), m_marks.of(id), m_marks, scale);
        }
        painter.setOpacity(1);
    };
    painter.setTransform(m_camera.transform(size()));
    paintItems(true);
    if (t < 0.5) {
        painter.setOpacity(1 - 2 * t);
        painter.setTransform(m_transition->cameraBefore.transform(size()));
        m_transition->before->paintEdges(painter, m_transition->cameraBefore.visible(size()), scale);
    } else {
        painter.setOpacity(2 * t - 1);
        m_painter->paintEdges(painter, m_camera.visible(size()), scale);
    }
    painter.setTransform(m_camera.transform(size()));
    paintItems(false);
    painter.resetTransform();
}

}  // namespace sonde::canvas
