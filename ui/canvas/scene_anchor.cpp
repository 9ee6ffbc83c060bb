#include "ui/canvas/scene_anchor.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sonde::canvas {

using layout::ItemId;
using layout::ItemKind;
using layout::SceneLayout;

namespace {

QPointF nearestPlace(const QRectF& rect, QPointF to) {
    return {std::clamp(to.x(), rect.left(), rect.right()), std::clamp(to.y(), rect.top(), rect.bottom())};
}

/// The item of a scene that stays where it is while the next one takes its place: on the screen, near the middle.
class AnchorChoice {
  public:
    AnchorChoice(const SceneLayout& shown, const SceneLayout* next, QPointF middle)
        : m_shown(shown), m_next(next), m_middle(middle), m_isRead(shown.items.size(), false) {
        for (const layout::SceneEdge& edge : shown.edges) m_isRead[edge.to.index()] = true;
    }

    void consider(std::size_t id, QPointF place) {
        const layout::SceneItem& item = m_shown.items[id];
        if (item.what.open || item.what.kind == ItemKind::Stub) return;
        const QPointF d = place - m_middle;
        const std::pair<int, double> distance{rank(id), QPointF::dotProduct(d, d)};
        if (distance >= m_nearest) return;
        m_nearest = distance;
        m_best = ItemId(id);
    }
    ItemId best() const { return m_best; }

  private:
    /// A box that opens grows to both sides of its line, an input is before all that opens, and constants are placed
    /// where there is room: none of them tells where the line of operations goes on, so others come first, if there
    /// are any.
    int rank(std::size_t id) const {
        const layout::SceneItem& item = m_shown.items[id];
        if (!staysClosed(item, m_next)) return 3;
        return item.what.kind == ItemKind::Input ? 1 : m_isRead[id] ? 0 : 2;
    }

    const SceneLayout& m_shown;
    const SceneLayout* m_next;
    QPointF m_middle;
    std::vector<bool> m_isRead;
    std::pair<int, double> m_nearest{4, 0};
    ItemId m_best;
};

}  // namespace

SceneAnchor anchorOf(const ShownScene& shown, ItemId id) {
    const layout::SceneItem& item = shown.index->scene().item(id);
    SceneAnchor anchor;
    anchor.key = item.key;
    anchor.expr = item.what.expr;
    if (item.what.kind == ItemKind::Module) anchor.scope = item.what.scope;
    anchor.corner = shown.camera.toPixel(toQt(item.rect).topLeft(), shown.size);
    anchor.scale = shown.camera.scale;
    return anchor;
}

std::optional<SceneAnchor> cornerAnchor(const ShownScene& shown, ItemId id) {
    const QRectF rect = toQt(shown.index->scene().item(id).rect);
    if (!shown.camera.visible(shown.size).contains(rect.topLeft())) return std::nullopt;
    return anchorOf(shown, id);
}

bool staysClosed(const layout::SceneItem& item, const SceneLayout* next) {
    if (item.what.open) return false;
    if (!next) return true;
    const ItemId then = item.what.kind == ItemKind::Module ? next->itemOf(item.what.scope)
                        : item.what.expr.valid()           ? next->itemOf(item.what.expr)
                                                           : next->find(item.key);
    return then && next->item(then).key == item.key && !next->item(then).what.open;
}

std::optional<SceneAnchor> middleAnchor(const ShownScene& shown, const SceneLayout* next) {
    const SceneLayout& scene = shown.index->scene();
    const QRectF view = shown.camera.visible(shown.size);
    AnchorChoice choice(scene, next, view.center());
    for (const std::uint32_t id : shown.index->itemsWithin(view))
        choice.consider(id, toQt(scene.items[id].rect).center());
    // On the screen are only background, edges and open boxes: what is nearest to it stays.
    if (!choice.best())
        for (std::size_t id = 0; id < scene.items.size(); ++id)
            choice.consider(id, nearestPlace(toQt(scene.items[id].rect), view.center()));
    return choice.best() ? std::optional(anchorOf(shown, choice.best())) : std::nullopt;
}

ItemId findAnchor(const SceneLayout& scene, const SceneAnchor& anchor) {
    if (const ItemId same = scene.find(anchor.key)) return same;
    if (anchor.scope.valid())
        if (const ItemId item = scene.itemOf(anchor.scope)) return item;
    return anchor.expr.valid() ? scene.itemOf(anchor.expr) : ItemId();
}

}  // namespace sonde::canvas
