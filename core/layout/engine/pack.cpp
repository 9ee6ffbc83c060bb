#include "core/layout/engine/pack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sonde::layout {

namespace {

using Index = std::uint32_t;
constexpr double kShape = 1.6;  ///< width of a window for its height

/// Which boxes hang together: union by the lowest number, with paths halved.
class Parts {
  public:
    explicit Parts(const BoxGraph& graph) : m_up(graph.boxes.size()) {
        std::iota(m_up.begin(), m_up.end(), Index{0});
        for (const BoxEdge& edge : graph.edges) join(edge.from, edge.to);
        Index pinned = std::numeric_limits<Index>::max();
        for (Index box = 0; box < m_up.size(); ++box) {
            if (graph.boxes[box].pin == Pin::Free) continue;
            if (pinned < m_up.size()) join(pinned, box);
            pinned = box;
        }
    }

    Index find(Index box) {
        while (m_up[box] != box) box = m_up[box] = m_up[m_up[box]];
        return box;
    }

  private:
    void join(Index a, Index b) {
        a = find(a);
        b = find(b);
        m_up[std::max(a, b)] = std::min(a, b);
    }

    std::vector<Index> m_up;
};

struct Part {
    BoxGraph graph;
    std::vector<Index> boxes, edges;  ///< their numbers in the whole
    BoxLayout layout;
    Point place;
};

std::vector<Part> partsOf(const BoxGraph& graph) {
    Parts parts(graph);
    constexpr Index kNew = std::numeric_limits<Index>::max();
    std::vector<Index> partOf(graph.boxes.size(), kNew), slot(graph.boxes.size());
    std::vector<Part> all;
    for (Index box = 0; box < graph.boxes.size(); ++box) {
        Index& part = partOf[parts.find(box)];
        if (part == kNew) {
            part = static_cast<Index>(all.size());
            all.push_back({{{}, {}, graph.direction, graph.nodeSep, graph.rankSep}, {}, {}, {}, {}});
        }
        slot[box] = static_cast<Index>(all[part].boxes.size());
        all[part].boxes.push_back(box);
        all[part].graph.boxes.push_back(graph.boxes[box]);
    }
    for (Index i = 0; i < graph.edges.size(); ++i) {
        Part& part = all[partOf[parts.find(graph.edges[i].from)]];
        BoxEdge edge = graph.edges[i];
        edge.from = slot[edge.from];
        edge.to = slot[edge.to];
        part.edges.push_back(i);
        part.graph.edges.push_back(edge);
    }
    return all;
}

/// Shelves from above, each as high as its first part, filled with columns from the left. A shelf ends where the whole
/// would get wider than its shape allows.
void place(std::vector<Part>& parts, double gap) {
    double area = 0, width = 0;
    std::vector<Part*> order;
    for (Part& part : parts) {
        area += (part.layout.size.width + gap) * (part.layout.size.height + gap);
        width = std::max(width, part.layout.size.width);
        order.push_back(&part);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Part* a, const Part* b) { return a->layout.size.height > b->layout.size.height; });
    width = std::max({width, std::sqrt(area * kShape), order.front()->layout.size.height * 0.5});
    double top = 0, left = 0, y = 0;
    double shelf = order.front()->layout.size.height, column = 0;
    for (Part* part : order) {
        const Size& size = part->layout.size;
        if (y > top && y + size.height > top + shelf) {  // the next column
            left += column + gap;
            column = 0;
            y = top;
        }
        if (left > 0 && left + std::max(column, size.width) > width) {  // the next shelf
            top += shelf + gap;
            shelf = size.height;
            left = column = 0;
            y = top;
        }
        part->place = {left, y};
        column = std::max(column, size.width);
        y += size.height + gap;
    }
}

/// Beside the part with pins, whose ends must stay at the borders: columns along the flow, from its second rank on.
void placeBeside(std::vector<Part>& parts, std::size_t pinned, bool across, double gap, double begin) {
    auto along = [&](const Part& part) { return across ? part.layout.size.width : part.layout.size.height; };
    auto aside = [&](const Part& part) { return across ? part.layout.size.height : part.layout.size.width; };
    const double length = along(parts[pinned]);
    double at = aside(parts[pinned]) + gap, y = begin, column = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i == pinned) continue;
        if (y > begin && y + along(parts[i]) > length) {
            at += column + gap;
            y = begin;
            column = 0;
        }
        parts[i].place = across ? Point{y, at} : Point{at, y};
        column = std::max(column, aside(parts[i]));
        y += along(parts[i]) + gap;
    }
}

bool isPinned(const Part& part) {
    return std::any_of(part.graph.boxes.begin(), part.graph.boxes.end(),
                       [](const Box& box) { return box.pin != Pin::Free; });
}

}  // namespace

void forEachPart(const BoxGraph& graph, const std::function<void(const BoxGraph&)>& visit) {
    const std::vector<Part> parts = graph.boxes.empty() ? std::vector<Part>() : partsOf(graph);
    if (parts.size() <= 1) return visit(graph);
    for (const Part& part : parts) visit(part.graph);
}

base::Result<BoxLayout> layoutParts(const BoxGraph& graph,
                                    const std::function<base::Result<BoxLayout>(const BoxGraph&)>& layOut) {
    if (graph.boxes.empty()) return layOut(graph);
    std::vector<Part> parts = partsOf(graph);
    if (parts.size() == 1) return layOut(graph);
    for (Part& part : parts) {
        SONDE_ASSIGN(part.layout, layOut(part.graph));
    }
    const double gap = std::max(graph.nodeSep, graph.rankSep * 0.75);
    const auto pinned = std::find_if(parts.begin(), parts.end(), isPinned);
    if (pinned == parts.end()) place(parts, gap);
    else
        placeBeside(parts, static_cast<std::size_t>(pinned - parts.begin()), graph.direction == Direction::LeftRight,
                    gap, graph.rankSep);
    BoxLayout whole;
    whole.boxes.resize(graph.boxes.size());
    whole.edges.resize(graph.edges.size());
    for (Part& part : parts) {
        for (std::size_t i = 0; i < part.boxes.size(); ++i)
            whole.boxes[part.boxes[i]] = part.layout.boxes[i].translated(part.place);
        for (std::size_t i = 0; i < part.edges.size(); ++i) {
            part.layout.edges[i].translate(part.place);
            whole.edges[part.edges[i]] = std::move(part.layout.edges[i]);
        }
        whole.size.width = std::max(whole.size.width, part.place.x + part.layout.size.width);
        whole.size.height = std::max(whole.size.height, part.place.y + part.layout.size.height);
        if (part.layout.engine == Engine::Graphviz) whole.engine = Engine::Graphviz;
        if (whole.note.empty()) whole.note = std::move(part.layout.note);
    }
    if (!whole.note.empty()) whole.engine = Engine::Layered;
    return whole;
}

}  // namespace sonde::layout
