#pragma once

#include <QPolygonF>
#include <QWidget>

#include <vector>

namespace sonde::widgets {

/// What is drawn on a pad: lines with round ends, in the order in which they were made.
struct PadDrawing {
    struct Line {
        bool isEraser = false;
        double size = 0.06;  ///< thickness, of the paper's shorter side
        QPolygonF points;    ///< from (0, 0) to (1, 1); beyond where the line leaves the paper
        bool operator==(const Line&) const = default;
    };
    bool isWhiteOnBlack = true;
    std::vector<Line> lines;
    bool operator==(const PadDrawing&) const = default;
};

/// Paper to draw on with the mouse (right button: eraser), or with keys: arrows move the pen, Space puts it down and
/// lifts it, E takes the eraser, + and - change the size, I inverts, Delete clears, Ctrl+Z and Ctrl+Y undo and redo.
class DrawingPad : public QWidget {
    Q_OBJECT
  public:
    explicit DrawingPad(QWidget* parent = nullptr);

    /// Width and height of what is drawn: their ratio is that of the paper.
    void setPaper(QSize size);
    const PadDrawing& drawing() const { return m_drawing; }
    /// Another drawing, which is no step that can be undone.
    void setDrawing(const PadDrawing& drawing);

    double penSize() const { return m_penSize; }
    bool isErasing() const { return m_isErasing; }
    bool canUndo() const { return !m_undo.empty(); }
    bool canRedo() const { return !m_redo.empty(); }
    bool isFull() const { return m_points >= kMaxPoints; }
    bool isPenDown() const { return m_isDown; }
    /// In the widget's pixels.
    QRectF paperRect() const;

    QSize sizeHint() const override { return {280, 280}; }
    QSize minimumSizeHint() const override { return {96, 96}; }

    static constexpr double kMinPen = 0.005, kMaxPen = 0.4;
    static constexpr qsizetype kMaxPoints = 6'000;  ///< and lines together; what is drawn further is left out

  public Q_SLOTS:
    void setPenSize(double size);
    void setErasing(bool isErasing);
    void undo();
    void redo();
    void clear();
    void invert();

  Q_SIGNALS:
    /// The drawing is another one; `isDone`: no line is being drawn.
    void drawn(bool isDone);
    /// Pen, size, or what can be undone.
    void stateChanged();

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    void begin(QPointF at, bool isErasing);
    void extend(QPointF to);
    void end();
    void remember();
    bool moveByKey(int key, bool isFine);
    QPointF paperPoint(QPointF pixel) const;

    QSize m_paper{1, 1};
    PadDrawing m_drawing;
    std::vector<PadDrawing> m_undo, m_redo;
    qsizetype m_points = 0;
    double m_penSize = 0.08;
    bool m_isErasing = false;
    bool m_isDown = false;      ///< a line is being drawn
    bool m_showsPlace = false;  ///< keys move the pen
    QPointF m_place{0.5, 0.5};
};

}  // namespace sonde::widgets
