#pragma once

namespace sonde::canvas {

/// Tells Qt how a GraphCanvas speaks to screen readers: a tree with one child for each item in view, which has the
/// item's place on the screen, its text and its state, and can be selected and opened. May be called any number of
/// times.
void installCanvasAccessibility();

}  // namespace sonde::canvas
