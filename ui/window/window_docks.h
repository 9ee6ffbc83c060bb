#pragma once

#include <QObject>

#include <map>

#include "ui/panels/panel_info.h"

class QDockWidget;
class QMainWindow;

namespace sonde::window {

/// The panels around the graph: one dock for each row of the panel table, with its action, where the user has put it.
class WindowDocks : public QObject {
    Q_OBJECT
  public:
    /// Adds docks to `window` and actions to `actions`. All must outlive it.
    WindowDocks(QMainWindow& window, context::InspectorContext& context, actions::ActionRegistry& actions);
    /// What is torn down is not what the window looked like: nothing is told any more.
    ~WindowDocks() override;

    /// Null if there is no such panel.
    QDockWidget* dock(const QString& panel) const;
    QWidget* panel(const QString& panel) const;
    /// What the window does for a panel.
    panels::PanelHost hostOf(const QString& panel);

    /// Shows a panel and gives it the focus.
    void show(const QString& panel);
    /// Where panels are until the user moves them: tree and inputs left, details over values right, lists tabbed below.
    void arrange();
    /// The start page has the window for itself; what was docked comes back with a model.
    void setShown(bool shown);
    QByteArray state() const;
    void restore(const QByteArray& state);
    /// In a small window the panels give way: the graph is what the window is for. Who wants them larger drags them.
    void leaveRoomForGraph();

  Q_SIGNALS:
    /// state() is another.
    void changed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void addDock(const panels::PanelInfo& info);
    void toggle(const QString& panel);

    QMainWindow& m_window;
    context::InspectorContext& m_context;
    actions::ActionRegistry& m_actions;
    std::map<QString, QDockWidget*> m_docks;
    QByteArray m_state;  ///< while the docks are out of the way
    bool m_isShown = true;
};

}  // namespace sonde::window
