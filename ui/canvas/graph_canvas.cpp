#include "ui/canvas/graph_canvas.h"

#include <QApplication>
#include <QVariantAnimation>

#include "ui/canvas/card_labels.h"
#include "ui/canvas/export.h"
#include "ui/canvas/layout_service.h"
#include "ui/context/comparison.h"
#include "ui/context/count_text.h"
#include "ui/context/problems.h"
#include "ui/context/value_measures.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using layout::ItemId;
using layout::SceneLayout;
using theme::Theme;

CanvasStyle GraphCanvas::style() const {
    return {Theme::instance().scheme(),
            Theme::instance().textScale(),
            m_context.settings().showsNames(),
            m_context.settings().showsAttributes(),
            m_labels,
            m_context.settings().edgeWidths()};
}

std::shared_ptr<const SceneLayout> GraphCanvas::scene() const {
    return m_painter ? m_painter->index().sharedScene() : nullptr;
}

GraphCanvas::Anchor GraphCanvas::anchorIn(const Picture& picture, ItemId id) const {
    const layout::SceneItem& item = picture.index->scene().item(id);
    Anchor anchor;
    anchor.key = item.key;
    anchor.expr = item.what.expr;
    if (item.what.kind == layout::ItemKind::Module) anchor.scope = item.what.scope;
    anchor.corner = picture.camera.toPixel(toQt(item.rect).topLeft(), size());
    anchor.scale = picture.camera.scale;
    return anchor;
}

std::optional<GraphCanvas::Anchor> GraphCanvas::anchorOf(ItemId id) const {
    if (!m_painter || !id) return std::nullopt;
    return anchorIn({m_painter->sharedIndex(), m_camera}, id);
}

std::optional<GraphCanvas::Anchor> GraphCanvas::chooseAnchor(const SceneLayout* next) const {
    if (!m_painter) return std::nullopt;
    // What is selected is what one looks at, if it is on the screen; else what stands nearest to the middle.
    const ItemId current = currentItem();
    if (current && m_camera.visible(size()).intersects(toQt(scene()->item(current).rect))) return anchorOf(current);
    // Parts of the next layout came first: what was in the middle before them stays, unless the view was moved since.
    const bool isPartial = m_beforePartial && m_camera == m_partialCamera;
    const Picture picture = isPartial ? *m_beforePartial : Picture{m_painter->sharedIndex(), m_camera};
    const SceneLayout& shown = picture.index->scene();
    const QRectF view = picture.camera.visible(size());
    // A box that opens grows to both sides of its line, and constants stand where there is room: neither tells where
    // the line of operations goes on, so others come first, as long as there are any.
    const SceneIndex::Found found = picture.index->within(view);
    std::vector<bool> read(shown.items.size(), false);
    for (const std::uint32_t edge : found.edges) read[shown.edges[edge].to.index()] = true;
    const auto stays = [next](const layout::SceneItem& item) {
        if (!next) return true;
        const ItemId then = item.what.kind == layout::ItemKind::Module ? next->itemOf(item.what.scope)
                            : item.what.expr.valid()                   ? next->itemOf(item.what.expr)
                                                                       : ItemId();
        return then && next->item(then).key == item.key && !next->item(then).what.open;
    };
    ItemId best;
    std::pair<int, double> nearest{3, 0};
    for (const std::uint32_t id : found.items) {
        const layout::SceneItem& item = shown.items[id];
        if (item.what.open || item.what.kind == layout::ItemKind::Stub) continue;
        const bool aside = item.what.kind != layout::ItemKind::Input && !read[id];
        const QPointF d = toQt(item.rect).center() - view.center();
        const std::pair<int, double> distance{!stays(item) ? 2 : aside ? 1 : 0, QPointF::dotProduct(d, d)};
        if (distance < nearest) {
            nearest = distance;
            best = ItemId(std::size_t{id});
        }
    }
    return best ? std::optional(anchorIn(picture, best)) : std::nullopt;
}

/// Until the layout is complete, the picture before its first part says what stays in place.
void GraphCanvas::keepPicture(const Picture& before, bool final) {
    if (final) return m_beforePartial.reset();
    if (!m_beforePartial || before.camera != m_partialCamera) m_beforePartial = before;
    m_partialCamera = m_camera;
}

ItemId GraphCanvas::findAnchor(const Anchor& anchor) const {
    if (const ItemId same = scene()->find(anchor.key)) return same;
    if (anchor.scope.valid())
        if (const ItemId item = scene()->itemOf(anchor.scope)) return item;
    return anchor.expr.valid() ? scene()->itemOf(anchor.expr) : ItemId();
}

bool GraphCanvas::isIdle() const {
    return !m_layoutJob.isActive() && !m_previewJob.isActive() && !m_transition && !m_flight &&
           !m_keepInView.isActive() && (m_tilesComplete || !m_painter || !isVisible());
}

QRectF GraphCanvas::itemRect(ItemId item) const {
    if (!m_painter || !item) return {};
    const QRectF rect = toQt(scene()->item(item).rect);
    return {m_camera.toPixel(rect.topLeft(), size()), rect.size() * m_camera.scale};
}

QRectF GraphCanvas::rectOf(graph::ExprId expr) const { return m_painter ? itemRect(scene()->itemOf(expr)) : QRectF(); }
QRectF GraphCanvas::rectOf(graph::ScopeId scope) const {
    return m_painter ? itemRect(this->scene()->itemOf(scope)) : QRectF();
}

QString GraphCanvas::hiddenText() const {
    if (!m_painter) return {};
    QStringList parts;
    if (const auto n = scene()->filteredExprs) parts << tr("%1 filtered out").arg(context::countText(n));
    if (const auto n = scene()->foldedExprs)
        parts << tr("%1 in %2 repeated blocks").arg(context::countText(n), context::countText(scene()->foldedBlocks));
    if (const auto n = scene()->hiddenExprs) parts << tr("%1 in collapsed modules").arg(context::countText(n));
    if (const auto n = scene()->shapeExprs)
        parts << (n == 1 ? tr("1 shape computation") : tr("%1 shape computations").arg(context::countText(n)));
    if (const auto n = scene()->hiddenConstants)
        parts << (n == 1 ? tr("1 weight or constant") : tr("%1 weights and constants").arg(context::countText(n)));
    return parts.isEmpty() ? QString() : tr("Hidden: ") + parts.join(QStringLiteral(", "));
}

QString GraphCanvas::textTwin() const {
    return m_painter ? sceneAsText(m_painter->items().graph(), *scene()) : QString();
}

GraphCanvas::Snapshot GraphCanvas::snapshot() const {
    if (!m_painter) return {};
    return {m_painter->again(m_painter->items().style()), m_marks, pictureOf(*m_painter)};
}

GraphCanvas::Snapshot GraphCanvas::snapshotForPaper(bool whole) const {
    if (!m_painter) return {};
    CanvasStyle look = m_painter->items().style();
    SceneMarks marks = m_marks;
    if (marks.coloring && look.scheme != theme::Scheme::Light)
        marks.coloring =
            std::make_shared<const Coloring>(m_measures, m_context.settings().colorBy(), theme::Scheme::Light);
    look.scheme = theme::Scheme::Light;
    const QRectF all = pictureOf(*m_painter);
    return {m_painter->again(look), std::move(marks), whole ? all : m_camera.visible(size()).intersected(all)};
}

QImage GraphCanvas::picture(double scale) const {
    if (!m_painter) return {};
    return sceneImage(*m_painter, m_marks,
                      m_camera.visible(size()).intersected(toQt(scene()->bounds).adjusted(-24, -24, 24, 24)),
                      scale * m_camera.scale);
}

}  // namespace sonde::canvas
