#pragma once

#include <QRectF>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::canvas {

/// Where in an area there is room for a text: what lies in it, in cells of a grid. Building it and asking for a place
/// take time by the number of cells, of which there are at most 300 by 300.
class FreePlaces {
  public:
    /// `cell`: the size that cells have if there are not too many.
    FreePlaces(const QRectF& area, double cell);

    /// Something is there; cells that it touches are taken. `isKept`: nothing may cover it.
    void take(const QRectF& rect, bool isKept = false);

    struct Place {
        QPointF at;          ///< top left
        double covered = 0;  ///< how much of the rectangle lies over what is there, 0 to 1
    };
    /// For a rectangle of that size: the first place that covers nothing, row by row from the top left, else the one
    /// that covers least. Nothing if it is larger than the area, or what is kept would be covered everywhere.
    std::optional<Place> find(const QSizeF& size);

  private:
    void sum();
    std::size_t cellAt(int x, int y) const {
        return static_cast<std::size_t>(y) * (static_cast<std::size_t>(m_columns) + 1) + static_cast<std::size_t>(x);
    }
    std::int64_t sumOf(int column, int row, int columns, int rows) const;

    QRectF m_area;
    double m_cell;
    int m_columns, m_rows;
    std::vector<std::int64_t> m_cells;  ///< row by row, with a row and a column of 0 before; sums once m_isSummed
    bool m_isSummed = false;
};

}  // namespace sonde::canvas
