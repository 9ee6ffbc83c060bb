#pragma once

#include <QDialog>
#include <QImage>

#include "core/io/inputs/drawing.h"

class QLabel;
class QSlider;
class QToolButton;

namespace sonde::widgets {
class DrawingPad;
}

namespace sonde::panels {

/// Pixels as a picture of the window.
QImage imageOf(const io::Image& pixels);

/// A small window beside the graph with a pad to draw the value of one input on.
class DrawingWindow : public QDialog {
    Q_OBJECT
  public:
    DrawingWindow(const QString& inputName, const io::InputInfo& input, QWidget* parent);

    void setDrawing(const io::Drawing& drawing);
    widgets::DrawingPad& pad() { return *m_pad; }

  Q_SIGNALS:
    /// `isDone`: no line is being drawn.
    void drawn(const sonde::io::Drawing& drawing, bool isDone);

  private:
    QToolButton* addButton(class QHBoxLayout& row, const char* name, const QString& text, const QString& toolTip);
    void showState();
    void showPixels();
    void save();
    io::Drawing drawing() const;

    io::InputInfo m_input;
    widgets::DrawingPad* m_pad;
    QToolButton *m_eraser, *m_undo, *m_redo, *m_clear;
    QSlider* m_size;
    QLabel *m_pixels, *m_text;
    QImage m_image;  ///< as the model gets it
};

}  // namespace sonde::panels
