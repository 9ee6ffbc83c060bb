#pragma once

#include "ui/canvas/canvas_navigation.h"
#include "ui/canvas/canvas_text.h"

class QAccessibleInterface;

namespace sonde::canvas {

/// How a canvas speaks to screen readers: a tree with one child for each item in view, which has the item's place on
/// the screen, its text and its state, and can be selected and opened. For a factory of QAccessible, which owns it; the
/// parts must live as long as `canvas`.
QAccessibleInterface* makeAccessibleCanvas(QWidget& canvas, const CanvasView& view, const CanvasText& text,
                                           CanvasNavigation& navigation);

/// Tells screen readers which item has the keyboard.
void announceCurrent(QWidget& canvas, const CanvasView& view, const CanvasText& text);

}  // namespace sonde::canvas
