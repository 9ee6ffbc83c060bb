#pragma once

#include <QColor>
#include <QPointF>
#include <QRectF>
#include <QWidget>

#include <vector>

namespace sonde::window {

/// Lies over the whole window while a model is presented: the spotlight, the pointer, marks drawn by hand, and black.
/// It takes the mouse only while one points or draws, or all is black. Lines are kept in parts of the window's size.
class PresentationOverlay : public QWidget {
    Q_OBJECT
  public:
    enum class Tool { None, Pointer, Pen };
    using Line = std::vector<QPointF>;  ///< from (0, 0), the upper left corner, to (1, 1)

    explicit PresentationOverlay(QWidget* parent);

    /// Everything of `stage` but `spot` is dimmed, both in pixels of the overlay; an empty spot dims nothing.
    void setSpotlight(const QRectF& stage, const QRectF& spot);
    QRectF spot() const { return m_spot; }
    void setTool(Tool tool);
    Tool tool() const { return m_tool; }
    void setBlack(bool black);
    bool isBlack() const { return m_isBlack; }
    /// What takes the mouse itself: the bar with the buttons.
    void setFree(const QRect& free);

    const std::vector<Line>& lines() const { return m_lines; }
    void setLines(std::vector<Line> lines);

  Q_SIGNALS:
    /// A line was drawn to its end.
    void drawn();
    /// The black was clicked.
    void blackDismissed();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void refreshMouse();
    void paintSpotlight(QPainter& painter) const;
    void paintLines(QPainter& painter) const;
    void paintPointer(QPainter& painter) const;
    QPointF part(QPointF pixel) const;

    QRectF m_stage, m_spot;
    QRect m_free;
    Tool m_tool = Tool::None;
    bool m_isBlack = false, m_isDrawing = false, m_isPointing = false;
    QPointF m_at;  ///< of the pointer, in pixels
    std::vector<Line> m_lines;
};

}  // namespace sonde::window
