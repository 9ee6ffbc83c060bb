#include "core/layout/engine/wrap_cuts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace sonde::layout {

namespace {

/// Rows nearer to each other are not cut apart: a line needs room to bend.
constexpr double kMinGap = 8;
/// A column that is a tenth longer or shorter than the mean is as bad as …
constexpr double kUneven = 0.1;
/// … this many lines that are cut.
constexpr double kUnevenLines = 0.5;
/// More cuts than this are thinned before columns are chosen, which takes the square of those within a column …
constexpr std::size_t kMaxCuts = 2048;
/// … to so many for each.
constexpr double kCutsInColumn = 48;

/// Counts how many ranges of cuts contain each.
class RangeCounts {
  public:
    explicit RangeCounts(std::size_t size) : m_steps(size + 1, 0) {}
    void add(std::size_t first, std::size_t last) {  // without the last
        if (first >= last) return;
        ++m_steps[first];
        --m_steps[last];
    }
    std::vector<int> counts() const {
        std::vector<int> sums(m_steps.size() - 1);
        std::partial_sum(m_steps.begin(), m_steps.end() - 1, sums.begin());
        return sums;
    }

  private:
    std::vector<int> m_steps;
};

class CutChooser {
  public:
    CutChooser(const BoxGraph& graph, const BoxLayout& layout, double columnHeight)
        : m_graph(graph), m_layout(layout), m_columnHeight(std::max(columnHeight, 1.0)) {}

    std::vector<WrapCut> chosen() {
        if (!findGaps()) return {};
        countLines();
        thinOut();
        return m_cuts.empty() ? m_cuts : best();
    }

  private:
    /// The gaps between rows, but not above the first box or below the last one that is free, nor past a pinned one.
    bool findGaps() {
        std::vector<std::size_t> order(m_layout.boxes.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        const std::vector<Rect>& boxes = m_layout.boxes;
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return boxes[a].y < boxes[b].y; });
        double from = std::numeric_limits<double>::infinity(), to = -from;
        double lowest = -from, highest = from;  // of the boxes pinned first and of those pinned last
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            const Pin pin = m_graph.boxes[i].pin;
            if (pin == Pin::First) lowest = std::max(lowest, boxes[i].bottom());
            if (pin == Pin::Last) highest = std::min(highest, boxes[i].y);
            if (pin != Pin::Free) continue;
            from = std::min(from, boxes[i].y);
            to = std::max(to, boxes[i].bottom());
        }
        if (order.empty() || !(from < to)) return false;
        m_top = boxes[order.front()].y;
        m_bottom = m_top;
        for (const std::size_t i : order) {
            const Rect& box = boxes[i];
            const WrapCut cut{m_bottom, box.y};
            if (box.y - m_bottom >= kMinGap && cut.y() > std::max(from, lowest) && cut.y() < std::min(to, highest))
                m_cuts.push_back(cut);
            m_bottom = std::max(m_bottom, box.bottom());
        }
        return m_bottom - m_top > m_columnHeight && !m_cuts.empty();
    }

    std::size_t firstAt(double y) const {
        const auto found =
            std::lower_bound(m_cuts.begin(), m_cuts.end(), y, [](const WrapCut& c, double at) { return c.y() < at; });
        return static_cast<std::size_t>(found - m_cuts.begin());
    }

    /// How many lines pass each gap, those from one port once; gaps where an edge turns are none any more.
    void countLines() {
        RangeCounts turned(m_cuts.size()), passing(m_cuts.size());
        std::map<std::tuple<std::uint32_t, double, double>, std::pair<std::size_t, std::size_t>> lines;
        for (std::size_t i = 0; i < m_layout.edges.size(); ++i) {
            const Path& path = m_layout.edges[i];
            markTurns(path, turned);
            const Point start = path.start(), end = path.end();
            const std::size_t first = firstAt(std::min(start.y, end.y)), last = firstAt(std::max(start.y, end.y));
            if (first >= last) continue;
            const auto [line, isNew] =
                lines.try_emplace({m_graph.edges[i].from, start.x, start.y}, std::pair(first, last));
            if (!isNew) line->second = {std::min(line->second.first, first), std::max(line->second.second, last)};
        }
        for (const auto& [from, range] : lines) passing.add(range.first, range.second);
        const std::vector<int> turns = turned.counts(), lineCounts = passing.counts();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < m_cuts.size(); ++i) {
            if (turns[i] > 0) continue;
            m_cuts[kept++] = m_cuts[i];
            m_lines.push_back(lineCounts[i]);
        }
        m_cuts.resize(kept);
    }

    void markTurns(const Path& path, RangeCounts& turned) const {
        const double sign = path.end().y < path.start().y ? -1 : 1;
        double furthest = sign * path.start().y;
        const auto go = [&](double y) {
            if (y < furthest - 1e-6) {
                const double from = std::min(sign * y, sign * furthest), to = std::max(sign * y, sign * furthest);
                turned.add(firstAt(from), firstAt(std::nextafter(to, std::numeric_limits<double>::infinity())));
            }
            furthest = std::max(furthest, y);
        };
        for (std::size_t s = 0; s < path.segments(); ++s) {
            const Point* p = path.points.data() + 3 * s;
            const bool goesOn =
                sign * p[0].y <= sign * p[1].y && sign * p[1].y <= sign * p[2].y && sign * p[2].y <= sign * p[3].y;
            constexpr int kSteps = 16;
            for (int k = 1; k < kSteps && !goesOn; ++k) go(sign * path.at(s, static_cast<double>(k) / kSteps).y);
            go(sign * p[3].y);
        }
    }

    /// Of many cuts the best of each slice stays.
    void thinOut() {
        if (m_cuts.size() <= kMaxCuts) return;
        const double slice = m_columnHeight / kCutsInColumn;
        std::size_t kept = 0;
        double slot = -1;
        for (std::size_t i = 0; i < m_cuts.size(); ++i) {
            const double at = std::floor((m_cuts[i].y() - m_top) / slice);
            if (at != slot) ++kept;
            else if (m_lines[i] >= m_lines[kept - 1]) continue;
            slot = at;
            m_cuts[kept - 1] = m_cuts[i];
            m_lines[kept - 1] = m_lines[i];
        }
        m_cuts.resize(kept);
        m_lines.resize(kept);
    }

    double beginOf(std::size_t node) const { return node == 0 ? m_top : m_cuts[node - 1].below; }
    double endOf(std::size_t node) const { return node > m_cuts.size() ? m_bottom : m_cuts[node - 1].above; }

    /// Columns of the least cost in all, from the top downwards: node 0 is the top, the last one the bottom.
    std::vector<WrapCut> best() const {
        const double total = m_bottom - m_top, mean = total / std::ceil(total / m_columnHeight);
        const std::size_t nodes = m_cuts.size() + 2;
        std::vector<double> cost(nodes, 0);
        std::vector<std::size_t> before(nodes, 0);
        for (std::size_t node = 1; node < nodes; ++node) {
            cost[node] = std::numeric_limits<double>::infinity();
            for (std::size_t from = node; from-- > 0;) {
                const double length = endOf(node) - beginOf(from);
                if (length > m_columnHeight && from + 1 < node) break;
                const double uneven = (length - mean) / (kUneven * mean);
                const double here = cost[from] + uneven * uneven * kUnevenLines;
                if (here >= cost[node]) continue;
                cost[node] = here;
                before[node] = from;
            }
            if (node + 1 < nodes) cost[node] += m_lines[node - 1];
        }
        std::vector<WrapCut> cuts;
        for (std::size_t node = before[nodes - 1]; node > 0; node = before[node]) cuts.push_back(m_cuts[node - 1]);
        std::reverse(cuts.begin(), cuts.end());
        return cuts;
    }

    const BoxGraph& m_graph;
    const BoxLayout& m_layout;
    const double m_columnHeight;
    double m_top = 0, m_bottom = 0;
    std::vector<WrapCut> m_cuts;
    std::vector<int> m_lines;  // by cut
};

}  // namespace

std::vector<WrapCut> wrapCuts(const BoxGraph& graph, const BoxLayout& layout, double columnHeight) {
    return CutChooser(graph, layout, columnHeight).chosen();
}

}  // namespace sonde::layout
