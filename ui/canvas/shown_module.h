#pragma once

#include "ui/canvas/canvas_view.h"
#include "ui/context/navigation.h"

namespace sonde::canvas {

/// The innermost module that is looked at: that of the selection if the canvas is the active one or shows it, else of
/// the open box around the middle, unless that is a small part of what is shown. Two canvases on one model so each say
/// where they are.
graph::ScopeId shownModule(const CanvasView& view, const context::Selection& selection, bool isActive);

}  // namespace sonde::canvas
