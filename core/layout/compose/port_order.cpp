#include "core/layout/compose/port_order.h"

#include <algorithm>
#include <bit>

namespace sonde::layout::compose {

namespace {

using Mask = std::uint64_t;  ///< a bit for each port
constexpr std::size_t kMaxPorts = 64;
constexpr std::size_t kMaxArguments = 16;

/// In which order values are read at one level: as arguments of what reads them, or what is computed from them.
class ArgumentOrder {
  public:
    /// `portOf` tells which of `count` values an edge begins with; `count` if with none.
    template <typename PortOf>
    ArgumentOrder(const LayoutDraft& draft, const Level& level, std::size_t count, PortOf portOf)
        : m_draft(draft), m_level(level), m_left(count, 0), m_told(count) {
        compareArguments(portOf);
    }

    /// The values from left to right.
    std::vector<std::uint32_t> sorted() const {
        std::vector<std::uint32_t> order;
        for (std::uint32_t port = 0; port < m_left.size(); ++port) {
            auto at = order.end();
            while (at != order.begin() && (m_left[port] >> *(at - 1) & 1)) --at;
            order.insert(at, port);
        }
        return order;
    }

  private:
    struct Argument {
        std::uint32_t place = 0;
        Mask reached = 0;  ///< the ports that it comes from
    };

    /// Edges are in the order of their readers' execution: what a reader gives is known when its own readers come.
    template <typename PortOf>
    void compareArguments(PortOf portOf) {
        std::vector<Mask> reached(m_level.members.size(), 0);
        std::vector<std::vector<Argument>> arguments(m_level.members.size());
        for (const LevelEdge& edge : m_level.edges) {
            if (edge.to >= reached.size()) continue;
            const std::size_t port = portOf(edge);
            const Mask mask = port < m_left.size()         ? Mask{1} << port
                              : edge.from < reached.size() ? reached[edge.from]
                                                           : 0;
            reached[edge.to] |= mask;
            auto& list = arguments[edge.to];
            if (mask == 0 || list.size() >= kMaxArguments) continue;
            const Argument added{placeOf(edge), mask};
            for (const Argument& other : list) {
                if (other.place < added.place) compare(other.reached, added.reached);
                if (added.place < other.place) compare(added.reached, other.reached);
            }
            list.push_back(added);
        }
    }

    /// Which argument it is: of an open reader, which port. Boxes inside have their ports in order already.
    std::uint32_t placeOf(const LevelEdge& edge) const {
        const std::uint32_t inside = m_draft.levelOf[m_level.members[edge.to]];
        if (inside == kNone || !edge.toPort.valid()) return edge.toPlace.index;
        const auto& ports = m_draft.levels[inside].portsIn;
        return static_cast<std::uint32_t>(std::find(ports.begin(), ports.end(), edge.toPort) - ports.begin());
    }

    /// Ports that only the earlier argument comes from stand left of those that only the later one does, unless an
    /// earlier reader said so or otherwise.
    void compare(Mask earlier, Mask later) {
        const Mask left = earlier & ~later, right = later & ~earlier;
        for (Mask rest = left; rest != 0; rest &= rest - 1) {
            const auto port = static_cast<std::size_t>(std::countr_zero(rest));
            const Mask news = right & ~m_told[port];
            m_left[port] |= news;
            m_told[port] |= news;
            for (Mask others = news; others != 0; others &= others - 1)
                m_told[static_cast<std::size_t>(std::countr_zero(others))] |= Mask{1} << port;
        }
    }

    const LayoutDraft& m_draft;
    const Level& m_level;
    std::vector<Mask> m_left;  // by port: those that it stands left of …
    std::vector<Mask> m_told;  // … and those of which that is known, or the reverse
};

/// Puts ports into an order and tells where each has gone.
std::vector<std::uint32_t> rearrange(std::vector<NodeId>& ports, const std::vector<std::uint32_t>& order) {
    std::vector<NodeId> sorted;
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        place[order[i]] = i;
        sorted.push_back(ports[order[i]]);
    }
    ports = std::move(sorted);
    return place;
}

void orderIn(const LayoutDraft& draft, Level& level) {
    const std::size_t count = level.portsIn.size();
    if (count < 2 || count > kMaxPorts) return;
    const ArgumentOrder order(
        draft, level, count, [&](const LevelEdge& edge) { return edge.from & kPortIn ? edge.from & ~kPortIn : count; });
    const std::vector<std::uint32_t> place = rearrange(level.portsIn, order.sorted());
    for (LevelEdge& edge : level.edges) {
        if (edge.from & kPortIn) edge.from = kPortIn | place[edge.from & ~kPortIn];
    }
}

/// What comes out of a module is in the order in which the level around reads it.
void orderOut(LayoutDraft& draft, Level& around, std::uint32_t slot, const std::vector<std::uint32_t>& leaving) {
    const std::uint32_t item = around.members[slot], inside = draft.levelOf[item];
    std::vector<NodeId> values;
    if (inside != kNone) {
        values = draft.levels[inside].portsOut;
    } else {
        for (const std::uint32_t i : leaving) {
            const LevelEdge& edge = around.edges[i];
            if (edge.fromPlace.count > kMaxPorts) return;
            values.resize(edge.fromPlace.count);
            values[edge.fromPlace.index] = edge.value;
        }
    }
    const std::size_t count = values.size();
    if (count < 2 || count > kMaxPorts) return;
    const ArgumentOrder order(draft, around, count, [&](const LevelEdge& edge) -> std::size_t {
        if (edge.from != slot) return count;
        const NodeId value = inside == kNone ? edge.value : edge.fromPort;
        return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin());
    });
    const std::vector<std::uint32_t> place = rearrange(values, order.sorted());
    if (inside == kNone) {
        for (const std::uint32_t i : leaving) around.edges[i].fromPlace.index = place[around.edges[i].fromPlace.index];
        return;
    }
    Level& level = draft.levels[inside];
    level.portsOut = std::move(values);
    for (LevelEdge& edge : level.edges) {
        if (edge.to & kPortOut) edge.to = kPortOut | place[edge.to & ~kPortOut];
    }
}

void orderOutOf(LayoutDraft& draft, Level& level) {
    constexpr std::size_t kMaxWork = 4'000'000;  // modules with several values times edges
    std::vector<std::vector<std::uint32_t>> leaving(level.members.size());
    for (std::uint32_t i = 0; i < level.edges.size(); ++i) {
        const std::uint32_t from = level.edges[i].from;
        if (from < leaving.size() && draft.items[level.members[from]].what.kind == ItemKind::Module)
            leaving[from].push_back(i);
    }
    const auto several =
        std::count_if(leaving.begin(), leaving.end(), [](const auto& edges) { return edges.size() > 1; });
    if (static_cast<std::size_t>(several) * level.edges.size() > kMaxWork) return;
    for (std::uint32_t slot = 0; slot < leaving.size(); ++slot) {
        if (leaving[slot].size() > 1) orderOut(draft, level, slot, leaving[slot]);
    }
}

}  // namespace

void orderPorts(LayoutDraft& draft) {
    // Levels come after those around them: from the innermost outwards.
    for (std::size_t i = draft.levels.size(); i-- > 0;) orderIn(draft, draft.levels[i]);
    for (Level& level : draft.levels) orderOutOf(draft, level);
}

}  // namespace sonde::layout::compose
