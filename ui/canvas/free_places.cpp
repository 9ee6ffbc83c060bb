#include "ui/canvas/free_places.h"

#include <algorithm>
#include <cmath>

namespace sonde::canvas {

namespace {

constexpr int kMaxCells = 300;                             ///< along each side
constexpr std::int64_t kKept = 4 * kMaxCells * kMaxCells;  ///< more than all cells that are merely taken

}  // namespace

FreePlaces::FreePlaces(const QRectF& area, double cell)
    : m_area(area), m_cell(std::max(cell, std::max(area.width(), area.height()) / kMaxCells)),
      m_columns(std::clamp(static_cast<int>(area.width() / m_cell), 0, kMaxCells)),
      m_rows(std::clamp(static_cast<int>(area.height() / m_cell), 0, kMaxCells)), m_cells(cellAt(0, m_rows + 1), 0) {}

void FreePlaces::take(const QRectF& rect, bool isKept) {
    const auto before = [this](double distance) { return static_cast<int>(std::floor(distance / m_cell)); };
    const auto behind = [this](double distance) { return static_cast<int>(std::ceil(distance / m_cell)); };
    const QRectF part = rect & m_area;
    if (part.isEmpty()) return;
    const int left = before(part.left() - m_area.left()),
              right = std::min(behind(part.right() - m_area.left()), m_columns);
    const int bottom = std::min(behind(part.bottom() - m_area.top()), m_rows);
    for (int row = before(part.top() - m_area.top()); row < bottom; ++row)
        for (int column = left; column < right; ++column) {
            std::int64_t& cell = m_cells[cellAt(column + 1, row + 1)];
            cell = std::max(cell, isKept ? kKept : std::int64_t{1});
        }
}

/// Each cell gets the sum of all above and left of it, so that any rectangle's is four of them.
void FreePlaces::sum() {
    const std::size_t width = cellAt(0, 1);
    for (std::size_t at = width + 1; at < m_cells.size(); ++at)
        if (at % width != 0) m_cells[at] += m_cells[at - 1] + m_cells[at - width] - m_cells[at - width - 1];
    m_isSummed = true;
}

std::int64_t FreePlaces::sumOf(int column, int row, int columns, int rows) const {
    const auto at = [this](int x, int y) { return m_cells[cellAt(x, y)]; };
    return at(column + columns, row + rows) - at(column, row + rows) - at(column + columns, row) + at(column, row);
}

std::optional<FreePlaces::Place> FreePlaces::find(const QSizeF& size) {
    if (!m_isSummed) sum();
    const int columns = static_cast<int>(std::ceil(size.width() / m_cell)),
              rows = static_cast<int>(std::ceil(size.height() / m_cell));
    if (columns < 1 || rows < 1) return std::nullopt;
    std::int64_t least = kKept;
    int bestColumn = 0, bestRow = 0;
    for (int row = 0; row + rows <= m_rows && least > 0; ++row)
        for (int column = 0; column + columns <= m_columns && least > 0; ++column)
            if (const std::int64_t covered = sumOf(column, row, columns, rows); covered < least)
                least = covered, bestColumn = column, bestRow = row;
    if (least == kKept) return std::nullopt;
    return Place{m_area.topLeft() + QPointF(bestColumn, bestRow) * m_cell,
                 static_cast<double>(least) / (static_cast<double>(columns) * rows)};
}

}  // namespace sonde::canvas
