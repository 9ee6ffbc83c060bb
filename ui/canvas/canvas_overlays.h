#pragma once

#include <QObject>

#include "core/graph/ids.h"
#include "ui/theme/color_role.h"

class QLabel;
class QToolButton;
class QWidget;

namespace sonde::context {
class Navigation;
class OpenModel;
}  // namespace sonde::context

namespace sonde::canvas {

class GraphCanvas;
struct Camera;
class Legend;
class OverviewMap;

/// What is in the corners of the canvas: the path of modules to the selection, the overview map, the legend and
/// the count of what is hidden.
class CanvasOverlays : public QObject {
    Q_OBJECT
  public:
    CanvasOverlays(GraphCanvas& canvas, context::OpenModel& opened, context::Navigation& navigation);

    /// The scene or the colours are other than before.
    void refresh();
    void refreshPath();
    /// Other marks may be in the picture.
    void refreshLegend();
    void arrange();

    /// Where the path of modules stands; empty if it does not.
    QRect pathPlace() const;
    /// The camera that shows all of `bounds`, beside the map and the overlays if they would lie over nodes and the
    /// picture stays large. Needs a picture.
    Camera fitted(const QRectF& bounds) const;

    void setOverviewVisible(bool visible);
    void setLegendVisible(bool visible);
    /// Whether there is a button that closes the canvas.
    void setClosable(bool closable);
    bool overviewVisible() const { return m_overviewWanted; }
    bool legendVisible() const { return m_legendWanted; }

  Q_SIGNALS:
    /// The legend takes a place of its own, or leaves it: a fitted graph view is fitted anew.
    void roomChanged();

  private:
    GraphCanvas& m_canvas;
    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    OverviewMap* m_map;
    Legend* m_legend;
    QLabel* m_path;
    QLabel* m_hidden;
    QToolButton* m_close;
    graph::ScopeId m_shownScope;  ///< of the path that is written
    bool m_overviewWanted = true, m_legendWanted = false;
};

}  // namespace sonde::canvas
