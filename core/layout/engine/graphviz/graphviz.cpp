#include "core/layout/engine/graphviz/graphviz.h"

#include <algorithm>
#include <cmath>
#include <graphviz/gvc.h>
#include <string>

#include "core/layout/engine/align_equal.h"
#include "core/layout/engine/refine.h"
#include "core/layout/engine/straighten.h"

namespace sonde::layout {

namespace {

constexpr double kPointsPerInch = 72;

/// Graphviz takes sizes as text, in inches.
std::string inches(double points) { return std::to_string(points / kPointsPerInch); }

/// The closest point to `p` on the border of `box`.
Point onBorder(const Rect& box, Point p) {
    const Point in{std::clamp(p.x, box.x, box.right()), std::clamp(p.y, box.y, box.bottom())};
    const double left = in.x - box.x, right = box.right() - in.x, top = in.y - box.y, bottom = box.bottom() - in.y;
    const double least = std::min({left, right, top, bottom});
    if (least == top) return {in.x, box.y};
    if (least == bottom) return {in.x, box.bottom()};
    return {least == left ? box.x : box.right(), in.y};
}

}  // namespace

class Graphviz::Impl {
  public:
    Impl() : m_context(gvContext()) {
        // Messages go nowhere: standard output belongs to the replies, and nothing uses standard error.
        agseterrf([](char*) { return 0; });
    }
    ~Impl() { gvFreeContext(m_context); }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    base::Result<BoxLayout> layout(const BoxGraph& boxes) {
        Agraph_t* graph = build(boxes);
        if (gvLayout(m_context, graph, "dot") != 0) {
            agclose(graph);
            return base::unreadable("Graphviz could not lay the graph out");
        }
        BoxLayout layout = read(boxes);
        gvFreeLayout(m_context, graph);
        agclose(graph);
        return layout;
    }

  private:
    static void set(void* object, Agsym_t* symbol, const std::string& value) {
        agxset(object, symbol, const_cast<char*>(value.c_str()));
    }
    static void graphAttribute(Agraph_t* graph, const char* name, const std::string& value) {
        agattr(graph, AGRAPH, const_cast<char*>(name), const_cast<char*>(value.c_str()));
    }
    static Agsym_t* attribute(Agraph_t* graph, int kind, const char* name, const char* value) {
        return agattr(graph, kind, const_cast<char*>(name), const_cast<char*>(value));
    }

    Agraph_t* build(const BoxGraph& boxes) {
        Agraph_t* graph = agopen(nullptr, Agdirected, nullptr);
        graphAttribute(graph, "nodesep", inches(boxes.nodeSep));
        graphAttribute(graph, "ranksep", inches(boxes.rankSep));
        graphAttribute(graph, "rank", "");
        if (boxes.edges.size() > 300 || boxes.edges.size() > 3 * boxes.boxes.size()) {
            // Bounds on the iterations of network simplex and of crossing reduction: dense graphs gain most.
            graphAttribute(graph, "nslimit", "2");
            graphAttribute(graph, "mclimit", "0.3");
        }
        attribute(graph, AGNODE, "fixedsize", "true");
        attribute(graph, AGNODE, "margin", "0");
        attribute(graph, AGNODE, "fontsize", "1");
        attribute(graph, AGEDGE, "dir", "none");
        addBoxes(graph, boxes);
        addPins(graph, boxes);
        addEdges(graph, boxes);
        return graph;
    }

    void addBoxes(Agraph_t* graph, const BoxGraph& boxes) {
        Agsym_t* const shape = attribute(graph, AGNODE, "shape", "box");
        Agsym_t* const label = attribute(graph, AGNODE, "label", "");
        Agsym_t* const width = attribute(graph, AGNODE, "width", "0.75");
        Agsym_t* const height = attribute(graph, AGNODE, "height", "0.5");
        findPorts(boxes);
        m_nodes.clear();
        for (std::size_t i = 0; i < boxes.boxes.size(); ++i) {
            const Box& box = boxes.boxes[i];
            Agnode_t* node = agnode(graph, nullptr, 1);
            m_nodes.push_back(node);
            set(node, width, inches(box.width));
            set(node, height, inches(box.height));
            const Ports& ports = m_ports[i];
            if (!ports.any) continue;
            set(node, shape, "record");
            if (box.loosePorts)
                set(node, label, "{" + narrow("i", ports.in.size()) + "|" + narrow("o", ports.out.size()) + "}");
            else set(node, label, "{{" + fields("i", ports.even) + "}|{" + fields("o", ports.even) + "}}");
        }
    }

    /// The fields of the two rows of a box: in its top border and in its bottom border. A record is the only way to
    /// tell `dot` where on a border an edge ends.
    struct Ports {
        bool any = false;
        std::size_t even = 0;         ///< how many of equal width
        std::vector<double> in, out;  ///< or, for loose ports, one for each that there is, from left to right
    };

    void findPorts(const BoxGraph& boxes) {
        m_ports.assign(boxes.boxes.size(), {});
        for (const BoxEdge& edge : boxes.edges) {
            if (edge.fromPort) m_ports[edge.from].out.push_back(*edge.fromPort);
            if (edge.toPort) m_ports[edge.to].in.push_back(*edge.toPort);
        }
        for (std::size_t i = 0; i < boxes.boxes.size(); ++i) {
            Ports& ports = m_ports[i];
            for (auto* row : {&ports.in, &ports.out}) {
                std::sort(row->begin(), row->end());
                row->erase(std::unique(row->begin(), row->end()), row->end());
            }
            const Box& box = boxes.boxes[i];
            const bool told = ports.in.size() > 1 || ports.out.size() > 1 ||
                              (!box.loosePorts && ports.in.size() + ports.out.size() > 0);
            ports.any = told && box.width >= 16;
            if (ports.any && !box.loosePorts) ports.even = fieldsFor(ports, box.width);
        }
    }

    /// How many equal fields have their middles closest to all ports: what is left over bends an edge that could be
    /// straight.
    static std::size_t fieldsFor(const Ports& ports, double width) {
        const auto least = static_cast<std::size_t>(std::clamp(width / 12, 2.0, 48.0));
        std::size_t best = least;
        double bestMiss = 1e18;
        for (std::size_t count = least; count <= std::max<std::size_t>(least + 4, 48) && count * 4.0 <= width;
             ++count) {
            const double step = width / static_cast<double>(count);
            double miss = 0;
            for (const auto* row : {&ports.in, &ports.out}) {
                for (const double port : *row) {
                    const double along = (port + width / 2) / step;
                    miss += std::abs(along - std::floor(along) - 0.5) * step;
                }
            }
            if (miss >= bestMiss - 1e-9) continue;
            bestMiss = miss;
            best = count;
        }
        return best;
    }

    static std::string fields(const char* row, std::size_t count) {
        std::string text;
        for (std::size_t k = 0; k < std::max<std::size_t>(1, count); ++k)
            text += (k > 0 ? "|<" : "<") + (row + std::to_string(k)) + ">";
        return text;
    }

    /// Several fields of together a ninth of the width, in the middle: enough to order edges by, and the boxes' middles
    /// stay in line. `dot` gives all fields of a row equal shares; a brace in a brace keeps the direction.
    static std::string narrow(const char* row, std::size_t count) {
        return count > 1 ? "{|{{|{{" + fields(row, count) + "}}|}}|}" : fields(row, 1);
    }

    /// First and last boxes have ranks of their own; edges that are not drawn keep their order.
    void addPins(Agraph_t* graph, const BoxGraph& boxes) {
        Agsym_t* const style = attribute(graph, AGEDGE, "style", "");
        for (const auto& [pin, rank] : {std::pair(Pin::First, "source"), std::pair(Pin::Last, "sink")}) {
            Agraph_t* subgraph = nullptr;
            Agnode_t* before = nullptr;
            for (std::size_t i = 0; i < boxes.boxes.size(); ++i) {
                if (boxes.boxes[i].pin != pin) continue;
                if (!subgraph) {
                    subgraph = agsubg(graph, nullptr, 1);
                    agset(subgraph, const_cast<char*>("rank"), const_cast<char*>(rank));
                }
                agsubnode(subgraph, m_nodes[i], 1);
                if (before) set(agedge(graph, before, m_nodes[i], nullptr, 1), style, "invis");
                before = m_nodes[i];
            }
        }
    }

    void addEdges(Agraph_t* graph, const BoxGraph& boxes) {
        Agsym_t* const weight = attribute(graph, AGEDGE, "weight", "1");
        Agsym_t* const tailPort = attribute(graph, AGEDGE, "tailport", "");
        Agsym_t* const headPort = attribute(graph, AGEDGE, "headport", "");
        m_edges.clear();
        for (const BoxEdge& edge : boxes.edges) {
            Agedge_t* made = agedge(graph, m_nodes[edge.from], m_nodes[edge.to], nullptr, 1);
            m_edges.push_back(made);
            const auto heavy = std::lround(std::clamp(edge.weight, 0.0, 1000.0));
            if (heavy != 1) set(made, weight, std::to_string(heavy));
            if (edge.fromPort) set(made, tailPort, port(boxes, edge.from, *edge.fromPort, "o", "s"));
            if (edge.toPort) set(made, headPort, port(boxes, edge.to, *edge.toPort, "i", "n"));
        }
    }

    std::string port(const BoxGraph& boxes, std::uint32_t box, double offset, const char* row, const char* side) const {
        const Ports& ports = m_ports[box];
        if (!ports.any) return side;
        std::size_t field = 0;
        if (boxes.boxes[box].loosePorts) {
            const auto& all = row[0] == 'i' ? ports.in : ports.out;
            field = static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), offset) - all.begin());
        } else {
            const double along = (offset + boxes.boxes[box].width / 2) / boxes.boxes[box].width;
            field = static_cast<std::size_t>(
                std::clamp(along * static_cast<double>(ports.even), 0.0, static_cast<double>(ports.even - 1)));
        }
        return row + std::to_string(field) + ":" + side;
    }

    BoxLayout read(const BoxGraph& boxes) const {
        BoxLayout layout;
        layout.engine = Engine::Graphviz;
        for (std::size_t i = 0; i < m_nodes.size(); ++i) {
            const pointf center = ND_coord(m_nodes[i]);  // y grows upwards
            const Box& box = boxes.boxes[i];
            layout.boxes.push_back({center.x - box.width / 2, -center.y - box.height / 2, box.width, box.height});
        }
        straighten(boxes, layout);
        for (std::size_t i = 0; i < m_edges.size(); ++i) {
            const BoxEdge& edge = boxes.edges[i];
            const Rect& from = layout.boxes[edge.from];
            const Rect& to = layout.boxes[edge.to];
            Path path = spline(m_edges[i]);
            if (path.empty()) {
                path.moveTo(startPoint(from, edge.fromPort));
                path.lineTo(endPoint(to, edge.toPort));
            }
            moveStart(path, edge.fromPort ? startPoint(from, edge.fromPort) : onBorder(from, path.start()));
            path.reverse();
            moveStart(path, edge.toPort ? endPoint(to, edge.toPort) : onBorder(to, path.start()));
            path.reverse();
            layout.edges.push_back(std::move(path));
        }
        refine(boxes, layout);
        alignEqual(boxes, layout);
        frame(layout);
        return layout;
    }

    static Path spline(Agedge_t* edge) {
        Path path;
        const splines* all = ED_spl(edge);
        if (!all) return path;
        for (int k = 0; k < all->size; ++k) {
            const bezier& piece = all->list[k];
            Path part;
            for (int i = 0; i < piece.size; ++i) part.points.push_back({piece.list[i].x, -piece.list[i].y});
            if (part.points.size() >= 4 && part.points.size() % 3 == 1) path.append(part);
        }
        return path;
    }

    /// Moves the first point and its control with it.
    static void moveStart(Path& path, Point to) {
        const Point by{to.x - path.points[0].x, to.y - path.points[0].y};
        path.points[0] = to;
        path.points[1] = {path.points[1].x + by.x, path.points[1].y + by.y};
    }

    GVC_t* m_context;
    std::vector<Agnode_t*> m_nodes;
    std::vector<Agedge_t*> m_edges;
    std::vector<Ports> m_ports;  // by box
};

Graphviz::Graphviz() : m_impl(std::make_unique<Impl>()) {}
Graphviz::~Graphviz() = default;

base::Result<BoxLayout> Graphviz::layout(const BoxGraph& graph) {
    SONDE_TRY(validate(graph));
    if (graph.boxes.empty()) return BoxLayout{{}, {}, {}, Engine::Graphviz, {}};
    if (graph.direction == Direction::TopDown) return m_impl->layout(graph);
    SONDE_ASSIGN(BoxLayout layout, m_impl->layout(transposed(graph)));
    transpose(layout);
    return layout;
}

}  // namespace sonde::layout
