#pragma once

#include <cstdint>
#include <vector>

#include "core/layout/engine/box_graph.h"

namespace sonde::layout::layered {

/// The direction of an edge through the ranks.
enum class EdgeDirection : std::uint8_t {
    Down,  ///< from a rank to a later one
    Back,  ///< to the same or an earlier rank: leaves at the bottom, goes up beside the boxes, and enters from above
};

/// A box graph whose edges connect neighbouring ranks only: an edge over several ranks has a *place* in each rank that
/// it passes (a Back edge also in the ranks of its ends). Vertices are the boxes, then the places. Top-down only.
struct ProperGraph {
    struct Link {  ///< from a vertex to one in the next rank; ports are distances from the vertices' middles
        std::uint32_t upper = 0;
        std::uint32_t lower = 0;
        double upperPort = 0;
        double lowerPort = 0;
        double weight = 1;
    };
    struct Chain {  ///< the path of one edge of the box graph
        EdgeDirection direction = EdgeDirection::Down;
        bool lane = false;                  ///< runs beside the graph instead of through places
        std::vector<std::uint32_t> places;  ///< from the upper rank to the lower one
    };

    const BoxGraph* graph = nullptr;
    std::uint32_t boxCount = 0;
    std::vector<std::uint32_t> rank;  ///< by vertex
    std::vector<double> width;        ///< by vertex
    /// By vertex: the box beside which a place should be, for the first and the last place of a Back edge.
    std::vector<std::uint32_t> anchor;
    static constexpr std::uint32_t kNoAnchor = 0xffffffff;
    std::vector<Link> links;
    std::vector<Chain> chains;                      ///< by edge
    std::vector<std::vector<std::uint32_t>> ranks;  ///< the vertices of each rank, from left to right
    std::vector<std::uint32_t> position;            ///< by vertex: its index in its rank

    // Links by end, as offsets into index lists (compressed rows).
    std::vector<std::uint32_t> downStart, downLinks, upStart, upLinks;

    bool isPlace(std::uint32_t vertex) const { return vertex >= boxCount; }
    std::size_t vertexCount() const { return rank.size(); }
    /// The minimum distance between the centres of two neighbours in a rank.
    double separation(std::uint32_t left, std::uint32_t right) const;
    void updatePositions(std::uint32_t rankIndex);
};

/// Breaks cycles, gives every box a rank, and makes the places.
ProperGraph makeProper(const BoxGraph& graph);

/// The rank of each box.
std::vector<std::uint32_t> ranksOf(const BoxGraph& graph);

/// Boxes, edges, and places if every edge had them.
std::size_t effort(const BoxGraph& graph);

/// Orders every rank so that few edges cross. `sweeps` bounds the work.
void reduceCrossings(ProperGraph& graph, int sweeps);

/// The number of pairs of links that cross with the present order.
std::uint64_t countCrossings(const ProperGraph& graph);

/// The x of every vertex's middle, at least 0 with its half width.
std::vector<double> placeAcross(const ProperGraph& graph);

/// Heights of the ranks, edges' curves, the whole size.
BoxLayout route(const ProperGraph& graph, const std::vector<double>& x);

}  // namespace sonde::layout::layered
