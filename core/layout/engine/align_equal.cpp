#include "core/layout/engine/align_equal.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace sonde::layout {

namespace {

using Index = std::uint32_t;
constexpr double kSlack = 0.01;

/// What is between two heights without a box across them.
struct Band {
    double top = 0, bottom = 0;
    std::vector<Index> boxes;
    bool cut = true;   ///< all edges in the gap above can be bent there
    double shift = 0;  ///< to the right
};

class Aligner {
  public:
    Aligner(const BoxGraph& graph, BoxLayout& layout) : m_graph(graph), m_layout(layout) {}

    void run() {
        if (!hasEqual()) return;
        findBands();
        if (m_bands.size() < 3) return;
        findCuts();
        if (!chooseShifts()) return;
        for (const Band& band : m_bands) {
            for (const Index box : band.boxes) m_layout.boxes[box].x += band.shift;
        }
        for (Path& path : m_layout.edges) bend(path);
    }

  private:
    bool isOpen(Index box) const { return !m_graph.boxes[box].loosePorts && m_graph.boxes[box].pin == Pin::Free; }

    bool hasEqual() const {
        std::set<std::pair<double, double>> sizes;
        for (Index box = 0; box < m_graph.boxes.size(); ++box) {
            if (isOpen(box) && !sizes.emplace(m_graph.boxes[box].width, m_graph.boxes[box].height).second) return true;
        }
        return false;
    }

    void findBands() {
        std::vector<Index> order(m_layout.boxes.size());
        std::iota(order.begin(), order.end(), Index{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](Index a, Index b) { return m_layout.boxes[a].y < m_layout.boxes[b].y; });
        for (const Index box : order) {
            const Rect& rect = m_layout.boxes[box];
            if (m_bands.empty() || rect.y > m_bands.back().bottom + kSlack)
                m_bands.push_back({rect.y, rect.bottom(), {}});
            m_bands.back().bottom = std::max(m_bands.back().bottom, rect.bottom());
            m_bands.back().boxes.push_back(box);
        }
    }

    /// The first band that ends below `y`, at most the last one.
    std::size_t bandAt(double y) const {
        const auto found = std::lower_bound(m_bands.begin(), m_bands.end(), y - kSlack,
                                            [](const Band& band, double at) { return band.bottom < at; });
        return std::min(static_cast<std::size_t>(found - m_bands.begin()), m_bands.size() - 1);
    }

    /// A segment that is in a band goes with it, and one that is in a gap can be bent there; any other holds together
    /// what it passes.
    void findCuts() {
        std::vector<int> held(m_bands.size() + 1,
                              0);  // by band: edges that begin less those that end to hold the gap above
        for (const Path& path : m_layout.edges) {
            for (std::size_t s = 0; s < path.segments(); ++s) {
                const auto [top, bottom] = std::minmax(path.points[3 * s].y, path.points[3 * s + 3].y);
                const std::size_t first = bandAt(top), last = bandAt(bottom);
                const bool above = top < m_bands[first].top - kSlack;  // begins in the gap over its band
                const bool inBand = first == last && !above;
                const bool inGap = bottom <= m_bands[last].top + kSlack &&
                                   (first == last || (first + 1 == last && top >= m_bands[first].bottom - kSlack));
                if (inBand || inGap) continue;
                ++held[above ? first : first + 1];
                --held[last + 1];
            }
        }
        int holding = 0;
        for (std::size_t k = 0; k < m_bands.size(); ++k) {
            holding += held[k];
            m_bands[k].cut = holding == 0;
        }
    }

    /// The open box that is wider than all others of the band, if there is one.
    const Rect* widest(const Band& band) const {
        const Rect* found = nullptr;
        bool alone = true;
        for (const Index box : band.boxes) {
            if (!isOpen(box)) continue;
            const Rect& rect = m_layout.boxes[box];
            if (found && std::abs(rect.width - found->width) <= kSlack) alone = false;
            if (found && rect.width <= found->width + kSlack) continue;
            found = &rect;
            alone = true;
        }
        return alone ? found : nullptr;
    }

    bool chooseShifts() {
        std::map<std::pair<double, double>, double> places;  // left, by size
        double shift = 0;
        bool any = false;
        for (Band& band : m_bands) {
            if (const Rect* box = widest(band)) {
                const auto [found, isNew] = places.try_emplace({box->width, box->height}, box->x + shift);
                if (!isNew && band.cut && std::abs(found->second - box->x - shift) > kSlack) {
                    shift = found->second - box->x;
                    any = true;
                }
                found->second = box->x + shift;
            }
            band.shift = shift;
        }
        return any;
    }

    double shiftAt(double y) const {
        const std::size_t i = bandAt(y);
        const Band& band = m_bands[i];
        if (i == 0 || y >= band.top) return band.shift;
        const double gap = band.top - m_bands[i - 1].bottom, part = (y - m_bands[i - 1].bottom) / gap;
        return m_bands[i - 1].shift + std::clamp(part, 0.0, 1.0) * (band.shift - m_bands[i - 1].shift);
    }

    /// Controls go with their ends, so that lines keep their directions there.
    void bend(Path& path) const {
        std::vector<Point>& points = path.points;
        for (std::size_t i = 0; i < points.size(); i += 3) {
            const double by = shiftAt(points[i].y);
            points[i].x += by;
            if (i > 0) points[i - 1].x += by;
            if (i + 1 < points.size()) points[i + 1].x += by;
        }
    }

    const BoxGraph& m_graph;
    BoxLayout& m_layout;
    std::vector<Band> m_bands;
};

}  // namespace

void alignEqual(const BoxGraph& graph, BoxLayout& layout) { Aligner(graph, layout).run(); }

}  // namespace sonde::layout
