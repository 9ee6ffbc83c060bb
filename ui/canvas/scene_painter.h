#pragma once

#include <QPainter>
#include <QPainterPath>

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ui/canvas/far_titles.h"
#include "ui/canvas/item_painter.h"
#include "ui/canvas/jump_names.h"
#include "ui/canvas/paint_steps.h"

namespace sonde::canvas {

/// Paints scenes: the one way to a picture, whether it goes to the screen, a file or a printer.
/// Painter coordinates are scene units. Used on one thread (it remembers what it computed).
class ScenePainter {
  public:
    ScenePainter(std::shared_ptr<const SceneIndex> index, std::shared_ptr<const graph::InternalGraph> graph,
                 std::shared_ptr<const TextMeasure> measure, const CanvasStyle& style);

    /// Another one for the same scene, to be used on another thread. Call it on the thread of this one.
    std::shared_ptr<ScenePainter> again(const CanvasStyle& style) const;
    /// What watches long paintings.
    PaintSteps& steps() const { return m_steps; }

    const SceneIndex& index() const { return *m_index; }
    const std::shared_ptr<const SceneIndex>& sharedIndex() const { return m_index; }
    const ItemPainter& items() const { return m_items; }

    /// What is in `area`, with the detail that suits `scale` pixels per scene unit. Paints no background.
    void paint(QPainter& painter, const SceneMarks& marks, const QRectF& area, double scale) const;

    /// The edges alone.
    void paintEdges(QPainter& painter, const QRectF& area, double scale) const {
        paintEdges(painter, m_index->within(area).edges, scale, area.adjusted(-20, -20, 20, 20));
    }

    /// The whole scene box by box, for vector files: `enter` is told the title of each box before it is drawn and
    /// `leave` after everything in it.
    struct Groups {
        std::function<void(const QString& title)> enter;
        std::function<void()> leave;
    };
    void paintNested(QPainter& painter, const SceneMarks& marks, double scale, const Groups& groups) const;

    /// Edges that end at an item in one colour, those that begin there in another, and the outline of the item.
    void paintHighlight(QPainter& painter, layout::ItemId item, const QRectF& area, double scale, bool selected) const;
    /// The outline alone.
    void paintOutline(QPainter& painter, layout::ItemId item, double scale, bool selected) const;
    void paintEdgeHighlight(QPainter& painter, int edge, const QRectF& area, double scale) const;

    /// The titles of boxes in `area`, again: over lines that are set off.
    void paintTitles(QPainter& painter, const SceneMarks& marks, const QRectF& area, double scale) const;

    /// The names at the ends of lines between columns, as they are drawn at that scale; made when first asked for.
    const std::vector<JumpName>& jumpNames(double scale) const;
    /// The one at a place, in scene units; null if there is none.
    const JumpName* jumpNameAt(QPointF place, double scale) const;

    /// What is seen where the whole scene is fitted: see FarTitles. Whether what is drawn at `shown` pixels per unit is
    /// another picture now.
    bool setWholeView(const QRectF& area, double scale, double shown);

    /// Whether any of `area` has the type of an edge on it, or a name at the end of a line, as drawn at that scale.
    bool hasTextIn(const QRectF& area, double scale) const;
    /// Whether the name of a box, or one at the end of a line, is in it. Places all names far out if it is another
    /// scale than before: not for each step of a zoom.
    bool hasTitleIn(const QRectF& area, double scale) const;

  private:
    void paintJumpNames(QPainter& painter, const QRectF& area, double scale) const;
    void paintEdges(QPainter& painter, const std::vector<std::uint32_t>& edges, double scale, const QRectF& area) const;
    void paintEdge(QPainter& painter, std::uint32_t edge, const QPen& pen, double arrow, const QRectF& area) const;
    void paintLabels(QPainter& painter, const std::vector<std::uint32_t>& edges) const;
    void paintLinks(QPainter& painter, layout::ItemId item, double scale) const;
    void paintOpenTitles(QPainter& painter, const std::vector<std::uint32_t>& items, const SceneMarks& marks) const;
    void paintFarTitles(QPainter& painter, const QRectF& area, double scale) const;
    FarTitles& farTitles() const;
    bool hasJumpNameIn(const QRectF& area, double scale) const;
    void paintPorts(QPainter& painter, const std::vector<std::uint32_t>& edges, double scale) const;
    void paintPortName(QPainter& painter, QPointF port, double room, bool into, const QString& name) const;
    const std::vector<float>& portRooms() const;
    QRectF labelRect(std::uint32_t edge) const;
    bool labelShown(std::uint32_t edge) const;
    /// Edges whose labels stand near a place.
    std::vector<std::uint32_t> labelsNear(QPointF place) const;
    void paintWithin(QPainter& painter, const SceneMarks& marks, layout::ItemId item, double scale,
                     const Groups& groups) const;

    std::shared_ptr<const SceneIndex> m_index;
    ItemPainter m_items;
    QFont m_labelFont;
    QFont m_nameFont;
    mutable PaintSteps m_steps;
    mutable std::vector<signed char> m_labelState;  ///< by edge: unknown, shown, not shown
    mutable std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> m_labelCells;  ///< made when first asked for
    mutable std::optional<FarTitles> m_farTitles;
    std::pair<QRectF, double> m_wholeView;
    mutable std::pair<double, std::vector<JumpName>> m_jumpNames, m_farNames;  ///< with their factor
    mutable std::vector<float> m_portRooms;  ///< by edge, see portRooms(); made when first asked for
};

}  // namespace sonde::canvas
