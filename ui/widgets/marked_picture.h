#pragma once

#include <QColor>
#include <QImage>
#include <QWidget>

#include <vector>

namespace sonde::widgets {

/// A picture as large as the room allows, with rectangles over it. Pixels of a small picture stay sharp. Left and Right
/// go from one rectangle to the next.
class MarkedPicture : public QWidget {
    Q_OBJECT
  public:
    struct Mark {
        QRectF place;  ///< 0 to 1 in both directions
        QColor color;
        QString text;  ///< may be empty
    };

    explicit MarkedPicture(QWidget* parent = nullptr);

    /// Without a picture an empty field of the size is drawn. `description` is for screen readers and the tool tip.
    void setPicture(const QImage& picture, QSize size, std::vector<Mark> marks, const QString& description);
    /// The mark that is stronger than the others; -1: none is.
    void setCurrent(int mark);
    int current() const { return m_current; }
    const std::vector<Mark>& marks() const { return m_marks; }
    /// Where the picture is drawn.
    QRectF pictureRect() const;

    QSize sizeHint() const override { return {320, 240}; }
    QSize minimumSizeHint() const override { return {120, 90}; }

  Q_SIGNALS:
    void currentChanged(int mark);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    QRectF rectOf(const Mark& mark) const;
    void paintMark(QPainter& painter, const Mark& mark, bool isCurrent) const;
    struct Label {
        QRectF place;
        QString text;
    };
    /// Without a text: there is no room for it beside those that are taken.
    Label labelOf(const Mark& mark, const QFontMetrics& metrics, const std::vector<Label>& taken) const;
    void paintLabels(QPainter& painter) const;
    void choose(int mark);

    QImage m_picture;
    QSize m_size;
    std::vector<Mark> m_marks;
    int m_current = -1;
};

}  // namespace sonde::widgets
