// The part of ScenePainter that marks and names the places where lines pass borders.

#include <algorithm>
#include <cmath>

#include "ui/canvas/port_text.h"
#include "ui/canvas/scene_painter.h"

namespace sonde::canvas {

using theme::ColorRole;

namespace {

constexpr double kDot = 2.2;
constexpr double kLetters = 0.72;  ///< of the small letters' size: names of ports are in gaps
constexpr double kMaxRoom = 90;

}  // namespace

/// How much room there is for a port's name: up to the next port in the same border, or to the left of the first one
/// (negative). 0 for ports without company: names without need are noise.
const std::vector<float>& ScenePainter::portRooms() const {
    const layout::SceneLayout& scene = m_index->scene();
    if (!m_portRooms.empty() || scene.edges.empty()) return m_portRooms;
    const bool across = scene.direction == layout::Direction::LeftRight;
    m_portRooms.assign(scene.edges.size(), 0);
    std::vector<std::uint32_t> order(scene.edges.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto place = [&](std::uint32_t id) {
        return across ? scene.edges[id].path.end().y : scene.edges[id].path.end().x;
    };
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
        return std::pair(scene.edges[a].to, place(a)) < std::pair(scene.edges[b].to, place(b));
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
        const bool first = i == 0 || scene.edges[order[i - 1]].to != scene.edges[order[i]].to;
        const bool last = i + 1 == order.size() || scene.edges[order[i + 1]].to != scene.edges[order[i]].to;
        if (first && last) continue;
        m_portRooms[order[i]] = static_cast<float>(first  ? -kMaxRoom
                                                   : last ? kMaxRoom
                                                          : std::min(kMaxRoom, place(order[i + 1]) - place(order[i])));
    }
    return m_portRooms;
}

void ScenePainter::paintPortName(QPainter& painter, QPointF port, double room, bool into, const QString& name) const {
    if (name.isEmpty()) return;
    const TextMeasure& measure = m_items.measure();
    const bool across = m_index->scene().direction == layout::Direction::LeftRight;
    const double height = measure.height(TextRole::Small) * kLetters;
    const bool before = !across && room < 0;
    room = std::abs(room);
    if (across && room < height) return;
    const QString shown = measure.elided(TextRole::Small, name, (across ? 36.0 : room - 6) / kLetters);
    if (shown.size() < 4 && shown != name) return;
    const double width = measure.width(TextRole::Small, shown) * kLetters;
    // Beside the line, before the border that it comes to or behind the one that it leaves.
    const QPointF at = across ? port + QPointF(into ? -width - 9 : 3, 1)
                              : port + QPointF(before ? -width - 4 : 4, into ? -height - 1 : 1);
    painter.save();
    painter.translate(at);
    painter.scale(kLetters, kLetters);
    painter.setFont(m_labelFont);
    painter.setPen(m_items.style().color(ColorRole::EdgeLabel));
    painter.drawText(QPointF(0, measure.ascent(TextRole::Small)), shown);
    painter.restore();
}

void ScenePainter::paintPorts(QPainter& painter, const std::vector<std::uint32_t>& edges, double scale) const {
    const layout::SceneLayout& scene = m_index->scene();
    const bool across = scene.direction == layout::Direction::LeftRight;
    const bool close = detailAt(scale) == Detail::Close;
    const QColor ink = m_items.style().color(ColorRole::Edge);
    for (const std::uint32_t id : edges) {
        if (!m_steps.goOn()) return;
        const layout::SceneEdge& edge = scene.edges[id];
        if (edge.path.empty() || edge.values.empty()) continue;
        // Dots where it passes borders of open boxes on the way from one item to the other.
        for (const layout::ItemId end : {edge.from, edge.to}) {
            for (layout::ItemId box = scene.item(end).parent; box.valid(); box = scene.item(box).parent) {
                const layout::Rect& rect = scene.item(box).rect;
                const bool into = end == edge.to;
                const double border = across ? (into ? rect.x : rect.right()) : (into ? rect.y : rect.bottom());
                for (std::size_t i = 3; i + 3 < edge.path.points.size(); i += 3) {
                    const layout::Point& p = edge.path.points[i];
                    if (std::abs((across ? p.x : p.y) - border) > 1e-6 || !rect.contains(p)) continue;
                    painter.setPen(Qt::NoPen);
                    painter.setBrush(ink);
                    painter.drawEllipse(toQt(p), kDot, kDot);
                    break;
                }
            }
        }
        if (!close) continue;
        const layout::SceneItem& reader = scene.item(edge.to);
        if (reader.what.expr.valid() && !reader.what.open && portRooms()[id] != 0)
            paintPortName(painter, toQt(edge.path.end()), portRooms()[id], true,
                          argumentName(m_items.graph(), reader.what.expr, edge.values.front()));
        const layout::SceneItem& maker = scene.item(edge.from);
        if (maker.what.expr.valid() && !maker.what.open && maker.what.kind == layout::ItemKind::Expr)
            paintPortName(painter, toQt(edge.path.start()), 28, false,
                          outputName(m_items.graph(), edge.values.front()));
    }
}

}  // namespace sonde::canvas
