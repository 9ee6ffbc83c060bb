#pragma once

#include <QObject>
#include <QTimer>

#include "ui/canvas/canvas_interaction.h"
#include "ui/canvas/scene_transition.h"
#include "ui/canvas/tile_cache.h"

class QPaintEvent;

namespace sonde::canvas {

/// Paints a view on its widget, piece by piece within the time of a frame: tiles of the scene, or the way from the
/// former scene to this one, and over it what is selected, pointed at and being drawn by the mouse.
class CanvasRenderer : public QObject {
    Q_OBJECT
  public:
    /// Paints on `widget` and updates it. All must outlive it.
    CanvasRenderer(QWidget& widget, CanvasView& view, const CanvasMarks& marks, const CanvasInteraction& interaction,
                   const context::InspectorContext& context);

    void paint(QPainter& painter, const QRegion& exposed);
    /// Whether nothing is left to be painted or animated.
    bool isComplete() const { return m_isComplete && !m_transition.isRunning(); }
    bool isChanging() const { return m_transition.isRunning(); }

    /// The camera has moved, or the widget has another size.
    void cameraMoved();
    /// The scene or its style is another: what was painted of the former goes.
    void sceneChanged();
    /// Marks are others; of all of the scene if `area` is null. Until it is painted anew the former picture is shown.
    void invalidate(const QRectF& area);
    /// See SceneTransition::start().
    bool startTransition(std::shared_ptr<ScenePainter> before, const Camera& camera);
    void stopTransition() { m_transition.stop(); }

  private:
    void paintTiles(QPainter& painter, const QRegion& exposed);
    void paintSelection(QPainter& painter);
    void paintBox(QPainter& painter);
    void prepareTiles();
    std::vector<layout::ItemId> selectedWithin(const QRectF& area) const;
    TileCache::Render render() const;

    QWidget& m_widget;
    CanvasView& m_view;
    const CanvasMarks& m_marks;
    const CanvasInteraction& m_interaction;
    const context::InspectorContext& m_context;
    SceneTransition m_transition;
    TileCache m_tiles;
    QTimer m_idleTimer;  ///< until tiles around the view are painted
    bool m_isComplete = false;
};

}  // namespace sonde::canvas
