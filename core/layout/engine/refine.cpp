#include "core/layout/engine/refine.h"

#include <algorithm>
#include <cmath>

#include "core/layout/engine/clear.h"

namespace sonde::layout {

namespace {

constexpr double kTouch = 1e-6;

/// Splits a cubic at `t` and leaves its first part in `p`.
void keepFirstPart(Point* p, double t) {
    auto between = [t](Point a, Point b) { return Point{a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; };
    const Point a = between(p[0], p[1]), b = between(p[1], p[2]), c = between(p[2], p[3]);
    const Point d = between(a, b), e = between(b, c);
    p[1] = a;
    p[2] = d;
    p[3] = between(d, e);
}

/// The last segment that begins above `y` and ends below it; segments() if there is none.
std::size_t segmentThrough(const Path& path, double y) {
    for (std::size_t s = path.segments(); s-- > 0;) {
        if (path.points[3 * s].y <= y && path.points[3 * s + 3].y > y) return s;
    }
    return path.segments();
}

/// Cuts a path that descends through `y` there, and continues to `target` in a curve that ends vertically.
void bendEnd(Path& path, double y, Point target) {
    const std::size_t s = segmentThrough(path, y);
    double low = 0, high = 1;
    for (int i = 0; i < 40; ++i) {
        const double t = (low + high) / 2;
        (path.at(s, t).y <= y ? low : high) = t;
    }
    path.points.resize(3 * s + 4);
    keepFirstPart(path.points.data() + 3 * s, low);
    const Point from = path.end(), control = path.points[path.points.size() - 2];
    const double half = (target.y - from.y) / 2, dy = from.y - control.y;
    double dx = dy > kTouch ? (from.x - control.x) / dy * half : 0;
    dx = std::clamp(dx, -std::abs(target.x - from.x), std::abs(target.x - from.x));
    path.curveTo({from.x + dx, from.y + half}, {target.x, target.y - half}, target);
}

/// Mirrors and reverses a path, so that its start can be treated as an end.
void flip(Path& path) {
    path.reverse();
    for (Point& p : path.points) p.y = -p.y;
}

class Refiner {
  public:
    Refiner(const BoxGraph& graph, BoxLayout& layout) : m_graph(graph), m_layout(layout), m_rows(rowsOf(layout)) {}

    void run() {
        for (std::size_t i = 0; i < m_graph.edges.size(); ++i) leadToPorts(i);
        const std::size_t count = m_graph.boxes.size();
        std::vector<std::vector<std::uint32_t>> in(count), out(count);
        for (std::uint32_t i = 0; i < m_graph.edges.size(); ++i) {
            out[m_graph.edges[i].from].push_back(i);
            in[m_graph.edges[i].to].push_back(i);
        }
        for (std::size_t box = 0; box < count; ++box) {
            if (m_graph.boxes[box].pin != Pin::Free) continue;
            const Rect& rect = m_layout.boxes[box];
            const RankAlign align = rankAlignOf(rect.height, m_rows[box].bottom - m_rows[box].top, m_graph.rankSep,
                                                !in[box].empty(), !out[box].empty());
            if (align == RankAlign::Top && regular(box, in[box], out[box])) moveUp(box, in[box], out[box]);
            if (align == RankAlign::Bottom && regular(box, in[box], out[box])) moveDown(box, out[box]);
        }
        clearEdges(m_graph, m_layout, m_rows);
    }

  private:
    /// Graphviz's splines overshoot where a port is far to the side, even through boxes: edges to the next rank are
    /// routed again within the gap, and so are the ends of longer ones.
    void leadToPorts(std::size_t i) {
        const BoxEdge& edge = m_graph.edges[i];
        const Row &from = m_rows[edge.from], &to = m_rows[edge.to];
        if ((!edge.fromPort && !edge.toPort) || to.index <= from.index) return;
        Path& path = m_layout.edges[i];
        const Point start = path.start(), end = path.end();
        if (std::abs(start.y - m_layout.boxes[edge.from].bottom()) > kTouch) return;
        if (std::abs(end.y - m_layout.boxes[edge.to].y) > kTouch) return;
        if (to.index == from.index + 1) {
            Path drawn;
            drawn.moveTo(start);
            if (start.y < from.bottom) drawn.lineTo({start.x, from.bottom});
            const double half = (to.top - from.bottom) / 2;
            drawn.curveTo({start.x, from.bottom + half}, {end.x, to.top - half}, {end.x, to.top});
            if (to.top < end.y) drawn.lineTo(end);
            path = std::move(drawn);
            return;
        }
        if (edge.toPort && segmentThrough(path, above(edge.to)) < path.segments()) {
            bendEnd(path, above(edge.to), {end.x, to.top});
            if (to.top < end.y) path.lineTo(end);
        }
        flip(path);
        if (edge.fromPort && segmentThrough(path, -below(edge.from)) < path.segments()) {
            bendEnd(path, -below(edge.from), {start.x, -from.bottom});
            if (start.y < from.bottom) path.lineTo({start.x, -start.y});
        }
        flip(path);
    }

    double above(std::size_t box) const { return m_rows[box].top - m_graph.rankSep / 2; }
    double below(std::size_t box) const { return m_rows[box].bottom + m_graph.rankSep / 2; }

    bool regular(std::size_t box, const std::vector<std::uint32_t>& in, const std::vector<std::uint32_t>& out) const {
        const Rect& rect = m_layout.boxes[box];
        for (const std::uint32_t i : in) {
            const Path& path = m_layout.edges[i];
            if (std::abs(path.end().y - rect.y) > kTouch || segmentThrough(path, above(box)) == path.segments())
                return false;
        }
        for (const std::uint32_t i : out) {
            const Path& path = m_layout.edges[i];
            if (std::abs(path.start().y - rect.bottom()) > kTouch || path.end().y < below(box)) return false;
        }
        return true;
    }

    void moveUp(std::size_t box, const std::vector<std::uint32_t>& in, const std::vector<std::uint32_t>& out) {
        Rect& rect = m_layout.boxes[box];
        rect.y = m_rows[box].top;
        for (const std::uint32_t i : in) {
            Path& path = m_layout.edges[i];
            bendEnd(path, above(box), {path.end().x, rect.y});
        }
        for (const std::uint32_t i : out) {
            Path longer;
            longer.moveTo({m_layout.edges[i].start().x, rect.bottom()});
            longer.append(m_layout.edges[i]);
            m_layout.edges[i] = std::move(longer);
        }
    }

    void moveDown(std::size_t box, const std::vector<std::uint32_t>& out) {
        Rect& rect = m_layout.boxes[box];
        rect.y = m_rows[box].bottom - rect.height;
        for (const std::uint32_t i : out) {
            Path& path = m_layout.edges[i];
            const double x = path.start().x;
            flip(path);
            if (segmentThrough(path, -below(box)) < path.segments()) bendEnd(path, -below(box), {x, -rect.bottom()});
            else path.lineTo({x, -rect.bottom()});
            flip(path);
        }
    }

    const BoxGraph& m_graph;
    BoxLayout& m_layout;
    std::vector<Row> m_rows;  // by box
};

}  // namespace

RankAlign rankAlignOf(double boxHeight, double rankHeight, double rankSep, bool hasInputs, bool hasConsumers) {
    if (rankHeight - boxHeight < 2 * rankSep) return RankAlign::Middle;
    return hasConsumers && !hasInputs ? RankAlign::Bottom : RankAlign::Top;
}

void refine(const BoxGraph& graph, BoxLayout& layout) { Refiner(graph, layout).run(); }

}  // namespace sonde::layout
