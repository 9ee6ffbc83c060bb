#include "core/layout/engine/segments.h"

#include <cmath>

namespace sonde::layout {

namespace {

void curve(Path& path, const Segment& before, const Segment& after, double rankSep) {
    const Point a{before.x, before.to}, b{after.x, after.from};
    if (a.x == b.x && a.y != b.y) {
        path.lineTo(b);
    } else if (std::abs(a.y - b.y) > 1e-9) {
        const double half = (b.y - a.y) / 2;
        path.curveTo({a.x, a.y + half}, {b.x, b.y - half}, b);
    } else {  // a U-turn at the end of a place beside a box
        const bool below = before.to > before.from || (before.to == before.from && after.to < after.from);
        const double reach = (below ? 0.6 : -0.6) * rankSep;
        path.curveTo({a.x, a.y + reach}, {b.x, b.y + reach}, b);
    }
}

}  // namespace

Path joined(const std::vector<Segment>& segments, double rankSep) {
    Path path;
    path.moveTo({segments[0].x, segments[0].from});
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const Segment& s = segments[i];
        if (i > 0) curve(path, segments[i - 1], s, rankSep);
        if (s.to != path.end().y) path.lineTo({s.x, s.to});
    }
    if (path.empty()) path.lineTo(path.end());
    return path;
}

}  // namespace sonde::layout
