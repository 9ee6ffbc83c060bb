#include "ui/canvas/scene_index.h"

#include <algorithm>
#include <cmath>

namespace sonde::canvas {

namespace {

constexpr int kMaxCells = 1 << 20;
constexpr int kWideSpan = 64;  ///< cells

double distanceToSegment(QPointF p, QPointF a, QPointF b) {
    const QPointF ab = b - a;
    const double length = QPointF::dotProduct(ab, ab);
    const double t = length > 0 ? std::clamp(QPointF::dotProduct(p - a, ab) / length, 0.0, 1.0) : 0.0;
    const QPointF d = p - (a + t * ab);
    return std::hypot(d.x(), d.y());
}

void sortUnique(std::vector<std::uint32_t>& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

SceneIndex::SceneIndex(std::shared_ptr<const layout::SceneLayout> scene) : m_scene(std::move(scene)) {
    m_bounds = toQt(m_scene->bounds);
    const double width = std::max(1.0, m_bounds.width()), height = std::max(1.0, m_bounds.height());
    // About four items a cell, never more cells than fit.
    const double wanted =
        std::clamp(static_cast<double>(m_scene->items.size()) / 4.0, 1.0, static_cast<double>(kMaxCells) / 4);
    m_cell = std::max({64.0, std::sqrt(width * height / wanted), width / 8192, height / 65536});
    m_columns = static_cast<int>(width / m_cell) + 1;
    m_rows = static_cast<int>(height / m_cell) + 1;
    while (static_cast<double>(m_columns) * m_rows > kMaxCells) {
        m_cell *= 1.5;
        m_columns = static_cast<int>(width / m_cell) + 1;
        m_rows = static_cast<int>(height / m_cell) + 1;
    }
    m_cells.resize(static_cast<std::size_t>(m_columns) * static_cast<std::size_t>(m_rows));

    m_depth.reserve(m_scene->items.size());
    for (const layout::SceneItem& item : m_scene->items)
        m_depth.push_back(item.parent ? m_depth[item.parent.index()] + 1 : 0);

    const auto put = [this](const QRectF& area, std::uint32_t id, auto list, std::vector<std::uint32_t>& wide) {
        const Span span = spanOf(area);
        if (isWide(span)) {
            wide.push_back(id);
            return;
        }
        for (int y = span.top; y <= span.bottom; ++y)
            for (int x = span.left; x <= span.right; ++x)
                (m_cells[static_cast<std::size_t>(y) * static_cast<std::size_t>(m_columns) +
                         static_cast<std::size_t>(x)].*
                 list)
                    .push_back(id);
    };
    for (std::uint32_t i = 0; i < m_scene->items.size(); ++i)
        put(toQt(m_scene->items[i].rect), i, &Cell::items, m_wideItems);
    for (std::uint32_t i = 0; i < m_scene->edges.size(); ++i)
        put(toQt(m_scene->edges[i].path.bounds()), i, &Cell::edges, m_wideEdges);
}

SceneIndex::Span SceneIndex::spanOf(const QRectF& area) const {
    const auto cell = [this](double at, double from, int count) {
        return std::clamp(static_cast<int>(std::clamp((at - from) / m_cell, -1.0, 1e8)), 0, count - 1);
    };
    return {cell(area.left(), m_bounds.left(), m_columns), cell(area.top(), m_bounds.top(), m_rows),
            cell(area.right(), m_bounds.left(), m_columns), cell(area.bottom(), m_bounds.top(), m_rows)};
}

bool SceneIndex::isWide(const Span& span) const {
    return (span.right - span.left + 1) * static_cast<qint64>(span.bottom - span.top + 1) > kWideSpan;
}

namespace {

bool touch(const layout::Rect& r, const QRectF& area) {
    return r.x <= area.right() && area.left() <= r.right() && r.y <= area.bottom() && area.top() <= r.bottom();
}

}  // namespace

template <typename Seen>
std::vector<std::uint32_t> SceneIndex::collect(const QRectF& area, std::vector<std::uint32_t> Cell::*list,
                                               const std::vector<std::uint32_t>& wide, const Seen& isSeen) const {
    std::vector<std::uint32_t> found;
    const Span span = spanOf(area);
    for (int y = span.top; y <= span.bottom; ++y) {
        for (int x = span.left; x <= span.right; ++x) {
            const auto& here = m_cells[static_cast<std::size_t>(y) * static_cast<std::size_t>(m_columns) +
                                       static_cast<std::size_t>(x)].*
                               list;
            found.insert(found.end(), here.begin(), here.end());
        }
    }
    found.insert(found.end(), wide.begin(), wide.end());
    sortUnique(found);
    std::erase_if(found, [&](std::uint32_t i) { return !isSeen(i); });
    return found;
}

std::vector<std::uint32_t> SceneIndex::itemsWithin(const QRectF& area) const {
    return collect(area, &Cell::items, m_wideItems,
                   [&](std::uint32_t i) { return touch(m_scene->items[i].rect, area); });
}

SceneIndex::Found SceneIndex::within(const QRectF& area) const {
    return {itemsWithin(area), collect(area, &Cell::edges, m_wideEdges,
                                       [&](std::uint32_t i) { return touch(m_scene->edges[i].path.bounds(), area); })};
}

layout::ItemId SceneIndex::itemAt(QPointF place) const {
    const std::vector<std::uint32_t> items = itemsWithin(QRectF(place, QSizeF(0, 0)));
    // Parents precede their children: the last one is the innermost.
    return items.empty() ? layout::ItemId() : layout::ItemId(static_cast<std::size_t>(items.back()));
}

namespace {

/// Calls see(from, to) for short straight pieces of a path, as long as it returns true.
template <typename See>
void forEachPiece(const layout::Path& path, const See& see) {
    constexpr int kPieces = 8;
    QPointF before = toQt(path.start());
    for (std::size_t segment = 0; segment < path.segments(); ++segment)
        for (int piece = 1; piece <= kPieces; ++piece) {
            const QPointF next = toQt(path.at(segment, static_cast<double>(piece) / kPieces));
            if (!see(before, next)) return;
            before = next;
        }
}

}  // namespace

int SceneIndex::edgeAt(QPointF place, double reach) const {
    const Found found = within(QRectF(place.x() - reach, place.y() - reach, 2 * reach, 2 * reach));
    int best = -1;
    double nearest = reach;
    for (const std::uint32_t id : found.edges)
        forEachPiece(m_scene->edges[id].path, [&](QPointF from, QPointF to) {
            const double distance = distanceToSegment(place, from, to);
            if (distance <= nearest) {
                nearest = distance;
                best = static_cast<int>(id);
            }
            return true;
        });
    return best;
}

bool SceneIndex::hasEdgeIn(const QRectF& area) const {
    bool isFound = false;
    for (const std::uint32_t id : within(area).edges) {
        forEachPiece(m_scene->edges[id].path, [&](QPointF from, QPointF to) {
            // Straight lines have no height or no width.
            isFound = area.intersects(QRectF(from, to).normalized().adjusted(-0.5, -0.5, 0.5, 0.5));
            return !isFound;
        });
        if (isFound) return true;
    }
    return false;
}

}  // namespace sonde::canvas
