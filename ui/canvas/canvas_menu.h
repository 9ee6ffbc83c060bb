#pragma once

#include <QCoreApplication>

#include <functional>

#include "ui/canvas/canvas_parts.h"

class QAction;
class QMenu;

namespace sonde::canvas {

/// What the context menu of a canvas has for the item that has the keyboard, and for what is selected. Its actions
/// stay valid after it.
class CanvasMenu {
    Q_DECLARE_TR_FUNCTIONS(CanvasMenu)
  public:
    explicit CanvasMenu(const CanvasParts& parts) : m_parts(parts) {}

    void fill(QMenu& menu);

  private:
    using Act = std::function<void()>;
    QAction* add(QMenu& menu, const char* icon, const QString& text, const Act& act);
    void addPoints(QMenu& menu);
    void addCall(QMenu& menu);
    void addBox(QMenu& menu, layout::ItemId item);
    void addRuns(QMenu& menu);
    void addFocus(QMenu& menu);
    void addNames(QMenu& menu);
    void addGraphs(QMenu& menu);
    void addLegend(QMenu& menu);

    CanvasParts m_parts;
};

}  // namespace sonde::canvas
