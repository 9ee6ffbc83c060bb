#pragma once

#include <QRectF>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/layout/scene.h"

namespace sonde::canvas {

inline QRectF toQt(const layout::Rect& r) { return {r.x, r.y, r.width, r.height}; }
inline QPointF toQt(const layout::Point& p) { return {p.x, p.y}; }

/// Finds what of a scene is in a rectangle, in time that grows with what is found: a grid of cells that list the
/// items and the edges which touch them. Immutable; thread-safe; shares the scene.
class SceneIndex {
  public:
    explicit SceneIndex(std::shared_ptr<const layout::SceneLayout> scene);

    const layout::SceneLayout& scene() const { return *m_scene; }
    const std::shared_ptr<const layout::SceneLayout>& sharedScene() const { return m_scene; }

    /// Items and edges that may be seen in `area`, each once, in the order of the scene (so parents come first).
    struct Found {
        std::vector<std::uint32_t> items;
        std::vector<std::uint32_t> edges;
    };
    Found within(const QRectF& area) const;
    std::vector<std::uint32_t> itemsWithin(const QRectF& area) const;  ///< the items alone

    /// How many open boxes are around an item.
    int depth(layout::ItemId item) const { return m_depth[item.index()]; }

    /// The innermost item at a place; none on empty background.
    layout::ItemId itemAt(QPointF place) const;
    /// The edge nearest to a place, not farther than `reach`; -1 if there is none.
    int edgeAt(QPointF place, double reach) const;
    /// Whether a line passes through an area.
    bool hasEdgeIn(const QRectF& area) const;

  private:
    struct Cell {
        std::vector<std::uint32_t> items, edges;
    };
    struct Span {
        int left, top, right, bottom;
    };
    Span spanOf(const QRectF& area) const;
    template <typename Seen>
    std::vector<std::uint32_t> collect(const QRectF& area, std::vector<std::uint32_t> Cell::*list,
                                       const std::vector<std::uint32_t>& wide, const Seen& isSeen) const;
    bool isWide(const Span& span) const;

    std::shared_ptr<const layout::SceneLayout> m_scene;
    QRectF m_bounds;
    double m_cell = 1;
    int m_columns = 0, m_rows = 0;
    std::vector<Cell> m_cells;
    std::vector<int> m_depth;
    std::vector<std::uint32_t> m_wideItems, m_wideEdges;  ///< those that would fill too many cells
};

}  // namespace sonde::canvas
