#include "ui/canvas/canvas_navigation.h"

#include <QClipboard>
#include <QGuiApplication>

#include "ui/canvas/camera_moves.h"
#include "ui/canvas/item_text.h"
#include "ui/canvas/scene_selection.h"
#include "ui/models/module_result.h"

namespace sonde::canvas {

using context::Selection;
using layout::ItemId;
using layout::ItemKind;

CanvasNavigation::CanvasNavigation(CanvasView& view, ScenePlacement& placement, context::InspectorContext& context,
                                   int number)
    : m_view(view), m_placement(placement), m_context(context), m_number(number) {}

void CanvasNavigation::fitSelection() {
    const auto scene = m_view.scene();
    if (!scene) return;
    QRectF area;
    for (const graph::NodeId node : m_context.navigation().selectedNodes())
        if (const ItemId item = scene->itemOf(m_context.model().graph().node(node).producer))
            area |= toQt(scene->item(item).rect);
    if (const ItemId item = m_view.currentItem()) area |= toQt(scene->item(item).rect);
    if (!area.isEmpty()) m_view.flyTo(Camera::fitting(area, m_view.size(), 48, 2.0));
}

void CanvasNavigation::showItem(ItemId id) {
    if (!m_view.painter() || !id) return;
    const QRectF rect = toQt(m_view.scene()->item(id).rect);
    const Camera camera =
        uncovering(showing(m_view.camera(), rect, m_view.size()), rect, m_view.size(), m_view.covers());
    if (!(camera == m_view.camera())) m_view.flyTo(camera);
}

void CanvasNavigation::keepInView(graph::NodeId node) {
    const ItemId item =
        m_view.painter() ? m_view.scene()->itemOf(m_context.model().graph().node(node).producer) : ItemId();
    if (!item) return;
    const QRectF rect = toQt(m_view.scene()->item(item).rect);
    const Camera camera =
        uncovering(keepingInView(m_view.camera(), rect, m_view.size()), rect, m_view.size(), m_view.covers());
    if (!(camera == m_view.camera())) m_view.flyTo(camera);
}

void CanvasNavigation::ensureVisible(const Selection& selection) {
    if (const auto scene = m_view.scene()) showItem(itemOf(*scene, selection));
}

Selection CanvasNavigation::selectionOf(ItemId id) const {
    return canvas::selectionOf(m_view.scene()->item(id).what, m_context.model(), m_context.navigation());
}

void CanvasNavigation::selectItem(ItemId item) {
    m_view.setCurrent(item);
    m_context.navigation().select(selectionOf(item));
    Q_EMIT itemSelected();
}

void CanvasNavigation::goTo(ItemId item) {
    if (!m_view.painter() || !item) return;
    activate();
    selectItem(item);
    showItem(item);
}

void CanvasNavigation::adoptSelection() {
    const Selection& selection = m_context.navigation().selection();
    // A stub that was clicked keeps the keyboard although its value is made elsewhere.
    const ItemId current = m_view.currentItem();
    if (current && selectionOf(current) == selection) return;
    m_view.setCurrent(m_view.painter() ? itemOf(*m_view.scene(), selection) : ItemId());
}

void CanvasNavigation::followSelectionInside() {
    const Selection& selection = m_context.navigation().selection();
    if (selection.isNone()) return;
    const ItemId current = m_view.currentItem();
    if (current && (selectionOf(current) == selection || !m_view.scene()->item(current).what.open)) return;
    if (const ItemId item = itemOf(*m_view.scene(), selection)) m_view.setCurrent(item);
}

graph::NodeId CanvasNavigation::currentNode() const {
    // A module stands for what it returns.
    if (const graph::NodeId node = models::resultOf(m_context.model(), m_context.navigation().selection());
        node.valid())
        return node;
    const ItemId item = m_view.currentItem();
    return item ? nodeOf(m_context.model().graph(), m_view.scene()->item(item).what) : graph::NodeId();
}

void CanvasNavigation::walk(int dx, int dy) {
    if (!m_view.painter() || m_view.scene()->items.empty()) return;
    ItemId current = m_view.currentItem();
    if (!current) {
        // The first step goes to where the graph begins.
        for (const ItemId id : m_view.scene()->top)
            if (!current || m_view.scene()->item(id).what.kind == ItemKind::Input) {
                current = id;
                if (m_view.scene()->item(id).what.kind == ItemKind::Input) break;
            }
        selectItem(current);
        showItem(current);
        return;
    }
    // The arrows are those of the picture; the flow is downwards or to the right.
    const bool down = m_view.scene()->direction == layout::Direction::TopDown;
    const int along = down ? dy : dx, across = down ? dx : dy;
    using layout::Move;
    const Move move = along > 0 ? Move::Forward : along < 0 ? Move::Backward : across > 0 ? Move::Next : Move::Previous;
    const ItemId next = layout::neighbour(*m_view.scene(), current, move);
    if (!next) return;
    selectItem(next);
    showItem(next);
}

void CanvasNavigation::toggleItem(ItemId id) {
    if (!m_view.painter() || !id) return;
    const layout::SceneItem& item = m_view.scene()->item(id);
    if (!item.what.expandable) return;
    activate();
    m_placement.hold(id);
    if (item.what.kind == ItemKind::Module) state().setExpanded(item.what.scope, !item.what.open);
    else if (item.what.expr.valid()) state().setExpanded(item.what.expr, !item.what.open);
}

void CanvasNavigation::setAllInside(bool open) {
    activate();
    const ItemId id = m_view.currentItem();
    if (!id) {
        if (m_context.model().outline())
            state().expandToDepth(open ? static_cast<int>(layout::greatestDepth(*m_context.model().outline())) : 0);
        return;
    }
    const layout::ItemDescription& what = m_view.scene()->item(id).what;
    m_placement.hold(id);
    if (what.kind == ItemKind::Module) state().setExpandedRecursively(what.scope, open);
    else if (what.expandable) state().setExpanded(what.expr, open);
    else m_placement.release();
}

void CanvasNavigation::leaveModule() {
    const ItemId id = m_view.currentItem();
    if (!id) return;
    ItemId parent = m_view.scene()->item(id).parent;
    while (parent && !m_view.scene()->item(parent).what.expandable) parent = m_view.scene()->item(parent).parent;
    if (!parent) return;
    selectItem(parent);
    toggleItem(parent);
}

void CanvasNavigation::selectAll() {
    if (!m_view.painter()) return;
    std::vector<graph::NodeId> nodes;
    for (const layout::SceneItem& item : m_view.scene()->items)
        if (item.what.kind == ItemKind::Expr || item.what.kind == ItemKind::Input)
            if (const graph::NodeId node = nodeOf(m_context.model().graph(), item.what)) nodes.push_back(node);
    m_context.navigation().selectMany(nodes);
}

void CanvasNavigation::clearSelection() {
    m_view.setCurrent({});
    m_context.navigation().clearSelection();
}

void CanvasNavigation::copyName() {
    if (!m_context.model().isOpen()) return;
    QStringList names;
    for (const graph::NodeId node : m_context.navigation().selectedNodes())
        names << QString::fromStdString(m_context.model().graph().node(node).name);
    if (names.isEmpty() && !m_context.navigation().selection().isNone())
        names << m_context.navigation().selection().qualname;
    if (!names.isEmpty()) QGuiApplication::clipboard()->setText(names.join(u'\n'));
}

void CanvasNavigation::toggleWatch() {
    if (const graph::NodeId node = currentNode()) {
        m_placement.hold(m_view.currentItem());
        m_context.points().toggleWatch(node);
    }
}

void CanvasNavigation::toggleEnd() {
    if (const graph::NodeId node = currentNode()) m_context.points().toggleEnd(node);
}

void CanvasNavigation::jump(ItemId stub) {
    const layout::SceneItem& item = m_view.scene()->item(stub);
    if (item.what.values.empty()) return;
    const graph::NodeId value = item.what.values.front();
    if (item.source) {
        selectItem(item.source);
        showItem(item.source);
    }
    // The source may be a closed box: the value inside it is what was meant.
    if (!item.source || m_view.scene()->item(item.source).what.kind == ItemKind::Module)
        m_context.navigation().navigateTo(value);
}

void CanvasNavigation::followCurrent() {
    const ItemId id = m_view.currentItem();
    if (!id) return;
    const layout::SceneItem& item = m_view.scene()->item(id);
    if (item.what.kind == ItemKind::Stub) {
        jump(id);
        return;
    }
    for (std::size_t i = 0; i < m_view.scene()->items.size() && item.stubs > 0; ++i) {
        if (m_view.scene()->items[i].source != id) continue;
        selectItem(ItemId(i));
        showItem(ItemId(i));
        return;
    }
}

}  // namespace sonde::canvas
