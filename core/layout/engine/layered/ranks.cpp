#include <algorithm>
#include <limits>
#include <numeric>

#include "core/layout/engine/layered/proper_graph.h"

namespace sonde::layout::layered {

namespace {

using Index = std::uint32_t;

/// Rows of edge indices by one end.
struct Rows {
    std::vector<Index> start, items;

    template <typename Key>
    Rows(std::size_t rows, std::size_t count, Key key) : start(rows + 1, 0), items(count) {
        for (std::size_t i = 0; i < count; ++i) ++start[key(i) + 1];
        std::partial_sum(start.begin(), start.end(), start.begin());
        std::vector<Index> next(start.begin(), start.end() - 1);
        for (std::size_t i = 0; i < count; ++i) items[next[key(i)]++] = static_cast<Index>(i);
    }
};

/// The ends of each edge as ranks see them: `low` must come after `high`, unless the edge binds nothing.
struct Constraint {
    Index high = 0;
    Index low = 0;
    bool binds = false;
};

/// Edges that close a cycle are turned round. Boxes are numbered in the order of execution as a rule, so searching from
/// low numbers on turns few.
class CycleBreaker {
  public:
    explicit CycleBreaker(const BoxGraph& graph)
        : m_graph(graph),
          m_rows(graph.boxes.size(), graph.edges.size(), [&](std::size_t i) { return graph.edges[i].from; }),
          m_state(graph.boxes.size(), kNew), m_constraints(graph.edges.size()) {}

    std::vector<Constraint> run() {
        const std::size_t count = m_graph.boxes.size();
        std::vector<bool> entered(count, false);
        for (std::size_t i = 0; i < m_graph.edges.size(); ++i) {
            const BoxEdge& edge = m_graph.edges[i];
            m_constraints[i] = pinned(edge);
            if (edge.from != edge.to) entered[edge.to] = true;
        }
        for (Index box = 0; box < count; ++box) {
            if (!entered[box]) search(box);
        }
        for (Index box = 0; box < count; ++box) search(box);
        return std::move(m_constraints);
    }

  private:
    enum State : std::uint8_t { kNew, kOpen, kDone };

    Constraint pinned(const BoxEdge& edge) const {
        const Pin from = m_graph.boxes[edge.from].pin, to = m_graph.boxes[edge.to].pin;
        if (edge.from == edge.to || (from == to && from != Pin::Free)) return {edge.from, edge.to, false};
        if (to == Pin::First || from == Pin::Last) return {edge.to, edge.from, true};
        return {edge.from, edge.to, true};
    }

    void search(Index root) {
        if (m_state[root] != kNew) return;
        m_state[root] = kOpen;
        m_stack.push_back({root, m_rows.start[root]});
        while (!m_stack.empty()) {
            auto& [box, next] = m_stack.back();
            if (next == m_rows.start[box + 1]) {
                m_state[box] = kDone;
                m_stack.pop_back();
                continue;
            }
            Constraint& edge = m_constraints[m_rows.items[next++]];
            // Edges at pinned boxes have their direction already and cannot be on a cycle.
            if (!edge.binds || edge.high != box || isPinned(edge.low) || isPinned(box)) continue;
            if (m_state[edge.low] == kOpen) {
                std::swap(edge.high, edge.low);
            } else if (m_state[edge.low] == kNew) {
                m_state[edge.low] = kOpen;
                m_stack.push_back({edge.low, m_rows.start[edge.low]});
            }
        }
    }

    bool isPinned(Index box) const { return m_graph.boxes[box].pin != Pin::Free; }

    const BoxGraph& m_graph;
    Rows m_rows;
    std::vector<State> m_state;
    std::vector<Constraint> m_constraints;
    std::vector<std::pair<Index, Index>> m_stack;
};

/// Longest paths from the top; then what hangs in the air (constants and what is computed from them alone, and boxes
/// that feed more than they read) sinks to its consumers.
class Ranker {
  public:
    Ranker(const BoxGraph& graph, const std::vector<Constraint>& constraints)
        : m_graph(graph), m_all(constraints),
          m_out(graph.boxes.size() + 1, constraints.size(), [&](std::size_t i) { return key(i, true); }),
          m_in(graph.boxes.size() + 1, constraints.size(), [&](std::size_t i) { return key(i, false); }),
          m_rank(graph.boxes.size(), 0) {}

    std::vector<Index> run() {
        longestPaths();
        sink();
        pinRanks();
        return std::move(m_rank);
    }

  private:
    /// Edges that bind nothing go to a row of their own after the boxes.
    Index key(std::size_t i, bool high) const {
        if (!m_all[i].binds) return static_cast<Index>(m_graph.boxes.size());
        return high ? m_all[i].high : m_all[i].low;
    }
    bool isPinned(Index box) const { return m_graph.boxes[box].pin != Pin::Free; }

    void longestPaths() {
        const std::size_t count = m_graph.boxes.size();
        std::vector<Index> waiting(count, 0);
        for (Index box = 0; box < count; ++box) {
            waiting[box] = m_in.start[box + 1] - m_in.start[box];
            if (waiting[box] == 0) m_order.push_back(box);
        }
        for (std::size_t next = 0; next < m_order.size(); ++next) {
            const Index box = m_order[next];
            for (Index i = m_out.start[box]; i < m_out.start[box + 1]; ++i) {
                const Index low = m_all[m_out.items[i]].low;
                m_rank[low] = std::max(m_rank[low], m_rank[box] + 1);
                if (--waiting[low] == 0) m_order.push_back(low);
            }
        }
    }

    void sink() {
        const std::size_t count = m_graph.boxes.size();
        std::vector<bool> floating(count, false);
        for (const Index box : m_order) {
            floating[box] = m_graph.boxes[box].pin != Pin::First;
            for (Index i = m_in.start[box]; i < m_in.start[box + 1]; ++i) {
                const Index high = m_all[m_in.items[i]].high;
                if (!floating[high] || m_out.start[high + 1] - m_out.start[high] > 1) floating[box] = false;
            }
        }
        for (auto it = m_order.rbegin(); it != m_order.rend(); ++it) {
            const Index box = *it;
            const Index outs = m_out.start[box + 1] - m_out.start[box];
            if (isPinned(box) || outs == 0) continue;
            Index held = 0, nearest = std::numeric_limits<Index>::max();
            for (Index i = m_in.start[box]; i < m_in.start[box + 1]; ++i) held += !floating[m_all[m_in.items[i]].high];
            for (Index i = m_out.start[box]; i < m_out.start[box + 1]; ++i) {
                const Index low = m_all[m_out.items[i]].low;
                if (m_graph.boxes[low].pin != Pin::Last) nearest = std::min(nearest, m_rank[low]);
            }
            if (nearest != std::numeric_limits<Index>::max() && (floating[box] || outs > held))
                m_rank[box] = nearest - 1;
        }
    }

    /// First boxes have a rank to themselves above all others, Last ones below; ranks without boxes vanish.
    void pinRanks() {
        Index deepest = 0;
        bool hasFirst = false;
        for (Index box = 0; box < m_rank.size(); ++box) {
            if (m_graph.boxes[box].pin == Pin::Free) deepest = std::max(deepest, m_rank[box]);
            hasFirst = hasFirst || m_graph.boxes[box].pin == Pin::First;
        }
        std::vector<Index> used(deepest + 3, 0);
        for (Index box = 0; box < m_rank.size(); ++box) {
            const Pin pin = m_graph.boxes[box].pin;
            m_rank[box] = pin == Pin::First ? 0 : pin == Pin::Last ? deepest + 2 : m_rank[box] + 1;
            used[m_rank[box]] = 1;
        }
        Index next = 0;
        for (Index& rank : used) rank = rank ? next++ : 0;
        for (Index& rank : m_rank) rank = used[rank];
    }

    const BoxGraph& m_graph;
    const std::vector<Constraint>& m_all;
    Rows m_out, m_in;
    std::vector<Index> m_rank;
    std::vector<Index> m_order;
};

double clampedPort(const BoxGraph& graph, std::uint32_t box, const std::optional<double>& port) {
    const double half = graph.boxes[box].width / 2;
    return port ? std::clamp(*port, -half, half) : 0.0;
}

/// How many places an edge needs.
std::size_t placesOf(const std::vector<Index>& rank, const BoxEdge& edge) {
    const Index from = rank[edge.from], to = rank[edge.to];
    return to > from ? to - from - 1 : from - to + 1;
}

/// Longest edge that still gets places, so that there are not many more places than boxes and edges.
std::size_t longestWithPlaces(const BoxGraph& graph, const std::vector<Index>& rank) {
    std::vector<std::size_t> lengths;
    lengths.reserve(graph.edges.size());
    std::size_t total = 0;
    for (const BoxEdge& edge : graph.edges) {
        lengths.push_back(placesOf(rank, edge));
        total += lengths.back();
    }
    std::size_t limit = std::numeric_limits<std::size_t>::max();
    const std::size_t budget = std::max<std::size_t>(20'000, 4 * (graph.boxes.size() + graph.edges.size()));
    if (total <= budget) return limit;
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    for (std::size_t length : lengths) {
        if (total <= budget) break;
        total -= length;
        limit = length - 1;
    }
    return limit;
}

void addChain(ProperGraph& proper, const BoxEdge& edge, std::size_t longest) {
    const Index from = proper.rank[edge.from], to = proper.rank[edge.to];
    ProperGraph::Chain chain;
    chain.direction = to > from ? EdgeDirection::Down : EdgeDirection::Back;
    chain.lane = placesOf(proper.rank, edge) > longest;
    if (!chain.lane) {
        const bool down = chain.direction == EdgeDirection::Down;
        const Index first = down ? from + 1 : to;
        const Index last = down ? to : from + 1;  // one after
        const double fromPort = clampedPort(*proper.graph, edge.from, edge.fromPort);
        const double toPort = clampedPort(*proper.graph, edge.to, edge.toPort);
        Index previous = edge.from;
        bool linked = down;
        double port = down ? fromPort : 0;
        for (Index r = first; r < last; ++r) {
            const auto place = static_cast<Index>(proper.rank.size());
            proper.rank.push_back(r);
            proper.width.push_back(0);
            proper.anchor.push_back(ProperGraph::kNoAnchor);
            chain.places.push_back(place);
            if (linked) proper.links.push_back({previous, place, port, 0, edge.weight});
            previous = place;
            port = 0;
            linked = true;
        }
        if (down) {
            proper.links.push_back({previous, edge.to, port, toPort, edge.weight});
        } else {
            proper.anchor[chain.places.front()] = edge.to;
            proper.anchor[chain.places.back()] = edge.from;
        }
    }
    proper.chains.push_back(std::move(chain));
}

}  // namespace

double ProperGraph::separation(std::uint32_t left, std::uint32_t right) const {
    const double sep = graph->nodeSep;
    const double gap = isPlace(left) && isPlace(right) ? sep * 0.4 : isPlace(left) || isPlace(right) ? sep * 0.6 : sep;
    return width[left] / 2 + width[right] / 2 + gap;
}

void ProperGraph::updatePositions(std::uint32_t rankIndex) {
    const auto& members = ranks[rankIndex];
    for (std::uint32_t i = 0; i < members.size(); ++i) position[members[i]] = i;
}

std::vector<std::uint32_t> ranksOf(const BoxGraph& graph) {
    const std::vector<Constraint> constraints = CycleBreaker(graph).run();
    return Ranker(graph, constraints).run();
}

std::size_t effort(const BoxGraph& graph) {
    const std::vector<Index> rank = ranksOf(graph);
    std::size_t total = graph.boxes.size() + graph.edges.size();
    for (const BoxEdge& edge : graph.edges) total += placesOf(rank, edge);
    return total;
}

ProperGraph makeProper(const BoxGraph& graph) {
    ProperGraph proper;
    proper.graph = &graph;
    proper.boxCount = static_cast<Index>(graph.boxes.size());
    proper.rank = ranksOf(graph);
    for (const Box& box : graph.boxes) proper.width.push_back(box.width);
    proper.anchor.assign(graph.boxes.size(), ProperGraph::kNoAnchor);

    const std::size_t longest = longestWithPlaces(graph, proper.rank);
    proper.chains.reserve(graph.edges.size());
    for (const BoxEdge& edge : graph.edges) addChain(proper, edge, longest);

    Index depth = 0;
    for (Index rank : proper.rank) depth = std::max(depth, rank + 1);
    proper.ranks.resize(depth);
    proper.position.resize(proper.rank.size());
    for (Index vertex = 0; vertex < proper.rank.size(); ++vertex) proper.ranks[proper.rank[vertex]].push_back(vertex);
    for (Index r = 0; r < depth; ++r) proper.updatePositions(r);

    const Rows down(proper.vertexCount(), proper.links.size(), [&](std::size_t i) { return proper.links[i].upper; });
    const Rows up(proper.vertexCount(), proper.links.size(), [&](std::size_t i) { return proper.links[i].lower; });
    proper.downStart = down.start;
    proper.downLinks = down.items;
    proper.upStart = up.start;
    proper.upLinks = up.items;
    return proper;
}

}  // namespace sonde::layout::layered
