#include "core/layout/engine/clear.h"

#include <cmath>
#include <limits>

#include "core/layout/engine/segments.h"

namespace sonde::layout {

namespace {

using Index = std::uint32_t;
constexpr double kInside = 0.5;  ///< touching a border is no crossing
constexpr double kApart = 4;     ///< least distance of two edges that are led through one place
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Clearer {
  public:
    Clearer(const BoxGraph& graph, BoxLayout& layout, const std::vector<Row>& rowOf)
        : m_graph(graph), m_layout(layout), m_rowOf(rowOf) {}

    void run() {
        if (m_layout.boxes.empty() || !sortRows()) return;
        std::vector<std::size_t> wrong;
        for (std::size_t i = 0; i < m_layout.edges.size(); ++i) {
            if (runsThroughABox(i)) wrong.push_back(i);
        }
        m_taken.resize(m_rows.size());
        for (const std::size_t i : wrong) m_layout.edges[i] = led(i);
    }

  private:
    /// The boxes of each row from left to right; false if rows overlap.
    bool sortRows() {
        std::size_t count = 0;
        for (const Row& row : m_rowOf) count = std::max(count, row.index + 1);
        m_rows.resize(count);
        m_members.resize(count);
        for (Index box = 0; box < m_rowOf.size(); ++box) {
            m_rows[m_rowOf[box].index] = m_rowOf[box];
            m_members[m_rowOf[box].index].push_back(box);
        }
        for (auto& members : m_members) {
            std::stable_sort(members.begin(), members.end(),
                             [&](Index a, Index b) { return m_layout.boxes[a].x < m_layout.boxes[b].x; });
        }
        for (std::size_t r = 1; r < count; ++r) {
            if (m_rows[r].top < m_rows[r - 1].bottom) return false;
        }
        return true;
    }

    bool runsThroughABox(std::size_t edge) const {
        const Path& path = m_layout.edges[edge];
        const Rect bounds = path.bounds();
        auto row =
            std::partition_point(m_rows.begin(), m_rows.end(), [&](const Row& r) { return r.bottom <= bounds.y; });
        for (; row != m_rows.end() && row->top < bounds.bottom(); ++row) {
            const auto& members = m_members[row->index];
            auto it = std::partition_point(members.begin(), members.end(),
                                           [&](Index box) { return m_layout.boxes[box].right() <= bounds.x; });
            for (; it != members.end() && m_layout.boxes[*it].x < bounds.right(); ++it) {
                if (*it == m_graph.edges[edge].from || *it == m_graph.edges[edge].to) continue;
                const Rect& box = m_layout.boxes[*it];
                const Rect inner{box.x + kInside, box.y + kInside, box.width - 2 * kInside, box.height - 2 * kInside};
                if (inner.width > 0 && inner.height > 0 && passesThrough(path, inner)) return true;
            }
        }
        return false;
    }

    Path led(std::size_t index) {
        const BoxEdge& edge = m_graph.edges[index];
        const Rect &from = m_layout.boxes[edge.from], &to = m_layout.boxes[edge.to];
        const Row &first = m_rowOf[edge.from], &last = m_rowOf[edge.to];
        const bool down = last.index > first.index;
        // Where the old way left on another side of its box, the middle of the right one is as good.
        const Path& old = m_layout.edges[index];
        const double start =
            std::abs(old.start().y - from.bottom()) < 1e-6 ? old.start().x : startPoint(from, edge.fromPort).x;
        const double end = std::abs(old.end().y - to.y) < 1e-6 ? old.end().x : endPoint(to, edge.toPort).x;
        std::vector<Segment> segments{{start, from.bottom(), first.bottom}};
        if (down) {
            for (std::size_t r = first.index + 1; r < last.index; ++r) {
                const double preferred = start + (end - start) * static_cast<double>(r - first.index) /
                                                     static_cast<double>(last.index - first.index);
                add(segments, r, xAt(old, (m_rows[r].top + m_rows[r].bottom) / 2, preferred), true);
            }
        } else {
            double x = std::max(from.right(), to.right()) + m_graph.nodeSep / 2;
            for (std::size_t r = first.index + 1; r-- > last.index;) x = add(segments, r, x, false);
        }
        segments.push_back({end, last.top, to.y});
        return joined(segments, m_graph.rankSep);
    }

    /// Adds a segment through a row, as close to `preferred` as there is room. Returns its x.
    double add(std::vector<Segment>& segments, std::size_t row, double preferred, bool down) {
        const double x = freePlace(row, preferred);
        m_taken[row].push_back(x);
        const double from = down ? m_rows[row].top : m_rows[row].bottom,
                     to = down ? m_rows[row].bottom : m_rows[row].top;
        if (segments.size() > 1 && segments.back().x == x) segments.back().to = to;
        else segments.push_back({x, from, to});
        return x;
    }

    /// Where a path comes through a height; `otherwise` if it does not.
    static double xAt(const Path& path, double y, double otherwise) {
        for (std::size_t s = 0; s < path.segments(); ++s) {
            if ((path.points[3 * s].y <= y) == (path.points[3 * s + 3].y <= y)) continue;
            double low = 0, high = 1;
            const bool downwards = path.points[3 * s].y <= y;
            for (int i = 0; i < 30; ++i) {
                const double t = (low + high) / 2;
                ((path.at(s, t).y <= y) == downwards ? low : high) = t;
            }
            return path.at(s, low).x;
        }
        return otherwise;
    }

    double freePlace(std::size_t row, double preferred) const {
        const auto& members = m_members[row];
        double best = 0, least = kInfinity;
        for (std::size_t i = 0; i <= members.size(); ++i) {
            double low = i > 0 ? m_layout.boxes[members[i - 1]].right() : -kInfinity;
            double high = i < members.size() ? m_layout.boxes[members[i]].x : kInfinity;
            if (high - low < 2) continue;
            const double margin = std::min(m_graph.nodeSep * 0.4, (high - low) / 2);
            low += margin;
            high -= margin;
            const double x = notTaken(row, std::clamp(preferred, low, high), low, high);
            if (std::abs(x - preferred) < least) {
                least = std::abs(x - preferred);
                best = x;
            }
        }
        return best;
    }

    /// `x`, or a place beside it if an edge was led through there already and there is room.
    double notTaken(std::size_t row, double x, double low, double high) const {
        const auto& taken = m_taken[row];
        auto isFree = [&](double at) {
            return std::none_of(taken.begin(), taken.end(),
                                [&](double other) { return std::abs(other - at) < kApart; });
        };
        for (int step = 0; step < 16; ++step) {
            const double offset = kApart * ((step + 1) / 2) * (step % 2 ? 1 : -1);
            if (x + offset >= low && x + offset <= high && isFree(x + offset)) return x + offset;
        }
        return x;
    }

    const BoxGraph& m_graph;
    BoxLayout& m_layout;
    const std::vector<Row>& m_rowOf;
    std::vector<Row> m_rows;
    std::vector<std::vector<Index>> m_members;
    std::vector<std::vector<double>> m_taken;  // by row: where edges were led
};

}  // namespace

void clearEdges(const BoxGraph& graph, BoxLayout& layout, const std::vector<Row>& rows) {
    Clearer(graph, layout, rows).run();
}

}  // namespace sonde::layout
