#pragma once

#include <QCoreApplication>
#include <QString>

#include "ui/canvas/canvas_marks.h"
#include "ui/canvas/canvas_view.h"

namespace sonde::canvas {

/// What a canvas shows in words: for screen readers, for the window with the graph as text, and what is not drawn.
class CanvasText {
    Q_DECLARE_TR_FUNCTIONS(CanvasText)
  public:
    CanvasText(const CanvasView& view, const CanvasMarks& marks, const context::OpenModel& model)
        : m_view(view), m_marks(marks), m_model(model) {}

    /// The scene as text: see sceneAsText().
    QString twin() const;
    /// The line of twin() that is of the current item, or -1; and the item of a line, or none.
    int currentLine() const;
    layout::ItemId itemOfLine(int line) const;
    /// What a screen reader is told of an item, with its marks.
    QString spoken(layout::ItemId item) const;
    QString facts(layout::ItemId item) const;
    /// What is not drawn: operations in closed modules, constants; "" if nothing.
    QString hidden() const;
    /// The same as one number, "290 hidden".
    QString hiddenCount() const;

  private:
    const CanvasView& m_view;
    const CanvasMarks& m_marks;
    const context::OpenModel& m_model;
};

}  // namespace sonde::canvas
