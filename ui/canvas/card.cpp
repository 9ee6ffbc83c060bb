#include "ui/canvas/card.h"

#include <algorithm>
#include <cmath>

namespace sonde::canvas {

using layout::ItemKind;

namespace {

/// Widths in steps, so that blocks whose names differ by a digit share one layout.
double stepped(double width) { return std::ceil(width / 8) * 8; }

}  // namespace

layout::Size Card::size(const graph::InternalGraph& graph, const layout::ItemDescription& what, bool watched) const {
    const ItemText text = itemText(graph, what, m_style);
    const auto body = [&](const QString& line) { return line.isEmpty() ? 0.0 : bodyLine(); };
    const double toggle = hasToggle(what) ? kToggle + 6 : 0;
    const double title = m_measure.width(TextRole::Title, text.title) + toggle;
    const bool isModule = what.kind == ItemKind::Module;
    const double second = m_measure.width(TextRole::Body, isModule ? text.classAndFacts() : text.qualname);

    if (what.kind == ItemKind::Stub) {
        const double width = m_measure.width(TextRole::Small, text.title) + 26;
        return {stepped(std::clamp(width, 40.0, 160.0)), smallLine() + 6};
    }
    if (what.open) {
        const double width = title + 10 + second + 2 * kPadX;
        return {stepped(std::clamp(width, 80.0, kMaxWidth)), titleLine() + 2 * kPadY};
    }
    // Watch and end marks are in the corner; room for them is always there, so setting one moves nothing.
    double width = std::max({title + 2 * kMark + 8, second, m_measure.width(TextRole::Body, text.name)});
    if (!isModule && !text.facts.isEmpty())
        width = std::max(width, title + kFactsGap + m_measure.width(TextRole::Body, text.facts) + 2 * kMark);
    // What a model takes and gives may have no type before a run: room for it is always there.
    const bool port = what.kind == ItemKind::Input || what.kind == ItemKind::Output;
    double height =
        titleLine() + (port ? bodyLine() : body(isModule ? text.classAndFacts() : text.qualname)) + body(text.name);
    for (const QString& line : text.small) {
        width = std::max(width, m_measure.width(TextRole::Small, line));
        height += smallLine();
    }
    width = std::clamp(width, 60.0, kMaxWidth) + 2 * kPadX + kAccent;
    if (watched) {
        width += kThumbnail + kPadX;
        height = std::max(height, kThumbnail) + smallLine() + 2;
    }
    return {stepped(width), height + 2 * kPadY};
}

layout::ItemMetrics itemMetrics(std::shared_ptr<const graph::InternalGraph> graph, const CanvasStyle& style,
                                std::shared_ptr<const TextMeasure> measure, std::unordered_set<graph::NodeId> watched,
                                std::unordered_set<graph::ScopeId> watchedModules) {
    return [graph = std::move(graph), style, measure = std::move(measure), watched = std::move(watched),
            watchedModules = std::move(watchedModules)](const layout::ItemDescription& what) {
        const bool live = what.kind == ItemKind::Module ? watchedModules.contains(what.scope)
                                                        : what.kind == ItemKind::Expr && !watched.empty() &&
                                                              watched.contains(nodeOf(*graph, what));
        return Card(*measure, style).size(*graph, what, live);
    };
}

}  // namespace sonde::canvas
