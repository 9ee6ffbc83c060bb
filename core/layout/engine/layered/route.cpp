#include <algorithm>
#include <cmath>
#include <map>

#include "core/layout/engine/layered/proper_graph.h"
#include "core/layout/engine/refine.h"
#include "core/layout/engine/segments.h"

namespace sonde::layout::layered {

namespace {

using Index = std::uint32_t;

/// Draws edges inside the gaps between ranks, and straight down or up at their places inside ranks.
class Router {
  public:
    Router(const ProperGraph& graph, const std::vector<double>& x) : m_graph(graph), m_x(x), m_boxes(*graph.graph) {}

    BoxLayout run() {
        measureRanks();
        placeBoxes();
        spreadEnds();
        assignLanes();
        m_layout.edges.reserve(m_boxes.edges.size());
        for (std::size_t i = 0; i < m_boxes.edges.size(); ++i) m_layout.edges.push_back(draw(i));
        frame(m_layout);
        return std::move(m_layout);
    }

  private:
    void measureRanks() {
        m_top.assign(m_graph.ranks.size(), 0);
        m_bottom.assign(m_graph.ranks.size(), 0);
        double y = 0;
        for (std::size_t r = 0; r < m_graph.ranks.size(); ++r) {
            double height = 0;
            for (const Index vertex : m_graph.ranks[r]) {
                if (!m_graph.isPlace(vertex)) height = std::max(height, m_boxes.boxes[vertex].height);
            }
            m_top[r] = y;
            m_bottom[r] = y + height;
            y += height + m_boxes.rankSep;
        }
    }

    void placeBoxes() {
        std::vector<bool> reads(m_graph.boxCount, false), isRead(m_graph.boxCount, false);
        for (const BoxEdge& edge : m_boxes.edges) reads[edge.to] = isRead[edge.from] = true;
        m_layout.boxes.reserve(m_boxes.boxes.size());
        for (Index box = 0; box < m_graph.boxCount; ++box) {
            const Box& size = m_boxes.boxes[box];
            const Index r = m_graph.rank[box];
            const RankAlign align =
                rankAlignOf(size.height, m_bottom[r] - m_top[r], m_boxes.rankSep, reads[box], isRead[box]);
            const double y = align == RankAlign::Top      ? m_top[r]
                             : align == RankAlign::Bottom ? m_bottom[r] - size.height
                                                          : (m_top[r] + m_bottom[r] - size.height) / 2;
            m_layout.boxes.push_back({m_x[box] - size.width / 2, y, size.width, size.height});
            m_right = std::max(m_right, m_x[box] + size.width / 2);
        }
        for (Index place = m_graph.boxCount; place < m_graph.vertexCount(); ++place) {
            m_right = std::max(m_right, m_x[place]);
        }
    }

    /// Edges without a port share the middle of the border, a few points apart and in the order of their other ends.
    void spreadEnds() {
        const std::size_t count = m_boxes.edges.size();
        m_start.assign(count, 0);
        m_end.assign(count, 0);
        std::vector<std::vector<std::size_t>> leaving(m_graph.boxCount), entering(m_graph.boxCount);
        for (std::size_t i = 0; i < count; ++i) {
            const BoxEdge& edge = m_boxes.edges[i];
            const double fromHalf = m_boxes.boxes[edge.from].width / 2, toHalf = m_boxes.boxes[edge.to].width / 2;
            if (edge.fromPort) m_start[i] = std::clamp(*edge.fromPort, -fromHalf, fromHalf);
            else leaving[edge.from].push_back(i);
            if (edge.toPort) m_end[i] = std::clamp(*edge.toPort, -toHalf, toHalf);
            else entering[edge.to].push_back(i);
        }
        for (Index box = 0; box < m_graph.boxCount; ++box) {
            spread(leaving[box], box, m_start, [&](std::size_t i) { return nextX(i); });
            spread(entering[box], box, m_end, [&](std::size_t i) { return previousX(i); });
        }
    }

    template <typename Other>
    void spread(std::vector<std::size_t>& edges, Index box, std::vector<double>& ports, Other other) {
        if (edges.size() < 2) return;
        std::stable_sort(edges.begin(), edges.end(), [&](std::size_t a, std::size_t b) { return other(a) < other(b); });
        const double step = std::min(10.0, 0.6 * m_boxes.boxes[box].width / static_cast<double>(edges.size()));
        const double middle = (static_cast<double>(edges.size()) - 1) / 2;
        for (std::size_t k = 0; k < edges.size(); ++k) ports[edges[k]] = (static_cast<double>(k) - middle) * step;
    }

    double nextX(std::size_t edge) const {
        const auto& chain = m_graph.chains[edge];
        if (chain.lane) return 1e9;
        if (chain.places.empty()) return m_x[m_boxes.edges[edge].to];
        return m_x[chain.direction == EdgeDirection::Down ? chain.places.front() : chain.places.back()];
    }
    double previousX(std::size_t edge) const {
        const auto& chain = m_graph.chains[edge];
        if (chain.lane) return 1e9;
        if (chain.places.empty()) return m_x[m_boxes.edges[edge].from];
        return m_x[chain.direction == EdgeDirection::Down ? chain.places.back() : chain.places.front()];
    }

    /// Lanes right of everything: the first one that is free over the edge's ranks.
    void assignLanes() {
        std::vector<std::size_t> wanting;
        for (std::size_t i = 0; i < m_graph.chains.size(); ++i) {
            if (m_graph.chains[i].lane) wanting.push_back(i);
        }
        if (wanting.empty()) return;
        auto dimSize = [&](std::size_t i) {
            const Index a = m_graph.rank[m_boxes.edges[i].from], b = m_graph.rank[m_boxes.edges[i].to];
            return std::pair(std::min(a, b), std::max(a, b));
        };
        std::stable_sort(wanting.begin(), wanting.end(), [&](auto a, auto b) { return dimSize(a) < dimSize(b); });
        const double step = std::max(4.0, m_boxes.nodeSep * 0.4);
        std::multimap<Index, std::size_t> freeFrom;  // rank after which a lane is free -> lane
        std::size_t lanes = 0;
        for (const std::size_t i : wanting) {
            const auto [top, bottom] = dimSize(i);
            std::size_t lane = lanes;
            if (!freeFrom.empty() && freeFrom.begin()->first < top) {
                lane = freeFrom.begin()->second;
                freeFrom.erase(freeFrom.begin());
            } else {
                ++lanes;
            }
            freeFrom.emplace(bottom, lane);
            m_lane[i] = m_right + step * static_cast<double>(lane + 2);
        }
    }

    Path draw(std::size_t index) const {
        const BoxEdge& edge = m_boxes.edges[index];
        const auto& chain = m_graph.chains[index];
        const Rect& from = m_layout.boxes[edge.from];
        const Rect& to = m_layout.boxes[edge.to];
        const Index first = m_graph.rank[edge.from], last = m_graph.rank[edge.to];
        std::vector<Segment> segments;
        segments.push_back({from.center().x + m_start[index], from.bottom(), m_bottom[first]});
        if (chain.lane) {
            const double x = m_lane.at(index);
            if (chain.direction == EdgeDirection::Down) segments.push_back({x, m_top[first + 1], m_bottom[last - 1]});
            else segments.push_back({x, m_bottom[first], m_top[last]});
        } else if (chain.direction == EdgeDirection::Down) {
            for (const Index place : chain.places) addSegment(segments, place, true);
        } else {
            for (auto it = chain.places.rbegin(); it != chain.places.rend(); ++it) addSegment(segments, *it, false);
        }
        segments.push_back({to.center().x + m_end[index], m_top[last], to.y});
        return joined(segments, m_boxes.rankSep);
    }

    void addSegment(std::vector<Segment>& segments, Index place, bool down) const {
        const Index r = m_graph.rank[place];
        const double x = m_x[place], from = down ? m_top[r] : m_bottom[r], to = down ? m_bottom[r] : m_top[r];
        Segment& last = segments.back();
        if (segments.size() > 1 && last.x == x) last.to = to;  // straight on through the gap
        else segments.push_back({x, from, to});
    }

    const ProperGraph& m_graph;
    const std::vector<double>& m_x;
    const BoxGraph& m_boxes;
    BoxLayout m_layout;
    std::vector<double> m_top, m_bottom;  // by rank
    std::vector<double> m_start, m_end;   // by edge: where on the borders
    std::map<std::size_t, double> m_lane;
    double m_right = 0;
};

}  // namespace

BoxLayout route(const ProperGraph& graph, const std::vector<double>& x) { return Router(graph, x).run(); }

}  // namespace sonde::layout::layered
