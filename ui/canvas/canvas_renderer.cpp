#include "ui/canvas/canvas_renderer.h"

#include <QPainter>
#include <QWidget>

#include <algorithm>

#include "ui/theme/serial_paint.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using layout::ItemId;
using theme::ColorRole;

namespace {

/// Of the 16.7 ms of a frame, what painting tiles may take; the rest is for copying them and for the window.
constexpr std::chrono::microseconds kTileBudget{7000};
/// Of so many selected items the lines are set off.
constexpr std::size_t kMaxFollowed = 64;
constexpr int kIdleMs = 30;

}  // namespace

CanvasRenderer::CanvasRenderer(QWidget& widget, CanvasView& view, const CanvasMarks& marks,
                               const CanvasInteraction& interaction, const context::InspectorContext& context)
    : m_widget(widget), m_view(view), m_marks(marks), m_interaction(interaction), m_context(context),
      m_transition(view) {
    m_idleTimer.setSingleShot(true);
    m_idleTimer.setInterval(kIdleMs);
    connect(&m_idleTimer, &QTimer::timeout, this, &CanvasRenderer::prepareTiles);
    connect(&m_transition, &SceneTransition::advanced, this, [this] { m_widget.update(); });
    connect(&view, &CanvasView::cameraChanged, this, &CanvasRenderer::cameraMoved);
    connect(&view, &CanvasView::currentChanged, this, [this] { m_widget.update(); });
    connect(&marks, &CanvasMarks::areaChanged, this, &CanvasRenderer::invalidate);
}

void CanvasRenderer::cameraMoved() {
    m_isComplete = false;
    m_widget.update();
}

void CanvasRenderer::sceneChanged() {
    m_tiles.invalidate(false);
    m_isComplete = false;
    m_widget.update();
}

void CanvasRenderer::invalidate(const QRectF& area) {
    area.isNull() ? m_tiles.invalidate() : m_tiles.invalidate(area);
    m_isComplete = false;
    m_widget.update();
}

bool CanvasRenderer::startTransition(std::shared_ptr<ScenePainter> before, const Camera& camera) {
    return m_transition.start(std::move(before), camera);
}

TileCache::Render CanvasRenderer::render() const {
    return [this](QPainter& painter, const QRectF& area, double scale) {
        m_view.painter()->paint(painter, m_marks.now(), area, scale);
    };
}

void CanvasRenderer::paint(QPainter& painter, const QRegion& exposed) {
    if (!m_view.painter() || m_transition.isRunning())
        painter.fillRect(m_widget.rect(), theme::color(ColorRole::Canvas));
    if (!m_view.painter()) return;
    if (m_transition.isRunning()) return m_transition.paint(painter, m_marks.now());
    paintTiles(painter, exposed);
    paintSelection(painter);
    paintBox(painter);
}

void CanvasRenderer::paintTiles(QPainter& painter, const QRegion& exposed) {
    m_isComplete = m_tiles.paint(painter, exposed, m_view.camera(), m_widget.size(), m_widget.devicePixelRatioF(),
                                 theme::color(ColorRole::Canvas), render(), kTileBudget);
    if (!m_isComplete) m_widget.update();
    else m_idleTimer.start();
}

void CanvasRenderer::prepareTiles() {
    if (!m_view.painter() || !m_isComplete || m_interaction.isDragging()) return;
    if (m_tiles.prepareAround(m_view.camera(), m_widget.size(), m_widget.devicePixelRatioF(),
                              theme::color(ColorRole::Canvas), render()))
        m_idleTimer.start();
}

/// The items that show selected nodes, each once. A node that is out of sight may have lines that are not: few of them
/// are all taken.
std::vector<ItemId> CanvasRenderer::selectedWithin(const QRectF& area) const {
    const auto scene = m_view.scene();
    std::vector<ItemId> items;
    for (const graph::NodeId node : m_context.navigation().selectedNodes())
        if (const ItemId item = scene->itemOf(m_context.model().graph().node(node).producer)) items.push_back(item);
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
    if (items.size() > kMaxFollowed)
        std::erase_if(items, [&](ItemId item) { return !area.intersects(toQt(scene->item(item).rect)); });
    return items;
}

void CanvasRenderer::paintSelection(QPainter& painter) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setTransform(m_view.camera().transform(m_view.size()), true);
    const ScenePainter& scene = *m_view.painter();
    const double scale = m_view.camera().scale;
    const QRectF seen = m_view.visible().adjusted(-20, -20, 20, 20);
    const ItemId current = m_view.currentItem(), hovered = m_interaction.hoverItem();
    if (m_interaction.hoverEdge() >= 0) scene.paintEdgeHighlight(painter, m_interaction.hoverEdge(), seen, scale);
    if (hovered && hovered != current && !m_view.scene()->item(hovered).what.open)
        scene.paintHighlight(painter, hovered, seen, scale, false);
    if (m_context.navigation().selectedNodes().size() > 1) {
        const std::vector<ItemId> selected = selectedWithin(seen);
        for (const ItemId item : selected) {
            // Lines of very many are no longer followed by anyone, and looking for each takes time.
            if (item == current) continue;
            if (selected.size() <= kMaxFollowed) scene.paintHighlight(painter, item, seen, scale, true);
            else scene.paintOutline(painter, item, scale, true);
        }
    }
    if (current) scene.paintHighlight(painter, current, seen, scale, true);
    if (current || hovered || m_interaction.hoverEdge() >= 0) scene.paintTitles(painter, m_marks.now(), seen, scale);
    painter.restore();
}

void CanvasRenderer::paintBox(QPainter& painter) {
    const auto box = m_interaction.box();
    if (!box) return;
    const QColor line = theme::color(ColorRole::SelectionOutline);
    QColor fill = line;
    fill.setAlphaF(0.12F);
    theme::fillVeil(painter, box->rect.intersected(m_widget.rect()), fill);
    painter.setPen(QPen(line, 1, box->zooms ? Qt::DashLine : Qt::SolidLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box->rect);
}

}  // namespace sonde::canvas
