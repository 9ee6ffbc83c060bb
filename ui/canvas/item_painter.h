#pragma once

#include <QPainter>

#include <memory>
#include <optional>

#include "ui/canvas/card.h"
#include "ui/canvas/scene_index.h"
#include "ui/canvas/scene_marks.h"

namespace sonde::canvas {

/// How much of an item is drawn: by the zoom, in pixels per scene unit.
enum class Detail {
    Block,    ///< a filled rectangle
    Heading,  ///< the box and what it is, as large as it fits
    Full,     ///< everything that its size was measured for
    Close,    ///< and what fits into the gaps: attributes
};
Detail detailAt(double scale);

/// Of the shapes of what was not reached. Its text is read all the same: see theme::ColorRole::DimmedText.
constexpr double kDimmedOpacity = 0.3;

/// Draws one item: a node's card, a module's box, a stub. Painter coordinates are scene units.
class ItemPainter {
  public:
    ItemPainter(std::shared_ptr<const graph::InternalGraph> graph, std::shared_ptr<const TextMeasure> measure,
                const CanvasStyle& style);

    void paint(QPainter& painter, const SceneIndex& index, layout::ItemId id, const SceneMarks& marks,
               double scale) const;
    /// The same for an item that is not where the scene has it: while it moves. `id` is that of its marks.
    void paint(QPainter& painter, const layout::SceneItem& item, int depth, layout::ItemId id, const SceneMarks& marks,
               double scale) const;
    /// The title of an open box over lines that pass through it, on a band in the box's colour.
    void paintOpenTitle(QPainter& painter, const layout::SceneItem& item, int depth, ItemFlags flags) const;
    /// Where its letters are.
    QRectF openTitleRect(const layout::SceneItem& item) const;

    const CanvasStyle& style() const { return m_style; }
    const TextMeasure& measure() const { return *m_measure; }
    const std::shared_ptr<const TextMeasure>& sharedMeasure() const { return m_measure; }
    const graph::InternalGraph& graph() const { return *m_graph; }
    const std::shared_ptr<const graph::InternalGraph>& sharedGraph() const { return m_graph; }

  private:
    /// What was not reached: shapes are painted with the painter's opacity, text with this one and in one colour.
    struct Faint {
        double opacity = 1;
        QColor ink;
    };

    void paintItem(QPainter& painter, const layout::SceneItem& item, int depth, ItemFlags flags,
                   const SceneMarks& marks, Detail detail) const;
    void drawText(QPainter& painter, QPointF baseline, const QString& text, const QColor& ink) const;
    void paintOpenBox(QPainter& painter, const layout::SceneItem& item, int depth, ItemFlags flags,
                      Detail detail) const;
    void openTitle(QPainter& painter, const layout::SceneItem& item, bool taken, const QColor* background) const;
    void paintClosedModule(QPainter& painter, const layout::SceneItem& item, int depth, const SceneMarks& marks,
                           Detail detail) const;
    void paintNode(QPainter& painter, const layout::SceneItem& item, const SceneMarks& marks, ItemFlags flags,
                   Detail detail) const;
    void paintPort(QPainter& painter, const layout::SceneItem& item, Detail detail) const;
    void paintStub(QPainter& painter, const layout::SceneItem& item, Detail detail) const;
    void paintBar(QPainter& painter, const QRectF& box, const Tint* tint) const;
    void paintToggle(QPainter& painter, const layout::SceneItem& item) const;
    void paintMarks(QPainter& painter, const layout::SceneItem& item, ItemFlags flags, const BlockCounts* blocks,
                    Detail detail) const;
    void paintSigns(QPainter& painter, const layout::SceneItem& item, ItemFlags flags, const BlockCounts* blocks,
                    Detail detail) const;
    double paintPart(QPainter& painter, QPointF right, std::uint32_t part, std::uint32_t all,
                     const QColor& background) const;
    void paintPinned(QPainter& painter, const layout::SceneItem& item, const PinnedText& pinned) const;
    void paintPreview(QPainter& painter, const layout::SceneItem& item, const Preview* preview,
                      const QColor& ink) const;
    void paintHeading(QPainter& painter, const QRectF& area, const QString& text, const QColor& ink) const;
    void line(QPainter& painter, TextRole role, QPointF topLeft, double width, const QString& text,
              const QColor& ink) const;

    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::shared_ptr<const TextMeasure> m_measure;
    CanvasStyle m_style;
    QFont m_fonts[3];
    std::optional<Faint> m_faint;
};

}  // namespace sonde::canvas
