#pragma once

#include <QObject>
#include <QTimer>
#include <QVariant>

#include <map>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"

class QMainWindow;
class QSettings;

namespace sonde::window {

class ComparisonColors;
class WindowCanvases;
class WindowDocks;

/// Remembers how a window looks: written while it changes, so that nothing is lost with a process that is killed. Of
/// several windows the one that was closed last is remembered.
class WindowState : public QObject {
    Q_OBJECT
  public:
    /// All must outlive it.
    WindowState(QMainWindow& window, context::InspectorContext& context, actions::ActionRegistry& actions,
                WindowCanvases& canvases, WindowDocks& docks, const ComparisonColors& colors);

    /// The window becomes as it was remembered. Nothing is written before follow().
    void restore();
    /// From now on hears of everything that is remembered.
    void follow();
    /// The window itself has changed. One that is hidden says nothing of how it looks.
    void saveSoon();
    /// Writes everything now, for the last time.
    void saveAll();
    /// What is torn down is not what the window looked like.
    void stop() { m_timer.stop(); }

  private:
    void restoreGeometry(const QSettings& settings);
    void save();
    std::map<QString, QVariant> now() const;

    QMainWindow& m_window;
    context::InspectorContext& m_context;
    actions::ActionRegistry& m_actions;
    WindowCanvases& m_canvases;
    WindowDocks& m_docks;
    const ComparisonColors& m_colors;
    QTimer m_timer;
    std::map<QString, QVariant> m_saved;  ///< what this window has written, by key of the settings
};

}  // namespace sonde::window
