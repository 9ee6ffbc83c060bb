#include "core/layout/engine/wrap.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/layout/engine/wrap_cuts.h"

namespace sonde::layout {

namespace {

constexpr double kLane = 10;  ///< between lanes side by side
/// Lanes below or above a column are farther apart where they are few: a name has room on each, even in large letters.
constexpr struct {
    std::size_t most;
    double apart;
} kNamedLanes[] = {{4, 32}, {8, 20}};
/// … and nearer to one another where they are many: nobody follows one of them by its place.
constexpr std::size_t kManyLanes = 12;
constexpr double kNarrowLane = 5;
constexpr double kTurn = 14;        ///< along the flow, from the cut to where a line is vertical
constexpr double kMaxTurn = 80;     ///< the same where many lines are spread
constexpr double kGutterSide = 26;  ///< from a column to the first lane beside it
constexpr double kCorner = 6;       ///< radius
constexpr double kNoWay = 1e-6;

Point towards(Point a, Point b, double t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }

/// The two parts of a path that descends through `y`.
std::pair<Path, Path> cutAt(const Path& path, double y) {
    std::size_t s = 0;
    while (s + 1 < path.segments() && path.points[3 * s + 3].y <= y) ++s;
    double low = 0, high = 1;
    for (int i = 0; i < 50; ++i) {
        const double t = (low + high) / 2;
        (path.at(s, t).y <= y ? low : high) = t;
    }
    const Point* p = path.points.data() + 3 * s;
    const Point a = towards(p[0], p[1], low), b = towards(p[1], p[2], low), c = towards(p[2], p[3], low);
    const Point d = towards(a, b, low), e = towards(b, c, low), middle = towards(d, e, low);
    Path first, second;
    first.points.assign(path.points.begin(), path.points.begin() + static_cast<std::ptrdiff_t>(3 * s + 1));
    first.points.insert(first.points.end(), {a, d, middle});
    second.points = {middle, e, c, p[3]};
    second.points.insert(second.points.end(), path.points.begin() + static_cast<std::ptrdiff_t>(3 * s + 4),
                         path.points.end());
    return {std::move(first), std::move(second)};
}

/// How far to the side a line goes in `dy`, as it went before.
double lean(Point from, Point to, double dy, double most) {
    const double along = to.y - from.y;
    return along > kNoWay ? std::clamp((to.x - from.x) / along * dy, -std::abs(most), std::abs(most)) : 0.0;
}

/// Goes on from where a part ended above, down to `to`, where it arrives vertically.
void bendDown(Path& path, Point to) {
    const Point from = path.end(), control = path.points[path.points.size() - 2];
    const double half = (to.y - from.y) / 2;
    path.curveTo({from.x + lean(control, from, half, to.x - from.x), from.y + half}, {to.x, to.y - half}, to);
}

/// The same into a part that begins below.
void bendInto(Path& path, const Path& next) {
    const Point from = path.end(), to = next.start(), control = next.points[1];
    const double half = (to.y - from.y) / 2;
    path.curveTo({from.x, from.y + half}, {to.x - lean(to, control, half, to.x - from.x), to.y - half}, to);
    path.append(next);
}

/// Straight lines through all corners, which are rounded.
void goThrough(Path& path, std::initializer_list<Point> corners) {
    for (auto it = corners.begin(); it != corners.end(); ++it) {
        if (std::next(it) == corners.end()) return path.lineTo(*it);
        const Point before = path.end(), corner = *it, after = *std::next(it);
        const double in = std::hypot(corner.x - before.x, corner.y - before.y);
        const double out = std::hypot(after.x - corner.x, after.y - corner.y);
        const double radius = std::min({kCorner, in / 2, out / 2});
        if (radius < kNoWay) continue;
        const Point begin = towards(corner, before, radius / in), end = towards(corner, after, radius / out);
        path.lineTo(begin);
        path.curveTo(towards(begin, corner, 0.55), towards(end, corner, 0.55), end);
    }
}

/// An edge from one column to a later one, or back, in the order of the columns: it goes down the upper one's foot and
/// in at the lower one's head.
struct Trunk {
    std::uint32_t edge = 0;
    std::uint32_t upper = 0, lower = 0;  ///< columns
    bool isBack = false;
    Path above, below;            ///< its parts in them, where they were
    double footX = 0, headX = 0;  ///< where it is vertical, within its column's old place
    std::size_t line = 0;
};

/// What trunks of one port share: lanes below its column, beside it and above the others.
struct SharedLane {
    std::uint32_t upper = 0, lower = 0;                      ///< the last column that it goes to
    double footX = std::numeric_limits<double>::infinity();  ///< the first of its trunks
    double headX = 0;                                        ///< the last of its trunks, as placed
    std::size_t fromRight = 0;                               ///< among those of its column, by foot
    std::size_t level = 0;                                   ///< above the columns, from below
    double footY = 0, sideX = 0, topY = 0;                   ///< as placed
};

struct Column {
    double begin = 0, end = 0;  ///< along the flow, at the cuts
    double left = std::numeric_limits<double>::infinity(), right = -left;
    double footTurn = kTurn;
    std::size_t lanes = 0;  ///< below it and on its right
    Point by;               ///< from its old place to the new one
    void hold(const Rect& r) {
        left = std::min(left, r.x);
        right = std::max(right, r.right());
    }
};

double laneStep(std::size_t lanes) {
    for (const auto& few : kNamedLanes)
        if (lanes <= few.most) return few.apart;
    return lanes > kManyLanes ? kNarrowLane : kLane;
}

/// Between lanes beside a column.
double sideStep(std::size_t lanes) { return lanes > kManyLanes ? kNarrowLane : kLane; }

/// Top-down.
class Wrapper {
  public:
    Wrapper(const BoxGraph& graph, const BoxLayout& layout, const std::vector<WrapCut>& cuts)
        : m_graph(graph), m_layout(layout), m_cuts(cuts), m_columns(cuts.size() + 1) {}

    WrappedLayout run() {
        divide();
        spreadEnds();
        shareLanes();
        placeColumns();
        stackLanes();
        return drawn();
    }

  private:
    void divide() {
        m_columns.front().begin = std::numeric_limits<double>::infinity();
        for (const Rect& box : m_layout.boxes) {
            const auto next = std::upper_bound(m_cuts.begin(), m_cuts.end(), box.center().y,
                                               [](double y, const WrapCut& cut) { return y < cut.y(); });
            m_columnOf.push_back(static_cast<std::uint32_t>(next - m_cuts.begin()));
            m_columns[m_columnOf.back()].hold(box);
            m_columns.front().begin = std::min(m_columns.front().begin, box.y);
        }
        for (std::size_t i = 0; i < m_cuts.size(); ++i) m_columns[i].end = m_columns[i + 1].begin = m_cuts[i].y();
        for (std::uint32_t i = 0; i < m_layout.edges.size(); ++i) {
            const std::uint32_t from = m_columnOf[m_graph.edges[i].from], to = m_columnOf[m_graph.edges[i].to];
            if (from == to) {
                m_columns[from].hold(m_layout.edges[i].bounds());
                if (from == 0) m_columns[0].begin = std::min(m_columns[0].begin, m_layout.edges[i].bounds().y);
                continue;
            }
            Trunk trunk{i, std::min(from, to), std::max(from, to), to < from, {}, {}, 0, 0, 0};
            Path path = m_layout.edges[i];
            if (trunk.isBack) path.reverse();
            trunk.above = cutAt(path, m_columns[trunk.upper].end).first;
            trunk.below = cutAt(path, m_columns[trunk.lower].begin).second;
            trunk.footX = trunk.above.end().x;
            trunk.headX = trunk.below.start().x;
            m_columns[trunk.upper].hold(trunk.above.bounds());
            m_columns[trunk.lower].hold(trunk.below.bounds());
            m_trunks.push_back(std::move(trunk));
        }
        joinLines();
    }

    /// Trunks that leave one port downwards are one line; each that goes back is one of its own.
    void joinLines() {
        std::map<std::tuple<std::uint32_t, std::uint32_t, double, double, std::uint32_t>, std::size_t> lines;
        for (Trunk& trunk : m_trunks) {
            const Point start = trunk.above.start();
            const std::uint32_t from = m_graph.edges[trunk.edge].from, own = trunk.isBack ? trunk.edge + 1 : 0;
            trunk.line = lines.try_emplace({trunk.upper, from, start.x, start.y, own}, lines.size()).first->second;
        }
        m_lanes.resize(lines.size());
    }

    /// Ends of different lines are moved apart where they are too near to be told from one another.
    void spreadEnds() {
        std::vector<std::vector<std::size_t>> feet(m_columns.size()), heads(m_columns.size());
        for (std::size_t i = 0; i < m_trunks.size(); ++i) {
            feet[m_trunks[i].upper].push_back(i);
            heads[m_trunks[i].lower].push_back(i);
        }
        for (std::size_t i = 0; i < m_columns.size(); ++i) {
            m_columns[i].footTurn = spread(m_columns[i], feet[i], &Trunk::footX);
            m_headTurn = std::max(m_headTurn, spread(m_columns[i], heads[i], &Trunk::headX));
        }
    }

    /// Returns how long the way is in which the lines get to their new places.
    double spread(Column& column, std::vector<std::size_t>& ends, double Trunk::*x) {
        std::stable_sort(ends.begin(), ends.end(), [&](auto a, auto b) { return m_trunks[a].*x < m_trunks[b].*x; });
        double furthest = 0;
        for (std::size_t i = 1; i < ends.size(); ++i) {
            const Trunk& before = m_trunks[ends[i - 1]];
            Trunk& trunk = m_trunks[ends[i]];
            const double moved = before.*x + (before.line == trunk.line ? 0 : kLane) - trunk.*x;
            if (moved <= 0) continue;
            trunk.*x += moved;
            furthest = std::max(furthest, moved);
        }
        for (const std::size_t i : ends) {
            column.left = std::min(column.left, m_trunks[i].*x);
            column.right = std::max(column.right, m_trunks[i].*x);
        }
        return std::clamp(kTurn + furthest / 4, kTurn, kMaxTurn);
    }

    /// Lines that leave a column further to the left run outside of the others, so that none of them cross on the way.
    void shareLanes() {
        for (const Trunk& trunk : m_trunks) {
            SharedLane& lane = m_lanes[trunk.line];
            lane.upper = trunk.upper;
            lane.lower = std::max(lane.lower, trunk.lower);
            lane.footX = std::min(lane.footX, trunk.footX);
        }
        m_order.resize(m_lanes.size());
        std::iota(m_order.begin(), m_order.end(), std::size_t{0});
        std::stable_sort(m_order.begin(), m_order.end(), [&](auto a, auto b) {
            return std::tie(m_lanes[a].upper, m_lanes[b].footX) < std::tie(m_lanes[b].upper, m_lanes[a].footX);
        });
        for (const std::size_t i : m_order) m_lanes[i].fromRight = m_columns[m_lanes[i].upper].lanes++;
    }

    void placeColumns() {
        double x = 0;
        for (Column& column : m_columns) {
            column.by.x = x - column.left;
            x += column.right - column.left;
            for (; m_placed < m_order.size() && &m_columns[m_lanes[m_order[m_placed]].upper] == &column; ++m_placed) {
                SharedLane& lane = m_lanes[m_order[m_placed]];
                lane.sideX = x + kGutterSide + static_cast<double>(lane.fromRight) * sideStep(column.lanes);
            }
            x += 2 * kGutterSide +
                 static_cast<double>(std::max<std::size_t>(column.lanes, 1) - 1) * sideStep(column.lanes);
        }
        for (Trunk& trunk : m_trunks) {
            trunk.footX += m_columns[trunk.upper].by.x;
            trunk.headX += m_columns[trunk.lower].by.x;
            m_lanes[trunk.line].headX = std::max(m_lanes[trunk.line].headX, trunk.headX);
        }
    }

    /// Lanes above the columns: the longest ones on top, and of one column those from the left below the others.
    void stackLanes() {
        std::stable_sort(m_order.begin(), m_order.end(), [&](auto a, auto b) {
            const SharedLane &one = m_lanes[a], &other = m_lanes[b];
            return std::tuple(one.lower - one.upper, one.upper, other.fromRight) <
                   std::tuple(other.lower - other.upper, other.upper, one.fromRight);
        });
        std::vector<std::map<double, double>> levels;  // of each what is taken: from where to where
        for (const std::size_t i : m_order) {
            SharedLane& lane = m_lanes[i];
            const auto isFree = [&](const std::map<double, double>& taken) {
                const auto next = taken.upper_bound(lane.headX + kLane);
                return next == taken.begin() || std::prev(next)->second + kLane < lane.sideX;
            };
            lane.level = static_cast<std::size_t>(std::find_if(levels.begin(), levels.end(), isFree) - levels.begin());
            if (lane.level == levels.size()) levels.emplace_back();
            levels[lane.level][lane.sideX] = lane.headX;
        }
        const double apart = laneStep(levels.size()), heads = apart * static_cast<double>(levels.size()) + m_headTurn;
        for (std::size_t i = 0; i < m_columns.size(); ++i)
            m_columns[i].by.y = i == 0 ? -m_columns[i].begin : heads - m_columns[i].begin;
        for (SharedLane& lane : m_lanes) {
            const Column& column = m_columns[lane.upper];
            lane.topY = heads - m_headTurn - (static_cast<double>(lane.level) + 0.5) * apart;
            lane.footY = column.end + column.by.y + column.footTurn +
                         (static_cast<double>(lane.fromRight) + 0.5) * laneStep(column.lanes);
        }
    }

    WrappedLayout drawn() {
        WrappedLayout result{m_layout, {}, std::move(m_columnOf)};
        for (std::size_t i = 0; i < m_layout.boxes.size(); ++i)
            result.layout.boxes[i] = m_layout.boxes[i].translated(m_columns[result.column[i]].by);
        std::size_t next = 0;
        for (std::uint32_t i = 0; i < m_layout.edges.size(); ++i) {
            if (next < m_trunks.size() && m_trunks[next].edge == i) {
                result.jumps.push_back(draw(m_trunks[next++], result.layout.edges[i]));
                continue;
            }
            result.layout.edges[i].translate(m_columns[result.column[m_graph.edges[i].from]].by);
        }
        lowerPorts(result.layout);
        const Rect before = result.layout.boxes.front();
        frame(result.layout);
        const Point by{result.layout.boxes.front().x - before.x, result.layout.boxes.front().y - before.y};
        for (WrapJump& jump : result.jumps) {
            jump.leaves = {jump.leaves.x + by.x, jump.leaves.y + by.y};
            jump.arrives = {jump.arrives.x + by.x, jump.arrives.y + by.y};
        }
        return result;
    }

    /// Ports on the border of the box around are below all lanes, so that names on these are within it.
    void lowerPorts(BoxLayout& layout) const {
        double border = -std::numeric_limits<double>::infinity();
        for (const SharedLane& lane : m_lanes) border = std::max(border, lane.footY + kNamedLanes[0].apart / 2);
        const auto isLowered = [&](std::uint32_t box) {
            return m_graph.boxes[box].pin == Pin::Last && m_graph.boxes[box].height <= 0 &&
                   layout.boxes[box].y < border;
        };
        for (std::uint32_t i = 0; i < layout.edges.size(); ++i)
            if (!layout.edges[i].empty() && isLowered(m_graph.edges[i].to))
                layout.edges[i].lineTo({layout.edges[i].end().x, border});
        for (std::uint32_t i = 0; i < layout.boxes.size(); ++i)
            if (isLowered(i)) layout.boxes[i].y = border;
    }

    WrapJump draw(Trunk& trunk, Path& path) const {
        const SharedLane& lane = m_lanes[trunk.line];
        const Column &upper = m_columns[trunk.upper], &lower = m_columns[trunk.lower];
        trunk.above.translate(upper.by);
        trunk.below.translate(lower.by);
        path = std::move(trunk.above);
        bendDown(path, {trunk.footX, path.end().y + upper.footTurn});
        const Point foot{trunk.footX, lane.footY}, head{trunk.headX, lane.topY};
        goThrough(path, {foot,
                         {lane.sideX, lane.footY},
                         {lane.sideX, lane.topY},
                         head,
                         {trunk.headX, trunk.below.start().y - m_headTurn}});
        bendInto(path, trunk.below);
        if (!trunk.isBack) return {trunk.edge, foot, head};
        path.reverse();
        return {trunk.edge, head, foot};
    }

    const BoxGraph& m_graph;
    const BoxLayout& m_layout;
    const std::vector<WrapCut>& m_cuts;
    std::vector<Column> m_columns;
    std::vector<std::uint32_t> m_columnOf;  // by box
    std::vector<Trunk> m_trunks;            // in the order of their edges
    std::vector<SharedLane> m_lanes;
    std::vector<std::size_t> m_order;  // of lanes
    std::size_t m_placed = 0;
    double m_headTurn = kTurn;
};

}  // namespace

WrappedLayout wrapped(const BoxGraph& graph, const BoxLayout& layout, double columnHeight) {
    if (graph.direction == Direction::LeftRight) {
        BoxLayout topDown = layout;
        transpose(topDown);
        WrappedLayout result = wrapped(transposed(graph), topDown, columnHeight);
        transpose(result.layout);
        for (WrapJump& jump : result.jumps) {
            std::swap(jump.leaves.x, jump.leaves.y);
            std::swap(jump.arrives.x, jump.arrives.y);
        }
        return result;
    }
    const std::vector<WrapCut> cuts = wrapCuts(graph, layout, columnHeight);
    if (cuts.empty()) return {layout, {}, std::vector<std::uint32_t>(layout.boxes.size(), 0)};
    return Wrapper(graph, layout, cuts).run();
}

}  // namespace sonde::layout
