#include "core/layout/engine/box_graph.h"

#include <cmath>

#include "core/base/random.h"
#include "core/layout/engine/bytes.h"

namespace sonde::layout {

namespace {

// Change the letters at the end when the meaning of the bytes or the engines' results change: old cache files are
// then ignored.
constexpr std::uint32_t kGraphMagic = 0x32474253;   // "SBG2"; another number also makes stored layouts void
constexpr std::uint32_t kLayoutMagic = 0x334c4253;  // "SBL3"
constexpr double kLimit = 1e9;                      // of any side, distance or weight: kMaxBoxes side by side, about

bool sane(double value) { return std::isfinite(value) && value >= 0 && value <= kLimit; }
bool sanePort(const std::optional<double>& port) {
    return !port || (std::isfinite(*port) && std::abs(*port) <= kLimit);
}

void put(ByteWriter& out, const std::optional<double>& port) {
    out.put(static_cast<std::uint8_t>(port.has_value()));
    out.put(port.value_or(0.0));
}

std::optional<double> getPort(ByteReader& in) {
    const bool has = in.get<std::uint8_t>() != 0;
    const double value = in.get<double>();
    return has ? std::optional(value) : std::nullopt;
}

bool finite(const Path& path) {
    for (const Point& p : path.points) {
        if (!std::isfinite(p.x) || !std::isfinite(p.y)) return false;
    }
    return path.points.size() >= 4 && path.points.size() % 3 == 1;
}

}  // namespace

const char* engineName(Engine engine) { return engine == Engine::Graphviz ? "graphviz" : "layered"; }

base::Result<void> validate(const BoxGraph& graph) {
    if (graph.boxes.size() > kMaxBoxes || graph.edges.size() > kMaxBoxes) {
        return base::unreadable("the graph has too many boxes or edges to be laid out");
    }
    bool good = sane(graph.nodeSep) && sane(graph.rankSep);
    for (const Box& box : graph.boxes) good = good && sane(box.width) && sane(box.height) && box.pin <= Pin::Last;
    if (!good) return base::unreadable("the graph to lay out has a size that is negative, huge or not a number");
    for (const BoxEdge& edge : graph.edges) {
        if (edge.from >= graph.boxes.size() || edge.to >= graph.boxes.size()) {
            return base::unreadable("the graph to lay out has an edge without a box at its end");
        }
        if (!sanePort(edge.fromPort) || !sanePort(edge.toPort) || !sane(edge.weight)) {
            return base::unreadable("the graph to lay out has a port or weight that is not a number");
        }
    }
    return {};
}

std::vector<std::byte> encode(const BoxGraph& graph) {
    ByteWriter out;
    out.reserve(32 + graph.boxes.size() * 18 + graph.edges.size() * 34);
    out.put(kGraphMagic);
    out.put(static_cast<std::uint8_t>(graph.direction));
    out.put(graph.nodeSep);
    out.put(graph.rankSep);
    out.put(static_cast<std::uint32_t>(graph.boxes.size()));
    for (const Box& box : graph.boxes) {
        out.put(box.width);
        out.put(box.height);
        out.put(static_cast<std::uint8_t>(box.pin));
        out.put(static_cast<std::uint8_t>(box.loosePorts));
    }
    out.put(static_cast<std::uint32_t>(graph.edges.size()));
    for (const BoxEdge& edge : graph.edges) {
        out.put(edge.from);
        out.put(edge.to);
        put(out, edge.fromPort);
        put(out, edge.toPort);
        out.put(edge.weight);
    }
    return out.take();
}

base::Result<BoxGraph> decodeGraph(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    if (in.get<std::uint32_t>() != kGraphMagic) return base::unreadable("these bytes are not a graph to lay out");
    BoxGraph graph;
    graph.direction = in.get<std::uint8_t>() == 0 ? Direction::TopDown : Direction::LeftRight;
    graph.nodeSep = in.get<double>();
    graph.rankSep = in.get<double>();
    graph.boxes.resize(in.getCount(18));
    for (Box& box : graph.boxes) {
        box.width = in.get<double>();
        box.height = in.get<double>();
        box.pin = static_cast<Pin>(in.get<std::uint8_t>());
        box.loosePorts = in.get<std::uint8_t>() != 0;
    }
    graph.edges.resize(in.getCount(34));
    for (BoxEdge& edge : graph.edges) {
        edge.from = in.get<std::uint32_t>();
        edge.to = in.get<std::uint32_t>();
        edge.fromPort = getPort(in);
        edge.toPort = getPort(in);
        edge.weight = in.get<double>();
    }
    if (in.failed() || !in.atEnd()) return base::unreadable("the bytes of a graph to lay out are damaged");
    SONDE_TRY(validate(graph));
    return graph;
}

std::vector<std::byte> encode(const BoxLayout& layout) {
    ByteWriter out;
    out.put(kLayoutMagic);
    out.put(static_cast<std::uint8_t>(layout.engine));
    out.put(layout.note);
    out.put(layout.size.width);
    out.put(layout.size.height);
    out.put(static_cast<std::uint32_t>(layout.boxes.size()));
    for (const Rect& box : layout.boxes) {
        for (double value : {box.x, box.y, box.width, box.height}) out.put(value);
    }
    out.put(static_cast<std::uint32_t>(layout.edges.size()));
    for (const Path& edge : layout.edges) {
        out.put(static_cast<std::uint32_t>(edge.points.size()));
        for (const Point& p : edge.points) {
            out.put(p.x);
            out.put(p.y);
        }
    }
    return out.take();
}

base::Result<BoxLayout> decodeLayout(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    if (in.get<std::uint32_t>() != kLayoutMagic) return base::unreadable("these bytes are not a layout");
    BoxLayout layout;
    layout.engine = in.get<std::uint8_t>() == 0 ? Engine::Graphviz : Engine::Layered;
    layout.note = in.getText();
    layout.size.width = in.get<double>();
    layout.size.height = in.get<double>();
    bool good = std::isfinite(layout.size.width) && std::isfinite(layout.size.height);
    layout.boxes.resize(in.getCount(32));
    for (Rect& box : layout.boxes) {
        for (double* value : {&box.x, &box.y, &box.width, &box.height}) {
            *value = in.get<double>();
            good = good && std::isfinite(*value);
        }
    }
    layout.edges.resize(in.getCount(4));
    for (Path& edge : layout.edges) {
        edge.points.resize(in.getCount(16));
        for (Point& p : edge.points) {
            p.x = in.get<double>();
            p.y = in.get<double>();
        }
        good = good && finite(edge);
    }
    if (!good || in.failed() || !in.atEnd()) return base::unreadable("the bytes of a layout are damaged");
    return layout;
}

bool answers(const BoxLayout& layout, const BoxGraph& graph) {
    if (layout.boxes.size() != graph.boxes.size() || layout.edges.size() != graph.edges.size()) return false;
    for (std::size_t i = 0; i < graph.boxes.size(); ++i) {
        const Rect& rect = layout.boxes[i];
        if (!std::isfinite(rect.x) || !std::isfinite(rect.y)) return false;
        if (rect.width != graph.boxes[i].width || rect.height != graph.boxes[i].height) return false;
    }
    for (const Path& edge : layout.edges) {
        if (!finite(edge)) return false;
    }
    return std::isfinite(layout.size.width) && std::isfinite(layout.size.height);
}

LayoutKey keyOfBytes(std::span<const std::byte> bytes) {
    LayoutKey key{base::Random::kStep, 0xd1b54a32d192ed03u};
    auto take = [&key](std::uint64_t word) {
        key.high = base::mixBits(key.high ^ word);
        key.low = base::mixBits(key.low + std::rotl(word, 23) + base::Random::kStep);
    };
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, 8);
        take(word);
    }
    std::uint64_t rest = 0;
    if (i < bytes.size()) std::memcpy(&rest, bytes.data() + i, bytes.size() - i);
    take(rest);
    take(bytes.size());
    return key;
}

LayoutKey structuralKey(const BoxGraph& graph) {
    // Raised when engines draw the same graph otherwise, so that pictures kept on disk are made anew.
    constexpr std::byte kRevision{1};
    std::vector<std::byte> bytes = encode(graph);
    bytes.push_back(kRevision);
    return keyOfBytes(bytes);
}

std::string LayoutKey::hex() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text(32, '0');
    for (int i = 0; i < 16; ++i) {
        text[15 - i] = kDigits[(high >> (4 * i)) & 15];
        text[31 - i] = kDigits[(low >> (4 * i)) & 15];
    }
    return text;
}

BoxGraph transposed(BoxGraph graph) {
    for (Box& box : graph.boxes) std::swap(box.width, box.height);
    graph.direction = graph.direction == Direction::TopDown ? Direction::LeftRight : Direction::TopDown;
    return graph;
}

void transpose(BoxLayout& layout) {
    for (Rect& box : layout.boxes) box = {box.y, box.x, box.height, box.width};
    for (Path& edge : layout.edges) edge.transpose();
    std::swap(layout.size.width, layout.size.height);
}

void frame(BoxLayout& layout) {
    std::optional<Rect> all;
    for (const Rect& box : layout.boxes) all = all ? united(*all, box) : box;
    for (const Path& edge : layout.edges) {
        if (!edge.points.empty()) all = all ? united(*all, edge.bounds()) : edge.bounds();
    }
    if (!all) return;
    const Point by{-all->x, -all->y};
    if (by != Point{}) {
        for (Rect& box : layout.boxes) box = box.translated(by);
        for (Path& edge : layout.edges) edge.translate(by);
    }
    layout.size = all->size();
}

Point startPoint(const Rect& box, const std::optional<double>& port) {
    return {box.center().x + std::clamp(port.value_or(0), -box.width / 2, box.width / 2), box.bottom()};
}

Point endPoint(const Rect& box, const std::optional<double>& port) {
    return {box.center().x + std::clamp(port.value_or(0), -box.width / 2, box.width / 2), box.y};
}

}  // namespace sonde::layout
