#pragma once

#include "ui/canvas/canvas_marks.h"
#include "ui/canvas/canvas_navigation.h"
#include "ui/canvas/canvas_overlays.h"

namespace sonde::canvas {

/// What a canvas is made of, for what a user does with it.
struct CanvasParts {
    QWidget& widget;
    CanvasView& view;
    const CanvasMarks& marks;
    CanvasNavigation& navigation;
    CanvasOverlays& overlays;
    context::CanvasState& state;
    context::InspectorContext& context;
};

}  // namespace sonde::canvas
