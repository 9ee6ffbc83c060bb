#pragma once

#include <QObject>

#include "ui/window/window_parts.h"

namespace sonde::canvas {
class CanvasNavigation;
class CanvasView;
}  // namespace sonde::canvas

namespace sonde::window {

/// Says what each action of the table does in a window, but for those that make other windows and those of panels.
class WindowActions : public QObject {
    Q_OBJECT
  public:
    /// The parts must outlive it.
    explicit WindowActions(const WindowParts& parts);

    /// Stops the run, or else the files that are being written.
    void cancelWork();

  private:
    using Act = std::function<void()>;
    using Toggle = std::function<void(bool)>;
    void bind(const QString& id, const Act& act) { m_parts.actions.bind(id, this, act); }
    void bindToggle(const QString& id, const Toggle& act) { m_parts.actions.bindToggle(id, this, act); }
    /// What the canvas in use does.
    void bindCamera(const char* id, void (canvas::CanvasView::*act)());
    void bindCanvas(const char* id, void (canvas::CanvasNavigation::*act)());
    /// What is shown of the model on the canvas in use.
    context::CanvasState& shown();

    void bindFiles();
    void bindEdit();
    void bindCamera();
    void bindContents();
    void bindLook();
    void bindColors();
    void bindFocus();
    void bindCanvases();
    void bindWalk();
    void bindGo();
    void bindBookmarks();
    void bindRun();
    void bindDebug();
    void bindPoints();
    void bindCompare();
    void bindHelp();

    WindowParts m_parts;
};

}  // namespace sonde::window
