#pragma once

#include <QObject>
#include <QPointer>
#include <QRectF>

#include <memory>
#include <optional>
#include <vector>

#include "ui/canvas/camera.h"
#include "ui/canvas/scene_painter.h"

class QVariantAnimation;
class QWidget;

namespace sonde::canvas {

/// What a canvas shows: a scene, the camera on it, and the item that has the keyboard. Places in pixels are those of
/// the widget.
class CanvasView : public QObject {
    Q_OBJECT
  public:
    /// `widget` gives the size, and is not animated while it is hidden. It must outlive the view.
    explicit CanvasView(const QWidget& widget) : m_widget(widget) {}

    // --- the scene ---
    /// What draws the scene; null until the first layout is there.
    const std::shared_ptr<ScenePainter>& painter() const { return m_painter; }
    std::shared_ptr<const layout::SceneLayout> scene() const;
    /// Tells nobody: who sets it says so when the camera and the marks suit it.
    void setPainter(std::shared_ptr<ScenePainter> painter) { m_painter = std::move(painter); }
    /// Scene, camera and current item become those of another view.
    void takeOver(const CanvasView& other);
    /// While one scene turns into another, nothing can be pointed at.
    bool isChanging() const { return m_isChanging; }
    void setChanging(bool changing) { m_isChanging = changing; }

    // --- items ---
    /// Where on the widget an item, an expr's item or a scope's item is drawn; empty if it is not shown.
    QRectF itemRect(layout::ItemId item) const;
    QRectF rectOf(graph::ExprId expr) const;
    QRectF rectOf(graph::ScopeId scope) const;
    /// None while one scene turns into another.
    layout::ItemId itemAt(QPointF pixel) const;
    /// The items in view in the order of execution, boxes before what is in them.
    std::vector<layout::ItemId> visibleItems() const;
    /// The item that has the keyboard, from which the arrows walk. It is kept by its key, so across scenes.
    layout::ItemId currentItem() const;
    /// None: no item has the keyboard. Selects nothing.
    void setCurrent(layout::ItemId item);

    // --- the camera ---
    const Camera& camera() const { return m_camera; }
    QSizeF size() const;
    /// Where widgets are in front of the scene, in pixels: the map and the other overlays, the list of matches.
    std::vector<QRectF> covers() const;
    /// Nothing moves in a widget that is hidden.
    bool isShown() const;
    QRectF visible() const { return m_camera.visible(size()); }
    QPointF toScene(QPointF pixel) const { return m_camera.toScene(pixel, size()); }
    void setCamera(const Camera& camera);
    /// Without a signal, for who tells of more than the camera.
    void placeCamera(const Camera& camera) { m_camera = camera; }
    /// setCamera() with a flight there, which anything stops that moves the camera.
    void flyTo(const Camera& camera);
    void stopFlight();
    /// Ends a flight where it leads, without a signal.
    void endFlight();
    bool isFlying() const { return !m_flight.isNull(); }

  public Q_SLOTS:
    void zoomBy(double factor);
    void zoomIn() { zoomBy(1.25); }
    void zoomOut() { zoomBy(1 / 1.25); }
    void zoomReset();
    void centreOn(QPointF scenePlace);

  Q_SIGNALS:
    void cameraChanged();
    void currentChanged();

  private:
    const QWidget& m_widget;
    std::shared_ptr<ScenePainter> m_painter;
    Camera m_camera;
    QPointer<QVariantAnimation> m_flight;
    Camera m_flightTarget;  ///< while there is a flight
    std::optional<layout::ItemKey> m_current;
    bool m_isChanging = false;
};

}  // namespace sonde::canvas
