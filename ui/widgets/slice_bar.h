#pragma once

#include <QWidget>

#include <vector>

class QComboBox;
class QLineEdit;

namespace sonde::widgets {

class FlowLayout;

/// A two-dimensional slice of an N-dimensional array: which axes go down and across, and where the others stand.
struct Slice {
    int rowAxis = -1;           ///< -1: none, the slice has a single row
    int columnAxis = -1;        ///< -1: none, the slice has a single column
    std::vector<qint64> index;  ///< one place for each axis; those of the two axes shown are not used
    bool operator==(const Slice&) const = default;
};

/// Picks a slice: two axis pickers and a slider with a number for every other axis of two places or more, or all of it
/// as text in the way of numpy: "0, :, 3, :". PageUp and PageDown step the last axis that is not shown.
class SliceBar : public QWidget {
    Q_OBJECT
  public:
    explicit SliceBar(QWidget* parent = nullptr);

    /// The slice that is shown first, everything else at 0: the last two axes that have more than one place, so that
    /// [256, 1, 9] is a plane of 256 by 9; one such axis before the last two is a row; else the last two.
    static Slice usual(const std::vector<qint64>& shape);
    /// Whether every axis and place exists in the shape.
    static bool fits(const Slice& slice, const std::vector<qint64>& shape);
    /// "0, 3, :, :"
    static QString text(const Slice& slice);
    /// The opposite; false if the text is no slice of this shape with at most two ":". Negative places count from the
    /// end. `why` is told the reason in a few words.
    static bool parse(const QString& text, const std::vector<qint64>& shape, Slice& slice, QString& why);

    /// Shows the axes of a shape; a slice that fits is kept, otherwise the usual one is taken.
    void setShape(const std::vector<qint64>& shape);
    const std::vector<qint64>& shape() const { return m_shape; }
    const Slice& slice() const { return m_slice; }
    void setSlice(const Slice& slice);
    /// Axes that the view itself uses (channels of a picture) and that therefore have no slider.
    void setHiddenAxes(const std::vector<int>& axes);
    /// Whether the axis pickers are of use to the view.
    void setAxesPickable(bool pickable);
    /// One row where there is little room: the text, and a number for each other axis. The text picks axes too.
    void setCompact(bool compact);

  Q_SIGNALS:
    void sliceChanged();

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void rebuild();
    void refresh();
    void change(const Slice& slice);
    void pickAxis(bool row, int axis);

    std::vector<qint64> m_shape;
    Slice m_slice;
    std::vector<int> m_hiddenAxes;
    bool m_pickable = true, m_isCompact = false;
    FlowLayout* m_layout;
    QLineEdit* m_text;
    QWidget* m_rowsPart;  ///< label and box; a narrow bar puts the two parts below each other
    QWidget* m_columnsPart;
    QComboBox* m_rows;
    QComboBox* m_columns;
    std::vector<QWidget*> m_places;
};

}  // namespace sonde::widgets
