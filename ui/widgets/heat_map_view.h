#pragma once

#include <QAbstractScrollArea>
#include <QImage>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "ui/theme/color_map.h"
#include "ui/widgets/bad_value.h"
#include "ui/widgets/value_scale.h"

namespace sonde::widgets {

/// What is drawn over a field: a rectangle with everything outside of it dimmed, and inside of it how large a part each
/// cell has, as a tint.
struct FieldOverlay {
    qint64 row = 0, column = 0, rows = 0, columns = 0;           ///< of the rectangle; without rows all is dimmed
    std::function<double(qint64 row, qint64 column)> part = {};  ///< 0 to 1; null: no tint
};

/// A field of numbers, or a picture, as a grid of cells that can be zoomed and moved. Only the cells that are seen are
/// asked for: at most one per pixel. The wheel zooms about the pointer, dragging moves; arrows move a cursor from cell
/// to cell, + and - zoom about it, 0 or Space fits. Cells are never smoothed; large ones show their number.
class HeatMapView : public QAbstractScrollArea {
    Q_OBJECT
  public:
    using Field = std::function<double(qint64 row, qint64 column)>;
    using Colors = std::function<QRgb(qint64 row, qint64 column)>;

    explicit HeatMapView(QWidget* parent = nullptr);

    /// Shows numbers; `at` is called on the UI thread for 0 ≤ row < rows, 0 ≤ column < columns, and must be quick.
    void setField(qint64 rows, qint64 columns, Field at);
    /// Shows opaque colours as they are. `at` tells the value under the pointer, where there is one.
    void setColors(qint64 rows, qint64 columns, Colors colors, Field at = {});
    void setImage(const QImage& image);
    void clear();

    void setScale(const ValueScale& scale);
    void setColorMap(const theme::ColorMap& map);
    /// Cells (row, column) that must not be missed, however small they are drawn: each gets a ring. N and Shift+N move
    /// the cursor from one to the next. Kept until the next call.
    void setMarkedCells(std::vector<std::pair<qint64, qint64>> cells);
    /// Kept until the next call; none: nothing is drawn over the field.
    void setOverlay(std::optional<FieldOverlay> overlay);
    const std::optional<FieldOverlay>& overlay() const { return m_overlay; }
    /// Moves the cursor to the next marked cell in reading order, or the one before; round the ends. False without
    /// marks.
    bool goToMark(bool forward);

    qint64 rows() const { return m_rows; }
    qint64 columns() const { return m_columns; }

    /// Width of a cell in device-independent pixels.
    double zoom() const { return m_zoom; }
    /// Zooms so that what lies under `anchor` (viewport coordinates) stays there.
    void setZoom(double zoom, QPointF anchor);
    /// The largest zoom at which everything is seen; kept while the view is resized until somebody zooms.
    void fit();
    bool isFitted() const { return m_fitted; }
    /// What is seen: zoom, and where the scroll bars are.
    struct Place {
        double zoom = 1;
        QPoint scroll;
        bool isFitted = true;
        bool operator==(const Place&) const = default;
    };
    Place place() const;
    void setPlace(const Place& place);

    /// The cell under a point of the viewport; (-1, -1) beside the field. x is the column, y the row.
    std::pair<qint64, qint64> cellAt(QPointF point) const;
    QRectF cellRect(qint64 row, qint64 column) const;
    std::pair<qint64, qint64> cursor() const { return {m_cursorRow, m_cursorColumn}; }
    /// Moves the cursor and brings its cell into view.
    void setCursorCell(qint64 row, qint64 column);
    double valueAt(qint64 row, qint64 column) const;

  Q_SIGNALS:
    /// The pointer, or the cursor moved by keys, is on this cell; (-1, -1) for none. NaN where there is no number.
    void cellHovered(qint64 row, qint64 column, double value);
    /// place() is another one.
    void moved();
    /// A cell was clicked, or Return was pressed on it.
    void cellPicked(qint64 row, qint64 column, double value);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

  private:
    void reset(qint64 rows, qint64 columns);
    double cellHeight() const { return m_zoom * m_aspect; }
    double fittingZoom() const;
    QPointF origin() const;
    void updateScrollBars();
    void hover(qint64 row, qint64 column);
    QImage rendered(const QRect& area) const;
    void paintNumbers(QPainter& painter, const QRect& area) const;
    void paintMarks(QPainter& painter) const;
    void paintOverlay(QPainter& painter, const QRect& area) const;
    QImage tinted(const QRect& area) const;
    QRgb colorAt(qint64 row, qint64 column, BadValue& bad) const;

    qint64 m_rows = 0, m_columns = 0;
    Field m_at;
    Colors m_colors;
    ValueScale m_scale;
    const theme::ColorMap* m_map;
    double m_zoom = 1.0;
    double m_aspect = 1.0;  ///< height of a cell over its width; other than 1 only for very long or tall fields
    bool m_fitted = true;
    std::vector<std::pair<qint64, qint64>> m_marked;  ///< sorted
    std::optional<FieldOverlay> m_overlay;
    qint64 m_cursorRow = -1, m_cursorColumn = -1;
    qint64 m_hoverRow = -1, m_hoverColumn = -1;
    QPointF m_pressedAt;
    QPoint m_scrollAtPress;
    bool m_pressed = false, m_dragged = false;
};

}  // namespace sonde::widgets
