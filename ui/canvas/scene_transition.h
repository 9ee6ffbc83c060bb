#pragma once

#include <QVariantAnimation>

#include <memory>
#include <vector>

#include "ui/canvas/canvas_view.h"

namespace sonde::canvas {

/// The way from one scene of a view to the next: items that are in both move, new ones fade in. While it lasts,
/// CanvasView::isChanging().
class SceneTransition : public QObject {
    Q_OBJECT
  public:
    explicit SceneTransition(CanvasView& view) : m_view(view) {}
    ~SceneTransition() override { stop(); }

    bool isRunning() const { return m_before != nullptr; }
    /// From `before`, as `camera` showed it, to what the view shows now. Nothing happens if nothing would move, if too
    /// much would, or if the user wants no motion. Returns whether it has begun.
    bool start(std::shared_ptr<ScenePainter> before, const Camera& camera);
    void stop();
    /// One frame, in pixels of the widget; only while it is running.
    void paint(QPainter& painter, const SceneMarks& marks) const;

  Q_SIGNALS:
    /// The next frame is due, or it has ended.
    void advanced();

  private:
    struct Move {
        std::uint32_t item;
        QRectF from;  ///< in units of the new scene; null if the item is new
    };
    std::vector<Move> movesFrom(const ScenePainter& before, const Camera& camera) const;
    void paintItems(QPainter& painter, const SceneMarks& marks, bool open) const;

    CanvasView& m_view;
    std::shared_ptr<ScenePainter> m_before;
    Camera m_cameraBefore;
    std::vector<Move> m_moves;
    std::unique_ptr<QVariantAnimation> m_animation;
    double m_done = 0;  ///< 0 to 1
};

}  // namespace sonde::canvas
