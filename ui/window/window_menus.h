#pragma once

#include <QObject>

#include "ui/window/window_parts.h"

class QAction;
class QComboBox;
class QMenu;
class QToolBar;

namespace sonde::window {

/// The menu bar and the tool bar of a window, and which actions are possible and checked: that follows the parts.
class WindowMenus : public QObject {
    Q_OBJECT
  public:
    /// Every action is bound already. The parts must outlive it.
    explicit WindowMenus(const WindowParts& parts);

    void refresh();

  Q_SIGNALS:
    /// A recent model.
    void modelChosen(const QString& location);

  private:
    void fillMenuBar();
    void fillRecent(QMenu* recent);
    void fillToolBar();
    void addGraphs(QToolBar& bar);
    void refreshGraphs();
    void connectParts();
    actions::Needs needs() const;
    void refreshBookmarks();
    void refreshChecks();
    void refreshColors();
    void check(const char* id, bool on);

    WindowParts m_parts;
    QComboBox* m_graphs = nullptr;  ///< which graph of the model is shown; there only if it has several
    QAction* m_graphsAction = nullptr;
};

}  // namespace sonde::window
