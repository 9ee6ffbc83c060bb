#pragma once

class QMenu;

namespace sonde::context {
class InspectorContext;
}

namespace sonde::canvas {

class GraphCanvas;

/// What the context menu of a canvas holds for the item that has the keyboard, and for what is selected. Its actions
/// stay valid after it.
class CanvasMenu {
  public:
    CanvasMenu(GraphCanvas& canvas, context::InspectorContext& context) : m_canvas(canvas), m_context(context) {}

    void fill(QMenu& menu);

  private:
    void addRuns(QMenu& menu);

    GraphCanvas& m_canvas;
    context::InspectorContext& m_context;
};

}  // namespace sonde::canvas
