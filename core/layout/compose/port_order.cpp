#include "core/layout/compose/port_order.h"

#include <algorithm>
#include <bit>

namespace sonde::layout::compose {

namespace {

using Mask = std::uint64_t;  ///< a bit for each port
constexpr std::size_t kMostPorts = 64;
constexpr std::size_t kMostArguments = 16;

class PortOrderer {
  public:
    PortOrderer(const Draft& draft, Level& level) : m_draft(draft), m_level(level), m_left(level.portsIn.size(), 0), m_told(m_left) {}

    void run() {
        compareArguments();
        std::vector<std::uint32_t> order;
        for (std::uint32_t port = 0; port < m_level.portsIn.size(); ++port) {
            auto at = order.end();
            while (at != order.begin() && (m_left[port] >> *(at - 1) & 1)) --at;
            order.insert(at, port);
        }
        std::vector<NodeId> sorted;
        std::vector<std::uint32_t> place(order.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            place[order[i]] = i;
            sorted.push_back(m_level.portsIn[order[i]]);
        }
        m_level.portsIn = std::move(sorted);
        for (LevelEdge& edge : m_level.edges) {
            if (edge.from & kPortIn) edge.from = kPortIn | place[edge.from & ~kPortIn];
        }
    }

  private:
    struct Argument {
        std::uint32_t place = 0;
        Mask reached = 0;  ///< the ports that it comes from
    };

    /// Edges stand in the order of their readers' execution: what a reader gives is known when its own readers come.
    void compareArguments() {
        std::vector<Mask> reached(m_level.members.size(), 0);
        std::vector<std::vector<Argument>> arguments(m_level.members.size());
        for (const LevelEdge& edge : m_level.edges) {
            if (edge.to >= reached.size()) continue;
            const Mask mask = edge.from & kPortIn ? Mask{1} << (edge.from & ~kPortIn) : edge.from < reached.size() ? reached[edge.from] : 0;
            reached[edge.to] |= mask;
            auto& list = arguments[edge.to];
            if (mask == 0 || list.size() >= kMostArguments) continue;
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

    /// Ports that only the earlier argument comes from stand left of those that only the later one does, unless an earlier
    /// reader said so or otherwise.
    void compare(Mask earlier, Mask later) {
        const Mask left = earlier & ~later, right = later & ~earlier;
        for (Mask rest = left; rest != 0; rest &= rest - 1) {
            const auto port = static_cast<std::size_t>(std::countr_zero(rest));
            const Mask news = right & ~m_told[port];
            m_left[port] |= news;
            m_told[port] |= news;
            for (Mask others = news; others != 0; others &= others - 1) m_told[static_cast<std::size_t>(std::countr_zero(others))] |= Mask{1} << port;
        }
    }

    const Draft& m_draft;
    Level& m_level;
    std::vector<Mask> m_left;  // by port: those that it stands left of …
    std::vector<Mask> m_told;  // … and those of which that is known, or the reverse
};

}  // namespace

void orderPortsIn(Draft& draft) {
    // Levels come after those around them: from the innermost outwards.
    for (std::size_t i = draft.levels.size(); i-- > 0;) {
        Level& level = draft.levels[i];
        if (level.portsIn.size() > 1 && level.portsIn.size() <= kMostPorts) PortOrderer(draft, level).run();
    }
}

}  // namespace sonde::layout::compose
