#include <algorithm>
#include <numeric>

#include "core/layout/engine/layered/proper_graph.h"

namespace sonde::layout::layered {

namespace {

using Index = std::uint32_t;

/// Where along its rank an end of a link is: the vertex's index, shifted by the port within the vertex.
double endPosition(const ProperGraph& graph, Index vertex, double port) {
    const double width = graph.width[vertex];
    return graph.position[vertex] + (width > 0 ? 0.9 * port / width : 0.0);
}

/// Adds 1 at an index, sums over a range: Fenwick's tree, reused between ranks.
class Counter {
  public:
    void reset(std::size_t size) { m_tree.assign(size + 1, 0); }
    void add(std::size_t index) {
        for (++index; index < m_tree.size(); index += index & (~index + 1)) ++m_tree[index];
    }
    std::uint64_t before(std::size_t index) const {  // sum of [0, index)
        std::uint64_t sum = 0;
        for (; index > 0; index -= index & (~index + 1)) sum += m_tree[index];
        return sum;
    }

  private:
    std::vector<std::uint64_t> m_tree;
};

/// Crossings of the links between rank r and the next: inversions, as Barth, Jünger and Mutzel (2002) count them.
std::uint64_t crossingsBelow(const ProperGraph& graph, Index r, Counter& counter,
                             std::vector<std::pair<double, double>>& ends) {
    ends.clear();
    for (const Index vertex : graph.ranks[r]) {
        for (Index i = graph.downStart[vertex]; i < graph.downStart[vertex + 1]; ++i) {
            const auto& link = graph.links[graph.downLinks[i]];
            ends.emplace_back(endPosition(graph, link.upper, link.upperPort),
                              endPosition(graph, link.lower, link.lowerPort));
        }
    }
    std::sort(ends.begin(), ends.end());
    std::vector<double> lows(ends.size());
    std::transform(ends.begin(), ends.end(), lows.begin(), [](const auto& end) { return end.second; });
    std::sort(lows.begin(), lows.end());
    lows.erase(std::unique(lows.begin(), lows.end()), lows.end());
    counter.reset(lows.size());
    std::uint64_t crossings = 0, seen = 0;
    for (std::size_t i = 0; i < ends.size();) {
        std::size_t next = i;
        // Links from one point do not cross each other: count all of them before adding any.
        for (; next < ends.size() && ends[next].first == ends[i].first; ++next) {
            const auto low = std::lower_bound(lows.begin(), lows.end(), ends[next].second) - lows.begin();
            crossings += seen - counter.before(static_cast<std::size_t>(low) + 1);
        }
        for (; i < next; ++i, ++seen) {
            counter.add(std::lower_bound(lows.begin(), lows.end(), ends[i].second) - lows.begin());
        }
    }
    return crossings;
}

class CrossingReducer {
  public:
    explicit CrossingReducer(ProperGraph& graph) : m_graph(graph), m_value(graph.vertexCount(), 0) {}

    void run(int sweeps) {
        for (Index r = 1; r < m_graph.ranks.size(); ++r) sortRank(r, true);
        auto best = m_graph.ranks;
        std::uint64_t least = countCrossings(m_graph);
        int idle = 0;
        for (int sweep = 0; sweep < sweeps && least > 0 && idle < 4; ++sweep) {
            const bool down = sweep % 2 == 1;
            const auto depth = static_cast<Index>(m_graph.ranks.size());
            for (Index i = 1; i < depth; ++i) sortRank(down ? i : depth - 1 - i, down);
            if (m_graph.vertexCount() <= 3000) exchangeNeighbours();
            const std::uint64_t crossings = countCrossings(m_graph);
            ++idle;
            if (crossings < least) {
                least = crossings;
                best = m_graph.ranks;
                idle = 0;
            }
        }
        m_graph.ranks = std::move(best);
        for (Index r = 0; r < m_graph.ranks.size(); ++r) m_graph.updatePositions(r);
    }

  private:
    /// Pinned boxes have their rank for themselves and are in their order.
    bool isFixed(Index r) const {
        const Index first = m_graph.ranks[r].front();
        return !m_graph.isPlace(first) && m_graph.graph->boxes[first].pin != Pin::Free;
    }

    /// At least 0; -1 without neighbours. Ports left of the first vertex's middle lie before position 0, hence the
    /// shift.
    double barycentre(Index vertex, bool fromAbove) const {
        const auto& start = fromAbove ? m_graph.upStart : m_graph.downStart;
        const auto& links = fromAbove ? m_graph.upLinks : m_graph.downLinks;
        double sum = 0, weight = 0;
        for (Index i = start[vertex]; i < start[vertex + 1]; ++i) {
            const auto& link = m_graph.links[links[i]];
            sum += link.weight * (fromAbove ? endPosition(m_graph, link.upper, link.upperPort)
                                            : endPosition(m_graph, link.lower, link.lowerPort));
            weight += link.weight;
        }
        return weight > 0 ? sum / weight + 0.5 : -1;
    }

    /// Sorts by barycentre; vertices without neighbours on that side keep their places in the row.
    void sortRank(Index r, bool fromAbove) {
        auto& members = m_graph.ranks[r];
        if (isFixed(r)) return;
        std::vector<Index> moving;
        for (const Index vertex : members) {
            m_value[vertex] = barycentre(vertex, fromAbove);
            if (m_value[vertex] >= 0) moving.push_back(vertex);
        }
        std::stable_sort(moving.begin(), moving.end(), [&](Index a, Index b) { return m_value[a] < m_value[b]; });
        std::size_t next = 0;
        for (Index& vertex : members) {
            if (m_value[vertex] >= 0) vertex = moving[next++];
        }
        standBesideAnchors(members, fromAbove);
        m_graph.updatePositions(r);
    }

    /// Places that only their anchor holds go to its right.
    void standBesideAnchors(std::vector<Index>& members, bool fromAbove) {
        std::vector<Index> loose;
        for (const Index vertex : members) {
            if (isLoose(vertex, fromAbove)) loose.push_back(vertex);
        }
        if (loose.empty()) return;
        std::sort(loose.begin(), loose.end(),
                  [&](Index a, Index b) { return std::pair(m_graph.anchor[a], a) < std::pair(m_graph.anchor[b], b); });
        std::vector<Index> sorted;
        sorted.reserve(members.size());
        for (const Index vertex : members) {
            if (isLoose(vertex, fromAbove)) continue;
            sorted.push_back(vertex);
            auto it = std::lower_bound(loose.begin(), loose.end(), vertex,
                                       [&](Index place, Index box) { return m_graph.anchor[place] < box; });
            for (; it != loose.end() && m_graph.anchor[*it] == vertex; ++it) sorted.push_back(*it);
        }
        members = std::move(sorted);
    }

    bool isLoose(Index vertex, bool fromAbove) const {
        return m_graph.anchor[vertex] != ProperGraph::kNoAnchor && barycentreless(vertex, fromAbove);
    }
    bool barycentreless(Index vertex, bool fromAbove) const {
        const auto& start = fromAbove ? m_graph.upStart : m_graph.downStart;
        return start[vertex] == start[vertex + 1];
    }

    /// Swaps neighbours while that removes crossings (Gansner, Koutsofios, North, Vo 1993, "transpose").
    void exchangeNeighbours() {
        for (int pass = 0; pass < 3; ++pass) {
            bool better = false;
            for (Index r = 0; r < m_graph.ranks.size(); ++r) {
                auto& members = m_graph.ranks[r];
                if (isFixed(r)) continue;
                for (Index i = 0; i + 1 < members.size(); ++i) {
                    const Index a = members[i], b = members[i + 1];
                    if (degree(a) * degree(b) > 4096 || crossingsOf(a, b) <= crossingsOf(b, a)) continue;
                    std::swap(members[i], members[i + 1]);
                    m_graph.position[b] = i;
                    m_graph.position[a] = i + 1;
                    better = true;
                }
            }
            if (!better) return;
        }
    }

    std::uint64_t degree(Index vertex) const {
        return 1 + m_graph.downStart[vertex + 1] - m_graph.downStart[vertex] + m_graph.upStart[vertex + 1] -
               m_graph.upStart[vertex];
    }

    /// Crossings of the links of two neighbours if `left` stands left of `right`.
    std::uint64_t crossingsOf(Index left, Index right) const {
        std::uint64_t crossings = 0;
        for (Index i = m_graph.upStart[left]; i < m_graph.upStart[left + 1]; ++i) {
            const auto& a = m_graph.links[m_graph.upLinks[i]];
            for (Index k = m_graph.upStart[right]; k < m_graph.upStart[right + 1]; ++k) {
                const auto& b = m_graph.links[m_graph.upLinks[k]];
                crossings += endPosition(m_graph, a.upper, a.upperPort) > endPosition(m_graph, b.upper, b.upperPort);
            }
        }
        for (Index i = m_graph.downStart[left]; i < m_graph.downStart[left + 1]; ++i) {
            const auto& a = m_graph.links[m_graph.downLinks[i]];
            for (Index k = m_graph.downStart[right]; k < m_graph.downStart[right + 1]; ++k) {
                const auto& b = m_graph.links[m_graph.downLinks[k]];
                crossings += endPosition(m_graph, a.lower, a.lowerPort) > endPosition(m_graph, b.lower, b.lowerPort);
            }
        }
        return crossings;
    }

    ProperGraph& m_graph;
    std::vector<double> m_value;
};

}  // namespace

std::uint64_t countCrossings(const ProperGraph& graph) {
    Counter counter;
    std::vector<std::pair<double, double>> ends;
    std::uint64_t crossings = 0;
    for (Index r = 0; r + 1 < graph.ranks.size(); ++r) crossings += crossingsBelow(graph, r, counter, ends);
    return crossings;
}

void reduceCrossings(ProperGraph& graph, int sweeps) { CrossingReducer(graph).run(sweeps); }

}  // namespace sonde::layout::layered
