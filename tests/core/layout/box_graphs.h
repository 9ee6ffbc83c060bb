#pragma once

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "core/layout/engine/box_graph.h"

// Graphs to lay out, and the rules that every picture keeps.

namespace layout_test {

using namespace sonde::layout;

inline BoxGraph boxes(std::size_t count, double width = 80, double height = 30) {
    BoxGraph graph;
    graph.boxes.assign(count, Box{width, height});
    return graph;
}

inline void addEdge(BoxGraph& graph, std::uint32_t from, std::uint32_t to) { graph.edges.push_back({from, to}); }

inline BoxGraph chain(std::size_t count) {
    BoxGraph graph = boxes(count);
    for (std::uint32_t i = 0; i + 1 < count; ++i) addEdge(graph, i, i + 1);
    return graph;
}

/// Blocks of three boxes with an edge past each block.
inline BoxGraph residual(std::size_t blocks) {
    BoxGraph graph = chain(3 * blocks + 1);
    for (std::uint32_t b = 0; b < blocks; ++b) addEdge(graph, 3 * b, 3 * b + 3);
    return graph;
}

/// Random sizes and edges, cycles, self loops and parallel edges included; the same for the same seed.
inline BoxGraph random(std::size_t count, std::size_t edges, unsigned seed) {
    std::mt19937 engine(seed);
    auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(engine() % n); };
    BoxGraph graph = boxes(count);
    for (Box& box : graph.boxes) box = {static_cast<double>(below(150)), static_cast<double>(below(80))};
    for (std::size_t i = 0; i < edges; ++i) {
        BoxEdge edge{below(count), below(count)};
        if (below(3) == 0) edge.fromPort = static_cast<double>(below(100)) - 50;
        if (below(3) == 0) edge.toPort = static_cast<double>(below(100)) - 50;
        graph.edges.push_back(edge);
    }
    return graph;
}

inline bool onBorder(const Rect& box, Point p) {
    const double slack = 1e-6;
    const bool inside =
        p.x >= box.x - slack && p.x <= box.right() + slack && p.y >= box.y - slack && p.y <= box.bottom() + slack;
    return inside && (std::abs(p.x - box.x) < slack || std::abs(p.x - box.right()) < slack ||
                      std::abs(p.y - box.y) < slack || std::abs(p.y - box.bottom()) < slack);
}

/// True if the curve passes through the inside of the box, `margin` away from its border.
inline bool crosses(const Path& path, const Rect& box, double margin) {
    if (box.width <= 2 * margin || box.height <= 2 * margin) return false;
    const Rect inner{box.x + margin, box.y + margin, box.width - 2 * margin, box.height - 2 * margin};
    if (!path.bounds().overlaps(inner)) return false;
    for (std::size_t s = 0; s < path.segments(); ++s) {
        const Point* p = path.points.data() + 3 * s;
        const double length =
            std::hypot(p[3].x - p[0].x, p[3].y - p[0].y) + std::hypot(p[1].x - p[2].x, p[1].y - p[2].y);
        const int steps = std::clamp(static_cast<int>(length / 2), 24, 4000);
        for (int i = 0; i <= steps; ++i) {
            if (inner.contains(path.at(s, static_cast<double>(i) / steps))) return true;
        }
    }
    return false;
}

/// The first rule that a layout breaks, or empty. Boxes must not overlap; edges must be finite and end on their boxes'
/// borders, at their ports where they have some; all must lie within the size. `through` also forbids edges through
/// boxes that are not theirs.
inline std::string brokenRule(const BoxGraph& graph, const BoxLayout& layout, bool through) {
    if (!answers(layout, graph)) return "boxes or edges do not answer the graph";
    const double slack = 1e-6;
    const Rect all{-slack, -slack, layout.size.width + 2 * slack, layout.size.height + 2 * slack};
    for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
        if (!all.contains(layout.boxes[i])) return "box " + std::to_string(i) + " lies outside";
        for (std::size_t k = 0; k < i; ++k) {
            const Rect& a = layout.boxes[i];
            const Rect smaller{a.x + 1e-6, a.y + 1e-6, a.width - 2e-6, a.height - 2e-6};
            if (smaller.overlaps(layout.boxes[k]))
                return "boxes " + std::to_string(k) + " and " + std::to_string(i) + " overlap";
        }
    }
    for (std::size_t i = 0; i < layout.edges.size(); ++i) {
        const std::string name = "edge " + std::to_string(i);
        const Path& path = layout.edges[i];
        const BoxEdge& edge = graph.edges[i];
        if (!onBorder(layout.boxes[edge.from], path.start())) return name + " does not begin at its box";
        if (!onBorder(layout.boxes[edge.to], path.end())) return name + " does not end at its box";
        const auto atPort = [&](std::uint32_t box, const std::optional<double>& port, Point p) {
            if (!port) return true;
            const Rect& rect = layout.boxes[box];
            const bool across = graph.direction == Direction::LeftRight;
            const double half = (across ? rect.height : rect.width) / 2,
                         middle = across ? rect.center().y : rect.center().x;
            return std::abs((across ? p.y : p.x) - middle - std::clamp(*port, -half, half)) < 1e-6;
        };
        if (!atPort(edge.from, edge.fromPort, path.start())) return name + " does not begin at its port";
        if (!atPort(edge.to, edge.toPort, path.end())) return name + " does not end at its port";
        if (!all.contains(path.bounds())) return name + " lies outside";
        for (std::uint32_t b = 0; through && b < layout.boxes.size(); ++b) {
            if (b != edge.from && b != edge.to && crosses(path, layout.boxes[b], 1)) {
                return name + " passes through box " + std::to_string(b);
            }
        }
    }
    return {};
}

}  // namespace layout_test
