#include "ui/canvas/shown_module.h"

#include "ui/canvas/scene_selection.h"

namespace sonde::canvas {

using layout::ItemId;

graph::ScopeId shownModule(const CanvasView& view, const context::Selection& selection, bool isActive) {
    const auto scene = view.scene();
    if (!scene) return {};
    const QRectF seen = view.visible();
    if (selection.scope.valid()) {
        const ItemId current = view.currentItem();
        const ItemId item = current ? current : itemOf(*scene, selection);
        if (isActive || (item && seen.intersects(toQt(scene->item(item).rect)))) return selection.scope;
    }
    for (ItemId at = view.painter()->index().itemAt(seen.center()); at; at = scene->item(at).parent) {
        const layout::ItemDescription& what = scene->item(at).what;
        const QRectF box = toQt(scene->item(at).rect);
        const bool small = seen.contains(box) && box.width() < seen.width() / 2 && box.height() < seen.height() / 2;
        if (what.kind == layout::ItemKind::Module && what.open && !small) return what.scope;
    }
    return {};
}

}  // namespace sonde::canvas
