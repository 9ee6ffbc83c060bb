#pragma once

#include <QObject>

#include "ui/canvas/scene_placement.h"

namespace sonde::canvas {

/// How a user goes about a graph: selects items, walks along edges, opens and closes boxes, and has things shown. What
/// is selected is the context's, so other canvases and panels follow.
class CanvasNavigation : public QObject {
    Q_OBJECT
  public:
    /// `number` is which of the context's canvases it is. All must outlive it.
    CanvasNavigation(CanvasView& view, ScenePlacement& placement, context::InspectorContext& context, int number);

    /// From now on commands are about this canvas.
    void activate() { m_context.canvases().setActive(m_number); }
    context::Selection selectionOf(layout::ItemId item) const;
    /// The node that commands are about: of the selection, else of the current item.
    graph::NodeId currentNode() const;

    void selectItem(layout::ItemId item);
    /// Opens or closes a box in place.
    void toggleItem(layout::ItemId item);
    /// Scrolls (and zooms in if it would be too small to read) until it is seen, off what covers the canvas.
    void showItem(layout::ItemId item);
    /// Scrolls only if the item of a node, or the closed box that holds it, is out of view, and no farther than needed.
    void keepInView(graph::NodeId node);
    /// Selects and shows an item of this canvas.
    void goTo(layout::ItemId item);
    /// From a stub to its producer.
    void jump(layout::ItemId stub);
    /// The selection has changed: its item has the keyboard, unless that which has it shows the selection as well.
    void adoptSelection();
    /// Another scene: what stood for the selected node may be open now, or what showed it closed.
    void followSelectionInside();

  public Q_SLOTS:
    /// Shows the whole graph.
    void fit() { m_placement.fit(); }
    void fitSelection();
    /// showItem() of what shows a selection; opens nothing. See Navigation::reveal() for what also opens.
    void ensureVisible(const sonde::context::Selection& selection);

    /// Steps along edges and among siblings; the direction is that of the screen.
    void walkUp() { walk(0, -1); }
    void walkDown() { walk(0, 1); }
    void walkLeft() { walk(-1, 0); }
    void walkRight() { walk(1, 0); }
    void toggleCurrent() { toggleItem(m_view.currentItem()); }
    void expandAllInside() { setAllInside(true); }
    void collapseAllInside() { setAllInside(false); }
    /// Selects and closes the module around the current item.
    void leaveModule();
    /// From a stub to what makes its value, or the reverse.
    void followCurrent();

    void selectAll();
    void clearSelection();
    void copyName();
    void toggleWatch();
    void toggleEnd();

  Q_SIGNALS:
    /// For who speaks it: an item was selected.
    void itemSelected();

  private:
    void walk(int dx, int dy);
    void setAllInside(bool open);
    context::CanvasState& state() { return m_context.canvases().at(m_number); }

    CanvasView& m_view;
    ScenePlacement& m_placement;
    context::InspectorContext& m_context;
    const int m_number;
};

}  // namespace sonde::canvas
