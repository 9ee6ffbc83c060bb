#include "ui/canvas/canvas_snapshot.h"

#include <utility>

#include "ui/canvas/layout_service.h"
#include "ui/canvas/paging.h"

namespace sonde::canvas {

base::Result<CanvasSnapshot> forPage(CanvasSnapshot snapshot, const base::WorkContext& work) {
    if (!snapshot.painter || !snapshot.outline || !snapshot.isWhole ||
        snapshot.view.wrapping != layout::Wrapping::Automatic)
        return snapshot;
    SONDE_ASSIGN(layout::FirstView found, layOutPicture(*snapshot.outline, snapshot.view, snapshot.options, work));
    // Marks are by item: the canvas may have shown a former view when a new one was being laid out.
    if (found.scene->items.size() != snapshot.painter->index().scene().items.size()) return snapshot;
    const ItemPainter& items = snapshot.painter->items();
    snapshot.painter = std::make_shared<const ScenePainter>(std::make_shared<const SceneIndex>(std::move(found.scene)),
                                                            items.sharedGraph(), items.sharedMeasure(), items.style());
    snapshot.area = pictureOf(*snapshot.painter);
    return snapshot;
}

}  // namespace sonde::canvas
