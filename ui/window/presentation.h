#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/session/flow_walk.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/camera.h"
#include "ui/context/inspector_context.h"
#include "ui/window/presentation_overlay.h"

class QMainWindow;

namespace sonde::canvas {
class GraphCanvas;
}

namespace sonde::window {

class PresentationBar;
class WindowCanvases;
class WindowDocks;

/// The window as a talk needs it: one graph and one value, in large text, gone through layer by layer as the model
/// computes them (session::flowWalk). When it ends, the window is as it was before.
class Presentation : public QObject {
    Q_OBJECT
  public:
    /// All must outlive it.
    Presentation(QMainWindow& window, context::InspectorContext& context, actions::ActionRegistry& actions,
                 WindowCanvases& canvases, WindowDocks& docks);
    ~Presentation() override;

    bool isOn() const { return m_before != nullptr; }
    /// Which stop is shown; none before the first, or if something else is selected.
    std::optional<std::size_t> stop() const { return m_stop; }
    const std::vector<session::WalkStop>& walk() const { return m_walk; }
    PresentationOverlay* overlay() const { return m_overlay; }
    PresentationBar* bar() const;
    /// Nothing is still to be moved or put back.
    bool isIdle() const { return !m_frameSoon.isActive() && !m_restoring.isActive(); }
    /// Which of its actions are possible and checked. After those of the whole window.
    void refreshActions();

  public Q_SLOTS:
    void setOn(bool on) { on ? begin() : end(); }
    void begin();
    void end();
    void step(int by);
    void goTo(std::size_t stop);
    void goToFirst() { goTo(0); }
    void goToLast();
    void setSpotlight(bool on);
    void setTool(PresentationOverlay::Tool tool);
    void erase();
    void setBlack(bool black);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    struct Before;
    using StopKey = std::pair<graph::ExprId, graph::ScopeId>;

    void showParts();
    std::vector<session::WalkStop> walkNow() const;
    void refreshWalk();
    void followRun();
    void followSelection();
    void showStop();
    void showPane();
    void frame();
    void placeOverlay();
    void keepPaneShare(int widthBefore);
    void refreshSpotlight();
    QString titleOf(const session::WalkStop& stop) const;
    QString factsOf(const session::WalkStop& stop) const;
    void putBack(const Before& before);
    void putCameraBack();

    QMainWindow& m_window;
    context::InspectorContext& m_context;
    actions::ActionRegistry& m_actions;
    WindowCanvases& m_canvases;
    WindowDocks& m_docks;
    std::unique_ptr<Before> m_before;  ///< while one presents
    QPointer<canvas::GraphCanvas> m_canvas;
    QPointer<PresentationOverlay> m_overlay;
    QPointer<PresentationBar> m_bar;
    std::vector<QMetaObject::Connection> m_following;
    std::vector<session::WalkStop> m_walk;
    std::optional<std::size_t> m_stop;
    std::map<StopKey, std::vector<PresentationOverlay::Line>> m_lines;  ///< drawn by hand, by the stop
    bool m_hasSpotlight = true;
    double m_paneShare = 0;  ///< of the window's width, while the window gets another size
    QTimer m_frameSoon;      ///< the camera is to be moved to the stop once what is laid out is there
    QTimer m_restoring;      ///< the camera is to be put back
    QPointer<canvas::GraphCanvas> m_restored;
    canvas::Camera m_cameraBefore;
    bool m_wasFitted = false;
};

}  // namespace sonde::window
