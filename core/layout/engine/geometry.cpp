#include "core/layout/engine/geometry.h"

#include <cmath>
#include <cstddef>

namespace sonde::layout {

namespace {

double distance(Point a, Point b) { return std::hypot(b.x - a.x, b.y - a.y); }

Point between(Point a, Point b, double t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }

}  // namespace

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
