#pragma once

#include <QRectF>

#include <memory>

#include "core/layout/scene.h"
#include "ui/canvas/scene_painter.h"

namespace sonde::canvas {

/// What a canvas drew at one time, for exportScene() and the like on a worker. It stays as it is whatever happens on
/// the canvas; no painter if there was no scene yet.
struct CanvasSnapshot {
    std::shared_ptr<const ScenePainter> painter;
    SceneMarks marks;
    QRectF area;  ///< of the whole graph, or what the canvas shows

    bool isWhole = true;
    std::shared_ptr<const layout::Outline> outline;
    layout::ViewState view;
    layout::SceneOptions options;
};

/// As files and paper show it: of a whole graph whose wrapping is Automatic in the columns that suit a page, as
/// `sonde render` draws them (layout::composePicture); else as the canvas drew it. Fails only with Cancelled.
base::Result<CanvasSnapshot> forPage(CanvasSnapshot snapshot, const base::WorkContext& work = {});

}  // namespace sonde::canvas
