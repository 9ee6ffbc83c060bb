#pragma once

#include <memory>
#include <optional>

#include "ui/canvas/camera.h"
#include "ui/canvas/scene_index.h"

namespace sonde::canvas {

/// A scene as a camera shows it on a widget of some size.
struct ShownScene {
    std::shared_ptr<const SceneIndex> index;
    Camera camera;
    QSizeF size;
};

/// Something that is to stay where it is on the screen while the scene changes around it.
struct SceneAnchor {
    layout::ItemKey key;
    graph::ExprId expr;
    graph::ScopeId scope;  ///< of a module
    QPointF corner;        ///< of the item, in pixels
    double scale = 1;
};

SceneAnchor anchorOf(const ShownScene& shown, layout::ItemId item);

/// Of an item whose corner is on the screen: one that nobody sees must not stay while all else moves.
std::optional<SceneAnchor> cornerAnchor(const ShownScene& shown, layout::ItemId item);

/// Whether an item is closed in the next scene, too, and so has its size there. Everything stays if there is none.
bool staysClosed(const layout::SceneItem& item, const layout::SceneLayout* next);

/// The item nearest to the middle of the view; off the screen only if there is none on it. Items that `next` opens come
/// last, before them what does not tell where the flow of data goes on: constants, and inputs.
std::optional<SceneAnchor> middleAnchor(const ShownScene& shown, const layout::SceneLayout* next = nullptr);

/// The same item in another scene, or what shows its module or operation there; none if nothing does.
layout::ItemId findAnchor(const layout::SceneLayout& scene, const SceneAnchor& anchor);

}  // namespace sonde::canvas
