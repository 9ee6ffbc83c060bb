#include "core/layout/engine/straighten.h"

#include <cmath>
#include <limits>

#include "core/layout/engine/rows.h"

namespace sonde::layout {

namespace {

using Index = std::uint32_t;
constexpr double kAlmost = 10;    ///< so far aside is as good as straight
constexpr double kFarthest = 96;  ///< together, along a chain: edges that pass by must not lie far off

class Straightener {
  public:
    Straightener(const BoxGraph& graph, BoxLayout& layout)
        : m_graph(graph), m_layout(layout), m_rowOf(rowsOf(layout)), m_before(layout.boxes) {}

    void run() {
        std::size_t count = 0;
        for (const Row& row : m_rowOf) count = std::max(count, row.index + 1);
        std::vector<std::vector<Index>> rows(count);
        for (Index box = 0; box < m_rowOf.size(); ++box) rows[m_rowOf[box].index].push_back(box);
        findFeeds();
        for (std::size_t r = 1; r < count; ++r) {
            auto& members = rows[r];
            std::stable_sort(members.begin(), members.end(),
                             [&](Index a, Index b) { return m_before[a].x < m_before[b].x; });
            for (std::size_t i = 0; i < members.size(); ++i) move(members, i);
        }
    }

  private:
    static constexpr Index kNone = std::numeric_limits<Index>::max();

    /// By box: the edge that weighs more than all others that come in, if it comes from the row before.
    void findFeeds() {
        m_feed.assign(m_graph.boxes.size(), kNone);
        std::vector<double> most(m_graph.boxes.size(), -1);
        for (Index i = 0; i < m_graph.edges.size(); ++i) {
            const BoxEdge& edge = m_graph.edges[i];
            if (edge.from == edge.to || edge.weight < most[edge.to]) continue;
            const bool next = m_rowOf[edge.to].index == m_rowOf[edge.from].index + 1;
            m_feed[edge.to] = edge.weight > most[edge.to] && next ? i : kNone;
            most[edge.to] = edge.weight;
        }
    }

    double offset(Index box, const std::optional<double>& port) const {
        return m_graph.boxes[box].loosePorts ? 0 : port.value_or(0);
    }

    void move(const std::vector<Index>& row, std::size_t i) {
        const Index box = row[i];
        if (m_feed[box] == kNone) return;
        const BoxEdge& edge = m_graph.edges[m_feed[box]];
        const double preferred = offset(edge.from, edge.fromPort) - offset(box, edge.toPort);
        const double aside = m_before[box].center().x - m_before[edge.from].center().x - preferred;
        if (std::abs(aside) > kAlmost) return;
        Rect& rect = m_layout.boxes[box];
        const double x = m_layout.boxes[edge.from].center().x + preferred - rect.width / 2;
        if (std::abs(x - m_before[box].x) > kFarthest) return;
        const double gap = m_graph.nodeSep - 1e-6;
        if (x < rect.x && i > 0 && x - m_layout.boxes[row[i - 1]].right() < gap) return;
        if (x > rect.x && i + 1 < row.size() && m_before[row[i + 1]].x - x - rect.width < gap) return;
        rect.x = x;
    }

    const BoxGraph& m_graph;
    BoxLayout& m_layout;
    const std::vector<Row> m_rowOf;
    const std::vector<Rect> m_before;
    std::vector<Index> m_feed;
};

}  // namespace

void straighten(const BoxGraph& graph, BoxLayout& layout) { Straightener(graph, layout).run(); }

}  // namespace sonde::layout
