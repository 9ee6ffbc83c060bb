#include "core/layout/engine/geometry.h"

#include <cmath>
#include <cstddef>

namespace sonde::layout {

namespace {

double distance(Point a, Point b) { return std::hypot(b.x - a.x, b.y - a.y); }

Point between(Point a, Point b, double t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }

/// Whether a straight line has a point in a rectangle: what of it is between each pair of sides (Liang, Barsky 1984).
bool lineMeets(Point a, Point b, const Rect& rect) {
    double low = 0, high = 1;
    auto cut = [&](double from, double to, double least, double most) {
        const double step = to - from;
        if (std::abs(step) < 1e-12) return from >= least && from <= most;
        const double enter = (least - from) / step, leave = (most - from) / step;
        low = std::max(low, std::min(enter, leave));
        high = std::min(high, std::max(enter, leave));
        return low <= high;
    };
    return cut(a.x, b.x, rect.x, rect.right()) && cut(a.y, b.y, rect.y, rect.bottom());
}

/// Halves a cubic until it is as good as its chord.
bool cubicMeets(const Point* p, const Rect& rect, int depth) {
    const double left = std::min({p[0].x, p[1].x, p[2].x, p[3].x}), right = std::max({p[0].x, p[1].x, p[2].x, p[3].x});
    const double top = std::min({p[0].y, p[1].y, p[2].y, p[3].y}), bottom = std::max({p[0].y, p[1].y, p[2].y, p[3].y});
    if (right < rect.x || left > rect.right() || bottom < rect.y || top > rect.bottom()) return false;
    auto bend = [](Point a, Point b, Point c) { return std::abs(a.x - 2 * b.x + c.x) + std::abs(a.y - 2 * b.y + c.y); };
    if (depth == 0 || bend(p[0], p[1], p[2]) + bend(p[1], p[2], p[3]) < 0.1) return lineMeets(p[0], p[3], rect);
    const Point a = between(p[0], p[1], 0.5), b = between(p[1], p[2], 0.5), c = between(p[2], p[3], 0.5);
    const Point d = between(a, b, 0.5), e = between(b, c, 0.5), middle = between(d, e, 0.5);
    const Point first[] = {p[0], a, d, middle}, second[] = {middle, e, c, p[3]};
    return cubicMeets(first, rect, depth - 1) || cubicMeets(second, rect, depth - 1);
}

}  // namespace

bool passesThrough(const Path& path, const Rect& rect) {
    for (std::size_t s = 0; s < path.segments(); ++s) {
        if (cubicMeets(path.points.data() + 3 * s, rect, 12)) return true;
    }
    return false;
}

Rect united(const Rect& a, const Rect& b) {
    const double left = std::min(a.x, b.x);
    const double top = std::min(a.y, b.y);
    return {left, top, std::max(a.right(), b.right()) - left, std::max(a.bottom(), b.bottom()) - top};
}

Point Path::at(std::size_t index, double t) const {
    const Point* p = points.data() + index * 3;
    const Point a = between(p[0], p[1], t), b = between(p[1], p[2], t), c = between(p[2], p[3], t);
    return between(between(a, b, t), between(b, c, t), t);
}

Point Path::middle() const {
    if (empty()) return start();
    double total = 0;
    for (std::size_t i = 0; i < segments(); ++i) total += distance(points[i * 3], points[i * 3 + 3]);
    double left = total / 2;
    for (std::size_t i = 0; i < segments(); ++i) {
        const double length = distance(points[i * 3], points[i * 3 + 3]);
        if (left <= length || i + 1 == segments()) return at(i, length > 0 ? std::min(1.0, left / length) : 0.5);
        left -= length;
    }
    return end();
}

Rect Path::bounds() const {
    if (points.empty()) return {};
    double left = points[0].x, right = left, top = points[0].y, bottom = top;
    for (const Point& p : points) {
        left = std::min(left, p.x);
        right = std::max(right, p.x);
        top = std::min(top, p.y);
        bottom = std::max(bottom, p.y);
    }
    return {left, top, right - left, bottom - top};
}

void Path::moveTo(Point p) { points.assign(1, p); }

void Path::lineTo(Point p) {
    const Point last = points.back();
    points.insert(points.end(), {between(last, p, 1.0 / 3), between(last, p, 2.0 / 3), p});
}

void Path::curveTo(Point control1, Point control2, Point p) { points.insert(points.end(), {control1, control2, p}); }

void Path::append(const Path& next) {
    if (next.points.empty()) return;
    if (points.empty()) {
        points = next.points;
        return;
    }
    if (distance(points.back(), next.points.front()) > 1e-6) lineTo(next.points.front());
    points.insert(points.end(), next.points.begin() + 1, next.points.end());
}

void Path::translate(Point by) {
    for (Point& p : points) p = {p.x + by.x, p.y + by.y};
}

void Path::transpose() {
    for (Point& p : points) std::swap(p.x, p.y);
}

}  // namespace sonde::layout
