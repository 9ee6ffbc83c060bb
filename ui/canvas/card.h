#pragma once

#include <QRectF>

#include <unordered_set>

#include "core/layout/scene.h"
#include "ui/canvas/canvas_style.h"
#include "ui/canvas/item_text.h"

namespace sonde::canvas {

/// Where things are on a node's card, a module's title bar and a stub, in scene units from the item's top left. Sizes
/// given to the layout and places used by the painter come from here alone, so they cannot differ.
class Card {
  public:
    Card(const TextMeasure& measure, const CanvasStyle& style) : m_measure(measure), m_style(style) {}

    static constexpr double kPadX = 10;
    static constexpr double kPadY = 7;
    static constexpr double kAccent = 4;  ///< bar of the category's colour at the left edge
    static constexpr double kRadius = 6;
    static constexpr double kMark = 14;       ///< watch and end marks
    static constexpr double kToggle = 14;     ///< the +/- button
    static constexpr double kThumbnail = 56;  ///< live value of a watched node
    static constexpr double kMaxWidth = 300;  ///< text beyond is elided
    static constexpr double kFactsGap = 8;    ///< between the operator and what it is set to

    double titleLine() const { return 17 * m_style.textScale; }
    double bodyLine() const { return 14 * m_style.textScale; }
    double smallLine() const { return 12 * m_style.textScale; }

    /// The size that an item needs (for an open box: its title bar). Thread-safe.
    layout::Size size(const graph::InternalGraph& graph, const layout::ItemDescription& what, bool watched) const;

    static bool hasToggle(const layout::ItemDescription& what) { return what.expandable; }
    /// The +/- button of an item that can be opened or closed.
    static QRectF toggleRect(const layout::Rect& item) {
        return {item.x + kPadX, item.y + kPadY + 1.5, kToggle, kToggle};
    }
    /// Where a watched node's value is drawn.
    static QRectF thumbnailRect(const layout::Rect& item) {
        return {item.right() - kPadX - kThumbnail, item.y + kPadY, kThumbnail, kThumbnail};
    }
    const TextMeasure& measure() const { return m_measure; }

  private:
    const TextMeasure& m_measure;
    const CanvasStyle& m_style;
};

/// What the composer asks for sizes. Holds copies of all that it needs. Watched are nodes, and modules by their
/// outputs.
layout::ItemMetrics itemMetrics(std::shared_ptr<const graph::InternalGraph> graph, const CanvasStyle& style,
                                std::shared_ptr<const TextMeasure> measure, std::unordered_set<graph::NodeId> watched,
                                std::unordered_set<graph::ScopeId> watchedModules);

}  // namespace sonde::canvas
