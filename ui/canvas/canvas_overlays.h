#pragma once

#include <QObject>
#include <QSize>
#include <QStringList>
#include <QTimer>

#include "core/layout/scene.h"

class QLabel;
class QToolButton;
class QWidget;

namespace sonde::context {
class InspectorContext;
}

namespace sonde::canvas {

class CanvasMarks;
class CanvasText;
class CanvasView;
struct Camera;
class Legend;
class OverviewMap;

/// What is in the corners of the canvas: the path of modules to the selection, the overview map, the legend and
/// the count of what is hidden.
class CanvasOverlays : public QObject {
    Q_OBJECT
  public:
    /// Child widgets of `canvas`, which shows `view`. `number` is which of the context's canvases it is.
    CanvasOverlays(QWidget& canvas, CanvasView& view, const CanvasMarks& marks, const CanvasText& text,
                   context::InspectorContext& context, int number);

    /// The scene or the colours are other than before.
    void refresh();
    void refreshPath();
    /// Other marks may be in the picture.
    void refreshLegend();
    void arrange();

    /// The modules around what is looked at, outermost first.
    QStringList path() const;
    /// Where the path of modules is; empty if it is hidden.
    QRect pathPlace() const;
    /// The camera that shows all of `bounds`, beside the overlays if they would cover nodes. Needs a scene.
    Camera fitted(const QRectF& bounds) const;

    void setOverviewVisible(bool visible);
    void setLegendVisible(bool visible);
    /// In a talk the map, the path of modules and the count of what is hidden would only cover the graph.
    void setPresenting(bool presenting);
    /// Whether there is a button that closes the canvas.
    void setClosable(bool closable);
    bool overviewVisible() const { return m_overviewWanted; }
    bool legendVisible() const { return m_legendWanted; }
    /// Nothing is about to be moved.
    bool isIdle() const { return !m_settled.isActive() && !m_roomChanges.isActive(); }

  Q_SIGNALS:
    /// The legend takes a place of its own, or another one, or leaves it: a fitted graph view is fitted anew.
    void roomChanged();
    /// A mark of the map was clicked.
    void itemChosen(sonde::layout::ItemId item);
    void closeRequested();

  private:
    graph::ScopeId shownScope() const;
    bool needsMap() const;
    QString hiddenText() const;
    QRectF sceneArea(const QRectF& pixels, const Camera& camera) const;
    /// Whether anything but open boxes is in an area of the canvas.
    bool isOverItems(const QRectF& pixels, const Camera& camera) const;
    bool isOverLines(const QRectF& pixels) const;
    /// Whether the name of a box is there.
    bool isOverNames(const QRectF& pixels) const;
    QPoint pathCorner() const;
    /// The same, or a text on an edge.
    bool isOverAny(const QRectF& pixels, const Camera& camera) const;
    bool hidesAny() const;
    void addCloseButton();
    QRect legendHome() const;
    QPoint legendPlace() const;
    void placeLegend();

    QWidget& m_canvas;
    CanvasView& m_view;
    const CanvasMarks& m_marks;
    const CanvasText& m_text;
    context::InspectorContext& m_context;
    const int m_number;
    OverviewMap* m_map;
    Legend* m_legend;
    QLabel* m_path;
    QLabel* m_hidden;
    QToolButton* m_close;
    graph::ScopeId m_shownScope;  ///< of the path that is written
    QTimer m_settled;             ///< runs while the camera moves
    QTimer m_roomChanges;         ///< runs until roomChanged() is told
    QSize m_legendSize;           ///< as it was told last; empty: it was hidden
    bool m_overviewWanted = true, m_legendWanted = false, m_isPresenting = false;
};

}  // namespace sonde::canvas
