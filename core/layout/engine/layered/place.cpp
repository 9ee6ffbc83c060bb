#include <algorithm>
#include <limits>

#include "core/layout/engine/layered/proper_graph.h"

namespace sonde::layout::layered {

namespace {

using Index = std::uint32_t;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLarge = 160;  // width of a box that is most likely an open one

/// Gives every rank the places closest to those that its neighbours wish (weighted least squares) in which order and
/// separations hold, rank by rank, down and up alternately; then straightens the long edges.
class Placer {
  public:
    explicit Placer(const ProperGraph& graph) : m_graph(graph), m_x(graph.vertexCount(), 0) {}

    std::vector<double> run() {
        const auto depth = static_cast<Index>(m_graph.ranks.size());
        for (Index r = 0; r < depth; ++r) packed(r);
        for (int sweep = 0; sweep < 8; ++sweep) {
            for (Index r = 0; r < depth; ++r) fit(r, true, sweep >= 6);
            for (Index r = depth; r-- > 0;) fit(r, sweep >= 6, true);
        }
        alignLines();
        for (const auto& chain : m_graph.chains) straighten(chain);
        shift();
        return std::move(m_x);
    }

  private:
    void packed(Index r) {
        const auto& members = m_graph.ranks[r];
        double at = 0;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (i > 0) at += m_graph.separation(members[i - 1], members[i]);
            m_x[members[i]] = at;
        }
        for (const Index vertex : members) m_x[vertex] -= at / 2;
    }

    struct Target {
        double x = 0;
        double weight = 0;
    };

    /// Long edges weigh more, so that they are straight (weights 1, 2, 8 of Gansner and others 1993). Least squares
    /// share out what cannot be straight: only much heavier edges keep their line.
    double weightOf(const ProperGraph::Link& link) const {
        const int places = m_graph.isPlace(link.upper) + m_graph.isPlace(link.lower);
        const double square = std::clamp(link.weight * link.weight, 0.01, 1e4);
        return square * square * (places == 0 ? 1 : places == 1 ? 2 : 8);
    }

    /// How far the centre of the lower end should be right of the upper end's for a straight link. Large boxes in a
    /// row look calmer with their middles in line than with their ports.
    double offsetOf(const ProperGraph::Link& link) const {
        if (isLoose(link.upper) || isLoose(link.lower))
            return (isLoose(link.upper) ? 0 : link.upperPort) - (isLoose(link.lower) ? 0 : link.lowerPort);
        if (m_graph.isPlace(link.upper) || m_graph.isPlace(link.lower)) return link.upperPort - link.lowerPort;
        const double narrow = std::min(m_graph.width[link.upper], m_graph.width[link.lower]);
        return narrow > kLarge ? 0 : link.upperPort - link.lowerPort;
    }

    bool isLoose(Index vertex) const { return !m_graph.isPlace(vertex) && m_graph.graph->boxes[vertex].loosePorts; }

    Target target(Index vertex, bool above, bool below) const {
        Target total;
        auto add = [&](double x, double weight) {
            total.x += x * weight;
            total.weight += weight;
        };
        if (above) {
            for (Index i = m_graph.upStart[vertex]; i < m_graph.upStart[vertex + 1]; ++i) {
                const auto& link = m_graph.links[m_graph.upLinks[i]];
                add(m_x[link.upper] + offsetOf(link), weightOf(link));
            }
        }
        if (below) {
            for (Index i = m_graph.downStart[vertex]; i < m_graph.downStart[vertex + 1]; ++i) {
                const auto& link = m_graph.links[m_graph.downLinks[i]];
                add(m_x[link.lower] - offsetOf(link), weightOf(link));
            }
        }
        const Index anchor = m_graph.anchor[vertex];
        if (anchor != ProperGraph::kNoAnchor) add(m_x[anchor] + m_graph.separation(anchor, vertex), 0.5);
        if (total.weight == 0) return {m_x[vertex], 0.05};
        return {total.x / total.weight, total.weight};
    }

    /// Isotonic regression by pooling adjacent violators: blocks of vertices that touch move together.
    void fit(Index r, bool above, bool below) {
        const auto& members = m_graph.ranks[r];
        m_blocks.clear();
        double offset = 0;  // of a vertex from the first one if all touched
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (i > 0) offset += m_graph.separation(members[i - 1], members[i]);
            const Target w = target(members[i], above, below);
            m_blocks.push_back({w.x - offset, w.weight, i + 1});
            while (m_blocks.size() > 1 && m_blocks[m_blocks.size() - 2].at > m_blocks.back().at) {
                const Block last = m_blocks.back();
                m_blocks.pop_back();
                Block& block = m_blocks.back();
                block.at = (block.at * block.weight + last.at * last.weight) / (block.weight + last.weight);
                block.weight += last.weight;
                block.end = last.end;
            }
        }
        offset = 0;
        std::size_t i = 0;
        for (const Block& block : m_blocks) {
            for (; i < block.end; ++i) {
                if (i > 0) offset += m_graph.separation(members[i - 1], members[i]);
                m_x[members[i]] = block.at + offset;
            }
        }
    }

    struct Range {
        double low = -kInfinity;
        double high = kInfinity;
        double clamp(double x) const { return std::min(std::max(x, low), high); }
    };

    /// Where a vertex can be between its neighbours.
    Range freedom(Index vertex) const {
        const auto& members = m_graph.ranks[m_graph.rank[vertex]];
        const Index i = m_graph.position[vertex];
        Range range;
        if (i > 0) range.low = m_x[members[i - 1]] + m_graph.separation(members[i - 1], vertex);
        if (i + 1 < members.size()) range.high = m_x[members[i + 1]] - m_graph.separation(vertex, members[i + 1]);
        if (range.low > range.high) range.low = range.high = m_x[vertex];  // rounding
        return range;
    }

    static constexpr Index kNone = std::numeric_limits<Index>::max();

    /// The link that weighs more than all others on one side of a vertex.
    Index heaviest(Index vertex, bool above) const {
        const auto& start = above ? m_graph.upStart : m_graph.downStart;
        const auto& links = above ? m_graph.upLinks : m_graph.downLinks;
        Index found = kNone;
        double most = -1;
        for (Index i = start[vertex]; i < start[vertex + 1]; ++i) {
            const double weight = m_graph.links[links[i]].weight;
            if (weight >= most) found = weight > most ? links[i] : kNone;
            most = std::max(most, weight);
        }
        return found;
    }

    /// The box to which the line of a box goes on; kNone if another line is as good.
    Index next(Index box, double& offset) const {
        const Index link = heaviest(box, false);
        if (link == kNone) return kNone;
        const Index lower = m_graph.links[link].lower;
        if (m_graph.isPlace(lower) || heaviest(lower, true) != link) return kNone;
        offset += offsetOf(m_graph.links[link]);
        return lower;
    }

    /// Boxes that go on from one to the next are below each other, as far as they can without moving others.
    void alignLines() {
        std::vector<bool> done(m_graph.boxCount, false);
        for (const auto& members : m_graph.ranks) {
            for (const Index first : members) {
                if (m_graph.isPlace(first) || done[first]) continue;
                m_line.clear();
                double offset = 0;
                for (Index box = first; box != kNone; box = next(box, offset)) {
                    m_line.emplace_back(box, offset);
                    done[box] = true;
                }
                if (m_line.size() > 1) align();
            }
        }
    }

    void align() {
        std::size_t begin = 0;
        Range run;
        double sum = 0;
        const auto assignLine = [&](std::size_t end) {
            const double x = run.clamp(sum / static_cast<double>(end - begin));
            for (std::size_t i = begin; i < end; ++i) m_x[m_line[i].first] = x + m_line[i].second;
        };
        for (std::size_t i = 0; i < m_line.size(); ++i) {
            const auto [box, offset] = m_line[i];
            const Range own = freedom(box);
            const Range both{std::max(run.low, own.low - offset), std::min(run.high, own.high - offset)};
            if (both.low > both.high) {
                assignLine(i);
                begin = i;
                sum = 0;
                run = {own.low - offset, own.high - offset};
            } else {
                run = both;
            }
            sum += m_x[box] - offset;
        }
        assignLine(m_line.size());
    }

    /// Puts the places of an edge on as few different x as their freedom allows.
    void straighten(const ProperGraph::Chain& chain) {
        const auto& places = chain.places;
        if (places.empty()) return;
        double prefer = entryOf(places.front());
        std::size_t begin = 0;
        Range run = freedom(places[0]);
        for (std::size_t i = 1; i <= places.size(); ++i) {
            if (i < places.size()) {
                const Range next = freedom(places[i]);
                const Range both{std::max(run.low, next.low), std::min(run.high, next.high)};
                if (both.low <= both.high) {
                    run = both;
                    continue;
                }
                assign(places, begin, i, run.clamp(prefer));
                prefer = m_x[places[i - 1]];
                run = next;
                begin = i;
            } else {
                const double exit = exitOf(places.back());
                assign(places, begin, i, run.clamp(begin == 0 ? prefer : run.clamp(prefer) == prefer ? prefer : exit));
            }
        }
    }

    void assign(const std::vector<Index>& places, std::size_t begin, std::size_t end, double x) {
        for (std::size_t i = begin; i < end; ++i) m_x[places[i]] = x;
    }
    double entryOf(Index place) const {
        if (m_graph.upStart[place] == m_graph.upStart[place + 1]) return m_x[place];
        const auto& link = m_graph.links[m_graph.upLinks[m_graph.upStart[place]]];
        return m_graph.isPlace(link.upper) ? m_x[link.upper] : m_x[place];
    }
    double exitOf(Index place) const {
        if (m_graph.downStart[place] == m_graph.downStart[place + 1]) return m_x[place];
        const auto& link = m_graph.links[m_graph.downLinks[m_graph.downStart[place]]];
        return m_x[link.lower] + link.lowerPort;
    }

    void shift() {
        double left = kInfinity;
        for (Index v = 0; v < m_x.size(); ++v) left = std::min(left, m_x[v] - m_graph.width[v] / 2);
        for (double& x : m_x) x -= left;
    }

    struct Block {
        double at;
        double weight;
        std::size_t end;
    };
    const ProperGraph& m_graph;
    std::vector<double> m_x;
    std::vector<Block> m_blocks;
    std::vector<std::pair<Index, double>> m_line;  // boxes below each other, and how far right of the first one
};

}  // namespace

std::vector<double> placeAcross(const ProperGraph& graph) { return Placer(graph).run(); }

}  // namespace sonde::layout::layered
